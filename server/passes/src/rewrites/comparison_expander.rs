//! `comparison-expander`: compares floating-point numbers in total order as integers.
//!
//! Source: XLA `hlo/transforms/expanders/comparison_expander.cc`.

use ir::{AttributeValue, ElementType, ElementTypeExt as _, Shape};
use syntax::hlo::{AttributeKey, Opcode};

use super::every::{add, every, replace};
use crate::dimensions::with_element;
use crate::driver::{Run, Stop};
use crate::module::{InstructionId, Module, NewOp};

pub(super) fn run(run: &mut Run<'_>) -> Result<(), Stop> {
    let mut unsupported = None;
    every(run, |run, id| {
        if is_total(run.module, id) && expand(run, id).is_none() {
            unsupported.get_or_insert_with(|| run.module[id].name().to_owned());
        }
    });
    match unsupported {
        Some(name) => Err(Stop::Unsupported(format!(
            "%{name} compares numbers of a type for which total order is not implemented"
        ))),
        None => Ok(()),
    }
}

fn is_total(module: &Module, id: InstructionId) -> bool {
    let compare = &module[id];
    let of = compare.operands().first().and_then(|&operand| module[operand].shape().element());
    compare.opcode() == Opcode::Compare
        && compare.attributes().is_total_order()
        && of.is_some_and(|element| element.is_floating())
        && !compare.has_control_dependencies()
}

fn expand(run: &mut Run<'_>, id: InstructionId) -> Option<()> {
    let &[mut left, mut right] = run.module[id].operands() else { return None };
    let mut element = run.module[left].shape().element()?;
    // As `GetComparisonExpanderUpcasts` has it for the GPU.
    if element == ElementType::Bf16 {
        element = ElementType::F32;
        for side in [&mut left, &mut right] {
            let shape = with_element(run.module[*side].shape(), element);
            *side = add(run, id, NewOp::new(Opcode::Convert, shape, &[*side]));
        }
    }
    let integer = match element {
        ElementType::F16 => ElementType::S16,
        ElementType::F32 => ElementType::S32,
        ElementType::F64 => ElementType::S64,
        ElementType::F8e4m3fn | ElementType::F8e5m2 | ElementType::F8e4m3 | ElementType::F8e3m4 => {
            ElementType::S8
        }
        _ => return None,
    };
    let bits = integer.bits()?;
    let max = i64::MAX >> (64 - bits);
    let shape = with_element(run.module[left].shape(), integer);
    let mut constant = |value: i64| {
        let scalar = add(run, id, NewOp::constant(Shape::array(integer, &[]), value.to_string()));
        add(run, id, NewOp::new(Opcode::Broadcast, shape.clone(), &[scalar]).dimensions(&[]))
    };
    // XLA adds the smallest integer, too, which only types without -0 need.
    let (zero, _min, max) = (constant(0), constant(-max - 1), constant(max));
    let mut ordered = |value: InstructionId| {
        let bits = add(run, id, NewOp::new(Opcode::BitcastConvert, shape.clone(), &[value]));
        let flipped = add(run, id, NewOp::new(Opcode::Xor, shape.clone(), &[max, bits]));
        let pred = with_element(&shape, ElementType::Pred);
        let less = NewOp::new(Opcode::Compare, pred, &[bits, zero])
            .with(AttributeKey::Direction, AttributeValue::Word("LT".to_owned()));
        let is_negative = add(run, id, less);
        add(run, id, NewOp::new(Opcode::Select, shape.clone(), &[is_negative, flipped, bits]))
    };
    let (left, right) = (ordered(left), ordered(right));
    let compare = &run.module[id];
    let mut new = NewOp::new(Opcode::Compare, compare.shape().clone(), &[left, right]);
    let direction = compare.attributes().get(AttributeKey::Direction)?.clone();
    new.attributes.set(AttributeKey::Direction, direction);
    let new = add(run, id, new);
    replace(run, id, new, "compares the bits as integers");
    Some(())
}
