//! Shapes and the layouts after them. Source: XLA `hlo_parser.cc` ParseShape, ParseLayout; `layout.cc`.

use super::lexer::Token;
use super::parser::{Parsed, Parser};
use super::tree::{LayoutNode, ShapeId, ShapeNode};
use super::vocabulary::ElementType;

/// The stored form of an unbounded dimension `?`. A dynamic bound `<=n` is stored as `-n - 1`.
const UNBOUNDED: i64 = i64::MIN;
/// The stored form of `*` in a tile.
const COMBINE: i64 = i64::MIN;

impl<'a> Parser<'a> {
    pub(crate) fn can_be_shape(&self) -> bool {
        match self.lexer.token {
            Token::ElementType(_) | Token::LeftParen => true,
            Token::Ident => self.at_buffer(),
            _ => false,
        }
    }

    fn at_buffer(&self) -> bool {
        self.at_word("b") && self.text.as_bytes().get(self.lexer.end()) == Some(&b'(')
    }

    pub(crate) fn shape(&mut self) -> Parsed<ShapeId> {
        match self.lexer.token {
            Token::LeftParen => self.nested(Self::tuple),
            Token::Ident if self.at_buffer() => {
                self.lexer.bump();
                self.lexer.bump();
                if !matches!(self.lexer.token, Token::ElementType(_)) {
                    return self.fail("a buffer holds an array: expected a primitive type");
                }
                let inner = self.shape()?;
                self.expect(Token::RightParen, "expects ')' at the end of a buffer shape")?;
                Ok(self.push_shape(ShapeNode::Buffer(inner)))
            }
            Token::ElementType(element) => self.array(element),
            _ => self.fail("expected primitive type"),
        }
    }

    fn tuple(&mut self) -> Parsed<ShapeId> {
        self.lexer.bump();
        let mut elements = Vec::new();
        if !self.at(Token::RightParen) {
            loop {
                elements.push(self.shape()?);
                if !self.eat(Token::Comma) {
                    break;
                }
            }
        }
        self.expect(Token::RightParen, "expects ')' at the end of a tuple shape")?;
        Ok(self.tuple_shape(elements))
    }

    fn array(&mut self, element: ElementType) -> Parsed<ShapeId> {
        let text = self.text;
        let start = self.lexer.start;
        if let Some((id, end)) = self.known_shape(start) {
            self.lexer.jump_behind(end);
            return Ok(id);
        }
        self.lexer.bump();
        self.expect(Token::LeftSquare, "expects '[' after an element type")?;
        let dims = self.dimensions()?;
        let rank = dims.len();
        let first = self.out.ints.len() as u32;
        self.out.ints.extend(dims);
        // The token after `]` decides: `{1,0}` and `{:T(8)}` are layouts, `{ a = …` is a body.
        let mut layout = None;
        if self.at(Token::LeftBrace) {
            let mut look = self.lexer;
            look.bump();
            if matches!(look.token, Token::Int | Token::Colon) {
                layout = Some(self.layout(rank, element)?);
            }
        }
        let end = self.lexer.previous_end;
        let id = self.push_shape(ShapeNode::Array { element, dims: (first, rank as u32), layout });
        // A shape with an unknown field is not cached, because each occurrence is reported.
        let has_unknown = layout.is_some_and(|layout| !self.out.layouts[layout as usize].unknown.is_empty());
        if let Some(key) = text.get(start..end).filter(|_| !has_unknown) {
            self.shape_ids.insert(key, id);
        }
        Ok(id)
    }

    /// Returns the shape at `start` if the same text was parsed before: dumps repeat few shapes many times.
    fn known_shape(&self, start: usize) -> Option<(ShapeId, usize)> {
        let bytes = self.text.as_bytes();
        let mut end = start + memchr::memchr(b']', bytes.get(start..(start + 256).min(bytes.len()))?)? + 1;
        if bytes.get(end) == Some(&b'{')
            && bytes.get(end + 1).is_some_and(|b| b.is_ascii_digit() || *b == b':')
        {
            let rest = &bytes[end..(end + 256).min(bytes.len())];
            end += memchr::memchr(b'}', rest)? + 1;
        } else if matches!(bytes.get(end), Some(b' ' | b'\t' | b'\n' | b'\r' | b'/')) {
            // Whitespace may precede a layout: let the grammar decide.
            let behind = bytes[end..].iter().find(|b| !b.is_ascii_whitespace());
            if matches!(behind, Some(b'{' | b'/')) {
                return None;
            }
        }
        self.shape_ids.get(self.text.get(start..end)?).map(|&id| (id, end))
    }

    /// `2,<=3,?]`, after the opening bracket.
    fn dimensions(&mut self) -> Parsed<smallvec::SmallVec<[i64; 8]>> {
        let mut dims = smallvec::SmallVec::new();
        if !self.at(Token::RightSquare) {
            loop {
                if self.eat(Token::Question) {
                    dims.push(UNBOUNDED);
                } else {
                    let dynamic = self.eat(Token::LessEqual);
                    let from = self.lexer.full_span();
                    let size = self.int()?;
                    if size < 0 {
                        self.error_at(from, "a dimension is not negative");
                        return Err(super::parser::Reported);
                    }
                    dims.push(if dynamic { -size - 1 } else { size });
                }
                if !self.eat(Token::Comma) {
                    break;
                }
            }
        }
        self.expect(Token::RightSquare, "expects ']' at the end of dimensions")?;
        Ok(dims)
    }

    /// `{1,0:T(8,128)(2,1)E(4)S(1)}`
    pub(crate) fn layout(&mut self, rank: usize, element: ElementType) -> Parsed<u32> {
        let start = self.lexer.full_span();
        self.expect(Token::LeftBrace, "expects layout to start with '{'")?;
        let mut layout = LayoutNode { tail_alignment: 1, ..LayoutNode::default() };
        if self.at(Token::Int) {
            loop {
                layout.minor_to_major.push(self.int()?);
                if !self.eat(Token::Comma) {
                    break;
                }
            }
        }
        if self.eat(Token::Colon) {
            self.layout_details(&mut layout)?;
            while self.at_unknown_field() {
                self.unknown_field(&mut layout)?;
                self.layout_details(&mut layout)?;
            }
        }
        self.expect(Token::RightBrace, "expects layout to end with '}'")?;
        if layout.minor_to_major.len() != rank {
            let span = crate::Span { start: start.start, end: self.lexer.previous_end as u32 };
            let given = layout.minor_to_major.len();
            self.error_at(span, format!("the layout orders {given} dimensions, but {element}[…] has {rank}"));
            return Err(super::parser::Reported);
        }
        self.out.layouts.push(layout);
        Ok(self.out.layouts.len() as u32 - 1)
    }

    fn layout_details(&mut self, layout: &mut LayoutNode) -> Parsed {
        if self.at_word("D") {
            self.lexer.bump();
            self.level_types()?;
        }
        if self.at_word("T") {
            self.lexer.bump();
            while self.at(Token::LeftParen) {
                let tile = self.tile()?;
                layout.tiles.push(tile);
            }
            if layout.tiles.is_empty() {
                return self.fail("expects '(' after T");
            }
        }
        if self.eat_word("L") {
            layout.tail_alignment = self.parenthesised_int()?;
        }
        if self.eat(Token::Hash) {
            layout.index_type = Some(self.unsigned_type()?);
        }
        if self.eat(Token::Star) {
            layout.pointer_type = Some(self.unsigned_type()?);
        }
        if self.eat_word("E") {
            layout.element_bits = self.parenthesised_int()?;
        }
        if self.eat_word("S") {
            self.expect(Token::LeftParen, "expects '('")?;
            layout.memory_space = self.int()?;
            if !self.eat(Token::RightParen) {
                // XLA continues without an error.
                let span = self.lexer.full_span();
                self.warning_at(span, "expects ')' after the memory space");
            }
        }
        if self.at_word("SC") {
            self.lexer.bump();
            layout.split = Some(self.split_config()?);
        }
        if self.at_word("P") {
            return self.fail("a physical shape is for sparse arrays, which XLA no longer has");
        }
        if self.eat_word("M") {
            layout.dynamic_metadata_bytes = self.parenthesised_int()?;
        }
        Ok(())
    }

    /// Whether the next token is a word that is not a field of layouts. Known fields must come in their
    /// order.
    fn at_unknown_field(&self) -> bool {
        const FIELDS: [&str; 8] = ["D", "T", "L", "E", "S", "SC", "P", "M"];
        self.at(Token::Ident) && !FIELDS.contains(&self.lexer.text_of())
    }

    /// `X` or `X(3,(a))`, kept as text.
    fn unknown_field(&mut self, layout: &mut LayoutNode) -> Parsed {
        let start = self.lexer.start;
        let message = format!("unknown field of a layout: {}", self.lexer.text_of());
        self.unknown_at(self.lexer.full_span(), message);
        self.lexer.bump();
        let mut depth = 0u32;
        loop {
            match self.lexer.token {
                Token::LeftParen => depth += 1,
                _ if depth == 0 => break,
                Token::RightParen => depth -= 1,
                Token::End | Token::LeftBrace | Token::RightBrace => {
                    return self.fail("expects ')' at the end of a field of a layout");
                }
                _ => {}
            }
            self.lexer.bump();
            if depth == 0 {
                break;
            }
        }
        layout.unknown += &self.text[start..self.lexer.previous_end];
        Ok(())
    }

    fn parenthesised_int(&mut self) -> Parsed<i64> {
        self.expect(Token::LeftParen, "expects '('")?;
        let value = self.int()?;
        self.expect(Token::RightParen, "expects ')'")?;
        Ok(value)
    }

    fn tile(&mut self) -> Parsed<Vec<i64>> {
        self.lexer.bump();
        let mut tile = Vec::new();
        loop {
            if self.eat(Token::Star) {
                tile.push(COMBINE);
            } else {
                tile.push(self.int()?);
            }
            if !self.eat(Token::Comma) {
                break;
            }
        }
        self.expect(Token::RightParen, "expects ')' at the end of a tile")?;
        Ok(tile)
    }

    /// `(D, C+, S~)`, parsed and dropped, as in XLA.
    fn level_types(&mut self) -> Parsed {
        self.expect(Token::LeftParen, "expects '(' after D")?;
        loop {
            if !(self.eat_word("D") || self.eat_word("C") || self.eat_word("S") || self.eat_word("H")) {
                return self.fail("expects a dimension level type: D, C, S or H");
            }
            while self.eat(Token::Plus) || self.eat(Token::Tilde) {}
            if !self.eat(Token::Comma) {
                break;
            }
        }
        self.expect(Token::RightParen, "expects ')' at the end of dimension level types")
    }

    fn unsigned_type(&mut self) -> Parsed<ElementType> {
        self.expect(Token::LeftParen, "expects '('")?;
        let Token::ElementType(element) = self.lexer.token else {
            return self.fail("expects an unsigned integer type");
        };
        if !matches!(element.name(), "u1" | "u2" | "u4" | "u8" | "u16" | "u32" | "u64") {
            return self.fail("expects an unsigned integer type");
        }
        self.lexer.bump();
        self.expect(Token::RightParen, "expects ')'")?;
        Ok(element)
    }

    /// `(dim:idx,idx)`
    fn split_config(&mut self) -> Parsed<Vec<i64>> {
        self.expect(Token::LeftParen, "expects '(' after SC")?;
        let mut split = vec![self.int()?];
        self.expect(Token::Colon, "expects ':' after the split dimension")?;
        loop {
            split.push(self.int()?);
            if !self.eat(Token::Comma) {
                break;
            }
        }
        self.expect(Token::RightParen, "expects ')' at the end of a split")?;
        Ok(split)
    }
}
