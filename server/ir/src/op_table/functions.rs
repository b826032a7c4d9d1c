//! Transcendental functions, roundings and conversions, element by element.

use syntax::hlo::AttributeKey::*;
use syntax::hlo::Opcode;

use super::Counterpart::{Mhlo, Stablehlo};
use super::Page::{StableHlo, Xla};
use super::rows::{binary, function, op, unary};
use super::{Counterpart, KernelFlops, OpInfo};
use crate::cost::Flops;
use crate::infer::{ElementTypes, ResultType, ShapeRule, elementwise};

pub(super) const ROWS: &[OpInfo] = &[
    function(Opcode::Acos, Mhlo("acos"), Xla("acos"), "Inverse cosine, in radians."),
    function(Opcode::Acosh, Mhlo("acosh"), Xla("acosh"), "Inverse hyperbolic cosine."),
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
        kernel_flops: KernelFlops::Copy,
        ..unary(Opcode::Copy, Mhlo("copy"), Xla("copy"), "The same values in a buffer of their own.")
    },
    function(Opcode::Cosine, Stablehlo("cosine"), Xla("cos"), "Cosine of radians."),
    function(Opcode::Cosh, Mhlo("cosh"), Xla("cosh"), "Hyperbolic cosine."),
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
    function(Opcode::Tan, Stablehlo("tan"), Xla("tan"), "Tangent of radians."),
    function(Opcode::Tanh, Stablehlo("tanh"), Xla("tanh"), "Hyperbolic tangent."),
];
