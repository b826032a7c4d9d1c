//! Notes on instructions: fields of attributes that have a grammar of their own.

use ir::AttributeValue;
use syntax::hlo::AttributeKey;

use crate::module::{InstructionId, Module};

/// The fields `{…}` with one more, as it is written.
pub(super) fn with_field(fields: &str, field: &str, separator: &str) -> String {
    let inner = fields.trim().trim_end_matches('}');
    match inner.trim_end().ends_with('{') || inner.is_empty() {
        true => format!("{{{field}}}"),
        false => format!("{}{separator}{field}}}", fields.trim().strip_suffix('}').unwrap_or(inner)),
    }
}

/// An entry of the frontend attributes, without its quotes.
pub(super) fn frontend_attribute<'a>(module: &'a Module, id: InstructionId, key: &str) -> Option<&'a str> {
    ir::frontend_attribute(module[id].attributes().text(AttributeKey::FrontendAttributes)?, key)
}

/// Adds an entry to the frontend attributes of an instruction. An entry of the same key must not be there.
pub(super) fn add_frontend_attribute(module: &mut Module, id: InstructionId, key: &str, value: &str) {
    let old = module[id].attributes().text(AttributeKey::FrontendAttributes).unwrap_or("{}");
    let new = with_field(old, &format!("{key}=\"{value}\""), ",");
    module.attributes_mut(id).set(AttributeKey::FrontendAttributes, AttributeValue::Text(new));
}
