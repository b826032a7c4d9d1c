//! `topk-decomposer`: finds the largest elements by sorting.
//!
//! Source: XLA `service/topk_rewriter.cc`, `TopkDecomposer`.

use ir::{AttributeValue, ElementType, ElementTypeExt as _, Shape};
use syntax::hlo::{AttributeKey, Opcode};

use super::every::{add, every, replace};
use crate::dimensions::with_element;
use crate::driver::{Run, Stop};
use crate::module::{ComputationId, InstructionId, Module, NewOp};

/// Indices below this fit in the low half of a 32-bit integer.
const LOW_LIMIT: i64 = 1 << 16;

pub(super) fn run(run: &mut Run<'_>) -> Result<(), Stop> {
    // Custom calls are what `topk-rewriter` makes; before it runs, only the opcode is decomposed.
    let takes_calls = run.options.pipeline != "pre-spmd-partitioner";
    every(run, |run, id| {
        if run.module[id].has_control_dependencies() || run.module[id].operands().len() != 1 {
            return;
        }
        match run.module[id].opcode() {
            Opcode::Topk => decompose(run, id),
            Opcode::CustomCall if takes_calls && is_topk(run.module, id) => {
                let called = run.module[id].called().next();
                if let Some(comparator) = called {
                    sort(run, id, comparator, is_stable(run.module, id));
                }
            }
            _ => {}
        }
    });
    Ok(())
}

/// Whether an instruction is the custom call that `topk-rewriter` makes.
pub(super) fn is_topk(module: &Module, id: InstructionId) -> bool {
    module[id].attributes().text(AttributeKey::CustomCallTarget) == Some("TopK")
}

/// Whether the custom call keeps the order of equal elements. Source: `IsTopKStable`.
pub(super) fn is_stable(module: &Module, id: InstructionId) -> bool {
    let config = module[id].attributes().text(AttributeKey::BackendConfig).unwrap_or_default();
    !config.replace(' ', "").contains("is_stable=false")
}

fn decompose(run: &mut Run<'_>, id: InstructionId) {
    let operand = run.module[id].operands()[0];
    let is_largest = run.module[id].attributes().bool(AttributeKey::Largest).unwrap_or(true);
    let is_stable = run.module[id].attributes().bool(AttributeKey::IsStable).unwrap_or(true);
    let is_short = run.module[operand].dims().last().is_some_and(|&size| size < LOW_LIMIT);
    if is_largest && is_short && run.module[operand].shape().element() == Some(ElementType::Bf16) {
        sort_packed(run, id);
        return;
    }
    let Some(element) = run.module[operand].shape().element() else { return };
    let elements = match only_values(run.module, id) {
        Some(_) => vec![element],
        None => vec![element, ElementType::S32],
    };
    let comparator = comparator(run.module, &elements, is_largest);
    sort(run, id, comparator, is_stable);
}

/// The only user, if it reads the values and nothing reads their places.
fn only_values(module: &Module, id: InstructionId) -> Option<InstructionId> {
    let &[user] = module[id].users() else { return None };
    (module[user].attributes().int(AttributeKey::Index) == Some(0) && !module.is_root(id)).then_some(user)
}

/// Compares the first of some pairs. Source: `CreateScalarGtComputation`, `CreateScalarLtComputation`.
fn comparator(module: &mut Module, elements: &[ElementType], is_largest: bool) -> ComputationId {
    let (name, direction) =
        if is_largest { ("compare-greater-than", "GT") } else { ("compare-less-than", "LT") };
    let computation = module.add_computation(name);
    let mut parameters = Vec::new();
    for (at, &element) in elements.iter().enumerate() {
        for (side, name) in ["lhs", "rhs"].into_iter().enumerate() {
            let parameter = NewOp::parameter(Shape::array(element, &[]), (2 * at + side) as u32);
            parameters.push(module.add_named(computation, parameter, &format!("p.{at}.{name}")));
        }
    }
    let mut compare =
        NewOp::new(Opcode::Compare, Shape::array(ElementType::Pred, &[]), &[parameters[0], parameters[1]])
            .with(AttributeKey::Direction, AttributeValue::Word(direction.to_owned()));
    if elements[0].is_floating() {
        compare = compare.with(AttributeKey::Order, AttributeValue::Word("TOTAL".to_owned()));
    }
    let root = module.add(computation, compare);
    module.set_root(computation, root);
    computation
}

/// Sorts everything and takes the first elements.
fn sort(run: &mut Run<'_>, id: InstructionId, comparator: ComputationId, is_stable: bool) {
    let operand = run.module[id].operands()[0];
    let whole = run.module[operand].shape().clone();
    let Some(last) = whole.dims().len().checked_sub(1) else { return };
    let (Some(values), Some(places)) =
        (run.module[id].shape().element_at(&[0]).cloned(), run.module[id].shape().element_at(&[1]).cloned())
    else {
        return;
    };
    let sort_of = |operands: &[InstructionId], shape: Shape| {
        let mut new = NewOp::new(Opcode::Sort, shape, operands)
            .dimensions(&[last as i64])
            .calling(AttributeKey::ToApply, &[comparator]);
        if is_stable {
            new = new.with(AttributeKey::IsStable, true);
        }
        new
    };
    let slice_of = |of: InstructionId, shape: &Shape| {
        let slices: Vec<[i64; 3]> = shape.dims().iter().map(|&size| [0, size, 1]).collect();
        NewOp::new(Opcode::Slice, shape.clone(), &[of]).with(AttributeKey::Slice, slices)
    };
    let what = "sorts, and takes the first elements";
    if let Some(user) = only_values(run.module, id)
        && run.module.parameters(comparator).len() == 2
    {
        let sorted = add(run, id, sort_of(&[operand], whole));
        let taken = add(run, id, slice_of(sorted, &values));
        replace(run, user, taken, what);
        return;
    }
    let of_places = with_element(&whole, ElementType::S32);
    let iota =
        NewOp::new(Opcode::Iota, of_places.clone(), &[]).with(AttributeKey::IotaDimension, last as i64);
    let iota = add(run, id, iota);
    let sorted = add(run, id, sort_of(&[operand, iota], Shape::tuple([whole, of_places])));
    let taken: Vec<InstructionId> = [(0, values), (1, places)]
        .into_iter()
        .map(|(index, shape)| {
            let element = run.module.add_element(sorted, index);
            add(run, id, slice_of(element, &shape))
        })
        .collect();
    let tuple = run.module.add_tuple(run.module[id].parent(), &taken);
    replace(run, id, tuple, what);
}

/// Sorts 32-bit integers whose high halves order as the values do, and whose low halves are the places.
/// Source: `DecomposeTopKWithSorting`.
fn sort_packed(run: &mut Run<'_>, id: InstructionId) {
    let operand = run.module[id].operands()[0];
    let values = run.module[operand].shape().clone();
    let (Some(of_values), Some(taken)) =
        (run.module[id].shape().element_at(&[0]).cloned(), run.module[id].shape().element_at(&[1]).cloned())
    else {
        return;
    };
    let last = values.dims().len() as i64 - 1;
    let (whole, of_f32) = (with_element(&values, ElementType::S32), with_element(&values, ElementType::F32));
    let wide = add(run, id, NewOp::new(Opcode::Convert, of_f32, &[operand]));
    let bits = add(run, id, NewOp::new(Opcode::BitcastConvert, whole.clone(), &[wide]));
    let ordered = ones_complement(run, id, bits, &whole);
    let ordered = masked(run, id, Opcode::Or, ordered, LOW_LIMIT - 1, &whole);
    let iota = NewOp::new(Opcode::Iota, whole.clone(), &[]).with(AttributeKey::IotaDimension, last);
    let iota = add(run, id, iota);
    let packed = add(run, id, NewOp::new(Opcode::Xor, whole.clone(), &[ordered, iota]));
    let comparator = comparator(run.module, &[ElementType::S32], true);
    let sort = NewOp::new(Opcode::Sort, whole, &[packed])
        .dimensions(&[last])
        .calling(AttributeKey::ToApply, &[comparator]);
    let sorted = add(run, id, sort);
    let slices: Vec<[i64; 3]> = taken.dims().iter().map(|&size| [0, size, 1]).collect();
    let first = NewOp::new(Opcode::Slice, taken.clone(), &[sorted]).with(AttributeKey::Slice, slices);
    let first = add(run, id, first);
    let bits = ones_complement(run, id, first, &taken);
    let bits = masked(run, id, Opcode::And, bits, -LOW_LIMIT, &taken);
    let of_f32 = with_element(&taken, ElementType::F32);
    let wide = add(run, id, NewOp::new(Opcode::BitcastConvert, of_f32, &[bits]));
    let values = add(run, id, NewOp::new(Opcode::Convert, of_values, &[wide]));
    let places = masked(run, id, Opcode::Xor, first, LOW_LIMIT - 1, &taken);
    let places = masked(run, id, Opcode::And, places, LOW_LIMIT - 1, &taken);
    let tuple = run.module.add_tuple(run.module[id].parent(), &[values, places]);
    replace(run, id, tuple, "sorts values and places as one integer each");
}

/// Bits of floating-point numbers as integers of the same order, and back.
fn ones_complement(
    run: &mut Run<'_>,
    id: InstructionId,
    bits: InstructionId,
    shape: &Shape,
) -> InstructionId {
    let magnitude = masked(run, id, Opcode::And, bits, i64::from(i32::MAX), shape);
    let sign = masked(run, id, Opcode::ShiftRightArithmetic, bits, 31, shape);
    add(run, id, NewOp::new(Opcode::Xor, shape.clone(), &[magnitude, sign]))
}

/// An operation on integers and a constant.
fn masked(
    run: &mut Run<'_>,
    id: InstructionId,
    opcode: Opcode,
    value: InstructionId,
    constant: i64,
    shape: &Shape,
) -> InstructionId {
    let scalar = add(run, id, NewOp::constant(Shape::array(ElementType::S32, &[]), constant.to_string()));
    let all = add(run, id, NewOp::new(Opcode::Broadcast, shape.clone(), &[scalar]).dimensions(&[]));
    add(run, id, NewOp::new(opcode, shape.clone(), &[value, all]))
}
