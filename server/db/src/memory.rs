//! Where the memory of a module goes.
//!
//! [`memory_part`] is all that the plan reads of a piece, and `fusion_order` all that it reads of a kernel. An edit inside a
//! fusion that changes no shape and no data flow leaves both equal, and the plan is not made again.

use std::sync::Arc;

use gpu::FusionAnalysis;
use ir::{Cost, Module, Opcode};
use memory::{Advice, Devices, FusionOrder, Id, Memory, Part, Program, ShardedParameter, ValueId, advise};
use rustc_hash::FxHashMap;

use crate::costs::instruction_cost;
use crate::giants::giant_index;
use crate::kernel_ids::{KernelId, kernel_id};
use crate::kernels::kernel;
use crate::queries::{block, module};
use crate::{File, Piece};

/// What the plan of the module's memory reads of a piece.
#[salsa::tracked]
pub(crate) fn memory_part(db: &dyn salsa::Database, piece: Piece) -> Arc<Part> {
    Arc::new(Part::of(block(db, piece)))
}

/// How the kernel of a fusion reads and writes.
#[salsa::tracked(lru = 4096)]
fn fusion_order<'db>(db: &'db dyn salsa::Database, id: KernelId<'db>) -> Arc<FusionOrder> {
    let analysis: Option<&Arc<FusionAnalysis>> =
        kernel(db, id).as_ref().and_then(|kernel| kernel.as_ref().ok());
    Arc::new(analysis.map(|analysis| FusionOrder::of(analysis)).unwrap_or_default())
}

/// The memory of the first module of a file; `None` if it has no entry computation. What is wrong in the text is left out.
#[salsa::tracked(lru = 8, no_eq)]
pub fn module_memory(db: &dyn salsa::Database, file: File) -> Option<Arc<Memory>> {
    let program = memory_program(db, file)?;
    Some(Arc::new(Memory::of(&program, &|fusion| order_of(db, file, &program, fusion).unwrap_or_default())))
}

/// Where to find values in the plan. Size: about 100 bytes per value.
#[derive(Debug, Default)]
pub struct MemoryIndex {
    /// The position of an instruction, by the number of its computation and its name.
    pub position_of: FxHashMap<(u32, Box<str>), memory::Time>,
    /// What the instruction at a position defines. No tables of pointers.
    pub defined: FxHashMap<memory::Time, Vec<ValueId>>,
    /// The values in one place, by allocation and offset in bytes, in the order of [`memory::Allocation::values`].
    pub places: FxHashMap<(u32, u64), Vec<ValueId>>,
    /// Per value its place.
    pub place_of: Vec<Option<(u32, u64)>>,
}

/// Finds instructions and their values for hovers and hints. Empty if there is no plan.
#[salsa::tracked(lru = 8, no_eq)]
pub fn memory_index(db: &dyn salsa::Database, file: File) -> Arc<MemoryIndex> {
    let Some(memory) = module_memory(db, file) else { return Arc::default() };
    let mut index = MemoryIndex { place_of: vec![None; memory.values.len()], ..MemoryIndex::default() };
    for (number, value) in memory.values.iter().enumerate().filter(|(_, value)| !value.is_tuple) {
        cancel::tick();
        index.defined.entry(value.defined).or_default().push(number as ValueId);
    }
    for (position, step) in memory.steps.iter().enumerate() {
        cancel::tick();
        index.position_of.insert((step.computation, step.name.clone()), position as memory::Time);
    }
    for (number, allocation) in memory.allocations.iter().enumerate() {
        for &(value, offset) in &allocation.values {
            cancel::tick();
            let place = (number as u32, offset);
            index.places.entry(place).or_default().push(value);
            index.place_of[value as usize] = Some(place);
        }
    }
    Arc::new(index)
}

/// The module as its memory is planned. Not kept: it takes as much memory as the text, and less time than the plan.
fn memory_program(db: &dyn salsa::Database, file: File) -> Option<Program> {
    let parts: Vec<&Arc<Part>> = file.pieces(db).iter().map(|&piece| memory_part(db, piece)).collect();
    let parts: Vec<&Part> = parts.into_iter().map(|part| &**part).collect();
    Program::build(module(db, file), &parts)
}

/// What would lower the peak of a file's memory. Not kept: it plans the module up to a few dozen times, and only reports
/// ask. `None` if there is no plan.
pub fn memory_advice(db: &dyn salsa::Database, file: File) -> Option<Vec<Advice>> {
    let memory = module_memory(db, file).as_deref()?;
    let program = memory_program(db, file)?;
    let order_of = |fusion| order_of(db, file, &program, fusion).unwrap_or_default();
    let cost_of = |id| cost_of(db, file, &program, id).unwrap_or(Cost::UNKNOWN);
    Some(advise(&program, memory, &order_of, &cost_of, &module_devices(db, file)))
}

/// How the first module of a file is spread over devices. Not kept: only reports ask.
pub fn module_devices(db: &dyn salsa::Database, file: File) -> Devices {
    let module = module(db, file);
    let Some(settings) = module.settings(0) else { return Devices::default() };
    let [partitions, replicas] = [settings.num_partitions, settings.replica_count]
        .map(|count| u64::try_from(count).unwrap_or(1).max(1));
    let mut devices = Devices { partitions, replicas, ..Devices::default() };
    let entry = module.entry_of(0);
    if partitions < 2 || entry.is_none() {
        return devices;
    }
    let mut parameters: Vec<(u32, ShardedParameter)> = Vec::new();
    // XLA's partitioner leaves the shardings of the entry's parameters alone, and of what talks to the host.
    let (mut has_other, mut is_cut, mut has_exchange) = (false, false, false);
    for (index, computation) in module.computations.iter().enumerate().filter(|(_, own)| own.section == 0) {
        for segment in &computation.segments {
            let Some(&piece) = file.pieces(db).get(segment.piece) else { continue };
            let block = block(db, piece);
            let Some(own) = block.parse.computations.get(segment.computation as usize) else { continue };
            for at in own.instructions.clone() {
                cancel::tick();
                let sharding = block.sharding(at);
                let opcode = block.instruction(at).opcode;
                if entry != Some(index) || opcode != Some(Opcode::Parameter) {
                    let info = opcode.map(ir::op_info);
                    has_other |= sharding.is_some() && !info.is_some_and(|info| info.has_side_effect);
                    has_exchange |=
                        opcode == Some(Opcode::PartitionId) || info.is_some_and(|info| info.is_collective);
                    continue;
                }
                let (Some(number), Some(shape)) = (block.parameter_number(at), block.shape(at)) else {
                    continue;
                };
                let found = ShardedParameter::new(shape, sharding.as_deref(), partitions);
                let parameter = found.unwrap_or_else(|why| {
                    devices.problems.push(format!("%{}: {why}; it counts as whole", block.name(at)));
                    ShardedParameter::new(shape, None, partitions).unwrap_or_default()
                });
                is_cut |= parameter.bytes_per_device < parameter.bytes;
                parameters.push((number, parameter));
            }
        }
    }
    devices.is_partitioned = settings.is_scheduled || !has_other && (has_exchange || !is_cut);
    parameters.sort_by_key(|&(number, _)| number);
    devices.parameters = parameters.into_iter().map(|(_, parameter)| parameter).collect();
    devices
}

fn cost_of(db: &dyn salsa::Database, file: File, program: &Program, id: Id) -> Option<Cost> {
    let instruction = program.instruction(id);
    let (piece, computation) = place(db, file, module(db, file), instruction.computation, &instruction.name)?;
    instruction_cost(db, file, piece, computation, &instruction.name)
}

fn order_of(db: &dyn salsa::Database, file: File, program: &Program, fusion: Id) -> Option<FusionOrder> {
    let instruction = program.instruction(fusion);
    let (piece, computation) = place(db, file, module(db, file), instruction.computation, &instruction.name)?;
    Some(fusion_order(db, kernel_id(db, piece, computation, &instruction.name)).as_ref().clone())
}

/// The piece with an instruction, and the number of its computation there.
fn place(
    db: &dyn salsa::Database,
    file: File,
    module: &Module,
    computation: u32,
    name: &str,
) -> Option<(Piece, u32)> {
    let index = computation as usize;
    let segments = &module.computations.get(index)?.segments;
    let segment = match segments.as_slice() {
        [only] => only,
        _ => {
            let found = giant_index(db, file).find(index, name)?;
            segments.iter().find(|segment| segment.piece == found.piece as usize)?
        }
    };
    Some((*file.pieces(db).get(segment.piece)?, segment.computation))
}

#[cfg(test)]
mod tests;
