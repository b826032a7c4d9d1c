//! Orders in which operands run before their users, depth first.
//!
//! Source: `DFSMemoryScheduler` and `PostOrderScheduler`, `hlo/transforms/simplifiers/hlo_memory_scheduler.cc`.

use std::cmp::Reverse;

use ir::Opcode;

use crate::dataflow::Dataflow;
use crate::program::{Computation, Id, Program};
use crate::sizes::plain_bytes;
use crate::slots::Slots;

/// Which operand is visited first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum First {
    /// The one that leads to most instructions with several users, then the one that leads to most bytes.
    MostUsed,
    /// In the order of the text.
    Written,
}

/// What leads to an instruction; instructions on several paths count several times.
#[derive(Debug, Clone, Copy, Default)]
struct Weight {
    extra_users: u64,
    bytes: u64,
}

/// The orders of the computations that run as steps, which are `computations`.
pub(crate) fn orders(
    program: &Program,
    slots: &Slots,
    dataflow: &Dataflow,
    computations: &[u32],
    first: First,
) -> Vec<(u32, Vec<Id>)> {
    let mut before: Vec<Vec<Id>> = program.instructions.iter().map(|one| one.operands.clone()).collect();
    for &(one, then) in &program.control {
        before[then as usize].push(one);
    }
    let mut order = operands_first(program, computations, &before);
    if first == First::MostUsed {
        let weights = weights(program, slots, dataflow, &order);
        for &id in &order {
            before[id as usize].sort_by_key(|&of| {
                let Weight { extra_users, bytes } = weights[of as usize];
                (Reverse(extra_users), Reverse(bytes), name(program, of), of)
            });
        }
        order = operands_first(program, computations, &before);
    }
    // Those of one computation follow each other.
    let same = |a: &Id, b: &Id| program.instruction(*a).computation == program.instruction(*b).computation;
    let parts = order.chunk_by(same);
    parts.map(|part| (program.instruction(part[0]).computation, part.to_vec())).collect()
}

/// The name by which XLA orders what is equal otherwise. Texts do not show that of a tuple element, which starts with the opcode.
fn name(program: &Program, id: Id) -> &str {
    let instruction = program.instruction(id);
    match instruction.opcode {
        Some(Opcode::GetTupleElement) => Opcode::GetTupleElement.name(),
        _ => &instruction.name,
    }
}

/// The instructions that nothing reads are visited in the order of the text, the roots behind them.
fn operands_first(program: &Program, computations: &[u32], before: &[Vec<Id>]) -> Vec<Id> {
    let starts = computations.iter().flat_map(|&number| {
        let Computation { root, instructions, .. } = &program.computations[number as usize];
        let unused = instructions.iter().copied();
        unused.filter(move |id| id != root && program.instruction(*id).users.is_empty()).chain([*root])
    });
    gpu::operands_first(program.instructions.len(), starts, |id| &before[id as usize])
}

/// Per instruction, in an order with operands before their users.
fn weights(program: &Program, slots: &Slots, dataflow: &Dataflow, order: &[Id]) -> Vec<Weight> {
    let mut weights = vec![Weight::default(); program.instructions.len()];
    let (mut computation, mut all_bytes) = (u32::MAX, 0u64);
    for &id in order {
        cancel::tick();
        let instruction = program.instruction(id);
        if computation != instruction.computation {
            (computation, all_bytes) = (instruction.computation, 0);
        }
        if matches!(instruction.opcode, Some(Opcode::Parameter | Opcode::Constant)) {
            continue;
        }
        let defined = slots
            .of_instruction(id)
            .filter(|&slot| dataflow.at(slot).is_some_and(|value| dataflow.value(value).slot == slot));
        let bytes =
            defined.map(|slot| plain_bytes(slots.shape(slot)).unwrap_or(0)).fold(0, u64::saturating_add);
        all_bytes = all_bytes.saturating_add(bytes);
        let extra_users = instruction.users.len().saturating_sub(1) as u64;
        let mut operands = instruction.operands.clone();
        operands.sort_unstable();
        operands.dedup();
        let weight = operands.iter().fold(Weight { extra_users, bytes }, |sum, &of| {
            let Weight { extra_users, bytes } = weights[of as usize];
            Weight {
                extra_users: sum.extra_users.saturating_add(extra_users),
                bytes: sum.bytes.saturating_add(bytes),
            }
        });
        // Paths may be as many as there are numbers.
        let most = program.computations[computation as usize].instructions.len() as u64;
        weights[id as usize] =
            Weight { extra_users: weight.extra_users.min(most), bytes: weight.bytes.min(all_bytes) };
    }
    weights
}
