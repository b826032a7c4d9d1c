//! The graphs of a module around one fusion, and the buffers that its kernel shares.

use std::collections::HashMap;
use std::sync::Arc;

use ir::{AttributeKey, Graph, Op, OpId, Opcode, Shape};

/// The graphs of a module, by name.
pub struct Graphs(HashMap<String, Arc<Graph>>);

impl Graphs {
    pub fn new(text: &str) -> Graphs {
        Graphs(ir::graphs_of_text(text).into_iter().collect())
    }

    pub fn get(&self, name: &str) -> Option<Arc<Graph>> {
        self.0.get(name).cloned()
    }

    /// The computation whose root is a fusion.
    pub fn entry(&self) -> Option<Arc<Graph>> {
        let is_entry = |graph: &&Arc<Graph>| graph.ops[graph.root as usize].opcode == Opcode::Fusion;
        self.0.values().find(is_entry).cloned()
    }

    /// The fusion's operands that are init values of its reductions. XLA requires neutral ones.
    pub fn init_parameters(&self, fusion: &Op) -> Vec<usize> {
        let callee = fusion.attributes.computation(AttributeKey::Calls).and_then(|name| self.get(name));
        let Some(graph) = callee else { return Vec::new() };
        let reductions = (0..graph.ops.len())
            .filter(|&i| matches!(graph.ops[i].opcode, Opcode::Reduce | Opcode::ReduceWindow));
        let inits = reductions.flat_map(|i| graph.operands[i][graph.operands[i].len() / 2..].to_vec());
        inits.filter_map(|id| Some(graph.ops[id as usize].parameter? as usize)).collect()
    }

    /// For each output of a fusion, the operand whose buffer it shares, and the opcode that causes the
    /// sharing.
    pub fn shared_buffers(&self, fusion: &Op) -> Vec<Option<(usize, Opcode)>> {
        let callee = fusion.attributes.computation(AttributeKey::Calls).and_then(|name| self.get(name));
        let Some(graph) = callee else { return Vec::new() };
        let roots: Vec<OpId> = match graph.ops[graph.root as usize].opcode {
            Opcode::Tuple => graph.operands[graph.root as usize].clone(),
            Opcode::Sort | Opcode::Scatter => {
                let outputs = eval::leaves(&fusion.shape).len();
                graph.operands[graph.root as usize].iter().copied().take(outputs).collect()
            }
            _ => vec![graph.root],
        };
        let root = graph.ops[graph.root as usize].opcode;
        let of = |mut op: OpId| {
            let mut how = matches!(root, Opcode::Sort | Opcode::Scatter).then_some(root);
            loop {
                let found = &graph.ops[op as usize];
                match found.opcode {
                    Opcode::Parameter => return Some((found.parameter? as usize, how?)),
                    Opcode::Bitcast => (),
                    Opcode::Copy | Opcode::Reshape if moves_nothing(found) => (),
                    Opcode::GetTupleElement => how = how.or(Some(Opcode::Scatter)),
                    Opcode::DynamicUpdateSlice | Opcode::Scatter => how = Some(found.opcode),
                    _ => return None,
                }
                op = *graph.operands[op as usize].first()?;
            }
        };
        roots.into_iter().map(of).collect()
    }
}

/// Whether a copy or a reshape leaves all elements where they are, because both arrays are row-major.
fn moves_nothing(op: &Op) -> bool {
    let is_row_major = |shape: &Shape| {
        shape
            .as_array()
            .is_some_and(|array| array.minor_to_major().into_iter().eq((0..array.dims.len()).rev()))
    };
    is_row_major(&op.shape) && op.operand_shapes.first().is_some_and(is_row_major)
}
