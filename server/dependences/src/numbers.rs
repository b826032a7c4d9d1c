//! Integer arithmetic in graphs: enough to resolve index operands.

use ir::{AttributeKey, ElementTypeExt, Op, Opcode};

use crate::traced::{Traced, for_each_index};

/// The result of `op` in row-major order, from those of its operands. `traced` holds its dependences: an op
/// that only moves elements has the numbers that it reads. `None` if the type is not integral or the op is
/// not listed.
pub(crate) fn of(op: &Op, operands: &[Option<Vec<i64>>], traced: Option<&Traced>) -> Option<Vec<i64>> {
    let element = op.shape.element()?;
    let is_integral =
        element.is_signed_integer() || element.is_unsigned_integer() || element.name() == "pred";
    if !is_integral {
        return None;
    }
    let operand = |i: usize| operands.get(i)?.as_deref();
    let count = traced.map_or(0, |t| t.elements.len());
    let at = |i: usize, k: usize| -> Option<i64> {
        let numbers = operand(i)?;
        numbers.get(if numbers.len() == 1 { 0 } else { k }).copied()
    };
    let each = |f: &dyn Fn(usize) -> Option<i64>| (0..count).map(f).collect::<Option<Vec<i64>>>();
    match op.opcode {
        Opcode::Constant => constant(op),
        Opcode::Iota => {
            let dim = usize::try_from(op.attributes.int(AttributeKey::IotaDimension)?).ok()?;
            let mut all = Vec::new();
            for_each_index(op.shape.dims(), |index| all.extend(index.get(dim)));
            Some(all)
        }
        Opcode::Add => each(&|k| at(0, k)?.checked_add(at(1, k)?)),
        Opcode::Subtract => each(&|k| at(0, k)?.checked_sub(at(1, k)?)),
        Opcode::Multiply => each(&|k| at(0, k)?.checked_mul(at(1, k)?)),
        Opcode::Maximum => each(&|k| Some(at(0, k)?.max(at(1, k)?))),
        Opcode::Minimum => each(&|k| Some(at(0, k)?.min(at(1, k)?))),
        Opcode::Negate => each(&|k| at(0, k)?.checked_neg()),
        Opcode::Clamp => each(&|k| Some(at(1, k)?.max(at(0, k)?).min(at(2, k)?))),
        Opcode::Convert if op.operand_shapes[0].element()?.is_signed_integer() => each(&|k| at(0, k)),
        Opcode::Copy
        | Opcode::Broadcast
        | Opcode::Reshape
        | Opcode::Transpose
        | Opcode::Reverse
        | Opcode::Shuffle
        | Opcode::Slice
        | Opcode::Concatenate
        | Opcode::Pad
        | Opcode::OptBarrier
        | Opcode::DynamicSlice
        | Opcode::Gather => {
            // For indexed ops operand 0 is data, the others are indices.
            let is_indexed = matches!(op.opcode, Opcode::DynamicSlice | Opcode::Gather);
            let moved = |k: usize| {
                let reads = &traced?.elements[k];
                let read = reads.iter().find(|read| !is_indexed || read.operand == 0)?;
                operand(read.operand as usize)?.get(read.position as usize).copied()
            };
            each(&moved)
        }
        _ => None,
    }
}

/// The numbers of a literal. A short literal for a large array is not supported.
fn constant(op: &Op) -> Option<Vec<i64>> {
    let parse = |word: &str| match word {
        "true" => Some(1),
        "false" => Some(0),
        number => number.parse().ok(),
    };
    let numbers: Vec<i64> = ir::literal_elements(op.literal.as_deref()?).map(parse).collect::<Option<_>>()?;
    (numbers.len() as i64 == op.shape.dims().iter().product::<i64>()).then_some(numbers)
}
