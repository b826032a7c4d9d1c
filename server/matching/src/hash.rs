//! A 64-bit hash that serves as the identity of a value. Two different values have the same hash with a probability of
//! about 2⁻⁶⁴; the result is a wrong match, nothing worse.

/// What a hash is of, so that values of different kinds differ.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Kind {
    Text = 1,
    Shape,
    Attributes,
    Structure,
    Instruction,
    Parameter,
    Element,
    Tuple,
    TupleAccess,
    Called,
    Opaque,
    Loop,
    Uses,
    Digest,
    Pair,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Hash(u64);

impl Hash {
    pub(crate) fn of(kind: Kind) -> Hash {
        Hash(0x9e37_79b9_7f4a_7c15).word(kind as u64)
    }

    /// The low and the high half of a 128-bit product.
    pub(crate) fn word(self, word: u64) -> Hash {
        let product = u128::from(self.0 ^ 0xa076_1d64_78bd_642f) * u128::from(word ^ 0xe703_7ed1_a0b4_28db);
        Hash((product as u64 ^ (product >> 64) as u64).wrapping_add(self.0.rotate_left(29)))
    }

    pub(crate) fn words(self, words: impl IntoIterator<Item = u64>) -> Hash {
        let mut count = 0;
        let hash = words.into_iter().fold(self, |hash, word| {
            count += 1;
            hash.word(word)
        });
        hash.word(count)
    }

    pub(crate) fn text(self, text: &str) -> Hash {
        let (chunks, rest) = text.as_bytes().as_chunks::<8>();
        let mut last = [0; 8];
        last[..rest.len()].copy_from_slice(rest);
        let hash = chunks.iter().fold(self, |hash, chunk| hash.word(u64::from_le_bytes(*chunk)));
        hash.word(u64::from_le_bytes(last)).word(text.len() as u64)
    }

    pub(crate) fn end(self) -> u64 {
        self.0
    }
}

pub(crate) fn text(text: &str) -> u64 {
    Hash::of(Kind::Text).text(text).end()
}
