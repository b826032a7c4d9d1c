//! Scans to `tt.scan`, whose results are then combined with the initial value; what is carried to the next step is selected from
//! them. Source: `LowerScan`, `backends/gpu/codegen/triton/transforms/xtile_lower_to_triton.cc`; the selection as in XLA's output.

use rustc_hash::FxHashMap;
use syntax::hlo::ElementType;

use super::rewrite::{Rewrite, Rewriter};
use crate::program::{Arithmetic, Block, Kind, Op, Predicate, Triton, Type, ValueId, integer_of};

pub(super) fn lower(rewriter: &mut Rewriter<'_>, op: &Op) -> Option<Rewrite> {
    let (&Kind::Scan { dim, is_reverse }, &[input, init]) = (&op.kind, &op.operands[..]) else { return None };
    let combiner = op.blocks.first()?;
    let ty = rewriter.ty(*op.results.first()?).clone();
    let number = Type::Scalar(ty.element()?);
    let arguments = vec![rewriter.new_value(number.clone()), rewriter.new_value(number)];
    let (ops, yielded) = cloned(rewriter, combiner, &arguments, None)?;
    let block = Block { arguments, ops, yields: vec![yielded] };
    let kind = Kind::Triton(Triton::Scan { axis: dim, is_reverse });
    let sums = rewriter.push_with(kind, vec![input], vec![block], ty.clone());
    let dims = (0..ty.sizes().len()).collect();
    let start = rewriter.push(Kind::Broadcast { dims }, vec![init], ty.clone());
    let (ops, outputs) = cloned(rewriter, combiner, &[start, sums], Some(ty.sizes()))?;
    ops.into_iter().for_each(|op| rewriter.add(op));
    let carries = last(rewriter, outputs, &ty, dim, is_reverse)?;
    Some(Rewrite::Values(vec![outputs, carries]))
}

/// The ops of a combiner on numbers, or on tiles of these sizes, and the first value that it yields.
fn cloned(
    rewriter: &mut Rewriter<'_>,
    combiner: &Block,
    arguments: &[ValueId],
    sizes: Option<&[i64]>,
) -> Option<(Vec<Op>, ValueId)> {
    let mut of: FxHashMap<ValueId, ValueId> =
        combiner.arguments.iter().copied().zip(arguments.iter().copied()).collect();
    let mut ops = Vec::new();
    for op in &combiner.ops {
        let result = op.result()?;
        let operands: Vec<ValueId> =
            op.operands.iter().map(|value| of.get(value).copied().unwrap_or(*value)).collect();
        if matches!(op.kind, Kind::ToElement | Kind::FromElement) {
            of.insert(result, *operands.first()?);
            continue;
        }
        let element = rewriter.ty(result).element()?;
        let copy = rewriter.new_value(match sizes {
            Some(sizes) => Type::Tile(element, sizes.to_vec()),
            None => Type::Scalar(element),
        });
        ops.push(Op { operands, results: vec![copy], ..op.clone() });
        of.insert(result, copy);
    }
    let yielded = combiner.yields.first()?;
    Some((ops, of.get(yielded).copied().unwrap_or(*yielded)))
}

/// The last sums along a dimension: the bits of all others are zero, and what is left is their union.
fn last(
    rewriter: &mut Rewriter<'_>,
    sums: ValueId,
    ty: &Type,
    dim: usize,
    is_reverse: bool,
) -> Option<ValueId> {
    let (element, sizes) = (ty.element()?, ty.sizes());
    let size = *sizes.get(dim)?;
    let integer = integer_of(element)?;
    let places = Type::Tile(ElementType::S32, sizes.to_vec());
    let range = Type::Tile(ElementType::S32, vec![size]);
    let range = rewriter.push(Kind::Iota { dim: 0 }, Vec::new(), range);
    let place = rewriter.push(Kind::Broadcast { dims: vec![dim] }, vec![range], places.clone());
    let end = rewriter.number(if is_reverse { 0 } else { size - 1 }, places.clone());
    let equal = Kind::Arithmetic(Arithmetic::Compare(Predicate::Equal));
    let is_last = rewriter.push(equal, vec![place, end], places.with_element(ElementType::Pred));
    let bits = as_type(rewriter, sums, integer);
    let words = Type::Tile(integer, sizes.to_vec());
    let zero = rewriter.number(0, words.clone());
    let kept = rewriter.push(Kind::Select, vec![is_last, bits, zero], words);
    let number = Type::Scalar(integer);
    let arguments = vec![rewriter.new_value(number.clone()), rewriter.new_value(number.clone())];
    let union = rewriter.new_value(number.clone());
    let or = Op {
        kind: Kind::Arithmetic(Arithmetic::Or),
        operands: arguments.clone(),
        results: vec![union],
        blocks: Vec::new(),
        origin: rewriter.origin(),
    };
    let block = Block { arguments, ops: vec![or], yields: vec![union] };
    let mut kept_sizes = sizes.to_vec();
    kept_sizes.remove(dim);
    let reduced = if kept_sizes.is_empty() { number } else { Type::Tile(integer, kept_sizes.clone()) };
    let value =
        rewriter.push_with(Kind::Triton(Triton::Reduce { axis: dim }), vec![kept], vec![block], reduced);
    let expand = if kept_sizes.is_empty() { Triton::Splat } else { Triton::ExpandDims { axis: dim } };
    kept_sizes.insert(dim, 1);
    let value = rewriter.push(Kind::Triton(expand), vec![value], Type::Tile(integer, kept_sizes));
    Some(as_type(rewriter, value, element))
}

/// The bits as another type.
fn as_type(rewriter: &mut Rewriter<'_>, value: ValueId, element: ElementType) -> ValueId {
    let ty = rewriter.ty(value).with_element(element);
    match rewriter.element(value) == element {
        true => value,
        false => rewriter.push(Kind::Triton(Triton::Bitcast), vec![value], ty),
    }
}
