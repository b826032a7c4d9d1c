//! MLIR bytecode in a file: where it is. The crate `mlir-bytecode` reads it.

use std::ops::Range;

const MAGIC: &[u8] = b"ML\xefR";

/// The bytecode in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bytecode {
    pub range: Range<usize>,
    /// Whether other bytes are around it, as in a file of `jax.export`.
    pub is_enclosed: bool,
}

/// How many bytes of another file may come before.
const MAX_BEFORE: usize = 1 << 20;

/// The bytecode in a file, `None` where there is none.
pub(crate) fn bytecode(bytes: &[u8]) -> Option<Bytecode> {
    if bytes.starts_with(MAGIC) {
        return Some(Bytecode { range: 0..bytes.len(), is_enclosed: false });
    }
    // A file of `jax.export` is a flatbuffer: its first number is the place of its table.
    let table = usize::try_from(u32::from_le_bytes(*bytes.first_chunk()?)).ok()?;
    let before = &bytes[..bytes.len().min(MAX_BEFORE)];
    if table >= before.len() || table < 4 {
        return None;
    }
    let start = before.windows(MAGIC.len()).position(|window| window == MAGIC)?;
    // The module is a vector, whose length comes before its elements.
    let len = bytes.get(start.checked_sub(4)?..start).and_then(|len| len.try_into().ok());
    let len = len.and_then(|len| usize::try_from(u32::from_le_bytes(len)).ok());
    let end = len.and_then(|len| start.checked_add(len)).filter(|end| *end <= bytes.len());
    Some(Bytecode { range: start..end.unwrap_or(bytes.len()), is_enclosed: true })
}
