//! Scalar ops of the arith, math and complex dialects.

use ir::ElementTypeExt;
use syntax::hlo::{ElementType, Opcode};

use crate::constant::Constant;
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

fn number_text(constant: Constant) -> String {
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

/// A finite `f32`, `f64` or `bf16` in scientific notation; other numbers as bits.
fn float_text(constant: Constant) -> String {
    let value = match constant.element {
        ElementType::F32 => f64::from(f32::from_bits(constant.bits as u32)),
        ElementType::F64 => f64::from_bits(constant.bits as u64),
        ElementType::Bf16 => f64::from(f32::from_bits((constant.bits as u32) << 16)),
        other => {
            return format!("0x{:0width$X}", constant.bits, width = other.bits().unwrap_or(8) as usize / 4);
        }
    };
    if value.is_finite() {
        return format!("{value:.6e}").replacen('e', "E+", 1).replace("E+-", "E-");
    }
    format!("0x{:0width$X}", constant.bits, width = constant.element.bits().unwrap_or(32) as usize / 4)
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
        return if matches!(name, "add" | "max") { "arith.ori" } else { "arith.andi" }.to_owned();
    }
    if to.is_complex() {
        return format!("complex.{name}");
    }
    if to.is_floating() {
        return match name {
            "max" => "arith.maximumf".to_owned(),
            "min" => "arith.minimumf".to_owned(),
            other => format!("arith.{other}f"),
        };
    }
    let sign = if to.is_signed_integer() { "s" } else { "u" };
    match name {
        "add" | "sub" | "mul" => format!("arith.{name}i"),
        other => format!("arith.{other}{sign}i"),
    }
}
