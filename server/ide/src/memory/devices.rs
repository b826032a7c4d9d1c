//! How a module's memory is spread over devices, in words, and what collectives have of it.

use ::memory::{Devices, Memory, Step};
use ir::op_info;

use super::value_name;
use crate::file_context::FileContext;
use crate::units::{bytes, counted};

/// Names of collectives that are listed.
const LISTED: usize = 4;

/// What collectives define that is alive at the peak.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Collectives {
    pub bytes: u64,
    /// Names of the values, the largest first.
    pub values: Vec<String>,
}

impl Collectives {
    pub(super) fn at_peak(context: &FileContext<'_>, memory: &Memory) -> Collectives {
        let mut found = Collectives::default();
        for number in memory.alive_at(memory.usage.peak) {
            cancel::check();
            let value = &memory.values[number as usize];
            let step = memory.steps.get(value.defined as usize).filter(|_| !value.is_tuple);
            if step.is_some_and(|step| is_collective(context, step)) {
                found.bytes = found.bytes.saturating_add(value.bytes);
                found.values.push(value.name.clone());
            }
        }
        found
    }

    /// `collectives: 1.2 GB at the peak in 2 buffers: %all-gather.1, %all-reduce.3`; `None` where none is alive.
    pub fn in_words(&self) -> Option<String> {
        let names: Vec<String> =
            self.values.iter().take(LISTED).map(|name| format!("%{}", value_name(name))).collect();
        let more = match self.values.len().saturating_sub(LISTED) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let count = counted(self.values.len() as u64, "buffer");
        (!names.is_empty()).then(|| {
            format!("collectives: {} at the peak in {count}: {}{more}", bytes(self.bytes), names.join(", "))
        })
    }
}

fn is_collective(context: &FileContext<'_>, step: &Step) -> bool {
    let found = context.module().computations.get(step.computation as usize).and_then(|computation| {
        computation.segments.iter().find_map(|segment| {
            let block = context.block(segment.piece);
            block.instruction(block.find(segment.computation, &step.name)?).opcode
        })
    });
    found.is_some_and(|opcode| op_info(opcode).is_collective)
}

/// `per device: one of 8 partitions, 2 replicas`; of a module that is not partitioned, what a device needs as far as it is known.
/// `None` of a module for one device.
pub fn devices_in_words(devices: &Devices, memory: &Memory) -> Option<String> {
    let replicas = match devices.replicas {
        1 => String::new(),
        count => format!(", {}", counted(count, "replica")),
    };
    let partitions = devices.partitions;
    if let Some(needed) = devices.per_device(memory) {
        let whole = devices.parameters.iter().map(|parameter| parameter.bytes).fold(0, u64::saturating_add);
        let [part, whole, low, high] =
            [needed.parameters, whole, needed.in_use[0], needed.in_use[1]].map(bytes);
        return Some(format!(
            "not partitioned yet, for {partitions} devices{replicas}: sizes are of all devices together\n\
             per device: {part} of {whole} parameters; between {low} and {high} in use at the peak, as all else is cut or not"
        ));
    }
    match (partitions, devices.replicas) {
        (1, 1) => None,
        (1, count) => Some(format!("per device: one of {}", counted(count, "replica"))),
        _ => Some(format!("per device: one of {partitions} partitions{replicas}")),
    }
}
