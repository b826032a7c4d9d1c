//! `reduction-dimension-grouper`: joins neighbouring dimensions that a reduction reduces.
//!
//! Source: XLA `backends/gpu/transforms/reduction_dimension_grouper.cc`.

use ir::Shape;
use syntax::hlo::{AttributeKey, Opcode};

use super::every::{add, add_copy, every, replace};
use crate::driver::{Run, Stop};
use crate::module::{InstructionId, NewOp};

pub(super) fn run(run: &mut Run<'_>) -> Result<(), Stop> {
    every(run, |run, id| {
        if run.module[id].opcode() == Opcode::Reduce {
            group(run, id);
        }
    });
    Ok(())
}

fn group(run: &mut Run<'_>, id: InstructionId) {
    let operands = run.module[id].operands().to_vec();
    let inputs = operands.len() / 2;
    let reduced = run.module[id].dimensions().to_vec();
    let Some(&first) = operands.first() else { return };
    let (mut sizes, mut dims) = (Vec::new(), Vec::new());
    let mut joined = 1i64;
    let old = run.module[first].dims().to_vec();
    for (dim, &size) in (0..).zip(&old) {
        if !reduced.contains(&dim) {
            sizes.push(size);
        } else if reduced.contains(&(dim + 1)) {
            joined = joined.saturating_mul(size);
        } else {
            dims.push(sizes.len() as i64);
            sizes.push(std::mem::replace(&mut joined, 1).saturating_mul(size));
        }
    }
    let is_row_major = |&operand: &InstructionId| {
        run.module[operand].shape().without_layouts() == *run.module[operand].shape()
    };
    if sizes.len() == old.len() || !operands[..inputs].iter().all(is_row_major) {
        return;
    }
    let mut changed = operands.clone();
    for operand in &mut changed[..inputs] {
        let element = run.module[*operand].shape().element().unwrap_or(ir::ElementType::Opaque);
        *operand =
            add(run, *operand, NewOp::new(Opcode::Bitcast, Shape::array(element, &sizes), &[*operand]));
    }
    let new = add_copy(run, id, &changed, run.module[id].shape().clone());
    run.module.attributes_mut(new).set(AttributeKey::Dimensions, dims);
    replace(run, id, new, "reduces neighbouring dimensions as one");
}
