//! Values that are computed again behind the peak, so that they need not be kept over it.

use ir::{AttributeKey, Cost, Opcode};
use rustc_hash::FxHashSet;

use super::changed::Changed;
use super::places::Places;
use super::{Action, Advice, Advisor};
use crate::dataflow::ValueId;
use crate::program::{Id, Program};

/// Instructions that are computed again at most for one value.
const COPIES: usize = 8;

/// A value that is computed again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rematerialisation {
    /// The instructions that run again, in order: those that compute the value, and bitcasts of it.
    pub names: Vec<Box<str>>,
    /// The instruction that they run again in front of. It and all behind it read the copies.
    pub before: Box<str>,
    /// The value that is no longer kept.
    pub value: String,
    /// What the copies cost.
    pub cost: Cost,
}

/// The largest of what is alive at the peak first. Nothing where the order is not stated.
pub(super) fn advice(advisor: &Advisor<'_>, places: &Places<'_>) -> Vec<Advice> {
    let finder = Finder { advisor, places };
    let mut known = FxHashSet::default();
    let alive = advisor.memory.alive_at(advisor.memory.usage.peak);
    let again = alive.into_iter().filter_map(|value| {
        cancel::tick();
        finder.again(value).map(|again| (value, again))
    });
    let again = again.filter(|(_, again)| known.insert(again.copied.clone())).take(advisor.plans());
    again.filter_map(|(value, again)| finder.plan(value, &again)).collect()
}

/// Instructions that run again in front of the one at index `to` of their computation.
struct Again {
    copied: Vec<Id>,
    to: usize,
}

struct Finder<'a> {
    advisor: &'a Advisor<'a>,
    places: &'a Places<'a>,
}

impl Finder<'_> {
    /// Of a value that is read in front of the peak and behind it.
    fn again(&self, value: ValueId) -> Option<Again> {
        let Advisor { program, flow, .. } = self.advisor;
        let peak = self.places.peak;
        let id = self.cheap(value)?;
        let mut same = vec![id];
        let mut readers = Vec::new();
        let mut at = 0;
        while let Some(&one) = same.get(at) {
            at += 1;
            for &user in &program.instruction(one).users {
                let time = self.places.time(user)?;
                // A bitcast behind the peak reads the copy as others do.
                if program.instruction(user).opcode != Some(Opcode::Bitcast) || time > peak {
                    readers.push((time, user, one));
                } else if !same.contains(&user) {
                    same.push(user);
                }
            }
        }
        if same.iter().any(|&one| program.is_root(one)) {
            return None;
        }
        let is_late = |&&(time, ..): &&(u32, Id, Id)| time > peak;
        let first = readers.iter().filter(is_late).min()?.1;
        let is_read_early = readers.iter().any(|&(time, ..)| time < peak);
        // What an instruction in front of the peak holds of it, and one behind reads, is kept, as in a tuple. Results of
        // what is behind the peak hold the copy.
        let mut uses = flow.dataflow.uses(program, &flow.slots, value).into_iter();
        let is_kept = uses.any(|one| {
            let holder = flow.slots.owner(one.slot);
            let is_replaced = same.contains(&holder) && self.places.time(one.user) > Some(peak);
            self.places.time(holder) <= Some(peak)
                && self.places.time(one.user) >= Some(peak)
                && !same.contains(&one.user)
                && !is_replaced
        });
        if !is_read_early || is_kept {
            return None;
        }
        let mut copied = vec![id];
        for &(.., read) in readers.iter().filter(is_late) {
            self.with_bitcasts(read, id, &mut copied)?;
        }
        let to = self.places.index[first as usize];
        self.add_operands(&mut copied, self.places.time(first)?)?;
        copied.sort_by_key(|&one| self.places.index[one as usize]);
        let until = self.places.time(first)?;
        let is_intact = |&one: &Id| {
            let time = self.places.time(one);
            time.is_some_and(|time| !self.places.is_overwritten(one, time, until))
        };
        copied.iter().all(is_intact).then_some(Again { copied, to })
    }

    /// The instruction that defines a value, if it is quick to run again.
    fn cheap(&self, value: ValueId) -> Option<Id> {
        self.places.defined_by(value).filter(|&id| is_cheap(self.advisor.program, id))
    }

    /// The bitcasts from `read` back to `source`, which it is or is a bitcast of.
    fn with_bitcasts(&self, read: Id, source: Id, copied: &mut Vec<Id>) -> Option<()> {
        let mut one = read;
        while one != source {
            if !copied.contains(&one) {
                copied.push(one);
            }
            one = *self.advisor.program.instruction(one).operands.first()?;
        }
        (copied.len() <= COPIES).then_some(())
    }

    /// Operands that are not alive any more then, as far as they are quick to run again. Others are kept for the copies.
    fn add_operands(&self, copied: &mut Vec<Id>, then: u32) -> Option<()> {
        let Advisor { program, flow, .. } = self.advisor;
        let mut at = 0;
        while let Some(&one) = copied.get(at) {
            at += 1;
            for &operand in &program.instruction(one).operands {
                let Some(value) = flow.dataflow.at(flow.slots.top(operand)) else { continue };
                let source = self.cheap(value).filter(|_| flow.ranges[value as usize].end < then);
                if let Some(source) = source.filter(|_| !copied.contains(&operand)) {
                    self.with_bitcasts(operand, source, copied)?;
                    if !copied.contains(&source) {
                        copied.push(source);
                    }
                }
            }
        }
        (copied.len() <= COPIES).then_some(())
    }

    fn plan(&self, value: ValueId, again: &Again) -> Option<Advice> {
        let Advisor { program, memory, cost_of, .. } = self.advisor;
        let mut changed = Changed::new(program);
        changed.compute_again(&again.copied, again.to);
        let name = |&id: &Id| program.instruction(id).name.clone();
        let order = &program.computation_of(again.copied[0]).instructions;
        let value = &memory.values[value as usize];
        let action = Action::Rematerialise(Rematerialisation {
            names: again.copied.iter().map(name).collect(),
            before: name(&order[again.to]),
            value: value.name.clone(),
            cost: again.copied.iter().fold(Cost::default(), |sum, &id| sum.plus(cost_of(id))),
        });
        self.advisor.plan_changed(&changed, action, value.bytes)
    }
}

/// Whether an instruction moves elements, or computes each on its own. XLA runs more again (`IsRematerializable`,
/// `hlo/transforms/simplifiers/hlo_rematerialization.cc`): products and reductions too. A copy that changes no layout keeps two
/// values apart.
fn is_cheap(program: &Program, id: Id) -> bool {
    let instruction = program.instruction(id);
    match instruction.opcode {
        Some(Opcode::Fusion) => program.callee(id, AttributeKey::Calls).is_some_and(|body| {
            let mut parts = body.instructions.iter().map(|&part| program.instruction(part).opcode);
            parts.all(|opcode| opcode.is_some_and(|opcode| is_part_of_cheap(opcode) || is_quick(opcode)))
        }),
        Some(Opcode::Copy) => {
            let layouts = |id: Id| program.instruction(id).shape.as_array().map(|array| &array.layout);
            instruction.operands.first().is_some_and(|&operand| layouts(operand) != layouts(id))
        }
        opcode => opcode.is_some_and(is_quick),
    }
}

fn is_quick(opcode: Opcode) -> bool {
    use Opcode::{
        Broadcast, Concatenate, DynamicSlice, Gather, Iota, Pad, Reshape, Reverse, Slice, Transpose,
    };
    ir::is_elementwise(opcode)
        || matches!(
            opcode,
            Broadcast
                | Concatenate
                | DynamicSlice
                | Gather
                | Iota
                | Pad
                | Reshape
                | Reverse
                | Slice
                | Transpose
        )
}

/// What costs nothing inside a fusion.
fn is_part_of_cheap(opcode: Opcode) -> bool {
    matches!(opcode, Opcode::Parameter | Opcode::Constant | Opcode::Bitcast | Opcode::Copy)
}
