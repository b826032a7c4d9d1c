//! MLIR text of any dialect, read without a registry: `(arrays, errors)` for any bytes.
//!
//! What is told by brackets, line starts and a few words is enough for ops, regions, blocks, names and most types; see
//! [`parse`]. Which op does what is for others to know.
//!
//! Architecture Invariant: no dialect is needed. What is unknown is never an error.
//! Architecture Invariant: no recursion over the text; each byte is read a bounded number of times.

mod attribute_values;
mod braces;
mod check;
mod giants;
mod hlo_attributes;
mod hlo_ops;
mod hlo_text;
mod language;
mod lexer;
mod names;
mod parts;
mod pieces;
mod plain_lines;
mod segmenter;
mod shaped;
mod stablehlo_rules;
mod tree;
mod types;
mod words;

pub use attribute_values::{field, integer, integers};
pub use check::{Finding, Outside, check, check_outside, has_errors, redefinition, unknown_block};
pub use giants::FunctionPart;
pub use hlo_text::{
    HloOp, NoOtherPieces, OtherPieces, hlo_op_text, hlo_shape, is_checked_as_hlo, scalar_constant,
};
pub use language::{holds_hlo, starts_like_mlir};
pub use lexer::{Token, TokenKind, tokens};
pub use pieces::{PieceState, split};
pub use segmenter::{LEFT_OPEN, parse, parse_among};
pub use shaped::{Shaped, element_bits, element_type, shaped};
pub use stablehlo_rules::allows_more_than_hlo;
pub use tree::*;
pub use words::{is_function_like, is_module_like, last_segment};
