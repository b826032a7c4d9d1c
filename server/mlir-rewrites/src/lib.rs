//! Other code for the same elements: rewrites of MLIR text around slices and reshapes.
//!
//! A rewrite is offered only where the map from its result to what it reads is proven, at that moment, to be the map of the code
//! that it replaces. Proofs are those of `indexing-map`; numbers that are known only when the program runs are variables there.
//!
//! Architecture Invariant: from text to text, without a registry and without salsa. What is not understood is left alone.

mod along;
mod code;
mod extract_from_collapse;
mod names;
mod numbers;
mod plan;
mod proof;
#[allow(dead_code)]
mod reading;
mod rewrite;
#[allow(dead_code)]
mod slice_ops;
mod slice_text;
mod tensor_type;
mod values;
mod write;

pub use code::Form;
pub use extract_from_collapse::extract_from_collapse;
pub use names::Names;
pub use reading::Source;
pub use rewrite::Rewrite;
pub use tensor_type::TensorType;
