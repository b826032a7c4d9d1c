//! What happens before layouts are chosen.

use syntax::hlo::{AttributeKey, Opcode};

use super::super::every::visit;
use crate::driver::{Run, Stop};
use crate::module::{ComputationId, InstructionId, Module, NewOp};

/// Stops at what has no rules here.
pub(super) fn check(module: &Module) -> Result<(), Stop> {
    let callers = module.callers();
    for computation in module.non_fusion_computations() {
        for id in module.instructions(computation) {
            let instruction = &module[id];
            let opcode = instruction.opcode();
            let shared =
                instruction.called().filter(|callee| callers.get(callee).is_some_and(|by| by.len() > 1));
            if is_unsupported(opcode) {
                let name = instruction.name();
                return Err(Stop::Unsupported(format!("layout assignment of %{name}: {}", opcode.name())));
            }
            if matches!(opcode, Opcode::While | Opcode::Conditional | Opcode::Call) && shared.count() > 0 {
                let name = instruction.name();
                let why = "calls a computation that others call too; run flatten-call-graph before";
                return Err(Stop::Unsupported(format!("layout assignment: %{name} {why}")));
            }
        }
    }
    Ok(())
}

fn is_unsupported(opcode: Opcode) -> bool {
    use Opcode::*;
    let is_asynchronous = matches!(
        opcode,
        AsyncStart
            | AsyncUpdate
            | AsyncDone
            | CopyStart
            | CopyDone
            | AllReduceStart
            | AllReduceDone
            | AllGatherStart
            | AllGatherDone
            | CollectivePermuteStart
            | CollectivePermuteDone
    );
    let is_transfer = matches!(opcode, Infeed | Outfeed | Send | SendDone | Recv | RecvDone);
    is_asynchronous || is_transfer || matches!(opcode, Bitcast | Fusion)
}

/// Copies operands whose memory a custom call with prescribed layouts uses for its result, so that the layout of the result
/// does not depend on what else reads the operand.
///
/// Source: `LayoutAssignment::PrepareHloForLayoutAssignment`.
pub(super) fn copy_shared_operands(run: &mut Run<'_>) {
    for computation in run.module.computations() {
        let mut copied = Vec::new();
        for id in run.module.instructions(computation) {
            if run.module[id].attributes().get(AttributeKey::OperandLayoutConstraints).is_some() {
                for alias in aliases(run.module, id) {
                    if !copied.contains(&(id, alias.operand)) {
                        copied.push((id, alias.operand));
                    }
                }
            }
        }
        for (id, index) in copied {
            let Some(&operand) = run.module[id].operands().get(index) else { continue };
            if run.module[operand].opcode() == Opcode::Copy && run.module[operand].users().len() < 2 {
                continue;
            }
            let shape = run.module[operand].shape().without_layouts();
            run.changed(id, format!("overwrites a copy of %{}", run.module[operand].name()));
            let copy = run.module.add(computation, NewOp::new(Opcode::Copy, shape, &[operand]));
            run.module.inherit(copy, operand);
            run.module.set_operand(id, index, copy);
        }
    }
}

/// An entry of `output_to_operand_aliasing`.
pub(super) struct SharedMemory {
    pub(super) output: Vec<i64>,
    pub(super) operand: usize,
    /// Whether it is all of the operand, and no element of a tuple.
    pub(super) is_whole: bool,
}

/// Which results of a custom call lie where its operands do.
pub(super) fn aliases(module: &Module, id: InstructionId) -> Vec<SharedMemory> {
    let text = module[id].attributes().text(AttributeKey::OutputToOperandAliasing).unwrap_or_default();
    let inner = text.trim().trim_start_matches('{');
    let read = |entry: &str| {
        let (output, rest) = entry.trim_start_matches([',', ' ', '{', '\n']).split_once(':')?;
        let (operand, index) = rest.split_once('(')?.1.split_once(',')?;
        let numbers =
            output.trim().trim_end_matches('}').split(',').filter(|number| !number.trim().is_empty());
        let is_whole = !index.contains(|c: char| c.is_ascii_digit());
        let output = numbers.map(|number| number.trim().parse().ok()).collect::<Option<Vec<i64>>>()?;
        Some(SharedMemory { output, operand: operand.trim().parse().ok()?, is_whole })
    };
    inner.split(')').filter_map(read).collect()
}

/// The computations, callees first, and the instructions of each, operands first.
pub(super) fn visit_order(run: &mut Run<'_>) -> Vec<(ComputationId, Vec<InstructionId>)> {
    let mut order = Vec::new();
    for computation in run.module.non_fusion_computations() {
        let mut instructions = Vec::new();
        visit(run, computation, |_, id, _| instructions.push(id));
        order.push((computation, instructions));
    }
    order
}
