//! The attributes and clauses of ops by their families, in the custom and the generic form. The crates above ask for them by
//! these methods, not by their names.

mod conditions;
mod indices;
mod launches;
mod linalg;
mod slices;
mod tensors;
mod vectors;
mod xla;

pub use conditions::{Comparison, Relation};
pub use launches::{argument_range, known_size};
pub use linalg::{OPERAND_SEGMENTS, WinogradTile};
pub use slices::{SLICE_BOUNDS, SliceLists};
pub use tensors::Tiles;
pub use vectors::StridedPart;
pub use xla::{ScaledOperand, Scan};

#[cfg(test)]
mod tests {
    use std::fmt::Debug;

    use super::*;
    use crate::op_kind::Linalg;
    use crate::op_text::OpText;
    use crate::source::Source;

    /// Checks what is read of an op in the custom and in the generic form.
    #[track_caller]
    fn check<T: Debug>(forms: [&str; 2], expect: &str, read: impl Fn(&OpText<'_>) -> T) {
        for text in forms {
            let parse = mlir::parse(text, mlir::PieceState::default());
            let source = Source::alone(&parse, text);
            let op = OpText::new(&source, 0).expect("it is short");
            assert_eq!(format!("{:?}", read(&op)), expect, "{text}");
        }
    }

    #[test]
    fn both_forms_have_the_same_attributes() {
        check(
            [
                "%0 = tensor.extract_slice %a[0, 8] [2, 4] [1, 2] : tensor<4x64xf32> to tensor<2x4xf32>",
                "%0 = \"tensor.extract_slice\"(%a) <{static_offsets = array<i64: 0, 8>, static_sizes = array<i64: 2, 4>, static_strides = array<i64: 1, 2>}> : (tensor<4x64xf32>) -> tensor<2x4xf32>",
            ],
            "Some(SliceLists { offsets: [Static(0), Static(8)], sizes: [Static(2), Static(4)], strides: [Static(1), Static(2)] })",
            |op| SliceLists::read(op, 1),
        );
        check(
            [
                "%0 = stablehlo.slice %a [0:4, 1:9:2] : (tensor<4x9xf32>) -> tensor<4x4xf32>",
                "%0 = \"stablehlo.slice\"(%a) <{start_indices = array<i64: 0, 1>, limit_indices = array<i64: 4, 9>, strides = array<i64: 1, 2>}> : (tensor<4x9xf32>) -> tensor<4x4xf32>",
            ],
            "Some([[0, 4, 1], [1, 9, 2]])",
            |op| op.slice_bounds(),
        );
        check(
            [
                "%0 = tensor.collapse_shape %a [[0, 1], [2]] : tensor<2x3x4xf32> into tensor<6x4xf32>",
                "%0 = \"tensor.collapse_shape\"(%a) <{reassociation = [[0, 1], [2]]}> : (tensor<2x3x4xf32>) -> tensor<6x4xf32>",
            ],
            "Ok([[0, 1], [2]])",
            |op| op.reassociation(),
        );
        check(
            [
                "%0 = linalg.pack %a outer_dims_perm = [1, 0] inner_dims_pos = [0, 1] inner_tiles = [8, 4] into %b : tensor<16x8xf32> -> tensor<2x2x8x4xf32>",
                "%0 = \"linalg.pack\"(%a, %b) <{inner_dims_pos = array<i64: 0, 1>, outer_dims_perm = array<i64: 1, 0>, static_inner_tiles = array<i64: 8, 4>}> : (tensor<16x8xf32>, tensor<2x2x8x4xf32>) -> tensor<2x2x8x4xf32>",
            ],
            "Ok(Tiles { outer: [1, 0], inner: [(0, Static(8)), (1, Static(4))] })",
            |op| op.tiles(2),
        );
        check(
            [
                "%0 = vector.extract %v[0, 1] : f32 from vector<4x8xf32>",
                "%0 = \"vector.extract\"(%v) <{static_position = array<i64: 0, 1>}> : (vector<4x8xf32>) -> f32",
            ],
            "Ok([Static(0), Static(1)])",
            |op| op.position(1),
        );
        check(
            [
                "%0 = affine.linearize_index [%a, %b] by (3, 5) : index",
                "%0 = \"affine.linearize_index\"(%a, %b) <{static_basis = array<i64: 3, 5>}> : (index, index) -> index",
            ],
            "Some([Static(3), Static(5)])",
            |op| op.linearized().map(|(_, basis)| basis),
        );
        check(
            [
                "%0 = arith.cmpi ult, %a, %b : index",
                "%0 = \"arith.cmpi\"(%a, %b) <{predicate = 6 : i64}> : (index, index) -> i1",
            ],
            "Some(Comparison { relation: Less, is_unsigned: true })",
            |op| op.comparison(),
        );
        check(
            [
                "%0 = gpu.thread_id y upper_bound 32",
                "%0 = \"gpu.thread_id\"() <{dimension = #gpu<dim y>, upper_bound = 32 : index}> : () -> index",
            ],
            "(Some(1), Some(32))",
            |op| (op.axis(), op.upper_bound()),
        );
    }

    #[test]
    fn what_is_missing_has_a_reason() {
        let forms = ["%0 = tensor.pad %a", "%0 = \"tensor.pad\"(%a) : (tensor<4xf32>) -> tensor<4xf32>"];
        check(forms, "Err(NotRead(\"its padding\"))", |op| op.padding(1));
        check(forms, "Err(ListNotRead(\"permutation\"))", |op| op.listed_dimensions(Linalg::Transpose));
        check(forms, "Err(ListNotRead(\"offsets\"))", |op| op.strided_part());
        check(forms, "(None, None)", |op| (op.winograd_tile(), op.loop_number()));
    }
}
