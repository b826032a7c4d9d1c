//! Which fusions XLA takes for equal: it looks for a tiling of one of them only.
//!
//! Instructions are equal if they are the same op on operands of the same shapes. Fusions are equal if equal producers were fused
//! into equal consumers at the same operand. What else the operands have in common does not count: `multiply(x, x)` gets the tiling
//! and the time of `multiply(x, y)` if that was fused with an equal producer first.
//!
//! Source: `FusionDeduplicationCache`, `service/gpu/fusion_deduplication_cache.cc`.

use std::hash::{Hash, Hasher};

use indexing::Callees;
use ir::{AttributeKey, Attributes, Graph, Op, OpId, Opcode, decides_value};
use rustc_hash::{FxHashMap, FxHashSet, FxHasher};

use super::computation::Computation;

/// The number of computations within each other that are compared.
const MAX_DEPTH: u32 = 16;

/// Equal for instructions that are equal.
pub(super) type InstructionId = u32;

/// Equal for equal fusions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct FusionId {
    producer: InstructionId,
    consumer: InstructionId,
    /// The first operand of the consumer that is the producer.
    operand: usize,
}

/// The ids of the instructions of one computation. Lives as long as one pass, which tells of each fusion.
#[derive(Debug, Default)]
pub(super) struct FusionIds {
    of_op: FxHashMap<OpId, InstructionId>,
    of_fusion: FxHashMap<FusionId, InstructionId>,
    next: InstructionId,
}

impl FusionIds {
    pub(super) fn of(computation: &Computation, callees: &Callees<'_>) -> FusionIds {
        let mut ids = FusionIds::default();
        let mut known: FxHashMap<u64, Vec<OpId>> = FxHashMap::default();
        for id in computation.ids() {
            cancel::tick();
            let op = computation.op(id);
            let alike = known.entry(hash(op)).or_default();
            let equal = alike.iter().find(|&&other| is_same(computation.op(other), op, callees, 0));
            let number = match equal {
                Some(other) => ids.of_op[other],
                None => {
                    alike.push(id);
                    ids.take()
                }
            };
            ids.of_op.insert(id, number);
        }
        ids
    }

    /// The id of a fusion that may be made. `None` if they are no producer and consumer.
    pub(super) fn of_pair(
        &self,
        computation: &Computation,
        producer: OpId,
        consumer: OpId,
    ) -> Option<FusionId> {
        let operand = computation.operands(consumer).iter().position(|&operand| operand == producer)?;
        let id = |op| self.of_op.get(&op).copied();
        Some(FusionId { producer: id(producer)?, consumer: id(consumer)?, operand })
    }

    /// Tells that a fusion was made.
    pub(super) fn fused(&mut self, fusion: OpId, id: FusionId) {
        let number = match self.of_fusion.get(&id) {
            Some(&known) => known,
            None => {
                let number = self.take();
                self.of_fusion.insert(id, number);
                number
            }
        };
        self.of_op.insert(fusion, number);
    }

    fn take(&mut self) -> InstructionId {
        self.next += 1;
        self.next
    }
}

/// Equal for equal ops.
fn hash(op: &Op) -> u64 {
    let mut hasher = FxHasher::default();
    (op.opcode, &op.shape, &op.literal, op.parameter).hash(&mut hasher);
    op.operand_shapes.hash(&mut hasher);
    op.attributes.ints(AttributeKey::Dimensions).hash(&mut hasher);
    hasher.finish()
}

/// Source: `HloInstruction::IdenticalInternal`, `hlo/ir/hlo_instruction.cc`.
fn is_same(a: &Op, b: &Op, callees: &Callees<'_>, depth: u32) -> bool {
    (a.opcode, a.parameter) == (b.opcode, b.parameter)
        && a.literal == b.literal
        && a.shape == b.shape
        && a.operand_shapes == b.operand_shapes
        && has_same_attributes(&a.attributes, &b.attributes, callees, depth)
}

fn has_same_attributes(a: &Attributes, b: &Attributes, callees: &Callees<'_>, depth: u32) -> bool {
    let count = |attributes: &Attributes| attributes.keys().filter(|&key| decides_value(key)).count();
    let is_same_value = |key: AttributeKey| match (a.computation(key), b.computation(key)) {
        (Some(a), Some(b)) => a == b || is_same_computation(a, b, callees, depth),
        _ => a.get(key) == b.get(key),
    };
    count(a) == count(b) && a.keys().filter(|&key| decides_value(key)).all(is_same_value)
}

fn is_same_computation(a: &str, b: &str, callees: &Callees<'_>, depth: u32) -> bool {
    let (Some(a), Some(b)) = (callees(a), callees(b)) else { return false };
    depth < MAX_DEPTH && is_same_graph(&a, &b, callees, depth + 1)
}

/// Source: `HloComputation::EqualInternal`, `hlo/ir/hlo_computation.cc`.
fn is_same_graph(a: &Graph, b: &Graph, callees: &Callees<'_>, depth: u32) -> bool {
    let parameters = |graph: &Graph| graph.ops.iter().filter(|op| op.opcode == Opcode::Parameter).count();
    if a.ops.is_empty() || b.ops.is_empty() || parameters(a) != parameters(b) {
        return false;
    }
    let mut seen = FxHashSet::from_iter([(a.root, b.root)]);
    let mut open = vec![(a.root, b.root)];
    while let Some((left, right)) = open.pop() {
        cancel::tick();
        if !is_same(&a.ops[left as usize], &b.ops[right as usize], callees, depth) {
            return false;
        }
        let operands = a.operands[left as usize].iter().zip(&b.operands[right as usize]);
        open.extend(operands.map(|(&a, &b)| (a, b)).filter(|&pair| seen.insert(pair)));
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    const MODULE: &str = "\
HloModule m
add {
 x = f32[] parameter(0)
 y = f32[] parameter(1)
 ROOT s = f32[] add(x, y)
}
sum {
 p = f32[] parameter(0)
 q = f32[] parameter(1)
 ROOT r = f32[] add(p, q)
}
twice {
 p = f32[] parameter(0)
 q = f32[] parameter(1)
 ROOT r = f32[] add(p, p)
}
ENTRY e {
 p = f32[64] parameter(0)
 q = f32[64] parameter(1)
 z = f32[] constant(0)
 a = f32[64] negate(p), metadata={op_name=\"a\"}
 b = f32[64] negate(q)
 c = f32[64] multiply(a, a)
 d = f32[64] multiply(b, p)
 e = f32[64] multiply(p, b)
 f = f32[] reduce(c, z), dimensions={0}, to_apply=add
 g = f32[] reduce(d, z), dimensions={0}, to_apply=sum
 h = f32[] reduce(e, z), dimensions={0}, to_apply=twice
 ROOT t = (f32[], f32[], f32[]) tuple(f, g, h)
}
";

    fn ids() -> (Computation, FusionIds) {
        let graphs = ir::graphs_of_text(MODULE);
        let callees = |name: &str| graphs.iter().find(|(n, _)| n == name).map(|(_, graph)| graph.clone());
        let computation = Computation::of(&graphs.last().expect("an entry").1, "e");
        let ids = FusionIds::of(&computation, &callees);
        (computation, ids)
    }

    #[test]
    fn instructions() {
        let (computation, ids) = ids();
        let id = |name: &str| ids.of_op[&computation.graph.find(name).unwrap()];
        assert_eq!(id("a"), id("b"));
        assert_eq!(id("c"), id("d"));
        assert_eq!(id("f"), id("g"));
        // The computations differ, the parameters have other numbers.
        assert_ne!(id("f"), id("h"));
        assert_ne!(id("p"), id("q"));
    }

    #[test]
    fn fusions() {
        let (computation, mut ids) = ids();
        let op = |name: &str| computation.graph.find(name).unwrap();
        let id = |ids: &FusionIds, a, b| ids.of_pair(&computation, op(a), op(b));
        assert_eq!(id(&ids, "a", "c"), id(&ids, "b", "d"));
        assert_ne!(id(&ids, "b", "d"), id(&ids, "b", "e"));
        assert_eq!(id(&ids, "a", "d"), None);
        assert_eq!(id(&ids, "c", "f"), id(&ids, "d", "g"));
        // As long as only one of them has its operand fused.
        let first = id(&ids, "a", "c").unwrap();
        ids.fused(op("c"), first);
        assert_ne!(id(&ids, "c", "f"), id(&ids, "d", "g"));
        let second = id(&ids, "b", "d").unwrap();
        ids.fused(op("d"), second);
        assert_eq!(id(&ids, "c", "f"), id(&ids, "d", "g"));
    }
}
