//! What is read of an array that nobody changes, at a place that does not depend on a loop, is read once, before it. Source:
//! LLVM's `LICM`, which hoists a load where every turn carries it out.

use rustc_hash::{FxHashMap, FxHashSet};

use super::code::Code;
use super::machine::{Inst, Kind, Label, Operand, Reg, Space};

/// Loops with more loads than so many keep them: each takes a register in all turns.
const MAX_HOISTED: usize = 64;

/// A kernel with more loops than so many keeps what is in the others.
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

/// The shortest loop that was not looked at: its label, and the places of that and of the branch back.
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

/// The instructions of a loop that are carried out in every turn with the same answer, and that loads need: those loads, too.
fn invariant(body: &[Inst]) -> FxHashSet<usize> {
    let mut inside: FxHashMap<Reg, u32> = FxHashMap::default();
    for inst in body {
        inst.to.iter().for_each(|&reg| *inside.entry(reg).or_default() += 1);
    }
    let labels: FxHashSet<Label> = body.iter().filter_map(label).collect();
    // Registers that are the same in all turns, and what makes them.
    let mut made: FxHashMap<Reg, usize> = FxHashMap::default();
    let mut loads: Vec<usize> = Vec::new();
    let mut skipped: FxHashSet<Label> = FxHashSet::default();
    for (n, inst) in body.iter().enumerate() {
        match &inst.kind {
            // Not on all ways from here to there; where the loop is left, to its end.
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
