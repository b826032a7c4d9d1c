//! `scatter_simplifier`: makes each scatter one of whole slices by a list of index vectors, with reshapes and transposes before it.
//!
//! Source: XLA `service/scatter_simplifier.cc`.

use syntax::hlo::{AttributeKey, Opcode};

use super::every::{add_copy, every, replace};
use super::index_shapes::{as_list, collapse_first, insert_units, transpose};
use crate::driver::{Run, Stop};
use crate::module::InstructionId;

pub(super) fn run(run: &mut Run<'_>) -> Result<(), Stop> {
    let mut unsupported = None;
    every(run, |run, id| {
        if run.module[id].opcode() != Opcode::Scatter || is_simple(run, id) {
            return;
        }
        if run.module[run.module.operand(id, 0)].dims().is_empty() {
            unsupported.get_or_insert_with(|| run.module[id].name().to_owned());
            return;
        }
        simplify(run, id);
    });
    match unsupported {
        Some(name) => Err(Stop::Unsupported(format!(
            "%{name} scatters into a scalar; XLA inlines it, which is not implemented"
        ))),
        None => Ok(()),
    }
}

/// Source: `ScatterSimplifier::IsSimplifiedScatter`.
pub(super) fn is_simple(run: &Run<'_>, id: InstructionId) -> bool {
    let (attributes, operands) = (run.module[id].attributes(), run.module[id].operands());
    let count = operands.len() / 2;
    let [operand, indices, updates] = [0, count, count + 1].map(|at| operands.get(at).copied().unwrap_or(id));
    let window = attributes.ints(AttributeKey::UpdateWindowDims);
    let rank = |id: InstructionId| run.module[id].dims().len();
    let is_simple = rank(operand) != 0
        && attributes.int(AttributeKey::IndexVectorDim).map(|dim| dim + 1) == Some(rank(indices) as i64)
        && rank(updates) <= window.len() + 1
        && !window.contains(&0)
        && window.is_sorted()
        && attributes.ints(AttributeKey::InsertedWindowDims).is_empty();
    is_simple || !attributes.ints(AttributeKey::InputBatchingDims).is_empty()
}

fn simplify(run: &mut Run<'_>, id: InstructionId) {
    let operands = run.module[id].operands().to_vec();
    let attributes = run.module[id].attributes().clone();
    let count = operands.len() / 2;
    let window = attributes.ints(AttributeKey::UpdateWindowDims);
    let inserted = attributes.ints(AttributeKey::InsertedWindowDims);
    let vector = attributes.int(AttributeKey::IndexVectorDim).unwrap_or(0);
    let mut changed = operands[..count].to_vec();
    changed.push(as_list(run, operands[count], vector));
    for &updates in &operands[count + 1..] {
        let rank = run.module[updates].dims().len() as i64;
        let places = (0..rank).filter(|dim| !window.contains(dim)).chain(window.iter().copied());
        let permutation: Vec<_> = places.collect();
        let mut updates = transpose(run, updates, &permutation);
        match rank as usize - window.len().min(rank as usize) {
            0 => updates = insert_units(run, updates, &[0]),
            1 => {}
            scattered => updates = collapse_first(run, updates, scattered),
        }
        if !inserted.is_empty() {
            let places: Vec<_> = inserted.iter().map(|dim| dim + 1).collect();
            updates = insert_units(run, updates, &places);
        }
        changed.push(updates);
    }
    let rank = (window.len() + inserted.len()) as i64;
    let shape = match operands[..count] {
        [operand] => run.module[operand].shape().clone(),
        _ => ir::Shape::tuple(operands[..count].iter().map(|&operand| run.module[operand].shape().clone())),
    };
    let new = add_copy(run, id, &changed, shape);
    let attributes = run.module.attributes_mut(new);
    attributes.set(AttributeKey::UpdateWindowDims, (1..=rank).collect::<Vec<_>>());
    attributes.set(AttributeKey::InsertedWindowDims, Vec::<i64>::new());
    attributes.set(AttributeKey::IndexVectorDim, 1);
    replace(run, id, new, "scatters whole slices by a list of index vectors");
}
