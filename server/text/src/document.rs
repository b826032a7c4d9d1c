//! A document: its text as a rope, and where that text is cut into pieces.

use std::ops::Range;
use std::sync::Arc;

use ropey::Rope;

/// Cuts `text`, whose first byte is in the given state of the language's scanner.
pub type Splitter = fn(text: &str, state: u8, min_bytes: usize) -> Cuts;

/// Where a text is cut. Offsets are ascending and without 0.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Cuts {
    /// Starts and states of the pieces behind the first.
    pub pieces: Vec<(usize, u8)>,
    /// Starts of the language's units inside pieces.
    pub units: Vec<usize>,
    /// The state behind the last byte, or nothing where no piece may start there.
    pub end: Option<u8>,
}

/// Where a piece starts (bytes of the document) and in which state of the scanner.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PieceStart {
    pub offset: usize,
    pub state: u8,
}

/// Set in a state whose piece cannot be cut without the pieces above it, up to the last one without this bit.
pub const NEEDS_ABOVE: u8 = 0x80;

/// One replacement of `range` (bytes of the text before it) by `insert`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edit {
    pub range: Range<usize>,
    pub insert: String,
}

/// What an edit did to the pieces: those of `replaced` (indices before it) became `new` ones in their place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PieceChange {
    pub replaced: Range<usize>,
    pub new: usize,
}

/// Owner: `db::Documents`, one per open file; readers hold clones of the rope and of the starts.
/// Changed by [`Document::edit`] alone. Size: the text and some 15 %, and 16 bytes per piece (at most 10,000).
#[derive(Debug, Clone)]
pub struct Document {
    rope: Rope,
    pieces: Vec<PieceStart>,
    /// Per piece, where units start inside it, relative to it.
    units: Vec<Arc<[u32]>>,
    split: Splitter,
    /// Units smaller than this share a piece, so that a file has a few thousand pieces at most.
    min_bytes: usize,
}

/// A file has about this many pieces at most.
const PIECES: usize = 4096;
/// Units of the language smaller than this share a piece: a salsa input and its memos cost as much as parsing 1 kB, and
/// what units have in common, such as shapes, is kept once per piece. Parsing this much takes a tenth of a millisecond.
const MIN_BYTES: usize = 16 << 10;

/// Where an edit cuts as many pieces anew the rest of the file is near.
const FEW: usize = 8;

impl Document {
    pub fn new(text: &str, split: Splitter) -> Document {
        Document::cut(text, split, None, |min_bytes| (split(text, 0, min_bytes), ())).0
    }

    /// Units of the language smaller than `min_bytes` share a piece.
    pub fn in_pieces_of(text: &str, split: Splitter, min_bytes: usize) -> Document {
        Document::cut(text, split, Some(min_bytes), |min_bytes| (split(text, 0, min_bytes), ())).0
    }

    /// With what else is found where `first` cuts the whole text, given how many bytes a piece has at least: `min_bytes`, or as
    /// many as the text is worth.
    pub fn cut<T: Send>(
        text: &str,
        split: Splitter,
        min_bytes: Option<usize>,
        first: impl FnOnce(usize) -> (Cuts, T) + Send,
    ) -> (Document, T) {
        let min_bytes = min_bytes.unwrap_or_else(|| (text.len() / PIECES).max(MIN_BYTES));
        let ((cuts, found), rope) = rayon::join(|| first(min_bytes), || Rope::from_str(text));
        let (pieces, units) = cuts.distribute(PieceStart { offset: 0, state: 0 }, text.len());
        (Document { rope, pieces, units, split, min_bytes }, found)
    }

    pub fn rope(&self) -> &Rope {
        &self.rope
    }

    pub fn pieces(&self) -> &[PieceStart] {
        &self.pieces
    }

    pub fn piece_range(&self, piece: usize) -> Range<usize> {
        let end = self.pieces.get(piece + 1).map_or(self.rope.len_bytes(), |p| p.offset);
        self.pieces[piece].offset..end
    }

    /// Where units of the language start inside a piece, relative to it.
    pub fn units(&self, piece: usize) -> &Arc<[u32]> {
        &self.units[piece]
    }

    /// The piece that holds byte `offset`; the last one for offsets behind the end.
    pub fn piece_at(&self, offset: usize) -> usize {
        self.pieces.partition_point(|p| p.offset <= offset).max(1) - 1
    }

    /// Replaces `edit.range`, clamped to the text and to character boundaries, and cuts anew what it touched.
    pub fn edit(&mut self, edit: &Edit) -> PieceChange {
        let len = self.rope.len_bytes();
        let start_char = self.rope.byte_to_char(edit.range.start.min(len));
        let end_char = self.rope.byte_to_char(edit.range.end.min(len)).max(start_char);
        let (start, end) = (self.rope.char_to_byte(start_char), self.rope.char_to_byte(end_char));
        let mut first = self.piece_at(start);
        let mut behind = self.piece_at(end) + 1;
        // What a cut depends on is the line before it and the line behind it.
        if first > 0 && self.is_in_first_line(first, start) {
            first -= 1;
        }
        while first > 0 && self.pieces[first].state & NEEDS_ABOVE != 0 {
            first -= 1;
        }
        self.rope.remove(start_char..end_char);
        self.rope.insert(start_char, &edit.insert);
        // Starts inside the replaced range are gone with their pieces; those behind it move.
        let delta = edit.insert.len() as isize - (end - start) as isize;
        for piece in &mut self.pieces[behind..] {
            piece.offset = piece.offset.wrapping_add_signed(delta);
        }
        // The piece behind begins where the edit ends: its first line may have changed too.
        if self.pieces.get(behind).is_some_and(|p| p.offset <= start + edit.insert.len()) {
            behind += 1;
        }
        let from = self.pieces[first];
        loop {
            let to = self.pieces.get(behind).map_or(self.rope.len_bytes(), |p| p.offset);
            let text = self.rope.byte_slice(from.offset..to).to_string();
            let cuts = (self.split)(&text, from.state, self.min_bytes);
            let next = self.pieces.get(behind);
            // What follows was cut in another state: it is read again too.
            if next.is_some_and(|next| cuts.end != Some(next.state)) {
                // Much more each time, so that a broken bracket costs one pass over the file and not many.
                let times = if behind - first < FEW { 1 } else { 3 };
                behind = (behind + times * (behind - first)).min(self.pieces.len());
                continue;
            }
            let (pieces, units) = cuts.distribute(from, text.len());
            let new = pieces.len();
            self.pieces.splice(first..behind, pieces);
            self.units.splice(first..behind, units);
            return PieceChange { replaced: first..behind, new };
        }
    }

    fn is_in_first_line(&self, piece: usize, offset: usize) -> bool {
        let start = self.pieces[piece].offset;
        self.rope.byte_to_line(start) == self.rope.byte_to_line(offset)
    }
}

impl Cuts {
    /// The pieces of a text of `len` bytes that starts at `from`, and the units of each.
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

    /// A piece per paragraph: cuts behind blank lines.
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
        assert_eq!(document.rope().to_string(), "a\n\nbx\n\ny\n\nc\n");
        assert_eq!(document.pieces().len(), 4);
        assert_eq!(change, PieceChange { replaced: 0..2, new: 3 });
        let change = document.edit(&Edit { range: 2..3, insert: String::new() });
        assert_eq!(document.rope().to_string(), "a\nbx\n\ny\n\nc\n");
        assert_eq!((document.pieces().len(), change.replaced), (3, 0..2));
    }

    proptest::proptest! {
        /// Cutting after edits equals cutting the final text, for a splitter that needs no memory.
        #[test]
        fn edits_equal_a_fresh_cut(edits in proptest::collection::vec((0usize..40, 0usize..5, "[ab\n]{0,4}"), 0..30)) {
            let mut document = Document::new("aa\n\nbb\n\naa\nbb\n", paragraphs);
            for (start, len, insert) in edits {
                document.edit(&Edit { range: start..start + len, insert });
            }
            let text = document.rope().to_string();
            let fresh = Document::new(&text, paragraphs);
            proptest::prop_assert_eq!(document.pieces(), fresh.pieces());
        }
    }
}
