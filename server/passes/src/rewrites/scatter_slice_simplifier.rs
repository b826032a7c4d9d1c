//! `scatter-slice-simplifier`: scatters into what slices behind a scatter leave of it.
//!
//! Source: XLA `hlo/transforms/simplifiers/scatter_slice_simplifier.cc`.

use ir::{Shape, is_elementwise};
use rustc_hash::{FxHashMap, FxHashSet};
use syntax::hlo::{AttributeKey, Opcode};

use super::every::{add, add_copy, every};
use super::scatter_simplifier::is_simple;
use crate::driver::{Run, Stop};
use crate::module::{InstructionId, Module, NewOp};
use crate::shapes::of_element;

pub(super) fn run(run: &mut Run<'_>) -> Result<(), Stop> {
    every(run, |run, id| {
        if run.module[id].opcode() != Opcode::Scatter || !is_simple(run, id) {
            return;
        }
        let Some((sizes, users)) = truncated(run.module, id) else { return };
        if users.iter().chain([&id]).any(|&user| run.module[user].has_control_dependencies()) {
            return;
        }
        run.changed(id, "scatters into what is sliced of it");
        rewrite(run, id, &sizes, &users);
    });
    Ok(())
}

/// The sizes that all slices behind a scatter agree on, and what lies between, operands first, slices too. `None` where something
/// else is behind the scatter, or where a window of updates might lie across a limit.
fn truncated(module: &Module, scatter: InstructionId) -> Option<(Vec<i64>, Vec<InstructionId>)> {
    let count = module[scatter].operands().len() / 2;
    let whole = module[module.operand(scatter, 0)].dims();
    let updates = module[module.operand(scatter, count + 1)].dims();
    let mut sizes = whole.to_vec();
    let mut seen = FxHashSet::default();
    let mut open = vec![scatter];
    while let Some(id) = open.pop() {
        cancel::tick();
        if module.is_root(id) {
            return None;
        }
        for &user in module[id].users() {
            match module[user].opcode() {
                Opcode::Slice => {
                    let part = module[user].attributes().triples(AttributeKey::Slice);
                    for (dim, &[start, limit, stride]) in part.iter().enumerate() {
                        if start != 0 || stride != 1 {
                            return None;
                        }
                        let (size, whole) = (sizes.get_mut(dim)?, *whole.get(dim)?);
                        if limit != *size {
                            if *size != whole || updates.get(dim + 1) != Some(&1) {
                                return None;
                            }
                            *size = limit;
                        }
                    }
                    seen.insert(user);
                }
                opcode if is_elementwise(opcode) || opcode == Opcode::GetTupleElement => {
                    if seen.insert(user) {
                        open.push(user);
                    }
                }
                _ => return None,
            }
        }
    }
    let order = module.post_order(module[scatter].parent());
    let between: Vec<_> = order.into_iter().filter(|id| seen.contains(id)).collect();
    let is_cut = between.iter().any(|&id| module[id].opcode() == Opcode::Slice);
    is_cut.then_some((sizes, between))
}

fn rewrite(run: &mut Run<'_>, scatter: InstructionId, sizes: &[i64], users: &[InstructionId]) {
    let operands = run.module[scatter].operands().to_vec();
    let count = operands.len() / 2;
    let mut cut: Vec<InstructionId> =
        operands[..count].iter().map(|&operand| slice(run, operand, sizes)).collect();
    let of =
        |run: &Run<'_>, id: InstructionId| of_element(run.module[id].shape(), sizes).unwrap_or(Shape::Opaque);
    let shape = match run.module[scatter].shape() {
        Shape::Tuple(_) => Shape::tuple(cut.iter().map(|&operand| run.module[operand].shape().clone())),
        _ => of(run, scatter),
    };
    cut.extend_from_slice(&operands[count..]);
    let new = add_copy(run, scatter, &cut, shape);
    let mut becomes = FxHashMap::from_iter([(scatter, new)]);
    for &user in users {
        let operands = run.module[user].operands().to_vec();
        let new = match run.module[user].opcode() {
            Opcode::Slice => {
                let value = becomes[&operands[0]];
                run.module.replace(user, value);
                continue;
            }
            Opcode::GetTupleElement => {
                let index = run.module[user].attributes().int(AttributeKey::Index).unwrap_or(0);
                run.module.add_element(becomes[&operands[0]], index)
            }
            _ => {
                let operands: Vec<InstructionId> = operands
                    .iter()
                    .map(|operand| {
                        becomes.get(operand).copied().unwrap_or_else(|| slice(run, *operand, sizes))
                    })
                    .collect();
                let shape = of(run, user);
                add_copy(run, user, &operands, shape)
            }
        };
        becomes.insert(user, new);
    }
}

/// The first elements of an array, so many per dimension.
fn slice(run: &mut Run<'_>, operand: InstructionId, sizes: &[i64]) -> InstructionId {
    let shape = of_element(run.module[operand].shape(), sizes).unwrap_or(Shape::Opaque);
    let part: Vec<[i64; 3]> = sizes.iter().map(|&size| [0, size, 1]).collect();
    add(run, operand, NewOp::new(Opcode::Slice, shape, &[operand]).with(AttributeKey::Slice, part))
}
