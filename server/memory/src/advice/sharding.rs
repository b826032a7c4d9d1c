//! Replicated parameters of which each device could have a part.

use ir::{ArrayShape, Opcode, Shape};

use super::changed::Changed;
use super::{Action, Advice, Advisor};
use crate::program::{Id, Program};
use crate::sizes::bytes;

/// Instructions that read one parameter, in front of each of which it is gathered.
const READERS: usize = 64;

/// A parameter that is cut over all partitions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sharding {
    pub name: Box<str>,
    pub parameter: u32,
    /// The largest of the dimensions whose size the number of partitions divides.
    pub dimension: usize,
    pub partitions: u64,
    pub bytes_per_device: u64,
    /// The shape on one device.
    pub shape: String,
    /// The instructions in front of which all devices gather the whole parameter, in order. Empty if the peak is a bound: the
    /// parameter is donated, so the result in its memory is cut, too, and how that is computed is not planned.
    pub gathered_before: Vec<Box<str>>,
}

/// The largest parameter first.
pub(super) fn advice(advisor: &Advisor<'_>) -> Vec<Advice> {
    let Advisor { program, memory, devices, flow, .. } = advisor;
    if devices.partitions < 2 || !devices.is_partitioned {
        return Vec::new();
    }
    let parameters = program.computations[program.entry].parameters.iter().copied();
    let replicated = parameters.zip(&devices.parameters).zip(0u32..).filter_map(|((id, stated), number)| {
        cancel::tick();
        // A number that no parameter has.
        if id == Id::MAX {
            return None;
        }
        let value = flow.dataflow.at(flow.slots.top(id))?;
        // A result in the memory of the parameter may be there instead.
        let buffer = &flow.aliases.buffers[flow.aliases.buffer_of[value as usize] as usize];
        let is_alive = buffer.iter().any(|&own| memory.values[own as usize].live.contains(memory.usage.peak));
        (stated.is_replicated && is_alive).then_some((memory.values[value as usize].bytes, id, number))
    });
    let mut replicated: Vec<(u64, Id, u32)> = replicated.collect();
    replicated.sort_by_key(|&(bytes, _, number)| (std::cmp::Reverse(bytes), number));
    let sharded = replicated.into_iter().map(|(_, id, number)| plan(advisor, id, number));
    sharded.take(advisor.plans()).flatten().collect()
}

fn plan(advisor: &Advisor<'_>, id: Id, number: u32) -> Option<Advice> {
    let Advisor { program, devices, memory, .. } = advisor;
    let parameter = program.instruction(id);
    let (dimension, shape) = cut(parameter.shape.as_array()?, devices.partitions)?;
    let [whole, part] = [bytes(&parameter.shape)?, bytes(&shape)?];
    let is_donated = program.is_donated(number, &[]);
    let readers = readers(program, id)?;
    let name = |&id: &Id| program.instruction(id).name.clone();
    let action = Action::Shard(Sharding {
        name: parameter.name.clone(),
        parameter: number,
        dimension,
        partitions: devices.partitions,
        bytes_per_device: part,
        shape: shape.to_string(),
        gathered_before: if is_donated { Vec::new() } else { readers.iter().map(name).collect() },
    });
    if is_donated {
        let saved = whole.saturating_sub(part);
        let [peak, total] = [memory.in_use_at_peak(), memory.total].map(|all| all.saturating_sub(saved));
        return advisor.shown(peak, total, action, whole);
    }
    let mut changed = Changed::new(program);
    for &reader in &readers {
        changed.gather(id, reader);
    }
    changed.program.instructions[id as usize].shape = shape;
    advisor.plan_changed(&changed, action, whole)
}

/// The instructions that read a parameter. `None` where it is a result or control flow has it, which keeps it.
fn readers(program: &Program, id: Id) -> Option<Vec<Id>> {
    use Opcode::{AsyncStart, Bitcast, Call, Conditional, CopyStart, OptBarrier, Tuple, While};
    let users = &program.instruction(id).users;
    let is_plain = |&user: &Id| {
        program.instruction(user).opcode.is_some_and(|opcode| {
            !matches!(
                opcode,
                AsyncStart | Bitcast | Call | Conditional | CopyStart | OptBarrier | Tuple | While
            )
        })
    };
    let is_found = users.len() <= READERS && !program.is_root(id) && users.iter().all(is_plain);
    is_found.then(|| users.clone())
}

fn cut(array: &ArrayShape, partitions: u64) -> Option<(usize, Shape)> {
    let partitions = i64::try_from(partitions).ok()?;
    let divided = (0..array.rank()).filter(|&dim| array.dims[dim] > 0 && array.dims[dim] % partitions == 0);
    let dimension = divided.max_by_key(|&dim| (array.dims[dim], std::cmp::Reverse(dim)))?;
    let mut shape = array.clone();
    shape.dims[dimension] /= partitions;
    Some((dimension, Shape::Array(shape.into())))
}
