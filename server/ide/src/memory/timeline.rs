//! The bytes in use over the schedule, with the instructions, for a picture in an editor.

use ::memory::Bytes;

use super::report::located;
use super::{MemoryReport, MemoryStep};
use crate::file_context::FileContext;

/// The bytes in use over the schedule of a module.
#[derive(Debug, Clone)]
pub struct MemoryTimeline {
    pub report: MemoryReport,
    /// In the order of the schedule.
    pub columns: Vec<MemoryColumn>,
}

/// Some neighbouring positions of the schedule.
#[derive(Debug, Clone)]
pub struct MemoryColumn {
    /// The first of the positions.
    pub first: u32,
    /// The one at which most bytes are in use.
    pub position: u32,
    /// Bytes in use there, in the order of [`crate::Category::ALL`].
    pub bytes: Bytes,
    /// The instruction there; `None` at the end of the module.
    pub step: Option<MemoryStep>,
}

impl MemoryTimeline {
    pub(crate) fn new(context: &FileContext<'_>, report: MemoryReport, columns: usize) -> MemoryTimeline {
        let memory = &report.memory;
        let columns = memory.usage.columns(columns).into_iter().map(|column| MemoryColumn {
            first: column.first,
            position: column.position,
            bytes: column.bytes,
            step: memory.steps.get(column.position as usize).and_then(|step| located(context, step)),
        });
        MemoryTimeline { columns: columns.collect(), report }
    }
}
