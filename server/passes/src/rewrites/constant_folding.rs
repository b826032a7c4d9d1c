//! `constant_folding`: computes what depends on constants alone.
//!
//! Source: XLA `hlo/transforms/simplifiers/hlo_constant_folding.cc`.

use std::sync::Arc;

use eval::Evaluator;
use ir::{ElementType, Graph, OpId};
use rustc_hash::FxHashMap;
use syntax::hlo::Opcode;

use crate::driver::{Run, Stop};
use crate::module::{ComputationId, InstructionId, Module, NewOp};

/// The most elements of a constant that is written out here. XLA folds larger ones too.
const MAX_ELEMENTS: i64 = 65_536;
/// The most elements that one fold computes.
const MAX_WORK: u64 = 1 << 22;

pub(super) fn run(run: &mut Run<'_>) -> Result<(), Stop> {
    for computation in run.module.non_fusion_computations().into_iter().rev() {
        share_arguments(run, computation);
        for id in run.module.post_order(computation) {
            cancel::tick();
            if !run.module[id].is_removed() && is_candidate(run.module, id) {
                fold(run, id);
            }
        }
    }
    Ok(())
}

/// Replaces the parameters for which all calls give the same constant, where others vary.
fn share_arguments(run: &mut Run<'_>, computation: ComputationId) {
    let callers = run.module.callers();
    let callers = callers.get(&computation).map(Vec::as_slice).unwrap_or_default();
    let Some(&first) = callers.first() else { return };
    if callers.iter().any(|&caller| run.module[caller].opcode() != Opcode::Call) {
        return;
    }
    let parameters = run.module.parameters(computation);
    let module = &*run.module;
    let is_shared = |number: usize| {
        let constant = |caller: InstructionId| {
            let operand = module[caller].operands().get(number).copied();
            operand.filter(|&operand| module[operand].opcode() == Opcode::Constant)
        };
        let Some(of_first) = constant(first) else { return false };
        callers.iter().all(|&caller| {
            constant(caller)
                .is_some_and(|other| other == of_first || module.is_same_op(of_first, other, true))
        })
    };
    let shared: Vec<bool> = (0..parameters.len()).map(is_shared).collect();
    if shared.iter().all(|&is_shared| is_shared) {
        return;
    }
    for (number, &parameter) in parameters.iter().enumerate() {
        if shared[number] && !run.module.is_dead(parameter) {
            run.changed(parameter, "replaced by the constant that all calls pass");
            let constant = run.module.operand(first, number);
            let copy = run.module.add_copy(computation, constant, &[]);
            run.module.replace_all_uses(parameter, copy);
        }
    }
}

fn is_candidate(module: &Module, id: InstructionId) -> bool {
    use Opcode::*;
    let instruction = &module[id];
    let is_constant = |operand: InstructionId| module[operand].opcode() == Constant;
    let is_known = |operand: InstructionId| match module[operand].opcode() {
        Constant | Iota => true,
        Broadcast => is_constant(module.operand(operand, 0)),
        _ => false,
    };
    let is_left = matches!(
        instruction.opcode(),
        Parameter
            | Constant
            | Tuple
            | Broadcast
            | Iota
            | Fft
            | While
            | AfterAll
            | Rng
            | CustomCall
            | Domain
            | AllGather
            | AllToAll
            | CollectivePermute
            | CopyStart
            | CopyDone
            | GetDimensionSize
            | OptBarrier
            | PartitionId
            | ReplicaId
            | RaggedAllToAll
            | RaggedDot
            | RngBitGenerator
            | RngGetAndUpdateState
    );
    let is_padded_broadcast = instruction.opcode() == Pad
        && instruction.operands().first().is_some_and(|&operand| module[operand].opcode() == Broadcast);
    !is_left
        && !is_padded_broadcast
        && !module.is_dead(id)
        && instruction.operands().iter().any(|&operand| is_constant(operand))
        && instruction.operands().iter().all(|&operand| is_known(operand))
        && instruction
            .shape()
            .as_array()
            .is_some_and(|array| array.elements().is_some_and(|n| n <= MAX_ELEMENTS))
        && instruction.shape().element() != Some(ElementType::Token)
        && !instruction.has_control_dependencies()
        && !module.has_side_effect(id)
}

fn fold(run: &mut Run<'_>, id: InstructionId) {
    let Some(literal) = value(run.module, id) else { return };
    run.changed(id, "computed: its operands are constants");
    let (parent, shape) = (run.module[id].parent(), run.module[id].shape().clone());
    let constant = run.module.add(parent, NewOp::constant(shape, literal));
    run.module.inherit(constant, id);
    run.module.replace_all_uses(id, constant);
    run.module.remove_with_operands(id);
}

/// The literal of an instruction of constants; `None` where the interpreter does not know it.
fn value(module: &Module, id: InstructionId) -> Option<String> {
    let mut graph = Graph { is_complete: true, ..Graph::default() };
    let mut known: FxHashMap<InstructionId, OpId> = FxHashMap::default();
    graph.root = push(module, id, &mut graph, &mut known)?;
    let mut callees: FxHashMap<String, Arc<Graph>> = FxHashMap::default();
    for callee in module[id].called() {
        callees.insert(module[callee].name().to_owned(), Arc::new(module.graph(callee).graph));
    }
    let root = graph.root;
    let find = |name: &str| callees.get(name).cloned();
    let inputs = |_: u32, _: usize, _: &[i64]| Err("no parameter".into());
    let mut evaluator = Evaluator::new(Arc::new(graph), &find, &inputs);
    evaluator.limit(MAX_WORK);
    let values = evaluator.whole(root, 0).ok()?;
    Some(eval::print_literal(&values, module[id].dims()))
}

/// The instruction and the constants, broadcasts and iotas that it takes.
fn push(
    module: &Module,
    id: InstructionId,
    graph: &mut Graph,
    known: &mut FxHashMap<InstructionId, OpId>,
) -> Option<OpId> {
    if let Some(&op) = known.get(&id) {
        return Some(op);
    }
    if module[id].literal().is_some_and(|literal| literal.contains("...")) {
        return None;
    }
    let mut operands = Vec::new();
    // At most three deep: the instruction, a broadcast, a constant.
    for &operand in module[id].operands() {
        operands.push(push(module, operand, graph, known)?);
    }
    let op = graph.push(module.op(id), operands, module[id].name().to_owned());
    known.insert(id, op);
    Some(op)
}
