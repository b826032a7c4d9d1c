//! Parsers that never fail: text in, flat arrays and errors out.
//!
//! Architecture Invariant: no salsa, no LSP. Offsets are bytes from the start of the *piece*, so that an edit
//! above a piece changes nothing in its arrays.
//! Architecture Invariant: every parser returns `(arrays, errors)` for any bytes. It does not panic, does not
//! recurse deeper than [`MAX_DEPTH`], and reads each byte a bounded number of times.

pub mod hlo;

pub use text::{Span, SyntaxError};

/// Nesting of shapes, literals, inline computations and brackets beyond which the text is reported as an error.
pub const MAX_DEPTH: u32 = 100;
