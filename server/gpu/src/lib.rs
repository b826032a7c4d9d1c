//! What XLA's GPU compiler makes of a fusion.

mod coalescing;
mod partition;
mod post_order;
mod signature;

pub use coalescing::{
    Access, Counts, LINE_BYTES, Pattern, SECTOR_BYTES, Traffic, tiled_efficiency, traffic, xla_coalesced,
};
pub use partition::{Function, Partition, Reason as SplitReason, partition};
pub use post_order::post_order;
pub use signature::signature;
