//! The module after passes of XLA's optimizer.

use db::Language;
use ir::PrintOptions;
use passes::{Applied, Options, Stop};

use crate::Severity;
use crate::diagnostics::{Depth, diagnostics};
use crate::file_context::FileContext;

/// Which passes run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OptimizeRequest {
    /// Names of passes and pipelines, in order, as XLA's dumps have them.
    pub passes: Vec<String>,
    /// The pipeline that the passes run in, which decides their options. Empty: that of XLA's first simplification.
    pub pipeline: String,
    /// The pass after whose first run a pipeline stops.
    pub until: Option<String>,
}

/// A module after passes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Optimized {
    /// The module in XLA's canonical form.
    pub text: String,
    /// What each pass did, in order.
    pub applied: Vec<Applied>,
}

/// Why a module is not optimized.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NotOptimized {
    /// The text is no HLO.
    Mlir,
    /// The first error, and its offset in bytes.
    Invalid {
        message: String,
        offset: usize,
    },
    NoEntry,
    Stopped(Stop),
    /// The text would have more bytes than this.
    TooLarge(usize),
}

impl std::fmt::Display for NotOptimized {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            NotOptimized::Mlir => f.write_str("the text is MLIR; convert it to HLO first"),
            NotOptimized::Invalid { message, .. } => {
                write!(f, "a module with errors is not rewritten: {message}")
            }
            NotOptimized::NoEntry => f.write_str("the text has no entry computation"),
            NotOptimized::Stopped(why) => why.fmt(f),
            NotOptimized::TooLarge(limit) => write!(f, "the optimized module has more than {limit} bytes"),
        }
    }
}

pub(crate) fn optimize(
    context: &FileContext<'_>,
    request: &OptimizeRequest,
) -> Result<Optimized, NotOptimized> {
    let file = context.view.file;
    if file.language(context.db) == Language::Mlir {
        return Err(NotOptimized::Mlir);
    }
    let found = diagnostics(context, Depth::Verifier, usize::MAX).shown;
    if let Some(error) = found.into_iter().find(|found| found.severity == Severity::Error) {
        return Err(NotOptimized::Invalid { message: error.message, offset: error.range.start });
    }
    let mut module = db::editable_module(context.db, file).ok_or(NotOptimized::NoEntry)?;
    let options = Options {
        pipeline: request.pipeline.clone(),
        device: context.db.device_of(file),
        until: request.until.clone(),
    };
    let names: Vec<&str> = request.passes.iter().map(String::as_str).collect();
    let applied = passes::optimize(&mut module, &names, &options).map_err(NotOptimized::Stopped)?;
    // As XLA prints modules: elements of tuples are written where they are used.
    let text = module.to_text(&PrintOptions { compact_gte: true, ..PrintOptions::lossless() });
    let text = text.map_err(|too_large| NotOptimized::TooLarge(too_large.limit))?;
    Ok(Optimized { text, applied })
}
