//! Where a text may be cut, so that each piece is read on its own: between the functions of modules, and between the ops of the
//! body of a long function.
//!
//! The reader of tokens itself tells what is open at a line, so that a piece is read as it would be in the whole text, however
//! broken that is. Runs of [`Line::Plain`], which change nothing that is open, are passed over.

use memchr::{memchr, memmem};
use text::NEEDS_ABOVE;

use crate::lexer::{Token, TokenKind, tokens_behind};
use crate::plain_lines::{Line, classify, may_hold_resources};
use crate::segmenter::Segmenter;
use crate::words::{is_function_like, is_module_like, last_segment};

/// What is open where a piece starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PieceState {
    /// Bodies of modules.
    pub depth: u8,
    /// The body of a function in those; the column in which the function starts.
    pub function: Option<u8>,
    /// Resources start above and end nowhere, so that they were read as ordinary text. An end that is typed below would change
    /// that: such pieces are cut together with the one that holds their start.
    pub is_below_open_resources: bool,
}

/// What stands in more bodies of modules is not cut.
const MAX_DEPTH: u8 = 7;
/// A function that starts further to the right is not cut.
const MAX_COLUMN: u8 = 14;

impl PieceState {
    /// Three bits of depth, four of the column, and [`NEEDS_ABOVE`].
    pub fn from_u8(state: u8) -> PieceState {
        PieceState {
            depth: state & 0x7,
            function: ((state >> 3) & 0xf).checked_sub(1),
            is_below_open_resources: state & NEEDS_ABOVE != 0,
        }
    }

    pub fn to_u8(self) -> u8 {
        let function = self.function.map_or(0, |column| column + 1);
        let above = if self.is_below_open_resources { NEEDS_ABOVE } else { 0 };
        self.depth.min(MAX_DEPTH) | function.min(0xf) << 3 | above
    }

    pub(crate) fn open_regions(self) -> usize {
        usize::from(self.depth) + usize::from(self.function.is_some())
    }

    /// In the body of one more module; nothing where no piece may start.
    pub(crate) fn in_module(self) -> Option<PieceState> {
        let may_be_cut = self.depth < MAX_DEPTH && self.function.is_none();
        may_be_cut.then_some(PieceState { depth: self.depth + 1, ..self })
    }

    pub(crate) fn in_function(self, column: usize) -> Option<PieceState> {
        let column = u8::try_from(column).ok().filter(|&c| c <= MAX_COLUMN && self.function.is_none())?;
        Some(PieceState { function: Some(column), ..self })
    }
}

/// A function is cut into parts of so many times the size below which functions share a piece.
const BODY_FACTOR: usize = 4;
/// So many plain lines in a row are worth passing over.
const RUN: usize = 4;
/// Tokens that are read ahead of the one that is looked at.
const AHEAD: usize = 8;

/// Where a text is cut, as [`text::Cuts`] says it.
pub fn split(text: &str, state: u8, min_bytes: usize) -> text::Cuts {
    let state = PieceState::from_u8(state);
    let mut cutter = Cutter::new(text, state, min_bytes);
    cutter.run();
    let end = cutter.end();
    text::Cuts { end, ..cutter.cuts }
}

struct Cutter<'t> {
    text: &'t str,
    reader: Segmenter<'t>,
    /// The next token that is looked at.
    next: usize,
    /// The text is read into tokens up to here: to the end of a line.
    lexed: usize,
    resources_stay_open: bool,
    /// Where resources start that end nowhere.
    open_resources: usize,
    has_resources: bool,
    state: PieceState,
    min_bytes: usize,
    /// Where the current piece starts.
    piece: usize,
    cuts: text::Cuts,
}

impl<'t> Cutter<'t> {
    fn new(text: &'t str, state: PieceState, min_bytes: usize) -> Self {
        let all = vec![crate::segmenter::BRACE_ABOVE; state.open_regions()];
        let mut reader = Segmenter::new(text, all, Vec::new());
        reader.is_cutting = true;
        reader.continue_regions(state);
        Cutter {
            text,
            reader,
            next: state.open_regions(),
            lexed: 0,
            resources_stay_open: state.is_below_open_resources,
            open_resources: if state.is_below_open_resources { 0 } else { usize::MAX },
            has_resources: may_hold_resources(text),
            state,
            min_bytes,
            piece: 0,
            cuts: text::Cuts::default(),
        }
    }

    fn run(&mut self) {
        let mut at = 0;
        // Up to here the lines were looked at, and are not worth passing over.
        let mut looked = 0;
        while at < self.text.len() {
            if at >= looked && self.reader.is_quiet() {
                let (last, behind) = self.pass_over(at);
                looked = behind;
                if last > at {
                    self.reader.forget_behind(self.next);
                    (at, self.lexed) = (last, last);
                }
            }
            at = self.line(at);
        }
    }

    fn line_end(&self, at: usize) -> usize {
        memchr(b'\n', &self.text.as_bytes()[at..]).map_or(self.text.len(), |n| at + n + 1)
    }

    /// The start of the last line of a run of plain ones, and where the run ends; `at` where there are few.
    fn pass_over(&mut self, at: usize) -> (usize, usize) {
        let state = self.reader.state();
        let mut ends = self.next > self.state.open_regions() && self.ends_well(self.next - 1);
        let (mut line, mut last, mut count) = (at, at, 0);
        let mut cuts = Vec::new();
        let mut piece = self.piece;
        while line < self.text.len() {
            let end = self.line_end(line);
            match classify(&self.text[line..end]) {
                Line::Empty => {}
                Line::Plain { has_result, ends: next } if has_result || ends => {
                    let in_body = state.is_some_and(|s| s.function.is_some()) && ends;
                    if in_body && line - piece >= self.min_bytes.saturating_mul(BODY_FACTOR) && line > 0 {
                        cuts.push(line);
                        piece = line;
                    }
                    (last, count, ends) = (line, count + 1, next);
                }
                _ => break,
            }
            line = end;
        }
        if count < RUN {
            return (at, line.max(at + 1));
        }
        // The cut in front of the last line is found when that is read.
        for cut in cuts.into_iter().filter(|&cut| cut < last) {
            self.cut(cut, state);
        }
        (last, line)
    }

    fn cut(&mut self, at: usize, state: Option<PieceState>) {
        let Some(state) = state else { return };
        let state = PieceState { is_below_open_resources: self.open_resources < at, ..state };
        self.cuts.pieces.push((at, state.to_u8()));
        self.piece = at;
    }

    /// Reads a line, or all of the resources that start on it, and answers where the next one starts.
    fn line(&mut self, at: usize) -> usize {
        let mut end = self.line_end(at);
        let mut is_split = false;
        while let Some(token) = self.token_in(end) {
            if token.is_first && token.kind != TokenKind::Split {
                self.cut_in_front(end);
            }
            if token.kind == TokenKind::Resources {
                end = end.max(self.line_end(token.span.end as usize));
            }
            is_split |= token.kind == TokenKind::Split;
            self.next = self.reader.step(self.next);
        }
        if is_split && end - self.piece >= self.min_bytes && end < self.text.len() {
            self.cut(end, Some(PieceState::default()));
        }
        end
    }

    /// The next token, where it stands in front of `end`, with enough of those behind it.
    fn token_in(&mut self, end: usize) -> Option<Token> {
        loop {
            let all = &self.reader.tokens.all;
            let token = all.get(self.next).copied();
            if token.map_or(self.lexed >= end, |t| t.span.start as usize >= end) {
                return None;
            }
            let mut behind = self.next + AHEAD;
            let is_fed = self.next == 0 || !self.reader.tokens.is_hungry(self.next - 1);
            if token.is_some_and(|t| t.kind == TokenKind::Value && (t.is_first || is_fed)) {
                // `%a, %b:2 = `: what it is stands behind all of them.
                let goes_on = |kind| {
                    use TokenKind::*;
                    matches!(kind, Value | Comma | Colon | Number)
                };
                let list = all[self.next..].windows(2).take_while(|pair| {
                    let is_list = pair[1].kind != TokenKind::Value || pair[0].kind == TokenKind::Comma;
                    goes_on(pair[0].kind) && is_list
                });
                behind += list.count();
            }
            if behind < all.len() || self.lexed >= self.text.len() {
                return token;
            }
            self.lex();
        }
    }

    /// Reads one line more into tokens, or as many as the resources take that start on it.
    fn lex(&mut self) {
        let start = self.lexed;
        let mut end = self.line_end(start);
        if self.has_resources && !self.resources_stay_open {
            let opens = memmem::find(&self.text.as_bytes()[start..end], b"{-#");
            end = opens.map_or(end, |at| self.resources_end(start + at, end));
        }
        let stay_open = self.reader.read_on(start, end, self.resources_stay_open);
        if stay_open && !self.resources_stay_open {
            (self.resources_stay_open, self.open_resources) = (true, start);
        }
        self.lexed = end;
    }

    /// The end of the line on which resources end that may start at `at`; where they do not end the text does.
    fn resources_end(&self, at: usize, line_end: usize) -> usize {
        let mut from = at;
        // What looks like the end may stand in a string.
        for _ in 0..4 {
            let Some(found) = memmem::find(&self.text.as_bytes()[from..], b"#-}") else { break };
            from += found + 3;
            let end = self.line_end(from).max(line_end);
            let start = self.text[..at].rfind('\n').map_or(0, |n| n + 1);
            if !tokens_behind(self.text, start, end, false).2 {
                return end;
            }
        }
        self.text.len()
    }

    /// Whether what is in front of a cut behind the token `at` is read without what is behind it.
    fn ends_well(&self, at: usize) -> bool {
        let tokens = &self.reader.tokens;
        let Some(token) = tokens.all.get(at) else { return false };
        if at < self.state.open_regions() {
            return true;
        }
        let is_return = |word: &str| matches!(last_segment(word), "return" | "yield");
        match token.kind {
            TokenKind::OpenBrace | TokenKind::Bad | TokenKind::Block => false,
            TokenKind::Word if token.is_first => is_return(tokens.word(at)),
            TokenKind::Word if is_return(tokens.word(at)) || is_function_like(tokens.word(at)) => false,
            _ => !tokens.is_hungry(at),
        }
    }

    /// Cuts in front of the next token, the first of its line, where a piece may start and the last one is long enough.
    fn cut_in_front(&mut self, end: usize) {
        let (at, tokens) = (self.next, &self.reader.tokens);
        let start = tokens.all[at].span.start as usize;
        // The line starts where the one in front ends.
        let line = self.text[..start].rfind(['\n', '\r']).map_or(0, |n| n + 1);
        let len = line.saturating_sub(self.piece);
        let starts_line = line == 0 || self.text.as_bytes()[line - 1] == b'\n';
        if len < self.min_bytes || line <= self.piece || !starts_line || !self.reader.is_quiet() {
            return;
        }
        let Some(state) = self.reader.state() else { return };
        let is_behind = at > self.state.open_regions();
        if !is_behind || !self.ends_well(at - 1) || !tokens.starts_statement(at, state.open_regions() == 0) {
            return;
        }
        let on_line = |i: usize| tokens.all.get(i).is_some_and(|t| (t.span.end as usize) < end);
        let word = tokens.word(at);
        let is_unit = is_function_like(word) || is_module_like(word);
        let may_be_cut = match tokens.all[at].kind {
            TokenKind::Word if state.function.is_none() => is_unit && on_line(at + 1),
            TokenKind::Word => !is_unit && on_line(at + 1),
            TokenKind::Value => tokens.name_behind_results(at).is_some_and(|name| on_line(name + 1)),
            TokenKind::String => on_line(at + 1),
            _ => false,
        };
        let is_long = state.function.is_none() || len >= self.min_bytes.saturating_mul(BODY_FACTOR);
        let is_op = state.function.is_some() || tokens.all[at].kind == TokenKind::Word;
        if may_be_cut && is_long && is_op {
            self.cut(line, Some(state));
        }
    }

    /// The state behind the text, where a piece may start there.
    fn end(&self) -> Option<u8> {
        let is_line = self.text.is_empty() || self.text.ends_with('\n');
        let last = self.reader.tokens.all.len();
        let ends = last == 0 || self.ends_well(last - 1) || self.is_behind_split();
        // What ends resources may stand further below.
        let opened = self.resources_stay_open && !self.state.is_below_open_resources;
        let state = self.reader.state().filter(|_| is_line && ends && !opened)?;
        Some(PieceState { is_below_open_resources: self.resources_stay_open, ..state }.to_u8())
    }

    fn is_behind_split(&self) -> bool {
        self.reader.tokens.all.last().is_some_and(|t| t.kind == TokenKind::Split)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pieces as their first lines with the number of modules they start in, and `f` where a function is open.
    fn check(text: &str, min_bytes: usize, expect: &[&str], end: Option<u8>) {
        let cuts = split(text, 0, min_bytes);
        let shown: Vec<_> = cuts
            .pieces
            .iter()
            .map(|&(at, state)| {
                let state = PieceState::from_u8(state);
                let function = if state.function.is_some() { "f" } else { "" };
                let line = text[at..].lines().next().unwrap_or_default();
                format!("{}{function} {line}", state.depth)
            })
            .collect();
        assert_eq!(shown, expect);
        assert_eq!(cuts.end, end);
    }

    #[test]
    fn functions_of_modules_are_apart() {
        check(
            "module @m attributes {a = 1} {\n  func.func @f() {\n    return\n  }\n  func.func @g() {\n  }\n}\n",
            1,
            &["1   func.func @g() {"],
            Some(0),
        );
        check("func.func @f() {\n}\n// -----\nfunc.func @f() {\n}\n", 1, &["0 func.func @f() {"], Some(0));
    }

    #[test]
    fn long_functions_are_cut_between_their_ops() {
        let op = "    %0 = a.b %a : f32\n";
        let loops = "    a.c {\n      a.b %a : f32\n    }\n";
        let text = format!("module {{\n  func.func @f() {{\n{}{loops}{op}  }}\n}}\n", op.repeat(3));
        let line = op.trim_end();
        check(&text, 10, &[&format!("1f {line}"), "1f     a.c {"], Some(0));
        let many = format!("func.func @f() {{\n{}}}\n", op.repeat(9));
        check(&many, 20, &[4, 4].map(|_| format!("0f {line}")).each_ref().map(String::as_str), Some(0));
    }

    #[test]
    fn a_bracket_that_is_open_costs_its_op() {
        let op = "  %0 = a.b %a : f32\n";
        let text = format!("func.func @f() {{\n{op}  %1 = a.b (%a\n{}}}\n", op.repeat(6));
        let line = op.trim_end();
        check(&text, 20, &[&format!("0f {line}")], Some(0));
    }

    #[test]
    fn brackets_in_strings_and_comments_do_not_count() {
        check("func.func @f(\n) { // {\n \"{\\\"\" }\nfunc.func @g()\n", 1, &["0 func.func @g()"], Some(0));
    }

    #[test]
    fn small_functions_share_a_piece() {
        check("func.func @f() {\n}\nfunc.func @g() {\n}\n", 100, &[], Some(0));
    }

    #[test]
    fn states_fit_a_byte() {
        for depth in 0..=MAX_DEPTH {
            for function in std::iter::once(None).chain((0..=MAX_COLUMN).map(Some)) {
                let state = PieceState { depth, function, is_below_open_resources: depth == 3 };
                assert_eq!(PieceState::from_u8(state.to_u8()), state);
            }
        }
    }
}
