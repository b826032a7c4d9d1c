//! The text form of maps and expressions, as XLA prints and parses it (`indexing_map_serialization.cc`).

mod attribute;
mod names;
mod parse;
mod print;
mod short;

pub use attribute::{MapAttribute, is_map_attribute};
pub use names::{domain_short_named, print_named};
pub use parse::{ParseError, parse_expr, parse_expr_with, parse_map};
pub use print::{PrintStyle, print_expr, print_map};
pub use short::{domain_short, wrap};
