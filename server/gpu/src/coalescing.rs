//! How well the reads and writes of a kernel use memory: exact counts of 32-byte sectors per request, and XLA's own
//! verdict beside them.

mod lanes;
mod requests;
mod tiled;
mod xla_rule;

pub use requests::{Access, Counts, Pattern, Traffic, traffic};
pub use tiled::tiled_efficiency;
pub use xla_rule::xla_coalesced;

/// Bytes that memory is read and written in. Source: the "sector" of NVIDIA's profiling guides.
pub const SECTOR_BYTES: u64 = 32;
/// Bytes of a cache line: four sectors.
pub const LINE_BYTES: u64 = 128;
