//! Random valid MLIR: types and expressions for tests of one op, windows of reshapes with their arguments, chains of
//! ops with the origins of their elements, and functions of many ops.

mod builder;
mod chains;
mod collapses;
mod expansions;
mod expressions;
mod functions;
mod groups;
mod stablehlo_slices;
mod types;
mod windows;

pub use chains::{Origins, Tagged, chain};
pub use collapses::{insertion_into_collapse, large_slice_of_collapse, slice_of_collapse};
pub use expansions::{insertion_into_expand, slice_of_expand};
pub use expressions::{Value, expression};
pub use functions::{mixed_function, stablehlo_function};
pub use stablehlo_slices::stablehlo_slice;
pub use types::{flags, indices, tensor, ty, vector};
pub use windows::window;

/// A function as text, and its arguments.
#[derive(Debug, Clone)]
pub struct Program {
    pub text: String,
    /// Empty if the program is too large to run.
    pub arguments: Vec<Argument>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Argument {
    Index(i64),
    /// Each element is its own linear index plus `first`.
    Tensor {
        shape: Vec<i64>,
        first: i64,
    },
}

#[cfg(test)]
mod tests {
    use super::*;
    use random::Rng;

    /// The text of one program of each kind.
    fn all(seed: u64) -> Vec<String> {
        let random = &mut Rng::new(seed);
        let programs: [fn(&mut Rng) -> Program; 6] = [
            slice_of_collapse,
            large_slice_of_collapse,
            insertion_into_collapse,
            slice_of_expand,
            insertion_into_expand,
            stablehlo_slice,
        ];
        let mut texts: Vec<String> = programs.iter().map(|program| program(random).text).collect();
        texts.extend([chain(random).0, mixed_function(random, 20), stablehlo_function(random, 20, true)]);
        texts
    }

    #[test]
    fn the_same_seed_makes_the_same_text() {
        for seed in 0..20 {
            assert_eq!(all(seed), all(seed));
            assert_ne!(all(seed), all(seed + 1));
        }
    }

    /// MLIR of this project's parser: no errors, no findings.
    #[test]
    fn texts_are_valid() {
        for text in (0..200).flat_map(all) {
            let parse = mlir::parse(&text, mlir::PieceState::default());
            assert_eq!((&parse.errors, mlir::check(&parse, &text)), (&vec![], vec![]), "{text}");
        }
    }
}
