//! Numbers that are left out where they say nothing, or have a form of their own.

use ir::AttributeValue;

use super::{Context, Proto};

/// XLA counts no group as one.
fn take_count(count: &mut i64) -> Option<AttributeValue> {
    match std::mem::take(count) {
        0 | 1 => None,
        count => Some(AttributeValue::Int(count)),
    }
}

fn put_int(field: &mut i64, value: &AttributeValue) -> Result<(), String> {
    let AttributeValue::Int(value) = value else { return Err(String::new()) };
    *field = *value;
    Ok(())
}

pub(super) fn take_batch_groups(proto: &mut Proto, _: &mut Context<'_>) -> Option<AttributeValue> {
    take_count(&mut proto.batch_group_count)
}

pub(super) fn put_batch_groups(
    proto: &mut Proto,
    value: &AttributeValue,
    _: &mut Context<'_>,
) -> Result<(), String> {
    put_int(&mut proto.batch_group_count, value)
}

pub(super) fn take_feature_groups(proto: &mut Proto, _: &mut Context<'_>) -> Option<AttributeValue> {
    take_count(&mut proto.feature_group_count)
}

pub(super) fn put_feature_groups(
    proto: &mut Proto,
    value: &AttributeValue,
    _: &mut Context<'_>,
) -> Result<(), String> {
    put_int(&mut proto.feature_group_count, value)
}

/// Numbers that are not positive say that there is no channel, and so does an old name of the field.
pub(super) fn take_channel(proto: &mut Proto, _: &mut Context<'_>) -> Option<AttributeValue> {
    let channel = std::mem::take(&mut proto.channel_id);
    let old = std::mem::take(&mut proto.all_reduce_id);
    [channel, old].into_iter().find(|&id| id > 0).map(AttributeValue::Int)
}

pub(super) fn put_channel(
    proto: &mut Proto,
    value: &AttributeValue,
    _: &mut Context<'_>,
) -> Result<(), String> {
    put_int(&mut proto.channel_id, value)
}

/// The old form of the field says that there is one.
pub(super) fn take_prefetch(proto: &mut Proto, _: &mut Context<'_>) -> Option<AttributeValue> {
    let is_prefetch = std::mem::take(&mut proto.is_cross_program_prefetch);
    let index = proto.cross_program_prefetch_index.take().or(is_prefetch.then_some(0))?;
    Some(AttributeValue::Int(index.into()))
}

pub(super) fn put_prefetch(
    proto: &mut Proto,
    value: &AttributeValue,
    _: &mut Context<'_>,
) -> Result<(), String> {
    let AttributeValue::Int(value) = value else { return Err(String::new()) };
    proto.cross_program_prefetch_index = Some(i32::try_from(*value).map_err(|_| String::new())?);
    Ok(())
}

pub(super) fn take_epsilon(proto: &mut Proto, _: &mut Context<'_>) -> Option<AttributeValue> {
    let epsilon = std::mem::take(&mut proto.epsilon);
    Some(AttributeValue::Text(format!("{epsilon:?}")))
}

pub(super) fn put_epsilon(
    proto: &mut Proto,
    value: &AttributeValue,
    _: &mut Context<'_>,
) -> Result<(), String> {
    let AttributeValue::Text(text) = value else { return Err(String::new()) };
    let value: f64 = text.trim().parse().map_err(|_| String::new())?;
    proto.epsilon = value as f32;
    Ok(())
}

/// Unspecified, true, false. Source: XLA `hlo.proto` TriState.
pub(super) fn take_is_associative(proto: &mut Proto, _: &mut Context<'_>) -> Option<AttributeValue> {
    let value = match proto.is_associative {
        1 => true,
        2 => false,
        _ => return None,
    };
    proto.is_associative = 0;
    Some(AttributeValue::Bool(value))
}

pub(super) fn put_is_associative(
    proto: &mut Proto,
    value: &AttributeValue,
    _: &mut Context<'_>,
) -> Result<(), String> {
    let AttributeValue::Bool(value) = value else { return Err(String::new()) };
    proto.is_associative = if *value { 1 } else { 2 };
    Ok(())
}
