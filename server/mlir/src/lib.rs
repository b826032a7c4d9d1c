//! MLIR text of any dialect, read without a registry: `(arrays, errors)` for any bytes.
//!
//! Brackets, line starts and a few words suffice for ops, regions, blocks, names and most types; see
//! [`parse`]. The semantics of ops are up to other crates.
//!
//! Architecture Invariant: no dialect is needed. An unknown construct is never an error.
//! Architecture Invariant: no recursion over the text; each byte is read a bounded number of times.

mod ahead;
mod array_type;
mod attribute_values;
mod braces;
mod check;
mod dense_shape;
mod einsum;
mod giants;
mod impossible_types;
mod language;
mod lexer;
pub mod lists;
mod locations;
mod names;
mod op_types;
mod parts;
mod piece_state;
mod pieces;
mod plain_lines;
mod segmenter;
mod segments;
mod signatures;
mod stretches;
mod subtree;
mod tree;
mod types;
mod words;

pub use ahead::read_in_pieces;
pub use array_type::{ArrayKind, ArrayType, NoArrayType, element_bits, element_type};
pub use attribute_values::{field, integer, integers};
pub use check::{
    Finding, Outside, check, check_outside, check_returned, differ, has_errors, is_certain, is_refused,
    redefinition, unknown_block,
};
pub use einsum::{Einsum, EinsumError};
pub use giants::FunctionPart;
pub use language::{deciding_bytes, holds_hlo, starts_like_mlir};
pub use lexer::{Token, TokenKind, tokens};
pub use locations::{SourceFrame, SourcePlace, source_place};
pub use piece_state::PieceState;
pub use segmenter::{LEFT_OPEN, parse, parse_among};
pub use segments::{split, split_in_segments};
pub use signatures::{FunctionType, function_type};
pub use tree::*;
pub use words::{
    CALL, is_call, is_constant, is_function_like, is_module_like, last_segment, needs_function,
    without_result,
};
