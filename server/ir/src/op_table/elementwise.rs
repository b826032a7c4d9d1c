//! The opcodes of elementwise ops, as a pattern.

/// A pattern for the opcodes whose output element i depends on element i of each operand, by opcode alone. A match with
/// it needs no wildcard, so a new opcode does not compile until the match says what becomes of it.
///
/// Source: `HloInstruction::IsOpElementwise`.
#[macro_export]
macro_rules! elementwise {
    () => {
        $crate::Opcode::Abs
            | $crate::Opcode::Acos
            | $crate::Opcode::Acosh
            | $crate::Opcode::Add
            | $crate::Opcode::And
            | $crate::Opcode::Asin
            | $crate::Opcode::Asinh
            | $crate::Opcode::Atan2
            | $crate::Opcode::Atanh
            | $crate::Opcode::BitcastConvert
            | $crate::Opcode::Cbrt
            | $crate::Opcode::Ceil
            | $crate::Opcode::Clamp
            | $crate::Opcode::Compare
            | $crate::Opcode::Complex
            | $crate::Opcode::Convert
            | $crate::Opcode::Copy
            | $crate::Opcode::Cosh
            | $crate::Opcode::Cosine
            | $crate::Opcode::CountLeadingZeros
            | $crate::Opcode::Divide
            | $crate::Opcode::Erf
            | $crate::Opcode::Exp2
            | $crate::Opcode::Exponential
            | $crate::Opcode::ExponentialMinusOne
            | $crate::Opcode::Floor
            | $crate::Opcode::Imag
            | $crate::Opcode::IsFinite
            | $crate::Opcode::Log
            | $crate::Opcode::Log2
            | $crate::Opcode::LogPlusOne
            | $crate::Opcode::Logistic
            | $crate::Opcode::Maximum
            | $crate::Opcode::Minimum
            | $crate::Opcode::Mulhi
            | $crate::Opcode::Multiply
            | $crate::Opcode::Negate
            | $crate::Opcode::Not
            | $crate::Opcode::Or
            | $crate::Opcode::Popcnt
            | $crate::Opcode::Power
            | $crate::Opcode::Real
            | $crate::Opcode::ReducePrecision
            | $crate::Opcode::Remainder
            | $crate::Opcode::RoundNearestAfz
            | $crate::Opcode::RoundNearestEven
            | $crate::Opcode::Rsqrt
            | $crate::Opcode::Select
            | $crate::Opcode::ShiftLeft
            | $crate::Opcode::ShiftRightArithmetic
            | $crate::Opcode::ShiftRightLogical
            | $crate::Opcode::Sign
            | $crate::Opcode::Sine
            | $crate::Opcode::Sinh
            | $crate::Opcode::Sqrt
            | $crate::Opcode::StochasticConvert
            | $crate::Opcode::Subtract
            | $crate::Opcode::Tan
            | $crate::Opcode::Tanh
            | $crate::Opcode::Xor
    };
}
