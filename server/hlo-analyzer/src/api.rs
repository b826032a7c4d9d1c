//! The machine interface: one request, one reply. `query` speaks it as JSON Lines; the custom requests of the
//! language server return the same `result` objects. Field names are fixed.

mod access_pattern;
mod coalescing;
mod compile;
mod convert;
mod diff;
mod error;
mod evaluate;
mod folders;
mod fusion;
mod indexing;
mod kernel;
pub(crate) mod kernels;
mod maps;
mod memory;
mod optimize;
mod parse;
mod partition;
mod print;
mod request;
mod session;
mod tile;
mod tilings;

use ide::SourceFrame;
use serde_json::{Value, json};

pub use access_pattern::described as described_access_pattern;
pub use error::{ApiError, ErrorKind};
pub use memory::{
    advice as memory_advice, advice_at as memory_advice_at, at_peak as memory_at_peak, category,
    comparison as memory_comparison, devices as memory_devices, plan as memory_plan,
    timeline as memory_timeline,
};
pub use optimize::{changes as optimizer_changes, check as optimizer_check, refusal as optimizer_refusal};
#[cfg(test)]
pub use session::METHODS;
pub use session::Session;

/// A line of source as `{"file", "line"}`, or null.
pub(crate) fn source(frame: Option<&SourceFrame>) -> Value {
    json!(frame.map(|frame| json!({"file": frame.path, "line": frame.line})))
}
