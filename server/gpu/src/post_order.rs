//! Operands before their users, in the order in which XLA visits them.

use ir::{Graph, OpId};

/// All ops of `graph` after their operands, first operand first. Ops that nothing uses start a walk in order
/// of definition. XLA numbers functions and heroes in this order, and its names depend on it.
/// Source: `HloComputation::MakeInstructionPostOrder`.
pub fn post_order(graph: &Graph) -> Vec<OpId> {
    let mut is_used = vec![false; graph.ops.len()];
    for &operand in graph.operands.iter().flatten() {
        is_used[operand as usize] = true;
    }
    let starts = (0..graph.ops.len() as OpId).filter(|&op| !is_used[op as usize]);
    operands_first(graph.ops.len(), starts, |op| &graph.operands[op as usize])
}

/// The same walk from `starts` over ids below `count`, whatever they are ids of.
pub fn operands_first<'a>(
    count: usize,
    starts: impl Iterator<Item = u32>,
    operands: impl Fn(u32) -> &'a [u32],
) -> Vec<u32> {
    let mut order = Vec::with_capacity(count);
    let mut state = vec![State::New; count];
    let mut stack = Vec::new();
    for start in starts {
        stack.push(start);
        while let Some(&id) = stack.last() {
            match state[id as usize] {
                State::New => {
                    state[id as usize] = State::Open;
                    stack.extend(operands(id).iter().rev());
                }
                State::Open => {
                    stack.pop();
                    state[id as usize] = State::Done;
                    order.push(id);
                }
                State::Done => {
                    stack.pop();
                }
            }
        }
    }
    order
}

#[derive(Clone, Copy, PartialEq)]
enum State {
    New,
    Open,
    Done,
}
