//! Where the memory of a module goes.

mod advice;
mod devices;
mod hint;
mod picture;
mod report;
mod section;
mod timeline;

use std::sync::Arc;

use ::memory::Memory;
use db::Language;

use crate::file_context::FileContext;

pub use advice::MemoryAdvice;
pub use devices::{Collectives, devices_in_words};
pub(crate) use hint::hint;
pub use picture::memory_picture;
pub use report::{AliveUntil, AliveValue, MemoryReport, MemoryStep};
pub(crate) use section::{lens_part, prepare, section};
pub use timeline::{MemoryColumn, MemoryTimeline};

/// Why there is no plan of a file's memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NoMemory {
    /// The text is no HLO.
    Mlir,
    /// The first error of the parser, and its offset in bytes.
    Syntax {
        message: String,
        offset: usize,
    },
    NoEntry,
}

impl std::fmt::Display for NoMemory {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            NoMemory::Mlir => f.write_str("is no HLO"),
            NoMemory::Syntax { message, .. } => write!(f, "has an error: {message}"),
            NoMemory::NoEntry => f.write_str("has no entry computation"),
        }
    }
}

/// The name of a value as it is shown: `name{0}`, and `name` for all of a result, behind which the plan has `{}` as XLA does.
pub fn value_name(name: &str) -> &str {
    name.strip_suffix("{}").unwrap_or(name)
}

pub(crate) fn module_memory(context: &FileContext<'_>) -> Result<Arc<Memory>, NoMemory> {
    if context.view.file.language(context.db) == Language::Mlir {
        return Err(NoMemory::Mlir);
    }
    for piece in 0..context.pieces() {
        if let Some(error) = context.block(piece).parse.errors.first() {
            let offset = context.range(piece, error.span).start;
            return Err(NoMemory::Syntax { message: error.message.clone(), offset });
        }
    }
    db::module_memory(context.db, context.view.file).clone().ok_or(NoMemory::NoEntry)
}

/// The memory, with at most `limit` of the values that are alive at its peak.
pub(crate) fn memory_report(context: &FileContext<'_>, limit: usize) -> Result<MemoryReport, NoMemory> {
    Ok(MemoryReport::new(context, module_memory(context)?, limit))
}

/// What would lower the peak, the largest saving first.
pub(crate) fn memory_advice(context: &FileContext<'_>) -> Result<Vec<MemoryAdvice>, NoMemory> {
    let memory = module_memory(context)?;
    let advice = db::memory_advice(context.db, context.view.file).ok_or(NoMemory::NoEntry)?;
    Ok(advice.into_iter().map(|one| MemoryAdvice::new(context, &memory, one)).collect())
}

/// The timeline in at most so many columns, with at most `limit` of the values that are alive at the peak.
pub(crate) fn memory_timeline(
    context: &FileContext<'_>,
    columns: usize,
    limit: usize,
) -> Result<MemoryTimeline, NoMemory> {
    Ok(MemoryTimeline::new(context, memory_report(context, limit)?, columns))
}
