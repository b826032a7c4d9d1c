//! Invalid ops, for tests that nothing panics.

use ir::{Op, Opcode, Shape};
use random::Rng;

use super::{Generated, opcodes, random_op};

/// An op that is probably invalid, and the module that has the computations which it calls.
#[derive(Debug)]
pub struct Spoilt {
    pub op: Op,
    pub generated: Generated,
}

/// A random op with the attributes or the shape of another one, sizes that are negative or overflow, or an
/// operand too few.
pub fn spoilt_op(rng: &mut Rng) -> Spoilt {
    let opcodes = opcodes();
    let mut random = || {
        let opcode = *rng.pick(&opcodes);
        random_op(opcode, rng).unwrap_or_else(|| panic!("no {opcode}"))
    };
    let (one, other) = (random(), random());
    let huge = [i64::MAX, i64::MIN, 0, -1, 1 << 40, 3];
    let mut shapes: Vec<Shape> = one.op().operand_shapes.clone();
    for shape in &mut shapes {
        let Some(array) = shape.as_array().filter(|_| rng.one_in(2)) else { continue };
        let dims: Vec<i64> =
            array.dims.iter().map(|&d| if rng.one_in(2) { d } else { *rng.pick(&huge) }).collect();
        *shape = Shape::array(array.element, &dims);
    }
    if rng.one_in(4) {
        shapes.pop();
    }
    let generated = if rng.flag() { one.clone() } else { other.clone() };
    let op = Op {
        opcode: if rng.flag() { one.op().opcode } else { *rng.pick(Opcode::ALL) },
        shape: if rng.one_in(3) { one.op().shape.clone() } else { other.op().shape.clone() },
        operand_shapes: shapes,
        attributes: generated.op().attributes.clone(),
        parameter: None,
        literal: None,
    };
    Spoilt { op, generated }
}
