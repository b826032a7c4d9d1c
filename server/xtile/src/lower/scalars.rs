//! Ops on the elements of tiles without dimensions become ops on numbers.
//! Source: `codegen/xtile/ir/transforms/convert_elementwise_0d_tensor_to_scalar_pass.cc`.

use super::rewrite::{Rewrite, Rewriter, apply_once};
use crate::program::{Block, Kind, Op, Program, Triton, Type, ValueId};

pub(super) fn run(program: &mut Program) {
    let made_from = program.values.len() as ValueId;
    apply_once(program, &[lower]);
    settle(&mut program.body, made_from);
}

/// Moves the numbers that the pass took from tiles to where the tiles are computed. Returns those of tiles that are
/// computed outside of the block.
fn settle(block: &mut Block, made_from: ValueId) -> Vec<Op> {
    let (mut kept, mut taken): (Vec<Op>, Vec<Op>) = (Vec::with_capacity(block.ops.len()), Vec::new());
    for mut op in std::mem::take(&mut block.ops) {
        op.blocks.iter_mut().for_each(|inner| taken.extend(settle(inner, made_from)));
        let is_taken = matches!(op.kind, Kind::ToElement) && op.result() >= Some(made_from);
        if is_taken { taken.push(op) } else { kept.push(op) }
    }
    block.ops = kept;
    let mut outside = Vec::new();
    for op in taken {
        let tile = op.operands.first().copied();
        let computed = block.ops.iter().position(|op| op.result().is_some() && op.result() == tile);
        match computed {
            Some(at) => block.ops.insert(at + 1, op),
            None if tile.is_some_and(|tile| block.arguments.contains(&tile)) => block.ops.insert(0, op),
            None => outside.push(op),
        }
    }
    outside
}

fn lower(rewriter: &mut Rewriter<'_>, op: &Op) -> Option<Rewrite> {
    let ty = rewriter.ty(op.result()?).clone();
    let is_point = |ty: &Type| matches!(ty, Type::Tile(_, sizes) if sizes.is_empty());
    let is_on_points = is_point(&ty) && is_elementwise(&op.kind);
    if !is_on_points {
        return None;
    }
    let operands = (op.operands.iter())
        .map(|&operand| match is_point(rewriter.ty(operand)) {
            true => {
                let number = Type::Scalar(rewriter.element(operand));
                rewriter.push(Kind::ToElement, vec![operand], number)
            }
            false => operand,
        })
        .collect();
    let number = rewriter.push(op.kind.clone(), operands, Type::Scalar(ty.element()?));
    Some(Rewrite::Value(rewriter.push(Kind::FromElement, vec![number], ty)))
}

fn is_elementwise(kind: &Kind) -> bool {
    matches!(
        kind,
        Kind::Constant(_)
            | Kind::Elementwise(_)
            | Kind::Arithmetic(_)
            | Kind::Cast(_)
            | Kind::Math(_)
            | Kind::Select
            | Kind::Triton(Triton::Bitcast | Triton::FloatToFloat { .. } | Triton::Extern { .. })
    )
}
