//! `dot_dimension_normalizer`: joins the contracting dimensions of dots, and the free ones.
//!
//! Source: XLA `hlo/transforms/dot_dimension_normalizer.cc`.

use syntax::hlo::{AttributeKey, Opcode};

use super::dot_merger::categories::{Category, Operand};
use super::dot_merger::moves::Moves;
use super::every::{every, replace};
use crate::driver::{Run, Stop};
use crate::module::{InstructionId, NewOp};
use crate::shapes::of_element;

pub(super) fn run(run: &mut Run<'_>) -> Result<(), Stop> {
    let mut refused = None;
    every(run, |run, id| {
        if run.module[id].opcode() != Opcode::Dot || run.module[id].has_control_dependencies() {
            return;
        }
        let count = |key| run.module[id].attributes().ints(key).len();
        let contracting = count(AttributeKey::LhsContractingDims);
        let free = |side: usize, key| {
            run.module[run.module.operand(id, side)].dims().len() - count(key) - contracting
        };
        let is_normal = contracting <= 1
            && free(0, AttributeKey::LhsBatchDims) <= 1
            && free(1, AttributeKey::RhsBatchDims) <= 1;
        if !is_normal && normalize(run, id).is_none() {
            refused.get_or_insert_with(|| run.module[id].name().to_owned());
        }
    });
    match refused {
        None => Ok(()),
        Some(name) => Err(Stop::Unsupported(format!(
            "the dimensions of %{name} are not in order; joining them is not implemented"
        ))),
    }
}

fn normalize(run: &mut Run<'_>, id: InstructionId) -> Option<()> {
    let mut sides = Vec::new();
    let mut operands = Vec::new();
    for side in 0..2 {
        let operand = run.module.operand(id, side);
        let mut dims = Operand::of(run.module, id, side)?;
        let mut head = operand;
        while matches!(run.module[head].opcode(), Opcode::Transpose | Opcode::Reshape) {
            head = run.module.operand(head, 0);
        }
        let mut moves = Moves::of_chain(run.module, head, operand)?;
        let mut categories = vec![Category::Contracting];
        if dims.indices(Category::Free).len() > 1 {
            categories.push(Category::Free);
        }
        for category in categories {
            let order = dims.with_last(category);
            moves.transpose(&order)?;
            dims = dims.permuted(&order).with_joined(category);
            moves.reshape(&dims.dims);
        }
        operands.push(moves.add(run, head)?);
        sides.push(dims);
    }
    let numbers = |side: usize, category| -> Vec<i64> {
        sides[side].indices(category).into_iter().map(|dim| dim as i64).collect()
    };
    let mut dims = sides[0].sizes(Category::Batch);
    dims.extend(sides[0].sizes(Category::Free));
    dims.extend(sides[1].sizes(Category::Free));
    let shape = of_element(run.module[id].shape(), &dims)?;
    let dot = run.module.add_copy(run.module[id].parent(), id, &operands);
    run.module.set_shape(dot, shape.clone());
    for (key, side, category) in [
        (AttributeKey::LhsBatchDims, 0, Category::Batch),
        (AttributeKey::RhsBatchDims, 1, Category::Batch),
        (AttributeKey::LhsContractingDims, 0, Category::Contracting),
        (AttributeKey::RhsContractingDims, 1, Category::Contracting),
    ] {
        let dims = numbers(side, category);
        match dims.is_empty() {
            true => _ = run.module.attributes_mut(dot).remove(key),
            false => run.module.attributes_mut(dot).set(key, dims),
        }
    }
    let mut new = dot;
    if shape != *run.module[id].shape() {
        let back = NewOp::new(Opcode::Reshape, run.module[id].shape().clone(), &[dot]);
        new = run.module.add(run.module[id].parent(), back);
        run.module.inherit_metadata(new, id);
    }
    replace(run, id, new, "contracts one dimension, and keeps one of each operand");
    Some(())
}
