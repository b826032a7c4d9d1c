//! Which instruction of a module without a schedule runs before another, and which value is defined before another.
//!
//! Source: `HloOrdering`, `DependencyHloOrdering`, `hlo/analysis/hlo_ordering.cc`.

use std::cell::RefCell;

use ir::{AttributeKey, Opcode};

use super::Copies;
use crate::dataflow::{Use, ValueId};
use crate::overwriting::Overwriting;
use crate::program::{Id, Program};

/// How one instruction runs relative to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Runs {
    Same,
    Before,
    /// Inside the other one, or in the condition of a loop with the other one in its body.
    BeforeEnd,
    After,
    /// In an earlier branch of a conditional.
    ExclusiveBefore,
    /// In a later branch of a conditional.
    ExclusiveAfter,
    Unordered,
}

/// The order that operands and control dependencies require.
pub(super) struct Dependencies<'a> {
    copies: &'a Copies<'a>,
    pub(super) overwriting: Overwriting<'a>,
    /// Per instruction, what it waits for: its operands and control predecessors.
    before: Vec<Vec<Id>>,
    /// Per instruction, its position with all of `before` in front of it.
    position: Vec<u32>,
    /// Per computation, its only caller.
    caller: Vec<Option<Id>>,
    /// Per computation, how many calls lead to it.
    depth: Vec<u32>,
    search: RefCell<Search>,
}

#[derive(Default)]
struct Search {
    /// Per instruction, the last search that reached it.
    seen: Vec<u32>,
    round: u32,
}

impl<'a> Dependencies<'a> {
    pub(super) fn new(copies: &'a Copies<'a>) -> Dependencies<'a> {
        let program = copies.program;
        let mut before: Vec<Vec<Id>> = program.instructions.iter().map(|one| one.operands.clone()).collect();
        for &(first, then) in &program.control {
            before[then as usize].push(first);
        }
        let all = 0..program.instructions.len() as Id;
        let order = gpu::operands_first(program.instructions.len(), all, |id| &before[id as usize]);
        let mut position = vec![0; program.instructions.len()];
        for (at, &id) in order.iter().enumerate() {
            position[id as usize] = at as u32;
        }
        let only = |callers: &[Id]| match *callers {
            [only] => Some(only),
            _ => None,
        };
        let caller: Vec<Option<Id>> = program.computations.iter().map(|one| only(&one.callers)).collect();
        let depth = depths(program, &caller);
        let search = Search { seen: vec![0; program.instructions.len()], round: 0 };
        let overwriting = copies.overwriting();
        Dependencies { copies, overwriting, before, position, caller, depth, search: search.into() }
    }

    /// Whether `b` depends on `a`, of the same computation.
    fn is_reached(&self, a: Id, b: Id) -> bool {
        let target = self.position[a as usize];
        if target >= self.position[b as usize] {
            return false;
        }
        let search = &mut *self.search.borrow_mut();
        search.round += 1;
        let mut open = vec![b];
        while let Some(id) = open.pop() {
            cancel::tick();
            for &before in &self.before[id as usize] {
                if before == a {
                    return true;
                }
                let is_new =
                    std::mem::replace(&mut search.seen[before as usize], search.round) != search.round;
                if is_new && self.position[before as usize] > target {
                    open.push(before);
                }
            }
        }
        false
    }

    /// The instructions of one computation that two instructions are, or call them.
    fn common(&self, mut a: Id, mut b: Id) -> Option<(Id, Id)> {
        let program = self.copies.program;
        loop {
            let [of_a, of_b] = [a, b].map(|id| program.instruction(id).computation as usize);
            if of_a == of_b {
                return Some((a, b));
            }
            // Callers are less deep, so this ends.
            if self.depth[of_a] >= self.depth[of_b] {
                a = self.caller[of_a]?;
            }
            if self.depth[of_b] >= self.depth[of_a] {
                b = self.caller[of_b]?;
            }
        }
    }

    /// Whether an instruction is in a computation, or in one that it leads to.
    pub(super) fn is_nested_in(&self, mut id: Id, computation: u32) -> bool {
        loop {
            let own = self.copies.program.instruction(id).computation;
            if own == computation {
                return true;
            }
            if self.depth[own as usize] <= self.depth[computation as usize] {
                return false;
            }
            let Some(caller) = self.caller[own as usize] else { return false };
            id = caller;
        }
    }

    pub(super) fn relation(&self, a: Id, b: Id) -> Runs {
        if a == b {
            return Runs::Same;
        }
        let Some((own_a, own_b)) = self.common(a, b) else { return Runs::Unordered };
        if own_a == own_b {
            let nested = |id: Id, computations: &[u32]| {
                computations.iter().position(|&computation| self.is_nested_in(id, computation))
            };
            match self.copies.program.instruction(own_a).opcode {
                Some(Opcode::While) => {
                    let condition = self.copies.called(own_a, &[AttributeKey::Condition]);
                    let body = self.copies.called(own_a, &[AttributeKey::Body]);
                    if nested(a, &condition).is_some() && nested(b, &body).is_some() {
                        return Runs::BeforeEnd;
                    }
                }
                Some(Opcode::Conditional) => {
                    let branches = self.copies.branches(own_a);
                    match (nested(a, &branches), nested(b, &branches)) {
                        (_, None) => return Runs::BeforeEnd,
                        (None, _) => return Runs::After,
                        (Some(a), Some(b)) if a < b => return Runs::ExclusiveBefore,
                        (Some(a), Some(b)) if b < a => return Runs::ExclusiveAfter,
                        _ => {}
                    }
                }
                _ => {}
            }
            return Runs::Unordered;
        }
        match () {
            () if self.is_reached(own_a, own_b) => Runs::Before,
            () if self.is_reached(own_b, own_a) => Runs::After,
            () => Runs::Unordered,
        }
    }

    /// Whether value `a` is defined before value `b`.
    pub(super) fn is_defined_before(&self, a: ValueId, b: ValueId) -> bool {
        let copies = self.copies;
        let program = copies.program;
        let [by_a, by_b] = [a, b].map(|value| copies.definition(value));
        let [of_a, of_b] = [by_a, by_b].map(|id| program.instruction(id));
        let is_parameter = |opcode: Option<Opcode>| opcode == Some(Opcode::Parameter);
        let is_of_entry = |of: &crate::program::Instruction| {
            is_parameter(of.opcode) && of.computation as usize == program.entry
        };
        if is_of_entry(of_b) {
            return false;
        }
        if is_of_entry(of_a) {
            return true;
        }
        let [joins_a, joins_b] = [a, b].map(|value| copies.dataflow.is_joined(value));
        // The state of a loop is there before all that its computations define; its result, after it.
        let [state_a, state_b] = [joins_a && is_parameter(of_a.opcode), joins_b && is_parameter(of_b.opcode)];
        if state_a && !state_b && self.is_nested_in(by_b, of_a.computation) {
            return true;
        }
        if state_b && self.is_nested_in(by_a, of_b.computation) {
            return false;
        }
        if joins_b {
            let inside = match of_b.opcode {
                Some(Opcode::While) => copies.called(by_b, &[AttributeKey::Body, AttributeKey::Condition]),
                Some(Opcode::Conditional) => copies.branches(by_b),
                _ => Vec::new(),
            };
            if inside.iter().any(|&computation| self.is_nested_in(by_a, computation)) {
                return true;
            }
        }
        matches!(self.relation(by_a, by_b), Runs::Before | Runs::BeforeEnd | Runs::ExclusiveBefore)
    }

    /// The first of the uses that may come after a value is defined.
    /// Source: `HloOrdering::UsesBeforeValueDefinition`.
    pub(super) fn use_after(&self, uses: &[Use], value: ValueId) -> Option<Use> {
        let mut has_escaped = false;
        uses.iter().copied().find(|one| !self.is_use_before(one, value, &mut has_escaped))
    }

    /// `has_escaped`: whether a value that is defined in a branch may come back into its conditional, in a loop around it.
    fn is_use_before(&self, one: &Use, value: ValueId, has_escaped: &mut bool) -> bool {
        let copies = self.copies;
        let definition = copies.definition(value);
        match self.relation(one.user, definition) {
            Runs::Before | Runs::BeforeEnd | Runs::ExclusiveBefore => return true,
            Runs::ExclusiveAfter if !*has_escaped => return true,
            Runs::Same => {
                let operand = copies.slots.owner(one.slot);
                let slot = copies.dataflow.value(value).slot;
                if self.overwriting.may_overwrite(operand, one.slot, definition, slot) {
                    return true;
                }
            }
            _ => {}
        }
        let nested = |computations: &[u32]| {
            computations.iter().any(|&computation| self.is_nested_in(definition, computation))
        };
        let user = copies.program.instruction(one.user);
        if user.opcode == Some(Opcode::While) {
            if nested(&copies.called(one.user, &[AttributeKey::Body])) {
                return true;
            }
            let conditions = copies.called(one.user, &[AttributeKey::Condition]);
            if nested(&conditions) {
                let parameters =
                    conditions.iter().flat_map(|&of| &copies.program.computations[of as usize].parameters);
                return parameters.into_iter().any(|&parameter| parameter == definition);
            }
        }
        if copies.program.instruction(definition).opcode == Some(Opcode::While) {
            let inside = copies.called(definition, &[AttributeKey::Body, AttributeKey::Condition]);
            if inside.iter().any(|&computation| self.is_nested_in(one.user, computation)) {
                return true;
            }
        }
        if user.opcode == Some(Opcode::Call) && nested(&copies.called(one.user, &[AttributeKey::ToApply])) {
            return true;
        }
        if matches!(user.opcode, Some(Opcode::AsyncStart | Opcode::AsyncUpdate | Opcode::AsyncDone))
            && nested(&user.callees.iter().map(|&(_, callee)| callee).collect::<Vec<_>>())
        {
            return true;
        }
        if user.opcode == Some(Opcode::Conditional) {
            if nested(&copies.branches(one.user)) {
                let operand = copies.slots.top(copies.slots.owner(one.slot));
                let defines =
                    copies.dataflow.at(operand).is_some_and(|v| copies.dataflow.value(v).slot == operand);
                let uses = || copies.dataflow.uses(copies.program, &copies.slots, value);
                if !defines && uses().iter().any(|one| copies.program.is_root(one.user)) {
                    *has_escaped = true;
                }
                if !*has_escaped {
                    return true;
                }
            }
            if one.user == definition {
                return true;
            }
        }
        false
    }
}

/// Per computation, how many calls lead to it; of those that call each other, as many as there are computations.
fn depths(program: &Program, caller: &[Option<Id>]) -> Vec<u32> {
    let most = program.computations.len() as u32;
    let depth = |computation: usize| {
        let mut at = computation;
        for depth in 0..most {
            let Some(id) = caller[at] else { return depth };
            at = program.instruction(id).computation as usize;
        }
        most
    };
    (0..program.computations.len()).map(depth).collect()
}
