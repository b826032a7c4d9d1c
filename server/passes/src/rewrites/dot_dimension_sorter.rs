//! `dot_dimension_sorter`: sorts the contracting dimensions of dots.
//!
//! Source: XLA `backends/gpu/transforms/dot_dimension_sorter.cc`.

use syntax::hlo::{AttributeKey, Opcode};

use super::every::{add_copy, every, replace};
use crate::dimensions::permute;
use crate::driver::{Run, Stop};
use crate::module::{InstructionId, Module};

const KEYS: [AttributeKey; 2] = [AttributeKey::LhsContractingDims, AttributeKey::RhsContractingDims];

pub(super) fn run(run: &mut Run<'_>) -> Result<(), Stop> {
    every(run, |run, id| {
        if run.module[id].opcode() == Opcode::Dot && !run.module[id].has_control_dependencies() {
            sort(run, id);
        }
    });
    Ok(())
}

fn sort(run: &mut Run<'_>, id: InstructionId) {
    let sides = KEYS.map(|key| run.module[id].attributes().ints(key).to_vec());
    let is_row_major = |&operand: &InstructionId| {
        run.module[operand].shape().as_array().is_some_and(|array| array.layout.is_none())
    };
    if sides[0].is_empty() || !run.module[id].operands().iter().all(is_row_major) {
        return;
    }
    let [left, right] = [&sides[0], &sides[1]].map(|dims| (is_run(dims), dims.is_sorted()));
    let is_worth = match (left, right) {
        ((true, false), (true, sorted)) => !sorted,
        ((true, false), (false, _)) | ((false, _), (true, false)) => true,
        _ => false,
    };
    if !is_worth {
        return;
    }
    let key = if left.0 { &sides[0] } else { &sides[1] };
    let least = key.iter().min().copied().unwrap_or(0);
    let order: Vec<i64> = key.iter().map(|dim| dim - least).collect();
    let sorted = [&sides[0], &sides[1]].map(|dims| permute(dims, &order));
    let (operands, shape) = (run.module[id].operands().to_vec(), run.module[id].shape().clone());
    let dot = add_copy(run, id, &operands, shape);
    set(run.module, dot, sorted);
    replace(run, id, dot, "contracts the dimensions in the order of memory");
}

fn set(module: &mut Module, dot: InstructionId, dims: [Vec<i64>; 2]) {
    for (key, dims) in KEYS.into_iter().zip(dims) {
        module.attributes_mut(dot).set(key, dims);
    }
}

/// Whether the numbers follow each other when they are sorted.
fn is_run(dims: &[i64]) -> bool {
    let (least, most) = (dims.iter().min().copied().unwrap_or(0), dims.iter().max().copied().unwrap_or(0));
    most - least == dims.len() as i64 - 1
}
