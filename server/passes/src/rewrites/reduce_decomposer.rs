//! `reduce-decomposer`: lets reductions keep the layout of their operands, and copies the result to the layout that is wanted.
//!
//! Source: XLA `hlo/transforms/expanders/reduce_decomposer.cc`.

use ir::Shape;
use syntax::hlo::Opcode;

use super::every::{add, add_copy, every, replace};
use crate::dimensions::{with_element, with_layout_of, without_dimensions};
use crate::driver::{Run, Stop};
use crate::module::{InstructionId, NewOp};

pub(super) fn run(run: &mut Run<'_>) -> Result<(), Stop> {
    every(run, |run, id| {
        if run.module[id].opcode() == Opcode::Reduce && !run.module[id].has_control_dependencies() {
            equalize(run, id);
        }
    });
    every(run, |run, id| {
        let reduce = &run.module[id];
        if reduce.opcode() == Opcode::Reduce
            && !reduce.has_control_dependencies()
            && !gpu::is_reduction_hero(reduce.op(), run.options.device)
        {
            decompose(run, id);
        }
    });
    Ok(())
}

/// Copies the inputs of a reduction to the layout of the first one.
fn equalize(run: &mut Run<'_>, id: InstructionId) {
    let mut operands = run.module[id].operands().to_vec();
    let inputs = operands.len() / 2;
    let Some(first) = operands.first().map(|&first| run.module[first].shape().clone()) else { return };
    let mut is_changed = false;
    for operand in &mut operands[..inputs] {
        let shape = with_layout_of(run.module[*operand].shape(), &first);
        if shape != *run.module[*operand].shape() {
            *operand = add(run, *operand, NewOp::new(Opcode::Copy, shape, &[*operand]));
            is_changed = true;
        }
    }
    if is_changed {
        let shape = kept(run, id, &operands[..inputs]);
        let new = add_copy(run, id, &operands, shape);
        let is_same = run.module[new].shape() == run.module[id].shape();
        if is_same {
            replace(run, id, new, "reduces inputs of equal layouts");
        }
    }
}

/// The shape of the result in the layouts of the inputs.
fn kept(run: &Run<'_>, id: InstructionId, inputs: &[InstructionId]) -> Shape {
    let reduced = run.module[id].dimensions();
    let of = |&input: &InstructionId| without_dimensions(run.module[input].shape(), reduced);
    let shape = match run.module[id].shape() {
        Shape::Tuple(_) => Shape::tuple(inputs.iter().map(of)),
        _ => of(&inputs[0]),
    };
    shape.without_default_layouts()
}

fn decompose(run: &mut Run<'_>, id: InstructionId) {
    let operands = run.module[id].operands().to_vec();
    let natural = kept(run, id, &operands[..operands.len() / 2]);
    let wanted = run.module[id].shape().clone();
    if natural == wanted {
        return;
    }
    let what = "reduces in the layout of its operand, then copies";
    let reduce = add_copy(run, id, &operands, natural);
    let Shape::Tuple(elements) = &wanted else {
        let convert = match *run.module[id].users() {
            [user] if run.module[user].opcode() == Opcode::Convert => Some(user),
            _ => None,
        };
        let Some(convert) = convert.filter(|&convert| !run.module[convert].has_control_dependencies()) else {
            let copy = add(run, id, NewOp::new(Opcode::Copy, wanted, &[reduce]));
            replace(run, id, copy, what);
            return;
        };
        let Some(element) = run.module[convert].shape().element() else { return };
        let shape = with_element(run.module[reduce].shape(), element);
        let converted = add(run, id, NewOp::new(Opcode::Convert, shape, &[reduce]));
        let copy = add(run, id, NewOp::new(Opcode::Copy, with_element(&wanted, element), &[converted]));
        replace(run, convert, copy, what);
        return;
    };
    let copies: Vec<InstructionId> = (0..)
        .zip(elements.iter())
        .map(|(index, shape)| {
            let element = run.module.add_element(reduce, index);
            add(run, id, NewOp::new(Opcode::Copy, shape.clone(), &[element]))
        })
        .collect();
    let tuple = run.module.add_tuple(run.module[id].parent(), &copies);
    replace(run, id, tuple, what);
}
