//! Attributes that any instruction may have: shardings, layouts, and those of frontends.

use ir::{AttributeKey, Op, Shape};
use syntax::hlo::AttributeKey as K;

use super::attributes::Written;
use super::header::{is_row_major, layout};
use crate::strings::mlir_string;

/// `{a = "b"}` of `{a="b"}`.
pub(super) fn frontend(text: &str) -> String {
    let entries = mlir::lists::dictionary(text).into_iter().map(|(key, value)| {
        let is_bare = key.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.' | b'$'))
            && key.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
        let key = if is_bare { key.to_owned() } else { format!("\"{}\"", mlir_string(key)) };
        let inside = value.strip_prefix('"').and_then(|v| v.strip_suffix('"')).unwrap_or(value);
        format!("{key} = \"{}\"", mlir_string(inside))
    });
    format!("{{{}}}", entries.collect::<Vec<_>>().join(", "))
}

/// Adds the attributes that any instruction may have, and returns those that have no counterpart.
pub(super) fn annotations(op: &Op, written: &mut Written, known: &[AttributeKey]) -> Vec<AttributeKey> {
    let attributes = &op.attributes;
    let mut add = |name: &str, value: String| written.extra.push((name.to_owned(), value));
    if let Some(sharding) = attributes.text(K::Sharding) {
        add("mhlo.sharding", format!("\"{}\"", mlir_string(sharding)));
    }
    if let Some(text) = attributes.text(K::FrontendAttributes) {
        add("mhlo.frontend_attributes", frontend(text));
    }
    if let Some(text) = attributes.text(K::BackendConfig).filter(|_| !known.contains(&K::BackendConfig)) {
        add("mhlo.backend_config", format!("\"{}\"", mlir_string(text)));
    }
    let is_unusual = |shape: &&Shape| shape.as_array().is_some_and(|a| !is_row_major(a));
    if super::values::leaves(&op.shape).iter().any(is_unusual) {
        add("xla_shape", format!("\"{}\"", op.shape));
    }
    if op.opcode == ir::Opcode::Bitcast {
        add("result_layout", layout(&op.shape));
        add("source_layout", op.operand_shapes.first().map(layout).unwrap_or_default());
    }
    // The operands of an outfeed have the types that its shape says.
    let everywhere =
        [K::Sharding, K::FrontendAttributes, K::BackendConfig, K::Metadata, K::Index, K::OutfeedShape];
    let said =
        |key: &AttributeKey| everywhere.contains(key) || known.contains(key) || written.keys.contains(key);
    attributes.keys().filter(|key| !said(key)).collect()
}
