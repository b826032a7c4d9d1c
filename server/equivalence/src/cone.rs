//! Cones: what an instruction computes from cuts, as a graph whose parameters the cuts are.

use std::sync::Arc;

use ir::{Graph, Op, OpId, Shape};
use passes::{InstructionId, Module};
use rustc_hash::FxHashMap;
use syntax::hlo::Opcode;

/// An instruction from cuts.
pub struct Cone {
    /// The root is the instruction.
    pub graph: Arc<Graph>,
}

/// The parameters of both cones of a pair, by the instruction of the first module that a cut is.
#[derive(Default)]
pub struct Cuts {
    numbers: FxHashMap<InstructionId, u32>,
    /// By number.
    pub found: Vec<Cut>,
}

pub struct Cut {
    pub key: InstructionId,
    pub shape: Shape,
    /// The instructions of the second module that it stands for.
    pub after: Vec<InstructionId>,
}

impl Cuts {
    /// The number of the parameter that a cut is.
    pub fn number(&mut self, key: InstructionId, shape: &Shape) -> u32 {
        *self.numbers.entry(key).or_insert_with(|| {
            self.found.push(Cut { key, shape: shape.clone(), after: Vec::new() });
            self.found.len() as u32 - 1
        })
    }
}

/// The cone of an instruction. `cut` returns the key of instructions to cut at; the root itself is never cut. `is_after` says
/// whether the module is the second one.
pub fn cone(
    module: &Module,
    root: InstructionId,
    cut: &dyn Fn(InstructionId) -> Option<InstructionId>,
    cuts: &mut Cuts,
    is_after: bool,
) -> Result<Cone, String> {
    let mut graph = Graph { is_complete: true, ..Graph::default() };
    let mut numbers: FxHashMap<InstructionId, OpId> = FxHashMap::default();
    let mut stack = vec![(root, false)];
    while let Some((id, is_ready)) = stack.pop() {
        cancel::tick();
        if numbers.contains_key(&id) {
            continue;
        }
        let name = module[id].name().to_owned();
        if let Some(key) = cut(id).filter(|_| id != root || module[id].opcode() == Opcode::Parameter) {
            let number = cuts.number(key, module[id].shape());
            if is_after {
                cuts.found[number as usize].after.push(id);
            }
            let op = Op::parameter(number, module[id].shape().clone());
            graph.push(op, Vec::new(), name);
        } else if module[id].opcode() == Opcode::Parameter {
            return Err(format!("the other module has no parameter like %{name}"));
        } else if is_ready || module[id].operands().is_empty() {
            let operands = module[id].operands().iter().map(|operand| numbers[operand]).collect();
            graph.push(module.op(id), operands, name);
        } else {
            stack.push((id, true));
            stack.extend(module[id].operands().iter().rev().map(|&operand| (operand, false)));
            continue;
        }
        numbers.insert(id, graph.ops.len() as OpId - 1);
    }
    graph.root = numbers[&root];
    Ok(Cone { graph: Arc::new(graph) })
}
