//! Maps of instructions by name, in both directions, for sets of instructions.

use std::sync::Arc;

use indexing::{OpIndexing, OperandIndexing, Rules};
use ir::{Graph, OpId, Opcode};
use rustc_hash::FxHashMap;

use crate::file_context::FileContext;
use crate::hlo::Hlo;
use crate::hlo::locate::InstructionRef;
use crate::hlo::maps::callee_graph;
use crate::indexing_queries::{
    Direction, IndexingKind, IndexingQueries, IndexingQuery, IndexingReply, QueryError,
};

impl IndexingQueries for Hlo {
    fn indexing(
        &self,
        context: &FileContext<'_>,
        query: &IndexingQuery,
    ) -> Result<IndexingReply, QueryError> {
        let at = find(context, query.computation.as_deref(), &query.instruction)?;
        let index = context
            .computation_index(at)
            .ok_or_else(|| QueryError("the instruction is in no computation".into()))?;
        let graph = context
            .graph(index)
            .ok_or_else(|| QueryError("the computation has no instruction with a shape".into()))?;
        let op = op_of(&graph, &query.instruction)?;
        let callees = |name: &str| callee_graph(context, at, name);
        Ok(match &query.kind {
            IndexingKind::One { direction, index, physical_layout } => IndexingReply::Operands(one(
                &graph,
                op,
                *direction,
                *index,
                *physical_layout,
                query,
                &callees,
            )),
            IndexingKind::Grouped { instructions, index } => {
                let set: Result<Vec<OpId>, _> = instructions.iter().map(|name| op_of(&graph, name)).collect();
                let set = match set? {
                    set if set.is_empty() => vec![op],
                    set => set,
                };
                IndexingReply::ByInstruction(grouped(&graph, op, *index, &set, &callees))
            }
            IndexingKind::Epilogue { root } => {
                let root = op_of(&graph, root)?;
                IndexingReply::Map(Box::new(indexing::epilogue(&graph, op, root, Rules::Xla, &callees)))
            }
        })
    }
}

fn find(
    context: &FileContext<'_>,
    computation: Option<&str>,
    name: &str,
) -> Result<InstructionRef, QueryError> {
    context.find_instruction(computation, name).ok_or_else(|| {
        QueryError(match computation {
            Some(computation) => format!("no instruction named {name} in {computation}"),
            None => format!("no instruction named {name}"),
        })
    })
}

fn op_of(graph: &Graph, name: &str) -> Result<OpId, QueryError> {
    graph
        .find(name)
        .ok_or_else(|| QueryError(format!("{name} has no known shape, or is not in the computation")))
}

type Callees<'a> = &'a dyn Fn(&str) -> Option<Arc<Graph>>;

fn one(
    graph: &Graph,
    op: OpId,
    direction: Direction,
    index: usize,
    physical_layout: bool,
    query: &IndexingQuery,
    callees: Callees<'_>,
) -> OpIndexing {
    let rules = query.rules;
    let the_op = &graph.ops[op as usize];
    let mut answer = match direction {
        Direction::OutputToInput => indexing::in_graph(graph, op, index, rules, callees),
        Direction::InputToOutput => indexing::in_graph_input_to_output_with(graph, op, index, rules, callees),
    };
    if physical_layout {
        answer = match direction {
            Direction::OutputToInput => indexing::physical(the_op, index, &answer),
            Direction::InputToOutput => indexing::physical_input_to_output(the_op, index, &answer),
        };
    }
    if query.simplify {
        answer.simplify_by(rules);
    }
    answer
}

fn grouped(
    graph: &Graph,
    target: OpId,
    output: usize,
    set: &[OpId],
    callees: Callees<'_>,
) -> Vec<(String, Vec<OperandIndexing>)> {
    let grouped = indexing::grouped(graph, target, output, set, Rules::Xla, callees);
    // For a single op that is not a fusion, query the producers, as XLA's GroupIndexingMapsByProducers does.
    let is_single = set == [target] && graph.ops[target as usize].opcode != Opcode::Fusion;
    let mut by_name: Vec<(String, Vec<OperandIndexing>)> = Vec::new();
    let mut places: FxHashMap<&str, usize> = FxHashMap::default();
    for op in &grouped.ops {
        if is_single && op.place.computation.is_none() && op.place.op == target {
            continue;
        }
        let at = *places.entry(op.name.as_str()).or_insert_with(|| {
            by_name.push((op.name.clone(), Vec::new()));
            by_name.len() - 1
        });
        for access in &op.indexing {
            if !by_name[at].1.contains(access) {
                by_name[at].1.push(access.clone());
            }
        }
    }
    by_name
}
