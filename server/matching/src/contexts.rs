//! Hashes of what each instruction is computed from and of what uses it. An edit changes the inputs of what follows it and the
//! uses of what precedes it, so that all other instructions keep one of the two, whatever their names.

use crate::hash::{Hash, Kind};
use crate::program::Program;

/// Hashes per instruction, and a digest per computation. Layouts and `backend_config` do not enter.
pub(crate) struct Contexts {
    /// Opcode, dimensions, attributes and callees.
    pub(crate) code: Vec<u64>,
    /// The code of the instruction and of all that it is computed from, within its computation.
    pub(crate) inputs: Vec<u64>,
    /// The code of all that uses it, within its computation, without its own.
    pub(crate) uses: Vec<u64>,
    /// Per computation: equal for equal code, in any order and under any names.
    pub(crate) digests: Vec<u64>,
}

impl Contexts {
    pub(crate) fn of(program: &Program<'_>) -> Contexts {
        let count = program.instructions.len();
        let mut contexts = Contexts {
            code: vec![0; count],
            inputs: vec![0; count],
            uses: vec![0; count],
            digests: vec![0; program.computations.len()],
        };
        for computation in callees_first(program) {
            contexts.read(program, computation);
        }
        contexts
    }

    fn read(&mut self, program: &Program<'_>, computation: u32) {
        let range = program.computation(computation).instructions.clone();
        let mut sum = 0u64;
        for id in range.clone() {
            cancel::tick();
            let code = self.code_of(program, id);
            self.code[id as usize] = code;
            let operands = program.operands(id).iter().map(|operand| {
                let path = program.path(operand).iter().map(|&index| index.into());
                Hash::of(Kind::Element).word(self.inputs[operand.instruction as usize]).words(path).end()
            });
            let inputs = Hash::of(Kind::Structure).word(code).words(operands).end();
            self.inputs[id as usize] = inputs;
            sum = sum.wrapping_add(Hash::of(Kind::Digest).word(inputs).end());
        }
        // Users stand below what they use.
        for id in range.clone().rev() {
            cancel::tick();
            let mut uses = u64::from(program.instruction(id).is_root);
            for used in program.users(id) {
                let user = used.user as usize;
                let operand = &program.operands(used.user)[used.operand as usize];
                let path = program.path(operand).iter().map(|&index| index.into());
                let hash = Hash::of(Kind::Uses).word(self.code[user]).word(self.uses[user]);
                uses = uses.wrapping_add(hash.word(used.operand.into()).words(path).end());
            }
            self.uses[id as usize] = Hash::of(Kind::Uses).word(uses).end();
        }
        let root = self.inputs.get(program.computation(computation).root as usize).copied();
        let digest = Hash::of(Kind::Digest).word(root.unwrap_or_default()).word(sum).word(range.len() as u64);
        self.digests[computation as usize] = digest.end();
    }

    fn code_of(&self, program: &Program<'_>, id: u32) -> u64 {
        let instruction = program.instruction(id);
        let callees = program.callees(id).iter().map(|&callee| self.digests[callee as usize]);
        Hash::of(Kind::Instruction)
            .text(instruction.opcode_text)
            .word(instruction.dimensions)
            .word(instruction.semantics)
            .word(instruction.number.map_or(0, |number| u64::from(number) + 1))
            .words(callees)
            .end()
    }
}

/// All computations, each after those that it calls; a computation that calls itself is anywhere.
fn callees_first(program: &Program<'_>) -> Vec<u32> {
    let callees = |computation: u32| -> Vec<u32> {
        let ids = program.computation(computation).instructions.clone();
        ids.flat_map(|id| program.callees(id)).copied().collect()
    };
    let count = program.computations.len();
    let mut order = Vec::with_capacity(count);
    let mut is_seen = vec![false; count];
    let mut open: Vec<(u32, std::vec::IntoIter<u32>)> = Vec::new();
    for start in 0..count as u32 {
        if std::mem::replace(&mut is_seen[start as usize], true) {
            continue;
        }
        open.push((start, callees(start).into_iter()));
        while let Some((computation, rest)) = open.last_mut() {
            cancel::tick();
            match rest.next() {
                Some(callee) if !std::mem::replace(&mut is_seen[callee as usize], true) => {
                    open.push((callee, callees(callee).into_iter()));
                }
                Some(_) => (),
                None => {
                    order.push(*computation);
                    open.pop();
                }
            }
        }
    }
    order
}
