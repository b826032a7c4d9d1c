//! `dot-merger`: computes products that share an operand as one product with the concatenation of the others.
//!
//! Source: XLA `hlo/transforms/simplifiers/dot_merger.cc`.

pub(super) mod categories;
mod choice;
pub(super) mod moves;

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;
use syntax::hlo::{AttributeKey, Opcode};

use super::every::add;
use crate::dimensions::with_dims;
use crate::driver::{Run, Stop};
use crate::module::{ComputationId, InstructionId, Module, NewOp};
use crate::shapes::of_element;
use categories::{Category, Operand};
use choice::{Choice, Usage};
use moves::Moves;

pub(super) fn run(run: &mut Run<'_>) -> Result<(), Stop> {
    for computation in run.module.non_fusion_computations() {
        merge_in(run, computation)?;
    }
    Ok(())
}

fn merge_in(run: &mut Run<'_>, computation: ComputationId) -> Result<(), Stop> {
    let mut choice = Choice::of(run.module, computation);
    let mut replacements: Vec<(InstructionId, InstructionId)> = Vec::new();
    let mut merged = Vec::new();
    while let Some(group) = choice.next_group(run.module) {
        let new = merge(run, &group, &mut replacements).ok_or_else(|| {
            let name = run.module[group[0].dot].name();
            Stop::Unsupported(format!(
                "%{name} is merged with other products after its dimensions are reordered; that is not implemented"
            ))
        })?;
        merged.push(new);
    }
    for &(old, new) in &replacements {
        run.changed(old, "is a part of a product with more columns");
        run.module.replace_all_uses(old, new);
    }
    for &(old, _) in &replacements {
        if !run.module[old].is_removed() {
            run.module.remove_with_operands(old);
        }
    }
    for dot in merged {
        for slice in run.module[dot].users().to_vec() {
            if run.module[slice].opcode() == Opcode::Slice {
                for user in run.module[slice].users().to_vec() {
                    shorten(run, slice, user);
                }
            }
        }
    }
    Ok(())
}

/// Merges dots. `None` where dimensions of the shared operand are reordered.
fn merge(
    run: &mut Run<'_>,
    group: &[Usage],
    replacements: &mut Vec<(InstructionId, InstructionId)>,
) -> Option<InstructionId> {
    let first = &group[0];
    let is_left = 2 * group.iter().filter(|usage| usage.side == 0).count() > group.len();
    let target = first.at_source.without_units().with_joined(Category::Contracting);
    let batch = target.sizes(Category::Batch);
    let contracting = target.sizes(Category::Contracting);
    for usage in group {
        let other = usage.other.without_units();
        let is_plain = usage.keeps_order
            && other.sizes(Category::Batch) == batch
            && contracting.len() == 1
            && usage.shared.without_units().sizes(Category::Batch) == batch;
        if !is_plain {
            return None;
        }
    }
    let source = first.source;
    let shape = of_element(run.module[source].shape(), &target.dims)?;
    let shared = match run.module[source].shape().dims() == target.dims {
        true => source,
        false => add(run, source, NewOp::new(Opcode::Reshape, shape, &[source])),
    };
    // The dimension that is last in memory stays there.
    let contracts_last = first.other.categories.last() == Some(&Category::Contracting);
    let mut parts = Vec::new();
    for usage in group {
        let mut moves =
            Moves::of_chain(run.module, usage.other_source, run.module.operand(usage.dot, 1 - usage.side))?;
        moves.transpose(&usage.other.order(contracts_last))?;
        let others = usage.other.size(Category::Free);
        let mut dims = batch.clone();
        match contracts_last {
            true => dims.extend([others, contracting[0]]),
            false => dims.extend([contracting[0], others]),
        }
        moves.reshape(&dims);
        parts.push(moves.add(run, usage.other_source)?);
    }
    let rank = batch.len();
    let at = if contracts_last { rank } else { rank + 1 };
    let sizes: Vec<i64> = parts.iter().map(|&part| run.module[part].dims()[at]).collect();
    let mut dims = run.module[parts[0]].dims().to_vec();
    dims[at] = sizes.iter().sum();
    let joined = with_dims(&of_element(run.module[parts[0]].shape(), &dims)?, dims);
    let other = add(run, source, NewOp::new(Opcode::Concatenate, joined, &parts).dimensions(&[at as i64]));
    let other_contracting = if contracts_last { rank + 1 } else { rank } as i64;
    let numbers = |category| target.indices(category).iter().map(|&dim| dim as i64).collect::<Vec<i64>>();
    let of_other: (Vec<i64>, Vec<i64>) = ((0..rank as i64).collect(), vec![other_contracting]);
    let of_shared = (numbers(Category::Batch), numbers(Category::Contracting));
    let (left, right) = if is_left { (of_shared, of_other) } else { (of_other, of_shared) };
    let free = target.sizes(Category::Free);
    let total: i64 = sizes.iter().sum();
    let mut dims = batch.clone();
    match is_left {
        true => dims.extend(free.iter().copied().chain([total])),
        false => dims.extend([total].into_iter().chain(free.iter().copied())),
    }
    let shape = of_element(run.module[first.dot].shape(), &dims)?;
    let operands = if is_left { [shared, other] } else { [other, shared] };
    let dot = run.module.add_copy(run.module[first.dot].parent(), first.dot, &operands);
    run.module.set_shape(dot, shape.clone());
    let attributes = run.module.attributes_mut(dot);
    for (key, dims) in [(AttributeKey::LhsBatchDims, left.0), (AttributeKey::RhsBatchDims, right.0)] {
        match dims.is_empty() {
            true => _ = attributes.remove(key),
            false => attributes.set(key, dims),
        }
    }
    attributes.set(AttributeKey::LhsContractingDims, left.1);
    attributes.set(AttributeKey::RhsContractingDims, right.1);
    let at = if is_left { dims.len() - 1 } else { rank };
    let mut start = 0;
    for (usage, size) in group.iter().zip(sizes) {
        let mut slices: Vec<[i64; 3]> = dims.iter().map(|&size| [0, size, 1]).collect();
        slices[at] = [start, start + size, 1];
        start += size;
        let mut of = dims.clone();
        of[at] = size;
        let slice = NewOp::new(Opcode::Slice, with_dims(&shape, of.clone()), &[dot]);
        let slice = add(run, dot, slice.with(AttributeKey::Slice, slices));
        let mut moves = Moves::new(&of);
        if is_left != (usage.side == 0) {
            // The operands have changed places.
            let count = if is_left { free.len() } else { 1 };
            let mut order: Vec<usize> = (0..of.len()).collect();
            order[rank..].rotate_left(count);
            moves.transpose(&order)?;
        }
        moves.reshape(run.module[usage.dot].dims());
        replacements.push((usage.dot, moves.add(run, slice)?));
    }
    Some(dot)
}

/// Replaces a chain of transposes and reshapes behind a slice by as few as possible.
fn shorten(run: &mut Run<'_>, slice: InstructionId, start: InstructionId) {
    let is_move = |run: &Run<'_>, id: InstructionId| {
        matches!(run.module[id].opcode(), Opcode::Transpose | Opcode::Reshape)
            && !run.module[id].has_control_dependencies()
    };
    let mut end = None;
    let mut next = start;
    while is_move(run, next) {
        end = Some(next);
        match *run.module[next].users() {
            [user] if !run.module.is_root(next) => next = user,
            _ => break,
        }
    }
    let Some(end) = end else { return };
    let Some(moves) = Moves::of_chain(run.module, slice, end) else { return };
    let Some(new) = moves.add(run, slice) else { return };
    run.module.replace_all_uses(end, new);
    run.module.remove_with_operands(end);
}

/// Instructions by their place in the order of creation.
fn ages(module: &Module, computation: ComputationId) -> FxHashMap<InstructionId, usize> {
    module.instructions(computation).into_iter().enumerate().map(|(age, id)| (id, age)).collect()
}

type Classes = BTreeMap<(usize, Vec<Category>, String), Vec<Usage>>;
type Sided<'a> = [(&'a Operand, InstructionId, bool); 2];
