//! The open regions at the start of a piece, as a byte.

use text::NEEDS_ABOVE;

/// The open regions at the start of a piece.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PieceState {
    /// The number of open module bodies.
    pub depth: u8,
    /// The column of the function whose body is open inside those, if there is one.
    pub function: Option<u8>,
    /// Whether resources start above and never end, so that they were read as ordinary text. A terminator
    /// typed below would change that, so such pieces are cut together with the one that contains the start.
    pub is_below_open_resources: bool,
}

/// Text inside more module bodies is not cut.
const MAX_DEPTH: u8 = 7;
/// A function that starts in a later column is not cut.
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

    /// The state in the body of one more module; `None` if no piece may start there.
    pub(crate) fn in_module(self) -> Option<PieceState> {
        let may_be_cut = self.depth < MAX_DEPTH && self.function.is_none();
        may_be_cut.then_some(PieceState { depth: self.depth + 1, ..self })
    }

    pub(crate) fn in_function(self, column: usize) -> Option<PieceState> {
        let column = u8::try_from(column).ok().filter(|&c| c <= MAX_COLUMN && self.function.is_none())?;
        Some(PieceState { function: Some(column), ..self })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
