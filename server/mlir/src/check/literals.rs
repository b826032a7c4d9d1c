//! Checks the lists of constants.

use text::Span;

use super::Finding;
use crate::array_type::ArrayType;
use crate::dense_shape::{ListShape, list_shape};
use crate::tree::*;

/// Compares the lists of a constant with its type.
pub(super) fn check_literal(parse: &Parse, text: &str, id: OpId, findings: &mut Vec<Finding>) {
    let op = parse.op(id);
    if !op.name.of(text).trim_end_matches('"').ends_with("constant") {
        return;
    }
    let head = Span { start: op.name.end, end: op.span.end }.of(text);
    // Attributes before the value are not lists.
    let Some((before, literal)) = head.split_once("dense<") else { return };
    let Some(&TypeRef::Written(ty)) = parse.types(&op.result_types).first() else { return };
    let Ok(array) = ArrayType::parse(ty.of(text)) else { return };
    let Some(wanted) = array.static_extents() else { return };
    if before.contains("loc(") || wanted.contains(&0) {
        return;
    }
    let message = match list_shape(literal) {
        Some(ListShape::Even(shape)) if shape != wanted => {
            let extents: Vec<_> = shape.iter().map(i64::to_string).collect();
            format!("the lists of the literal are {}, and the type is {}", extents.join("x"), ty.of(text))
        }
        Some(ListShape::Uneven) => "lists of one depth have as many elements each".to_owned(),
        _ => return,
    };
    findings.push(Finding { span: ty, code: "literal-shape", message, related: None });
}
