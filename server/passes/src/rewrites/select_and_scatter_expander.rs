//! `select_and_scatter_expander`: finds the selected elements by a reduction over windows, and scatters to them.
//!
//! Source: XLA `hlo/transforms/expanders/select_and_scatter_expander.cc`.

use ir::{ElementType, Shape};
use syntax::hlo::{AttributeKey, Opcode};

use super::every::{add, every, replace};
use crate::dimensions::with_element;
use crate::driver::{Run, Stop};
use crate::module::{ComputationId, InstructionId, Module, NewOp};

/// The element type of indices.
const INDEX: ElementType = ElementType::S32;

pub(super) fn run(run: &mut Run<'_>) -> Result<(), Stop> {
    every(run, |run, id| {
        if run.module[id].opcode() == Opcode::SelectAndScatter && !run.module[id].has_control_dependencies() {
            expand(run, id);
        }
    });
    Ok(())
}

fn expand(run: &mut Run<'_>, id: InstructionId) {
    let op = &run.module[id];
    let (&[operand, source, initial], Some(select), Some(scatter)) =
        (op.operands(), op.callee(AttributeKey::Select), op.callee(AttributeKey::Scatter))
    else {
        return;
    };
    let window = op.attributes().get(AttributeKey::Window).cloned();
    let (whole, windows) = (run.module[operand].shape().clone(), run.module[source].shape().clone());
    let Some(element) = whole.element() else { return };
    let rank = whole.dims().len();
    let index_shape = with_element(&whole, INDEX);
    let mut inputs = vec![operand];
    for dim in 0..rank as i64 {
        let iota = NewOp::new(Opcode::Iota, index_shape.clone(), &[]).with(AttributeKey::IotaDimension, dim);
        inputs.push(add(run, id, iota));
    }
    let chooses = choice(run.module, select, element, rank);
    let none = add(run, id, NewOp::constant(Shape::array(INDEX, &[]), "-1"));
    inputs.push(initial);
    inputs.extend(std::iter::repeat_n(none, rank));
    let of_windows = with_element(&windows, INDEX);
    let results = [windows.clone()].into_iter().chain(std::iter::repeat_n(of_windows, rank));
    let mut chosen = NewOp::new(Opcode::ReduceWindow, Shape::tuple(results), &inputs)
        .calling(AttributeKey::ToApply, &[chooses]);
    if let Some(window) = window {
        chosen = chosen.with(AttributeKey::Window, window);
    }
    let chosen = add(run, id, chosen);
    let mut dims = windows.dims().to_vec();
    dims.push(1);
    let indices: Vec<InstructionId> = (1..=rank as i64)
        .map(|index| {
            let place = run.module.add_element(chosen, index);
            add(run, id, NewOp::new(Opcode::Reshape, Shape::array(INDEX, &dims), &[place]))
        })
        .collect();
    let shape = run.module[id].shape().clone();
    let empty = add(run, id, NewOp::new(Opcode::Broadcast, shape.clone(), &[initial]).dimensions(&[]));
    dims[rank] = rank as i64;
    let indices = NewOp::new(Opcode::Concatenate, Shape::array(INDEX, &dims), &indices);
    let indices = add(run, id, indices.dimensions(&[rank as i64]));
    let all: Vec<i64> = (0..rank as i64).collect();
    let new = NewOp::new(Opcode::Scatter, shape, &[empty, indices, source])
        .with(AttributeKey::UpdateWindowDims, Vec::<i64>::new())
        .with(AttributeKey::InsertedWindowDims, all.clone())
        .with(AttributeKey::ScatterDimsToOperandDims, all)
        .with(AttributeKey::IndexVectorDim, rank as i64)
        .calling(AttributeKey::ToApply, &[scatter]);
    let new = add(run, id, new);
    replace(run, id, new, "scatters to the elements that a reduction over windows selects");
}

/// A reducer of pairs of an element and its indices, of which it keeps what `select` selects. An index of -1 is none.
fn choice(module: &mut Module, select: ComputationId, element: ElementType, rank: usize) -> ComputationId {
    let name = format!("{}.reduce_window", module[select].name());
    let computation = module.add_computation(&name);
    let scalar = |element| Shape::array(element, &[]);
    let none = module.add(computation, NewOp::constant(scalar(INDEX), "-1"));
    let parameter = |module: &mut Module, number: usize, name: &str| {
        let element = if number.is_multiple_of(rank + 1) { element } else { INDEX };
        module.add_named(computation, NewOp::parameter(scalar(element), number as u32), name)
    };
    let mut indices = Vec::with_capacity(rank);
    if rank > 0 {
        let left = parameter(module, 1, "iota_lhs");
        indices.push((left, parameter(module, rank + 2, "iota_lhs")));
    }
    let pred = || Shape::array(ElementType::Pred, &[]);
    let is_index = |module: &mut Module, index: InstructionId| {
        let new = NewOp::new(Opcode::Compare, pred(), &[index, none]);
        module.add(computation, new.with(AttributeKey::Direction, ir::AttributeValue::Word("NE".to_owned())))
    };
    let of_first = indices.first().map(|&(left, right)| (is_index(module, left), is_index(module, right)));
    let values = (parameter(module, 0, "operand_lhs"), parameter(module, rank + 1, "operand_rhs"));
    let call =
        NewOp::new(Opcode::Call, pred(), &[values.0, values.1]).calling(AttributeKey::ToApply, &[select]);
    let call = module.add(computation, call);
    let mut is_left = call;
    let unary = |module: &mut Module, opcode, operands: &[InstructionId]| {
        module.add(computation, NewOp::new(opcode, pred(), operands))
    };
    if let Some((left, right)) = of_first {
        let is_missing = unary(module, Opcode::Not, &[right]);
        let both = unary(module, Opcode::And, &[call, left]);
        is_left = unary(module, Opcode::Or, &[both, is_missing]);
    }
    for dim in 1..rank {
        let left = parameter(module, dim + 1, "iota_lhs");
        indices.push((left, parameter(module, dim + rank + 2, "iota_rhs")));
    }
    let kept: Vec<InstructionId> = [values]
        .into_iter()
        .chain(indices)
        .map(|(left, right)| {
            let shape = module[left].shape().clone();
            module.add(computation, NewOp::new(Opcode::Select, shape, &[is_left, left, right]))
        })
        .collect();
    let tuple = module.add_tuple(computation, &kept);
    module.set_root(computation, tuple);
    module.inline(call, select);
    computation
}
