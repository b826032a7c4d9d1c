//! Strings: comparisons and the configuration of the backend.

use ir::{AttributeValue, ElementTypeExt};
use syntax::hlo::ElementType;

use super::{Context, Proto};
use crate::messages::Payload;
use crate::scan::quoted;

/// Whether a text needs no quotes.
pub(super) fn is_word(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
}

pub(super) fn quoted_value(bytes: &[u8]) -> AttributeValue {
    let mut inner = String::new();
    ir::escape(&mut inner, bytes);
    AttributeValue::Quoted(inner)
}

/// What a string represents, or a dictionary that is written without quotes.
pub(super) fn bytes_of(value: &AttributeValue) -> Option<Vec<u8>> {
    match value {
        AttributeValue::Quoted(inner) => Some(ir::unescape(inner)),
        AttributeValue::Text(text) => Some(text.clone().into_bytes()),
        _ => None,
    }
}

/// A dictionary without quotes, as XLA writes it, or a string in quotes.
pub(crate) fn string_or_json(bytes: &[u8]) -> String {
    match std::str::from_utf8(bytes) {
        Ok(text) if ir::is_json_dict(text) => text.to_owned(),
        _ => quoted(bytes),
    }
}

/// In the instruction, or by its number among the payloads of the module.
pub(super) fn take_backend_config(proto: &mut Proto, context: &mut Context<'_>) -> Option<AttributeValue> {
    let config = match proto.backend_config_payload.take() {
        None => std::mem::take(&mut proto.backend_config),
        Some(payload) => match payload_of(&payload, context.payloads) {
            Some(config) => {
                proto.backend_config.clear();
                config.to_vec()
            }
            None => {
                proto.backend_config_payload = Some(payload);
                return None;
            }
        },
    };
    (!config.is_empty()).then(|| AttributeValue::Text(string_or_json(&config)))
}

pub(super) fn payload_of<'p>(payload: &'p Payload, payloads: &'p [Vec<u8>]) -> Option<&'p [u8]> {
    match (&payload.value, payload.id) {
        (Some(value), _) => Some(value),
        (None, Some(id)) => usize::try_from(id).ok().and_then(|id| payloads.get(id)).map(Vec::as_slice),
        (None, None) => Some(&[]),
    }
}

pub(super) fn put_backend_config(
    proto: &mut Proto,
    value: &AttributeValue,
    _: &mut Context<'_>,
) -> Result<(), String> {
    proto.backend_config = bytes_of(value).ok_or_else(String::new)?;
    Ok(())
}

/// The comparison that the type of the operands implies. Source: XLA `Comparison::DefaultComparisonType`.
pub(super) fn default_comparison(element: ElementType) -> &'static str {
    if element.is_signed_integer() {
        "SIGNED"
    } else if element.is_floating() || element.is_complex() {
        "FLOAT"
    } else {
        "UNSIGNED"
    }
}

/// The order that a type of comparison has where none is stated.
pub(super) fn default_order(comparison_type: &str) -> &'static str {
    if comparison_type == "FLOAT" { "PARTIAL" } else { "TOTAL" }
}

/// A type that the operands do not imply. A total order of floating-point numbers was a type of comparison once: that is in the order.
pub(super) fn take_comparison_type(proto: &mut Proto, context: &mut Context<'_>) -> Option<AttributeValue> {
    if proto.comparison_type.is_empty() || !is_word(&proto.comparison_type) {
        return None;
    }
    let own = std::mem::take(&mut proto.comparison_type);
    let default = context.operands.first().and_then(ir::Shape::element).map(default_comparison);
    (own != TOTAL_ORDER && default != Some(own.as_str())).then_some(AttributeValue::Word(own))
}

const TOTAL_ORDER: &str = "TOTALORDER";

pub(super) fn put_comparison_type(
    proto: &mut Proto,
    value: &AttributeValue,
    _: &mut Context<'_>,
) -> Result<(), String> {
    let AttributeValue::Word(word) = value else { return Err(String::new()) };
    proto.comparison_type.clone_from(word);
    Ok(())
}

pub(super) fn take_comparison_order(proto: &mut Proto, context: &mut Context<'_>) -> Option<AttributeValue> {
    let stated = match proto.comparison_order.as_str() {
        "" if proto.comparison_type == TOTAL_ORDER => "TOTAL",
        "TOTAL" => "TOTAL",
        "PARTIAL" => "PARTIAL",
        _ => return None,
    };
    proto.comparison_order.clear();
    let implied =
        context.operands.first().and_then(ir::Shape::element).map(default_comparison).map(default_order);
    (implied != Some(stated)).then(|| AttributeValue::Word(stated.to_owned()))
}

/// Older versions of XLA read the type, newer ones the order.
pub(super) fn put_comparison_order(
    proto: &mut Proto,
    value: &AttributeValue,
    context: &mut Context<'_>,
) -> Result<(), String> {
    let AttributeValue::Word(word) = value else { return Err(String::new()) };
    let element = context.operands.first().and_then(ir::Shape::element);
    if word == "TOTAL" && element.is_some_and(|element| default_comparison(element) == "FLOAT") {
        proto.comparison_type = TOTAL_ORDER.to_owned();
    }
    proto.comparison_order.clone_from(word);
    Ok(())
}

/// The only mode of a shuffle is to rotate.
pub(super) fn take_shuffle_mode(proto: &mut Proto, _: &mut Context<'_>) -> Option<AttributeValue> {
    let has_rotation = proto.shuffle_mode.as_ref().is_some_and(|mode| mode.rotate.is_some());
    has_rotation.then(|| AttributeValue::Word("rotate".to_owned()))
}

pub(super) fn put_shuffle_mode(
    proto: &mut Proto,
    value: &AttributeValue,
    _: &mut Context<'_>,
) -> Result<(), String> {
    match value {
        AttributeValue::Word(word) if word == "rotate" => {
            proto.shuffle_mode.get_or_insert_default().rotate.get_or_insert_default();
            Ok(())
        }
        _ => Err(String::new()),
    }
}
