//! Computations that call themselves: XLA's modules have none, texts may.

use crate::program::Program;

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Unknown,
    Open,
    Done,
}

/// Reports each call that leads back to a computation which is running. The schedule does not follow it.
pub(crate) fn report(program: &mut Program) {
    let mut state = vec![State::Unknown; program.computations.len()];
    let mut found = Vec::new();
    for first in std::iter::once(program.entry as u32).chain(0..program.computations.len() as u32) {
        // Computations that are open, with their calls that are still to follow.
        let mut open: Vec<(u32, Vec<(u32, u32)>)> = Vec::new();
        let mut next = Some(first).filter(|&first| state[first as usize] == State::Unknown);
        loop {
            cancel::tick();
            if let Some(number) = next.take() {
                state[number as usize] = State::Open;
                let instructions = program.computations[number as usize].instructions.iter().rev();
                let calls = instructions.flat_map(|&id| {
                    program.instruction(id).callees.iter().map(move |&(_, callee)| (id, callee))
                });
                open.push((number, calls.collect()));
            }
            let Some((number, calls)) = open.last_mut() else { break };
            match calls.pop() {
                None => {
                    state[*number as usize] = State::Done;
                    open.pop();
                }
                Some((id, callee)) => match state[callee as usize] {
                    State::Unknown => next = Some(callee),
                    State::Open => found.push((id, callee)),
                    State::Done => {}
                },
            }
        }
    }
    for (id, callee) in found {
        let (caller, callee) =
            (&program.instructions[id as usize].name, &program.computations[callee as usize].name);
        program.problems.add(|| {
            format!(
                "%{caller}: the computation %{callee} calls itself here; planned as if this call did nothing"
            )
        });
    }
}
