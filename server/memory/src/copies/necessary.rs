//! Which copies are necessary: without them a value would be overwritten before its last use.

use ir::Opcode;
use rustc_hash::FxHashMap;

use super::before::Dependencies;
use super::{Copies, Reason};
use crate::dataflow::{Use, ValueId};
use crate::program::{Id, Program};

impl Copies<'_> {
    /// Tries to remove each of these copies, again and again until none goes. Returns those that are not necessary, in the order
    /// in which they go, and why each of the others is, where values of its buffer conflict.
    pub fn unnecessary(&self, copies: &[Id]) -> (Vec<Id>, FxHashMap<Id, Reason>) {
        let mut merging = Merging::new(self);
        let mut removed = Vec::new();
        let mut why = FxHashMap::default();
        let mut left = copies.to_vec();
        loop {
            let before = left.len();
            left.retain(|&copy| match merging.remove(copy) {
                Ok(()) => {
                    removed.push(copy);
                    why.remove(&copy);
                    false
                }
                Err(reason) => {
                    why.extend(reason.map(|reason| (copy, reason)));
                    true
                }
            });
            if left.len() == before {
                return (removed, why);
            }
        }
    }
}

/// The values of each buffer in the order in which they are alive, while copies are removed.
struct Merging<'a> {
    copies: &'a Copies<'a>,
    order: Dependencies<'a>,
    /// Per value, the one before it in its buffer; the first has the last before it.
    previous: Vec<ValueId>,
    next: Vec<ValueId>,
    is_first: Vec<bool>,
    uses: Vec<Vec<Use>>,
    /// Per copy, the value that it reads and the one that it defines.
    ends: FxHashMap<Id, (ValueId, ValueId)>,
}

impl<'a> Merging<'a> {
    fn new(copies: &'a Copies<'a>) -> Merging<'a> {
        let program = copies.program;
        let count = copies.dataflow.values.len() as ValueId;
        let mut merging = Merging {
            copies,
            order: Dependencies::new(copies),
            previous: (0..count).collect(),
            next: (0..count).collect(),
            is_first: vec![false; count as usize],
            uses: (0..count).map(|value| copies.dataflow.uses(program, &copies.slots, value)).collect(),
            ends: FxHashMap::default(),
        };
        let ranks = ranks(program);
        for values in &copies.aliases.buffers {
            let values = merging.in_order(values, &ranks);
            for pair in values.windows(2) {
                merging.link(pair[0], pair[1]);
            }
            if let [first, .., last] | [first @ last] = values[..] {
                merging.link(last, first);
                merging.is_first[first as usize] = true;
            }
        }
        for (id, instruction) in (0..).zip(&program.instructions) {
            if let (Some(Opcode::Copy), [operand]) = (instruction.opcode, &instruction.operands[..]) {
                let [from, to] = [*operand, id].map(|id| copies.dataflow.at(copies.slots.top(id)));
                merging.ends.extend(from.zip(to).map(|ends| (id, ends)));
            }
        }
        merging
    }

    /// Sorts values by what is defined first. Values that nothing orders are in the order of their instructions.
    fn in_order(&self, values: &[ValueId], ranks: &[u32]) -> Vec<ValueId> {
        let mut sorted = values.to_vec();
        sorted.sort_by_key(|&value| ranks[self.copies.definition(value) as usize]);
        // The relation is not transitive, so that no sort of the library may use it.
        for at in 1..sorted.len() {
            let mut to = at;
            while to > 0 && self.order.is_defined_before(sorted[to], sorted[to - 1]) {
                sorted.swap(to, to - 1);
                to -= 1;
            }
        }
        sorted
    }

    fn link(&mut self, before: ValueId, after: ValueId) {
        self.next[before as usize] = after;
        self.previous[after as usize] = before;
    }

    /// The value behind one in its buffer.
    fn after(&self, value: ValueId) -> Option<ValueId> {
        let next = self.next[value as usize];
        (!self.is_first[next as usize]).then_some(next)
    }

    fn before(&self, value: ValueId) -> Option<ValueId> {
        (!self.is_first[value as usize]).then(|| self.previous[value as usize])
    }

    /// Merges the buffers of what a copy reads and of what it defines. Fails with the conflict if there is one, or without where
    /// the copy is in the middle of both.
    fn remove(&mut self, copy: Id) -> Result<(), Option<Reason>> {
        let &(from, to) = self.ends.get(&copy).ok_or(None)?;
        let program = self.copies.program;
        let instruction = program.instruction(copy);
        if instruction.operands.iter().any(|&of| program.instruction(of).shape != instruction.shape) {
            return Err(None);
        }
        if self.next[from as usize] == to {
            // They share a buffer already.
        } else if self.is_first[to as usize] {
            if self.is_read_by_same_scatter(from, to) {
                return Err(None);
            }
            self.check(Some(from), self.after(to))?;
            self.check(Some(self.previous[to as usize]), self.after(from))?;
            self.splice(to, from);
        } else if self.is_first[self.next[from as usize] as usize] {
            let first = self.next[from as usize];
            self.check(self.before(to), Some(first))?;
            self.check(Some(from), self.after(to))?;
            let place = self.previous[to as usize];
            self.splice(first, place);
        } else {
            return self.remove_within(from, to);
        }
        let operand = self.previous[to as usize];
        self.drop(to, operand);
        Ok(())
    }

    /// Removes a copy between values that share a buffer, with others between them.
    fn remove_within(&mut self, from: ValueId, to: ValueId) -> Result<(), Option<Reason>> {
        let mut between = Vec::new();
        let mut at = self.next[from as usize];
        while at != to {
            if at == from {
                return Err(None);
            }
            between.push(at);
            at = self.next[at as usize];
        }
        for other in between {
            self.is_before(from, &self.uses[to as usize], other).map_err(Some)?;
        }
        self.drop(to, from);
        Ok(())
    }

    /// Whether all values from `from` back are dead when those from `to` on are defined.
    fn check(&self, from: Option<ValueId>, to: Option<ValueId>) -> Result<(), Option<Reason>> {
        let mut next = to;
        while let Some(later) = next {
            let mut previous = from;
            while let Some(earlier) = previous {
                cancel::tick();
                self.is_before(earlier, &self.uses[earlier as usize], later).map_err(Some)?;
                previous = self.before(earlier);
            }
            next = self.after(later);
        }
        Ok(())
    }

    /// Whether all `uses` of value `a` come before `b` is defined.
    fn is_before(&self, a: ValueId, uses: &[Use], b: ValueId) -> Result<(), Reason> {
        let copies = self.copies;
        let writer = copies.definition(b);
        if uses.is_empty() {
            let is_before = self.order.is_defined_before(a, b);
            return if is_before { Ok(()) } else { Err(Reason { writer, reader: None }) };
        }
        let root = copies.program.computation_of(writer).root;
        if copies.dataflow.positions(a).any(|slot| copies.slots.owner(slot) == root) {
            return Err(Reason { writer, reader: None });
        }
        match self.order.use_after(uses, b) {
            Some(one) => Err(Reason { writer, reader: Some(one.user) }),
            None => Ok(()),
        }
    }

    /// Whether a scatter of several arrays reads both a value and its copy, which it overwrites.
    fn is_read_by_same_scatter(&self, from: ValueId, to: ValueId) -> bool {
        let program = self.copies.program;
        let Some(writer) = self.after(to).map(|next| self.copies.definition(next)) else { return false };
        let instruction = program.instruction(writer);
        let scatter = match instruction.opcode {
            Some(Opcode::Fusion) => program.callee(writer, ir::AttributeKey::Calls).map(|body| body.root),
            _ => Some(writer),
        };
        let scatter = scatter.map(|id| program.instruction(id));
        scatter.is_some_and(|one| one.opcode == Some(Opcode::Scatter) && one.shape.tuple_elements().is_some())
            && self.uses[from as usize].iter().any(|one| one.user == writer)
    }

    /// Puts the buffer that starts with `first` behind `place`, a value of another one.
    fn splice(&mut self, first: ValueId, place: ValueId) {
        self.is_first[first as usize] = false;
        let last = self.previous[first as usize];
        let behind = self.next[place as usize];
        self.link(last, behind);
        self.link(place, first);
    }

    /// Removes the value of a copy. Its uses become those of `operand`.
    fn drop(&mut self, copied: ValueId, operand: ValueId) {
        let copy = self.copies.definition(copied);
        let (before, after) = (self.previous[copied as usize], self.next[copied as usize]);
        self.link(before, after);
        let uses = std::mem::take(&mut self.uses[copied as usize]);
        let of_operand = &mut self.uses[operand as usize];
        if let Some(at) = of_operand.iter().position(|one| one.user == copy) {
            of_operand.remove(at);
        }
        for one in &uses {
            if let Some((from, _)) = self.ends.get_mut(&one.user) {
                *from = operand;
            }
        }
        of_operand.extend(uses);
        self.ends.remove(&copy);
    }
}

/// Per instruction, its position when computations run in front of what calls them, parameters first.
fn ranks(program: &Program) -> Vec<u32> {
    let count = program.instructions.len();
    let all = 0..count as Id;
    // What an instruction waits for: its operands, and what it calls.
    let mut before: Vec<Vec<Id>> = program.instructions.iter().map(|one| one.operands.clone()).collect();
    for &(first, then) in &program.control {
        before[then as usize].push(first);
    }
    for id in all.clone() {
        let mut callees: Vec<_> = program.instruction(id).callees.iter().collect();
        // The condition of a loop runs before its body.
        callees.sort_by_key(|(key, _)| *key == ir::AttributeKey::Body);
        for &&(_, callee) in &callees {
            let computation = &program.computations[callee as usize];
            before[id as usize].extend(computation.parameters.iter().filter(|&&id| id != Id::MAX));
            before[id as usize].extend(&computation.instructions);
        }
    }
    let starts = program.computations[program.entry].parameters.iter().copied().filter(|&id| id != Id::MAX);
    let mut ranks = vec![0; count];
    let order = gpu::operands_first(
        count,
        starts.chain([program.computations[program.entry].root]).chain(all),
        |id| &before[id as usize],
    );
    for (rank, &id) in (0..).zip(&order) {
        ranks[id as usize] = rank;
    }
    ranks
}
