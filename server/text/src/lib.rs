//! Documents: a rope cut into pieces, edits of it, spans inside pieces, positions as editors count them, and texts in JSON.
//!
//! Architecture Invariant: this crate does not depend on any language. A [`Splitter`] decides where a text
//! may be cut.

mod document;
pub mod json;
mod lazy;
pub mod position;
mod span;
mod visible;

pub use document::{Cuts, Document, Edit, NEEDS_ABOVE, PieceChange, PieceStart, Splitter};
pub use lazy::Text;
pub use position::{Position, PositionEncoding};
pub use span::{Span, SyntaxError};
pub use visible::{is_invisible, visible, visible_line};
