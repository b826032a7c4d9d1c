//! Maps shown in addition to those from the output to the operands.

use indexing_map::IndexingMap;
use ir::{Graph, OpId, Opcode};

use crate::input_to_output::in_graph_input_to_output_with;
use crate::operand_indexing::OperandIndexing;
use crate::{Callees, Rules};

/// A map between two ends, each of which is `input`, `output`, or the name of an operand.
#[derive(Debug, Clone)]
pub struct MapBeside {
    pub from: String,
    pub to: String,
    pub access: OperandIndexing,
}

/// The maps of ops that cover all of one side: from a dot's operands to its output, and both of an iota,
/// which reads nothing. `operands` are the displayed names. Simplified; empty for other ops.
pub fn maps_beside(graph: &Graph, id: OpId, operands: &[String], callees: &Callees<'_>) -> Vec<MapBeside> {
    let Some(op) = graph.ops.get(id as usize) else { return Vec::new() };
    let forward = |from: &str, number: usize| {
        let mut maps = in_graph_input_to_output_with(graph, id, number, Rules::Exact, callees);
        maps.simplify_by(Rules::Exact);
        let accesses = maps.operands.into_iter().next().unwrap_or_default();
        let mapped = accesses.into_iter().filter(|access| access.map.is_mapped());
        let beside = |access| MapBeside { from: from.to_owned(), to: "output".to_owned(), access };
        mapped.map(beside).collect::<Vec<_>>()
    };
    match op.opcode {
        Opcode::Iota => {
            let access = IndexingMap::from_sizes(op.shape.dims(), &[], Vec::new()).into();
            let nothing = MapBeside { from: "output".to_owned(), to: "input".to_owned(), access };
            [nothing].into_iter().chain(forward("input", 0)).collect()
        }
        Opcode::Dot | Opcode::ScaledDot => {
            operands.iter().enumerate().flat_map(|(number, name)| forward(name, number)).collect()
        }
        _ => Vec::new(),
    }
}
