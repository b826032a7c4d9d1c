//! `reduction-layout-normalizer`: reduces row-major arrays alone. `reduction-degenerate-dim-remover`: drops dimensions of size 1.
//!
//! Source: XLA `backends/gpu/transforms/reduction_layout_normalizer.cc`, `reduction_degenerate_dim_remover.cc`.

use ir::Shape;
use syntax::hlo::{AttributeKey, Opcode};

use super::every::{add, add_copy, every, replace};
use crate::dimensions::{permute, with_dims, with_order, without_unit_dimensions};
use crate::driver::{Run, Stop};
use crate::module::{InstructionId, NewOp};

/// A reduction to add: shapes of its inputs and results, and what it reduces.
struct Plan {
    inputs: Vec<Shape>,
    results: Vec<Shape>,
    dims: Vec<i64>,
}

pub(super) fn normalize_layouts(run: &mut Run<'_>) -> Result<(), Stop> {
    every(run, |run, id| {
        if run.module[id].opcode() == Opcode::Reduce
            && let Some(plan) = row_major(run, id)
        {
            rebuild(run, id, &plan, "reduces a row-major array");
        }
    });
    Ok(())
}

pub(super) fn remove_units(run: &mut Run<'_>) -> Result<(), Stop> {
    every(run, |run, id| {
        if run.module[id].opcode() == Opcode::Reduce
            && let Some(plan) = without_units(run, id)
        {
            rebuild(run, id, &plan, "needs no dimensions of size 1");
        }
    });
    Ok(())
}

fn inputs(run: &Run<'_>, id: InstructionId) -> Vec<Shape> {
    let operands = run.module[id].operands();
    operands[..operands.len() / 2].iter().map(|&operand| run.module[operand].shape().clone()).collect()
}

fn results(run: &Run<'_>, id: InstructionId) -> Vec<Shape> {
    match run.module[id].shape() {
        Shape::Tuple(elements) => elements.to_vec(),
        shape => vec![shape.clone()],
    }
}

/// Reads the inputs in the order in which they lie in memory. The results lie in memory as before.
fn row_major(run: &Run<'_>, id: InstructionId) -> Option<Plan> {
    let (inputs, results) = (inputs(run, id), results(run, id));
    let reduced = run.module[id].dimensions();
    let first = inputs.first()?.as_array()?;
    let has_same_layout = |input: &Shape| input.as_array().is_some_and(|array| array.layout == first.layout);
    if !inputs.iter().all(has_same_layout) {
        return None;
    }
    let order: Vec<i64> = first.minor_to_major().into_iter().rev().map(|dim| dim as i64).collect();
    if order.is_sorted() && inputs.len() == 1 || inputs.len() != results.len() {
        return None;
    }
    let before = |dim: i64| reduced.iter().filter(|&&reduced| reduced < dim).count() as i64;
    let kept: Vec<i64> =
        order.iter().filter(|dim| !reduced.contains(dim)).map(|&dim| dim - before(dim)).collect();
    let dims = (0..).zip(&order).filter(|(_, dim)| reduced.contains(dim)).map(|(at, _)| at).collect();
    let moved = |result: &Shape| {
        let layout = result.as_array()?.minor_to_major();
        let place = |&dim: &usize| kept.iter().position(|&kept| kept == dim as i64).map(|at| at as i64);
        let layout = layout.iter().map(place).collect::<Option<Vec<_>>>()?;
        Some(with_order(&with_dims(result, permute(result.dims(), &kept)), layout))
    };
    Some(Plan {
        results: results.iter().map(moved).collect::<Option<_>>()?,
        inputs: inputs
            .iter()
            .map(|input| with_dims(&input.without_layouts(), permute(input.dims(), &order)))
            .collect(),
        dims,
    })
}

fn without_units(run: &Run<'_>, id: InstructionId) -> Option<Plan> {
    let (inputs, results) = (inputs(run, id), results(run, id));
    let first = inputs.first()?.dims();
    let kept: Vec<i64> = (0..).zip(first).filter(|(_, size)| **size != 1).map(|(dim, _)| dim).collect();
    let reduced = run.module[id].dimensions();
    let dims = (0..).zip(&kept).filter(|(_, dim)| reduced.contains(dim)).map(|(at, _)| at).collect();
    (kept.len() < first.len()).then(|| Plan {
        inputs: inputs.iter().map(without_unit_dimensions).collect(),
        results: results.iter().map(without_unit_dimensions).collect(),
        dims,
    })
}

/// Replaces a reduction by the planned one between bitcasts.
fn rebuild(run: &mut Run<'_>, id: InstructionId, plan: &Plan, what: &str) {
    let mut operands = run.module[id].operands().to_vec();
    let old = results(run, id);
    if plan.dims.is_empty() && !run.module[id].dimensions().is_empty() {
        // XLA takes the initial value for an identity of the function.
        if let &[operand, _] = &operands[..]
            && gpu::reshape_is_bitcast(run.module[operand].shape(), &old[0])
        {
            let new = add(run, id, NewOp::new(Opcode::Bitcast, old[0].clone(), &[operand]));
            replace(run, id, new, "reduces only dimensions of size 1");
        }
        return;
    }
    for (operand, shape) in operands.iter_mut().zip(&plan.inputs) {
        if run.module[*operand].shape() != &shape.without_default_layouts() {
            *operand = add(run, *operand, NewOp::new(Opcode::Bitcast, shape.clone(), &[*operand]));
        }
    }
    let is_tuple = matches!(run.module[id].shape(), Shape::Tuple(_));
    let shape = if is_tuple { Shape::tuple(plan.results.clone()) } else { plan.results[0].clone() };
    let mut new = add_copy(run, id, &operands, shape);
    run.module.attributes_mut(new).set(AttributeKey::Dimensions, plan.dims.clone());
    if run.module[new].shape() != run.module[id].shape() {
        if is_tuple {
            let mut parts = Vec::with_capacity(old.len());
            for (i, shape) in (0..).zip(old) {
                let element = run.module.add_element(new, i);
                parts.push(add(run, id, NewOp::new(Opcode::Bitcast, shape, &[element])));
            }
            new = run.module.add_tuple(run.module[id].parent(), &parts);
        } else {
            new = add(run, id, NewOp::new(Opcode::Bitcast, old[0].clone(), &[new]));
        }
    }
    replace(run, id, new, what);
}
