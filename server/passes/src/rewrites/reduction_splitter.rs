//! `reduction-splitter`: reduces dimensions that are not neighbours one after the other, the longest first.
//!
//! Source: XLA `backends/gpu/transforms/reduction_splitter.cc`.

use ir::Shape;
use syntax::hlo::{AttributeKey, Opcode};

use super::every::{add_copy, every_until_unchanged, replace};
use crate::driver::{Run, Stop};
use crate::module::InstructionId;
use crate::shapes::of_element;

pub(super) fn run(run: &mut Run<'_>) -> Result<(), Stop> {
    every_until_unchanged(run, |run, id| {
        if run.module[id].opcode() == Opcode::Reduce && matches!(run.module[id].shape(), Shape::Array(_)) {
            split(run, id);
        }
    });
    Ok(())
}

fn split(run: &mut Run<'_>, id: InstructionId) {
    let reduce = &run.module[id];
    let reduced = reduce.dimensions().to_vec();
    let &[operand, initial] = reduce.operands() else { return };
    let sizes = run.module[operand].dims();
    let size = |dim: i64| usize::try_from(dim).ok().and_then(|dim| sizes.get(dim)).copied().unwrap_or(0);
    // Neighbours were joined before.
    let has_neighbours = reduced.iter().any(|&dim| reduced.contains(&(dim + 1)));
    let is_row_major = run.module[operand].shape().without_layouts() == *run.module[operand].shape();
    if gpu::is_reduction_hero(reduce.op(), run.options.device)
        || reduced.len() < 2
        || has_neighbours
        || !is_row_major
    {
        return;
    }
    let longest = reduced.iter().copied().reduce(|a, b| if size(b) > size(a) { b } else { a });
    let Some(longest) = longest else { return };
    let mut dims = sizes.to_vec();
    dims.remove(longest as usize);
    let Some(shape) = of_element(reduce.shape(), &dims) else { return };
    let (result, others) = (reduce.shape().clone(), reduced.iter().filter(|&&dim| dim != longest));
    let others: Vec<i64> = others.map(|&dim| dim - i64::from(dim > longest)).collect();
    let first = add_copy(run, id, &[operand, initial], shape);
    run.module.attributes_mut(first).set(AttributeKey::Dimensions, vec![longest]);
    let second = add_copy(run, id, &[first, initial], result);
    run.module.attributes_mut(second).set(AttributeKey::Dimensions, others);
    replace(run, id, second, "reduces its longest dimension first");
}
