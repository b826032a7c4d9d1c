//! Shape inference on generated instructions, whose shapes come from the definitions of the ops.

use eval::generate::{self, Generated, Rng};
use std::sync::Arc;

use ir::{Called, Callee, Given, Opcode, Shape, result_shape};

use crate::{cases, on_all_cores, seed};

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
    let opcodes = generate::opcodes();
    on_all_cores(cases(), |i| {
        let opcode = opcodes[i as usize % opcodes.len()];
        let generated = generate::random_op(opcode, &mut Rng::new(seed(i))).expect("an instruction");
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
    let opcodes = generate::opcodes();
    on_all_cores(cases(), |i| {
        let mut rng = Rng::new(seed(i));
        let one = generate::random_op(*rng.pick(&opcodes), &mut rng).expect("an instruction");
        let other = generate::random_op(*rng.pick(&opcodes), &mut rng).expect("an instruction");
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
        let operands: Vec<&Shape> = shapes.iter().collect();
        for generated in [&one, &other] {
            let lookup = |callee: Callee<'_>| called(generated, callee);
            let opcode = if rng.one_in(2) { one.op().opcode } else { *rng.pick(Opcode::ALL) };
            let declared = (!rng.one_in(3)).then_some(&other.op().shape);
            let attributes = &generated.op().attributes;
            let given =
                Given { operands: &operands, attributes: attributes.view(), declared, called: &lookup };
            _ = result_shape(opcode, &given);
            // The evaluation must reject these, too.
            let op = ir::Op {
                opcode,
                shape: declared.unwrap_or(&one.op().shape).clone(),
                operand_shapes: shapes.clone(),
                attributes: attributes.clone(),
                parameter: None,
                literal: None,
            };
            generated.on(0, |setting| _ = eval::trace(&op, 0, setting));
        }
    });
}
