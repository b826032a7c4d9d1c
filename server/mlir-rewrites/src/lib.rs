//! Rewrites of MLIR text around slices and reshapes: different code for the same elements.
//!
//! A rewrite is offered only if a proof succeeds that it reads the same elements as the code it replaces: the
//! maps from the result to the elements read are equal. `indexing-map` provides the proofs; numbers known
//! only at run time are variables of these maps.
//!
//! Architecture Invariant: text in, text out, without an op registry and without salsa. Code that is not
//! understood is left unchanged.

mod along;
mod code;
mod extract_from_collapse;
mod insert_into_collapse;
mod names;
mod numbers;
mod of_expand;
mod plan;
mod proof;
mod rewrite;
mod slice_ops;
mod slice_text;
mod stablehlo_slice;
mod values;
mod write;

pub use code::Form;
pub use extract_from_collapse::extract_from_collapse;
pub use insert_into_collapse::insert_into_collapse;
pub use names::Names;
pub use of_expand::{extract_from_expand, insert_into_expand};
pub use rewrite::{Rewrite, rewrites};
pub use stablehlo_slice::{slice_after_reshape, slice_before_reshape};
pub use write::affine_map_text;
