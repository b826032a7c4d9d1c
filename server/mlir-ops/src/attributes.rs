//! The attributes and clauses of ops by their families, in the custom and the generic form. Only these files, and the
//! table of StableHLO's ops, know the names of attributes.

mod conditions;
mod indices;
mod launches;
mod linalg;
mod slices;
mod tensors;
mod vectors;
mod xla;

pub use conditions::{Comparison, Relation};
pub use launches::{argument_range, known_size};
pub use linalg::{OPERAND_SEGMENTS, WinogradTile};
pub use slices::{SLICE_BOUNDS, SliceLists};
pub use tensors::Tiles;
pub use vectors::StridedPart;
pub use xla::{ScaledOperand, Scan};
