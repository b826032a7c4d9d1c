//! Whether two modules compute the same values: the check of every rewrite.
//!
//! [`compare`] reads a module and what passes made of it. Instructions that are the same terms over the parameters are equal
//! without being evaluated. What remains is cut into cones: an instruction, computed from the nearest instructions that both
//! modules have. Each cone is evaluated by the reference interpreter in both modules, at a sample of its elements, where the cuts have
//! random values; then the cuts must be equal in turn. So arrays keep their sizes, and a module of thousands of instructions is
//! compared in the time that its changes take.
//!
//! ```text
//! before   %p ─► … ─► %x ─► multiply(%x, 2) ─► %r ─► …        %r of both from random values of %x,
//! after    %p ─► … ─► %x ─► add(%x, %x)     ─► %r ─► …        then %x of both, and so on
//! ```
//!
//! A cut hides what is known of a value, such as its range. Where a cone differs, it is cut further up, at last at the
//! parameters; only then it counts as different.
//!
//! Architecture Invariant: what cannot be evaluated is reported as open, with the reason, and never counts as equal.

mod cone;
mod context;
mod flatten;
mod numbers;
mod prove;
mod sample;
mod verdict;

pub use prove::compare;
pub use verdict::{Difference, Open, Verdict};
