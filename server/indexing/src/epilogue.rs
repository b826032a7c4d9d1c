//! Maps from a hero to the root of its fusion.

use indexing_map::IndexingMap;
use ir::{Graph, OpId};

use crate::Rules;
use crate::checks;
use crate::inlined::{Callees, Inlined};
use crate::operand_indexing::OperandIndexing;

/// Maps an index of `hero` to the index of `root` that it feeds, along the use chain between them:
/// input-to-output maps, composed and simplified. Identity if the hero is the root. With several chains, each
/// step follows the first use that leads to the root. Undefined if there is no chain, or if an op on it has
/// no such map. Source: `HloFindUseChain`, `ComputeEpilogueInputToOutputIndexing`.
pub fn epilogue(
    graph: &Graph,
    hero: OpId,
    root: OpId,
    rules: Rules,
    callees: &Callees<'_>,
) -> OperandIndexing {
    let all: Vec<OpId> = (0..graph.ops.len() as OpId).collect();
    let mut inlined = Inlined::new(graph, &all, rules, callees);
    let (Some(hero), Some(root)) = (inlined.target(hero, 0), inlined.target(root, 0)) else {
        return OperandIndexing::undefined("hero or root is not in the computation");
    };
    let mut reaches = vec![false; inlined.nodes.len()];
    reaches[root] = true;
    for id in (0..=root).rev().filter(|&id| id < inlined.nodes.len()) {
        if reaches[id] {
            inlined.nodes[id].operands.iter().for_each(|used| reaches[used.node] = true);
        }
    }
    let first = &inlined.nodes[hero];
    let mut access = match checks::output(inlined.op(first), first.output) {
        Ok(sizes) => OperandIndexing::from(IndexingMap::identity(sizes)),
        Err(reason) => return OperandIndexing::undefined(reason),
    };
    if !reaches[hero] {
        return OperandIndexing::undefined("the hero does not lead to the root");
    }
    let mut at = hero;
    while at != root {
        let next = (at + 1..=root).filter(|&id| reaches[id]).find_map(|id| {
            let uses = &inlined.nodes[id].operands;
            uses.iter().find(|used| used.node == at).map(|used| (id, *used))
        });
        let Some((user, used)) = next else {
            return OperandIndexing::undefined("the hero does not lead to the root");
        };
        let step = inlined.step(&inlined.nodes[user], &used, rules);
        let Some(step) = step.first() else {
            return OperandIndexing::undefined("an op of the epilogue has no map");
        };
        access = access.compose_by(step, rules);
        at = user;
    }
    access
}
