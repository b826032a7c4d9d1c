//! The operands and attributes of what is being typed.

use std::ops::Range;

use crate::file_context::FileContext;
use crate::rich_text::{Line, RichText};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignatureHelp {
    /// `dot(lhs: f32[8,16], rhs), lhs_contracting_dims, …`
    pub label: String,
    pub documentation: Line,
    pub parameters: Vec<SignatureParameter>,
    /// Index of the parameter at the cursor.
    pub active: Option<usize>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignatureParameter {
    /// Byte range in the label.
    pub label: Range<usize>,
    /// May be empty.
    pub documentation: RichText,
}

/// The operands and attributes of what is typed.
pub(crate) trait Signatures {
    /// The operands and attributes of what is typed at `offset`.
    fn signature_help(&self, _: &FileContext<'_>, _: usize) -> Option<SignatureHelp> {
        None
    }
}
