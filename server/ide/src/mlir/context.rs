//! Converts between file offsets and ops of a piece.

use std::borrow::Cow;
use std::sync::Arc;

use db::{Elsewhere, GiantDefinition, GiantName, MlirGiantIndex, MlirLinks, MlirModule, MlirPiece};
use mlir::{BlockId, OpId, Parse, Region, RegionId, ValueId};

use crate::TextRange;
use crate::file_context::FileContext;

/// An op of the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct OpRef {
    pub(crate) piece: usize,
    pub(crate) id: OpId,
}

impl<'a> FileContext<'a> {
    pub(crate) fn mlir_piece(&self, piece: usize) -> &'a Arc<MlirPiece> {
        db::mlir_piece(self.db, self.piece_input(piece))
    }

    pub(crate) fn piece_input(&self, piece: usize) -> db::Piece {
        self.view.file.pieces(self.db)[piece]
    }

    pub(crate) fn mlir_module(&self) -> &'a Arc<MlirModule> {
        db::mlir_module(self.db, self.view.file)
    }

    /// The innermost op at `offset`.
    pub(crate) fn op_at(&self, offset: usize) -> Option<OpRef> {
        let (piece, local) = self.locate(offset);
        let at = |piece: usize, local: usize| {
            self.mlir_piece(piece).parse.op_at(local).map(|id| OpRef { piece, id })
        };
        // The end of a piece's last line is the start of the next piece.
        at(piece, local).or_else(|| {
            let before = piece.checked_sub(1).filter(|_| local == 0)?;
            at(before, offset - self.view.starts[before].offset)
        })
    }

    /// The offset of the definition of the first value called `name` (without `%`).
    pub(crate) fn find_value(&self, name: &str) -> Option<usize> {
        (0..self.pieces()).find_map(|piece| {
            let read = self.mlir_piece(piece);
            let of = |value: &&mlir::Value| value.name.of(&read.text).strip_prefix('%') == Some(name);
            let value = read.parse.values.iter().find(of)?;
            Some(self.range(piece, value.name).start)
        })
    }

    pub(crate) fn mlir_links(&self, piece: usize) -> &'a Arc<MlirLinks> {
        db::mlir_links(self.db, self.piece_input(piece))
    }

    pub(crate) fn mlir_giants(&self) -> &'a Arc<MlirGiantIndex> {
        db::mlir_giant_index(self.db, self.view.file)
    }

    /// The value of a use, by its index in [`Parse::uses`]; in a cut function it may be in another piece.
    pub(crate) fn value_of_use(&self, piece: usize, at: usize) -> Option<(usize, ValueId)> {
        match self.mlir_piece(piece).parse.uses.get(at)?.value {
            Some(value) => Some((piece, value)),
            None => match self.giant(self.mlir_links(piece).of_use(at)?)? {
                (piece, GiantDefinition::Value(value)) => Some((piece, value)),
                _ => None,
            },
        }
    }

    /// The block of a successor, by its index in [`Parse::successors`].
    pub(crate) fn block_of_successor(&self, piece: usize, at: usize) -> Option<(usize, BlockId)> {
        match self.mlir_piece(piece).parse.successors.get(at)?.block {
            Some(block) => Some((piece, block)),
            None => match self.giant(self.mlir_links(piece).of_successor(at)?)? {
                (piece, GiantDefinition::Block(block)) => Some((piece, block)),
                _ => None,
            },
        }
    }

    /// The definition of a name that the pieces of a function share.
    pub(crate) fn giant(&self, name: GiantName) -> Option<(usize, GiantDefinition)> {
        Some((name.piece as usize, db::mlir_definition(self.db, self.view.file, name)?))
    }

    /// The type of a value's result, including types that are derived from a value in another piece.
    pub(crate) fn type_of_value(&self, piece: usize, value: ValueId, index: usize) -> Option<Cow<'a, str>> {
        Elsewhere::of(self.db, self.piece_input(piece))?.type_of_value(value, index)
    }

    /// The piece and region that open a region still open at the start of `piece`, given by its number among
    /// the open regions.
    fn opening(&self, piece: usize, region: RegionId) -> Option<(usize, RegionId)> {
        for before in (0..piece).rev() {
            let parse = &self.mlir_piece(before).parse;
            if let Some(nth) = region.checked_sub(parse.open_above) {
                return Some((before, *parse.open_below.get(nth as usize)?));
            }
        }
        None
    }

    /// The piece that closes a region still open at the end of `piece`, given by its number among the open
    /// regions.
    fn closing(&self, piece: usize, number: u32) -> Option<usize> {
        (piece + 1..self.pieces()).find(|&behind| number >= self.mlir_piece(behind).parse.open_above)
    }

    /// An op in the piece where it starts, and its region that continues in later pieces.
    pub(crate) fn start_of(&self, at: OpRef) -> Option<(OpRef, Option<RegionId>)> {
        let parse = &self.mlir_piece(at.piece).parse;
        if parse.is_continued(at.id) {
            let (piece, region) = self.opening(at.piece, at.id)?;
            let id = self.mlir_piece(piece).parse.regions[region as usize].op;
            return match self.mlir_piece(piece).parse.is_continued(id) {
                true => self.start_of(OpRef { piece, id }).map(|(start, _)| (start, Some(region))),
                false => Some((OpRef { piece, id }, Some(region))),
            };
        }
        let is_open = |region: &RegionId| parse.open_below.contains(region);
        Some((at, parse.regions_of(at.id).find(is_open)))
    }

    /// The range of an op over all its pieces.
    pub(crate) fn whole_op(&self, at: OpRef) -> TextRange {
        let own = || self.range(at.piece, self.mlir_piece(at.piece).parse.op(at.id).span);
        let Some((start, open)) = self.start_of(at) else { return own() };
        let range = self.range(start.piece, self.mlir_piece(start.piece).parse.op(start.id).span);
        let Some(region) = open else { return range };
        range.start..self.end_of(at, start.piece, region, |parse, op| parse.op(op).span.end).max(range.end)
    }

    /// The range of an op up to its regions, whichever piece it starts in.
    pub(crate) fn whole_head(&self, at: OpRef) -> TextRange {
        let start = self.start_of(at).map_or(at, |(start, _)| start);
        self.range(start.piece, self.mlir_piece(start.piece).parse.op(start.id).head)
    }

    /// The range of a region over all its pieces, and whether a brace closes it.
    pub(crate) fn whole_region(&self, piece: usize, region: RegionId) -> (TextRange, bool) {
        let parse = &self.mlir_piece(piece).parse;
        let Region { span, op, is_closed, .. } = parse.regions[region as usize];
        let own = self.range(piece, span);
        let opened = match region < parse.continued {
            true => self.opening(piece, region),
            false => Some((piece, region)).filter(|_| parse.open_below.contains(&region)),
        };
        let Some((start, opened)) = opened else { return (own, is_closed) };
        let at = OpRef { piece, id: op };
        let is_closed = self.ended(start, opened).is_some_and(|last| {
            self.mlir_piece(last.piece).parse.regions.get(last.id as usize).is_some_and(|r| r.is_closed)
        });
        let from = self.range(start, self.mlir_piece(start).parse.regions[opened as usize].span).start;
        let end = self.end_of(at, start, opened, |parse, op| parse.regions[op as usize].span.end);
        (from..end.max(own.end), is_closed)
    }

    /// The op in the piece where it ends; `None` if it is not closed.
    pub(crate) fn last_of(&self, at: OpRef) -> Option<OpRef> {
        match self.start_of(at)? {
            (start, Some(region)) => self.ended(start.piece, region),
            (start, None) => Some(start),
        }
    }

    /// The op whose region `piece` opens, in the piece where the region ends.
    fn ended(&self, piece: usize, region: RegionId) -> Option<OpRef> {
        let parse = &self.mlir_piece(piece).parse;
        let nth = parse.open_below.iter().position(|&open| open == region).unwrap_or(0) as u32;
        let number = parse.open_above + nth;
        let piece = self.closing(piece, number)?;
        Some(OpRef { piece, id: number.min(self.mlir_piece(piece).parse.continued.max(1) - 1) })
    }

    /// The end of a region that `piece` opens; the end of the text if it is not closed.
    fn end_of(&self, at: OpRef, piece: usize, region: RegionId, end: fn(&Parse, OpId) -> u32) -> usize {
        match self.ended(piece, region) {
            Some(last) => {
                self.view.starts[last.piece].offset
                    + end(&self.mlir_piece(last.piece).parse, last.id) as usize
            }
            None => {
                let part = self.part_at(at.piece, self.mlir_piece(at.piece).parse.op(at.id).span.start);
                let behind = self.mlir_module().pieces_of(part).end;
                self.view.starts.get(behind).map_or(self.view.text.len_bytes(), |start| start.offset)
            }
        }
    }

    /// The function that contains or is the op at `local`, also in the later pieces of a cut function.
    pub(crate) fn function_around(&self, piece: usize, local: usize) -> Option<OpId> {
        let read = self.mlir_piece(piece);
        let path = read.parse.path_to(read.parse.op_at(local)?);
        path.into_iter().find(|&op| {
            mlir::is_function_like(read.parse.name(op, &read.text)) || read.parse.is_cut_function(op)
        })
    }

    /// The other pieces of a cut function, each with the function's op there, in text order.
    pub(crate) fn other_pieces(&self, piece: usize, function: OpId) -> Vec<(usize, OpId)> {
        let parts = self.mlir_piece(piece).parts.iter();
        let mut found = Vec::new();
        for (nth, _) in parts.enumerate().filter(|(_, part)| part.op == function) {
            for (other, part) in self.mlir_giants().pieces_of(piece, nth) {
                if other != piece {
                    found.extend(self.mlir_piece(other).parts.get(part).map(|part| (other, part.op)));
                }
            }
        }
        found.sort_unstable();
        found.dedup();
        found
    }

    /// The part of the file, between two `// -----`, that contains a position of a piece.
    pub(crate) fn part_at(&self, piece: usize, local: u32) -> usize {
        self.mlir_module().part_at(piece, &self.mlir_piece(piece).parse, local)
    }
}
