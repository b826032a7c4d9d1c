//! Slices, paddings, shapes and literals.

use ir::{Alias, AttributeValue, Shape};

use super::{Context, Proto};
use crate::literal::{shaped_literal_proto, take_shaped_literal};
use crate::messages::{OutputOperandAliasing, PaddingConfigDimension, ParameterReplication, SliceDimensions};
use crate::scan::{Scanned, Scanner, write_list};
use crate::shapes::{shape_proto, take_shape};

fn scan<T>(value: &AttributeValue, read: impl FnOnce(&mut Scanner<'_>) -> Scanned<T>) -> Result<T, String> {
    let AttributeValue::Text(text) = value else { return Err(String::new()) };
    let mut scanner = Scanner::new(text);
    let read = read(&mut scanner);
    read.and_then(|read| scanner.end().map(|()| read)).map_err(|_| String::new())
}

pub(super) fn take_slice(proto: &mut Proto, _: &mut Context<'_>) -> Option<AttributeValue> {
    let ranges = proto.slice_dimensions.drain(..);
    Some(AttributeValue::Triples(ranges.map(|range| [range.start, range.limit, range.stride]).collect()))
}

pub(super) fn put_slice(
    proto: &mut Proto,
    value: &AttributeValue,
    _: &mut Context<'_>,
) -> Result<(), String> {
    let AttributeValue::Triples(ranges) = value else { return Err(String::new()) };
    let range = |&[start, limit, stride]: &[i64; 3]| SliceDimensions { start, limit, stride };
    proto.slice_dimensions = ranges.iter().map(range).collect();
    Ok(())
}

pub(super) fn take_padding(proto: &mut Proto, _: &mut Context<'_>) -> Option<AttributeValue> {
    let padding = proto.padding_config.take().unwrap_or_default();
    let dims =
        padding.dimensions.iter().map(|d| [d.edge_padding_low, d.edge_padding_high, d.interior_padding]);
    Some(AttributeValue::Triples(dims.collect()))
}

pub(super) fn put_padding(
    proto: &mut Proto,
    value: &AttributeValue,
    _: &mut Context<'_>,
) -> Result<(), String> {
    let AttributeValue::Triples(dims) = value else { return Err(String::new()) };
    let dim = |&[edge_padding_low, edge_padding_high, interior_padding]: &[i64; 3]| PaddingConfigDimension {
        edge_padding_low,
        edge_padding_high,
        interior_padding,
    };
    proto.padding_config.get_or_insert_default().dimensions = dims.iter().map(dim).collect();
    Ok(())
}

/// The sizes of the slices that a collective permute moves: one list per slice, of as many numbers as the operand has
/// dimensions. The message has all numbers in one list.
pub(super) fn take_slice_sizes(proto: &mut Proto, context: &mut Context<'_>) -> Option<AttributeValue> {
    if proto.dynamic_slice_sizes.is_empty() {
        return None;
    }
    let operand = context.operands.first()?;
    let ranks: Vec<usize> = match operand.tuple_elements() {
        Some(elements) => elements.iter().map(|element| element.dims().len()).collect(),
        None => vec![operand.dims().len()],
    };
    let sum: usize = ranks.iter().sum();
    if sum == 0 || !proto.dynamic_slice_sizes.len().is_multiple_of(sum) {
        return None;
    }
    let sizes = std::mem::take(&mut proto.dynamic_slice_sizes);
    // Several slices of each element of a tuple follow each other.
    let each = sizes.len() / sum;
    let mut rest = sizes.as_slice();
    let mut out = String::from("{");
    for rank in ranks.into_iter().flat_map(|rank| std::iter::repeat_n(rank, each)) {
        let (list, behind) = rest.split_at(rank);
        if out.len() > 1 {
            out.push(',');
        }
        write_list(&mut out, '{', '}', list);
        rest = behind;
    }
    out.push('}');
    Some(AttributeValue::Text(out))
}

pub(super) fn put_slice_sizes(
    proto: &mut Proto,
    value: &AttributeValue,
    _: &mut Context<'_>,
) -> Result<(), String> {
    let lists = scan(value, |scanner| scanner.list('{', '}', Scanner::ints))?;
    proto.dynamic_slice_sizes = lists.concat();
    Ok(())
}

pub(super) fn take_literal(proto: &mut Proto, context: &mut Context<'_>) -> Option<AttributeValue> {
    let mut literal = proto.literal.take()?;
    match take_shaped_literal(&mut literal, context.budget) {
        Ok(text) => Some(AttributeValue::Text(text)),
        Err(_) => {
            proto.literal = Some(literal);
            None
        }
    }
}

pub(super) fn put_literal(
    proto: &mut Proto,
    value: &AttributeValue,
    _: &mut Context<'_>,
) -> Result<(), String> {
    let AttributeValue::Text(text) = value else { return Err(String::new()) };
    let literal = shaped_literal_proto(text)?;
    proto.literal = Some(literal.ok_or("the text leaves out elements of the literal")?);
    Ok(())
}

/// The shapes of the operands of a custom call whose layouts are fixed.
pub(super) fn take_constraints(proto: &mut Proto, _: &mut Context<'_>) -> Option<AttributeValue> {
    if !proto.constrain_layout {
        return None;
    }
    let mut shapes = Vec::with_capacity(proto.operand_shapes_with_layout.len());
    for shape in &proto.operand_shapes_with_layout {
        shapes.push(take_shape(&mut shape.clone()).ok()?.to_string());
    }
    proto.constrain_layout = false;
    proto.operand_shapes_with_layout.clear();
    Some(AttributeValue::Text(format!("{{{}}}", shapes.join(", "))))
}

pub(super) fn put_constraints(
    proto: &mut Proto,
    value: &AttributeValue,
    _: &mut Context<'_>,
) -> Result<(), String> {
    let AttributeValue::Text(text) = value else { return Err(String::new()) };
    let inner =
        text.trim().strip_prefix('{').and_then(|text| text.strip_suffix('}')).ok_or_else(String::new)?;
    for part in ir::split_top_level(inner) {
        let shape = Shape::from_text(part).ok_or_else(|| format!("{part} is no shape"))?;
        proto.operand_shapes_with_layout.push(shape_proto(&shape));
    }
    proto.constrain_layout = true;
    Ok(())
}

pub(super) fn take_outfeed_shape(proto: &mut Proto, _: &mut Context<'_>) -> Option<AttributeValue> {
    let shape = take_shape(&mut proto.outfeed_shape.clone()?).ok()?;
    proto.outfeed_shape = None;
    Some(AttributeValue::Shape(shape))
}

pub(super) fn put_outfeed_shape(
    proto: &mut Proto,
    value: &AttributeValue,
    _: &mut Context<'_>,
) -> Result<(), String> {
    let AttributeValue::Shape(shape) = value else { return Err(String::new()) };
    proto.outfeed_shape = Some(shape_proto(shape));
    Ok(())
}

/// `{{0}: (1, {}), {1}: (0, {2})}`
pub(super) fn take_aliasing(proto: &mut Proto, _: &mut Context<'_>) -> Option<AttributeValue> {
    if proto.output_operand_aliasing.is_empty() {
        return None;
    }
    let mut out = String::from("{");
    for (i, entry) in proto.output_operand_aliasing.drain(..).enumerate() {
        out.push_str(if i > 0 { ", " } else { "" });
        write_list(&mut out, '{', '}', entry.output_shape_index);
        out.push_str(&format!(": ({}, ", entry.operand_index));
        write_list(&mut out, '{', '}', entry.operand_shape_index);
        out.push(')');
    }
    out.push('}');
    Some(AttributeValue::Text(out))
}

pub(super) fn put_aliasing(
    proto: &mut Proto,
    value: &AttributeValue,
    _: &mut Context<'_>,
) -> Result<(), String> {
    let AttributeValue::Text(text) = value else { return Err(String::new()) };
    let entry = |alias: Alias| OutputOperandAliasing {
        output_shape_index: alias.output,
        operand_index: alias.parameter,
        operand_shape_index: alias.index,
    };
    proto.output_operand_aliasing = Alias::list(text).into_iter().map(entry).collect();
    Ok(())
}

/// `{true,false}`
pub(super) fn take_replication(proto: &mut Proto, _: &mut Context<'_>) -> Option<AttributeValue> {
    let replication = proto.parameter_replication.take()?.replicated_at_leaf_buffers;
    let mut out = String::new();
    write_list(&mut out, '{', '}', &replication);
    (!replication.is_empty()).then_some(AttributeValue::Text(out))
}

pub(super) fn put_replication(
    proto: &mut Proto,
    value: &AttributeValue,
    _: &mut Context<'_>,
) -> Result<(), String> {
    let leaves = scan(value, |scanner| scanner.list('{', '}', Scanner::bool))?;
    proto.parameter_replication = Some(ParameterReplication { replicated_at_leaf_buffers: leaves });
    Ok(())
}
