//! What an op is, whatever it is called and wherever it comes from: that decides the kernel and its time.

use std::hash::{Hash, Hasher};

use ir::{AttributeKey, AttributeValue, Op};

/// Whether an attribute can change a kernel. What names computations does not: they count by what they are.
fn is_counted(key: AttributeKey, value: &AttributeValue) -> bool {
    use AttributeKey::{Metadata, Origin, Statistics};
    !matches!(key, Metadata | Origin | Statistics)
        && !matches!(value, AttributeValue::Computation(_) | AttributeValue::Names(_))
}

/// Hashes an op except for the computations that it calls. Ops for which [`has_same_content`] holds have the same hash.
pub fn hash_content(op: &Op, hasher: &mut impl Hasher) {
    (op.opcode, &op.shape, &op.literal, op.parameter).hash(hasher);
    op.operand_shapes.hash(hasher);
    for (key, value) in op.attributes.iter().filter(|&(key, value)| is_counted(key, value)) {
        key.hash(hasher);
        match value {
            AttributeValue::Int(int) => int.hash(hasher),
            AttributeValue::Ints(ints) => ints.hash(hasher),
            AttributeValue::Triples(triples) => triples.hash(hasher),
            AttributeValue::Word(text) | AttributeValue::Text(text) => text.hash(hasher),
            // The rest is compared.
            _ => {}
        }
    }
}

/// Whether two ops are the same, except for the computations that they call.
pub fn has_same_content(a: &Op, b: &Op) -> bool {
    fn counted(op: &Op) -> impl Iterator<Item = (AttributeKey, &AttributeValue)> {
        op.attributes.iter().filter(|&(key, value)| is_counted(key, value))
    }
    (a.opcode, a.parameter) == (b.opcode, b.parameter)
        && a.literal == b.literal
        && a.shape == b.shape
        && a.operand_shapes == b.operand_shapes
        && counted(a).eq(counted(b))
        && a.attributes.unknown() == b.attributes.unknown()
}
