//! Arithmetic, bits, comparisons and selections, element by element.

use syntax::hlo::AttributeKey::*;
use syntax::hlo::Opcode;

use super::Counterpart::{Mhlo, Stablehlo};
use super::Page::Xla;
use super::rows::{binary, op, unary};
use super::{Arity, Counterpart, OpInfo, Parameters};
use crate::cost::{Callees, Flops};
use crate::infer::{ElementTypes, ResultType, ShapeRule, elementwise};

pub(super) const ROWS: &[OpInfo] = &[
    OpInfo {
        takes: ElementTypes::SignedOrComplex,
        gives: ResultType::Part,
        detail: "Of complex numbers the modulus, which is real.",
        ..unary(Opcode::Abs, Stablehlo("abs"), Xla("abs"), "Absolute value.")
    },
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
        takes: ElementTypes::FloatingOrComplex,
        gives: ResultType::Part,
        ..unary(Opcode::Imag, Stablehlo("imag"), Xla("imag"), "Imaginary part; 0 of a real number.")
    },
    OpInfo {
        arity: Arity::Any,
        required: &[ToApply],
        optional: &[Dimensions],
        callees: Callees::PerElement,
        shape: ShapeRule::Of(elementwise::map),
        parameters: Parameters::Operands,
        always_printed: &[Dimensions],
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
    OpInfo {
        takes: ElementTypes::Number,
        detail: "Integers wrap around.",
        ..binary(Opcode::Subtract, Stablehlo("subtract"), Xla("sub"), "lhs minus rhs.")
    },
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
