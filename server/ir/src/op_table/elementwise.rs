//! Ops that compute each element of the result from the elements at the same index.

use syntax::hlo::AttributeKey::*;
use syntax::hlo::Opcode;

use super::Counterpart::{Mhlo, Stablehlo};
use super::Page::{StableHlo, Xla};
use super::rows::{binary, function, op, unary};
use super::{Arity, Counterpart, OpInfo, Parameters};
use crate::cost::{Callees, Flops};
use crate::infer::{ElementTypes, ResultType, ShapeRule, elementwise};

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

pub(super) const ROWS: &[OpInfo] = &[
    OpInfo {
        takes: ElementTypes::SignedOrComplex,
        gives: ResultType::Part,
        detail: "Of complex numbers the modulus, which is real.",
        ..unary(Opcode::Abs, Stablehlo("abs"), Xla("abs"), "Absolute value.")
    },
    function(Opcode::Acos, Mhlo("acos"), Xla("acos"), "Inverse cosine, in radians."),
    function(Opcode::Acosh, Mhlo("acosh"), Xla("acosh"), "Inverse hyperbolic cosine."),
    OpInfo {
        detail: "Integers wrap around; of `pred` it is *or*.",
        ..binary(Opcode::Add, Stablehlo("add"), Xla("add"), "Sum.")
    },
    OpInfo {
        takes: ElementTypes::IntegralOrPred,
        ..binary(
            Opcode::And,
            Stablehlo("and"),
            Xla("and"),
            "Bitwise *and* of integers, logical *and* of `pred`.",
        )
    },
    function(Opcode::Asin, Mhlo("asin"), Xla("asin"), "Inverse sine, in radians."),
    function(Opcode::Asinh, Mhlo("asinh"), Xla("asinh"), "Inverse hyperbolic sine."),
    OpInfo {
        flops: Flops::Transcendental,
        takes: ElementTypes::FloatingOrComplex,
        detail: "The quadrant follows from both signs; this is the inverse tangent of lhs / rhs.",
        ..binary(
            Opcode::Atan2,
            Stablehlo("atan2"),
            Xla("atan2"),
            "Angle of the point (rhs, lhs), in radians from -π to π.",
        )
    },
    function(Opcode::Atanh, Mhlo("atanh"), Xla("atanh"), "Inverse hyperbolic tangent."),
    OpInfo {
        flops: Flops::Nothing,
        shape: ShapeRule::Of(elementwise::bitcast_convert),
        detail: "Between types of different widths the last dimension appears or vanishes: `f32[8]` is `u8[8,4]`. \
         Values are not converted; that is `convert`.",
        ..unary(
            Opcode::BitcastConvert,
            Counterpart::Table,
            Xla("bitcastconverttype"),
            "The same bits, read as another element type.",
        )
    },
    OpInfo {
        takes: ElementTypes::Floating,
        ..function(Opcode::Cbrt, Stablehlo("cbrt"), Xla("cbrt"), "Cube root.")
    },
    OpInfo {
        takes: ElementTypes::Floating,
        ..unary(
            Opcode::Ceil,
            Stablehlo("ceil"),
            Xla("ceil"),
            "The next integer upwards, as a floating-point number.",
        )
    },
    OpInfo {
        flops: Flops::PerElement,
        shape: ShapeRule::Of(elementwise::clamp),
        counterpart: Stablehlo("clamp"),
        detail: "min and max are scalars or have the operand's shape. NaN anywhere gives NaN.",
        ..op(Opcode::Clamp, &["min", "operand", "max"], Xla("clamp"), "The operand held between min and max.")
    },
    OpInfo {
        required: &[Direction],
        optional: &[Order, Type],
        gives: ResultType::Pred,
        detail: "With NaN every `FLOAT` comparison but NE is false; `order=TOTAL` orders NaN and both zeros.",
        ..binary(Opcode::Compare, Counterpart::Table, Xla("compare"), "Whether `direction` holds, as `pred`.")
    },
    OpInfo {
        flops: Flops::PerElement,
        shape: ShapeRule::ByOpcode(elementwise::binary),
        takes: ElementTypes::F32OrF64,
        gives: ResultType::Complex,
        counterpart: Stablehlo("complex"),
        detail: "Two `f32` make a `c64`, two `f64` a `c128`.",
        ..op(
            Opcode::Complex,
            &["real", "imaginary"],
            Xla("complex"),
            "Complex numbers from real and imaginary parts.",
        )
    },
    OpInfo {
        shape: ShapeRule::Of(elementwise::convert),
        detail: "Floating point to integer truncates towards zero; to a narrower float it rounds to nearest even.",
        ..unary(
            Opcode::Convert,
            Stablehlo("convert"),
            Xla("convertelementtype"),
            "The values, in another element type.",
        )
    },
    OpInfo {
        flops: Flops::Nothing,
        detail: "This is where a layout changes: operand and result may differ in it, and nothing else.",
        ..unary(Opcode::Copy, Mhlo("copy"), Xla("copy"), "The same values in a buffer of their own.")
    },
    function(Opcode::Cosine, Stablehlo("cosine"), Xla("cos"), "Cosine of radians."),
    function(Opcode::Cosh, Mhlo("cosh"), Xla("cosh"), "Hyperbolic cosine."),
    OpInfo {
        takes: ElementTypes::Integral,
        ..unary(
            Opcode::CountLeadingZeros,
            Stablehlo("count_leading_zeros"),
            Xla("clz"),
            "Number of zero bits above the highest one.",
        )
    },
    OpInfo {
        takes: ElementTypes::Number,
        detail: "Of integers it truncates towards zero; by zero it is -1 (all bits set), and the smallest number by -1 is itself.",
        ..binary(Opcode::Divide, Stablehlo("divide"), Xla("div"), "Quotient.")
    },
    OpInfo {
        takes: ElementTypes::Floating,
        ..function(Opcode::Erf, Mhlo("erf"), Xla("erf"), "Gaussian error function.")
    },
    function(Opcode::Exp2, Counterpart::None, Xla("exp"), "2 to the power of the operand."),
    function(Opcode::Exponential, Stablehlo("exponential"), Xla("exp"), "e to the power of the operand."),
    OpInfo {
        detail: "Stays exact near zero, where subtracting afterwards does not.",
        ..function(
            Opcode::ExponentialMinusOne,
            Stablehlo("exponential_minus_one"),
            Xla("expm1"),
            "e to the power of the operand, minus 1.",
        )
    },
    OpInfo {
        takes: ElementTypes::Floating,
        ..unary(
            Opcode::Floor,
            Stablehlo("floor"),
            Xla("floor"),
            "The next integer downwards, as a floating-point number.",
        )
    },
    OpInfo {
        takes: ElementTypes::FloatingOrComplex,
        gives: ResultType::Part,
        ..unary(Opcode::Imag, Stablehlo("imag"), Xla("imag"), "Imaginary part; 0 of a real number.")
    },
    OpInfo {
        takes: ElementTypes::Floating,
        gives: ResultType::Pred,
        ..unary(
            Opcode::IsFinite,
            Stablehlo("is_finite"),
            Xla("isfinite"),
            "Whether the number is neither infinite nor NaN, as `pred`.",
        )
    },
    function(Opcode::Log, Stablehlo("log"), Xla("log"), "Natural logarithm."),
    function(Opcode::Log2, Counterpart::None, Xla("log"), "Logarithm to base 2."),
    OpInfo {
        detail: "Stays exact near zero.",
        ..function(
            Opcode::LogPlusOne,
            Stablehlo("log_plus_one"),
            Xla("log1p"),
            "Natural logarithm of 1 + operand.",
        )
    },
    function(Opcode::Logistic, Stablehlo("logistic"), Xla("logistic"), "Sigmoid: 1 / (1 + exp(-operand))."),
    OpInfo {
        arity: Arity::Any,
        required: &[ToApply],
        optional: &[Dimensions],
        callees: Callees::PerElement,
        shape: ShapeRule::Of(elementwise::map),
        parameters: Parameters::Operands,
        always_printed: &[Dimensions],
        counterpart: Counterpart::Table,
        detail: "`to_apply` takes one scalar per operand; all operands have the same dimensions.",
        ..op(Opcode::Map, &["operands…"], Xla("map"), "A scalar computation applied at each index.")
    },
    OpInfo {
        detail: "NaN if either is NaN; of `pred` it is *or*.",
        ..binary(Opcode::Maximum, Stablehlo("maximum"), Xla("max"), "The larger of the two.")
    },
    OpInfo {
        detail: "NaN if either is NaN; of `pred` it is *and*.",
        ..binary(Opcode::Minimum, Stablehlo("minimum"), Xla("min"), "The smaller of the two.")
    },
    OpInfo {
        gives: ResultType::OfIntegers,
        detail: "The bits that `multiply` drops: of 32-bit integers, bits 32 to 63.",
        ..binary(Opcode::Mulhi, Mhlo("mulhi"), Xla("mul"), "Upper half of the integer product.")
    },
    OpInfo {
        detail: "Integers wrap around; of `pred` it is *and*.",
        ..binary(Opcode::Multiply, Stablehlo("multiply"), Xla("mul"), "Product.")
    },
    OpInfo {
        takes: ElementTypes::Number,
        ..unary(Opcode::Negate, Stablehlo("negate"), Xla("neg"), "The operand with its sign turned.")
    },
    OpInfo {
        takes: ElementTypes::IntegralOrPred,
        ..unary(Opcode::Not, Stablehlo("not"), Xla("not"), "Every bit turned; logical *not* of `pred`.")
    },
    OpInfo {
        takes: ElementTypes::IntegralOrPred,
        ..binary(Opcode::Or, Stablehlo("or"), Xla("or"), "Bitwise *or* of integers, logical *or* of `pred`.")
    },
    OpInfo {
        takes: ElementTypes::Integral,
        ..unary(Opcode::Popcnt, Stablehlo("popcnt"), Xla("populationcount"), "Number of one bits.")
    },
    OpInfo {
        flops: Flops::Transcendental,
        shape: ShapeRule::ByOpcode(elementwise::binary),
        takes: ElementTypes::Number,
        counterpart: Stablehlo("power"),
        ..op(Opcode::Power, &["base", "exponent"], Xla("pow"), "Base to the power of the exponent.")
    },
    OpInfo {
        takes: ElementTypes::FloatingOrComplex,
        gives: ResultType::Part,
        ..unary(Opcode::Real, Stablehlo("real"), Xla("real"), "Real part.")
    },
    OpInfo {
        required: &[ExponentBits, MantissaBits],
        takes: ElementTypes::Floating,
        mixes_precision: true,
        detail: "`exponent_bits` and `mantissa_bits` say which: 8 and 7 is bf16, 5 and 10 is f16.",
        ..unary(
            Opcode::ReducePrecision,
            Counterpart::Table,
            Xla("reduceprecision"),
            "The value rounded to a float of fewer bits, in its own type.",
        )
    },
    OpInfo {
        takes: ElementTypes::Number,
        detail: "Of integers by zero it is lhs.",
        ..binary(
            Opcode::Remainder,
            Stablehlo("remainder"),
            Xla("rem"),
            "What division leaves, with the sign of lhs.",
        )
    },
    OpInfo {
        takes: ElementTypes::Floating,
        ..unary(
            Opcode::RoundNearestAfz,
            Stablehlo("round_nearest_afz"),
            Xla("round"),
            "The nearest integer; halves away from zero.",
        )
    },
    OpInfo {
        takes: ElementTypes::Floating,
        ..unary(
            Opcode::RoundNearestEven,
            Stablehlo("round_nearest_even"),
            Xla("roundnearesteven"),
            "The nearest integer; halves to the even one.",
        )
    },
    function(Opcode::Rsqrt, Stablehlo("rsqrt"), Xla("rsqrt"), "1 / square root."),
    OpInfo {
        flops: Flops::PerElement,
        shape: ShapeRule::Of(elementwise::select),
        counterpart: Counterpart::Table,
        detail: "The predicate is `pred` of the same dimensions, or a scalar. Both operands are computed.",
        ..op(
            Opcode::Select,
            &["predicate", "on true", "on false"],
            Xla("select"),
            "At each index one of two operands, as the predicate says.",
        )
    },
    OpInfo {
        takes: ElementTypes::Number,
        gives: ResultType::OfIntegers,
        detail: "0 where rhs is the width or more.",
        ..binary(Opcode::ShiftLeft, Stablehlo("shift_left"), Xla("shiftleft"), "lhs shifted up by rhs bits.")
    },
    OpInfo {
        takes: ElementTypes::Number,
        gives: ResultType::OfIntegers,
        ..binary(
            Opcode::ShiftRightArithmetic,
            Stablehlo("shift_right_arithmetic"),
            Xla("shiftrightarithmetic"),
            "lhs shifted down by rhs bits, the sign repeated.",
        )
    },
    OpInfo {
        takes: ElementTypes::Number,
        gives: ResultType::OfIntegers,
        ..binary(
            Opcode::ShiftRightLogical,
            Stablehlo("shift_right_logical"),
            Xla("shiftrightlogical"),
            "lhs shifted down by rhs bits, zeros from above.",
        )
    },
    OpInfo {
        takes: ElementTypes::SignedOrComplex,
        detail: "NaN stays NaN.",
        ..unary(Opcode::Sign, Stablehlo("sign"), Xla("sign"), "-1, 0 or 1; of complex numbers the direction.")
    },
    function(Opcode::Sine, Stablehlo("sine"), Xla("sin"), "Sine of radians."),
    function(Opcode::Sinh, Mhlo("sinh"), Xla("sinh"), "Hyperbolic sine."),
    function(Opcode::Sqrt, Stablehlo("sqrt"), Xla("sqrt"), "Square root."),
    OpInfo {
        flops: Flops::PerElement,
        shape: ShapeRule::ByOpcode(elementwise::binary),
        counterpart: Mhlo("stochastic_convert"),
        detail: "`random` holds unsigned integers as wide as the operand's element type.",
        ..op(
            Opcode::StochasticConvert,
            &["operand", "random"],
            StableHlo("convert"),
            "Conversion that rounds up with a probability, by random bits.",
        )
    },
    OpInfo {
        takes: ElementTypes::Number,
        detail: "Integers wrap around.",
        ..binary(Opcode::Subtract, Stablehlo("subtract"), Xla("sub"), "lhs minus rhs.")
    },
    function(Opcode::Tan, Stablehlo("tan"), Xla("tan"), "Tangent of radians."),
    function(Opcode::Tanh, Stablehlo("tanh"), Xla("tanh"), "Hyperbolic tangent."),
    OpInfo {
        takes: ElementTypes::IntegralOrPred,
        ..binary(
            Opcode::Xor,
            Stablehlo("xor"),
            Xla("xor"),
            "Bitwise *exclusive or*; of `pred` whether they differ.",
        )
    },
];
