//! The top level of a piece: module header, computations, and recovery after errors.

use std::collections::VecDeque;

use rustc_hash::FxHashMap;

use super::lexer::{Lexer, Token, is_ident_start};
use super::line_forms::{looks_like_computation, looks_like_instruction};
use super::pieces::{PieceStart, PieceState, split_units};
use super::tree::{
    Computation, ComputationKind, InstructionId, Parameter, Parse, ShapeId, ShapeNode, ValueNode,
};
use crate::{Span, SyntaxError};

/// An error that is already recorded; the caller abandons its construct.
pub(crate) struct Reported;
pub(crate) type Parsed<T = ()> = Result<T, Reported>;

pub(crate) struct Parser<'a> {
    pub(crate) text: &'a str,
    pub(crate) lexer: Lexer<'a>,
    pub(crate) out: Parse,
    pub(crate) depth: u32,
    /// Whether the text is a single instruction without a computation. Its operands may be only shapes.
    pub(crate) is_bare: bool,
    /// Inline bodies, parsed after the computation that contains them, so that the instructions of each
    /// computation are one range.
    pub(crate) inline_bodies: VecDeque<(u32, Span, u32)>,
    /// The number of inline bodies around the current text. In the queue, the last field of each entry.
    pub(crate) inline_depth: u32,
    pub(crate) shape_ids: FxHashMap<&'a str, ShapeId>,
    pub(crate) tuple_ids: FxHashMap<Vec<ShapeId>, ShapeId>,
    /// Whether the unparsed text may be a newer form of XLA rather than a mistake: the value is kept as text.
    pub(crate) has_unknown_form: bool,
}

/// Parses one piece whose first byte is in `state`. Each unit in it (a computation, as the splitter sees it)
/// is parsed on its own, so that the result does not depend on which units share a piece.
pub fn parse(text: &str, state: PieceState) -> Parse {
    parse_each(text, state, split_units(text, state))
}

/// Like [`parse`], for a piece whose units are known: `units` are those of [`Cuts`](super::Cuts) inside the
/// piece, relative to its start. Offsets where no unit can start are skipped.
pub fn parse_units(text: &str, state: PieceState, units: &[u32]) -> Parse {
    parse_each(text, state, units.iter().map(|&at| (at as usize, PieceStart::Top)))
}

fn parse_each(text: &str, state: PieceState, units: impl IntoIterator<Item = (usize, PieceStart)>) -> Parse {
    let mut parser = Parser::new(text);
    parser.out.starts_module = state.place == PieceStart::Header;
    let (mut start, mut place) = (0, state.place);
    for (at, next) in units {
        if let Some(text) = text.get(..at).filter(|_| at > start) {
            parser.unit(place, text, start);
            (start, place) = (at, next);
        }
    }
    parser.unit(place, text, start);
    let mut out = parser.out;
    out.errors.sort_by_key(|e| (e.span.start, e.span.end));
    out.unknown.sort_by_key(|e| (e.span.start, e.span.end));
    out
}

/// Returns the number if the text consists only of digits, few enough to fit without overflow checks.
pub(crate) fn few_digits(text: &[u8]) -> Option<i64> {
    if text.is_empty() || text.len() > 18 {
        return None;
    }
    text.iter().try_fold(0, |value, b| b.is_ascii_digit().then(|| value * 10 + i64::from(b - b'0')))
}

/// Whether the word is a keyword, which makes it a name only with a `%`.
/// Source: `xla/hlo/parser/hlo_lexer.cc`, the identifiers that are tokens of their own.
pub fn is_reserved(word: &str) -> bool {
    matches!(
        word,
        "true"
            | "false"
            | "maximal"
            | "replicated"
            | "manual"
            | "last_tile_dim_replicate"
            | "shard_as"
            | "shard_like"
            | "unknown"
            | "unreduced"
            | "HloModule"
            | "ENTRY"
            | "ROOT"
            | "FileLocations"
            | "FileNames"
            | "FunctionNames"
            | "StackFrames"
    )
}

impl<'a> Parser<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        // A line of a dump has about 100 bytes.
        let lines = text.len() / 100 + 1;
        let out = Parse {
            instructions: Vec::with_capacity(lines),
            operands: Vec::with_capacity(lines),
            attributes: Vec::with_capacity(lines),
            ..Parse::default()
        };
        Parser {
            text,
            lexer: Lexer::new(text, 0),
            out,
            depth: 0,
            is_bare: false,
            inline_bodies: VecDeque::new(),
            inline_depth: 0,
            shape_ids: FxHashMap::default(),
            tuple_ids: FxHashMap::default(),
            has_unknown_form: false,
        }
    }

    /// Parses the unit from `start` to the end of `text`.
    fn unit(&mut self, place: PieceStart, text: &'a str, start: usize) {
        self.text = text;
        self.lexer = Lexer::new(text, start);
        self.out.ends_in_body = false;
        match place {
            PieceStart::Body => {
                if self.body_without_header(ComputationKind::Continued).is_err()
                    && self.skip_to_computation(start)
                {
                    self.resume_body();
                }
            }
            PieceStart::Header => self.module_start(),
            PieceStart::Top => {}
        }
        self.computations();
    }

    // ---- errors and small steps ----

    pub(crate) fn error_at(&mut self, span: Span, message: impl Into<String>) {
        self.out.errors.push(SyntaxError { span, message: message.into() });
    }

    /// Records a problem that XLA tolerates.
    pub(crate) fn warning_at(&mut self, span: Span, message: impl Into<String>) {
        self.out.warnings.push(SyntaxError { span, message: message.into() });
    }

    /// Records a word that this vocabulary lacks, but that a newer XLA may have.
    pub(crate) fn unknown_at(&mut self, span: Span, message: impl Into<String>) {
        self.out.unknown.push(SyntaxError { span, message: message.into() });
    }

    /// Records that the current token starts a form that this grammar lacks: [`Self::kept_if_unknown`] keeps
    /// the value around it as text.
    pub(crate) fn unknown_form<T>(&mut self, message: impl Into<String>) -> Parsed<T> {
        self.unknown_at(self.lexer.full_span(), message);
        self.has_unknown_form = true;
        Err(Reported)
    }

    /// Parses a value; keeps it as text if it has a form that a newer XLA may have added.
    pub(crate) fn kept_if_unknown(
        &mut self,
        read: impl FnOnce(&mut Self) -> Parsed<ValueNode>,
    ) -> Parsed<ValueNode> {
        let start = self.lexer;
        self.has_unknown_form = false;
        let result = read(self);
        if result.is_err() && std::mem::take(&mut self.has_unknown_form) {
            self.lexer = start;
            self.skip_value()?;
            return Ok(ValueNode::Text);
        }
        result
    }

    /// Records an error at the current token. If that is on a later line or at the end, the error is placed
    /// after the previous token, so that it appears on the broken line.
    pub(crate) fn fail<T>(&mut self, message: impl Into<String>) -> Parsed<T> {
        let behind = self.lexer.previous_end;
        let is_elsewhere = || self.text[behind..self.lexer.start.max(behind)].contains('\n');
        let span = match self.lexer.token {
            // No token was consumed yet.
            _ if behind == self.lexer.origin => self.lexer.full_span(),
            token if token == Token::End || is_elsewhere() => {
                let last = self.text[..behind].chars().next_back().map_or(0, char::len_utf8);
                Span::new(behind - last, behind)
            }
            _ => self.lexer.full_span(),
        };
        self.error_at(span, message);
        Err(Reported)
    }

    pub(crate) fn at(&self, token: Token) -> bool {
        self.lexer.token == token
    }

    pub(crate) fn eat(&mut self, token: Token) -> bool {
        let found = self.at(token);
        if found {
            self.lexer.bump();
        }
        found
    }

    pub(crate) fn expect(&mut self, token: Token, message: &str) -> Parsed {
        if self.eat(token) { Ok(()) } else { self.fail(message) }
    }

    pub(crate) fn at_word(&self, word: &str) -> bool {
        self.at(Token::Ident) && self.lexer.text_of() == word
    }

    pub(crate) fn eat_word(&mut self, word: &str) -> bool {
        let found = self.at_word(word);
        if found {
            self.lexer.bump();
        }
        found
    }

    /// Parses an integer as XLA does: up to 2^64 - 1, wrapped to signed 64 bits.
    pub(crate) fn int(&mut self) -> Parsed<i64> {
        if !self.at(Token::Int) {
            return self.fail("expects integer");
        }
        let text = self.lexer.text_of();
        if let Some(value) = few_digits(text.as_bytes()) {
            self.lexer.bump();
            return Ok(value);
        }
        let value = text.parse::<i64>().ok().or_else(|| text.parse::<u64>().ok().map(|v| v as i64));
        let Some(value) = value else {
            return self.fail("the integer does not fit 64 bits");
        };
        self.lexer.bump();
        Ok(value)
    }

    pub(crate) fn bool(&mut self) -> Parsed<bool> {
        if self.eat_word("true") {
            Ok(true)
        } else if self.eat_word("false") {
            Ok(false)
        } else {
            self.fail("expects true or false")
        }
    }

    pub(crate) fn string(&mut self) -> Parsed<Span> {
        if !self.at(Token::String) {
            let unterminated = self.at(Token::Bad) && self.lexer.text_of().starts_with(['"', '\'']);
            return self.fail(if unterminated { "the string is not closed" } else { "expects string" });
        }
        let span = self.lexer.span;
        self.lexer.bump();
        Ok(span)
    }

    /// `name`, `%name` or `name:`, if it is not reserved.
    pub(crate) fn name(&mut self) -> Parsed<Span> {
        match self.lexer.token {
            Token::Name => {
                let span = self.lexer.span;
                self.lexer.bump();
                Ok(span)
            }
            Token::Ident if !is_reserved(self.lexer.text_of()) => {
                let span = self.lexer.span;
                self.lexer.bump();
                Ok(span)
            }
            _ => self.fail("expects name"),
        }
    }

    /// Runs `f` one nesting level deeper; fails beyond [`crate::MAX_DEPTH`].
    pub(crate) fn nested<T>(&mut self, f: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.depth >= crate::MAX_DEPTH {
            return self.fail(format!("nesting deeper than {} levels", crate::MAX_DEPTH));
        }
        self.depth += 1;
        let result = recursion::grow(|| f(self));
        self.depth -= 1;
        result
    }

    // ---- computations ----

    /// Parses a body without its header: the piece begins inside the body, or the header could not be parsed.
    fn body_without_header(&mut self, kind: ComputationKind) -> Parsed {
        let start = self.lexer.start;
        self.body(Computation {
            name: Span::default(),
            kind,
            is_entry: false,
            parameters: None,
            result: None,
            instructions: 0..0,
            span: Span::new(start, start),
            is_closed: false,
            execution_thread: Span::default(),
        })
    }

    pub(crate) fn computations(&mut self) {
        while !self.at(Token::End) {
            let before = self.lexer.start;
            if self.computation().is_err() && self.skip_to_computation(before) {
                self.resume_body();
            }
        }
    }

    /// Continues at an instruction whose computation has no parsable header.
    pub(crate) fn resume_body(&mut self) {
        loop {
            let before = self.lexer.start;
            if self.body_without_header(ComputationKind::Headless).is_ok()
                || !self.skip_to_computation(before)
            {
                return;
            }
        }
    }

    /// `[ENTRY] name [(params) -> shape] { instructions } [, execution_thread="…"]`
    fn computation(&mut self) -> Parsed {
        let start = self.lexer.start;
        let is_entry = self.eat_word("ENTRY");
        let name = self.name()?;
        let mut parameters = None;
        let mut result = None;
        if self.at(Token::LeftParen) {
            parameters = Some(self.parameter_list()?);
            self.expect(Token::Arrow, "expects '->' after the parameter list")?;
            let from = self.lexer.start;
            let shape = self.shape()?;
            result = Some((shape, Span::new(from, self.lexer.previous_end)));
        }
        if !self.at(Token::LeftBrace) {
            return self.fail("expects '{' at the beginning of the instruction list");
        }
        self.lexer.bump();
        self.body(Computation {
            name,
            kind: ComputationKind::Whole,
            is_entry,
            parameters,
            result,
            instructions: 0..0,
            span: Span::new(start, start),
            is_closed: false,
            execution_thread: Span::default(),
        })
    }

    fn parameter_list(&mut self) -> Parsed<std::ops::Range<u32>> {
        let start = self.out.parameters.len() as u32;
        self.lexer.bump();
        if !self.at(Token::RightParen) {
            loop {
                let name = self.name()?;
                let shape = self.shape()?;
                self.out.parameters.push(Parameter { name, shape });
                if !self.eat(Token::Comma) {
                    break;
                }
            }
        }
        self.expect(Token::RightParen, "expects ')' at the end of the parameter list")?;
        Ok(start..self.out.parameters.len() as u32)
    }

    /// Parses instructions up to the closing brace, then the inline bodies inside them.
    fn body(&mut self, mut computation: Computation) -> Parsed {
        let first = self.out.instructions.len() as InstructionId;
        let id = self.out.computations.len();
        self.out.computations.push(computation.clone());
        loop {
            match self.lexer.token {
                Token::RightBrace => {
                    self.lexer.bump();
                    computation.is_closed = true;
                    break;
                }
                Token::End => break,
                _ => {
                    // The module, which sees all pieces, reports the missing brace.
                    if looks_like_computation(self.text, self.lexer.start) {
                        break;
                    }
                    let before = self.lexer.start;
                    if self.instruction().is_err() {
                        self.skip_to_instruction(before);
                    }
                }
            }
        }
        computation.instructions = first..self.out.instructions.len() as InstructionId;
        // Lines skipped at the end of the body include their line break, which is not part of the
        // computation: its span would touch the next unit, but only if both share a piece.
        let end = self.text[..self.lexer.previous_end].trim_end().len();
        computation.span.end = computation.span.start.max(end as u32);
        let trailer = if computation.is_closed {
            self.trailer().map(|thread| computation.execution_thread = thread)
        } else {
            Ok(())
        };
        // A body that is open at the end continues in the next piece, or its brace is missing: the file
        // decides.
        self.out.ends_in_body = !computation.is_closed && self.at(Token::End);
        self.out.computations[id] = computation;
        self.inline_bodies_of_computation();
        trailer
    }

    /// `, execution_thread="name"`
    fn trailer(&mut self) -> Parsed<Span> {
        let mut thread = Span::default();
        while self.eat(Token::Comma) {
            if !(self.at(Token::AttributeName) && self.lexer.text_of() == "execution_thread") {
                return self.fail("expects execution_thread=\"…\" after a computation");
            }
            self.lexer.bump();
            thread = self.string()?;
        }
        Ok(thread)
    }

    fn inline_bodies_of_computation(&mut self) {
        let behind = self.lexer;
        while let Some((id, span, depth)) = self.inline_bodies.pop_front() {
            self.inline_depth = depth;
            let first = self.out.instructions.len() as InstructionId;
            self.lexer = Lexer::new(self.text, span.start as usize);
            self.lexer.bump();
            while self.lexer.start + 1 < span.end as usize && !self.at(Token::RightBrace) {
                let before = self.lexer.start;
                if self.instruction().is_err() {
                    self.skip_to_instruction(before);
                }
            }
            let end = self.out.instructions.len() as InstructionId;
            if first == end {
                self.error_at(span, "a computation needs at least one instruction");
            }
            self.out.computations[id as usize].instructions = first..end;
        }
        self.inline_depth = 0;
        self.lexer = behind;
    }

    // ---- recovery ----

    /// Recovers from a broken line: continues at the next line that starts an instruction, closes the body,
    /// or starts a computation. The search begins after the last token that was understood.
    pub(crate) fn skip_to_instruction(&mut self, before: usize) {
        let text = self.text;
        self.skip_lines(before, |at| {
            let first = at + text.as_bytes()[at..].iter().take_while(|b| b" \t\r".contains(b)).count();
            text.as_bytes().get(first) == Some(&b'}')
                || looks_like_instruction(text, at)
                || looks_like_computation(text, at)
        });
    }

    /// Continues at the next computation, or (true) at an instruction whose computation has a broken header.
    fn skip_to_computation(&mut self, before: usize) -> bool {
        let text = self.text;
        let at = self
            .skip_lines(before, |at| looks_like_instruction(text, at) || looks_like_computation(text, at));
        at.is_some_and(|at| looks_like_instruction(text, at))
    }

    pub(crate) fn skip_lines(&mut self, before: usize, is_wanted: impl Fn(usize) -> bool) -> Option<usize> {
        let bytes = self.text.as_bytes();
        let mut at = self.lexer.previous_end.max(before);
        while let Some(newline) = bytes.get(at..).and_then(|rest| memchr::memchr(b'\n', rest)) {
            at += newline + 1;
            if is_wanted(at) {
                self.lexer.jump(at);
                return Some(at);
            }
        }
        self.lexer.jump(bytes.len());
        None
    }

    /// Parses a text that is neither a module nor a computation: a single instruction. Text after it is
    /// parsed as computations; the module, which sees all pieces, reports that they do not belong there.
    pub(crate) fn bare_instruction(&mut self) {
        let start = self.lexer.start;
        let first = self.out.instructions.len() as InstructionId;
        self.is_bare = true;
        let mut result = self.instruction();
        self.is_bare = false;
        // Possibly no token was consumed.
        let end = self.lexer.previous_end.max(start);
        self.out.computations.push(Computation {
            name: Span::default(),
            kind: ComputationKind::Bare,
            is_entry: false,
            parameters: None,
            result: None,
            instructions: first..self.out.instructions.len() as InstructionId,
            span: Span::new(start, end),
            is_closed: true,
            execution_thread: Span::default(),
        });
        self.inline_bodies_of_computation();
        if result.is_ok() && !self.at(Token::End) && !looks_like_computation(self.text, self.lexer.start) {
            result = self.fail(
                "expects the end of the text: more than one instruction need a computation around them",
            );
        }
        if result.is_err() && self.skip_to_computation(start) {
            self.resume_body();
        }
    }

    /// Returns the id of a tuple of these elements.
    pub(crate) fn tuple_shape(&mut self, elements: Vec<ShapeId>) -> ShapeId {
        if let Some(&id) = self.tuple_ids.get(&elements) {
            return id;
        }
        let id = self.push_shape(ShapeNode::Tuple(elements.clone()));
        self.tuple_ids.insert(elements, id);
        id
    }

    pub(crate) fn push_shape(&mut self, node: ShapeNode) -> ShapeId {
        let id = ShapeId(self.out.shapes.len() as u32);
        self.out.shapes.push(node);
        id
    }

    pub(crate) fn starts_name(&self) -> bool {
        self.text.as_bytes().get(self.lexer.start).is_some_and(|&b| b == b'%' || is_ident_start(b))
    }
}

#[cfg(test)]
mod tests {
    use crate::hlo::{PieceState, parse};

    #[test]
    fn each_instruction_alone_is_a_computation_of_its_own() {
        let two_modules = "a = f32[4] add(b, b)\n// -----\nc = f32[4] negate(d)\n";
        let parsed = parse(two_modules, PieceState::HEADER);
        let instructions: Vec<_> = parsed.computations.iter().map(|c| c.instructions.clone()).collect();
        assert_eq!(instructions, [0..1, 1..2]);
    }
}
