//! Cutting HLO text into pieces: between computations, and between the instructions of a giant one.
//!
//! One pass over the bytes that tracks only brackets, strings and comments. It cuts only where no bracket but
//! the body's own is open, so that a piece can be parsed from its [`PieceState`] alone. Unbalanced brackets
//! do not affect the rest of the file: a line that looks like an instruction closes the brackets of the line
//! before, and one that looks like a computation closes the body.

use super::lexer::{find, is_ident_byte, skip_comment, string_end};
use super::line_forms::{looks_like_computation, looks_like_instruction, starts_module};
use super::protobuf::protobuf_start;
use super::segments;

/// The state of the scanner at the first byte of a piece.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct PieceState {
    pub place: PieceStart,
    /// A comment was opened above and is closed nowhere in the file, so it was treated as ordinary text. A
    /// `*/` typed below would change that: such pieces are cut together with the one that contains the `/*`.
    pub is_below_open_comment: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum PieceStart {
    /// The start of the file: `HloModule` and its tables.
    Header,
    /// Between computations.
    Top,
    /// Between the instructions of a computation.
    Body,
}

impl PieceState {
    pub const HEADER: PieceState = PieceState { place: PieceStart::Header, is_below_open_comment: false };

    pub fn from_u8(state: u8) -> PieceState {
        let place = match state & 0x7f {
            0 => PieceStart::Header,
            1 => PieceStart::Top,
            _ => PieceStart::Body,
        };
        PieceState { place, is_below_open_comment: state & 0x80 != 0 }
    }

    pub fn to_u8(self) -> u8 {
        self.place as u8 | if self.is_below_open_comment { 0x80 } else { 0 }
    }
}

/// The size of a piece, in lines or bytes, at which a body is cut. A text of up to twice that size is left
/// whole, so that a line typed into a block does not split it.
const BODY_LINES: usize = 1024;
const BODY_BYTES: usize = 128 << 10;

/// The cuts of a text. Offsets are ascending and do not include 0.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Cuts {
    pub pieces: Vec<(usize, PieceState)>,
    /// The starts of the computations inside pieces. Each is parsed on its own, whatever piece it is in.
    pub units: Vec<usize>,
    /// The state after the last byte; `None` if no piece may start there.
    pub end: Option<PieceState>,
}

/// Returns the cuts of `text`, whose first byte is in `state`. Computations smaller than `min_bytes` share a
/// piece.
pub fn split(text: &str, state: PieceState, min_bytes: usize) -> Cuts {
    let cuts_bodies =
        text.len() > 2 * BODY_BYTES || memchr::memchr_iter(b'\n', text.as_bytes()).count() > 2 * BODY_LINES;
    segments::split(text, state, &|text, state| split_segment(text, state, min_bytes, cuts_bodies))
}

pub(super) fn split_segment(text: &str, state: PieceState, min_bytes: usize, cuts_bodies: bool) -> Cuts {
    // A proto is a single piece of any length.
    if state.place == PieceStart::Header && protobuf_start(text).is_some() {
        return Cuts::default();
    }
    let mut splitter = Splitter::new(text, state, cuts_bodies);
    let is_clean = splitter.run(min_bytes);
    let end = PieceState { place: splitter.state, is_below_open_comment: splitter.open_comment };
    Cuts { pieces: splitter.pieces, units: splitter.units, end: is_clean.then_some(end) }
}

/// Returns the cuts between computations of any size; bodies are not cut.
pub(crate) fn split_units(text: &str, state: PieceState) -> Vec<(usize, PieceStart)> {
    if state.place == PieceStart::Header && protobuf_start(text).is_some() {
        return Vec::new();
    }
    let mut splitter = Splitter::new(text, state, false);
    splitter.run(0);
    splitter.pieces.into_iter().map(|(at, state)| (at, state.place)).collect()
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Bracket {
    Round,
    Square,
    Brace,
    /// The brace of an inline body: lines in it are instructions.
    InlineBody,
}

struct Splitter<'a> {
    text: &'a str,
    bytes: &'a [u8],
    /// Brackets that are open inside the body, or in a header.
    open: Vec<Bracket>,
    state: PieceStart,
    open_comment: bool,
    /// Whether no comment ends in the rest of the text, so that every `/*` is ordinary text.
    no_comment_ends: bool,
    cuts_bodies: bool,
    pieces: Vec<(usize, PieceState)>,
    units: Vec<usize>,
    /// The start of the current piece, and its number of lines so far.
    piece: usize,
    lines: usize,
    /// The start of the current unit, whether it is known to contain more than whitespace and comments, and
    /// the offset up to which that was checked.
    unit: usize,
    has_content: bool,
    looked_at: usize,
    /// An offset, and the last byte before it that is neither whitespace nor in a comment.
    known: (usize, u8),
    /// The offset up to which an unclosed string is known to be open.
    open_string: usize,
    /// The start of a line outside of bodies, and whether that line starts with a digit.
    table_line: (usize, Option<bool>),
}

/// Bytes with a meaning inside a body.
static STOPS: [bool; 256] = {
    let mut table = [false; 256];
    let stops = b"\n/\"'()[]{}";
    let mut i = 0;
    while i < stops.len() {
        table[stops[i] as usize] = true;
        i += 1;
    }
    table
};

/// Returns the offset of the next byte with a meaning inside a body.
fn stop(bytes: &[u8], at: usize) -> usize {
    find(bytes, at, &STOPS)
}

impl<'a> Splitter<'a> {
    fn new(text: &'a str, state: PieceState, cuts_bodies: bool) -> Self {
        Splitter {
            text,
            bytes: text.as_bytes(),
            open: Vec::new(),
            state: state.place,
            open_comment: state.is_below_open_comment,
            no_comment_ends: false,
            cuts_bodies,
            pieces: Vec::new(),
            units: Vec::new(),
            piece: 0,
            lines: 0,
            unit: 0,
            has_content: false,
            looked_at: 0,
            known: (0, b' '),
            open_string: 0,
            table_line: (0, None),
        }
    }

    /// Scans the text. Returns whether a piece may start after the last byte.
    fn run(&mut self, min_bytes: usize) -> bool {
        let bytes = self.bytes;
        let mut at = 0;
        // Whether only a trailer followed the last body.
        let mut is_fresh = true;
        let mut in_trailer = false;
        loop {
            // Names matter between computations alone.
            let is_inside = self.state == PieceStart::Body || !self.open.is_empty();
            if is_inside {
                at = stop(bytes, at);
            }
            let Some(&byte) = bytes.get(at) else { break };
            match byte {
                b'\n' => {
                    let last = self.last(at);
                    at += 1;
                    self.lines += 1;
                    self.known = (at, last);
                    self.table_line = (at, None);
                    in_trailer &= last == b',';
                    self.line_start(at, last, is_fresh, min_bytes);
                    continue;
                }
                b' ' | b'\t' | b'\r' => {
                    at += 1;
                    continue;
                }
                b'/' => {
                    if let Some(end) = self.comment(at) {
                        let newlines = memchr::memchr_iter(b'\n', &bytes[at..end]);
                        for newline in newlines {
                            self.lines += 1;
                            self.table_line = (at + newline + 1, None);
                        }
                        self.known = (end, self.last(at));
                        at = end;
                        continue;
                    }
                }
                b'"' | b'\'' => {
                    at = match string_end(self.text, at) {
                        Ok(end) => {
                            if let Some(newline) = memchr::memrchr(b'\n', &bytes[at..end]) {
                                self.lines += memchr::memchr_iter(b'\n', &bytes[at..end]).count();
                                self.table_line = (at + newline + 1, None);
                            }
                            end
                        }
                        // Unclosed: the rest of its line is ordinary text. A quote typed before the offset
                        // where this was decided would close the string, so the lines up to there stay in one
                        // piece.
                        Err(decided) => {
                            self.open_string = decided;
                            let end = memchr::memchr(b'\n', &bytes[at..]).map_or(bytes.len(), |n| at + n);
                            self.known = (end, byte);
                            end
                        }
                    };
                    continue;
                }
                b'[' | b'{' if is_inside && let Some(end) = numbers_end(bytes, at) => {
                    at = end;
                    continue;
                }
                b'(' if is_inside => {
                    // In most cases only operand names follow.
                    at = stop(bytes, at + 1);
                    match bytes.get(at) {
                        Some(b')') => at += 1,
                        _ => self.open.push(Bracket::Round),
                    }
                    continue;
                }
                b'(' => self.open.push(Bracket::Round),
                b'[' => self.open.push(Bracket::Square),
                // An unmatched closing bracket is an error of its line and has no effect here.
                b')' => drop(self.open.pop_if(|b| *b == Bracket::Round)),
                b']' => drop(self.open.pop_if(|b| *b == Bracket::Square)),
                b'{' => {
                    let last = self.last(at);
                    if self.open.is_empty() && self.state != PieceStart::Body && self.opens_body(at, last) {
                        self.state = PieceStart::Body;
                    } else {
                        // A table of the header contains whole modules in a string.
                        let is_table = self.state == PieceStart::Header
                            && bytes[..at].ends_with(b"origin_recovery_table=");
                        let is_body = is_table || last == b'=' && looks_like_instruction(self.text, at + 1);
                        self.open.push(if is_body { Bracket::InlineBody } else { Bracket::Brace });
                    }
                }
                b'}' => {
                    let at_column_zero = at == 0 || bytes[at - 1] == b'\n';
                    let is_inner = |b: &mut Bracket| match *b {
                        Bracket::InlineBody => false,
                        Bracket::Brace => at_column_zero,
                        Bracket::Round | Bracket::Square => true,
                    };
                    while self.open.pop_if(is_inner).is_some() {}
                    if self.open.pop().is_none() && self.state == PieceStart::Body {
                        self.state = PieceStart::Top;
                        is_fresh = true;
                        at += 1;
                        continue;
                    }
                }
                _ => {}
            }
            if self.state == PieceStart::Top && is_fresh {
                in_trailer |= byte == b',' && self.last(at) == b'}';
                is_fresh = in_trailer;
            }
            at += 1;
            if self.state != PieceStart::Body && is_ident_byte(byte) {
                while bytes.get(at).is_some_and(|&b| is_ident_byte(b)) {
                    at += 1;
                }
            }
        }
        let last = self.last(bytes.len());
        self.open.is_empty()
            && (self.open_string == 0 || self.open_string < bytes.len())
            && (bytes.is_empty() || bytes.last() == Some(&b'\n'))
            && match self.state {
                PieceStart::Header => false,
                PieceStart::Top => is_fresh && last != b',',
                PieceStart::Body => is_between_instructions(last),
            }
    }

    /// Returns the last byte before `at` that is neither whitespace nor in a comment; a space if there is
    /// none.
    fn last(&self, at: usize) -> u8 {
        let (from, last) = self.known;
        let behind = self.bytes.get(from..at).unwrap_or_default();
        let found = behind.iter().rfind(|b| !matches!(b, b' ' | b'\t' | b'\r'));
        found.copied().unwrap_or(last)
    }

    /// Returns the end of the comment at `at`.
    fn comment(&mut self, at: usize) -> Option<usize> {
        if self.bytes.get(at + 1) != Some(&b'*') {
            return skip_comment(self.bytes, at);
        }
        let end = if self.no_comment_ends { None } else { skip_comment(self.bytes, at) };
        self.no_comment_ends |= end.is_none();
        self.open_comment |= end.is_none();
        end
    }

    fn line_start(&mut self, at: usize, last: u8, is_fresh: bool, min_bytes: usize) {
        if starts_module(self.bytes, at) && (self.state != PieceStart::Header || self.has_content(at)) {
            self.open.clear();
            self.state = PieceStart::Header;
            self.cut_piece(at);
            return;
        }
        let is_open =
            self.state == PieceStart::Body || self.state == PieceStart::Header && !self.open.is_empty();
        if is_open && looks_like_computation(self.text, at) {
            // The closing brace above is missing.
            self.open.clear();
            self.state = PieceStart::Top;
            self.cut_piece(at);
            return;
        }
        let in_table = self.state == PieceStart::Header && self.open.contains(&Bracket::InlineBody);
        if !self.open.is_empty() && !in_table && looks_like_instruction(self.text, at) {
            while self.open.pop_if(|b| *b != Bracket::InlineBody).is_some() {}
        }
        let in_broken_header = self.state == PieceStart::Top && !is_fresh && self.open.is_empty();
        if in_broken_header && looks_like_instruction(self.text, at) {
            // The parser, too, goes on with a body that has no header.
            self.state = PieceStart::Body;
        }
        if !self.open.is_empty() || at < self.open_string {
            return;
        }
        let size = at - self.piece;
        match self.state {
            PieceStart::Header => {
                if looks_like_computation(self.text, at) {
                    self.state = PieceStart::Top;
                    self.cut_piece(at);
                }
            }
            PieceStart::Top => {
                if is_fresh && last != b',' && at < self.bytes.len() && self.has_content(at) {
                    match size > min_bytes {
                        true => self.cut_piece(at),
                        false => {
                            self.units.push(at);
                            self.start_unit(at);
                        }
                    }
                }
            }
            PieceStart::Body => {
                if self.cuts_bodies
                    && (self.lines >= BODY_LINES || size >= BODY_BYTES)
                    && is_between_instructions(last)
                    && looks_like_instruction(self.text, at)
                {
                    self.cut_piece(at);
                }
            }
        }
    }

    fn cut_piece(&mut self, at: usize) {
        if at > self.piece {
            let state = PieceState { place: self.state, is_below_open_comment: self.open_comment };
            self.pieces.push((at, state));
        }
        self.piece = at;
        self.lines = 0;
        self.start_unit(at);
    }

    /// Starts a unit. The state is reset so that a scan that starts here gives the same result.
    fn start_unit(&mut self, at: usize) {
        self.unit = at;
        self.has_content = false;
        self.looked_at = at;
        self.known = (at, b' ');
    }

    /// Whether the unit contains more than comments and whitespace before the line that starts at `at`.
    fn has_content(&mut self, at: usize) -> bool {
        if !self.has_content {
            self.has_content = !is_blank(self.text, self.looked_at, at);
            self.looked_at = at;
        }
        self.has_content
    }

    /// Whether the brace at `at`, outside all bodies, opens one: after a name, a parameter list or a result
    /// shape, but not after `=`, not in a table line, and not as a layout.
    fn opens_body(&mut self, at: usize, last: u8) -> bool {
        if last == b'=' {
            return false;
        }
        let next = self.bytes.get(at + 1);
        if self.bytes.get(at.wrapping_sub(1)) == Some(&b']')
            && next.is_some_and(|b| b.is_ascii_digit() || *b == b':' || *b == b'}')
        {
            return false;
        }
        let (line, is_table) = &mut self.table_line;
        !*is_table.get_or_insert_with(|| {
            let first = self.bytes[*line..at].iter().find(|b| !b.is_ascii_whitespace());
            first.is_some_and(u8::is_ascii_digit)
        })
    }
}

/// Returns the end of `[8,16]` or `{1,0}`, which contain no other brackets.
fn numbers_end(bytes: &[u8], at: usize) -> Option<usize> {
    let close = bytes[at] + 2;
    let inside = bytes[at + 1..].iter().position(|b| !(b.is_ascii_digit() || *b == b','))?;
    let end = at + 1 + inside;
    (bytes[end] == close).then_some(end + 1)
}

/// Whether there are only comments and whitespace between the start of the piece and `at`.
fn is_blank(text: &str, piece: usize, at: usize) -> bool {
    text[piece..at].lines().all(|line| line.trim().is_empty() || line.starts_with("//"))
}

/// Whether a new instruction may start after this byte.
fn is_between_instructions(last: u8) -> bool {
    !matches!(last, b',' | b'=' | b'(' | b'[' | b'>')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expect: &[(&str, PieceStart)]) {
        let cuts = split(text, PieceState::HEADER, 0).pieces;
        let starts: Vec<_> =
            cuts.iter().map(|&(at, state)| (text[at..].lines().next().unwrap_or(""), state.place)).collect();
        assert_eq!(starts, expect);
    }

    #[test]
    fn computations_and_tables_are_pieces() {
        check(
            r#"HloModule m, entry_computation_layout={()->f32[2]{0}}

FileNames
1 "a.py"

StackFrames
1 {file_location_id=1 parent_frame_id=1}

%f (p: f32[2]) -> f32[2]{0} {
  %p = f32[2]{0} parameter(0)
  ROOT %n = f32[2]{0} negate(%p), metadata={op_name="}{"}
}

ENTRY %e {
  ROOT c = f32[] constant(1)
}
"#,
            &[("%f (p: f32[2]) -> f32[2]{0} {", PieceStart::Top), ("", PieceStart::Top)],
        );
    }

    #[test]
    fn a_broken_bracket_does_not_swallow_the_file() {
        let text = "\
HloModule m

f {
  a = f32[] add(b, {
  ROOT b = f32[] constant(1)
}

g {
  c = f32[] constant((

ENTRY e {
  d = f32[] constant(1)
}
";
        check(text, &[("f {", PieceStart::Top), ("", PieceStart::Top), ("ENTRY e {", PieceStart::Top)]);
    }

    /// Even one whose header is broken.
    #[test]
    fn a_giant_body_is_cut_between_instructions() {
        for header in ["ENTRY e {", "ENTRY e (p: f32[(2]) -> f32[] {"] {
            let mut text = format!("HloModule m\n\n{header}\n");
            for i in 0..5000 {
                text.push_str(&format!("  x{i} = f32[] constant(1),\n    metadata={{op_name=\"a\"}}\n"));
            }
            text.push_str("}\n");
            let Cuts { pieces: cuts, end, .. } = split(&text, PieceState::HEADER, 0);
            assert_eq!(end.map(|s| s.place), Some(PieceStart::Top), "{header}");
            assert!(cuts.len() >= 4, "{header}");
            for &(at, state) in &cuts[1..] {
                assert_eq!(state.place, PieceStart::Body);
                assert!(text[at..].starts_with("  x"));
            }
        }
    }
}
