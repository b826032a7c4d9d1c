//! `loop-schedule-linearizer`: lets what reads an element of a loop's state run before what writes its next value, which saves a
//! copy of the element.
//!
//! Source: XLA `service/loop_schedule_linearizer.cc`.

use memory::Copies;
use rustc_hash::FxHashSet;
use syntax::hlo::{AttributeKey, Opcode};

use crate::driver::{Run, Stop};
use crate::module::{InstructionId, Module, Planned};

pub(super) fn run(run: &mut Run<'_>) -> Result<(), Stop> {
    let mut pairs = Vec::new();
    {
        let module = &*run.module;
        let Planned { program, ids, .. } = module.planned();
        let copies = Copies::new(&program, &|_| memory::FusionOrder::default());
        for (at, &id) in (0..).zip(&ids) {
            if module[id].opcode() == Opcode::While && !has_collectives(module, id) {
                let reads = copies.state_reads(at).into_iter();
                pairs.extend(reads.map(|(read, write)| (ids[read as usize], ids[write as usize])));
            }
        }
    }
    for (read, write) in pairs {
        let is_there = run.module[write].control_predecessors().contains(&read);
        if !is_there && !depends(run.module, read, write) {
            let name = run.module[read].name();
            run.changed(write, format!("runs after %{name}, which reads what it replaces"));
            run.module.add_control(read, write);
        }
    }
    Ok(())
}

/// Whether a loop has collectives that run beside other instructions: more dependencies would keep them from it.
fn has_collectives(module: &Module, id: InstructionId) -> bool {
    use Opcode::*;
    let Some(body) = module[id].callee(AttributeKey::Body) else { return true };
    let is_collective = |id: InstructionId| {
        let opcode = module[id].opcode();
        let wrapped = || module[id].called().map(|called| module[module.root(called)].opcode());
        match opcode {
            AllGatherStart
            | AllGatherDone
            | AllReduceStart
            | AllReduceDone
            | CollectivePermuteStart
            | CollectivePermuteDone
            | Send
            | SendDone
            | Recv
            | RecvDone => true,
            AsyncStart => wrapped().any(is_collective),
            _ => false,
        }
    };
    module.instructions(body).into_iter().any(is_collective)
}

fn is_collective(opcode: Opcode) -> bool {
    use Opcode::*;
    matches!(
        opcode,
        AllGather
            | AllReduce
            | AllToAll
            | CollectiveBroadcast
            | CollectivePermute
            | RaggedAllToAll
            | ReduceScatter
    )
}

/// Whether an instruction runs after another one of its computation, through operands and control dependencies.
fn depends(module: &Module, id: InstructionId, on: InstructionId) -> bool {
    let mut seen = FxHashSet::default();
    let mut open = vec![id];
    while let Some(id) = open.pop() {
        cancel::tick();
        if id == on {
            return true;
        }
        let before = module[id].operands().iter().chain(module[id].control_predecessors());
        open.extend(before.copied().filter(|&before| seen.insert(before)));
    }
    false
}
