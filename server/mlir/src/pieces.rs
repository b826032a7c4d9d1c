//! Finds where a text may be cut so that each piece parses independently: between the functions of modules,
//! and between the ops in the body of a long function.
//!
//! The parser itself determines what is open at a line, so a piece parses as in the whole text, however
//! broken that is. Runs of [`Line::Plain`], which leave the state unchanged, are skipped.

use crate::lexer::{Token, TokenKind, tokens_behind};
use crate::piece_state::PieceState;
use crate::plain_lines::{Line, classify};
use crate::segmenter::Segmenter;
use crate::words::{is_function_like, is_module_like};
use memchr::{memchr, memmem};

/// The minimum length of a part of a cut function, relative to the length below which functions share a
/// piece.
const BODY_FACTOR: usize = 4;
/// The shortest run of plain lines that is worth skipping.
const RUN: usize = 2;
/// The number of tokens of lookahead.
const AHEAD: usize = 8;

/// The minimum lengths of pieces.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Lengths {
    /// The length before a function, a module or a part of the text.
    pub(crate) between_units: usize,
    /// The length before an op of a body.
    pub(crate) in_bodies: usize,
}

impl Lengths {
    /// A text of up to twice the length is not cut, so that typing into a piece does not split it.
    pub(crate) fn of(text: &str, min_bytes: usize) -> Lengths {
        let where_long = |bytes: usize| if text.len() / 2 > bytes { bytes } else { usize::MAX };
        let in_bodies = where_long(min_bytes.saturating_mul(BODY_FACTOR));
        Lengths { between_units: where_long(min_bytes), in_bodies }
    }
}

/// Reads a text from its start and finds where it may be cut.
pub(crate) struct Cutter<'t> {
    text: &'t str,
    reader: Segmenter<'t>,
    /// The next token to process.
    next: usize,
    /// The end of the tokenised text, at the end of a line.
    lexed: usize,
    resources_stay_open: bool,
    /// The start of unterminated resources.
    open_resources: usize,
    has_resources: bool,
    state: PieceState,
    lengths: Lengths,
    /// The start of the current piece.
    piece: usize,
    /// The end of the processed text, at the start of a line.
    at: usize,
    /// The lines up to here were examined and are not worth skipping.
    looked: usize,
    /// A line before which others were skipped, and whether the text above it ends there.
    passed: Option<(usize, bool)>,
    cuts: text::Cuts,
}

impl<'t> Cutter<'t> {
    /// `has_resources`: whether the text may contain resources.
    pub(crate) fn new(text: &'t str, state: PieceState, lengths: Lengths, has_resources: bool) -> Self {
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
            has_resources,
            state,
            lengths,
            piece: 0,
            at: 0,
            looked: 0,
            passed: None,
            cuts: text::Cuts::default(),
        }
    }

    /// Reads up to `limit`, the start of a line, or to the end of resources that start before it.
    pub(crate) fn run_to(&mut self, limit: usize) {
        while self.at < limit {
            if self.at >= self.looked && self.reader.is_quiet() {
                let (last, behind, ends) = self.pass_over(limit);
                self.looked = behind;
                if last > self.at {
                    self.reader.pass_over(self.next);
                    (self.at, self.lexed) = (last, last);
                    self.passed = Some((last, ends));
                }
            }
            self.at = self.line(self.at);
        }
    }

    /// The end of the text read so far.
    pub(crate) fn at(&self) -> usize {
        self.at
    }

    /// Whether more than blanks and comments was read.
    pub(crate) fn has_read(&self) -> bool {
        self.next > self.state.open_regions()
    }

    pub(crate) fn into_cuts(self) -> text::Cuts {
        let end = self.end().map(PieceState::to_u8);
        text::Cuts { end, ..self.cuts }
    }

    fn line_end(&self, at: usize) -> usize {
        memchr(b'\n', &self.text.as_bytes()[at..]).map_or(self.text.len(), |n| at + n + 1)
    }

    /// Skips a run of plain lines: the start of its last line, the end of the run, and whether an op may
    /// start on that line. For a short run, the start of the first line.
    fn pass_over(&mut self, limit: usize) -> (usize, usize, bool) {
        let (at, state) = (self.at, self.reader.state());
        let mut ends =
            self.next > self.state.open_regions() && self.reader.ends_well(self.state, self.next - 1);
        let (mut line, mut last, mut count) = (at, at, 0);
        let mut ends_above = ends;
        let mut cuts = Vec::new();
        let mut piece = self.piece;
        while line < limit {
            let end = self.line_end(line);
            match classify(&self.text[line..end]) {
                Line::Empty => {}
                Line::Plain { has_result, ends: next } if has_result || ends => {
                    let in_body = state.is_some_and(|s| s.function.is_some()) && ends;
                    if in_body && line - piece >= self.lengths.in_bodies && line > 0 {
                        cuts.push(line);
                        piece = line;
                    }
                    (last, count, ends_above, ends) = (line, count + 1, ends, next);
                }
                _ => break,
            }
            line = end;
        }
        if count < RUN {
            return (at, line.max(at + 1), ends);
        }
        // The cut before the last line is found when that line is read.
        for cut in cuts.into_iter().filter(|&cut| cut < last) {
            self.cut(cut, state);
        }
        (last, line, ends_above)
    }

    fn cut(&mut self, at: usize, state: Option<PieceState>) {
        let Some(state) = state else { return };
        let state = PieceState { is_below_open_resources: self.open_resources < at, ..state };
        self.cuts.pieces.push((at, state.to_u8()));
        self.piece = at;
    }

    /// Reads a line, or all of the resources that start on it, and returns the start of the next line.
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
        if is_split && end - self.piece >= self.lengths.between_units && end < self.text.len() {
            self.cut(end, Some(PieceState::default()));
        }
        end
    }

    /// The next token if it starts before `end`, with enough lookahead.
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
                // `%a, %b:2 = `: its meaning depends on the token after all of them.
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

    /// Tokenises one more line, or to the end of resources that start on it.
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

    /// The end of the line on which resources that may start at `at` end; the end of the text if they do not.
    fn resources_end(&self, at: usize, line_end: usize) -> usize {
        let mut from = at;
        // An apparent terminator may be in a string.
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

    /// Cuts before the next token, the first of its line, if a piece may start there and the current one is
    /// long enough.
    fn cut_in_front(&mut self, end: usize) {
        let (at, tokens) = (self.next, &self.reader.tokens);
        let start = tokens.all[at].span.start as usize;
        // A line starts where the previous one ends.
        let line = self.text[..start].rfind(['\n', '\r']).map_or(0, |n| n + 1);
        let len = line.saturating_sub(self.piece);
        let starts_line = line == 0 || self.text.as_bytes()[line - 1] == b'\n';
        if len < self.lengths.between_units || line <= self.piece || !starts_line || !self.reader.is_quiet() {
            return;
        }
        let Some(state) = self.reader.state() else { return };
        let is_behind = at > self.state.open_regions();
        let is_top = state.open_regions() == 0;
        let starts = match self.passed.filter(|&(last, _)| last == line) {
            Some((_, ends)) => ends,
            None => {
                is_behind && self.reader.ends_well(self.state, at - 1) && tokens.starts_statement(at, is_top)
            }
        };
        if !starts {
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
        let is_long = state.function.is_none() || len >= self.lengths.in_bodies;
        let is_op = state.function.is_some() || tokens.all[at].kind == TokenKind::Word;
        if may_be_cut && is_long && is_op {
            self.cut(line, Some(state));
        }
    }

    /// The state at the end of the text read so far, if a piece may start there.
    pub(crate) fn end(&self) -> Option<PieceState> {
        let is_line = self.at == 0 || self.text.as_bytes()[self.at - 1] == b'\n';
        // The end of the resources may be further below.
        let opened = self.resources_stay_open && self.open_resources < self.at;
        let above = self.state.is_below_open_resources;
        self.reader.end(self.state, self.next).filter(|_| is_line && (above || !opened))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks the first lines of pieces, with the number of modules they start in, and `f` if a function is
    /// open.
    fn check(text: &str, min_bytes: usize, expect: &[&str], end: Option<u8>) {
        let cuts = crate::split(text, 0, min_bytes);
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
            "\
module @m attributes {a = 1} {
  func.func @f() {
    return
  }
  func.func @g() {
  }
}
",
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
    fn typing_leaves_the_pieces_as_they_are() {
        let op = "    %0 = a.b %a : f32\n";
        let function = |ops: usize| format!("  func.func @f(%a: f32) {{\n{}  }}\n", op.repeat(ops));
        let text = format!("module {{\n{}{}}}\n", function(3).repeat(90), function(600));
        let mut document = text::Document::in_pieces_of(&text, crate::split, 400);
        let pieces = document.pieces().len();
        assert!(pieces > 20, "{pieces}");
        for at in (1..text.len()).step_by(97) {
            let was = document.pieces().to_vec();
            for (range, insert) in [(at..at, "( x"), (at..at + 3, "")] {
                document.edit(&text::Edit { range, insert: insert.to_owned() });
            }
            assert_eq!(document.pieces().len(), was.len(), "{:?}", &text[at..(at + 30).min(text.len())]);
        }
    }
}
