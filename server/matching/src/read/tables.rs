//! Instructions by name, and their users, of a program whose instructions are read.

use rustc_hash::FxHashSet;

use crate::program::{Named, Program, Use};

impl<'t> Program<'t> {
    pub(super) fn fill_names(&mut self) {
        let program = self;
        let mut colliding: FxHashSet<&'t str> = FxHashSet::default();
        let named = program.instructions.iter().enumerate().filter(|(_, i)| !i.name.is_empty());
        for (id, instruction) in named {
            let named = Named::Once(id as u32);
            if let Some(first) = program.by_name.insert(instruction.name, named)
                && first != named
            {
                colliding.insert(instruction.name);
            }
        }
        for &name in &colliding {
            program.by_name.insert(name, Named::Often);
        }
        if colliding.is_empty() {
            return;
        }
        for (id, instruction) in program.instructions.iter().enumerate() {
            if colliding.contains(instruction.name) {
                let computation = program.computations[instruction.computation as usize].name;
                program.by_qualified_name.insert((computation, instruction.name), id as u32);
            }
        }
    }

    pub(super) fn fill_users(&mut self) {
        let program = self;
        let count = program.instructions.len();
        let mut first = vec![0u32; count + 1];
        for operand in &program.operands {
            first[operand.instruction as usize + 1] += 1;
        }
        for at in 0..count {
            first[at + 1] += first[at];
        }
        let mut next = first.clone();
        let mut users = vec![Use { user: 0, operand: 0 }; program.operands.len()];
        for user in 0..count as u32 {
            for (operand, used) in program.operands(user).iter().enumerate() {
                let slot = &mut next[used.instruction as usize];
                users[*slot as usize] = Use { user, operand: operand as u32 };
                *slot += 1;
            }
        }
        program.users = users;
        program.first_user = first;
    }
}
