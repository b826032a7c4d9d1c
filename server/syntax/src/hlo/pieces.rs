//! Where an HLO text may be cut into pieces: between computations, and between the instructions of a giant one.
//!
//! One pass over the bytes that knows brackets, strings and comments and nothing else. A cut is made only where no
//! bracket is open (but the body's own), so that a piece can be parsed knowing no more than its [`PieceState`].
//! Broken brackets do not swallow the file: a line that looks like an instruction closes the brackets of the
//! line before, and one that looks like a computation closes the body.

use super::lexer::{find, is_ident_byte, is_ident_start, skip_comment, string_end};
use super::protobuf::protobuf_start;
use super::segments;

/// What the first byte of a piece stands in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct PieceState {
    pub place: Place,
    /// A comment was opened above and is closed nowhere in the file, so that it was read as ordinary text. A `*/`
    /// typed below would change that: such pieces are cut together with the one that holds the `/*`.
    pub is_below_open_comment: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Place {
    /// Start of the file: `HloModule` and its tables.
    Header,
    /// Between computations.
    Top,
    /// Between the instructions of a computation.
    Body,
}

impl PieceState {
    pub const HEADER: PieceState = PieceState { place: Place::Header, is_below_open_comment: false };

    pub fn from_u8(state: u8) -> PieceState {
        let place = match state & 0x7f {
            0 => Place::Header,
            1 => Place::Top,
            _ => Place::Body,
        };
        PieceState { place, is_below_open_comment: state & 0x80 != 0 }
    }

    pub fn to_u8(self) -> u8 {
        self.place as u8 | if self.is_below_open_comment { 0x80 } else { 0 }
    }
}

/// A body is cut when its piece has this many lines, or bytes; but a text of up to twice as much is left whole, so
/// that a line typed into a block does not split it.
const BODY_LINES: usize = 1024;
const BODY_BYTES: usize = 128 << 10;

/// Where a text is cut. Offsets are ascending and without 0.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Cuts {
    pub pieces: Vec<(usize, PieceState)>,
    /// Starts of the computations inside pieces: each is parsed on its own, whatever piece it shares.
    pub units: Vec<usize>,
    /// The state behind the last byte, or nothing where the text may not be followed by a new piece.
    pub end: Option<PieceState>,
}

/// Finds the cuts of `text`, whose first byte is in `state`. Computations smaller than `min_bytes` share a piece.
pub fn split(text: &str, state: PieceState, min_bytes: usize) -> Cuts {
    let cuts_bodies =
        text.len() > 2 * BODY_BYTES || memchr::memchr_iter(b'\n', text.as_bytes()).count() > 2 * BODY_LINES;
    segments::split(text, state, &|text, state| split_segment(text, state, min_bytes, cuts_bodies))
}

pub(super) fn split_segment(text: &str, state: PieceState, min_bytes: usize, cuts_bodies: bool) -> Cuts {
    // A proto is one piece, however long.
    if state.place == Place::Header && protobuf_start(text).is_some() {
        return Cuts::default();
    }
    let mut splitter = Splitter::new(text, state, cuts_bodies);
    let is_clean = splitter.run(min_bytes);
    let end = PieceState { place: splitter.state, is_below_open_comment: splitter.open_comment };
    Cuts { pieces: splitter.pieces, units: splitter.units, end: is_clean.then_some(end) }
}

/// The cuts between computations, whatever their size, and none inside a body.
pub(crate) fn split_units(text: &str, state: PieceState) -> Vec<(usize, Place)> {
    if state.place == Place::Header && protobuf_start(text).is_some() {
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
    /// Of an inline body: lines in it look like instructions and are.
    InlineBody,
}

struct Splitter<'a> {
    text: &'a str,
    bytes: &'a [u8],
    /// Open brackets inside the body, or in a header.
    open: Vec<Bracket>,
    state: Place,
    open_comment: bool,
    /// No comment ends in the rest of the text: each that opens is text.
    no_comment_ends: bool,
    cuts_bodies: bool,
    pieces: Vec<(usize, PieceState)>,
    units: Vec<usize>,
    /// Start and lines of the current piece.
    piece: usize,
    lines: usize,
    /// Start of the current unit; where it holds more than blanks and comments, as far as was asked.
    unit: usize,
    has_content: bool,
    looked_at: usize,
    /// Up to here the last byte that is no blank and in no comment was this one.
    known: (usize, u8),
    /// A string that is not closed was found to be open up to here.
    open_string: usize,
    /// Whether the line outside of bodies that starts at the offset starts with a digit.
    table_line: (usize, Option<bool>),
}

/// Bytes that mean something inside a body.
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

/// The next byte that means something inside a body.
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

    /// Whether a piece may start behind the last byte.
    fn run(&mut self, min_bytes: usize) -> bool {
        let bytes = self.bytes;
        let mut at = 0;
        // Whether since the last body only a trailer came.
        let mut is_fresh = true;
        let mut in_trailer = false;
        loop {
            if self.state == Place::Body {
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
                        // Unterminated: the rest of its line is text. A quote that is typed further up than where that was
                        // decided would end it, so the lines between stay in one piece.
                        Err(decided) => {
                            self.open_string = decided;
                            let end = memchr::memchr(b'\n', &bytes[at..]).map_or(bytes.len(), |n| at + n);
                            self.known = (end, byte);
                            end
                        }
                    };
                    continue;
                }
                b'[' | b'{'
                    if self.state == Place::Body
                        && let Some(end) = numbers_end(bytes, at) =>
                {
                    at = end;
                    continue;
                }
                b'(' if self.state == Place::Body => {
                    // Mostly names of operands.
                    at = stop(bytes, at + 1);
                    match bytes.get(at) {
                        Some(b')') => at += 1,
                        _ => self.open.push(Bracket::Round),
                    }
                    continue;
                }
                b'(' => self.open.push(Bracket::Round),
                b'[' => self.open.push(Bracket::Square),
                // One that closes nothing is an error of its line and changes nothing here.
                b')' => drop(self.open.pop_if(|b| *b == Bracket::Round)),
                b']' => drop(self.open.pop_if(|b| *b == Bracket::Square)),
                b'{' => {
                    let last = self.last(at);
                    if self.open.is_empty() && self.state != Place::Body && self.opens_body(at, last) {
                        self.state = Place::Body;
                    } else {
                        // A table of the header holds whole modules in a string.
                        let is_table =
                            self.state == Place::Header && bytes[..at].ends_with(b"origin_recovery_table=");
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
                    if self.open.pop().is_none() && self.state == Place::Body {
                        self.state = Place::Top;
                        is_fresh = true;
                        at += 1;
                        continue;
                    }
                }
                _ => {}
            }
            if self.state == Place::Top && is_fresh {
                in_trailer |= byte == b',' && self.last(at) == b'}';
                is_fresh = in_trailer;
            }
            at += 1;
            if self.state != Place::Body && is_ident_byte(byte) {
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
                Place::Header => false,
                Place::Top => is_fresh && last != b',',
                Place::Body => is_between_instructions(last),
            }
    }

    /// The last byte before `at` that is no blank and in no comment; a blank where there is none.
    fn last(&self, at: usize) -> u8 {
        let (from, last) = self.known;
        let behind = self.bytes.get(from..at).unwrap_or_default();
        let found = behind.iter().rfind(|b| !matches!(b, b' ' | b'\t' | b'\r'));
        found.copied().unwrap_or(last)
    }

    /// The end of the comment at `at`.
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
        if starts_module(self.bytes, at) && (self.state != Place::Header || self.has_content(at)) {
            self.open.clear();
            self.state = Place::Header;
            self.cut_piece(at);
            return;
        }
        let is_open = self.state == Place::Body || self.state == Place::Header && !self.open.is_empty();
        if is_open && looks_like_computation(self.text, at) {
            // The closing brace above is missing.
            self.open.clear();
            self.state = Place::Top;
            self.cut_piece(at);
            return;
        }
        let in_table = self.state == Place::Header && self.open.contains(&Bracket::InlineBody);
        if !self.open.is_empty() && !in_table && looks_like_instruction(self.text, at) {
            while self.open.pop_if(|b| *b != Bracket::InlineBody).is_some() {}
        }
        if !self.open.is_empty() || at < self.open_string {
            return;
        }
        let size = at - self.piece;
        match self.state {
            Place::Header => {
                if looks_like_computation(self.text, at) {
                    self.state = Place::Top;
                    self.cut_piece(at);
                }
            }
            Place::Top => {
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
            Place::Body => {
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

    /// A scan that starts here goes on in the same way.
    fn start_unit(&mut self, at: usize) {
        self.unit = at;
        self.has_content = false;
        self.looked_at = at;
        self.known = (at, b' ');
    }

    /// Whether more than comments and blanks stand between the start of the unit and the line that starts at `at`.
    fn has_content(&mut self, at: usize) -> bool {
        if !self.has_content {
            self.has_content = !is_blank(self.text, self.looked_at, at);
            self.looked_at = at;
        }
        self.has_content
    }

    /// Whether the brace at `at`, outside all bodies, opens one: behind a name, a parameter list or a result shape;
    /// not behind `=`, not in a table line, and not a layout.
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

/// The end of `[8,16]` or `{1,0}`, which open and close nothing but themselves.
fn numbers_end(bytes: &[u8], at: usize) -> Option<usize> {
    let close = bytes[at] + 2;
    let inside = bytes[at + 1..].iter().position(|b| !(b.is_ascii_digit() || *b == b','))?;
    let end = at + 1 + inside;
    (bytes[end] == close).then_some(end + 1)
}

/// Whether a module starts with the line at `at`: at its separator, or at its header.
fn starts_module(bytes: &[u8], at: usize) -> bool {
    let rest = &bytes[at..];
    match rest.first() {
        Some(b'H') => rest.starts_with(b"HloModule "),
        Some(b'/') if rest.starts_with(b"// -----") => {
            let end = memchr::memchr(b'\n', rest).unwrap_or(rest.len());
            rest[8..end].iter().all(u8::is_ascii_whitespace)
        }
        _ => false,
    }
}

/// Whether a string that is open at the start of this line is not closed: a line that can only be no part of one follows.
pub(super) fn ends_open_string(text: &str, line: usize) -> bool {
    let bytes = text.as_bytes();
    let rest = &bytes[line.min(bytes.len())..];
    let rest = &rest[..memchr::memchr(b'\n', rest).unwrap_or(rest.len())];
    match rest.trim_ascii_start().first() {
        Some(b'}') => rest.trim_ascii_end() == b"}",
        Some(&first) if first == b'%' || first == b'/' || is_ident_start(first) => {
            // No header holds a quote: that line would end the string.
            let is_header = || !rest.contains(&b'"') && looks_like_computation(text, line);
            starts_module(bytes, line) || defines_instruction(rest) || is_header()
        }
        _ => false,
    }
}

/// Whether a line reads `[ROOT] name = shape…` or `[ROOT] name = opcode(…`.
fn defines_instruction(line: &[u8]) -> bool {
    let Some(equal) = memchr::memmem::find(line, b" = ") else { return false };
    let name = line[..equal].trim_ascii();
    let name = name.strip_prefix(b"ROOT ").unwrap_or(name).trim_ascii();
    let name = name.strip_prefix(b"%").unwrap_or(name);
    let value = line[equal + 3..].trim_ascii_start();
    let word = value.iter().take_while(|&&b| is_ident_byte(b)).count();
    let is_value = match value.first() {
        Some(b'(') => true,
        Some(&first) => is_ident_start(first) && matches!(value.get(word), Some(b'[' | b'(')),
        None => false,
    };
    is_value && name.first().is_some_and(|&b| is_ident_start(b)) && name.iter().all(|&b| is_ident_byte(b))
}

/// Whether only comments and blanks stand between the start of the piece and `at`.
fn is_blank(text: &str, piece: usize, at: usize) -> bool {
    text[piece..at].lines().all(|line| line.trim().is_empty() || line.starts_with("//"))
}

/// Whether a new instruction may start behind this byte.
fn is_between_instructions(last: u8) -> bool {
    !matches!(last, b',' | b'=' | b'(' | b'[' | b'>')
}

/// Whether the line at `at` reads `[ROOT] name = …`. Attributes (`name=…`, no blank) do not.
pub(crate) fn looks_like_instruction(text: &str, at: usize) -> bool {
    let bytes = text.as_bytes();
    let blank = |mut at: usize| {
        while matches!(bytes.get(at), Some(b' ' | b'\t' | b'\r' | b'\n')) {
            at += 1;
        }
        at
    };
    let mut start = blank(at);
    if bytes[start..].starts_with(b"ROOT") && matches!(bytes.get(start + 4), Some(b' ' | b'\t')) {
        start = blank(start + 4);
    }
    if bytes.get(start) == Some(&b'%') {
        start += 1;
    }
    if !bytes.get(start).is_some_and(|&b| is_ident_start(b)) {
        return false;
    }
    let mut end = start;
    while bytes.get(end).is_some_and(|&b| is_ident_byte(b)) {
        end += 1;
    }
    let equal = blank(end);
    equal > end && bytes.get(equal) == Some(&b'=') && bytes.get(equal + 1).is_none_or(|&b| b != b'=')
}

/// Whether a computation's header starts at `at`: a line at column 0 that ends in `{` and assigns nothing.
pub(crate) fn looks_like_computation(text: &str, at: usize) -> bool {
    let bytes = text.as_bytes();
    if at > 0 && bytes[at - 1] != b'\n' {
        return false;
    }
    if !bytes.get(at).is_some_and(|&b| b == b'%' || is_ident_start(b)) {
        return false;
    }
    let end = memchr::memchr(b'\n', &bytes[at..]).map_or(bytes.len(), |n| at + n);
    let line = text[at..end].trim_end();
    // `debug_attributes={` goes on with the module's header.
    line.ends_with('{') && !line.ends_with("={") && !line.contains(" = ") && !line.starts_with("HloModule")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expect: &[(&str, Place)]) {
        let cuts = split(text, PieceState::HEADER, 0).pieces;
        let starts: Vec<_> =
            cuts.iter().map(|&(at, state)| (text[at..].lines().next().unwrap_or(""), state.place)).collect();
        assert_eq!(starts, expect);
    }

    #[test]
    fn computations_and_tables_are_pieces() {
        check(
            "HloModule m, entry_computation_layout={()->f32[2]{0}}\n\nFileNames\n1 \"a.py\"\n\nStackFrames\n1 {file_location_id=1 parent_frame_id=1}\n\n%f (p: f32[2]) -> f32[2]{0} {\n  %p = f32[2]{0} parameter(0)\n  ROOT %n = f32[2]{0} negate(%p), metadata={op_name=\"}{\"}\n}\n\nENTRY %e {\n  ROOT c = f32[] constant(1)\n}\n",
            &[("%f (p: f32[2]) -> f32[2]{0} {", Place::Top), ("", Place::Top)],
        );
    }

    #[test]
    fn a_broken_bracket_does_not_swallow_the_file() {
        let text = "HloModule m\n\nf {\n  a = f32[] add(b, {\n  ROOT b = f32[] constant(1)\n}\n\ng {\n  c = f32[] constant((\n\nENTRY e {\n  d = f32[] constant(1)\n}\n";
        check(text, &[("f {", Place::Top), ("", Place::Top), ("ENTRY e {", Place::Top)]);
    }

    #[test]
    fn a_giant_body_is_cut_between_instructions() {
        let mut text = String::from("HloModule m\n\nENTRY e {\n");
        for i in 0..5000 {
            text.push_str(&format!("  x{i} = f32[] constant(1),\n    metadata={{op_name=\"a\"}}\n"));
        }
        text.push_str("}\n");
        let Cuts { pieces: cuts, end, .. } = split(&text, PieceState::HEADER, 0);
        assert_eq!(end.map(|s| s.place), Some(Place::Top));
        assert!(cuts.len() >= 4);
        for &(at, state) in &cuts[1..] {
            assert_eq!(state.place, Place::Body);
            assert!(text[at..].starts_with("  x"));
        }
    }
}
