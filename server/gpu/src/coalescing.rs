//! How well the reads and writes of a kernel use memory: exact counts of 32-byte sectors per request, and
//! XLA's verdict.

mod accesses;
mod cause;
mod classes;
mod code_access;
mod counter;
mod counts;
mod kernel;
mod known;
mod lanes;
mod pattern;
mod picture;
mod points;
mod remedies;
mod requests;
mod samples;
mod shift;
mod tiled;
mod traffic;
mod xla_rule;

pub use accesses::{Buffer, MemoryAccess};
pub use cause::Cause;
pub use code_access::{Code, CodeAccess, CodeAccessKind, CodeTraffic};
pub use counts::Counts;
pub use kernel::{AccessTraffic, BufferTraffic, DEFAULT_THRESHOLD};
pub use pattern::Pattern;
pub use picture::{LanePicture, PictureSizes};
pub use remedies::{Remedy, RemedyChange};
pub use tiled::tiled_efficiency;
pub use traffic::{Access, Traffic, traffic};
pub use xla_rule::xla_coalesced;

/// Bytes of a sector, the unit of memory traffic. Source: the "sector" of NVIDIA's profiling guides.
pub const SECTOR_BYTES: u64 = 32;
/// Bytes of a cache line: four sectors.
pub const LINE_BYTES: u64 = 128;
