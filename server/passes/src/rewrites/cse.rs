//! `cse`: merges instructions that compute the same value from the same operands, and equal constants.
//!
//! Source: XLA `service/hlo_cse.cc`.

use std::hash::{Hash, Hasher};

use rustc_hash::{FxHashMap, FxHasher};
use smallvec::SmallVec;
use syntax::hlo::{AttributeKey, Opcode};

use crate::driver::{Run, Stop};
use crate::module::{ComputationId, InstructionId, Module, is_commutative};

pub(super) fn run(run: &mut Run<'_>) -> Result<(), Stop> {
    merge_all(run, run.is_after_layout_assignment());
    Ok(())
}

/// Merges the equal instructions of each computation; with `with_layouts`, those of equal layouts.
pub(super) fn merge_all(run: &mut Run<'_>, with_layouts: bool) {
    // Within the pipeline that fuses, only what is fused already.
    let is_fusing = run.options.pipeline == "fusion";
    let callers = run.module.callers();
    for computation in run.module.computations() {
        let fusion = callers.get(&computation).and_then(|callers| callers.first().copied());
        let fusion = fusion.filter(|&caller| run.module[caller].opcode() == Opcode::Fusion);
        if is_fusing && fusion.is_none() {
            continue;
        }
        merge_constants(run, computation, with_layouts);
        merge(run, computation, with_layouts);
        if let Some(fusion) = fusion {
            merge_results(run, computation, fusion);
        }
    }
}

/// Merges each of `candidates` into the first one that it equals.
fn merge_constants(run: &mut Run<'_>, computation: ComputationId, with_layouts: bool) {
    let mut known: FxHashMap<u64, SmallVec<[InstructionId; 2]>> = FxHashMap::default();
    for id in run.module.instructions(computation) {
        if run.module[id].opcode() != Opcode::Constant {
            continue;
        }
        let alike = known.entry(run.module.op_hash(id)).or_default();
        match alike.iter().find(|&&other| run.module.is_same_op(other, id, with_layouts)) {
            None => alike.push(id),
            Some(&other) => merge_into(run, id, other),
        }
    }
}

fn merge_into(run: &mut Run<'_>, id: InstructionId, other: InstructionId) {
    run.changed(id, format!("merged into %{}, which is equal", run.module[other].name()));
    run.module.replace_all_uses(id, other);
    run.module.remove_with_operands(id);
}

fn merge(run: &mut Run<'_>, computation: ComputationId, with_layouts: bool) {
    let mut known: FxHashMap<u64, SmallVec<[InstructionId; 2]>> = FxHashMap::default();
    for id in run.module.post_order(computation) {
        cancel::tick();
        if run.module[id].is_removed() || !is_candidate(run.module, id) {
            continue;
        }
        let alike = known.entry(hash(run.module, id)).or_default();
        let is_equal = |other: &&InstructionId| {
            !run.module[**other].is_removed()
                && has_equal_operands(run.module, **other, id, with_layouts)
                && run.module.is_same_op(**other, id, with_layouts)
        };
        match alike.iter().find(is_equal) {
            Some(&other) => merge_into(run, id, other),
            None => {
                alike.push(id);
                merge_iotas(run, id, with_layouts);
            }
        }
    }
}

fn is_candidate(module: &Module, id: InstructionId) -> bool {
    let instruction = &module[id];
    let has_value = !instruction.operands().is_empty()
        || matches!(instruction.opcode(), Opcode::PartitionId | Opcode::ReplicaId);
    let frontend = instruction.attributes().text(AttributeKey::FrontendAttributes).unwrap_or_default();
    has_value && module.is_removable(id) && !frontend.contains("MUST_FUSE") && !module.has_side_effect(id)
}

/// Equal for instructions that may be merged.
fn hash(module: &Module, id: InstructionId) -> u64 {
    let mut hasher = FxHasher::default();
    module.op_hash(id).hash(&mut hasher);
    let is_iota = |operand: InstructionId| module[operand].opcode() == Opcode::Iota;
    let operands = module[id].operands().iter();
    let mut operands: SmallVec<[Option<InstructionId>; 4]> =
        operands.map(|&operand| Some(operand).filter(|_| !is_iota(operand))).collect();
    if is_commutative(module[id].opcode()) {
        operands.sort_unstable();
    }
    operands.hash(&mut hasher);
    hasher.finish()
}

fn has_equal_operands(module: &Module, a: InstructionId, b: InstructionId, with_layouts: bool) -> bool {
    let (left, right) = (module[a].operands(), module[b].operands());
    let is_equal = |a: InstructionId, b: InstructionId| a == b || is_equal_iota(module, a, b, with_layouts);
    let in_order = left.len() == right.len() && left.iter().zip(right).all(|(&a, &b)| is_equal(a, b));
    in_order
        || match (left, right) {
            (&[a0, a1], &[b0, b1]) if is_commutative(module[a].opcode()) => {
                is_equal(a0, b1) && is_equal(a1, b0)
            }
            _ => false,
        }
}

fn is_equal_iota(module: &Module, a: InstructionId, b: InstructionId, with_layouts: bool) -> bool {
    module[a].opcode() == Opcode::Iota
        && module[b].opcode() == Opcode::Iota
        && module.is_same_op(a, b, with_layouts)
}

/// Makes an instruction use one of several equal iotas.
fn merge_iotas(run: &mut Run<'_>, id: InstructionId, with_layouts: bool) {
    for first in 0..run.module[id].operands().len() {
        for second in first + 1..run.module[id].operands().len() {
            let (kept, other) = (run.module.operand(id, first), run.module.operand(id, second));
            if run.module[kept].opcode() != Opcode::Iota {
                break;
            }
            if kept != other && is_equal_iota(run.module, kept, other, with_layouts) {
                run.changed(other, format!("merged into %{}, which is equal", run.module[kept].name()));
                run.module.set_operand(id, second, kept);
                if run.module.is_dead(other) {
                    run.module.remove(other);
                }
            }
        }
    }
}

/// Lets the users of a fusion take each value where it is returned first.
fn merge_results(run: &mut Run<'_>, computation: ComputationId, fusion: InstructionId) {
    let root = run.module.root(computation);
    if run.module[root].opcode() != Opcode::Tuple {
        return;
    }
    let results = run.module[root].operands().to_vec();
    for user in run.module[fusion].users().to_vec() {
        let index = run.module[user].attributes().int(AttributeKey::Index);
        let result = index.and_then(|index| results.get(usize::try_from(index).ok()?));
        let first = result.and_then(|result| results.iter().position(|other| other == result));
        if run.module[user].opcode() == Opcode::GetTupleElement
            && let Some(first) = first.map(|first| first as i64)
            && Some(first) != index
        {
            run.changed(user, format!("takes element {first}, which is equal"));
            run.module.attributes_mut(user).set(AttributeKey::Index, first);
        }
    }
}
