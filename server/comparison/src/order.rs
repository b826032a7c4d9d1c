//! The order in which computations and instructions are written.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;

use matching::Program;
use rustc_hash::{FxHashMap, FxHashSet};
use syntax::hlo::{ComputationKind, Opcode, Parse};

use crate::names::Names;

/// Computations that are not written inside an instruction, each with its instructions that are not.
pub(crate) type Order = Vec<(u32, Vec<u32>)>;

pub(crate) fn as_written(parse: &Parse) -> Order {
    let computations = parse.computations.iter().enumerate();
    let outer =
        computations.filter(|(_, computation)| !matches!(computation.kind, ComputationKind::Inline(_)));
    outer.map(|(at, computation)| (at as u32, outer_instructions(parse, &computation.instructions))).collect()
}

/// Without those in the operands and the inline computations of others.
fn outer_instructions(parse: &Parse, range: &Range<u32>) -> Vec<u32> {
    range.clone().filter(|&id| !parse.instructions[id as usize].is_nested).collect()
}

/// The computations that a schedule orders: control flow, but neither fusions nor reducers.
pub(crate) fn scheduled(program: &Program<'_>) -> FxHashSet<u32> {
    let mut found = FxHashSet::from_iter([program.entry]);
    let mut open = vec![program.entry];
    while let Some(computation) = open.pop() {
        cancel::tick();
        for id in program.computation(computation).instructions.clone() {
            let is_control_flow = matches!(
                program.instruction(id).opcode,
                Some(Opcode::While | Opcode::Conditional | Opcode::Call | Opcode::AsyncStart)
            );
            let callees = if is_control_flow { program.callees(id) } else { &[] };
            open.extend(callees.iter().filter(|callee| found.insert(**callee)));
        }
    }
    found
}

/// The order of the first module, as far as definitions stay above their uses. Computations in `kept` stay as they are.
pub(crate) fn like_the_first(
    first: &Program<'_>,
    second: &Program<'_>,
    written: Order,
    names: &Names<'_>,
    kept: &FxHashSet<u32>,
) -> Order {
    let computations: Vec<u32> = written.iter().map(|(computation, _)| *computation).collect();
    let order = arrange(&callers(second, &written), |at| names.homes[computations[at] as usize]);
    let mut arranged: Vec<Vec<u32>> = written
        .into_iter()
        .map(|(computation, instructions)| {
            if kept.contains(&computation) {
                return instructions;
            }
            let home = names.homes[computation as usize];
            let order = arrange(&users(second, &instructions), |at| {
                // What came from another computation goes where its users are.
                let source = names.counterparts[instructions[at] as usize]?;
                (Some(first.instruction(source).computation) == home).then_some(source)
            });
            order.into_iter().map(|at| instructions[at]).collect()
        })
        .collect();
    order.into_iter().map(|at| (computations[at], std::mem::take(&mut arranged[at]))).collect()
}

/// Per computation: the later ones that call it.
fn callers(program: &Program<'_>, written: &Order) -> Vec<Vec<usize>> {
    let mut found = vec![Vec::new(); written.len()];
    let positions: FxHashMap<u32, usize> =
        written.iter().enumerate().map(|(at, (id, _))| (*id, at)).collect();
    for (caller, (_, instructions)) in written.iter().enumerate() {
        for callee in instructions.iter().flat_map(|&id| program.callees(id)) {
            if let Some(&callee) = positions.get(callee) {
                found[callee].push(caller);
            }
        }
    }
    found
}

/// Per instruction: those that use it.
pub(crate) fn users(program: &Program<'_>, instructions: &[u32]) -> Vec<Vec<usize>> {
    let mut found = vec![Vec::new(); instructions.len()];
    let positions: FxHashMap<u32, usize> =
        instructions.iter().enumerate().map(|(at, id)| (*id, at)).collect();
    for (user, &id) in instructions.iter().enumerate() {
        for operand in program.operands(id) {
            if let Some(&used) = positions.get(&operand.instruction) {
                found[used].push(user);
            }
        }
    }
    found
}

/// The order by wished positions with each item above its users. An item without a wish, or whose wish is below its first
/// user, stands right above that one: moving one item up is less than moving all its users down.
/// Users that stand above what they use already stay there: no text is lost to a cycle.
pub(crate) fn arrange(users: &[Vec<usize>], wish: impl Fn(usize) -> Option<u32>) -> Vec<usize> {
    const LAST: u32 = u32::MAX;
    // Position, whether it is wished, and the place as written.
    let mut keys: Vec<(u32, bool, usize)> = vec![(LAST, false, 0); users.len()];
    let mut missing = vec![0usize; users.len()];
    for at in (0..users.len()).rev() {
        let later = users[at].iter().filter(|&&user| user > at);
        let first_user = later.clone().map(|&user| keys[user].0).min().unwrap_or(LAST);
        let wished = wish(at).filter(|&position| position <= first_user);
        keys[at] = wished.map_or((first_user, false, at), |position| (position, true, at));
        later.for_each(|&user| missing[user] += 1);
    }
    let ready = (0..users.len()).filter(|&at| missing[at] == 0);
    let mut open: BinaryHeap<Reverse<(u32, bool, usize)>> = ready.map(|at| Reverse(keys[at])).collect();
    let mut order = Vec::with_capacity(users.len());
    while let Some(Reverse((_, _, at))) = open.pop() {
        cancel::tick();
        order.push(at);
        for &user in users[at].iter().filter(|&&user| user > at) {
            missing[user] -= 1;
            if missing[user] == 0 {
                open.push(Reverse(keys[user]));
            }
        }
    }
    order
}
