//! The code of a fusion: a kernel in a small IR, its MLIR text as XLA's emitters write it, and its PTX.
//!
//! * [`Kernel`]: typed SSA with structured control flow. Indices stay expressions over named variables until
//!   the texts are written ([`kernel::Function::index_vars`]), so that MLIR can use maps, and PTX shifts and
//!   masks.
//! * [`emit()`]: lowers a [`gpu::FusionAnalysis`] to the kernel, one function per function of the partition.
//! * [`passes`]: the passes of XLA's pipeline.
//! * [`ptx()`]: inlines functions, unrolls short loops, simplifies index arithmetic by the known ranges, and
//!   joins neighbouring loads and stores.
//! * [`accesses()`]: the same instructions as maps from threads to addresses, to compute their memory
//!   traffic.
//!
//! Rules: XLA `codegen/emitters/*`, `backends/gpu/codegen/emitters/*`. No LLVM.
//!
//! Architecture Invariant: every fusion gives a kernel or a reason as text. An op that no rule implements is
//! listed in [`Kernel::missing`], and the code around it is emitted. Architecture Invariant: knows neither
//! text positions nor editors; lines refer to ops of the fused computation.

mod constant;
mod emit;
pub mod kernel;
mod kernel_text;
mod mlir;
pub mod passes;
mod ptx;

pub use self::ptx::{accesses, ptx};
pub use constant::Constant;
pub use emit::{Source, emit, kernel_name};
pub use kernel::Kernel;
pub use kernel_text::KernelText;
pub use mlir::{map_name, mlir, number_text};

use std::borrow::Cow;

/// The reason why there is no kernel: text that follows "no kernel: ".
pub type Reason = Cow<'static, str>;

/// Stack size for passes over nested regions. Their depth is the depth of nested conditionals of an element,
/// which is bounded.
const STACK: usize = 4 << 20;
