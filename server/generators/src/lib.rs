//! Random valid programs for tests, as text: the same for the same seed, on every machine.

mod cases;
pub mod hlo;
pub mod kernels;
pub mod mlir;
pub mod tiles;
mod value;

pub use cases::{cases, on_all_cores, seed};
