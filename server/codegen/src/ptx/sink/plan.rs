//! The common instructions at the ends of arms, and the values that each arm still assigns.

use ptx::{Name, Type};

use super::super::machine::{Address, Class, Inst, Kind, Operand, Reg, Space};
use super::{Arm, Sinking};

/// The maximum depth of nested instructions that is examined.
const MAX_DEPTH: u32 = 8;

/// How the arms' values are merged.
pub(super) enum Plan {
    /// The value is the same in each arm.
    Same(Operand),
    /// Each arm assigns its value to a common register.
    Choose(Vec<Operand>),
    /// One instruction replaces those of the arms, which are at `places`.
    Once { places: Vec<usize>, operands: Vec<Plan> },
    /// One load replaces those of the arms, with a selected address.
    Load { places: Vec<usize> },
}

impl Sinking<'_> {
    pub(super) fn moved(&self, at: usize) -> Operand {
        match self.out[at].kind {
            Kind::Move { from } => from,
            _ => Operand::Int(0),
        }
    }

    pub(super) fn plan(&self, values: &[Operand], depth: u32) -> Plan {
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
            Kind::Pure { opcode, from } => {
                let operands = |&n: &usize| match &self.out[n].kind {
                    Kind::Pure { opcode: own, from: operands } => {
                        (own == opcode && operands.len() == from.len()).then_some(operands)
                    }
                    _ => None,
                };
                let Some(operands) = places.iter().map(operands).collect::<Option<Vec<_>>>() else {
                    return choose();
                };
                let plan =
                    |n: usize| self.plan(&operands.iter().map(|own| own[n]).collect::<Vec<_>>(), depth + 1);
                let plans: Vec<Plan> = (0..from.len()).map(plan).collect();
                // One saved instruction pays for one choice, of registers.
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

    /// The position at which an arm computes a value without other uses.
    fn made_in(&self, value: Operand, arm: Arm) -> Option<usize> {
        let Operand::Reg(reg) = value else { return None };
        if self.uses.get(&reg) != Some(&1) {
            return None;
        }
        let place = self.made.get(&reg).copied().filter(|&n| (arm.start..arm.end).contains(&n))?;
        let is_made = matches!(self.out[place].kind, Kind::Pure { .. } | Kind::Load { .. });
        (is_made && self.writes.get(&reg) == Some(&1)).then_some(place)
    }

    /// Emits the common instruction after the join, and the assignments at the end of each arm.
    pub(super) fn carry_out(&mut self, plan: Plan, to: Option<Reg>, before: &mut [Vec<Inst>]) -> Operand {
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
                // An offset that is the same in each arm is added after the join.
                let is_same = addresses.iter().all(|own| own.offset == first.offset);
                let bases = addresses.iter().zip(before.iter_mut()).map(|(own, before)| {
                    if is_same || own.offset == 0 {
                        return own.base;
                    }
                    let moved = self.code.reg(Class::B64);
                    let from = vec![own.base, Operand::Int(own.offset)];
                    let kind = Kind::Pure { opcode: Name::Add.of(Type::S64), from };
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

    /// The register to which each arm assigns its value.
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
