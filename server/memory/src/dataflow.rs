//! Which value each slot holds: the one that it defines, or that of another slot.
//!
//! A slot that control flow reaches from several places defines a value of its own where these places hold different ones.
//! Source: `hlo/analysis/hlo_dataflow_analysis.cc` in its SSA form, in which a bitcast defines nothing. XLA adds such
//! values while it propagates and merges them later; the result is the same as the greatest solution computed here.

use ir::{AttributeKey, Opcode, Shape};

use crate::program::{Id, Program};
use crate::schedule::Schedule;
use crate::slots::{Slot, Slots};

/// Index of a value, in XLA's order: what instructions define, then what control flow joins.
pub type ValueId = u32;

#[derive(Debug, Clone)]
pub(crate) struct Value {
    /// Where it is defined.
    pub(crate) slot: Slot,
    /// Other slots that hold it, in order.
    pub(crate) positions: Vec<Slot>,
}

/// An operand that uses a value: `slot` is the place in operand number `operand` of `user`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Use {
    pub(crate) user: Id,
    pub(crate) operand: u32,
    pub(crate) slot: Slot,
}

#[derive(Debug, Default)]
pub(crate) struct Dataflow {
    pub(crate) values: Vec<Value>,
    /// The first of those that control flow joins.
    first_joined: ValueId,
    /// Per slot.
    of_slot: Vec<Option<ValueId>>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Source {
    /// Not part of the program's steps.
    Nothing,
    Defines,
    Same(Slot),
    /// Whichever of these slots control flow comes from.
    Joins(Vec<Slot>),
}

impl Dataflow {
    pub(crate) fn of(program: &Program, slots: &Slots, schedule: &Schedule) -> Dataflow {
        let mut sources = Sources { program, slots, of: vec![Source::Nothing; slots.len()] };
        for &id in &schedule.order {
            cancel::tick();
            sources.add(id);
        }
        let order: Vec<Slot> = schedule.order.iter().flat_map(|&id| slots.of_instruction(id)).collect();
        let held = solve(&sources.of, &order);
        Dataflow::number(program, slots, schedule, &sources.of, &held)
    }

    fn number(
        program: &Program,
        slots: &Slots,
        schedule: &Schedule,
        sources: &[Source],
        held: &[Option<Slot>],
    ) -> Dataflow {
        let mut dataflow = Dataflow { of_slot: vec![None; held.len()], ..Dataflow::default() };
        let order = post_order(program, schedule.computations.iter());
        let in_order = || order.iter().flat_map(|&id| slots.of_instruction(id));
        for is_joined in [false, true] {
            dataflow.first_joined = dataflow.values.len() as ValueId;
            for slot in in_order() {
                let joins = matches!(sources[slot as usize], Source::Joins(_));
                if held[slot as usize] == Some(slot) && joins == is_joined {
                    dataflow.of_slot[slot as usize] = Some(dataflow.values.len() as ValueId);
                    dataflow.values.push(Value { slot, positions: Vec::new() });
                }
            }
        }
        for (slot, &definition) in held.iter().enumerate() {
            if let Some(definition) = definition.filter(|&definition| definition != slot as Slot) {
                let value = dataflow.of_slot[definition as usize];
                dataflow.of_slot[slot] = value;
                if let Some(value) = value {
                    dataflow.values[value as usize].positions.push(slot as Slot);
                }
            }
        }
        dataflow
    }

    /// The value in a slot; `None` outside the program's steps.
    pub(crate) fn at(&self, slot: Slot) -> Option<ValueId> {
        self.of_slot[slot as usize]
    }

    /// Whether a value is what control flow from several places joins.
    pub(crate) fn is_joined(&self, id: ValueId) -> bool {
        id >= self.first_joined
    }

    pub(crate) fn value(&self, id: ValueId) -> &Value {
        &self.values[id as usize]
    }

    /// The slot that defines a value, and all others that hold it.
    pub(crate) fn positions(&self, id: ValueId) -> impl Iterator<Item = Slot> + '_ {
        let value = self.value(id);
        std::iter::once(value.slot).chain(value.positions.iter().copied())
    }

    /// Operands that read a value. Passing it on inside a tuple is no use, unless that tuple is the result of a
    /// computation. Source: `HloValue::ComputeUses`.
    pub(crate) fn uses(&self, program: &Program, slots: &Slots, id: ValueId) -> Vec<Use> {
        let mut uses = Vec::new();
        for slot in self.positions(id) {
            let owner = slots.owner(slot);
            for &user in &program.instruction(owner).users {
                let instruction = program.instruction(user);
                let reads = match instruction.opcode {
                    Some(Opcode::GetTupleElement | Opcode::Copy) => slots.is_top(slot),
                    Some(Opcode::Tuple | Opcode::Domain) => false,
                    _ => true,
                };
                let is_result = || {
                    program.is_root(user)
                        && slots.of_instruction(user).any(|slot| self.of_slot[slot as usize] == Some(id))
                };
                if !reads && !is_result() {
                    continue;
                }
                for (operand, &of) in instruction.operands.iter().enumerate() {
                    if of == owner {
                        uses.push(Use { user, operand: operand as u32, slot });
                    }
                }
            }
        }
        uses
    }
}

/// The instructions of some computations, one computation after the other, operands before users.
pub(crate) fn post_order<'a>(program: &Program, computations: impl Iterator<Item = &'a u32>) -> Vec<Id> {
    let own = computations.flat_map(|&computation| &program.computations[computation as usize].instructions);
    let unused = own.copied().filter(|&id| program.instruction(id).users.is_empty());
    gpu::operands_first(program.instructions.len(), unused, |id| &program.instruction(id).operands)
}

/// Per slot, the slot that defines what it holds. Starts from "anything" for what is joined and lowers it where two
/// definitions meet, so that a loop that passes a value on unchanged holds that value.
fn solve(sources: &[Source], order: &[Slot]) -> Vec<Option<Slot>> {
    let mut held: Vec<Option<Slot>> = vec![None; sources.len()];
    loop {
        let mut has_changed = false;
        for &slot in order {
            cancel::tick();
            let new = match &sources[slot as usize] {
                Source::Nothing => None,
                Source::Defines => Some(slot),
                Source::Same(of) => held[*of as usize],
                // What was lowered once stays lowered.
                Source::Joins(_) if held[slot as usize] == Some(slot) => Some(slot),
                Source::Joins(of) => {
                    let mut known = of.iter().filter_map(|&of| held[of as usize]);
                    let first = known.next();
                    if known.any(|other| Some(other) != first) { Some(slot) } else { first }
                }
            };
            if new.is_some() && held[slot as usize] != new {
                held[slot as usize] = new;
                has_changed = true;
            }
        }
        if !has_changed {
            return held;
        }
    }
}

struct Sources<'a> {
    program: &'a Program,
    slots: &'a Slots,
    of: Vec<Source>,
}

impl Sources<'_> {
    /// Where the slots of an instruction have their values from.
    fn add(&mut self, id: Id) {
        use Opcode::{
            AddDependency, AllGatherDone, AllGatherStart, AllReduceDone, AsyncDone, AsyncStart, AsyncUpdate,
            Bitcast, Call, CollectivePermuteDone, CollectivePermuteStart, Conditional, Copy, CopyDone,
            CopyStart, Domain, GetTupleElement, OptBarrier, Parameter, RecvDone, Send, Tuple, While,
        };
        let top = self.slots.top(id);
        let all = self.slots.of_instruction(id);
        self.of[all.start as usize..all.end as usize].fill(Source::Defines);
        let instruction = self.program.instruction(id);
        let operand = |n: usize| instruction.operands.get(n).map(|&of| self.slots.top(of));
        let Some(opcode) = instruction.opcode else { return };
        match opcode {
            Bitcast | AddDependency | Domain | OptBarrier | AllReduceDone => self.same(Some(top), operand(0)),
            Copy => self.elements(Some(top), operand(0)),
            GetTupleElement => {
                let element = operand(0).zip(instruction.number);
                let from = element.and_then(|(tuple, index)| self.slots.at(tuple, &[i64::from(index)]));
                self.same(Some(top), from);
            }
            Tuple => {
                for (n, &of) in instruction.operands.iter().enumerate() {
                    self.same(self.slots.at(top, &[n as i64]), Some(self.slots.top(of)));
                }
            }
            Parameter => self.parameter(id),
            Call => self.joins(top, &self.roots(id, &[AttributeKey::ToApply])),
            While => {
                let mut from = self.roots(id, &[AttributeKey::Body]);
                from.extend(operand(0));
                self.joins(top, &from);
            }
            Conditional => {
                use AttributeKey::{BranchComputations, FalseComputation, TrueComputation};
                self.joins(top, &self.roots(id, &[BranchComputations, TrueComputation, FalseComputation]));
            }
            AsyncStart => {
                for (n, &of) in instruction.operands.iter().enumerate() {
                    self.leaves(self.slots.at(top, &[0, n as i64]), Some(self.slots.top(of)));
                }
                self.leaves(self.slots.at(top, &[1]), self.wrapped_root(id));
            }
            AsyncUpdate => {
                self.leaves(Some(top), operand(0));
                self.leaves(self.slots.at(top, &[1]), self.wrapped_root(id));
            }
            AsyncDone => {
                let passed_on = operand(0).and_then(|of| self.slots.at(of, &[1]));
                self.leaves(Some(top), self.wrapped_root(id).or(passed_on));
            }
            CopyStart => self.same(self.slots.at(top, &[1]), operand(0)),
            CopyDone => self.same(Some(top), operand(0).and_then(|of| self.slots.at(of, &[0]))),
            AllGatherStart => match &instruction.operands[..] {
                [only] => self.leaves(self.slots.at(top, &[0]), Some(self.slots.top(*only))),
                several => {
                    for (n, &of) in several.iter().enumerate() {
                        self.leaves(self.slots.at(top, &[0, n as i64]), Some(self.slots.top(of)));
                    }
                }
            },
            AllGatherDone | CollectivePermuteDone => {
                self.leaves(Some(top), operand(0).and_then(|of| self.slots.at(of, &[1])));
            }
            CollectivePermuteStart => match &instruction.operands[..] {
                // With four operands it writes into the second one.
                [only] | [only, _, _, _] => {
                    self.leaves(self.slots.at(top, &[0]), Some(self.slots.top(*only)))
                }
                several => {
                    for (n, &of) in several.iter().enumerate() {
                        self.leaves(self.slots.at(top, &[0, n as i64]), Some(self.slots.top(of)));
                    }
                }
            },
            Send => self.same(self.slots.at(top, &[0]), operand(0)),
            RecvDone => {
                let to = self.slots.at(top, &[0]);
                self.same(to, operand(0).and_then(|of| self.slots.at(of, &[0])));
            }
            _ => {}
        }
    }

    /// The parameter of a computation that runs as steps holds what its callers pass.
    fn parameter(&mut self, id: Id) {
        let instruction = self.program.instruction(id);
        let computation = instruction.computation;
        let Some(number) = instruction.number.map(|number| number as usize) else { return };
        let mut from = Vec::new();
        for &caller in &self.program.computation_of(id).callers {
            let call = self.program.instruction(caller);
            let operand = |n: usize| call.operands.get(n).map(|&of| self.slots.top(of));
            match call.opcode {
                Some(Opcode::Call | Opcode::AsyncStart) => from.extend(operand(number)),
                Some(Opcode::While) => {
                    from.extend(operand(0));
                    from.extend(self.roots(caller, &[AttributeKey::Body]));
                }
                Some(Opcode::Conditional) => {
                    let branch = call.callees.iter().position(|&(_, callee)| callee == computation);
                    from.extend(branch.and_then(|branch| operand(branch + 1)));
                }
                _ => {}
            }
        }
        self.joins(self.slots.top(id), &from);
    }

    /// The results of the computations that these attributes of an instruction name.
    fn roots(&self, id: Id, keys: &[AttributeKey]) -> Vec<Slot> {
        let callees = self.program.instruction(id).callees.iter().filter(|(key, _)| keys.contains(key));
        callees.map(|&(_, callee)| self.slots.top(self.program.computations[callee as usize].root)).collect()
    }

    /// The result of the computation that an asynchronous instruction, or the start of its chain, wraps.
    fn wrapped_root(&self, id: Id) -> Option<Slot> {
        let start = crate::asynchronous::start(self.program, id)?;
        let (_, callee) = self.program.instruction(start).callees.first()?;
        Some(self.slots.top(self.program.computations[*callee as usize].root))
    }

    /// All slots of `to` hold what those of `from` hold.
    fn same(&mut self, to: Option<Slot>, from: Option<Slot>) {
        let (Some(to), Some(from)) = (to, from) else { return };
        let count = self.slots.extent(to).min(self.slots.extent(from));
        for n in 0..count {
            self.of[(to + n) as usize] = Source::Same(from + n);
        }
    }

    /// As [`Self::same`], but `to` defines the table of pointers itself.
    fn elements(&mut self, to: Option<Slot>, from: Option<Slot>) {
        self.same(to, from);
        if let Some(to) = to {
            self.of[to as usize] = Source::Defines;
        }
    }

    /// As [`Self::same`], but `to` defines the tables of pointers of all tuples in it.
    fn leaves(&mut self, to: Option<Slot>, from: Option<Slot>) {
        let (Some(to), Some(from)) = (to, from) else { return };
        let count = self.slots.extent(to).min(self.slots.extent(from));
        for n in 0..count {
            if !matches!(self.slots.shape(to + n), Shape::Tuple(_)) {
                self.of[(to + n) as usize] = Source::Same(from + n);
            }
        }
    }

    fn joins(&mut self, to: Slot, from: &[Slot]) {
        match from {
            [] => {}
            [only] => self.same(Some(to), Some(*only)),
            several => {
                let count = several.iter().map(|&from| self.slots.extent(from)).min().unwrap_or(0);
                for n in 0..count.min(self.slots.extent(to)) {
                    self.of[(to + n) as usize] = Source::Joins(several.iter().map(|from| from + n).collect());
                }
            }
        }
    }
}
