//! What XLA's GPU compiler makes of a fusion.

mod partition;
mod post_order;
mod signature;

pub use partition::{Function, Partition, Reason as SplitReason, partition};
pub use post_order::post_order;
pub use signature::signature;
