//! Instructions and their operands, over a type `N` of names.

use crate::Opcode;

/// `@%p1` or `@!%p1` before an instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Guard<N> {
    pub name: N,
    pub is_negated: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Instruction<N> {
    pub guard: Option<Guard<N>>,
    pub opcode: Opcode,
    /// In the order of the text: results first, except for stores.
    pub operands: Vec<Operand<N>>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Operand<N> {
    /// A register, variable, label or function.
    Name(N),
    /// `!%p1`.
    Not(N),
    /// Also the bits of unsigned numbers of 64 bits.
    Integer(i64),
    /// The bits of a float: `0f3F800000`.
    Single(u32),
    /// The bits of a float: `0d3FF0000000000000`.
    Double(u64),
    /// `[%rd1+16]`, `[name]`; without a base, the address is a number.
    Address { base: Option<N>, offset: i64 },
    /// `[%rd1, {%r1, %r2}]`: a place in the tensor that a map describes.
    Tensor { map: N, coordinates: Vec<Operand<N>> },
    /// `{%r1, %r2}`: a vector, or the parts of a register.
    Vector(Vec<Operand<N>>),
    /// `(%r1, %r2)`: the arguments or the results of a call.
    Arguments(Vec<Operand<N>>),
    /// `%r1|%p1`.
    Pair(N, N),
}
