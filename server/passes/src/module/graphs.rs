//! Computations of a module as op graphs, for analyses that take those.

use ir::{AttributeValue, Graph, Op, OpId};
use rustc_hash::FxHashMap;

use super::{ComputationId, InstructionId, Module};

/// A computation as a graph.
#[derive(Debug, Clone)]
pub struct ModuleGraph {
    pub graph: Graph,
    /// Per op of the graph the instruction that it is.
    pub ids: Vec<InstructionId>,
}

impl Module {
    /// The op of an instruction, with the attributes that name computations.
    pub fn op(&self, id: InstructionId) -> Op {
        let mut op = Op::clone(&self[id].op);
        for (key, called) in self[id].calls() {
            let mut names = called.iter().map(|&callee| self[callee].name.to_string());
            let is_list = called.len() > 1
                || matches!(
                    key,
                    syntax::hlo::AttributeKey::BranchComputations
                        | syntax::hlo::AttributeKey::CalledComputations
                );
            let value = match is_list {
                true => AttributeValue::Names(names.collect()),
                false => AttributeValue::Computation(names.next().unwrap_or_default()),
            };
            op.attributes.push(key, value);
        }
        op
    }

    /// A computation as a graph, operands first.
    pub fn graph(&self, computation: ComputationId) -> ModuleGraph {
        let ids = self.post_order(computation);
        let number: FxHashMap<InstructionId, OpId> = ids.iter().copied().zip(0..).collect();
        let mut graph = Graph { is_complete: true, ..Graph::default() };
        graph.reserve(ids.len());
        for &id in &ids {
            let operands = self[id].operands.iter().map(|operand| number[operand]).collect();
            if let Some(word) = self[id].verbatim().and_then(|verbatim| verbatim.opcode.as_ref()) {
                graph.unknown.push(format!("opcode: {word}"));
                graph.is_complete = false;
            }
            graph.push(self.op(id), operands, self[id].name.to_string());
        }
        graph.root = number[&self.root(computation)];
        ModuleGraph { graph, ids }
    }
}
