//! Flattens arrays to lists of elements in memory order. Source:
//! `codegen/emitters/transforms/flatten_tensors.cc`.

use std::sync::Arc;

use indexing_map::{Expr, RangeContext, Simplifier, SimplifyMode, Variable};
use ir::{ArrayShape, Layout};

use super::ops::{each_body, regions_mut};
use crate::kernel::{Function, Kernel, OpKind, Region, SharedArray, Table, Type, ValueId};

pub(super) fn run(kernel: &mut Kernel) {
    each_body(kernel, |_, function, body| {
        region(function, body);
        function.values.iter_mut().for_each(flatten);
    });
    kernel.tables.iter_mut().for_each(flatten_table);
}

fn region(function: &Function, of: &mut Region) {
    for op in &mut of.ops {
        match &mut op.kind {
            OpKind::Read { tensor, at }
            | OpKind::ReadIf { tensor, at, .. }
            | OpKind::Write { tensor, at, .. }
            | OpKind::WriteIf { tensor, at, .. }
            | OpKind::Update { tensor, at, .. } => linear(function, *tensor, at),
            _ => {}
        }
        regions_mut(&mut op.kind).into_iter().for_each(|inner| region(function, inner));
    }
}

/// The sizes of an array, slowest first, each with its dimension; `None` if it is flat.
fn order(ty: &Type) -> Option<Vec<(usize, i64)>> {
    let sizes: Vec<(usize, i64)> = match ty {
        Type::Tensor(shape) => {
            let mut order: Vec<usize> = shape.minor_to_major();
            order.reverse();
            order.into_iter().map(|dim| (dim, shape.dims[dim])).collect()
        }
        Type::Shared(array) => array.dims.iter().copied().enumerate().collect(),
        Type::Scalar(_) | Type::Vector { .. } => return None,
    };
    (sizes.len() > 1).then_some(sizes)
}

fn linear(function: &Function, tensor: ValueId, at: &mut Vec<Expr>) {
    let Some(order) = order(function.ty(tensor)).filter(|order| order.len() == at.len()) else { return };
    let mut sum = Expr::ZERO;
    for (dim, size) in order {
        sum = sum * size + at[dim].clone();
    }
    let ranges = RangeContext::new(&function.index_vars, &[]);
    *at = vec![Simplifier::new(ranges, SimplifyMode::Replace).simplify(&sum)];
}

fn flatten(ty: &mut Type) {
    let Some(order) = order(ty) else { return };
    let size = order.iter().fold(1i64, |size, (_, dim)| size.saturating_mul(*dim));
    match ty {
        Type::Tensor(shape) => *shape = flat(shape, size),
        Type::Shared(array) => *array = SharedArray { element: array.element, dims: vec![size] },
        Type::Scalar(_) | Type::Vector { .. } => {}
    }
}

fn flat(shape: &ArrayShape, size: i64) -> Arc<ArrayShape> {
    // The number of bits of an element in memory stays.
    let layout = shape.layout.clone().map(|layout| Layout { minor_to_major: vec![0], ..layout });
    Arc::new(ArrayShape { element: shape.element, dims: vec![size], dynamic: Vec::new(), layout })
}

/// The elements in the order of memory.
fn flatten_table(table: &mut Table) {
    let Some(order) = order(&Type::Tensor(table.shape.clone())) else { return };
    let dims = &table.shape.dims;
    let variables: Vec<Variable> = order.iter().map(|(_, size)| Variable::from_size(*size)).collect();
    let count = table.elements.len();
    let elements = (0..count).filter_map(|mut rest| {
        let mut index = vec![0usize; dims.len()];
        for ((dim, _), variable) in order.iter().zip(&variables).rev() {
            let size = usize::try_from(variable.bounds.size()).ok()?.max(1);
            index[*dim] = rest % size;
            rest /= size;
        }
        let row_by_row = index.iter().zip(dims.iter()).try_fold(0usize, |sum, (&at, &size)| {
            sum.checked_mul(usize::try_from(size).ok()?)?.checked_add(at)
        })?;
        table.elements.get(row_by_row).copied()
    });
    table.elements = elements.collect();
    table.shape = flat(&table.shape, count as i64);
}
