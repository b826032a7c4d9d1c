//! A document: its text, and the offsets at which it is cut into pieces.

use std::ops::Range;
use std::sync::Arc;

use crate::lazy::Text;

/// Cuts `text` into pieces of at least `min_bytes`. `state` is the state of the language's scanner at the
/// first byte.
pub type Splitter = fn(text: &str, state: u8, min_bytes: usize) -> Cuts;

/// The cuts of a text. Offsets are ascending and do not include 0.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Cuts {
    /// Starts and states of the pieces after the first.
    pub pieces: Vec<(usize, u8)>,
    /// Starts of the language's units inside pieces.
    pub units: Vec<usize>,
    /// The state after the last byte; `None` if no piece may start there.
    pub end: Option<u8>,
}

/// The start of a piece, in bytes of the document, and the scanner's state there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PieceStart {
    pub offset: usize,
    pub state: u8,
}

/// The bit of a state that marks a piece that can only be cut together with the pieces above it, up to the
/// last one without this bit.
pub const NEEDS_ABOVE: u8 = 0x80;

/// A replacement of `range`, in bytes of the text before the edit, by `insert`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edit {
    pub range: Range<usize>,
    pub insert: String,
}

/// The effect of an edit on the pieces: those of `replaced` (indices before the edit) became `new` pieces.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PieceChange {
    pub replaced: Range<usize>,
    pub new: usize,
}

/// A document's text and its pieces.
///
/// Owner: `db::Documents`, one per open file; readers hold clones of the text and of the starts. Only
/// [`Document::edit`] changes it. Size: once lines are asked for, the text plus about 15 %; and 16 bytes per piece (at most 10,000
/// pieces).
#[derive(Debug, Clone)]
pub struct Document {
    text: Text,
    pieces: Vec<PieceStart>,
    /// Per piece, the starts of the units inside it, relative to the piece.
    units: Vec<Arc<[u32]>>,
    /// Per piece.
    parts: Vec<Arc<str>>,
    split: Splitter,
    /// Units smaller than this share a piece, so that a file has at most a few thousand pieces.
    min_bytes: usize,
}

/// The approximate maximum number of pieces of a file.
const PIECES: usize = 4096;
/// The smallest default piece size: smaller units of the language share a piece. A salsa input and its memos
/// cost as much as parsing 1 kB, and data that units share, such as shapes, is kept once per piece. Parsing
/// this many bytes takes a tenth of a millisecond.
const MIN_BYTES: usize = 16 << 10;

/// While an edit re-cuts fewer pieces than this, the range doubles; beyond, it grows fourfold.
const FEW: usize = 8;

impl Document {
    pub fn new(text: &str, split: Splitter) -> Document {
        Document::cut(text, split, None, |min_bytes| (split(text, 0, min_bytes), ())).0
    }

    /// Creates a document in which units of the language smaller than `min_bytes` share a piece.
    pub fn in_pieces_of(text: &str, split: Splitter, min_bytes: usize) -> Document {
        Document::cut(text, split, Some(min_bytes), |min_bytes| (split(text, 0, min_bytes), ())).0
    }

    /// Creates a document from the cuts of `first`, and returns what else `first` finds in the whole text.
    /// `first` receives the minimum size of a piece in bytes: `min_bytes`, or by default one that suits the
    /// length of the text.
    pub fn cut<T: Send>(
        text: &str,
        split: Splitter,
        min_bytes: Option<usize>,
        first: impl FnOnce(usize) -> (Cuts, T) + Send,
    ) -> (Document, T) {
        let min_bytes = min_bytes.unwrap_or_else(|| (text.len() / PIECES).max(MIN_BYTES));
        let (cuts, found) = first(min_bytes);
        let (pieces, units) = cuts.distribute(PieceStart { offset: 0, state: 0 }, text.len());
        let ranges = ranges(&pieces, text.len());
        let parts: Vec<Arc<str>> = parallel::map(ranges.len(), |n| text[ranges[n].clone()].into());
        (Document { text: Text::of_parts(parts.clone()), pieces, units, parts, split, min_bytes }, found)
    }

    pub fn text(&self) -> &Text {
        &self.text
    }

    pub fn pieces(&self) -> &[PieceStart] {
        &self.pieces
    }

    pub fn piece_range(&self, piece: usize) -> Range<usize> {
        let end = self.pieces.get(piece + 1).map_or(self.text.len_bytes(), |p| p.offset);
        self.pieces[piece].offset..end
    }

    pub fn piece_text(&self, piece: usize) -> &Arc<str> {
        &self.parts[piece]
    }

    /// Returns the starts of the language's units inside a piece, relative to the piece.
    pub fn units(&self, piece: usize) -> &Arc<[u32]> {
        &self.units[piece]
    }

    /// Returns the index of the piece that holds byte `offset`; the last piece for offsets past the end.
    pub fn piece_at(&self, offset: usize) -> usize {
        self.pieces.partition_point(|p| p.offset <= offset).max(1) - 1
    }

    /// Replaces `edit.range`, clamped to the text and to character boundaries, and re-cuts the pieces that it
    /// touches.
    pub fn edit(&mut self, edit: &Edit) -> PieceChange {
        let before = self.text.clone();
        let Range { start, end } = self.text.replace(edit.range.clone(), &edit.insert);
        let mut first = self.piece_at(start);
        let mut behind = self.piece_at(end) + 1;
        // A cut depends on the lines before and after it.
        if first > 0 && self.is_in_first_line(&before, first, start) {
            first -= 1;
        }
        while first > 0 && self.pieces[first].state & NEEDS_ABOVE != 0 {
            first -= 1;
        }
        // Pieces that start inside the replaced range are replaced too; later starts move.
        let delta = edit.insert.len() as isize - (end - start) as isize;
        for piece in &mut self.pieces[behind..] {
            piece.offset = piece.offset.wrapping_add_signed(delta);
        }
        // The next piece begins where the edit ends, so its first line may have changed too.
        if self.pieces.get(behind).is_some_and(|p| p.offset <= start + edit.insert.len()) {
            behind += 1;
        }
        let from = self.pieces[first];
        loop {
            let to = self.pieces.get(behind).map_or(self.text.len_bytes(), |p| p.offset);
            let text = self.text.byte_slice(from.offset..to).to_string();
            let cuts = (self.split)(&text, from.state, self.min_bytes);
            let next = self.pieces.get(behind);
            // The next piece was cut in another state: re-cut it too.
            if next.is_some_and(|next| cuts.end != Some(next.state)) {
                // The range grows geometrically, so that a broken bracket costs one pass over the file, not
                // many.
                let times = if behind - first < FEW { 1 } else { 3 };
                behind = (behind + times * (behind - first)).min(self.pieces.len());
                continue;
            }
            let (pieces, units) = cuts.distribute(from, text.len());
            let new = pieces.len();
            let parts = ranges(&pieces, text.len()).into_iter().map(|range| text[range].into());
            self.parts.splice(first..behind, parts.collect::<Vec<_>>());
            self.pieces.splice(first..behind, pieces);
            self.units.splice(first..behind, units);
            return PieceChange { replaced: first..behind, new };
        }
    }

    fn is_in_first_line(&self, text: &Text, piece: usize, offset: usize) -> bool {
        let start = self.pieces[piece].offset;
        text.byte_to_line(start) == text.byte_to_line(offset)
    }
}

/// The ranges of consecutive pieces in their common text of `len` bytes.
fn ranges(pieces: &[PieceStart], len: usize) -> Vec<Range<usize>> {
    let from = pieces[0].offset;
    let ends = pieces[1..].iter().map(|piece| piece.offset - from).chain([len]);
    pieces.iter().zip(ends).map(|(piece, end)| piece.offset - from..end).collect()
}

impl Cuts {
    /// Returns the pieces of a text of `len` bytes that starts at `from`, and the units of each piece.
    fn distribute(self, from: PieceStart, len: usize) -> (Vec<PieceStart>, Vec<Arc<[u32]>>) {
        let mut pieces = vec![from];
        pieces.extend(self.pieces.iter().map(|&(at, state)| PieceStart { offset: from.offset + at, state }));
        let ends = self.pieces.iter().map(|&(at, _)| at).chain([len]);
        let (mut start, mut rest) = (0, self.units.as_slice());
        let mut units = Vec::with_capacity(pieces.len());
        for end in ends {
            let (inside, behind) = rest.split_at(rest.partition_point(|&at| at < end));
            units.push(inside.iter().map(|&at| (at - start) as u32).collect());
            (start, rest) = (end, behind);
        }
        (pieces, units)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Cuts one piece per paragraph: after each blank line.
    fn paragraphs(text: &str, _: u8, _: usize) -> Cuts {
        let cuts: Vec<_> = text.match_indices("\n\n").map(|(at, _)| (at + 2, 1)).collect();
        let ends_clean = cuts.last().is_some_and(|&(at, _)| at == text.len());
        let pieces = cuts.into_iter().filter(|&(at, _)| at < text.len()).collect();
        Cuts { pieces, units: Vec::new(), end: ends_clean.then_some(1) }
    }

    #[test]
    fn an_edit_cuts_only_what_it_touches() {
        let mut document = Document::new("a\n\nb\n\nc\n", paragraphs);
        assert_eq!(document.pieces().len(), 3);
        let change = document.edit(&Edit { range: 4..4, insert: "x\n\ny".into() });
        assert_eq!(document.text().to_string(), "a\n\nbx\n\ny\n\nc\n");
        assert_eq!(document.pieces().len(), 4);
        assert_eq!(change, PieceChange { replaced: 0..2, new: 3 });
        let change = document.edit(&Edit { range: 2..3, insert: String::new() });
        assert_eq!(document.text().to_string(), "a\nbx\n\ny\n\nc\n");
        assert_eq!((document.pieces().len(), change.replaced), (3, 0..2));
    }

    proptest::proptest! {
        /// Cutting after edits equals cutting the final text, for a splitter without state.
        #[test]
        fn edits_equal_a_fresh_cut(edits in proptest::collection::vec((0usize..40, 0usize..5, "[ab\n]{0,4}"), 0..30)) {
            let mut document = Document::new("aa\n\nbb\n\naa\nbb\n", paragraphs);
            for (start, len, insert) in edits {
                document.edit(&Edit { range: start..start + len, insert });
            }
            let text = document.text().to_string();
            let fresh = Document::new(&text, paragraphs);
            proptest::prop_assert_eq!(document.pieces(), fresh.pieces());
        }
    }
}
