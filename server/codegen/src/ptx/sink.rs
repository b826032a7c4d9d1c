//! What all arms of a branch do last is done once, behind them: of loads at different places, the place is chosen, and one
//! load is left. Source: LLVM's `SinkCommonCodeFromPredecessors`.

use rustc_hash::{FxHashMap, FxHashSet};

use super::code::Code;
use super::machine::{Address, Class, Inst, Kind, Label, Operand, Reg, Space};

/// Instructions within instructions that are looked at.
const MAX_DEPTH: u32 = 8;

/// Moves what the arms of branches have in common behind the label where they meet, innermost branches first.
pub(crate) fn sink(code: &mut Code) {
    let insts = std::mem::take(&mut code.insts);
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

/// Straight-line code that ends where arms meet: its first instruction, and the one behind its last.
#[derive(Debug, Clone, Copy)]
struct Arm {
    start: usize,
    end: usize,
}

/// Where arms of branches meet.
struct Meeting {
    arms: Vec<Arm>,
    /// Registers that each arm gives a value, and where.
    moved: Vec<(Reg, Vec<usize>)>,
}

/// How the arms' values become one.
enum Plan {
    /// It is the same in each.
    Same(Operand),
    /// Each arm brings its own in a register.
    Choose(Vec<Operand>),
    /// One instruction like those of the arms, which are at `places`.
    Once { places: Vec<usize>, operands: Vec<Plan> },
    /// One load of where each of them loads from.
    Load { places: Vec<usize> },
}

struct Sinking<'c> {
    code: &'c mut Code,
    uses: FxHashMap<Reg, u32>,
    writes: FxHashMap<Reg, u32>,
    /// What was written so far; what of that went elsewhere, and what came before others.
    out: Vec<Inst>,
    dropped: FxHashSet<usize>,
    before: FxHashMap<usize, Vec<Inst>>,
    /// Where the straight-line code that is being written starts.
    start: usize,
    /// Per label, arms that end in a jump to it; nothing where it is reached in another way, too.
    jumps: FxHashMap<Label, Option<Vec<Arm>>>,
    /// Where a register that is written once gets its value.
    made: FxHashMap<Reg, usize>,
    /// Arms that meet now, and what they brought already.
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

    /// Nothing where the label is reached in another way than by the ends of two arms or more.
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

    /// Behind the label that was just written.
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

    fn moved(&self, at: usize) -> Operand {
        match self.out[at].kind {
            Kind::Move { from } => from,
            _ => Operand::Int(0),
        }
    }

    fn plan(&self, values: &[Operand], depth: u32) -> Plan {
        let choose = || match values {
            [first, others @ ..] if others.iter().all(|other| other == first) => Plan::Same(*first),
            _ => Plan::Choose(values.to_vec()),
        };
        let made = values.iter().zip(&self.arms).map(|(&value, arm)| self.made_in(value, *arm));
        let Some(places) = made.collect::<Option<Vec<usize>>>().filter(|_| depth < MAX_DEPTH) else {
            return choose();
        };
        let Some(first) = places.first().map(|&n| &self.out[n]) else { return choose() };
        match &first.kind {
            Kind::Load { bits, .. } => {
                let is_alike = |&n: &usize| match &self.out[n].kind {
                    Kind::Load { address, bits: own, is_invariant: true } => {
                        own == bits && matches!(address.space, Space::Global(_))
                    }
                    _ => false,
                };
                if places.iter().all(is_alike) { Plan::Load { places } } else { choose() }
            }
            Kind::Pure { name, from } => {
                let operands = |&n: &usize| match &self.out[n].kind {
                    Kind::Pure { name: own, from: operands } => {
                        (own == name && operands.len() == from.len()).then_some(operands)
                    }
                    _ => None,
                };
                let Some(operands) = places.iter().map(operands).collect::<Option<Vec<_>>>() else {
                    return choose();
                };
                let plan =
                    |n: usize| self.plan(&operands.iter().map(|own| own[n]).collect::<Vec<_>>(), depth + 1);
                let plans: Vec<Plan> = (0..from.len()).map(plan).collect();
                // An instruction that is saved is worth one choice, of registers.
                let mut choices = plans.iter().filter_map(|plan| match plan {
                    Plan::Choose(values) => Some(values),
                    _ => None,
                });
                let is_register = |value: &Operand| matches!(value, Operand::Reg(_));
                match (choices.next(), choices.next()) {
                    (None, _) => Plan::Once { places, operands: plans },
                    (Some(values), None) if values.iter().any(is_register) => {
                        Plan::Once { places, operands: plans }
                    }
                    _ => choose(),
                }
            }
            _ => choose(),
        }
    }

    /// Where an arm makes a value that nothing else reads.
    fn made_in(&self, value: Operand, arm: Arm) -> Option<usize> {
        let Operand::Reg(reg) = value else { return None };
        if self.uses.get(&reg) != Some(&1) {
            return None;
        }
        let place = self.made.get(&reg).copied().filter(|&n| (arm.start..arm.end).contains(&n))?;
        let is_made = matches!(self.out[place].kind, Kind::Pure { .. } | Kind::Load { .. });
        (is_made && self.writes.get(&reg) == Some(&1)).then_some(place)
    }

    /// Writes what is done behind the arms, and what each brings at its end.
    fn carry_out(&mut self, plan: Plan, to: Option<Reg>, before: &mut [Vec<Inst>]) -> Operand {
        match plan {
            Plan::Same(value) => value,
            Plan::Choose(values) => self.choose(values, before).into(),
            Plan::Once { places, operands } => {
                let from: Vec<Operand> =
                    operands.into_iter().map(|plan| self.carry_out(plan, None, before)).collect();
                let mut inst = self.out[places[0]].clone();
                if let Kind::Pure { from: own, .. } = &mut inst.kind {
                    *own = from;
                }
                self.once(inst, places, to)
            }
            Plan::Load { places } => {
                let mut inst = self.out[places[0]].clone();
                let Kind::Load { address: first, bits, is_invariant } = inst.kind else {
                    return Operand::Int(0);
                };
                let addresses: Vec<Address> = places
                    .iter()
                    .filter_map(|&n| match self.out[n].kind {
                        Kind::Load { address, .. } => Some(address),
                        _ => None,
                    })
                    .collect();
                // A distance that is the same in each arm is added behind them.
                let is_same = addresses.iter().all(|own| own.offset == first.offset);
                let bases = addresses.iter().zip(before.iter_mut()).map(|(own, before)| {
                    if is_same || own.offset == 0 {
                        return own.base;
                    }
                    let moved = self.code.reg(Class::B64);
                    let from = vec![own.base, Operand::Int(own.offset)];
                    let kind = Kind::Pure { name: "add.s64".into(), from };
                    before.push(Inst { kind, to: vec![moved], origin: inst.origin });
                    moved.into()
                });
                let bases: Vec<Operand> = bases.collect();
                let pointer = self.choose(bases, before);
                let address = Address {
                    base: pointer.into(),
                    offset: if is_same { first.offset } else { 0 },
                    align: i64::from(bits / 8).max(1),
                    ..first
                };
                inst.kind = Kind::Load { address, bits, is_invariant };
                self.once(inst, places, to)
            }
        }
    }

    /// The register in which each arm brings its value.
    fn choose(&mut self, values: Vec<Operand>, before: &mut [Vec<Inst>]) -> Reg {
        if let Some(&chosen) = self.chosen.get(&values) {
            return chosen;
        }
        let class = values.iter().find_map(|value| match value {
            Operand::Reg(reg) => Some(reg.class),
            _ => None,
        });
        let chosen = self.code.reg(class.unwrap_or(Class::B32));
        for (before, &from) in before.iter_mut().zip(&values) {
            before.push(Inst { kind: Kind::Move { from }, to: vec![chosen], origin: None });
        }
        self.chosen.insert(values, chosen);
        chosen
    }

    fn once(&mut self, mut inst: Inst, places: Vec<usize>, to: Option<Reg>) -> Operand {
        self.dropped.extend(places);
        let to = to.unwrap_or_else(|| self.code.reg(inst.to[0].class));
        inst.to = vec![to];
        for operand in inst.reads() {
            if let Operand::Reg(reg) = operand {
                *self.uses.entry(reg).or_default() += 1;
            }
        }
        self.writes.insert(to, 1);
        self.push(inst);
        to.into()
    }
}
