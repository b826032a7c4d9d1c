//! The orders of messages: what is referred to comes first.

use ir::{ParsedComputation, ParsedModule};

/// Computations, callees before their callers, else as they are.
pub(super) fn computation_order(module: &ParsedModule) -> Result<Vec<usize>, String> {
    let calls: Vec<Vec<usize>> = module
        .computations
        .iter()
        .map(|computation| {
            let calls = computation.instructions.iter().flat_map(|instruction| &instruction.calls);
            calls.flat_map(|(_, called)| called.iter().copied()).collect()
        })
        .collect();
    sorted(module.computations.len(), |index, out| out.extend(&calls[index]))
        .map_err(|index| format!("computation {} calls itself", module.computations[index].name))
}

/// Instructions, operands and what control dependencies name before their users, else as they are.
pub(super) fn instruction_order(computation: &ParsedComputation) -> Result<Vec<usize>, String> {
    let before = |index: usize, out: &mut Vec<usize>| {
        let instruction = &computation.instructions[index];
        out.extend(instruction.operands.iter().chain(&instruction.control_predecessors));
    };
    sorted(computation.instructions.len(), before)
        .map_err(|index| format!("{} depends on itself", computation.instructions[index].name))
}

/// The numbers below `count`, each after those before it. An error is a number on a cycle.
fn sorted(count: usize, before: impl Fn(usize, &mut Vec<usize>)) -> Result<Vec<usize>, usize> {
    #[derive(Clone, Copy, PartialEq)]
    enum State {
        New,
        Open,
        Done,
    }
    let mut states = vec![State::New; count];
    let mut order = Vec::with_capacity(count);
    let mut stack = Vec::new();
    let mut found = Vec::new();
    for start in 0..count {
        stack.push(start);
        while let Some(&top) = stack.last() {
            cancel::tick();
            match states[top] {
                State::Done => _ = stack.pop(),
                State::Open => {
                    states[top] = State::Done;
                    order.push(top);
                    stack.pop();
                }
                State::New => {
                    states[top] = State::Open;
                    found.clear();
                    before(top, &mut found);
                    for &next in found.iter().rev() {
                        match states[next] {
                            State::New => stack.push(next),
                            State::Open => return Err(next),
                            State::Done => {}
                        }
                    }
                }
            }
        }
    }
    Ok(order)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_before_is_first() {
        let check = |edges: &[(usize, usize)], expect: Result<Vec<usize>, usize>| {
            let before = |index: usize, out: &mut Vec<usize>| {
                out.extend(edges.iter().filter(|(from, _)| *from == index).map(|(_, to)| *to));
            };
            assert_eq!(sorted(4, before), expect);
        };
        check(&[], Ok(vec![0, 1, 2, 3]));
        check(&[(1, 0), (3, 1)], Ok(vec![0, 1, 2, 3]));
        check(&[(0, 3), (0, 2), (2, 3)], Ok(vec![3, 2, 0, 1]));
        check(&[(0, 1), (1, 2), (2, 0)], Err(0));
        check(&[(0, 0)], Err(0));
    }
}
