//! The answer: allocations, values, and the peak.

use ir::Shape;

use crate::aliases::Aliases;
use crate::assignment::{Allocation, AllocationKind, Assigner};
use crate::dataflow::{Dataflow, ValueId};
use crate::live_ranges::{LiveRange, Ranges, live_ranges};
use crate::order::Order;
use crate::overwriting::{OrderOf, Overwriting};
use crate::program::Program;
use crate::schedule::{Schedule, Time};
use crate::sizes::{bytes, plain_bytes};
use crate::slots::Slots;
use crate::usage::{Usage, sum};

/// The memory of a module. Owner: whoever asked. Size: about 150 bytes per value.
#[derive(Debug, Clone, PartialEq)]
pub struct Memory {
    pub allocations: Vec<Allocation>,
    /// In XLA's order.
    pub values: Vec<Value>,
    /// Bytes of all allocations.
    pub total: u64,
    /// The first position of the schedule at which most bytes are alive, and how many: the sum of the values, which is
    /// less than [`Self::total`] where allocations have gaps.
    pub peak: Peak,
    /// How much is in use when, and of what.
    pub usage: Usage,
    /// The instructions that run as steps of the program, by position of the schedule.
    pub steps: Vec<Step>,
    /// The computations whose instructions run as steps: the entry, bodies of loops, branches, called computations. In the
    /// order in which they end, so that the entry is the last.
    pub bodies: Vec<Body>,
    pub order: Order,
    /// What could not be counted, in words.
    pub problems: Vec<String>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Peak {
    pub at: Time,
    pub bytes: u64,
}

/// An instruction at a position of the schedule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    pub name: Box<str>,
    /// The number of its computation in the module.
    pub computation: u32,
}

/// A computation whose instructions run as steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Body {
    /// Its number in the module.
    pub computation: u32,
    /// Its first position, or that of what its first instruction calls.
    pub start: Time,
    /// The position behind it.
    pub end: Time,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Value {
    /// The position of the instruction that defines it. The value of a parameter is alive from the start of its computation
    /// on, which may be earlier.
    pub defined: Time,
    /// `name{0}`: an instruction and the element of its result, `name{}` for all of it.
    pub name: String,
    /// Whether it is a table of pointers.
    pub is_tuple: bool,
    /// Bytes of its buffer: the largest of the values that share it.
    pub size: u64,
    /// Bytes of the value alone.
    pub bytes: u64,
    pub live: LiveRange,
    /// Index into [`Memory::allocations`].
    pub allocation: Option<u32>,
    /// The values that must be in the same memory have the same number.
    pub buffer: u32,
}

/// When and where the values of a program are alive.
pub(crate) struct Flow {
    pub(crate) slots: Slots,
    pub(crate) schedule: Schedule,
    pub(crate) dataflow: Dataflow,
    pub(crate) aliases: Aliases,
    /// Per value.
    pub(crate) ranges: Vec<LiveRange>,
}

impl Flow {
    pub(crate) fn of(program: &Program) -> Flow {
        let slots = Slots::of(program);
        let schedule = Schedule::of(program);
        let dataflow = Dataflow::of(program, &slots, &schedule);
        let aliases = Aliases::of(program, &slots, &schedule, &dataflow);
        let all = Ranges { program, slots: &slots, schedule: &schedule, dataflow: &dataflow };
        let ranges = live_ranges(&all, &aliases);
        Flow { slots, schedule, dataflow, aliases, ranges }
    }

    pub(crate) fn used_until(&self, program: &Program, value: ValueId) -> Time {
        let Flow { slots, schedule, dataflow, .. } = self;
        Ranges { program, slots, schedule, dataflow }.used_until(value)
    }
}

impl Memory {
    /// The memory of a module. One without a schedule runs in the order of XLA's list scheduler.
    pub fn of(program: &Program, order_of: &OrderOf<'_>) -> Memory {
        let Flow { slots, schedule, dataflow, aliases, ranges } = Flow::of(program);
        let mut problems = program.problems.clone();
        let mut own = Vec::with_capacity(dataflow.values.len());
        for value in &dataflow.values {
            own.push(bytes(slots.shape(value.slot)).unwrap_or_else(|| {
                problems.add(|| {
                    let name = slots.name(program, value.slot);
                    format!("%{name}: its size is not known, or 64 bits do not hold it; it counts as 0")
                });
                0
            }));
        }
        let spaces: Vec<i64> = dataflow.values.iter().map(|value| space(slots.shape(value.slot))).collect();
        let overwriting = Overwriting::new(program, &slots, &dataflow, order_of);
        let assigner = Assigner {
            program,
            schedule: &schedule,
            aliases: &aliases,
            ranges: &ranges,
            overwriting: &overwriting,
            bytes: &own,
            spaces: &spaces,
        };
        let assignment = assigner.assign();
        let written = |time: Time| schedule.written[time as usize];
        let values = dataflow.values.iter().enumerate().map(|(i, value)| Value {
            defined: written(schedule.at(slots.owner(value.slot)).unwrap_or_default()),
            name: slots.name(program, value.slot),
            is_tuple: slots.is_tuple(value.slot),
            size: assignment.size_of[i],
            bytes: own[i],
            live: LiveRange { start: written(ranges[i].start), end: written(ranges[i].end) },
            allocation: assignment.allocation_of[i],
            buffer: aliases.buffer_of[i],
        });
        let values: Vec<Value> = values.collect();
        let peak = peak(program, &slots, &dataflow, &ranges);
        let peak = Peak { at: written(peak.at), ..peak };
        let sizes = assignment.allocations.iter().map(|allocation| allocation.size);
        let total = sizes.clone().fold(0u64, u64::saturating_add);
        if sizes.map(u128::from).sum::<u128>() >= u64::MAX.into() {
            problems.add(|| {
                format!("64 bits do not hold the bytes of all allocations; {total} is as many as they do")
            });
        }
        Memory {
            usage: Usage::of(&assignment.allocations, &values, written(schedule.end)),
            allocations: assignment.allocations,
            values,
            total,
            peak,
            steps: steps(program, &schedule),
            bodies: bodies(&schedule),
            order: program.order,
            problems: problems.into_lines(),
        }
    }

    /// Bytes in use when most are: [`Usage::peak`].
    pub fn in_use_at_peak(&self) -> u64 {
        sum(&self.usage.at_peak())
    }

    /// The positions of the schedule.
    pub fn positions(&self) -> Time {
        self.steps.len() as Time
    }

    /// The values that are alive at a position of the schedule, largest first; of equal ones, those last that are in memory
    /// of the caller's.
    pub fn alive_at(&self, time: Time) -> Vec<ValueId> {
        let mut alive: Vec<ValueId> = (0..self.values.len() as ValueId)
            .filter(|&v| self.values[v as usize].live.contains(time))
            .collect();
        alive.sort_by_key(|&v| {
            let Value { bytes, allocation, .. } = self.values[v as usize];
            let kind = allocation.map(|allocation| self.allocations[allocation as usize].kind);
            let is_callers = matches!(kind, Some(AllocationKind::Parameter { .. }));
            (std::cmp::Reverse(bytes), is_callers, v)
        });
        alive
    }
}

fn steps(program: &Program, schedule: &Schedule) -> Vec<Step> {
    let steps = schedule.order.iter().map(|&id| program.instruction(id));
    let written = steps.filter(|instruction| instruction.is_written);
    written.map(|step| Step { name: step.name.clone(), computation: step.computation }).collect()
}

fn bodies(schedule: &Schedule) -> Vec<Body> {
    let body = |&computation: &u32| {
        let (start, end) = schedule.span[computation as usize]?;
        let [start, end] = [start, end].map(|time| schedule.written[time as usize]);
        Some(Body { computation, start, end })
    };
    schedule.computations.iter().filter_map(body).collect()
}

/// The memory space of an array, by its layout.
pub(crate) fn space(shape: &Shape) -> i64 {
    shape.as_array().and_then(|array| array.layout.as_ref()).map_or(0, |layout| layout.memory_space)
}

/// Source: `HloLiveRange::ComputePeakMemoryMoment`, which counts each value with the size of the instruction's whole result
/// when it looks for the moment, and with its own when it adds.
fn peak(program: &Program, slots: &Slots, dataflow: &Dataflow, ranges: &[LiveRange]) -> Peak {
    let mut events: Vec<(Time, bool, ValueId)> = Vec::with_capacity(2 * ranges.len());
    for (value, range) in ranges.iter().enumerate() {
        events.push((range.start, false, value as ValueId));
        events.push((range.end + 1, true, value as ValueId));
    }
    events.sort_unstable();
    let (mut alive, mut most, mut at) = (0i128, 0i128, 0);
    for (time, is_end, value) in events {
        let shape = &program.instruction(slots.owner(dataflow.value(value).slot)).shape;
        let bytes = i128::from(plain_bytes(shape).unwrap_or(0));
        alive += if is_end { -bytes } else { bytes };
        if alive > most {
            (most, at) = (alive, time);
        }
    }
    let alive = (0..ranges.len()).filter(|&value| ranges[value].contains(at));
    let own = alive.map(|value| plain_bytes(slots.shape(dataflow.values[value].slot)).unwrap_or(0));
    Peak { at, bytes: own.fold(0, u64::saturating_add) }
}
