//! The code that a fusion becomes: a kernel in a small IR, its MLIR text as XLA's emitters write it, and its PTX.
//!
//! * [`Kernel`]: typed SSA with structured control flow. Indices stay expressions over named variables until the very end
//!   ([`kernel::Function::index_vars`]), so that each text can say what it needs: MLIR a map, PTX shifts and masks.
//! * [`emit()`]: from a [`gpu::FusionAnalysis`] to the kernel, a function per function of the partition.
//! * [`passes`]: what XLA's pipeline makes of it, pass by pass.
//! * [`ptx()`]: functions inlined, loops unrolled as far as they are short, index arithmetic reduced by the known ranges,
//!   neighbouring loads and stores joined.
//! * [`accesses()`]: the same instructions as maps from threads to addresses, for figures of what they move.
//!
//! Rules: XLA `codegen/emitters/*`, `backends/gpu/codegen/emitters/*`. No LLVM.
//!
//! Architecture Invariant: whatever the fusion, there is a kernel or a reason in words. An op that no rule writes is named
//! in [`Kernel::missing`], and everything around it is there.
//! Architecture Invariant: knows neither text positions nor editors; lines lead back to ops of the fused computation.

mod constant;
mod emit;
pub mod kernel;
mod kernel_text;
mod mlir;
pub mod passes;
mod ptx;

pub use constant::Constant;
pub use emit::{Source, emit, kernel_name};
pub use kernel::Kernel;
pub use kernel_text::KernelText;
pub use mlir::mlir;
pub use ptx::{accesses, ptx};

use std::borrow::Cow;

/// Why there is no kernel, in words that follow "no kernel: ".
pub type Reason = Cow<'static, str>;

/// Stack for passes over regions in regions: there are as many as an element has choices in choices, which is bounded.
const STACK: usize = 4 << 20;
