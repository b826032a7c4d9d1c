//! The order of what the text does not order: all instructions of a module without a schedule, and tuple elements that XLA
//! does not print, though they have a position.

use ir::Opcode;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::aliases::Aliases;
use crate::dataflow::{Dataflow, Value};
use crate::depth_first::{First, orders};
use crate::list_scheduler::{Freedom, ListScheduler};
use crate::live_ranges::{Ranges, live_ranges};
use crate::overwriting::Overwriting;
use crate::program::{Computation, Id, Program};
use crate::schedule::Schedule;
use crate::sharing::FusionOrder;
use crate::simulation::simulate;
use crate::sizes::bytes;
use crate::slots::Slots;

/// Where the order of the instructions comes from.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Order {
    /// The module is scheduled.
    #[default]
    Stated,
    /// That of XLA's list scheduler, which frees most memory at each step.
    List,
    /// That of XLA's scheduler that visits operands with many users first.
    DepthFirst,
    /// Operands before their users, in the order of the text.
    PostOrder,
}

/// Of a schedule of the list scheduler, fewer instructions than one of so many are not its choice: passes behind the
/// scheduler move a few. Of another scheduler's, about half are not.
const FEWEST_EXCEPTIONS: usize = 4;

/// Of a program with more instructions only the depth-first order is computed: the list scheduler takes seconds.
const LARGE: usize = 30_000;

/// XLA takes the first of the three orders that needs least.
/// Source: `DefaultMemoryScheduler`, `hlo/transforms/simplifiers/hlo_memory_scheduler.cc`.
pub(crate) fn arrange(program: &mut Program) {
    if program.computations.iter().all(|computation| has_order(program, computation)) {
        return;
    }
    let slots = Slots::of(program);
    let schedule = Schedule::of(program);
    let dataflow = Dataflow::of(program, &slots, &schedule);
    if program.is_scheduled {
        return place(program, elements(program, &slots, &dataflow, &schedule.computations));
    }
    let depth_first =
        |program: &Program, first| orders(program, &slots, &dataflow, &schedule.computations, first);
    let list = |program: &Program| {
        let mut scheduler = ListScheduler::new(program, &slots, &dataflow);
        let order = |&number: &u32| Some((number, scheduler.order(number, Freedom::All)?.instructions));
        schedule.computations.iter().map(order).collect::<Option<Orders>>()
    };
    let mut best: Option<(u64, Order, Orders)> = None;
    let tried: &[Order] = match program.instructions.len() {
        ..=LARGE => &[Order::List, Order::DepthFirst, Order::PostOrder],
        _ => &[Order::DepthFirst],
    };
    for &order in tried {
        let orders = match order {
            Order::List => list(program),
            Order::DepthFirst => Some(depth_first(program, First::MostUsed)),
            Order::PostOrder | Order::Stated => Some(depth_first(program, First::Written)),
        };
        let Some(orders) = orders else { continue };
        place(program, orders.clone());
        let bytes = most_in_use(program, &slots, &dataflow);
        if best.as_ref().is_none_or(|(least, ..)| bytes < *least) {
            best = Some((bytes, order, orders));
        }
    }
    if let Some((_, order, orders)) = best {
        program.order = order;
        place(program, orders);
    }
}

/// Per computation its instructions.
type Orders = Vec<(u32, Vec<Id>)>;

fn place(program: &mut Program, orders: Orders) {
    for (number, order) in orders {
        program.computations[number as usize].instructions = order;
    }
}

fn has_order(program: &Program, computation: &Computation) -> bool {
    program.is_scheduled && computation.instructions.iter().all(|&id| program.instruction(id).is_written)
}

/// The most bytes that are in use at one time. What is in the same memory counts once; what results of fusions with several
/// results or reductions may overwrite is not looked for.
/// Source: `HeapSimulator::MinimumMemoryForModule`, `service/heap_simulator/heap_simulator.cc`.
fn most_in_use(program: &Program, slots: &Slots, dataflow: &Dataflow) -> u64 {
    let schedule = Schedule::of(program);
    let aliases = Aliases::of(program, slots, &schedule, dataflow);
    let ranges = live_ranges(&Ranges { program, slots, schedule: &schedule, dataflow }, &aliases);
    let of = |value: &Value| program.instruction(slots.owner(value.slot)).opcode;
    let is_counted: Vec<bool> =
        dataflow.values.iter().map(|value| of(value) != Some(Opcode::Constant)).collect();
    let bytes: Vec<u64> =
        dataflow.values.iter().map(|value| bytes(slots.shape(value.slot)).unwrap_or(0)).collect();
    let order_of = |_: Id| FusionOrder::default();
    let overwriting = Overwriting::new(program, slots, dataflow, &order_of);
    let (places, _) = simulate(&overwriting, &aliases, &ranges, &bytes, &is_counted);
    let mut events = Vec::with_capacity(2 * ranges.len());
    for place in &places {
        let mut times: Vec<(u32, u32)> = place.others.clone();
        times.push((place.start, place.end));
        times.sort_unstable();
        // A value that takes over the memory of another one leaves no gap.
        let mut in_use: Option<(u32, u32)> = None;
        for (start, end) in times {
            in_use = match in_use {
                Some((first, last)) if start <= last.saturating_add(1) => Some((first, last.max(end))),
                before => {
                    events.extend(before.map(|before| (before, place.size)));
                    Some((start, end))
                }
            };
        }
        events.extend(in_use.map(|last| (last, place.size)));
    }
    let ends = events.iter().map(|&((_, end), size)| (end, -i128::from(size)));
    let mut changes: Vec<(u32, i128)> =
        events.iter().map(|&((start, _), size)| (start, i128::from(size))).chain(ends).collect();
    changes.sort_unstable();
    let mut in_use = 0;
    let in_use = changes.iter().map(|&(_, change)| {
        in_use += change;
        in_use
    });
    u64::try_from(in_use.max().unwrap_or(0)).unwrap_or(u64::MAX)
}

/// The orders of a scheduled module's computations with its elements. Where the list scheduler explains the schedule, it
/// places them, too.
fn elements(program: &Program, slots: &Slots, dataflow: &Dataflow, computations: &[u32]) -> Orders {
    let mut scheduler = ListScheduler::new(program, slots, dataflow);
    let (mut exceptions, mut instructions) = (0, 0);
    let mut orders = Vec::new();
    for &number in computations {
        let computation = &program.computations[number as usize];
        if has_order(program, computation) {
            continue;
        }
        let order = match scheduler.order(number, Freedom::Elements) {
            Some(placed) => {
                exceptions += placed.exceptions;
                instructions += computation.instructions.len();
                placed.instructions
            }
            None => before_users(program, computation),
        };
        orders.push((number, order));
    }
    if exceptions * FEWEST_EXCEPTIONS > instructions {
        for (number, order) in &mut orders {
            *order = before_users(program, &program.computations[*number as usize]);
        }
    }
    orders
}

/// Elements of a parameter, and those that only the result uses, follow their tuple; all others stand before their first user.
fn before_users(program: &Program, computation: &Computation) -> Vec<Id> {
    let users = computation.instructions.iter().filter(|&&user| user != computation.root);
    let used: FxHashSet<Id> = users.flat_map(|&user| &program.instruction(user).operands).copied().collect();
    let is_early = |id: Id| {
        let instruction = program.instruction(id);
        let tuple = instruction.operands.first().map(|&of| program.instruction(of).opcode);
        !instruction.is_written && (tuple == Some(Some(Opcode::Parameter)) || !used.contains(&id))
    };
    let mut early: FxHashMap<Id, Vec<Id>> = FxHashMap::default();
    for &id in computation.instructions.iter().filter(|&&id| is_early(id)) {
        early.entry(program.instruction(id).operands[0]).or_default().push(id);
    }
    let mut order = Vec::with_capacity(computation.instructions.len());
    for &id in computation.instructions.iter().filter(|&&id| !is_early(id)) {
        order.push(id);
        // An element may be a tuple with elements of its own.
        let mut at = order.len() - 1;
        while let Some(id) = order.get(at) {
            order.extend(early.remove(id).unwrap_or_default());
            at += 1;
        }
    }
    order
}
