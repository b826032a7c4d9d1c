//! Error-tolerant parsers from text to flat arrays and errors.
//!
//! Architecture Invariant: no salsa, no LSP. Offsets are bytes from the start of the *piece*, so that an edit
//! above a piece does not change its arrays.
//!
//! Architecture Invariant: every parser returns `(arrays, errors)` for any bytes. It does not panic, does not
//! recurse deeper than [`MAX_DEPTH`], and reads each byte a bounded number of times.

pub mod hlo;

pub use text::{Span, SyntaxError};

/// The maximum nesting of shapes, literals, inline computations and brackets; deeper nesting is an error.
pub const MAX_DEPTH: u32 = 100;
