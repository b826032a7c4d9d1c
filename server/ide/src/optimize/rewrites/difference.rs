//! What a pass changed, cut into groups that can be applied on their own.
//!
//! Instructions keep their ids, so the difference is exact: which are removed, added, changed in place, and which operand of which
//! user is another one. Two changes are in one group where one needs the other.

use passes::{ComputationId, Instruction, InstructionId, Module};
use rustc_hash::{FxHashMap, FxHashSet};
use syntax::hlo::AttributeKey;

/// What happened to an instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fate {
    Removed,
    Added,
    /// Its op, its calls or the number of its operands is another one.
    Changed,
    /// It is as it was, but some users have another operand in its place.
    Replaced,
}

/// An operand of an instruction that is otherwise as it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct NewOperand {
    pub(super) user: InstructionId,
    pub(super) index: usize,
    pub(super) old: InstructionId,
    pub(super) new: InstructionId,
}

pub(crate) struct Difference {
    pub(super) fates: FxHashMap<InstructionId, Fate>,
    pub(super) operands: Vec<NewOperand>,
    /// Old and new root.
    pub(super) roots: FxHashMap<ComputationId, (InstructionId, InstructionId)>,
    parent: FxHashMap<InstructionId, InstructionId>,
}

impl Difference {
    pub(crate) fn new(before: &Module, after: &Module) -> Difference {
        let mut difference = Difference {
            fates: FxHashMap::default(),
            operands: Vec::new(),
            roots: FxHashMap::default(),
            parent: FxHashMap::default(),
        };
        let read = before.read_instructions().count();
        let kept: FxHashSet<ComputationId> = after.computations().into_iter().collect();
        // What a pass does to a computation that nothing calls any more concerns nobody.
        let computations = before.computations().into_iter().filter(|computation| kept.contains(computation));
        for computation in computations {
            for id in before.instructions(computation) {
                cancel::tick();
                difference.compare(before, after, id);
            }
            for id in after.instructions(computation) {
                if Module::index(id) >= read {
                    difference.fates.insert(id, Fate::Added);
                }
            }
            let (old, new) = (before.root(computation), after.root(computation));
            if old != new {
                difference.fates.entry(old).or_insert(Fate::Replaced);
                difference.roots.insert(computation, (old, new));
            }
        }
        difference.group(before, after);
        difference
    }

    fn compare(&mut self, before: &Module, after: &Module, id: InstructionId) {
        let (old, new) = (&before[id], &after[id]);
        if new.is_removed() {
            self.fates.insert(id, Fate::Removed);
        } else if !is_alike(old, new) {
            self.fates.insert(id, Fate::Changed);
        } else {
            for (index, (&old, &new)) in old.operands().iter().zip(new.operands()).enumerate() {
                if old != new {
                    self.operands.push(NewOperand { user: id, index, old, new });
                    self.fates.entry(old).or_insert(Fate::Replaced);
                }
            }
        }
    }

    fn group(&mut self, before: &Module, after: &Module) {
        let all: Vec<(InstructionId, Fate)> = self.fates.iter().map(|(&id, &fate)| (id, fate)).collect();
        for (id, fate) in all {
            cancel::tick();
            match fate {
                // Added for what it is an operand of, or the other way round.
                Fate::Added => self
                    .join_all(id, after[id].operands(), |fate| matches!(fate, Fate::Added | Fate::Changed)),
                Fate::Changed => {
                    self.join_all(id, after[id].operands(), |fate| {
                        matches!(fate, Fate::Added | Fate::Changed)
                    });
                    self.join_all(id, before[id].operands(), |fate| fate != Fate::Added);
                    // Its operands and the parameters of what it calls fit each other.
                    for callee in before[id].called().chain(after[id].called()) {
                        let of_callee =
                            self.fates.keys().copied().filter(|id| parent(before, after, *id) == callee);
                        let of_callee: Vec<InstructionId> = of_callee.collect();
                        of_callee.into_iter().for_each(|inner| self.join(id, inner));
                    }
                }
                Fate::Removed => self.join_all(id, before[id].operands(), |fate| fate == Fate::Removed),
                Fate::Replaced => {}
            }
        }
        for NewOperand { old, new, .. } in self.operands.clone() {
            self.join_changed(old, new);
        }
        for (old, new) in self.roots.clone().into_values() {
            self.join_changed(old, new);
        }
    }

    fn join_changed(&mut self, old: InstructionId, new: InstructionId) {
        if matches!(self.fates.get(&new), Some(Fate::Added | Fate::Changed)) {
            self.join(old, new);
        }
    }

    fn join_all(&mut self, id: InstructionId, others: &[InstructionId], is_joined: impl Fn(Fate) -> bool) {
        for &other in others {
            if self.fates.get(&other).is_some_and(|&fate| is_joined(fate)) {
                self.join(id, other);
            }
        }
    }

    fn join(&mut self, one: InstructionId, other: InstructionId) {
        let (one, other) = (self.first(one), self.first(other));
        if one != other {
            self.parent.insert(one, other);
        }
    }

    /// The instruction that represents a group.
    fn first(&self, id: InstructionId) -> InstructionId {
        let mut at = id;
        while let Some(&parent) = self.parent.get(&at) {
            at = parent;
        }
        at
    }

    /// All groups together.
    pub(super) fn all(&self) -> FxHashSet<InstructionId> {
        self.fates.keys().copied().collect()
    }

    /// The group with an instruction; empty if it is as it was.
    pub(super) fn group_of(&self, id: InstructionId) -> FxHashSet<InstructionId> {
        if !self.fates.contains_key(&id) {
            return FxHashSet::default();
        }
        let first = self.first(id);
        self.fates.keys().copied().filter(|&other| self.first(other) == first).collect()
    }
}

fn parent(before: &Module, after: &Module, id: InstructionId) -> ComputationId {
    match Module::index(id) < before.read_instructions().count() {
        true => before[id].parent(),
        false => after[id].parent(),
    }
}

/// Whether the instruction does the same with its operands. Metadata does not count.
fn is_alike(old: &Instruction, new: &Instruction) -> bool {
    let attributes = |instruction: &Instruction| {
        let all = instruction.attributes().iter().filter(|(key, _)| *key != AttributeKey::Metadata);
        all.map(|(key, value)| (key, value.clone())).collect::<Vec<_>>()
    };
    let calls = |instruction: &Instruction| {
        instruction.calls().map(|(key, called)| (key, called.to_vec())).collect::<Vec<_>>()
    };
    old.opcode() == new.opcode()
        && old.shape() == new.shape()
        && old.literal() == new.literal()
        && old.parameter_number() == new.parameter_number()
        && old.operands().len() == new.operands().len()
        && old.control_predecessors() == new.control_predecessors()
        && attributes(old) == attributes(new)
        && calls(old) == calls(new)
}
