//! XLA's optimizer: the module after passes, live previews of it, and the kernels that a module would become.

pub(crate) mod fusing;
pub(crate) mod known;
pub(crate) mod layouts;
pub(crate) mod listed;
pub(crate) mod planned;
pub(crate) mod preview;
pub(crate) mod rewrites;
pub(crate) mod shown;
pub(crate) mod source;
#[cfg(test)]
mod tests;

use equivalence::Verdict;
use passes::{Applied, Options, Stop};

use crate::file_context::FileContext;
use source::SourceModule;

/// Which passes run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct OptimizeRequest {
    /// Names of passes and pipelines, in order, as XLA's dumps have them.
    pub passes: Vec<String>,
    /// The pipeline that the passes run in, which decides their options. Empty: that of XLA's first simplification.
    pub pipeline: String,
    /// The pass after whose first run a pipeline stops.
    pub until: Option<String>,
    /// Compare what the modules before and after compute.
    pub check: bool,
}

/// A module after passes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Optimized {
    /// The module in XLA's canonical form.
    pub text: String,
    /// What each pass did, in order.
    pub applied: Vec<Applied>,
    /// Whether it computes the same, if that was asked for.
    pub verdict: Option<Verdict>,
}

/// Why a module is not optimized.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NotOptimized {
    /// What HLO cannot say of a module of MLIR, and its offset in bytes.
    NotConverted {
        what: String,
        offset: Option<usize>,
    },
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
            NotOptimized::NotConverted { what, .. } => {
                write!(f, "the module cannot be written as HLO: {what}")
            }
            NotOptimized::Invalid { message, .. } => {
                write!(f, "a module with errors is not rewritten: {message}")
            }
            NotOptimized::NoEntry => f.write_str("the text has no entry computation"),
            NotOptimized::Stopped(why) => why.fmt(f),
            NotOptimized::TooLarge(limit) => write!(f, "the module has more than {limit} bytes"),
        }
    }
}

impl OptimizeRequest {
    /// Of passes and pipelines alone.
    pub fn of(passes: &[&str]) -> OptimizeRequest {
        OptimizeRequest { passes: passes.iter().map(|&pass| pass.to_owned()).collect(), ..Self::default() }
    }

    fn names(&self) -> Vec<&str> {
        self.passes.iter().map(String::as_str).collect()
    }

    fn options(&self, context: &FileContext<'_>) -> Options {
        Options {
            pipeline: self.pipeline.clone(),
            device: context.db.device_of(context.view.file),
            until: self.until.clone(),
            estimates: context.db.estimates(),
        }
    }
}

pub(crate) fn optimize(
    context: &FileContext<'_>,
    request: &OptimizeRequest,
) -> Result<Optimized, NotOptimized> {
    let SourceModule { mut module, .. } = SourceModule::of(context)?;
    let before = request.check.then(|| module.clone());
    let applied = passes::optimize(&mut module, &request.names(), &request.options(context));
    let applied = applied.map_err(NotOptimized::Stopped)?;
    let verdict = before.map(|before| equivalence::compare(&before, &module));
    Ok(Optimized { text: print(&module)?, applied, verdict })
}

/// The text of a module as XLA prints it: elements of tuples are written where they are used.
fn print(module: &passes::Module) -> Result<String, NotOptimized> {
    let options = ir::PrintOptions { compact_gte: true, ..ir::PrintOptions::lossless() };
    module.to_text(&options).map_err(|too_large| NotOptimized::TooLarge(too_large.limit))
}
