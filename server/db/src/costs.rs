//! What each computation costs, with all that it calls.

use std::sync::Arc;

use ir::{CalledCost, Cost, Opcode, SegmentRef};
use syntax::hlo::{AttributeKey, ComputationId, ComputationKind, InstructionId, ValueNode};

use crate::positions::position_of;
use crate::queries::{block, module};
use crate::{File, Piece, giant_index};

/// Inline bodies inside inline bodies beyond which a cost is not counted.
const MAX_DEPTH: u32 = 32;

/// What one execution costs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ComputationCost {
    /// Of its instructions and all that they call.
    pub total: Cost,
    /// Bytes of its parameters and its result: what a fusion of it moves. `None` where a shape is not known.
    pub boundary: Option<u64>,
    pub instructions: usize,
}

/// A part of a computation on its own.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct OwnCost {
    own: Cost,
    calls: Vec<(CalledCost, Vec<Callee>)>,
    parameters: Option<u64>,
    result: Option<u64>,
    has_root: bool,
    instructions: usize,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Callee {
    Named(Box<str>),
    Inline(ComputationId),
}

/// Per computation of the piece. Size: 40 bytes per call, 100 per computation.
#[salsa::tracked]
fn own_costs(db: &dyn salsa::Database, piece: Piece) -> Arc<Vec<OwnCost>> {
    let block = block(db, piece);
    let computations = 0..block.parse.computations.len() as ComputationId;
    Arc::new(computations.map(|id| own_cost(db, piece, id)).collect())
}

fn own_cost(db: &dyn salsa::Database, piece: Piece, id: ComputationId) -> OwnCost {
    let block = block(db, piece);
    let computation = &block.parse.computations[id as usize];
    let external = external(db, piece, id);
    let mut cost = OwnCost { parameters: Some(0), ..OwnCost::default() };
    let bytes = |at: InstructionId| block.shape(at).and_then(ir::Shape::bytes);
    for at in computation.instructions.clone() {
        let instruction = block.instruction(at);
        cost.instructions += usize::from(!instruction.is_nested);
        cost.has_root |= instruction.is_root;
        if instruction.opcode == Some(Opcode::Parameter) {
            cost.parameters = cost.parameters.zip(bytes(at)).and_then(|(a, b)| a.checked_add(b));
        }
        let (own, called) = cost_of_op(block, at, &external);
        cost.own = cost.own.plus(own);
        cost.calls.extend(called);
    }
    cost.result = block.root(id).and_then(bytes);
    cost
}

/// The shapes of names that other blocks of a giant computation define.
fn external<'a>(
    db: &'a dyn salsa::Database,
    piece: Piece,
    id: ComputationId,
) -> impl Fn(&str) -> Option<ir::Shape> + 'a {
    let giant = || {
        let (file, at) = position_of(db, piece)?;
        let index = module(db, file).computation_of(SegmentRef { piece: at, computation: id })?;
        Some((file, giant_index(db, file), index))
    };
    let is_cut = block(db, piece).parse.computations[id as usize].kind == ComputationKind::Continued;
    let giant = is_cut.then(giant).flatten();
    move |name| {
        let (file, index, computation) = giant.as_ref()?;
        index.find(*computation, name)?.export(db, *file)?.shape.clone()
    }
}

/// What an instruction costs without what it calls, and how that counts.
fn cost_of_op(
    block: &ir::Block,
    at: InstructionId,
    external: &dyn Fn(&str) -> Option<ir::Shape>,
) -> (Cost, Option<(CalledCost, Vec<Callee>)>) {
    let Some(op) = block.op(at, external) else { return (Cost::UNKNOWN, None) };
    let called = ir::called_cost(&op);
    let called = (called != CalledCost::Nothing).then(|| (called, callees(block, at)));
    (ir::op_cost(&op), called)
}

/// What an instruction of a piece costs, with all that it calls.
pub(crate) fn instruction_cost(
    db: &dyn salsa::Database,
    file: File,
    piece: Piece,
    computation: ComputationId,
    name: &str,
) -> Option<Cost> {
    let block = block(db, piece);
    let at = block.find(computation, name)?;
    let (own, called) = cost_of_op(block, at, &external(db, piece, computation));
    let Some((called, callees)) = called else { return Some(own) };
    let (module, costs) = (module(db, file), computation_costs(db, file));
    let section = module.computations.get(module.entry_of(0)?)?.section;
    let named = |name: &str| {
        let found = module.find_in(section, name).and_then(|index| costs.get(index));
        found.map_or(Cost::UNKNOWN, |callee| callee.total)
    };
    Some(own.plus(cost_of_called(own_costs(db, piece), called, &callees, &named, 0)))
}

fn callees(block: &ir::Block, at: InstructionId) -> Vec<Callee> {
    let named = |span: &syntax::Span| Callee::Named(span.of(&block.text).into());
    let mut callees = Vec::new();
    for attribute in block.parse.attributes_of(block.instruction(at)) {
        match &attribute.value {
            // Before `scatter=`, in whichever order they are written.
            ValueNode::Computation(span) if attribute.key == Some(AttributeKey::Select) => {
                callees.insert(0, named(span));
            }
            ValueNode::Computation(span) => callees.push(named(span)),
            ValueNode::Computations { start, len } => {
                let spans = block.parse.spans(*start, *len);
                callees.extend(spans.iter().filter(|s| !s.is_empty()).map(named));
            }
            ValueNode::Inline(id) => callees.push(Callee::Inline(*id)),
            _ => {}
        }
    }
    callees
}

/// Per computation of the module. Reads the parts' own costs, so that an edit counts one piece anew and adds.
#[salsa::tracked]
pub fn computation_costs(db: &dyn salsa::Database, file: File) -> Arc<Vec<ComputationCost>> {
    let module = module(db, file);
    let pieces = file.pieces(db);
    let mut costs: Vec<ComputationCost> = Vec::with_capacity(module.computations.len());
    for (index, computation) in module.computations.iter().enumerate() {
        let named = |name: &str| {
            // Callees come before callers. A text in which they do not has an error and may be recursive.
            let callee = module.find_in(computation.section, name).filter(|&callee| callee < index);
            callee.map_or(Cost::UNKNOWN, |callee| costs[callee].total)
        };
        let mut sum = ComputationCost { boundary: Some(0), ..ComputationCost::default() };
        let mut result = None;
        for segment in &computation.segments {
            let Some(&piece) = pieces.get(segment.piece) else { continue };
            let parts = own_costs(db, piece);
            let Some(part) = parts.get(segment.computation as usize) else { continue };
            sum.total = sum.total.plus(whole(parts, part, &named, 0));
            sum.instructions += part.instructions;
            sum.boundary = sum.boundary.zip(part.parameters).and_then(|(a, b)| a.checked_add(b));
            if part.has_root || result.is_none() {
                result = Some(part.result);
            }
        }
        sum.boundary = sum.boundary.zip(result.flatten()).and_then(|(a, b)| a.checked_add(b));
        costs.push(sum);
    }
    Arc::new(costs)
}

/// A part with all that it calls.
fn whole(parts: &[OwnCost], part: &OwnCost, named: &dyn Fn(&str) -> Cost, depth: u32) -> Cost {
    let calls = part.calls.iter();
    let called = calls.map(|(called, callees)| cost_of_called(parts, *called, callees, named, depth));
    called.fold(part.own, Cost::plus)
}

/// What an instruction adds to the cost of its computation by its calls.
fn cost_of_called(
    parts: &[OwnCost],
    called: CalledCost,
    callees: &[Callee],
    named: &dyn Fn(&str) -> Cost,
    depth: u32,
) -> Cost {
    let mut costs = callees.iter().map(|callee| match callee {
        Callee::Named(name) => named(name),
        Callee::Inline(_) if depth >= MAX_DEPTH => Cost::UNKNOWN,
        Callee::Inline(id) => match parts.get(*id as usize) {
            Some(inner) => whole(parts, inner, named, depth + 1),
            None => Cost::UNKNOWN,
        },
    });
    match called {
        CalledCost::Nothing => Cost::default(),
        CalledCost::Unknown => Cost::UNKNOWN,
        CalledCost::Everything => costs.fold(Cost::default(), Cost::plus),
        CalledCost::OneOf => costs.fold(Cost::default(), Cost::max),
        CalledCost::Arithmetic(times) => arithmetic(costs.fold(Cost::default(), Cost::plus), times),
        CalledCost::SelectAndScatter { select, scatter } => {
            let mut next = |times| arithmetic(costs.next().unwrap_or(Cost::UNKNOWN), times);
            next(select).plus(next(scatter))
        }
    }
}

/// `times` executions without their bytes.
fn arithmetic(once: Cost, times: u64) -> Cost {
    Cost { bytes: 0, ..once }.times(times)
}

#[cfg(test)]
mod tests;
