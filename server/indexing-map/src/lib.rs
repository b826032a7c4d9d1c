//! Indexing maps: which elements of its operands an operation reads, as a function with a domain.
//!
//! An [`IndexingMap`] takes *dimensions* (the point of the iteration space), *range variables* (iterated over
//! for each point, e.g. by a reduction) and *runtime variables* (values known only when the program runs,
//! e.g. the offset of a dynamic slice) to a tuple of integers. Its domain is a box of closed [`Interval`]s
//! restricted by constraints. Results and constraints are [`Expr`]s: `+`, `*`, `mod`, `floordiv`, `ceildiv`,
//! `min`, `max`.
//!
//! Maps compose ([`IndexingMap::compose`]), simplify ([`IndexingMap::simplify`]), print and parse
//! ([`print_map`], [`parse_map`]), evaluate and enumerate. The rules and the text form are those of XLA's
//! `hlo/analysis/indexing_map.*`. Where XLA's rules are unsound, these are sound.
//!
//! Architecture Invariant: this crate does not depend on HLO, editors or JSON, and has no global state. All
//! arithmetic is checked: a value beyond 64 bits is `None`, a range beyond them is unbounded. No input causes
//! a panic or unbounded recursion. Work is bounded, and [`SimplifyOutcome`] reports when the bound was
//! reached.

mod compose;
mod contract;
mod digits;
mod divisor;
mod enumerate;
mod equality;
mod evaluate;
mod expr;
mod interval;
mod map;
mod range;
mod row_major;
mod search;
mod simplify;
mod text;
mod variable;
mod variables;

pub use equality::{Verdict, same_function};
pub use expr::{Binary, BinaryOp, Expr};
pub use interval::{Interval, ceil_div, floor_div, gcd, modulo};
pub use map::{Constraint, IndexingMap, Variable, VariableKind};
pub use range::RangeContext;
pub use row_major::{delinearized, linearized, only_unknown};
pub use simplify::{Simplifier, SimplifyMode, SimplifyOutcome};
pub use text::{
    MapAttribute, ParseError, PrintStyle, domain_short, domain_short_named, is_map_attribute, parse_expr,
    parse_expr_with, parse_map, print_expr, print_map, print_named, wrap,
};
