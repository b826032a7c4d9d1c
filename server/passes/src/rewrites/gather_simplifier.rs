//! `gather_simplifier`: makes each gather one of whole slices by a list of index vectors, with reshapes and transposes around it.
//!
//! Source: XLA `hlo/transforms/simplifiers/gather_simplifier.cc`.

use ir::Shape;
use syntax::hlo::{AttributeKey, Opcode};

use super::every::{add, add_copy, every, replace};
use super::index_shapes::{as_list, drop_units, reshape, transpose};
use crate::driver::{Run, Stop};
use crate::module::{InstructionId, NewOp};

pub(super) fn run(run: &mut Run<'_>) -> Result<(), Stop> {
    every(run, |run, id| {
        if run.module[id].opcode() == Opcode::Gather && !is_simple(run, id) {
            simplify(run, id);
        }
    });
    Ok(())
}

fn is_simple(run: &Run<'_>, id: InstructionId) -> bool {
    let gather = &run.module[id];
    let attributes = gather.attributes();
    let offsets = attributes.ints(AttributeKey::OffsetDims);
    let collapsed = attributes.ints(AttributeKey::CollapsedSliceDims);
    let is_simple = run.module[run.module.operand(id, 1)].dims().len() == 2
        && attributes.int(AttributeKey::IndexVectorDim) == Some(1)
        && collapsed.is_empty()
        && offsets.first() == Some(&1)
        && offsets.last() == Some(&(offsets.len() as i64));
    is_simple || !attributes.ints(AttributeKey::OperandBatchingDims).is_empty()
}

fn simplify(run: &mut Run<'_>, id: InstructionId) {
    let &[operand, indices] = run.module[id].operands() else { return };
    let shape = run.module[id].shape().clone();
    let Some(element) = shape.element() else { return };
    let attributes = run.module[id].attributes().clone();
    let sizes = attributes.ints(AttributeKey::SliceSizes).to_vec();
    let what = "gathers whole slices by a list of index vectors";
    if sizes.contains(&0) {
        let zero = if element == ir::ElementType::Pred { "false" } else { "0" };
        let zero = add(run, id, NewOp::constant(Shape::array(element, &[]), zero));
        let new = add(run, id, NewOp::new(Opcode::Broadcast, shape, &[zero]).dimensions(&[]));
        return replace(run, id, new, "reads nothing");
    }
    let collapsed = attributes.ints(AttributeKey::CollapsedSliceDims).to_vec();
    let offsets = attributes.ints(AttributeKey::OffsetDims).to_vec();
    let rank = collapsed.len() + offsets.len();
    if rank == 0 {
        let new = add(run, id, NewOp::new(Opcode::Broadcast, shape, &[operand]).dimensions(&[]));
        return replace(run, id, new, "reads the only element");
    }
    let vector = attributes.int(AttributeKey::IndexVectorDim).unwrap_or(0);
    let starts = (0..).zip(run.module[indices].dims());
    let starts: Vec<i64> = starts.filter(|(dim, _)| *dim != vector).map(|(_, &size)| size).collect();
    let list = as_list(run, indices, vector);
    let count = run.module[list].dims().first().copied().unwrap_or(1);
    let dims: Vec<_> = [count].into_iter().chain(sizes).collect();
    let source = run.module[operand].shape().element().unwrap_or(element);
    let mut result = add_copy(run, id, &[operand, list], Shape::array(source, &dims));
    let changed = run.module.attributes_mut(result);
    changed.set(AttributeKey::OffsetDims, (1..=rank as i64).collect::<Vec<_>>());
    changed.set(AttributeKey::CollapsedSliceDims, Vec::<i64>::new());
    changed.set(AttributeKey::IndexVectorDim, 1);
    if !collapsed.is_empty() {
        let collapsed: Vec<_> = collapsed.iter().map(|dim| dim + 1).collect();
        result = drop_units(run, result, &collapsed);
    }
    match starts.len() {
        0 => result = drop_units(run, result, &[0]),
        1 => {}
        _ => {
            let rest = run.module[result].dims()[1..].to_vec();
            let dims: Vec<_> = starts.iter().copied().chain(rest).collect();
            result = reshape(run, result, &dims);
        }
    }
    let (mut next_start, mut next_offset) = (0.., starts.len() as i64..);
    let place = |dim: i64| if offsets.contains(&dim) { next_offset.next() } else { next_start.next() };
    let permutation: Vec<_> = (0..(starts.len() + offsets.len()) as i64).filter_map(place).collect();
    let result = transpose(run, result, &permutation);
    replace(run, id, result, what);
}
