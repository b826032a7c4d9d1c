//! Ops that compute each element of the result from the elements at the same index.

use syntax::hlo::AttributeKey::*;
use syntax::hlo::Opcode;

use super::Page::{StableHlo, Xla};
use super::rows::{binary, function, op, unary};
use super::{Arity, OpInfo};
use crate::cost::{Callees, Flops};
use crate::infer::{ElementTypes, ResultType, ShapeRule, elementwise};

pub(super) const ROWS: &[OpInfo] = &[
    OpInfo {
        takes: ElementTypes::SignedOrComplex,
        gives: ResultType::Part,
        detail: "Of complex numbers the modulus, which is real.",
        ..unary(Opcode::Abs, Xla("abs"), "Absolute value.")
    },
    function(Opcode::Acos, Xla("acos"), "Inverse cosine, in radians."),
    function(Opcode::Acosh, Xla("acosh"), "Inverse hyperbolic cosine."),
    OpInfo {
        detail: "Integers wrap around; of `pred` it is *or*.",
        ..binary(Opcode::Add, Xla("add"), "Sum.")
    },
    OpInfo {
        takes: ElementTypes::IntegralOrPred,
        ..binary(Opcode::And, Xla("and"), "Bitwise *and* of integers, logical *and* of `pred`.")
    },
    function(Opcode::Asin, Xla("asin"), "Inverse sine, in radians."),
    function(Opcode::Asinh, Xla("asinh"), "Inverse hyperbolic sine."),
    OpInfo {
        flops: Flops::Transcendental,
        takes: ElementTypes::FloatingOrComplex,
        detail: "The quadrant follows from both signs; this is the inverse tangent of lhs / rhs.",
        ..binary(Opcode::Atan2, Xla("atan2"), "Angle of the point (rhs, lhs), in radians from -π to π.")
    },
    function(Opcode::Atanh, Xla("atanh"), "Inverse hyperbolic tangent."),
    OpInfo {
        flops: Flops::Nothing,
        shape: ShapeRule::Of(elementwise::bitcast_convert),
        detail: "Between types of different widths the last dimension appears or vanishes: `f32[8]` is `u8[8,4]`. \
         Values are not converted; that is `convert`.",
        ..unary(
            Opcode::BitcastConvert,
            Xla("bitcastconverttype"),
            "The same bits, read as another element type.",
        )
    },
    OpInfo { takes: ElementTypes::Floating, ..function(Opcode::Cbrt, Xla("cbrt"), "Cube root.") },
    OpInfo {
        takes: ElementTypes::Floating,
        ..unary(Opcode::Ceil, Xla("ceil"), "The next integer upwards, as a floating-point number.")
    },
    OpInfo {
        is_elementwise: true,
        flops: Flops::PerElement,
        shape: ShapeRule::Of(elementwise::clamp),
        detail: "min and max are scalars or have the operand's shape. NaN anywhere gives NaN.",
        ..op(Opcode::Clamp, &["min", "operand", "max"], Xla("clamp"), "The operand held between min and max.")
    },
    OpInfo {
        required: &[Direction],
        optional: &[Order, Type],
        gives: ResultType::Pred,
        detail: "With NaN every `FLOAT` comparison but NE is false; `order=TOTAL` orders NaN and both zeros.",
        ..binary(Opcode::Compare, Xla("compare"), "Whether `direction` holds, as `pred`.")
    },
    OpInfo {
        is_elementwise: true,
        flops: Flops::PerElement,
        shape: ShapeRule::ByOpcode(elementwise::binary),
        takes: ElementTypes::F32OrF64,
        gives: ResultType::Complex,
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
        ..unary(Opcode::Convert, Xla("convertelementtype"), "The values, in another element type.")
    },
    OpInfo {
        flops: Flops::Nothing,
        detail: "This is where a layout changes: operand and result may differ in it, and nothing else.",
        ..unary(Opcode::Copy, Xla("copy"), "The same values in a buffer of their own.")
    },
    function(Opcode::Cosine, Xla("cos"), "Cosine of radians."),
    function(Opcode::Cosh, Xla("cosh"), "Hyperbolic cosine."),
    OpInfo {
        takes: ElementTypes::Integral,
        ..unary(Opcode::CountLeadingZeros, Xla("clz"), "Number of zero bits above the highest one.")
    },
    OpInfo {
        takes: ElementTypes::Number,
        detail: "Of integers it truncates towards zero; by zero it is -1 (all bits set), and the smallest number by -1 is itself.",
        ..binary(Opcode::Divide, Xla("div"), "Quotient.")
    },
    OpInfo { takes: ElementTypes::Floating, ..function(Opcode::Erf, Xla("erf"), "Gaussian error function.") },
    function(Opcode::Exp2, Xla("exp"), "2 to the power of the operand."),
    function(Opcode::Exponential, Xla("exp"), "e to the power of the operand."),
    OpInfo {
        detail: "Stays exact near zero, where subtracting afterwards does not.",
        ..function(Opcode::ExponentialMinusOne, Xla("expm1"), "e to the power of the operand, minus 1.")
    },
    OpInfo {
        takes: ElementTypes::Floating,
        ..unary(Opcode::Floor, Xla("floor"), "The next integer downwards, as a floating-point number.")
    },
    OpInfo {
        takes: ElementTypes::FloatingOrComplex,
        gives: ResultType::Part,
        ..unary(Opcode::Imag, Xla("imag"), "Imaginary part; 0 of a real number.")
    },
    OpInfo {
        takes: ElementTypes::Floating,
        gives: ResultType::Pred,
        ..unary(
            Opcode::IsFinite,
            Xla("isfinite"),
            "Whether the number is neither infinite nor NaN, as `pred`.",
        )
    },
    function(Opcode::Log, Xla("log"), "Natural logarithm."),
    function(Opcode::Log2, Xla("log"), "Logarithm to base 2."),
    OpInfo {
        detail: "Stays exact near zero.",
        ..function(Opcode::LogPlusOne, Xla("log1p"), "Natural logarithm of 1 + operand.")
    },
    function(Opcode::Logistic, Xla("logistic"), "Sigmoid: 1 / (1 + exp(-operand))."),
    OpInfo {
        arity: Arity::Any,
        required: &[ToApply],
        optional: &[Dimensions],
        callees: Callees::PerElement,
        shape: ShapeRule::Of(elementwise::map),
        always_printed: &[Dimensions],
        detail: "`to_apply` takes one scalar per operand; all operands have the same dimensions.",
        ..op(Opcode::Map, &["operands…"], Xla("map"), "A scalar computation applied at each index.")
    },
    OpInfo {
        detail: "NaN if either is NaN; of `pred` it is *or*.",
        ..binary(Opcode::Maximum, Xla("max"), "The larger of the two.")
    },
    OpInfo {
        detail: "NaN if either is NaN; of `pred` it is *and*.",
        ..binary(Opcode::Minimum, Xla("min"), "The smaller of the two.")
    },
    OpInfo {
        gives: ResultType::OfIntegers,
        detail: "The bits that `multiply` drops: of 32-bit integers, bits 32 to 63.",
        ..binary(Opcode::Mulhi, Xla("mul"), "Upper half of the integer product.")
    },
    OpInfo {
        detail: "Integers wrap around; of `pred` it is *and*.",
        ..binary(Opcode::Multiply, Xla("mul"), "Product.")
    },
    OpInfo {
        takes: ElementTypes::Number,
        ..unary(Opcode::Negate, Xla("neg"), "The operand with its sign turned.")
    },
    OpInfo {
        takes: ElementTypes::IntegralOrPred,
        ..unary(Opcode::Not, Xla("not"), "Every bit turned; logical *not* of `pred`.")
    },
    OpInfo {
        takes: ElementTypes::IntegralOrPred,
        ..binary(Opcode::Or, Xla("or"), "Bitwise *or* of integers, logical *or* of `pred`.")
    },
    OpInfo {
        takes: ElementTypes::Integral,
        ..unary(Opcode::Popcnt, Xla("populationcount"), "Number of one bits.")
    },
    OpInfo {
        is_elementwise: true,
        flops: Flops::Transcendental,
        shape: ShapeRule::ByOpcode(elementwise::binary),
        takes: ElementTypes::Number,
        ..op(Opcode::Power, &["base", "exponent"], Xla("pow"), "Base to the power of the exponent.")
    },
    OpInfo {
        takes: ElementTypes::FloatingOrComplex,
        gives: ResultType::Part,
        ..unary(Opcode::Real, Xla("real"), "Real part.")
    },
    OpInfo {
        required: &[ExponentBits, MantissaBits],
        takes: ElementTypes::Floating,
        mixes_precision: true,
        detail: "`exponent_bits` and `mantissa_bits` say which: 8 and 7 is bf16, 5 and 10 is f16.",
        ..unary(
            Opcode::ReducePrecision,
            Xla("reduceprecision"),
            "The value rounded to a float of fewer bits, in its own type.",
        )
    },
    OpInfo {
        takes: ElementTypes::Number,
        detail: "Of integers by zero it is lhs.",
        ..binary(Opcode::Remainder, Xla("rem"), "What division leaves, with the sign of lhs.")
    },
    OpInfo {
        takes: ElementTypes::Floating,
        ..unary(Opcode::RoundNearestAfz, Xla("round"), "The nearest integer; halves away from zero.")
    },
    OpInfo {
        takes: ElementTypes::Floating,
        ..unary(
            Opcode::RoundNearestEven,
            Xla("roundnearesteven"),
            "The nearest integer; halves to the even one.",
        )
    },
    function(Opcode::Rsqrt, Xla("rsqrt"), "1 / square root."),
    OpInfo {
        is_elementwise: true,
        flops: Flops::PerElement,
        shape: ShapeRule::Of(elementwise::select),
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
        ..binary(Opcode::ShiftLeft, Xla("shiftleft"), "lhs shifted up by rhs bits.")
    },
    OpInfo {
        takes: ElementTypes::Number,
        gives: ResultType::OfIntegers,
        ..binary(
            Opcode::ShiftRightArithmetic,
            Xla("shiftrightarithmetic"),
            "lhs shifted down by rhs bits, the sign repeated.",
        )
    },
    OpInfo {
        takes: ElementTypes::Number,
        gives: ResultType::OfIntegers,
        ..binary(
            Opcode::ShiftRightLogical,
            Xla("shiftrightlogical"),
            "lhs shifted down by rhs bits, zeros from above.",
        )
    },
    OpInfo {
        takes: ElementTypes::SignedOrComplex,
        detail: "NaN stays NaN.",
        ..unary(Opcode::Sign, Xla("sign"), "-1, 0 or 1; of complex numbers the direction.")
    },
    function(Opcode::Sine, Xla("sin"), "Sine of radians."),
    function(Opcode::Sinh, Xla("sinh"), "Hyperbolic sine."),
    function(Opcode::Sqrt, Xla("sqrt"), "Square root."),
    OpInfo {
        is_elementwise: true,
        flops: Flops::PerElement,
        shape: ShapeRule::ByOpcode(elementwise::binary),
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
        ..binary(Opcode::Subtract, Xla("sub"), "lhs minus rhs.")
    },
    function(Opcode::Tan, Xla("tan"), "Tangent of radians."),
    function(Opcode::Tanh, Xla("tanh"), "Hyperbolic tangent."),
    OpInfo {
        takes: ElementTypes::IntegralOrPred,
        ..binary(Opcode::Xor, Xla("xor"), "Bitwise *exclusive or*; of `pred` whether they differ.")
    },
];
