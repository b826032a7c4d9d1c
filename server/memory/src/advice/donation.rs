//! Parameters that a result could be written over.

use ir::{Alias, Opcode, Shape};

use super::{Action, Advice, Advisor};
use crate::dataflow::ValueId;
use crate::memory::space;
use crate::overwriting::Overwriting;
use crate::program::{Instruction, Program};
use crate::sizes::bytes;
use crate::slots::Slot;

/// A result that takes the memory of a parameter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Donation {
    pub parameter: u32,
    /// The element of the parameter; empty for all of it.
    pub index: Vec<i64>,
    /// The element of the result; empty for all of it.
    pub output: Vec<i64>,
    /// `name{0}`: the parameter and the element.
    pub name: String,
    pub bytes: u64,
}

/// Each parameter alone, the largest first, and all together.
pub(super) fn advice(advisor: &Advisor<'_>) -> Vec<Advice> {
    let donations = candidates(advisor);
    let plan = |donations: &[Donation]| {
        let mut changed = advisor.program.clone();
        changed.aliases.extend(donations.iter().map(|donation| Alias {
            output: donation.output.clone(),
            parameter: i64::from(donation.parameter),
            index: donation.index.clone(),
            is_must: false,
        }));
        let bytes = donations.iter().fold(0u64, |sum, donation| sum.saturating_add(donation.bytes));
        advisor.plan(&changed, Action::Donate(donations.to_vec()), bytes)
    };
    let alone = donations
        .iter()
        .take(advisor.plans() - 1)
        .filter_map(|donation| plan(std::slice::from_ref(donation)));
    let mut advice: Vec<Advice> = alone.collect();
    if donations.len() > 1 {
        let best = advice.iter().map(|one| one.peak).min().unwrap_or(u64::MAX);
        advice.extend(plan(&donations).filter(|together| together.peak < best));
    }
    advice
}

/// The largest first; each result is in one of them at most.
fn candidates(advisor: &Advisor<'_>) -> Vec<Donation> {
    let Advisor { program, memory, flow, order_of, .. } = advisor;
    let slots = &flow.slots;
    let overwriting = Overwriting::new(program, slots, &flow.dataflow, order_of);
    let mut results = results(advisor);
    let mut donations = Vec::new();
    for value in memory.alive_at(memory.usage.peak) {
        cancel::tick();
        let slot = flow.dataflow.value(value).slot;
        let instruction = program.instruction(slots.owner(slot));
        let path = slots.path(slot);
        let is_alone = flow.aliases.buffers[flow.aliases.buffer_of[value as usize] as usize].len() == 1;
        let number = match (instruction.opcode, instruction.number) {
            (Some(Opcode::Parameter), Some(number))
                if is_entry_parameter(program, instruction)
                    && is_alone
                    && !slots.is_tuple(slot)
                    && !program.is_donated(number, &path) =>
            {
                number
            }
            _ => continue,
        };
        // What is read after the peak holds its memory there, and the result is defined later.
        let until = flow.used_until(program, value);
        if flow.schedule.written[until as usize] > memory.usage.peak {
            continue;
        }
        let found = results.iter().position(|result| {
            is_alike(slots.shape(slot), slots.shape(result.slot))
                && (until < result.start
                    || until == result.start && overwriting.takes_over(result.first, value))
        });
        if let Some(found) = found {
            donations.push(Donation {
                parameter: number,
                index: path,
                output: slots.path(results.remove(found).slot),
                name: slots.name(program, slot),
                bytes: memory.values[value as usize].bytes,
            });
        }
    }
    donations
}

/// A result in memory of its own.
struct Outcome {
    slot: Slot,
    /// The first value in its memory.
    first: ValueId,
    start: u32,
}

fn results(advisor: &Advisor<'_>) -> Vec<Outcome> {
    let Advisor { program, flow, .. } = advisor;
    let (slots, dataflow, aliases) = (&flow.slots, &flow.dataflow, &flow.aliases);
    let root = program.computations[program.entry].root;
    let buffer_in = |slot: Slot| dataflow.at(slot).map(|value| aliases.buffer_of[value as usize]);
    let mut times_held = rustc_hash::FxHashMap::<u32, u32>::default();
    for buffer in slots.of_instruction(root).filter_map(buffer_in) {
        *times_held.entry(buffer).or_default() += 1;
    }
    let found = slots.of_instruction(root).filter(|&slot| !slots.is_tuple(slot)).filter_map(|slot| {
        let buffer = buffer_in(slot)?;
        let values = &aliases.buffers[buffer as usize];
        let is_callers = values.iter().any(|&value| {
            let owner = program.instruction(slots.owner(dataflow.value(value).slot));
            owner.opcode == Some(Opcode::Constant) || is_entry_parameter(program, owner)
        });
        let first = *values.iter().min_by_key(|&&value| (flow.ranges[value as usize].start, value))?;
        let start = flow.ranges[first as usize].start;
        (!is_callers && times_held[&buffer] == 1).then_some(Outcome { slot, first, start })
    });
    found.collect()
}

fn is_entry_parameter(program: &Program, instruction: &Instruction) -> bool {
    instruction.opcode == Some(Opcode::Parameter) && instruction.computation as usize == program.entry
}

/// Whether arrays have the same elements, dimensions and bytes in the same memory. Layouts may differ.
fn is_alike(a: &Shape, b: &Shape) -> bool {
    match (a.as_array(), b.as_array()) {
        (Some(one), Some(other)) => {
            one.element == other.element
                && one.dims == other.dims
                && bytes(a) == bytes(b)
                && bytes(a).is_some_and(|bytes| bytes > 0)
                && space(a) == space(b)
        }
        _ => false,
    }
}
