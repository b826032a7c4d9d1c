//! Hoists loads from arrays that are not written, at addresses that do not depend on the loop. Source: LLVM's
//! `LICM`, which hoists a load if every iteration executes it.

use rustc_hash::{FxHashMap, FxHashSet};

use super::code::Code;
use super::machine::{Inst, Kind, Label, Operand, Reg, Space};

/// The maximum number of loads hoisted out of a loop, because each takes a register in all iterations; beyond
/// it, none are.
const MAX_HOISTED: usize = 64;

/// The maximum number of loops of a kernel that are processed.
const MAX_LOOPS: usize = 256;

/// Moves loads out of loops, innermost loops first.
pub(super) fn hoist(code: &mut Code) {
    let mut done: FxHashSet<Label> = FxHashSet::default();
    while done.len() < MAX_LOOPS
        && let Some((label, top, end)) = innermost(&code.insts, &done)
    {
        done.insert(label);
        let moved = invariant(&code.insts[top..=end]);
        if moved.is_empty() {
            continue;
        }
        let body: Vec<Inst> = code.insts.drain(top..=end).collect();
        let (mut before, mut inside) = (Vec::new(), Vec::new());
        for (n, inst) in body.into_iter().enumerate() {
            if moved.contains(&n) { before.push(inst) } else { inside.push(inst) }
        }
        before.append(&mut inside);
        code.insts.splice(top..top, before);
    }
}

/// The shortest loop that was not processed yet: its label, and the positions of the label and of the branch
/// back.
fn innermost(insts: &[Inst], done: &FxHashSet<Label>) -> Option<(Label, usize, usize)> {
    let mut labels: FxHashMap<Label, usize> = FxHashMap::default();
    let mut loops = Vec::new();
    for (at, inst) in insts.iter().enumerate() {
        match inst.kind {
            Kind::Label(label) => drop(labels.insert(label, at)),
            Kind::Branch { target, .. } if !done.contains(&target) => {
                loops.extend(labels.get(&target).map(|&top| (target, top, at)));
            }
            _ => {}
        }
    }
    loops.into_iter().min_by_key(|(_, top, end)| end - top)
}

/// The loop-invariant instructions that every iteration executes and that loads need, including those loads.
fn invariant(body: &[Inst]) -> FxHashSet<usize> {
    let mut inside: FxHashMap<Reg, u32> = FxHashMap::default();
    for inst in body {
        inst.to.iter().for_each(|&reg| *inside.entry(reg).or_default() += 1);
    }
    let labels: FxHashSet<Label> = body.iter().filter_map(label).collect();
    // Registers with the same value in all iterations, and the instructions that compute them.
    let mut made: FxHashMap<Reg, usize> = FxHashMap::default();
    let mut loads: Vec<usize> = Vec::new();
    let mut skipped: FxHashSet<Label> = FxHashSet::default();
    for (n, inst) in body.iter().enumerate() {
        match &inst.kind {
            // The code from here to the target is not always executed; if the branch leaves the loop, the
            // code to its end.
            Kind::Branch { target, .. } if n + 1 < body.len() => {
                if !labels.contains(target) {
                    break;
                }
                skipped.insert(*target);
            }
            Kind::Label(label) => drop(skipped.remove(label)),
            _ => {}
        }
        if !skipped.is_empty() {
            continue;
        }
        let is_load = match &inst.kind {
            Kind::Pure { .. } => false,
            Kind::Load { address, is_invariant: true, .. } if matches!(address.space, Space::Global(_)) => {
                true
            }
            _ => continue,
        };
        let is_same = |operand: &Operand| match operand {
            Operand::Reg(reg) => !inside.contains_key(reg) || made.contains_key(reg),
            _ => true,
        };
        if inst.to.iter().all(|reg| inside.get(reg) == Some(&1)) && inst.reads().iter().all(is_same) {
            made.extend(inst.to.iter().map(|&reg| (reg, n)));
            loads.extend(is_load.then_some(n));
        }
    }
    if loads.len() > MAX_HOISTED {
        return FxHashSet::default();
    }
    let mut moved: FxHashSet<usize> = FxHashSet::default();
    let mut open = loads;
    while let Some(n) = open.pop() {
        if !moved.insert(n) {
            continue;
        }
        let reads = body[n].reads();
        open.extend(reads.iter().filter_map(|operand| match operand {
            Operand::Reg(reg) => made.get(reg).copied(),
            _ => None,
        }));
    }
    moved
}

fn label(inst: &Inst) -> Option<Label> {
    match inst.kind {
        Kind::Label(label) => Some(label),
        _ => None,
    }
}
