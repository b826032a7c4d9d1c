//! Scalar ops of the arith, math and complex dialects.

use ir::ElementTypeExt;
use syntax::hlo::{ElementType, Opcode};

use crate::constant::{Constant, format};
use crate::kernel::{Comparison, Detail, Direction, Function, Op, OpKind, Table};

/// The spelling of a type in MLIR. Types are signless; ops have the sign.
pub(super) fn element_type(element: ElementType) -> String {
    match element {
        ElementType::Pred => "i8".to_owned(),
        ElementType::C64 => "complex<f32>".to_owned(),
        ElementType::C128 => "complex<f64>".to_owned(),
        _ if is_integer(element) => format!("i{}", element.bits().unwrap_or(32)),
        ElementType::F16 | ElementType::Bf16 | ElementType::F32 | ElementType::F64 => {
            element.name().to_owned()
        }
        // `f8E4M3FN`: all but the first letter are capitals.
        other => format!("f{}", other.name().trim_start_matches('f').to_uppercase()),
    }
}

pub(super) fn is_integer(element: ElementType) -> bool {
    element.is_signed_integer() || element.is_unsigned_integer()
}

/// The type of a value outside of memory.
fn value_type(element: ElementType) -> String {
    if element == ElementType::Pred { "i1".to_owned() } else { element_type(element) }
}

/// The lines for a constant or an elementwise op.
pub(super) fn scalar(function: &Function, op: &Op, name: &str, inputs: &[String]) -> Vec<String> {
    let to = function.element(op.results[0]);
    let ty = value_type(to);
    let (opcode, operands, detail) = match &op.kind {
        OpKind::Constant(constant) => return vec![format!("{name} = {}", constant_text(*constant))],
        OpKind::Compute { opcode, operands, detail } => (*opcode, operands, *detail),
        _ => return Vec::new(),
    };
    let from = operands.first().map_or(to, |&value| function.element(value));
    let from_ty = value_type(from);
    let list = inputs.join(", ");
    let one = |text: String| vec![format!("{name} = {text}")];
    // Names start with a letter, or are numbers.
    let number = name.trim_start_matches('%');
    match (opcode, detail) {
        (Opcode::Select, _) => one(format!("arith.select {list} : {ty}")),
        (Opcode::Compare, Detail::Compare(comparison)) => {
            one(format!("{} {list} : {from_ty}", compare(comparison, from)))
        }
        (Opcode::Convert, _) => one(format!("{} {list} : {from_ty} to {ty}", convert(from, to))),
        (Opcode::BitcastConvert | Opcode::Bitcast, _) => {
            one(format!("arith.bitcast {list} : {from_ty} to {ty}"))
        }
        (Opcode::Clamp, _) => {
            let [low, x, high] = inputs else { return Vec::new() };
            let (max, min) = (binary(Opcode::Maximum, to), binary(Opcode::Minimum, to));
            vec![
                format!("%low_{number} = {max} {low}, {x} : {ty}"),
                format!("{name} = {min} %low_{number}, {high} : {ty}"),
            ]
        }
        (Opcode::Not, _) => {
            let all = if to == ElementType::Pred { "true".to_owned() } else { format!("-1 : {ty}") };
            vec![
                format!("%all_{number} = arith.constant {all}"),
                format!("{name} = arith.xori {list}, %all_{number} : {ty}"),
            ]
        }
        (Opcode::Negate, _) if is_integer(to) => vec![
            format!("%zero_{number} = arith.constant 0 : {ty}"),
            format!("{name} = arith.subi %zero_{number}, {list} : {ty}"),
        ],
        (Opcode::ReducePrecision, Detail::Precision(exponent, mantissa)) => {
            one(format!("xla.reduce_precision {list} to e{exponent}m{mantissa} : {ty}"))
        }
        _ if inputs.len() == 1 => one(format!("{} {list} : {from_ty}", unary(opcode, from))),
        _ => one(format!("{} {list} : {ty}", binary(opcode, to))),
    }
}

fn constant_text(constant: Constant) -> String {
    let element = constant.element;
    match element {
        ElementType::Pred => format!("arith.constant {}", constant.bits != 0),
        _ if element.is_complex() => {
            let (re, im) = constant.parts();
            let ty = element_type(element);
            format!("complex.constant [{}, {}] : {ty}", float_text(re), float_text(im))
        }
        _ if element.is_floating() => {
            format!("arith.constant {} : {}", float_text(constant), element_type(element))
        }
        _ => format!("arith.constant {} : {}", constant.as_int(), element_type(element)),
    }
}

/// The elements of a table, row by row in nested brackets.
pub(super) fn dense(table: &Table) -> String {
    fn rows(dims: &[i64], elements: &[Constant]) -> String {
        let Some((&size, inner)) = dims.split_first() else {
            return elements.first().map_or_else(String::new, |&constant| number_text(constant));
        };
        let step = elements.len() / usize::try_from(size).unwrap_or(0).max(1);
        let parts: Vec<String> = elements.chunks(step.max(1)).map(|part| rows(inner, part)).collect();
        format!("[{}]", parts.join(", "))
    }
    rows(&table.shape.dims, &table.elements)
}

/// A number as an attribute of MLIR has it: `1.000000e+00`, `true`, `0xFF800000`.
pub fn number_text(constant: Constant) -> String {
    let element = constant.element;
    match element {
        ElementType::Pred => (constant.bits != 0).to_string(),
        _ if element.is_complex() => {
            let (re, im) = constant.parts();
            format!("({}, {})", float_text(re), float_text(im))
        }
        _ if element.is_floating() => float_text(constant),
        _ => constant.as_int().to_string(),
    }
}

/// A float as MLIR prints it: with six digits where they determine it, else with as many as its type may need;
/// infinities, NaN and what has no point as bits. Source: `printFloatValue`, `mlir/lib/IR/AsmPrinter.cpp`.
fn float_text(constant: Constant) -> String {
    let bits = constant.element.bits().unwrap_or(32);
    let hex = || format!("0x{:0width$X}", constant.bits, width = bits as usize / 4);
    let Some(value) = constant.as_float().filter(|value| value.is_finite()) else { return hex() };
    let (mantissa, exponent) = scientific(value, 6);
    if Constant::of_float(constant.element, value_of(&mantissa, exponent)) == constant {
        let sign = if exponent < 0 { '-' } else { '+' };
        return format!("{mantissa}0e{sign}{:02}", exponent.abs());
    }
    let most = digits_of(constant.element);
    let (mantissa, exponent) = scientific(value, most);
    let sign = if mantissa.starts_with('-') { "-" } else { "" };
    let digits: String = mantissa.chars().filter(char::is_ascii_digit).collect();
    let digits = digits.trim_end_matches('0');
    let point = usize::try_from(exponent + 1).unwrap_or(0);
    match exponent {
        // At most three zeros are written after the point.
        -3..0 => format!("{sign}0.{:0<1$}{digits}", "", (-exponent - 1) as usize),
        0.. if digits.len() > point => format!("{sign}{}.{}", &digits[..point], &digits[point..]),
        // Neither a fraction nor long: it would be read as an integer.
        0.. if point - digits.len() <= 3 && point <= most => hex(),
        _ => {
            let (first, rest) = digits.split_at(1);
            let rest = if rest.is_empty() { "0" } else { rest };
            format!("{sign}{first}.{rest}E{exponent:+}")
        }
    }
}

/// `1.25000` and -1 for 0.125 with six digits: the digits, and the exponent of ten. Rounded as `APFloat::toString`
/// rounds: it cuts the decimal number to as many digits as the bits of the wanted ones may need, then rounds.
fn scientific(value: f64, digits: usize) -> (String, i32) {
    // The number is an integer times ten to the power of minus `fraction_bits`, so that this is exact.
    let doubled = std::iter::successors(Some(value), |value| Some(value * 2.0));
    let fraction_bits = doubled.take_while(|value| value.fract() != 0.0).count() as i32;
    let exact = format!("{:.*}", fraction_bits as usize, value.abs()).replace('.', "");
    let exact = exact.trim_start_matches('0');
    let bits = (value.abs().log2() + f64::from(fraction_bits) * f64::log2(10.0)).floor() + 1.0;
    let wanted_bits = (digits * 196).div_ceil(59) as f64;
    let removed = ((bits - wanted_bits).max(0.0) * 59.0 / 196.0).floor() as usize;
    let kept = exact.len().saturating_sub(removed).max(1);
    let (decimals, carried) = rounded(exact.get(..kept).unwrap_or("0"), digits);
    let (first, rest) = decimals.split_at(1);
    let sign = if value.is_sign_negative() { "-" } else { "" };
    let exponent = if exact.is_empty() { 0 } else { exact.len() as i32 - 1 - fraction_bits };
    (format!("{sign}{first}.{rest}"), exponent + i32::from(carried))
}

/// The first `count` digits of a decimal number, rounded up by the digit after them, and whether that carried
/// into one more digit.
fn rounded(number: &str, count: usize) -> (String, bool) {
    let mut digits: Vec<u8> = number.bytes().chain(std::iter::repeat(b'0')).take(count).collect();
    if number.as_bytes().get(count).is_none_or(|&next| next < b'5') {
        return (digits.into_iter().map(char::from).collect(), false);
    }
    let nines = digits.iter().rev().take_while(|&&digit| digit == b'9').count();
    let kept = count - nines;
    digits[kept..].fill(b'0');
    match kept.checked_sub(1) {
        Some(last) => digits[last] += 1,
        None => {
            digits.insert(0, b'1');
            digits.pop();
        }
    }
    (digits.into_iter().map(char::from).collect(), kept == 0)
}

/// The number of decimal digits that tell any two numbers of the type apart, as LLVM's `APFloat` counts them.
fn digits_of(element: ElementType) -> usize {
    let bits = match element {
        ElementType::F64 => 53,
        ElementType::F32 => 24,
        element => format(element).map_or(24, |format| format.mantissa as usize + 1),
    };
    2 + bits * 59 / 196
}

fn value_of(mantissa: &str, exponent: i32) -> f64 {
    format!("{mantissa}e{exponent}").parse().unwrap_or(f64::NAN)
}

fn compare(Comparison { direction, .. }: Comparison, from: ElementType) -> String {
    let name = match direction {
        Direction::Eq => "eq",
        Direction::Ne => "ne",
        Direction::Lt => "lt",
        Direction::Le => "le",
        Direction::Gt => "gt",
        Direction::Ge => "ge",
    };
    if from.is_complex() {
        return format!("complex.{}", if direction == Direction::Eq { "eq" } else { "neq" });
    }
    if from.is_floating() {
        let order = if direction == Direction::Ne { "u" } else { "o" };
        return format!("arith.cmpf {order}{name},");
    }
    let has_sign = !matches!(direction, Direction::Eq | Direction::Ne);
    let sign = match (has_sign, from.is_signed_integer()) {
        (false, _) => "",
        (true, true) => "s",
        (true, false) => "u",
    };
    format!("arith.cmpi {sign}{name},")
}

fn convert(from: ElementType, to: ElementType) -> &'static str {
    let (a, b) = (from.bits().unwrap_or(32), to.bits().unwrap_or(32));
    let of_pred = from == ElementType::Pred;
    match (from.is_floating(), to.is_floating()) {
        (true, true) if a < b => "arith.extf",
        (true, true) => "arith.truncf",
        (true, false) if to.is_unsigned_integer() => "arith.fptoui",
        (true, false) => "arith.fptosi",
        (false, true) if from.is_signed_integer() => "arith.sitofp",
        (false, true) => "arith.uitofp",
        (false, false) if of_pred => "arith.extui",
        (false, false) if a > b => "arith.trunci",
        (false, false) if a == b => "arith.bitcast",
        (false, false) if from.is_signed_integer() => "arith.extsi",
        (false, false) => "arith.extui",
    }
}

fn unary(opcode: Opcode, from: ElementType) -> String {
    let float = match opcode {
        Opcode::Abs => "math.absf",
        Opcode::Negate => "arith.negf",
        Opcode::Exponential => "math.exp",
        Opcode::ExponentialMinusOne => "math.expm1",
        Opcode::Log => "math.log",
        Opcode::LogPlusOne => "math.log1p",
        Opcode::Floor => "math.floor",
        Opcode::Ceil => "math.ceil",
        Opcode::RoundNearestEven => "math.roundeven",
        Opcode::RoundNearestAfz => "math.round",
        Opcode::Sine => "math.sin",
        Opcode::Cosine => "math.cos",
        Opcode::IsFinite => "math.isfinite",
        other if from.is_complex() => {
            let name = match other {
                Opcode::Real => "re",
                Opcode::Imag => "im",
                _ => other.name(),
            };
            return format!("complex.{name}");
        }
        Opcode::Popcnt => "math.ctpop",
        Opcode::CountLeadingZeros => "math.ctlz",
        other => return format!("math.{}", other.name().replace('-', "_")),
    };
    match (from.is_complex(), is_integer(from), opcode) {
        (true, _, Opcode::Negate) => "complex.neg".to_owned(),
        (true, ..) => float.replace("math.", "complex.").replace("absf", "abs"),
        (_, true, Opcode::Abs) => "math.absi".to_owned(),
        _ => float.to_owned(),
    }
}

fn binary(opcode: Opcode, to: ElementType) -> String {
    let name = match opcode {
        Opcode::Add => "add",
        Opcode::Subtract => "sub",
        Opcode::Multiply => "mul",
        Opcode::Divide => "div",
        Opcode::Remainder => "rem",
        Opcode::Maximum => "max",
        Opcode::Minimum => "min",
        Opcode::And => return "arith.andi".to_owned(),
        Opcode::Or => return "arith.ori".to_owned(),
        Opcode::Xor => return "arith.xori".to_owned(),
        Opcode::ShiftLeft => return "arith.shli".to_owned(),
        Opcode::ShiftRightLogical => return "arith.shrui".to_owned(),
        Opcode::ShiftRightArithmetic => return "arith.shrsi".to_owned(),
        Opcode::Complex => return "complex.create".to_owned(),
        Opcode::Power => return if is_integer(to) { "math.ipowi" } else { "math.powf" }.to_owned(),
        other => return format!("math.{}", other.name().replace('-', "_")),
    };
    if to == ElementType::Pred {
        let is_or = matches!(opcode, Opcode::Add | Opcode::Maximum);
        return if is_or { "arith.ori" } else { "arith.andi" }.to_owned();
    }
    if to.is_complex() {
        return format!("complex.{name}");
    }
    if to.is_floating() {
        return match opcode {
            Opcode::Maximum | Opcode::Minimum => format!("arith.{name}imumf"),
            _ => format!("arith.{name}f"),
        };
    }
    let sign = if to.is_signed_integer() { "s" } else { "u" };
    match opcode {
        Opcode::Add | Opcode::Subtract | Opcode::Multiply => format!("arith.{name}i"),
        _ => format!("arith.{name}{sign}i"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_are_written_as_mlir_writes_them() {
        let check = |element, value: f64, expect: &str| {
            assert_eq!(number_text(Constant::of_float(element, value)), expect, "{value}");
        };
        let check_f32 = |value, expect| check(ElementType::F32, value, expect);
        check_f32(0.0, "0.000000e+00");
        check_f32(-0.0, "-0.000000e+00");
        check_f32(0.125, "1.250000e-01");
        check_f32(-2.0, "-2.000000e+00");
        check_f32(1e10, "1.000000e+10");
        // Six digits do not determine these.
        check_f32(1.0 / 768.0, "0.00130208337");
        check_f32(0.01, "0.00999999977");
        check_f32(1e-5, "9.99999974E-6");
        check_f32(16_777_215.0, "0x4B7FFFFF");
        check_f32(1_234_567_936.0, "1.23456794E+9");
        check_f32(f64::INFINITY, "0x7F800000");
        check(ElementType::Bf16, 0.125, "1.250000e-01");
        check(ElementType::F64, 2_147_483_647.0, "0x41DFFFFFFFC00000");
        check(ElementType::F64, 9_223_372_036_854_775_807.0, "9.2233720368547758E+18");
        check(ElementType::F16, 65504.0, "6.550400e+04");
        check(ElementType::F64, 0.1, "1.000000e-01");
        check(ElementType::F64, f64::from_bits(1), "4.940660e-324");
    }
}
