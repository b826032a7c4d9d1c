//! Shape inference on generated instructions, whose shapes come from the definitions of the ops.

use generators::hlo::{self, Generated};
use generators::{cases, on_all_cores, seed};
use random::Rng;
use std::sync::Arc;

use ir::{Called, Callee, Given, Opcode, Shape, result_shape};

fn called(generated: &Generated, callee: Callee<'_>) -> Option<Arc<Called>> {
    let Callee::Name(name) = callee else { return None };
    let graph = generated.callee(name)?;
    let parameters = (0..).map_while(|number| graph.parameter(number));
    Some(Arc::new(Called {
        parameters: parameters.map(|id| graph.ops[id as usize].shape.clone()).collect(),
        result: graph.ops[graph.root as usize].shape.clone(),
        thread: Box::default(),
        root_sharding: None,
        first_sharding: None,
    }))
}

#[test]
fn inferred_shapes_are_the_declared_ones() {
    let opcodes = hlo::opcodes();
    on_all_cores(cases(2_000), |i| {
        let opcode = opcodes[i as usize % opcodes.len()];
        let generated = hlo::random_op(opcode, &mut Rng::new(seed(i))).expect("an instruction");
        let op = generated.op();
        let operands: Vec<&Shape> = op.operand_shapes.iter().collect();
        let lookup = |callee: Callee<'_>| called(&generated, callee);
        let given = Given {
            operands: &operands,
            attributes: op.attributes.view(),
            declared: Some(&op.shape),
            called: &lookup,
        };
        let text = || format!("seed {:#x}\n{}", generated.seed, generated.text);
        match result_shape(opcode, &given) {
            Ok(inferred) => assert!(
                inferred.is_compatible(&op.shape),
                "inferred {inferred}, declared {}\n{}",
                op.shape,
                text()
            ),
            Err(reason) => panic!("{reason}\n{}", text()),
        }
        // A scalar's broadcast without a shape is the scalar.
        let alone = Given { declared: None, ..given };
        if let (Ok(inferred), true) = (result_shape(opcode, &alone), opcode != Opcode::Broadcast) {
            assert!(inferred.is_compatible(&op.shape), "inferred alone {inferred}\n{}", text());
        }
    });
}

/// Wrong operands, attributes of other ops, overflowing sizes: an error message, never a panic.
#[test]
fn no_input_panics() {
    on_all_cores(cases(2_000), |i| {
        let mut rng = Rng::new(seed(i));
        let spoilt = hlo::spoilt_op(&mut rng);
        let op = &spoilt.op;
        let lookup = |callee: Callee<'_>| called(&spoilt.generated, callee);
        for declared in [None, Some(&op.shape)] {
            let operands: Vec<&Shape> = op.operand_shapes.iter().collect();
            let given =
                Given { operands: &operands, attributes: op.attributes.view(), declared, called: &lookup };
            _ = result_shape(op.opcode, &given);
        }
    });
}
