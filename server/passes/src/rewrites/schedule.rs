//! `schedule`: the order in which the instructions of a module run, chosen so that it needs little memory.
//!
//! Source: XLA `service/gpu/gpu_hlo_schedule.cc`; `hlo/transforms/simplifiers/hlo_memory_scheduler.cc` in crate `memory`.

use rustc_hash::FxHashSet;
use syntax::hlo::{AttributeKey, Opcode};

use crate::driver::{Run, Stop};
use crate::module::{ComputationId, InstructionId, Module, Planned};

pub(super) fn run(run: &mut Run<'_>) -> Result<(), Stop> {
    if run.module.header.is_scheduled {
        return Ok(());
    }
    let Planned { mut program, ids, computations } = run.module.planned();
    program.schedule();
    let fused: FxHashSet<ComputationId> = fused(run.module);
    for (computation, &id) in program.computations.iter().zip(&computations) {
        if fused.contains(&id) {
            continue;
        }
        let order: Vec<InstructionId> = computation.instructions.iter().map(|&at| ids[at as usize]).collect();
        let order = latest(run.module, &earliest(run.module, &order));
        run.changed(run.module.root(id), format!("scheduled as the last of {} instructions", order.len()));
        run.module.set_order(id, order);
    }
    run.module.header.is_scheduled = true;
    Ok(())
}

fn fused(module: &Module) -> FxHashSet<ComputationId> {
    let all = module.computations();
    let instructions = all.iter().flat_map(|&c| module.instructions(c));
    let fusions = instructions.filter(|&id| module[id].opcode() == Opcode::Fusion);
    fusions.flat_map(|id| module[id].called().collect::<Vec<_>>()).collect()
}

/// Moves each asynchronous operation to right behind the last that it waits for.
fn earliest(module: &Module, order: &[InstructionId]) -> Vec<InstructionId> {
    let mut placed = Placed::default();
    for &id in order {
        if placed.contains(id) {
            continue;
        }
        placed.push(id);
        for &next in module[id].users().iter().chain(module[id].control_successors()) {
            let waits_for = module[next].operands().iter().chain(module[next].control_predecessors());
            if starts(module, next) && !placed.contains(next) && placed.has_all(waits_for) {
                placed.push(next);
            }
        }
    }
    placed.order
}

/// Moves the end of each asynchronous operation to right before the first that waits for it.
fn latest(module: &Module, order: &[InstructionId]) -> Vec<InstructionId> {
    let mut placed = Placed::default();
    for &id in order.iter().rev() {
        if placed.contains(id) {
            continue;
        }
        placed.push(id);
        for &before in module[id].operands().iter().chain(module[id].control_predecessors()) {
            let waiting = module[before].users().iter().chain(module[before].control_successors());
            if ends(module, before) && !placed.contains(before) && placed.has_all(waiting) {
                placed.push(before);
            }
        }
    }
    placed.order.reverse();
    placed.order
}

#[derive(Default)]
struct Placed {
    order: Vec<InstructionId>,
    known: FxHashSet<InstructionId>,
}

impl Placed {
    fn push(&mut self, id: InstructionId) {
        self.order.push(id);
        self.known.insert(id);
    }

    fn contains(&self, id: InstructionId) -> bool {
        self.known.contains(&id)
    }

    fn has_all<'a>(&self, mut ids: impl Iterator<Item = &'a InstructionId>) -> bool {
        ids.all(|&id| self.contains(id))
    }
}

/// Whether an instruction starts something that runs beside others.
fn starts(module: &Module, id: InstructionId) -> bool {
    use Opcode::{AllGatherStart, AllReduceStart, AsyncStart, CollectivePermuteStart, CustomCall};
    match module[id].opcode() {
        AllGatherStart | AllReduceStart | CollectivePermuteStart | AsyncStart => !is_synchronous(module, id),
        CustomCall => runs_when(module, id, "SCHEDULE_EARLIEST"),
        _ => false,
    }
}

/// Whether an instruction waits for the end of what runs beside others.
fn ends(module: &Module, id: InstructionId) -> bool {
    use Opcode::{AllGatherDone, AllReduceDone, AsyncDone, CollectivePermuteDone, CustomCall};
    match module[id].opcode() {
        AllGatherDone | AllReduceDone | CollectivePermuteDone | AsyncDone => {
            module[id].operands().first().is_some_and(|&start| starts(module, start))
        }
        CustomCall => runs_when(module, id, "SCHEDULE_LATEST"),
        _ => false,
    }
}

fn runs_when(module: &Module, id: InstructionId, when: &str) -> bool {
    module[id].attributes().text(AttributeKey::Schedule) == Some(when)
}

fn is_synchronous(module: &Module, id: InstructionId) -> bool {
    let config = module[id].attributes().text(AttributeKey::BackendConfig).unwrap_or_default();
    config.replace(' ', "").contains("\"is_sync\":true")
}
