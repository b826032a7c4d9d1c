//! MLIR bytecode to text: modules of the builtin and func dialects with StableHLO, or with VHLO, its portable form, which is mapped
//! back to StableHLO.
//!
//! ```text
//! bytes ─► sections ─► entries (attributes and types, read when used) ─► ops ─► StableHLO's names and attributes ─► text
//! ```
//!
//! Sources: <https://mlir.llvm.org/docs/BytecodeFormat/>, MLIR's `BuiltinDialectBytecode.td`, StableHLO's `VhloBytecode.cpp`,
//! `VhloOps.td`, `VhloLegalizeToStablehlo.cpp`, `StablehloBytecode.cpp` and `StablehloOps.td`.
//!
//! Architecture Invariant: no byte is believed. Counts are compared with the bytes that are left, nesting has a depth, and the text has a
//! largest size, so that memory is bounded by the size of the file.

mod attribute_text;
mod builtin;
mod bytes;
mod dimension_numbers;
mod element_text;
mod entries;
mod module_text;
mod native;
mod native_properties;
mod ops;
mod properties;
mod sdy;
mod sections;
mod stablehlo;
mod type_text;
mod vhlo;

pub use module_text::module_text;
pub use sections::{Header, NEWEST, header};

/// Why the bytes are not read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Error {
    /// The place in the file, in bytes.
    pub offset: usize,
    /// What is wrong, and what to do.
    pub message: String,
}

impl std::fmt::Display for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "byte {}: {}", self.offset, self.message)
    }
}

pub(crate) type Result<T> = std::result::Result<T, Error>;
