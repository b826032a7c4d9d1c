//! Graphs of texts, and the maps of their ops.

use std::collections::HashMap;
use std::sync::Arc;

use indexing::{OpIndexing, Rules};
use ir::{Graph, OpId, Opcode};
use mlir::Parse;
use mlir_hlo::hlo_op;
use mlir_ops::Source;

use crate::lowered;

/// Every computation of a text by its name.
pub struct Graphs {
    pub all: HashMap<String, Arc<Graph>>,
    pub entry: String,
}

impl Graphs {
    pub fn of(text: &str) -> Graphs {
        let block = lowered(text);
        let mut graphs = Graphs { all: HashMap::new(), entry: String::new() };
        for (id, computation) in block.parse.computations.iter().enumerate() {
            let Some(graph) = Graph::build(&[(&block, id as u32)]) else { continue };
            let name = computation.name.of(&block.text).to_owned();
            if computation.is_entry
                || graphs.entry.is_empty()
                || !block.parse.computations.iter().any(|c| c.is_entry)
            {
                graphs.entry.clone_from(&name);
            }
            graphs.all.insert(name, Arc::new(graph));
        }
        graphs
    }

    pub fn entry(&self) -> &Arc<Graph> {
        &self.all[&self.entry]
    }

    pub fn maps(&self, graph: &Graph, id: OpId, output: usize) -> OpIndexing {
        let callees = |name: &str| self.all.get(name).cloned();
        let mut maps = indexing::in_graph(graph, id, output, Rules::Exact, &callees);
        maps.simplify_by(Rules::Exact);
        maps
    }
}

/// Maps as text, operand by operand.
pub fn shown(maps: &OpIndexing) -> Vec<Vec<String>> {
    let each = |operand: &Vec<indexing::OperandIndexing>| {
        operand
            .iter()
            .map(|access| {
                format!("{} {:?}", access.map, access.replica_id_map.as_ref().map(|m| m.to_string()))
            })
            .collect()
    };
    maps.operands.iter().map(each).collect()
}

/// The maps of an op of MLIR as one of HLO, or why it has none.
pub fn op_maps(
    parse: &Parse,
    text: &str,
    id: mlir::OpId,
    output: usize,
) -> Option<Result<OpIndexing, String>> {
    let op = match hlo_op(&Source::alone(parse, text), id)? {
        Ok(op) => op,
        Err(reason) => return Some(Err(reason.to_string())),
    };
    let callees = |name: &str| op.callees.get(name).cloned();
    let mut maps = indexing::in_graph(&op.graph, op.graph.root, output, Rules::Exact, &callees);
    maps.simplify_by(Rules::Exact);
    Some(Ok(maps))
}

/// Checks that the text of an op reads back as the same op.
pub fn check_text(parse: &Parse, text: &str, id: mlir::OpId) {
    let Some(Ok(op)) = hlo_op(&Source::alone(parse, text), id) else { return };
    // Text has no unknown extents with bounds.
    if op.only_maps {
        return;
    }
    let printed = op.text();
    let graphs = Graphs::of(&printed);
    let read = graphs.entry();
    assert_eq!(read.ops[read.root as usize], *op.op(), "{printed}");
    for (name, callee) in &op.callees {
        assert_eq!(graphs.all[name].ops, callee.ops, "{printed}");
    }
}

/// Whether ops of this kind read nothing that a map could tell.
pub fn is_bookkeeping(opcode: Opcode) -> bool {
    matches!(opcode, Opcode::Tuple | Opcode::GetTupleElement | Opcode::Parameter)
}
