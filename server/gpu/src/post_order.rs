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
    let mut order = Vec::with_capacity(graph.ops.len());
    let mut state = vec![State::New; graph.ops.len()];
    let mut stack = Vec::new();
    for start in (0..graph.ops.len() as OpId).filter(|&op| !is_used[op as usize]) {
        stack.push(start);
        while let Some(&op) = stack.last() {
            match state[op as usize] {
                State::New => {
                    state[op as usize] = State::Open;
                    stack.extend(graph.operands[op as usize].iter().rev());
                }
                State::Open => {
                    stack.pop();
                    state[op as usize] = State::Done;
                    order.push(op);
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
