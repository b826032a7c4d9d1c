pub(crate) mod affine_expr;
pub(crate) mod affine_map;
pub(crate) mod op_text;
pub(crate) mod source;
pub(crate) use affine_map::AffineMap;
pub(crate) use op_text::{Mixed, OpText};
pub use source::{Operand, Source};
