//! The kernel that XLA itself made of an instruction, from its dump, beside ours: its text with the instructions its lines come
//! from, and both launches and the memory traffic of both compared.

mod comparison;
mod document;
mod source_map;
mod values;

pub use comparison::{ComparedArray, KernelComparison};
pub(crate) use document::{has_xla_kernel, xla_kernel_document};
