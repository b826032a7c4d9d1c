//! The edits of a rewrite.

use mlir::OpId;
use text::Span;

use crate::code::Form;
use crate::extract_from_collapse::extract_from_collapse;
use crate::insert_into_collapse::insert_into_collapse;
use crate::of_expand::{extract_from_expand, insert_into_expand};
use crate::stablehlo_slice::{slice_after_reshape, slice_before_reshape};
use mlir_ops::{OpKind, Operand, Source};

/// A replacement of an op by other code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rewrite {
    /// A stable identifier.
    pub id: &'static str,
    /// `Replace by 3 slices`
    pub title: String,
    /// The form, for rewrites of `tensor.extract_slice`.
    pub form: Option<Form>,
    /// The edits: spans of the piece with their replacements, in text order.
    pub edits: Vec<(Span, String)>,
}

/// All replacements of `op`, each proven to read the same elements.
pub fn rewrites<'a>(source: &'a Source<'a>, op: OpId) -> Vec<Rewrite> {
    match source.op(op) {
        OpKind::ExtractSlice => {
            let mut found = extract_from_collapse(source, op);
            found.extend(extract_from_expand(source, op));
            found
        }
        OpKind::InsertSlice => {
            insert_into_collapse(source, op).into_iter().chain(insert_into_expand(source, op)).collect()
        }
        OpKind::BoundedSlice => slice_before_reshape(source, op).into_iter().collect(),
        OpKind::StatedReshape => slice_after_reshape(source, op).into_iter().collect(),
        _ => Vec::new(),
    }
}

/// The leading whitespace of the line of an op.
pub(crate) fn indent_of<'t>(source: &Source<'t>, op: OpId) -> &'t str {
    let text = source.text;
    let start = source.parse.op(op).span.start as usize;
    let line = text[..start].rfind('\n').map_or(0, |at| at + 1);
    let blank = text[line..start].len() - text[line..start].trim_start_matches([' ', '\t']).len();
    &text[line..line + blank]
}

/// The ` loc(…)` of an op, with a leading space; empty if there is none.
pub(crate) fn location_of<'a>(source: &'a Source<'a>, op: OpId) -> String {
    match source.parse.op(op).location.of(source.text) {
        "" => String::new(),
        location => format!(" {location}"),
    }
}

/// The edit that removes `definition`, which defines `operand`, if the replaced use is its only one.
pub(crate) fn without_use<'a>(
    source: &'a Source<'a>,
    operand: &Operand,
    definition: OpId,
) -> Option<(Span, String)> {
    let value = operand.value?;
    let mut uses = source.parse.uses.iter().filter(|u| u.value == Some(value));
    (uses.next().is_some() && uses.next().is_none())
        .then(|| (whole_lines(source.text, source.parse.op(definition).span), String::new()))
}

/// Extends a span to its whole lines if nothing else is on them.
fn whole_lines(text: &str, span: Span) -> Span {
    let (start, end) = (span.start as usize, span.end as usize);
    let line = text[..start].rfind('\n').map_or(0, |at| at + 1);
    let behind = text[end..].find('\n').map_or(text.len(), |at| end + at + 1);
    let is_alone = text[line..start].trim().is_empty() && text[end..behind].trim().is_empty();
    if is_alone { Span::new(line, behind) } else { span }
}
