//! The reference interpreter: what the elements of an op graph are, by the ops' definitions.
//!
//! [`evaluate`] goes from literals to literals. [`Evaluator::elements`] answers single elements, on demand through the operands; [`Evaluator::whole`] an array. Work is done
//! on [`Column`]s, many elements of one op at a time. Numbers are rounded to their type after every op, as the GPU emitters do;
//! next to each value stands how far a right answer may be from it ([`Column::error`]): nothing for whole numbers, data
//! movement and single roundings, units in the last place for what hardware approximates, n·u·Σ|x| for sums.
//!
//! Not evaluated: random numbers, Cholesky, triangular solve, FFT, batch norm, collectives, custom calls, tiled layouts.
//!
//! Architecture Invariant: nothing of PTX or of kernels; what is evaluated is the graph alone.

mod called;
mod column;
mod complex;
mod contractions;
mod dispatch;
mod elementwise;
mod evaluation;
mod evaluator;
mod folding;
mod indexed;
mod integers;
mod known;
mod literals;
mod moves;
mod positions;
mod precision;
mod reals;
mod reductions;
mod scatters;
mod sorting;
mod types;
mod windows;

pub use column::{Column, Values};
pub use evaluation::evaluate;
pub use evaluator::{DEFAULT_WORK, Evaluator, Inputs};
pub use literals::{parse as parse_literal, print as print_literal};
pub use positions::memory_strides;
pub use types::{Kind, Short};
