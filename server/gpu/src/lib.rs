//! The kernel that XLA's GPU compiler makes of a fusion: its emitter, its hero, its launch dimensions, and
//! the elements that each thread reads and writes.
//!
//! * [`FusionAnalysis`]: the entry point. [`Emitter`] has one variant, and one file, per emitter.
//! * [`partition()`]: the functions into which a computation is split.
//! * [`traffic`], [`xla_coalesced`], [`tiled_efficiency`]: how well reads and writes use memory.
//! * [`estimate`]: a kernel's time, by XLA's cost model and by the device's bandwidth and arithmetic alone.
//! * [`decide`]: whether XLA fuses a producer into its consumers, and why not.
//! * [`Device`]: the properties of a GPU; [`Device::find`] looks up one of nineteen.
//! * [`Fused`]: a fusion, or an op that XLA would wrap into one.
//!
//! Rules: XLA `service/gpu/hlo_fusion_analysis.cc`, `backends/gpu/codegen/emitters/*`. Each file names the
//! XLA sources that it follows.
//!
//! Architecture Invariant: no fusion panics, whatever its shapes and attributes. A fusion that no emitter
//! takes gets the reason as text. Arithmetic on sizes is checked.
//! Architecture Invariant: this crate does not depend on text, editors or JSON; it reads [`ir`] and
//! [`indexing`].

mod bitcasts;
mod block_config;
mod coalescing;
mod cost;
mod device;
mod devices;
mod emitters;
#[cfg(test)]
mod fixture;
mod fused;
mod fusing;
mod fusion_analysis;
mod heroes;
mod launch;
mod op_content;
mod partition;
mod post_order;
mod priority_fusion;
mod reduction_dims;
mod signature;
mod target_config;
mod thread_map;
mod transpose;
mod unroll;

use std::borrow::Cow;

pub use bitcasts::reshape_is_bitcast;
pub use block_config::plain_backend_config;
pub use coalescing::{
    Access, AccessTraffic, Buffer, BufferTraffic, Cause, Code, CodeAccess, CodeAccessKind, CodeTraffic,
    Counts, DEFAULT_THRESHOLD, LINE_BYTES, LanePicture, MemoryAccess, Pattern, PictureSizes, Remedy,
    RemedyChange, SECTOR_BYTES, Traffic, tiled_efficiency, traffic, xla_coalesced,
};
pub use cost::{
    BlockLevel, Bound, Counted, Estimate, FusionUse, InstructionCost, KernelTime, RankedTiling, Roofline,
    best_tilings, estimate, flops_per_element, has_coalesced_reads, kernel_time, roofline, roofline_of,
    stated_steps, times,
};
pub use device::{DEFAULT_DEVICE, Device, Platform, Rate, Units, UnknownDevice};
pub use emitters::*;
pub use fused::{Fused, MAX_OPS, MAX_ROOTS, is_call_of_cpu, is_of_cpu_backend, is_wrapped};
pub use fusing::{Computation, Estimates, Origin, Step, fuse_by_priority, fuse_results};
pub use fusion_analysis::FusionAnalysis;
pub use heroes::{Kind, hero, is_real_reduction, kind, tiling};
pub use launch::{Launch, split_grid_x};
pub use op_content::{has_same_content, hash_content};
pub use partition::{Function, Partition, Reason as SplitReason, partition};
pub use post_order::{operands_first, post_order};
pub use priority_fusion::{
    Candidate, ConsumerDecision, Decision, Pair, can_fuse, decide, into_several_results, is_fusible,
    siblings, triton_supports,
};
pub use reduction_dims::{RACE_FREE_MAJOR, ReductionDims, is_race_free, is_reduction_hero, race_free_bound};
pub use signature::signature;
pub use thread_map::{bitcast, work_items};
pub use transpose::{Normalized, Packed, Tiling, permuted};
pub use unroll::{may_prevent_vectorization, reduction_vector, unroll_factor};

/// The reason why a fusion is not emitted: text that follows "no kernel: ".
pub type Reason = Cow<'static, str>;
