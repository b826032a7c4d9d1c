//! Conversion between editor positions and byte offsets.
//!
//! LSP addresses text by line and column. Client and server agree per connection what a column counts: bytes,
//! UTF-16 code units or characters. Everything else in this project uses byte offsets into the document. This
//! file is the only translation between the two.
//!
//! A line ends at `\n`, `\r\n` or a lone `\r`, as LSP demands; other Unicode line breaks are ordinary
//! characters. That follows from how `ropey` is built: feature `cr_lines` on, `unicode_lines` off.
//!
//! Architecture Invariant: no function here fails or panics, whatever its input. A position that does not
//! exist becomes the nearest existing one before it, because an editor and a server that disagree for one
//! message must still agree on the next.

use std::ops::Range;

use ropey::{Rope, RopeSlice};

/// The unit of columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum PositionEncoding {
    /// Bytes.
    Utf8,
    /// UTF-16 code units: characters beyond U+FFFF count twice. LSP's default.
    #[default]
    Utf16,
    /// Unicode scalar values.
    Utf32,
}

/// A position in a document. Both numbers start at 0; [`PositionEncoding`] defines the unit of `column`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Position {
    pub line: usize,
    pub column: usize,
}

impl Position {
    pub fn new(line: usize, column: usize) -> Self {
        Self { line, column }
    }
}

/// Returns the byte offset of `position`.
///
/// A line past the last one means the end of the text. A column past the end of its line means the end of
/// that line, before its line break. A column inside a character means the start of that character. O(log n),
/// even on lines of megabytes.
pub fn offset(text: &Rope, position: Position, encoding: PositionEncoding) -> usize {
    if position.line >= text.len_lines() {
        return text.len_bytes();
    }
    let start = text.line_to_byte(position.line);
    let line = without_line_break(text.line(position.line));
    let char = match encoding {
        PositionEncoding::Utf8 => line.byte_to_char(position.column.min(line.len_bytes())),
        PositionEncoding::Utf16 => line.utf16_cu_to_char(position.column.min(line.len_utf16_cu())),
        PositionEncoding::Utf32 => position.column.min(line.len_chars()),
    };
    start + line.char_to_byte(char)
}

/// Returns the position of byte `offset`.
///
/// An offset past the end means the end. One inside a character means the start of that character. One
/// between `\r` and `\n` means the end of that line. O(log n).
pub fn position(text: &Rope, offset: usize, encoding: PositionEncoding) -> Position {
    let offset = offset.min(text.len_bytes());
    let line_number = text.byte_to_line(offset);
    let line = without_line_break(text.line(line_number));
    let byte = (offset - text.line_to_byte(line_number)).min(line.len_bytes());
    let char = line.byte_to_char(byte);
    let column = match encoding {
        PositionEncoding::Utf8 => line.char_to_byte(char),
        PositionEncoding::Utf16 => line.char_to_utf16_cu(char),
        PositionEncoding::Utf32 => char,
    };
    Position { line: line_number, column }
}

/// Returns the last offset up to `at` that is a position's: neither inside of a character nor between `\r` and `\n`.
pub fn floor(text: &Rope, at: usize) -> usize {
    let encoding = PositionEncoding::Utf32;
    offset(text, position(text, at, encoding), encoding)
}

/// Returns the byte range between two positions. If the end lies before the start, the two are swapped.
pub fn offset_range(text: &Rope, range: Range<Position>, encoding: PositionEncoding) -> Range<usize> {
    let start = offset(text, range.start, encoding);
    let end = offset(text, range.end, encoding);
    start.min(end)..start.max(end)
}

/// Returns the positions of both ends of a byte range.
pub fn position_range(text: &Rope, range: Range<usize>, encoding: PositionEncoding) -> Range<Position> {
    position(text, range.start, encoding)..position(text, range.end, encoding)
}

fn without_line_break(line: RopeSlice<'_>) -> RopeSlice<'_> {
    let mut end = line.len_bytes();
    if end > 0 && line.byte(end - 1) == b'\n' {
        end -= 1;
    }
    if end > 0 && line.byte(end - 1) == b'\r' {
        end -= 1;
    }
    line.byte_slice(..end)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ENCODINGS: [PositionEncoding; 3] =
        [PositionEncoding::Utf8, PositionEncoding::Utf16, PositionEncoding::Utf32];

    fn units(c: char, encoding: PositionEncoding) -> usize {
        match encoding {
            PositionEncoding::Utf8 => c.len_utf8(),
            PositionEncoding::Utf16 => c.len_utf16(),
            PositionEncoding::Utf32 => 1,
        }
    }

    /// Returns the lines of a text: the start and the content, without the line break, of each.
    fn naive_lines(text: &str) -> Vec<(usize, &str)> {
        let mut lines = Vec::new();
        let (mut start, mut at) = (0, 0);
        let bytes = text.as_bytes();
        while at < bytes.len() {
            let line_break = match bytes[at] {
                b'\r' if bytes.get(at + 1) == Some(&b'\n') => 2,
                b'\r' | b'\n' => 1,
                _ => 0,
            };
            if line_break > 0 {
                lines.push((start, &text[start..at]));
                start = at + line_break;
            }
            at += line_break.max(1);
        }
        lines.push((start, &text[start..]));
        lines
    }

    fn naive_offset(text: &str, position: Position, encoding: PositionEncoding) -> usize {
        let lines = naive_lines(text);
        let Some(&(start, line)) = lines.get(position.line) else { return text.len() };
        let mut column = 0;
        for (byte, c) in line.char_indices() {
            column += units(c, encoding);
            if column > position.column {
                return start + byte;
            }
        }
        start + line.len()
    }

    fn naive_position(text: &str, offset: usize, encoding: PositionEncoding) -> Position {
        let offset = offset.min(text.len());
        let lines = naive_lines(text);
        let number = lines.iter().rposition(|&(start, _)| start <= offset).unwrap();
        let (start, line) = lines[number];
        let column = line
            .char_indices()
            .take_while(|&(byte, c)| start + byte + c.len_utf8() <= offset)
            .map(|(_, c)| units(c, encoding))
            .sum();
        Position::new(number, column)
    }

    /// Generates pseudo-random texts, the same in every run.
    fn random_texts(count: usize) -> impl Iterator<Item = String> {
        const PARTS: [&str; 14] = [
            "a",
            "%add.1 = ",
            "\n",
            "\r\n",
            "\r",
            "é",
            "→",
            "😀",
            "\u{2028}",
            "\u{85}",
            "\u{0b}",
            "\0",
            "文字",
            "\n\r",
        ];
        let mut state = random::Rng::new(1);
        let mut random = move |below: usize| state.index(below);
        (0..count).map(move |n| {
            // Some texts are long enough to span several chunks of the rope.
            let len = random(if n % 10 == 0 { 2000 } else { 24 });
            (0..len).map(|_| PARTS[random(PARTS.len())]).collect()
        })
    }

    #[test]
    fn agrees_with_counting_by_hand() {
        for text in random_texts(300) {
            let rope = Rope::from_str(&text);
            let lines = naive_lines(&text);
            assert_eq!(rope.len_lines(), lines.len(), "{text:?}");
            // Long texts are sampled; for short ones every position is tested.
            let step = 1 + text.len() / 60;
            for encoding in ENCODINGS {
                for at in (0..text.len() + 3).step_by(step) {
                    assert_eq!(
                        position(&rope, at, encoding),
                        naive_position(&text, at, encoding),
                        "offset {at} as {encoding:?} in {text:?}"
                    );
                }
                for line in (0..lines.len() + 2).step_by(1 + lines.len() / 20) {
                    for column in 0..12 {
                        let place = Position::new(line, column);
                        assert_eq!(
                            offset(&rope, place, encoding),
                            naive_offset(&text, place, encoding),
                            "{place:?} as {encoding:?} in {text:?}"
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn there_and_back() {
        for text in random_texts(100) {
            let rope = Rope::from_str(&text);
            for (at, _) in text.char_indices().filter(|&(at, _)| !text[..at].ends_with('\r')) {
                for encoding in ENCODINGS {
                    assert_eq!(offset(&rope, position(&rope, at, encoding), encoding), at, "{text:?}");
                }
            }
        }
    }

    #[test]
    fn a_surrogate_pair_is_one_place() {
        let rope = Rope::from_str("a😀b\r\n\r");
        let utf16 = |line, column| offset(&rope, Position::new(line, column), PositionEncoding::Utf16);
        assert_eq!([utf16(0, 1), utf16(0, 2), utf16(0, 3), utf16(0, 4), utf16(0, 99)], [1, 1, 5, 6, 6]);
        assert_eq!([utf16(1, 0), utf16(1, 7), utf16(2, 0), utf16(3, 0)], [8, 8, 9, 9]);
        assert_eq!(position(&rope, 3, PositionEncoding::Utf16), Position::new(0, 1));
        assert_eq!(position(&rope, 7, PositionEncoding::Utf16), Position::new(0, 4));
        assert_eq!([1, 3, 5, 6, 7, 8, 99].map(|at| floor(&rope, at)), [1, 1, 5, 6, 6, 8, 9]);
    }

    #[test]
    fn a_range_upside_down_is_turned() {
        let rope = Rope::from_str("abc\ndef");
        let range = Position::new(1, 2)..Position::new(0, 1);
        assert_eq!(offset_range(&rope, range, PositionEncoding::Utf8), 1..6);
        assert_eq!(
            position_range(&rope, 1..6, PositionEncoding::Utf8),
            Position::new(0, 1)..Position::new(1, 2)
        );
    }
}
