//! What may be written at an offset while a text is being typed. The statement around the offset is read
//! token by token, without the rest of the file, and missing parts are tolerated.

use super::lexer::{Lexer, Token};
use super::line_forms::{looks_like_computation, looks_like_instruction};
use super::vocabulary::{AttributeKey, Opcode};
use crate::Span;

/// The maximum distance in bytes from the cursor back to the start of its instruction.
const REACH: usize = 1 << 16;

/// The position of the cursor in an instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CursorPlace {
    /// Outside of computations.
    TopLevel,
    /// At the start of an instruction, or in its name.
    Name,
    /// After `name =`: a result shape, or an opcode whose shape is omitted.
    Shape,
    /// After the result shape.
    Opcode,
    /// In the operand with this number.
    Operand(usize),
    /// After the operands or after an attribute. With `needs_comma`, a comma is still missing there.
    Attribute { needs_comma: bool },
    /// Inside the value of an attribute, nested in `depth` brackets.
    Value { key: AttributeKey, depth: usize, in_string: bool },
    /// In a comment, a number, a literal or an unknown attribute.
    Nothing,
}

/// The cursor and its surroundings in the statement.
#[derive(Debug, Clone, PartialEq)]
pub struct Cursor {
    pub place: CursorPlace,
    /// The word that the cursor is in or directly after, with its `%`; empty if there is none.
    pub word: Span,
    /// From the name (or ROOT) to the end of the text that was read.
    pub statement: Span,
    /// The result shape, as far as it is written.
    pub shape: Span,
    pub opcode: Option<Opcode>,
    pub opcode_span: Span,
    /// The operands, each with its printed shape, including those after the cursor. The one at the cursor may
    /// be empty.
    pub operands: Vec<Span>,
    /// The names of the attributes before and after the cursor.
    pub keys: Vec<AttributeKey>,
    /// Whether an opening parenthesis follows the word.
    pub is_called: bool,
}

/// Reads the statement around byte `offset`. `top` is the start of the computation around `offset`, or the
/// end of the previous one; `in_body` says whether `top` is inside a body.
pub fn cursor(text: &str, offset: usize, top: usize, in_body: bool) -> Cursor {
    let mut offset = offset.min(text.len());
    while !text.is_char_boundary(offset) {
        offset -= 1;
    }
    let (start, is_inside) = statement_start(text, offset, top.min(offset), in_body);
    let line_end = memchr::memchr(b'\n', &text.as_bytes()[offset..]).map_or(text.len(), |n| offset + n);
    let mut reader = Reader::new(&text[..line_end], start, offset);
    if !is_inside {
        reader.state = State::Outside;
    }
    reader.read();
    reader.out
}

/// Returns the start of the statement that may contain `offset`, and whether it is inside a computation.
fn statement_start(text: &str, offset: usize, top: usize, in_body: bool) -> (usize, bool) {
    let bytes = text.as_bytes();
    let line_start = |at: usize| memchr::memrchr(b'\n', &bytes[top..at]).map_or(top, |n| top + n + 1);
    let first = line_start(offset);
    let mut at = first;
    loop {
        let line = text[at..].trim_start_matches([' ', '\t']);
        if looks_like_computation(text, at) && at < first {
            return (first, true);
        }
        if line.starts_with('}') && at < first && !line.starts_with("},") {
            return (first, false);
        }
        let begins = at + bytes[at..].iter().take_while(|b| b" \t".contains(b)).count();
        if looks_like_instruction(text, at) && !bytes[begins..].starts_with(b"\n") {
            if at == first || is_open(&text[at..first]) {
                return (at, true);
            }
            return (first, true);
        }
        if at <= top {
            return (first, in_body && !looks_like_computation(text, first));
        }
        if offset - at > REACH {
            return (first, true);
        }
        at = line_start(at - 1);
    }
}

/// Whether a statement continues after this part of it.
fn is_open(statement: &str) -> bool {
    let mut lexer = Lexer::new(statement, 0);
    let mut depth = 0i64;
    let mut last = Token::End;
    while lexer.token != Token::End {
        match lexer.token {
            Token::LeftParen | Token::LeftBrace | Token::LeftSquare => depth += 1,
            Token::RightParen | Token::RightBrace | Token::RightSquare => depth -= 1,
            _ => {}
        }
        last = lexer.token;
        lexer.bump();
    }
    depth > 0 || matches!(last, Token::Comma | Token::Equal | Token::AttributeName)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Outside,
    Start,
    /// After the name.
    Equal,
    Shape,
    /// Inside brackets of the result shape, with their depth.
    InShape(usize),
    Opcode,
    /// Between opcode and parenthesis.
    Paren,
    /// The depth of brackets inside the operand list, and whether the operand has its name.
    Operands(usize, bool),
    /// After something that a comma may follow.
    Behind,
    Key,
    /// After `key=`: the depth of brackets, and whether the value has started at depth 0.
    Value(Option<AttributeKey>, usize, bool),
}

struct Reader<'a> {
    text: &'a str,
    lexer: Lexer<'a>,
    offset: usize,
    state: State,
    is_placed: bool,
    out: Cursor,
}

impl<'a> Reader<'a> {
    fn new(text: &'a str, start: usize, offset: usize) -> Self {
        let empty = Span::new(offset, offset);
        let out = Cursor {
            place: CursorPlace::Nothing,
            word: empty,
            statement: Span::new(start, start),
            shape: Span::default(),
            opcode: None,
            opcode_span: Span::default(),
            operands: Vec::new(),
            keys: Vec::new(),
            is_called: false,
        };
        Reader { text, lexer: Lexer::new(text, start), offset, state: State::Start, is_placed: false, out }
    }

    fn read(&mut self) {
        loop {
            if !self.is_placed {
                self.place();
            }
            if self.lexer.token == Token::End {
                break;
            }
            self.step();
            self.out.statement.end = self.lexer.end() as u32;
            self.lexer.bump();
        }
        if matches!(self.state, State::Outside) {
            self.out.opcode = None;
        }
    }

    /// Records the cursor's place if the cursor is in the current token or before it.
    fn place(&mut self) {
        let (start, end) = (self.lexer.start, self.lexer.end());
        let is_word = matches!(
            self.lexer.token,
            Token::Ident | Token::Name | Token::AttributeName | Token::ElementType(_) | Token::DimLabels
        ) || self.lexer.full_span().of(self.text) == "%";
        let is_string = self.lexer.token == Token::String || self.lexer.text_of().starts_with(['"', '\'']);
        let is_inside = self.offset < end || self.lexer.token == Token::Bad;
        if is_string && start < self.offset && is_inside {
            self.is_placed = true;
            let inner = self.lexer.span;
            let close = if self.lexer.token == Token::Bad { self.offset } else { inner.end as usize };
            self.out.word = Span::new(start + 1, close.max(start + 1));
            if let State::Value(Some(key), depth, _) = self.state {
                self.out.place = CursorPlace::Value { key, depth, in_string: true };
            }
            return;
        }
        // The `=` of `key=` and the colon of `name:` do not belong to the word.
        let word_end = self.lexer.span.end as usize;
        if is_word && start < self.offset && self.offset <= word_end {
            self.is_placed = true;
            self.out.word = Span::new(start, word_end);
            let behind = self.text.as_bytes()[word_end..].iter().find(|b| !b" \t".contains(b));
            self.out.is_called = behind == Some(&b'(');
            self.out.place = self.here();
        } else if start >= self.offset || self.lexer.token == Token::End {
            self.is_placed = true;
            let between = &self.text[self.lexer.previous_end.min(self.offset)..self.offset];
            let in_comment = between.contains("//") || between.rfind("/*") > between.rfind("*/");
            let touches = start == self.offset && self.lexer.token == Token::LeftParen;
            self.out.is_called = touches;
            self.out.place = if in_comment { CursorPlace::Nothing } else { self.here() };
        } else if self.offset < end {
            // In the middle of a number or a similar token.
            self.is_placed = true;
        }
        if self.is_placed && matches!(self.out.place, CursorPlace::Operand(_)) {
            self.note_operand_at_cursor();
        }
    }

    fn here(&self) -> CursorPlace {
        match self.state {
            State::Outside => CursorPlace::TopLevel,
            State::Start => CursorPlace::Name,
            State::Shape => CursorPlace::Shape,
            State::InShape(_) | State::Equal | State::Paren => CursorPlace::Nothing,
            State::Opcode => CursorPlace::Opcode,
            State::Operands(0, false) => match self.out.opcode {
                Some(Opcode::Parameter | Opcode::Constant) => CursorPlace::Nothing,
                _ => CursorPlace::Operand(self.out.operands.len().saturating_sub(1)),
            },
            State::Operands(..) => CursorPlace::Nothing,
            State::Behind => CursorPlace::Attribute { needs_comma: true },
            State::Key => CursorPlace::Attribute { needs_comma: false },
            State::Value(Some(key), 0, false) => CursorPlace::Value { key, depth: 0, in_string: false },
            State::Value(Some(_), 0, true) => CursorPlace::Attribute { needs_comma: true },
            State::Value(Some(key), depth, _) => CursorPlace::Value { key, depth, in_string: false },
            State::Value(None, ..) => CursorPlace::Nothing,
        }
    }

    fn note_operand_at_cursor(&mut self) {
        if let Some(last) = self.out.operands.last_mut()
            && last.is_empty()
        {
            *last = self.out.word;
        }
    }

    /// Consumes the current token.
    fn step(&mut self) {
        let token = self.lexer.token;
        let opens = matches!(token, Token::LeftParen | Token::LeftBrace | Token::LeftSquare);
        let closes = matches!(token, Token::RightParen | Token::RightBrace | Token::RightSquare);
        let end = self.lexer.end();
        self.state = match self.state {
            State::Outside => State::Outside,
            State::Start if token == Token::Ident && self.lexer.text_of() == "ROOT" => State::Start,
            // `x=f32[2]` without a space.
            State::Start if token == Token::AttributeName => State::Shape,
            State::Start if matches!(token, Token::Ident | Token::Name | Token::ElementType(_)) => {
                State::Equal
            }
            State::Start => State::Start,
            State::Equal if token == Token::Equal => State::Shape,
            State::Equal => State::Equal,
            State::Shape => match token {
                Token::ElementType(_) => {
                    self.out.shape = self.lexer.full_span();
                    self.behind_shape()
                }
                Token::LeftParen => {
                    self.out.shape = self.lexer.full_span();
                    State::InShape(1)
                }
                _ => self.opcode(),
            },
            State::InShape(depth) => {
                self.out.shape.end = end as u32;
                match (depth + usize::from(opens)).saturating_sub(usize::from(closes)) {
                    0 => self.behind_shape(),
                    depth => State::InShape(depth),
                }
            }
            State::Opcode => self.opcode(),
            State::Paren if token == Token::LeftParen => {
                self.out.operands.push(Span::new(end, end));
                State::Operands(0, false)
            }
            // The previous word was not the opcode yet.
            State::Paren => self.opcode(),
            State::Operands(0, _) if token == Token::RightParen => {
                if self.out.operands.len() == 1 && self.out.operands[0].is_empty() {
                    self.out.operands.clear();
                }
                State::Behind
            }
            State::Operands(0, _) if token == Token::Comma => {
                self.out.operands.push(Span::new(end, end));
                State::Operands(0, false)
            }
            State::Operands(depth, named) => {
                if let Some(last) = self.out.operands.last_mut() {
                    if last.is_empty() {
                        last.start = self.lexer.start as u32;
                    }
                    last.end = end as u32;
                }
                let is_name = matches!(token, Token::Ident | Token::Name | Token::Int) && depth == 0;
                State::Operands(
                    (depth + usize::from(opens)).saturating_sub(usize::from(closes)),
                    named || is_name,
                )
            }
            State::Behind if token == Token::Comma => State::Key,
            State::Behind => State::Behind,
            State::Key if token == Token::AttributeName => {
                let key = AttributeKey::from_name(self.lexer.text_of());
                self.out.keys.extend(key);
                State::Value(key, 0, false)
            }
            State::Key if token == Token::Comma => State::Key,
            // A key that is being typed.
            State::Key => State::Behind,
            State::Value(_, 0, _) if token == Token::Comma => State::Key,
            State::Value(key, depth, _) => {
                State::Value(key, (depth + usize::from(opens)).saturating_sub(usize::from(closes)), true)
            }
        };
    }

    /// The shape may continue without a space: `f32`, `[8]`, `{0}`.
    fn behind_shape(&self) -> State {
        match self.text.as_bytes().get(self.lexer.end()) {
            Some(b'[' | b'{') => State::InShape(0),
            _ => State::Opcode,
        }
    }

    fn opcode(&mut self) -> State {
        if self.lexer.token != Token::Ident {
            return self.state;
        }
        self.out.opcode = Opcode::from_name(self.lexer.text_of());
        self.out.opcode_span = self.lexer.span;
        State::Paren
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, place: CursorPlace, word: &str) {
        let offset = text.find("$0").expect("there is a cursor");
        let text = text.replacen("$0", "", 1);
        let found = cursor(&text, offset, 0, false);
        assert_eq!((found.place, found.word.of(&text)), (place, word), "in {text:?}");
    }

    #[test]
    fn places_are_told_apart_on_a_finished_line() {
        let attribute = CursorPlace::Attribute { needs_comma: false };
        let dims = |depth| CursorPlace::Value { key: AttributeKey::Dimensions, depth, in_string: false };
        check("e {\n  $0", CursorPlace::Name, "");
        check("e {\n  %a$0b = f32[2] add(%p, %q)\n}", CursorPlace::Name, "%ab");
        check("e {\n  %a = $0f32[2] add(%p, %q)\n}", CursorPlace::Shape, "");
        check("e {\n  %a = f3$0 add(%p, %q)\n}", CursorPlace::Shape, "f3");
        check("e {\n  %a = f32[2,$03] add(%p, %q)\n}", CursorPlace::Nothing, "");
        check("e {\n  %a = f32[2,3]{1,0} a$0dd(%p, %q)\n}", CursorPlace::Opcode, "add");
        check("e {\n  %a = (f32[2]{0}, s32[]) so$0rt(%p, %q)\n}", CursorPlace::Opcode, "sort");
        check("e {\n  %a = f32[2] add($0%p, %q)\n}", CursorPlace::Operand(0), "");
        check("e {\n  %a = f32[2] add(f32[2]{0} %p, f32[2]{0} %$0)\n}", CursorPlace::Operand(1), "%");
        check("e {\n  %a = f32[2] add(%p, %q$0)\n}", CursorPlace::Operand(1), "%q");
        check("e {\n  a = f32[2] transpose(p), di$0mensions={0}\n}", attribute, "dimensions");
        check("e {\n  a = f32[2] transpose(p), $0\n}", attribute, "");
        check("e {\n  a = f32[2] transpose(p)$0\n}", CursorPlace::Attribute { needs_comma: true }, "");
        check("e {\n  a = f32[2] transpose(p), dimensions=$0\n}", dims(0), "");
        check("e {\n  a = f32[2] transpose(p), dimensions={$0\n}", dims(1), "");
    }

    #[test]
    fn what_is_missing_around_does_not_matter() {
        let calls = CursorPlace::Value { key: AttributeKey::Calls, depth: 0, in_string: false };
        check("e {\n  a = f32[2] add(p, $0\n  b = f32[2] negate(a)\n}", CursorPlace::Operand(1), "");
        check("e {\n  a = f32[2] add(p,\n    $0", CursorPlace::Operand(1), "");
        check("e {\n  a = f32[2] fusion(p), kind=kLoop, calls=%f$0", calls, "%f");
        check("e {\n  a = f32[2] fusion(p), kind=kLoop,\n    calls=$0", calls, "");
        check("e {\n  a = f32[2] add(p, q)\n  $0\n}", CursorPlace::Name, "");
        check("e {\n  a = f32[2] add(p, q)\n}\n$0", CursorPlace::TopLevel, "");
        check("$0", CursorPlace::TopLevel, "");
        check("e {\n  a = f32[2] add(p, q) // $0\n}", CursorPlace::Nothing, "");
        let target = CursorPlace::Value { key: AttributeKey::CustomCallTarget, depth: 0, in_string: true };
        check("e {\n  a = f32[2] custom-call(p), custom_call_target=\"Sh$0\"\n}", target, "Sh");
        check("e {\n  a = f32[2] custom-call(p), custom_call_target=\"Sh$0\n}", target, "Sh");
    }

    #[test]
    fn both_sides_of_the_cursor_are_read() {
        let text = "e {\n  a = f32[2]  add(p, , q), metadata={op_name=\"x\"}, sharding={replicated}\n}";
        let found = cursor(text, text.find(" add").expect("it is there"), 0, false);
        assert_eq!((found.place, found.opcode), (CursorPlace::Opcode, Some(Opcode::Add)));
        let operands: Vec<_> = found.operands.iter().map(|o| o.of(text)).collect();
        assert_eq!(operands, ["p", "", "q"]);
        assert_eq!(found.keys, [AttributeKey::Metadata, AttributeKey::Sharding]);
        assert_eq!(found.shape.of(text), "f32[2]");
    }

    #[test]
    fn every_prefix_of_a_line_has_a_place() {
        let text = r#"HloModule m

%e (p: f32[2]) -> f32[2] {
  ROOT %a = (f32[2]{0:T(2)}, /*index=1*/s32[]) fusion(f32[2] %p#0, {1}), kind=kLoop, calls={ %x }, x="é""#;
        for end in 0..=text.len() {
            for tail in ["", "\n}\n", ")", "\"", "}}}}", "(((("] {
                let text = format!("{}{tail}", text.get(..end).unwrap_or("é"));
                for offset in 0..=text.len() {
                    cursor(&text, offset, 0, offset % 2 == 0);
                }
            }
        }
    }
}
