//! What is open where a piece starts, as a byte.

use text::NEEDS_ABOVE;

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
