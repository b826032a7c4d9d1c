//! The checks of XLA's parser and verifier on one op, without the module around it.

use std::sync::Arc;

use syntax::hlo::{AttributeKey, Opcode};

use super::{precision, shapes};
use crate::attributes::Callee;
use crate::checks;
use crate::graph::{Graph, Op};
use crate::infer::{Called, Given, result_shape};
use crate::shape::Shape;

/// Returns what is wrong with an op, if anything. `graph_of` returns the computations that it calls; checks that need an unknown
/// one are skipped.
pub fn op_fault(op: &Op, graph_of: &dyn Fn(&str) -> Option<Arc<Graph>>) -> Option<String> {
    let Op { opcode, attributes, .. } = op;
    let opcode = *opcode;
    let operands: Vec<&Shape> = op.operand_shapes.iter().collect();
    // The parser reads called computations first.
    let names = attributes.iter().flat_map(|(key, _)| attributes.computations(key));
    let called: Vec<Arc<Graph>> = names.filter_map(|name| graph_of(name)).collect();
    let inside = || called.iter().flat_map(|graph| &graph.ops).find_map(checks::op_fault);
    inside().or_else(|| checks::op_fault(op)).or_else(|| {
        let called = |callee: Callee<'_>| match callee {
            Callee::Name(name) => Called::of_graph(&*graph_of(name)?).map(Arc::new),
            Callee::Inline(_) => None,
        };
        let declared = Some(&op.shape);
        let given = Given { operands: &operands, attributes: attributes.view(), declared, called: &called };
        match result_shape(opcode, &given) {
            Err(problem) => return Some(problem.message),
            Ok(inferred) => {
                if let Some(expected) = shapes::expected(&op.shape, &inferred) {
                    return Some(shapes::mismatch(opcode, &expected, &op.shape));
                }
            }
        }
        // Each array of a variadic scatter is combined with updates of its own type.
        let mixed = precision::mixed_operands(opcode, &operands, declared);
        let reducer = || {
            let is_reduction = matches!(opcode, Opcode::Reduce | Opcode::ReduceWindow);
            let name = attributes.computation(AttributeKey::ToApply).filter(|_| is_reduction)?;
            precision::mixed_reducer(&operands, &*called(Callee::Name(name))?)
        };
        mixed.filter(|_| opcode != Opcode::Scatter).or_else(reducer).map(|(_, message)| message)
    })
}

impl Called {
    /// Returns `None` where a parameter is missing.
    fn of_graph(graph: &Graph) -> Option<Called> {
        let shape = |id| graph.ops[id as usize].shape.clone();
        let parameters = graph.parameters().into_iter().map(|id| id.map(shape)).collect::<Option<_>>()?;
        Some(Called {
            parameters,
            result: shape(graph.root),
            thread: Box::default(),
            root_sharding: None,
            first_sharding: None,
        })
    }
}
