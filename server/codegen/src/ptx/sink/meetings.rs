//! Joins of arms that only pass their values on to another join: the arms branch to the second join directly.
//! Source: LLVM's `TryToSimplifyUncondBranchFromEmptyBlock`.

use rustc_hash::{FxHashMap, FxHashSet};

use super::super::machine::{Inst, Kind, Label, Operand, Reg};

/// Removes such joins. Common code is searched afterwards, so it must be common to all arms.
pub(super) fn joined(insts: Vec<Inst>) -> Vec<Inst> {
    let mut joining = Joining::of(&insts);
    let mut rest = insts.into_iter().peekable();
    let mut held: Vec<Inst> = Vec::new();
    while let Some(inst) = rest.next() {
        let Kind::Label(label) = inst.kind else {
            joining.push(inst);
            continue;
        };
        while let Some(next) = rest.next_if(|next| matches!(next.kind, Kind::Move { from: Operand::Reg(_) }))
        {
            held.push(next);
        }
        let goal = rest.peek().map(|next| next.kind.clone());
        let is_passage = match &goal {
            Some(Kind::Branch { target, guard: None } | Kind::Label(target)) => {
                joining.lead_on(label, *target, &held)
            }
            _ => false,
        };
        if is_passage {
            held.clear();
            // Falling through leads to the same target, and nothing else reaches this position.
            if matches!(goal, Some(Kind::Branch { .. })) && !joining.falls() {
                rest.next();
            }
            continue;
        }
        joining.push(inst);
        held.drain(..).for_each(|inst| joining.push(inst));
    }
    joining.out
}

struct Joining {
    out: Vec<Inst>,
    /// The number of reads of each register.
    reads: FxHashMap<Reg, u32>,
    /// Labels that are targets of conditional branches.
    guarded: FxHashSet<Label>,
    /// Per label, the positions of jumps to it.
    jumps: FxHashMap<Label, Vec<usize>>,
}

impl Joining {
    fn of(insts: &[Inst]) -> Joining {
        let mut reads: FxHashMap<Reg, u32> = FxHashMap::default();
        let mut guarded = FxHashSet::default();
        for inst in insts {
            for operand in inst.reads() {
                if let Operand::Reg(reg) = operand {
                    *reads.entry(reg).or_default() += 1;
                }
            }
            if let Kind::Branch { target, guard: Some(_) } = inst.kind {
                guarded.insert(target);
            }
        }
        Joining { out: Vec::with_capacity(insts.len()), reads, guarded, jumps: FxHashMap::default() }
    }

    fn push(&mut self, inst: Inst) {
        if let Kind::Branch { target, .. } = inst.kind {
            self.jumps.entry(target).or_default().push(self.out.len());
        }
        self.out.push(inst);
    }

    /// Whether the next instruction is reached from the last one.
    fn falls(&self) -> bool {
        let is_left = |inst: &Inst| matches!(inst.kind, Kind::Branch { guard: None, .. } | Kind::Return);
        self.out.last().is_some_and(|last| !is_left(last))
    }

    /// Redirects all arms that join at `label` to `target`, with the assignments `moves`. Returns false, and
    /// changes nothing, if the arms assign other registers or arrive in another way.
    fn lead_on(&mut self, label: Label, target: Label, moves: &[Inst]) -> bool {
        let handed = moves.iter().filter_map(|inst| match (&inst.kind, inst.to.as_slice()) {
            (Kind::Move { from: Operand::Reg(from) }, [to]) => Some((*from, *to)),
            _ => None,
        });
        let handed: FxHashMap<Reg, Reg> = handed.collect();
        let is_plain = handed.len() == moves.len()
            && !handed.is_empty()
            && handed.iter().all(|(from, to)| self.reads.get(from) == Some(&1) && !handed.contains_key(to));
        if !is_plain || target == label || self.guarded.contains(&label) {
            return false;
        }
        let jumps = self.jumps.get(&label).cloned().unwrap_or_default();
        let arms = jumps.iter().copied().chain(self.falls().then_some(self.out.len()));
        let Some(brought) = arms.map(|end| self.brought(end, &handed)).collect::<Option<Vec<_>>>() else {
            return false;
        };
        if jumps.is_empty() {
            return false;
        }
        for at in brought.into_iter().flatten() {
            for to in &mut self.out[at].to {
                *to = handed.get(to).copied().unwrap_or(*to);
            }
        }
        for &at in &jumps {
            if let Kind::Branch { target: goal, .. } = &mut self.out[at].kind {
                *goal = target;
            }
        }
        self.jumps.entry(target).or_default().extend(jumps);
        true
    }

    /// The positions of the moves just above `end` that assign each of the registers.
    fn brought(&self, end: usize, registers: &FxHashMap<Reg, Reg>) -> Option<Vec<usize>> {
        let is_brought = |n: &usize| {
            let Inst { kind, to, .. } = &self.out[*n];
            matches!(kind, Kind::Move { .. }) && to.iter().all(|reg| registers.contains_key(reg))
        };
        let found: Vec<usize> = (0..end).rev().take_while(is_brought).collect();
        let given: FxHashSet<Reg> = found.iter().flat_map(|&n| self.out[n].to.iter().copied()).collect();
        (given.len() == registers.len() && found.len() == registers.len()).then_some(found)
    }
}
