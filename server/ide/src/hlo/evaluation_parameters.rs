//! The parameters that an instruction of HLO depends on.

use crate::evaluation_parameters::{EvaluationParameter, parameters_of};
use crate::file_context::FileContext;

/// The parameters that the instruction at `offset` depends on, by number.
pub(crate) fn evaluation_parameters(context: &FileContext<'_>, offset: usize) -> Vec<EvaluationParameter> {
    let Some(at) = context.instruction_at(offset) else { return Vec::new() };
    let graph = context.computation_index(at).and_then(|index| context.graph(index));
    let Some(graph) = graph else { return Vec::new() };
    let Some(op) = graph.find(context.block(at.piece).name(at.id)) else { return Vec::new() };
    parameters_of(&graph, op)
}
