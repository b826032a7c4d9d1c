//! Sinks the last common instructions of a branch's arms below their join. For loads at different addresses,
//! the address is selected, and one load remains. Source: LLVM's `SinkCommonCodeFromPredecessors`.

mod meetings;
mod plan;

use rustc_hash::{FxHashMap, FxHashSet};

use super::code::Code;
use super::machine::{Inst, Kind, Label, Operand, Reg};
use plan::Plan;

/// Moves the common instructions of the arms of branches after the label at which they join, innermost
/// branches first.
pub(crate) fn sink(code: &mut Code) {
    let insts = meetings::joined(std::mem::take(&mut code.insts));
    let mut sinking = Sinking::of(code, &insts);
    for inst in insts {
        let meeting = match inst.kind {
            Kind::Label(label) => sinking.meeting(label),
            _ => None,
        };
        sinking.push(inst);
        if let Some(meeting) = meeting {
            sinking.meet(meeting);
        }
    }
    let Sinking { out, dropped, mut before, .. } = sinking;
    for (n, inst) in out.into_iter().enumerate() {
        code.insts.extend(before.remove(&n).unwrap_or_default());
        if !dropped.contains(&n) {
            code.insts.push(inst);
        }
    }
}

/// Straight-line code that ends at a join: the positions of its first instruction, and after its last.
#[derive(Debug, Clone, Copy)]
struct Arm {
    start: usize,
    end: usize,
}

/// The join of the arms of a branch.
struct Meeting {
    arms: Vec<Arm>,
    /// Registers that each arm assigns, and the positions of the assignments.
    moved: Vec<(Reg, Vec<usize>)>,
}

struct Sinking<'c> {
    code: &'c mut Code,
    uses: FxHashMap<Reg, u32>,
    writes: FxHashMap<Reg, u32>,
    /// The instructions so far, those that were moved elsewhere, and those to insert before others.
    out: Vec<Inst>,
    dropped: FxHashSet<usize>,
    before: FxHashMap<usize, Vec<Inst>>,
    /// The start of the current straight-line code.
    start: usize,
    /// Per label, arms that end in a jump to it; `None` if it is also reached in another way.
    jumps: FxHashMap<Label, Option<Vec<Arm>>>,
    /// The position at which a register with one assignment is written.
    made: FxHashMap<Reg, usize>,
    /// The arms of the current join, and the values that they assign so far.
    arms: Vec<Arm>,
    chosen: FxHashMap<Vec<Operand>, Reg>,
}

impl<'c> Sinking<'c> {
    fn of(code: &'c mut Code, insts: &[Inst]) -> Sinking<'c> {
        let mut uses: FxHashMap<Reg, u32> = FxHashMap::default();
        let mut writes: FxHashMap<Reg, u32> = FxHashMap::default();
        for inst in insts {
            for operand in inst.reads() {
                if let Operand::Reg(reg) = operand {
                    *uses.entry(reg).or_default() += 1;
                }
            }
            inst.to.iter().for_each(|&reg| *writes.entry(reg).or_default() += 1);
        }
        Sinking {
            code,
            uses,
            writes,
            out: Vec::with_capacity(insts.len()),
            dropped: FxHashSet::default(),
            before: FxHashMap::default(),
            start: 0,
            jumps: FxHashMap::default(),
            made: FxHashMap::default(),
            arms: Vec::new(),
            chosen: FxHashMap::default(),
        }
    }

    fn push(&mut self, inst: Inst) {
        let place = self.out.len();
        if let Kind::Branch { target, guard } = inst.kind {
            let arms = self.jumps.entry(target).or_insert_with(|| Some(Vec::new()));
            match (guard, &mut *arms) {
                (None, Some(arms)) => arms.push(Arm { start: self.start, end: place }),
                _ => *arms = None,
            }
        }
        if inst.is_boundary() {
            self.start = place + 1;
        }
        if let [reg] = inst.to.as_slice() {
            self.made.insert(*reg, place);
        }
        self.out.push(inst);
    }

    /// The join at a label. `None` if the label is reached in another way than by the ends of at least two
    /// arms.
    fn meeting(&mut self, label: Label) -> Option<Meeting> {
        let mut arms = self.jumps.remove(&label)??;
        let place = self.out.len();
        let is_left = |inst: &Inst| matches!(inst.kind, Kind::Branch { guard: None, .. } | Kind::Return);
        if self.out.last().is_some_and(|last| !is_left(last)) {
            arms.push(Arm { start: self.start, end: place });
        }
        if arms.len() < 2 {
            return None;
        }
        let given = |arm: &Arm| -> Vec<(Reg, usize)> {
            let is_move = |n: &usize| matches!(self.out[*n].kind, Kind::Move { .. });
            let tail = (arm.start..arm.end).rev().filter(|n| !self.dropped.contains(n)).take_while(is_move);
            tail.map(|n| (self.out[n].to[0], n)).collect()
        };
        let given: Vec<FxHashMap<Reg, usize>> =
            arms.iter().map(|arm| given(arm).into_iter().collect()).collect();
        let (first, others) = given.split_first()?;
        let moved = first.iter().filter_map(|(reg, &at)| {
            let others = others.iter().map(|arm| arm.get(reg).copied());
            Some((*reg, std::iter::once(Some(at)).chain(others).collect::<Option<Vec<usize>>>()?))
        });
        let mut moved: Vec<(Reg, Vec<usize>)> = moved.collect();
        moved.sort_unstable_by_key(|(_, places)| places[0]);
        Some(Meeting { arms, moved })
    }

    /// Emits the common code after the label that was just written.
    fn meet(&mut self, Meeting { arms, moved }: Meeting) {
        self.arms = arms;
        self.chosen.clear();
        let mut before: Vec<Vec<Inst>> = vec![Vec::new(); self.arms.len()];
        for (to, moves) in moved {
            if self.writes.get(&to) != Some(&(moves.len() as u32)) {
                continue;
            }
            let from: Vec<Operand> = moves.iter().map(|&at| self.moved(at)).collect();
            let plan = self.plan(&from, 0);
            if !matches!(plan, Plan::Choose(_) | Plan::Same(_)) {
                self.dropped.extend(moves);
                self.carry_out(plan, Some(to), &mut before);
                self.writes.insert(to, 1);
            }
        }
        for (arm, insts) in std::mem::take(&mut self.arms).into_iter().zip(before) {
            self.before.entry(arm.end).or_default().extend(insts);
        }
    }
}
