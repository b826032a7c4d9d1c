//! Invalid ops, for tests that nothing panics.

use std::sync::Arc;

use ir::{Graph, Op, Opcode, Shape};
use random::Rng;
use syntax::hlo::PieceState;

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

/// A random instruction in which one number or one operand is another one, so that most rules see what they forbid. `None` if the
/// text is not read.
pub fn nearly_valid_op(opcode: Opcode, rng: &mut Rng) -> Option<Op> {
    let generated = random_op(opcode, rng)?;
    let entry = generated.text.rfind("ENTRY")?;
    let root = entry + generated.text[entry..].find("ROOT ")?;
    // A parameter now and then; the others are changed through the instruction.
    let start = if rng.one_in(3) { entry } else { root };
    let text = match rng.one_in(6) {
        true => with_other_operands(&generated.text, root, rng)?,
        false => with_other_number(&generated.text, start, rng)?,
    };
    let text: Arc<str> = text.into();
    let parse = Arc::new(syntax::hlo::parse(&text, PieceState::HEADER));
    let block = ir::lower(text.clone(), parse.clone());
    let last = parse.computations.len().checked_sub(1)?;
    let graph = Graph::build(&[(&block, last as u32)])?;
    Some(graph.ops.get(graph.root as usize)?.clone())
}

/// Changes one of the numbers from `start` on. A digit after a letter is a part of a name.
fn with_other_number(text: &str, start: usize, rng: &mut Rng) -> Option<String> {
    let bytes = text.as_bytes();
    let is_first = |&i: &usize| {
        bytes[i].is_ascii_digit() && !bytes[i - 1].is_ascii_alphanumeric() && !b".-".contains(&bytes[i - 1])
    };
    let places: Vec<usize> = (start.max(1)..bytes.len()).filter(is_first).collect();
    let &at = places.get(rng.index(places.len()))?;
    let length = bytes[at..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    let number: i64 = text[at..at + length].parse().ok()?;
    let other = *rng.pick(&[number + 1, number + 1, number - 1, number * 2 + 1, 0, 1 << 40]);
    Some(format!("{}{other}{}", &text[..at], &text[at + length..]))
}

/// Leaves one operand out, or repeats it.
fn with_other_operands(text: &str, root: usize, rng: &mut Rng) -> Option<String> {
    let line = &text[root..];
    let opening = line.match_indices('(').find(|(at, _)| line.as_bytes()[at - 1].is_ascii_alphanumeric())?.0;
    let closing = opening + line[opening..].find(')')?;
    let mut operands: Vec<&str> = line[opening + 1..closing].split(", ").collect();
    let at = rng.index(operands.len());
    let operand = operands.remove(at);
    if rng.flag() {
        operands.extend([operand, operand]);
    }
    Some(format!("{}({}){}", &text[..root + opening], operands.join(", "), &line[closing + 1..]))
}
