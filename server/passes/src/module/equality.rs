//! Which instructions and computations do the same.
//!
//! Source: XLA `HloInstruction::IdenticalInternal`, `HloComputation::Equal`.

use std::hash::{Hash, Hasher};

use ir::{AttributeValue, decides_value};
use rustc_hash::{FxHashMap, FxHasher};
use smallvec::SmallVec;
use syntax::hlo::{AttributeKey, Opcode};

use super::{ComputationId, InstructionId, Module};

impl Module {
    /// Whether two instructions compute the same from the same operands: opcode, shape, attributes and called computations are
    /// equal. Operands are not compared. Metadata does not count, nor do layouts unless `with_layouts`.
    pub fn is_same_op(&self, a: InstructionId, b: InstructionId, with_layouts: bool) -> bool {
        let (left, right) = (&self[a], &self[b]);
        let has_same_shape = left.shape() == right.shape()
            || !with_layouts && left.shape().without_layouts() == right.shape().without_layouts();
        has_same_shape
            && left.opcode() == right.opcode()
            && left.operands.len() == right.operands.len()
            && left.op.parameter == right.op.parameter
            && is_same_literal(left.literal(), right.literal())
            && self.has_same_attributes(a, b)
            && left.verbatim == right.verbatim
            && left.calls.len() == right.calls.len()
            && left.calls.iter().zip(&right.calls).all(|((key, called), (other_key, other))| {
                let mut pairs = called.iter().zip(other);
                key == other_key
                    && called.len() == other.len()
                    && pairs
                        .all(|(&called, &other)| recursion::grow(|| self.is_same_computation(called, other)))
            })
    }

    /// Whether the attributes of two instructions say the same of what they compute.
    pub fn has_same_attributes(&self, a: InstructionId, b: InstructionId) -> bool {
        let (left, right) = (self[a].attributes(), self[b].attributes());
        let count = |attributes: &ir::Attributes| attributes.keys().filter(|key| decides_value(*key)).count();
        let sharding = AttributeKey::Sharding;
        let has_same_sharding = match (left.text(sharding), right.text(sharding)) {
            (Some(left), Some(right)) => left == right,
            _ => true,
        };
        has_same_sharding
            && count(left) == count(right)
            && left.iter().all(|(key, value)| !decides_value(key) || right.get(key) == Some(value))
    }

    /// Whether two computations compute the same from the same parameters.
    pub fn is_same_computation(&self, a: ComputationId, b: ComputationId) -> bool {
        if a == b {
            return true;
        }
        if self.count(a) != self.count(b) {
            return false;
        }
        let (left, right) = (self.post_order(a), self.post_order(b));
        let mut becomes: FxHashMap<InstructionId, InstructionId> = FxHashMap::default();
        let mut pairs = left.iter().zip(&right);
        left.len() == right.len()
            && pairs.all(|(&left, &right)| {
                cancel::tick();
                becomes.insert(left, right);
                let operands = self[left].operands.iter().zip(&self[right].operands);
                self.is_same_op(left, right, true)
                    && operands.into_iter().all(|(left, right)| becomes.get(left) == Some(right))
            })
            && becomes.get(&self.root(a)) == Some(&self.root(b))
    }

    /// Equal for instructions that are the same op, whatever their operands.
    pub fn op_hash(&self, id: InstructionId) -> u64 {
        let mut hasher = FxHasher::default();
        let instruction = &self[id];
        instruction.opcode().hash(&mut hasher);
        instruction.dims().hash(&mut hasher);
        instruction.shape().element().hash(&mut hasher);
        instruction.literal().hash(&mut hasher);
        let numbers = instruction.attributes().iter().filter_map(|(key, value)| match value {
            AttributeValue::Ints(ints) => Some((key, ints.as_slice())),
            AttributeValue::Int(int) => Some((key, std::slice::from_ref(int))),
            AttributeValue::Triples(triples) => Some((key, triples.as_flattened())),
            _ => None,
        });
        // The order of attributes in the text does not count.
        let mut numbers: SmallVec<[_; 4]> = numbers.map(|(key, ints)| (key as u32, ints)).collect();
        numbers.sort_unstable();
        numbers.hash(&mut hasher);
        for callee in instruction.called() {
            self.count(callee).hash(&mut hasher);
            self[self.root(callee)].opcode().hash(&mut hasher);
        }
        hasher.finish()
    }
}

/// Elements that the text leaves out may be anything.
fn is_same_literal(a: Option<&str>, b: Option<&str>) -> bool {
    a == b && !a.is_some_and(|literal| literal.contains("..."))
}

/// Whether the operands of a binary op may change places.
pub fn is_commutative(opcode: Opcode) -> bool {
    use Opcode::*;
    matches!(opcode, Add | Multiply | Maximum | Minimum | And | Or | Xor)
}
