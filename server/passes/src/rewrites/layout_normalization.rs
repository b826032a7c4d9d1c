//! `layout_normalization`: makes all arrays row-major. What has another layout is computed with its dimensions in the order in
//! which they lie in memory; bitcasts around it disappear where they meet.
//!
//! Source: XLA `service/layout_normalization.cc`.

mod attributes;
mod convolutions;

use eval::{Column, Values};
use ir::Shape;
use syntax::hlo::{AttributeKey, Opcode};

use super::every::{Visited, add, replace, visit};
use crate::dimensions::{inverse_permutation, permute, with_dims, with_order};
use crate::driver::{Run, Stop};
use crate::module::{InstructionId, NewOp};
use attributes::normalized_attributes;
use convolutions::convolution;

pub(super) fn run(run: &mut Run<'_>) -> Result<(), Stop> {
    let (mut unsupported, mut unused) = (None, Vec::new());
    let before = run.changes();
    let mut normalize_one = |run: &mut Run<'_>, id: InstructionId, visited: &mut Visited| {
        let is_normal = is_row_major(run.module[id].shape())
            && run.module[id].operands().iter().all(|&operand| is_row_major(run.module[operand].shape()));
        if is_normal || unsupported.is_some() {
            return;
        }
        let target = run.module[id].attributes().text(AttributeKey::CustomCallTarget).unwrap_or_default();
        if target.starts_with("__cudnn$conv") {
            if convolution(run, id, visited, &mut unused).is_none() {
                unsupported = Some(run.module[id].name().to_owned());
            }
        } else if run.module[id].opcode() == Opcode::Convolution || target.starts_with("__cudnn$") {
            unsupported = Some(run.module[id].name().to_owned());
        } else {
            normalize(run, id, visited);
        }
    };
    for computation in run.module.non_fusion_computations() {
        visit(run, computation, &mut normalize_one);
    }
    // XLA does not count them as a change.
    if run.changes() == before {
        unused.into_iter().for_each(|id| run.module.remove(id));
    }
    match unsupported {
        Some(name) => {
            Err(Stop::Unsupported(format!("%{name} is a convolution, whose layouts are not normalised yet")))
        }
        None => Ok(()),
    }
}

/// A module has no layout where it is row-major.
fn is_row_major(shape: &Shape) -> bool {
    shape.as_array().is_some_and(|array| array.minor_to_major().iter().rev().is_sorted())
}

/// The dimensions in the order in which they lie in memory, the slowest first.
pub(super) fn order(shape: &Shape) -> Vec<i64> {
    let array = shape.as_array();
    array.map_or_else(Vec::new, |array| {
        array.minor_to_major().into_iter().rev().map(|dim| dim as i64).collect()
    })
}

/// The row-major array that lies in memory like this one.
fn row_major(shape: &Shape) -> Shape {
    let dims = permute(shape.dims(), &order(shape));
    let all = (0..dims.len() as i64).rev().collect();
    with_order(&with_dims(shape, dims), all).without_default_layouts()
}

/// The row-major value that lies in memory like this one: itself, or what it is a bitcast of.
fn normalized(run: &Run<'_>, id: InstructionId) -> Option<InstructionId> {
    if is_row_major(run.module[id].shape()) {
        return Some(id);
    }
    let &[source] = run.module[id].operands() else { return None };
    let is_bitcast = run.module[id].opcode() == Opcode::Bitcast && is_row_major(run.module[source].shape());
    is_bitcast.then_some(source)
}

fn bitcast(run: &mut Run<'_>, id: InstructionId, shape: &Shape) -> InstructionId {
    match run.module[id].shape() == shape {
        true => id,
        false => add(run, id, NewOp::new(Opcode::Bitcast, shape.clone(), &[id])),
    }
}

fn normalize(run: &mut Run<'_>, id: InstructionId, visited: &mut Visited) {
    let shape = run.module[id].shape().clone();
    let new = match run.module[id].opcode() {
        _ if shape.as_array().is_none() => None,
        Opcode::Constant => constant(run, id),
        Opcode::Transpose | Opcode::Copy => transpose(run, id),
        _ => same(run, id),
    };
    match new {
        Some(new) => {
            visited.insert(new);
            let new = bitcast(run, new, &shape);
            replace(run, id, new, "is computed row-major");
        }
        None => by_bitcasts(run, id, &shape, visited),
    }
}

/// Leaves the instruction as it is, and lets its users see that the result is a row-major array in memory.
fn by_bitcasts(run: &mut Run<'_>, id: InstructionId, shape: &Shape, visited: &mut Visited) {
    let users = run.module[id].users().to_vec();
    if shape.as_array().is_none() || users.is_empty() || is_row_major(shape) {
        return;
    }
    run.changed(id, "is used as a row-major array");
    let normal = bitcast(run, id, &row_major(shape));
    visited.insert(normal);
    let back = bitcast(run, normal, shape);
    for user in users {
        run.module.replace_use(id, user, back);
    }
    if run.module.is_root(id) {
        let computation = run.module[id].parent();
        run.module.set_root(computation, back);
    }
}

fn constant(run: &mut Run<'_>, id: InstructionId) -> Option<InstructionId> {
    let shape = run.module[id].shape().clone();
    let literal = run.module[id].literal()?;
    let normal = row_major(&shape);
    let literal = match eval::parse_literal(literal, &shape) {
        Ok(column) => eval::print_literal(&transposed(column, shape.dims(), &order(&shape)), normal.dims()),
        Err(_) => literal.to_owned(),
    };
    Some(add(run, id, NewOp::constant(normal, literal)))
}

fn transposed(column: Column, dims: &[i64], permutation: &[i64]) -> Column {
    let sizes = permute(dims, permutation);
    let mut strides = vec![1usize; dims.len()];
    for dim in (1..dims.len()).rev() {
        strides[dim - 1] = strides[dim] * dims[dim] as usize;
    }
    let strides = permute(&strides, permutation);
    let place = |at: usize| {
        let digit = |(rest, place): (usize, usize), (&size, &stride): (&i64, &usize)| {
            (rest / size.max(1) as usize, place + rest % size.max(1) as usize * stride)
        };
        sizes.iter().zip(&strides).rev().fold((at, 0), digit).1
    };
    let places = (0..column.len()).map(place);
    let values = match &column.values {
        Values::Int(values) => Values::Int(places.map(|place| values[place]).collect()),
        Values::Real(values) => Values::Real(places.map(|place| values[place]).collect()),
        Values::Complex(values) => Values::Complex(places.map(|place| values[place]).collect()),
    };
    Column { values, ..column }
}

/// Of a transpose, and of a copy to another layout, which is one in memory.
fn transpose(run: &mut Run<'_>, id: InstructionId) -> Option<InstructionId> {
    let &[operand] = run.module[id].operands() else { return None };
    let source = normalized(run, operand)?;
    let before = inverse_permutation(&order(run.module[operand].shape()));
    let after = order(run.module[id].shape());
    let is_copy = run.module[id].opcode() == Opcode::Copy;
    let permutation = match is_copy {
        true => permute(&before, &after),
        false => permute(&permute(&before, run.module[id].dimensions()), &after),
    };
    if !is_copy && crate::dimensions::is_identity(&permutation) {
        return Some(source);
    }
    let shape = row_major(run.module[id].shape());
    Some(add(run, id, NewOp::new(Opcode::Transpose, shape, &[source]).dimensions(&permutation)))
}

/// Whether the operands have the layouts that layout assignment gives them: that of the result, where the operation maps
/// dimensions to dimensions.
fn keeps_layout(run: &Run<'_>, id: InstructionId) -> bool {
    let shape = run.module[id].shape();
    let operands = run.module[id].operands();
    let is_alike = |&operand: &InstructionId| order(run.module[operand].shape()) == order(shape);
    match run.module[id].opcode() {
        Opcode::Broadcast | Opcode::Iota => true,
        Opcode::Reshape => {
            operands.iter().all(|&operand| gpu::reshape_is_bitcast(run.module[operand].shape(), shape))
        }
        Opcode::Slice | Opcode::Pad | Opcode::Reverse | Opcode::ReduceWindow => {
            operands.iter().take(1).all(is_alike)
        }
        Opcode::DynamicSlice | Opcode::Scatter => operands.iter().take(1).all(is_alike),
        Opcode::DynamicUpdateSlice => operands.iter().take(2).all(is_alike),
        _ => operands.iter().all(|operand| run.module[*operand].dims().is_empty() || is_alike(operand)),
    }
}

/// The same operation on row-major arrays, where it is one that XLA normalises.
fn same(run: &mut Run<'_>, id: InstructionId) -> Option<InstructionId> {
    let shape = run.module[id].shape().clone();
    let changed = normalized_attributes(run, id).filter(|_| keeps_layout(run, id))?;
    let mut operands = Vec::new();
    for &operand in run.module[id].operands() {
        operands.push(normalized(run, operand)?);
    }
    let first_start = match run.module[id].opcode() {
        Opcode::DynamicSlice => 1,
        Opcode::DynamicUpdateSlice => 2,
        _ => operands.len(),
    };
    if first_start < operands.len() {
        // A vector of starts, which XLA splits before layouts are assigned.
        if operands.len() - first_start != shape.dims().len() {
            return None;
        }
        let starts = permute(&operands[first_start..], &order(&shape));
        operands.truncate(first_start);
        operands.extend(starts);
    }
    let new = run.module.add_copy(run.module[id].parent(), id, &operands);
    run.module.set_shape(new, row_major(&shape));
    for (key, value) in changed {
        run.module.attributes_mut(new).set(key, value);
    }
    Some(new)
}
