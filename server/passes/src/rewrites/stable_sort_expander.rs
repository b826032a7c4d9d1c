//! `stable-sort-expander`: sorts stably by the places of the elements, which the comparator then breaks ties with.
//!
//! Source: XLA `hlo/transforms/expanders/stable_sort_expander.cc`.

use ir::{AttributeValue, ElementType, Shape};
use rustc_hash::FxHashMap;
use syntax::hlo::{AttributeKey, Opcode};

use super::every::{add, add_copy, every, replace};
use crate::dimensions::with_element;
use crate::driver::{Run, Stop};
use crate::module::{ComputationId, InstructionId, Module, NewOp};

pub(super) fn run(run: &mut Run<'_>) -> Result<(), Stop> {
    every(run, |run, id| {
        let sort = &run.module[id];
        if sort.opcode() == Opcode::Sort
            && sort.attributes().bool(AttributeKey::IsStable) == Some(true)
            && !sort.has_control_dependencies()
        {
            expand(run, id);
        }
    });
    Ok(())
}

fn expand(run: &mut Run<'_>, id: InstructionId) {
    let Some(comparator) = run.module[id].callee(AttributeKey::ToApply) else { return };
    let count = run.module[id].operands().len();
    if let Some(at) = iota(run.module, id) {
        run.changed(id, "breaks ties by the places of the elements");
        let callers = run.module.callers().get(&comparator).map_or(0, Vec::len);
        let comparator = match callers > 1 {
            true => run.module.copy_computation(comparator),
            false => comparator,
        };
        run.module.set_calls(id, AttributeKey::ToApply, &[comparator]);
        run.module.attributes_mut(id).remove(AttributeKey::IsStable);
        break_ties(run.module, comparator, at);
        return;
    }
    let Some(&dim) = run.module[id].dimensions().first() else { return };
    let mut operands = run.module[id].operands().to_vec();
    let of_places = with_element(run.module[operands[0]].shape(), ElementType::S32);
    let places = NewOp::new(Opcode::Iota, of_places, &[]).with(AttributeKey::IotaDimension, dim);
    operands.push(add(run, id, places));
    let comparator = run.module.copy_computation(comparator);
    for (number, side) in [(2 * count, "lhs"), (2 * count + 1, "rhs")] {
        let parameter = NewOp::parameter(Shape::array(ElementType::S32, &[]), number as u32);
        run.module.add_named(comparator, parameter, &format!("p.{count}.{side}"));
    }
    let shapes = operands.iter().map(|&operand| run.module[operand].shape().clone());
    let shape = Shape::tuple(shapes.collect::<Vec<_>>());
    let sort = add_copy(run, id, &operands, shape);
    run.module.set_calls(sort, AttributeKey::ToApply, &[comparator]);
    run.module.attributes_mut(sort).remove(AttributeKey::IsStable);
    let elements: Vec<_> = (0..count as i64).map(|index| run.module.add_element(sort, index)).collect();
    let new = match elements[..] {
        [element] => element,
        _ => run.module.add_tuple(run.module[id].parent(), &elements),
    };
    replace(run, id, new, "sorts the places of the elements along, to break ties by them");
    break_ties(run.module, comparator, count);
}

/// Which operand has the places of the elements already.
fn iota(module: &Module, id: InstructionId) -> Option<usize> {
    let dim = *module[id].dimensions().first()?;
    module[id].operands().iter().position(|&operand| {
        let iota = &module[operand];
        iota.opcode() == Opcode::Iota
            && iota.attributes().int(AttributeKey::IotaDimension) == Some(dim)
            && iota.shape().element() == Some(ElementType::S32)
    })
}

/// Makes a comparator compare places, operand number `at`, where it finds neither element before the other.
fn break_ties(module: &mut Module, comparator: ComputationId, at: usize) {
    let parameters = module.parameters(comparator);
    let root = module.root(comparator);
    let other = |number: usize| parameters.get(number ^ 1).copied();
    let mut swapped: FxHashMap<InstructionId, InstructionId> = FxHashMap::default();
    for (number, &parameter) in parameters.iter().enumerate() {
        swapped.insert(parameter, other(number).unwrap_or(parameter));
    }
    for id in module.post_order(comparator) {
        if module[id].operands().is_empty() {
            continue;
        }
        let operands: Vec<InstructionId> = module[id]
            .operands()
            .iter()
            .map(|operand| swapped.get(operand).copied().unwrap_or(*operand))
            .collect();
        let copy = module.add_copy(comparator, id, &operands);
        swapped.insert(id, copy);
    }
    let (Some(&reversed), Some(&left), Some(&right)) =
        (swapped.get(&root), parameters.get(2 * at), parameters.get(2 * at + 1))
    else {
        return;
    };
    let pred = || Shape::array(ElementType::Pred, &[]);
    let mut compare = |operands: &[InstructionId], direction: &str| {
        let new = NewOp::new(Opcode::Compare, pred(), operands);
        module.add(comparator, new.with(AttributeKey::Direction, AttributeValue::Word(direction.to_owned())))
    };
    let is_tie = compare(&[root, reversed], "EQ");
    let is_first = compare(&[left, right], "LT");
    let new = module.add(comparator, NewOp::new(Opcode::Select, pred(), &[is_tie, is_first, root]));
    module.set_root(comparator, new);
}
