//! What StableHLO's verifier allows and HLO's does not. Source: `stablehlo/dialect/TypeInference.cpp`, the verifiers of
//! `ReduceOp`, `ReduceWindowOp`, `ScatterOp`, `SelectAndScatterOp`, `SetDimensionSizeOp` and `ConvolutionOp`.

use ir::Opcode;
use mlir::{ArrayType, NoArrayType, OpId, Parse, element_type};

use crate::op_table::opcode_of;

/// Whether the op makes use of it: then findings of HLO's verifier may be wrong for it.
pub fn allows_more_than_hlo(parse: &Parse, text: &str, id: OpId) -> bool {
    match opcode_of(parse.name(id, text)) {
        // A result may be accumulated in a wider type than the operand has, and initial values may have dimensions.
        Some(Opcode::Reduce | Opcode::ReduceWindow | Opcode::Scatter | Opcode::SelectAndScatter) => {
            is_promoted(parse, text, id) || has_shaped_init(parse, text, id)
        }
        // The result may be of the size that is set.
        Some(Opcode::SetDimensionSize) => true,
        // Dimensions that the numbers do not name: `[b, 0, 1, ?, f]`.
        Some(Opcode::Convolution) => ["dim_numbers", "dimension_numbers"]
            .iter()
            .any(|name| parse.attribute(id, name, text).is_some_and(|numbers| numbers.contains('?'))),
        _ => false,
    }
}

/// A result has another element type than the operand of its number.
fn is_promoted(parse: &Parse, text: &str, id: OpId) -> bool {
    let op = parse.op(id);
    let (operands, results) = (parse.types(&op.operand_types), parse.types(&op.result_types));
    operands.iter().zip(results).any(|(&operand, &result)| {
        let (Some(operand), Some(result)) = (parse.type_text(operand, text), parse.type_text(result, text))
        else {
            return false;
        };
        element_type(&operand).zip(element_type(&result)).is_some_and(|(from, to)| from != to)
    })
}

/// The second half of a reduction's operands are scalars in HLO.
fn has_shaped_init(parse: &Parse, text: &str, id: OpId) -> bool {
    if !matches!(opcode_of(parse.name(id, text)), Some(Opcode::Reduce | Opcode::ReduceWindow)) {
        return false;
    }
    let operands = parse.types(&parse.op(id).operand_types);
    operands[operands.len() / 2..].iter().any(|&ty| {
        let ty = parse.type_text(ty, text);
        ty.is_some_and(|ty| match ArrayType::parse(&ty) {
            Ok(init) => init.rank() > 0,
            Err(why) => !matches!(why, NoArrayType::NotAnArray(_)),
        })
    })
}

#[cfg(test)]
mod tests {
    use mlir::{PieceState, parse};

    use super::*;

    #[track_caller]
    fn check(op: &str, expect: bool) {
        let read = parse(op, PieceState::default());
        assert_eq!(allows_more_than_hlo(&read, op, 0), expect, "{op}");
    }

    #[test]
    fn what_is_wider_or_unnamed_is_not_held_to_hlo() {
        let reduce = |ty: &str| {
            format!("%0 = stablehlo.reduce(%a init: %b) applies stablehlo.add across dimensions = [1] : {ty}")
        };
        check(&reduce("(tensor<4x5xf32>, tensor<f32>) -> tensor<4xf64>"), true);
        check(&reduce("(tensor<4x5xf32>, tensor<4xf32>) -> tensor<4xf32>"), true);
        check(&reduce("(tensor<4x5xf32>, tensor<f32>) -> tensor<5xf32>"), false);
        check(
            "%0 = stablehlo.set_dimension_size %a, %n, dim = 0 : (tensor<4xf32>, tensor<i32>) -> tensor<2xf32>",
            true,
        );
        let convolution = |numbers: &str| {
            format!(
                "%0 = stablehlo.convolution(%a, %b) dim_numbers = {numbers}, window = {{}} : (tensor<1x8xf32>, tensor<8x4xf32>) -> tensor<1x4xf32>"
            )
        };
        check(&convolution("[b, ?, f]x[i, ?, o]->[b, ?, f]"), true);
        check(&convolution("[b, f]x[i, o]->[b, f]"), false);
        check("%0 = stablehlo.slice %a [0:9] : (tensor<4xf32>) -> tensor<9xf32>", false);
    }
}
