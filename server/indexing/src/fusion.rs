//! Maps from a target to all the ops from which it is computed, as if they were one op.

use indexing_map::IndexingMap;
use ir::{Graph, OpId};

use crate::Rules;
use crate::checks;
use crate::inlined::{Callees, Inlined, NodeId, OpLocation};
use crate::operand_indexing::{OpIndexing, OperandIndexing, insert};

/// The maximum number of accesses of one op; beyond it, they are replaced by one undefined map. XLA has no
/// limit; a chain of diamonds doubles the accesses at each step.
pub const MAX_MAPS_PER_OP: usize = 64;

/// The accesses of one op from the target.
#[derive(Debug, Clone)]
pub struct GroupedOp {
    pub place: OpLocation,
    pub name: String,
    /// The number of the op's output.
    pub output: usize,
    /// Whether it is an operand of the set and not in the set.
    pub is_outside: bool,
    /// Maps the target's index to this op's, each map once.
    pub indexing: Vec<OperandIndexing>,
}

/// The result of [`grouped`]: ops that the target needs, operands before their users.
#[derive(Debug, Clone, Default)]
pub struct Grouped {
    pub ops: Vec<GroupedOp>,
}

impl Grouped {
    /// The accesses of an op of the outermost graph.
    pub fn of(&self, op: OpId) -> Option<&[OperandIndexing]> {
        let found = self.ops.iter().find(|o| o.place.computation.is_none() && o.place.op == op);
        found.map(|o| o.indexing.as_slice())
    }
}

/// Maps output `output_id` of `target` to every op of `set` that it needs and to the operands of the set.
/// Fusions in the set are inlined: the result contains their ops but not the fusions. The set may be one op,
/// a producer and its consumer that are not fused, or a whole computation; for a target outside the set, the
/// result is the target itself.
///
/// Maps are composed along every path, simplified, and kept once per op; undefined ones are propagated with
/// their reason. Each output of a multi-output op is followed by its own maps. Source:
/// `ComputeGroupedOutputToInputIndexing`.
pub fn grouped(
    graph: &Graph,
    target: OpId,
    output_id: usize,
    set: &[OpId],
    rules: Rules,
    callees: &Callees<'_>,
) -> Grouped {
    let mut inlined = Inlined::new(graph, set, rules, callees);
    let Some(target) = inlined.target(target, output_id) else { return Grouped::default() };
    let maps = from_target(&inlined, target, rules);
    let ops =
        maps.into_iter().enumerate().filter(|(_, indexing)| !indexing.is_empty()).map(|(id, indexing)| {
            let node = &inlined.nodes[id];
            GroupedOp {
                place: inlined.place(node),
                name: inlined.name(node).to_owned(),
                output: node.output,
                is_outside: node.is_outside,
                indexing,
            }
        });
    Grouped { ops: ops.collect() }
}

/// The accesses of a fusion to its operands: from the root of its called computation (for a tuple, element
/// `output_id`) to each parameter. The list of a parameter that is not needed is empty. `operand_count` is
/// the fusion's.
/// Source: `ComputeOutputToInputFusionOpIndexing`.
pub fn fusion(
    callee: &Graph,
    output_id: usize,
    operand_count: usize,
    rules: Rules,
    callees: &Callees<'_>,
) -> OpIndexing {
    let all: Vec<OpId> = (0..callee.ops.len() as OpId).collect();
    let mut inlined = Inlined::new(callee, &all, rules, callees);
    let Some(target) = inlined.target(callee.root, output_id) else {
        return OpIndexing::undefined(operand_count, &format!("the fusion has no output {output_id}").into());
    };
    if !callee.is_complete {
        let reason = "the called computation has errors".into();
        return OpIndexing::undefined(operand_count, &reason);
    }
    let maps = from_target(&inlined, target, rules);
    let mut operands = vec![Vec::new(); operand_count];
    for (node, indexing) in inlined.nodes.iter().zip(maps) {
        let number = inlined.op(node).parameter.filter(|_| inlined.place(node).computation.is_none());
        if let Some(list) = number.and_then(|number| operands.get_mut(number as usize)) {
            let is_tuple = rules == Rules::Exact && inlined.op(node).shape.tuple_elements().is_some();
            for access in indexing {
                insert(list, access.of_element(is_tuple.then_some(node.output)));
            }
        }
    }
    OpIndexing { operands }
}

/// Per node, its accesses from the target; empty for a node that the target does not need.
fn from_target(inlined: &Inlined<'_>, target: NodeId, rules: Rules) -> Vec<Vec<OperandIndexing>> {
    let mut maps: Vec<Vec<OperandIndexing>> = vec![Vec::new(); inlined.nodes.len()];
    let node = &inlined.nodes[target];
    maps[target].push(match checks::output(inlined.op(node), node.output) {
        Ok(sizes) => IndexingMap::identity(sizes).into(),
        Err(reason) => OperandIndexing::undefined(reason),
    });
    let mut is_full = vec![false; inlined.nodes.len()];
    // Users come after their operands, so a node's accesses are complete before the node is visited.
    for id in (0..=target).rev() {
        let node = &inlined.nodes[id];
        if maps[id].is_empty() || node.is_outside || node.operands.is_empty() {
            continue;
        }
        let accesses = std::mem::take(&mut maps[id]);
        let op = inlined.accesses(node, rules);
        for used in node.operands.iter().filter(|used| used.node < id) {
            let producer = used.node;
            let list = &mut maps[producer];
            let read = op.operands.get(used.operand).into_iter().flatten();
            for access in read.filter(|access| used.is_read_by(access)) {
                for consumer in &accesses {
                    if is_full[producer] {
                        continue;
                    }
                    insert(list, consumer.compose_by(access, rules));
                    if list.len() > MAX_MAPS_PER_OP {
                        let reason = format!("more than {MAX_MAPS_PER_OP} different accesses");
                        *list = vec![OperandIndexing::undefined(reason)];
                        is_full[producer] = true;
                    }
                }
            }
        }
        maps[id] = accesses;
    }
    maps
}
