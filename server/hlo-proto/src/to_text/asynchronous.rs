//! Asynchronous operations whose computation is one instruction: a text has that instruction in their place.
//!
//! Source: XLA `HloInstruction::PrintWithCanonicalNameMap` and `HloComputation::CanExpandIntoSingleInstruction`.

use rustc_hash::{FxHashMap, FxHashSet};
use syntax::hlo::Opcode;

use super::local_id;
use crate::messages::{HloComputationProto, HloInstructionProto, HloModuleProto};

#[derive(Debug, Default)]
pub(super) struct Asynchronous {
    /// The instructions that stand for computations, by the ids of those.
    wrapped: FxHashMap<i64, HloInstructionProto>,
}

/// An instruction in the short form.
pub(super) struct Sugar {
    /// `slice-start`
    pub(super) word: String,
    /// Of a start: the operation.
    pub(super) wrapped: Option<HloInstructionProto>,
}

impl Asynchronous {
    /// Finds the operations of a module. Their updates and ends call the computation of the start from here on.
    pub(super) fn of(module: &mut HloModuleProto) -> Asynchronous {
        let mut started: FxHashSet<i64> = FxHashSet::default();
        let mut called_otherwise: FxHashSet<i64> = FxHashSet::default();
        for computation in &mut module.computations {
            let mut own: FxHashMap<i32, i64> = FxHashMap::default();
            for instruction in &mut computation.instructions {
                cancel::tick();
                match instruction.opcode.as_str() {
                    "async-start" => {
                        let [called] = instruction.called_computation_ids[..] else { continue };
                        own.insert(local_id(instruction.id), called);
                        started.insert(called);
                    }
                    "async-update" | "async-done" => {
                        let operand = instruction.operand_ids.first();
                        if let Some(&called) = operand.and_then(|&id| own.get(&local_id(id))) {
                            own.insert(local_id(instruction.id), called);
                            instruction.called_computation_ids = vec![called];
                        }
                    }
                    _ => called_otherwise.extend(&instruction.called_computation_ids),
                }
            }
        }
        let mut wrapped = FxHashMap::default();
        for computation in &module.computations {
            if started.contains(&computation.id)
                && !called_otherwise.contains(&computation.id)
                && let Some(instruction) = single_instruction(computation)
            {
                wrapped.insert(computation.id, instruction.clone());
            }
        }
        Asynchronous { wrapped }
    }

    /// Whether a computation is written where it is called.
    pub(super) fn is_written_elsewhere(&self, id: i64) -> bool {
        self.wrapped.contains_key(&id)
    }

    /// The short form of an instruction, if it has one; it then calls nothing.
    pub(super) fn sugar(&self, opcode: &str, proto: &mut HloInstructionProto) -> Option<Sugar> {
        let suffix =
            opcode.strip_prefix("async-").filter(|suffix| matches!(*suffix, "start" | "update" | "done"))?;
        let wrapped = self.wrapped.get(proto.called_computation_ids.first()?)?;
        proto.called_computation_ids.clear();
        let word = format!("{}-{suffix}", wrapped.opcode);
        Some(Sugar { word, wrapped: (suffix == "start").then(|| wrapped.clone()) })
    }
}

/// The root, where all others are parameters in order. Operations with asynchronous opcodes of their own have no short form: it would
/// mean those.
fn single_instruction(computation: &HloComputationProto) -> Option<&HloInstructionProto> {
    let is_root =
        |instruction: &HloInstructionProto| local_id(instruction.id) == local_id(computation.root_id);
    let root = computation.instructions.iter().find(|instruction| is_root(instruction))?;
    let others = computation.instructions.iter().filter(|instruction| !is_root(instruction));
    let mut parameters: Vec<&HloInstructionProto> = others.collect();
    if parameters.iter().any(|parameter| parameter.opcode != "parameter") {
        return None;
    }
    parameters.sort_by_key(|parameter| parameter.parameter_number);
    let in_order =
        root.operand_ids.iter().map(|&id| local_id(id)).eq(parameters.iter().map(|p| local_id(p.id)));
    let opcode = Opcode::from_name(&root.opcode)?;
    let has_own = Opcode::from_name(&format!("{}-start", root.opcode)).is_some();
    (in_order && !has_own && !matches!(opcode, Opcode::Parameter | Opcode::Constant)).then_some(root)
}
