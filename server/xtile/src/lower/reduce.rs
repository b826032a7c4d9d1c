//! Reductions to `tt.reduce`, one dimension at a time, whose results are then combined with the initial value.
//! Source: `LowerReduce`, `backends/gpu/codegen/triton/transforms/stablehlo_lower_to_triton.cc`.

use rustc_hash::FxHashMap;

use super::rewrite::{Rewrite, Rewriter};
use crate::program::{Block, Kind, Op, Triton, Type, ValueId};

pub(super) fn lower(rewriter: &mut Rewriter<'_>, op: &Op) -> Option<Rewrite> {
    let (Kind::Reduce { dims }, &[input, init]) = (&op.kind, &op.operands[..]) else { return None };
    let combiner = op.blocks.first()?;
    let result = rewriter.ty(op.result()?).clone();
    let element = result.element()?;
    let mut dims = dims.clone();
    dims.sort_unstable();
    let mut sizes = rewriter.ty(input).sizes().to_vec();
    let mut value = input;
    for &axis in dims.iter().rev() {
        if axis >= sizes.len() {
            return None;
        }
        sizes.remove(axis);
        let ty = if sizes.is_empty() { Type::Scalar(element) } else { Type::Tile(element, sizes.clone()) };
        let block = on_numbers(rewriter, combiner)?;
        value = rewriter.push_with(Kind::Triton(Triton::Reduce { axis }), vec![value], vec![block], ty);
    }
    if dims.is_empty() {
        return None;
    }
    let init = match sizes.is_empty() {
        true => {
            value = rewriter.push(Kind::FromElement, vec![value], result.clone());
            init
        }
        false => rewriter.push(Kind::Broadcast { dims: Vec::new() }, vec![init], result.clone()),
    };
    let (ops, yielded) = copied(rewriter, combiner, &[value, init], result.sizes())?;
    // The ops take the place of the reduction as those of a block without arguments.
    Some(Rewrite::Inline(Block { arguments: Vec::new(), ops, yields: vec![yielded] }, Vec::new()))
}

/// The combiner with numbers as arguments: what is in it is lowered by later passes.
fn on_numbers(rewriter: &mut Rewriter<'_>, combiner: &Block) -> Option<Block> {
    let (mut arguments, mut points, mut head) = (Vec::new(), Vec::new(), Vec::new());
    for &argument in &combiner.arguments {
        let point = rewriter.ty(argument).clone();
        let number = rewriter.new_value(Type::Scalar(point.element()?));
        let (op, point) = made(rewriter, Kind::FromElement, number, point);
        arguments.push(number);
        points.push(point);
        head.push(op);
    }
    let (ops, yielded) = copied(rewriter, combiner, &points, &[])?;
    head.extend(ops);
    let number = Type::Scalar(rewriter.ty(yielded).element()?);
    let (op, number) = made(rewriter, Kind::ToElement, yielded, number);
    head.push(op);
    Some(Block { arguments, ops: head, yields: vec![number] })
}

fn made(rewriter: &mut Rewriter<'_>, kind: Kind, operand: ValueId, ty: Type) -> (Op, ValueId) {
    let result = rewriter.new_value(ty);
    let op = Op {
        kind,
        operands: vec![operand],
        results: vec![result],
        blocks: Vec::new(),
        origin: rewriter.origin(),
    };
    (op, result)
}

/// The ops of the combiner on other values, with results of these sizes, and what it yields.
fn copied(
    rewriter: &mut Rewriter<'_>,
    combiner: &Block,
    arguments: &[ValueId],
    sizes: &[i64],
) -> Option<(Vec<Op>, ValueId)> {
    let mut of: FxHashMap<ValueId, ValueId> =
        combiner.arguments.iter().copied().zip(arguments.iter().copied()).collect();
    let mut ops = Vec::new();
    for op in &combiner.ops {
        let result = op.result()?;
        let ty = match rewriter.ty(result) {
            Type::Tile(element, _) => Type::Tile(*element, sizes.to_vec()),
            other => other.clone(),
        };
        let copy = rewriter.new_value(ty);
        let operands = op.operands.iter().map(|value| of.get(value).copied().unwrap_or(*value)).collect();
        ops.push(Op { operands, results: vec![copy], ..op.clone() });
        of.insert(result, copy);
    }
    let yielded = *combiner.yields.first()?;
    Some((ops, of.get(&yielded).copied().unwrap_or(yielded)))
}
