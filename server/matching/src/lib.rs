//! Which instruction of one HLO module became which of another, and what follows over the stages of a compile: where
//! an instruction comes from ([`Lineage`]), which stage introduced it ([`Blame`]) and why ([`Reasons`]).
//!
//! ```text
//! text ─► Program ─┐
//!                  ├─► Matching (origins, fates) ─► Lineage, Blame, Reasons: one step per stage
//! text ─► Program ─┘
//! ```
//!
//! Stages of one compile keep the names of what they do not change, and [`match_programs`] trusts them. Two compiles of one model do
//! not: XLA numbers names anew. [`pair_programs`] pairs the instructions of two compiles one to one by structure; names decide
//! between candidates that are otherwise equal.
//!
//! Architecture Invariant: no salsa, no LSP. Every function takes time linear in the instructions, operands and callees of its modules;
//! where many candidates are equally good, a bounded number is compared.

mod alike;
mod blame;
mod boundaries;
mod clones;
mod contexts;
mod hash;
mod lineage;
mod links;
mod matching;
mod names;
mod nearest;
mod numbering;
mod pairing;
mod program;
mod read;
mod reasons;
mod replacements;

pub use blame::Blame;
pub use boundaries::{Boundaries, Value};
pub use lineage::{Lineage, fused_members, outermost_fusions};
pub use matching::{Fate, Matching, Origin, Relation, match_programs};
pub use pairing::{Pairing, pair_programs};
pub use program::{Computation, Instruction, Operand, Program};
pub use read::Unreadable;
pub use reasons::{Cause, Introduction, Reasons, explained, introductions};
