//! Ranges of thread and block ids.

use indexing_map::Interval;
use mlir_ops::{HardwareId, OpText};

const NOT_NEGATIVE: Interval = Interval::new(0, i64::MAX);

/// The range of an id by the op or the hardware. Limits of a block: CUDA C++ Programming Guide, technical
/// specifications.
pub(crate) fn hardware_range(text: &OpText<'_>, id: HardwareId) -> Interval {
    if let Some(range) = text.stated_range() {
        return range;
    }
    let bound = text.upper_bound();
    let threads = if text.axis() == Some(2) { 64 } else { 1024 };
    let blocks = i64::from(i32::MAX);
    match id {
        HardwareId::Thread => Interval::from_size(bound.unwrap_or(threads)),
        HardwareId::Block | HardwareId::Cluster => Interval::from_size(bound.unwrap_or(blocks)),
        HardwareId::BlockSize => Interval::new(1, bound.unwrap_or(threads)),
        HardwareId::GridSize | HardwareId::ClusterSize => Interval::new(1, bound.unwrap_or(blocks)),
        HardwareId::Lane => Interval::from_size(bound.unwrap_or(128)),
        HardwareId::Subgroup => Interval::from_size(bound.unwrap_or(1024)),
        HardwareId::SubgroupCount | HardwareId::SubgroupSize => Interval::new(1, bound.unwrap_or(1024)),
        HardwareId::Global => bound.map_or(NOT_NEGATIVE, Interval::from_size),
        HardwareId::Workgroup => NOT_NEGATIVE,
    }
}
