//! The chain from the start of an asynchronous operation to its end.

use ir::Opcode;

use crate::program::{Id, Program};

/// The instruction that starts the chain of an asynchronous instruction: the instruction itself, or what its first
/// operands lead to. `None` where the chain is broken.
pub(crate) fn start(program: &Program, mut id: Id) -> Option<Id> {
    loop {
        let instruction = program.instruction(id);
        match instruction.opcode {
            Some(Opcode::AsyncStart) => return Some(id),
            Some(Opcode::AsyncUpdate | Opcode::AsyncDone) => {
                // Operands stand before their users, so this ends.
                id = *instruction.operands.first().filter(|&&operand| operand < id)?;
            }
            _ => return None,
        }
    }
}

/// The instruction that waits for the chain of `start`.
pub(crate) fn done(program: &Program, start: Id) -> Option<Id> {
    let mut id = start;
    loop {
        let next = program.instruction(id).users.iter().copied().find(|&user| {
            matches!(program.instruction(user).opcode, Some(Opcode::AsyncUpdate | Opcode::AsyncDone))
        });
        id = next.filter(|&next| next > id)?;
        if program.instruction(id).opcode == Some(Opcode::AsyncDone) {
            return Some(id);
        }
    }
}
