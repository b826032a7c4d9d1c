//! The verifier.

use generators::hlo::{opcodes, random_op, spoilt_op};
use ir::{Callee, Given, Shape, result_shape};
use random::Rng;

use crate::modules::{faults, lowered};

pub fn run(bytes: &[u8]) -> bool {
    let mut rng = Rng::from_bytes(bytes);
    let opcode = *rng.pick(&opcodes());
    let Some(generated) = random_op(opcode, &mut rng) else { return false };
    let found = faults(&lowered(&generated.text));
    // What is started is alone here, and so is what is done.
    let is_alone = |fault: &str| fault.contains("to be used by") || fault.contains("-done to be a ");
    let is_fault = |fault: &&String| !is_alone(fault);
    assert_eq!(found.iter().find(is_fault), None, "{}", generated.text);
    let spoilt = spoilt_op(&mut rng);
    let op = &spoilt.op;
    let operands: Vec<&Shape> = op.operand_shapes.iter().collect();
    let unknown = |_: Callee<'_>| None;
    for declared in [None, Some(&op.shape)] {
        let given =
            Given { operands: &operands, attributes: op.attributes.view(), declared, called: &unknown };
        _ = result_shape(op.opcode, &given);
    }
    spoilt.generated.on(0, |setting| _ = dependences::trace(op, 0, setting));
    true
}
