//! Programs of elementwise ops on arrays of every element type, and reductions of them.

use ir::Opcode;

use super::program::{Operand, Program, braces};

const INTEGERS: [&str; 8] = ["s8", "s16", "s32", "s64", "u8", "u16", "u32", "u64"];
const FLOATS: [&str; 4] = ["f16", "bf16", "f32", "f64"];
const DIRECTIONS: [&str; 6] = ["EQ", "NE", "LT", "LE", "GT", "GE"];

fn is_integer(element: &str) -> bool {
    INTEGERS.contains(&element)
}

fn bits(element: &str) -> u32 {
    match element {
        "bf16" => 16,
        "pred" => 8,
        other => other[1..].parse().unwrap_or(0),
    }
}

/// The opcodes with `operands` operands of this type and a result of it.
fn opcodes(element: &str, operands: usize) -> &'static [Opcode] {
    use Opcode::*;
    match (element, operands) {
        ("pred", 1) => &[Not],
        ("pred", _) => &[And, Or, Xor, Maximum, Minimum],
        ("c64", 1) => &[Negate, Exponential, Sqrt, Tanh],
        ("c64", _) => &[Add, Subtract, Multiply, Divide],
        (element, 1) if element.starts_with('u') => &[Not, Negate, Popcnt, CountLeadingZeros],
        (element, 1) if is_integer(element) => &[Not, Negate, Abs, Sign, Popcnt, CountLeadingZeros],
        (element, _) if is_integer(element) => &[
            Add,
            Subtract,
            Multiply,
            Divide,
            Remainder,
            Maximum,
            Minimum,
            Power,
            And,
            Or,
            Xor,
            ShiftLeft,
            ShiftRightArithmetic,
            ShiftRightLogical,
        ],
        (_, 1) => &[
            Negate,
            Abs,
            Sign,
            Floor,
            Ceil,
            RoundNearestAfz,
            RoundNearestEven,
            Exponential,
            ExponentialMinusOne,
            Log,
            LogPlusOne,
            Logistic,
            Tanh,
            Tan,
            Cosine,
            Sine,
            Sqrt,
            Rsqrt,
            Cbrt,
            Erf,
        ],
        // A product that is added is rounded once on some processors: no products.
        _ => &[Add, Subtract, Divide, Remainder, Maximum, Minimum, Power, Atan2],
    }
}

fn element(p: &mut Program<'_>) -> &'static str {
    let all = [&INTEGERS[..], &FLOATS, &["f32", "pred", "c64"]].concat();
    p.rng.pick::<&str>(&all)
}

/// An earlier value of this type and these sizes, or a new parameter.
fn value(p: &mut Program<'_>, values: &mut Vec<Operand>, element: &str, dims: &[i64]) -> Operand {
    let fitting: Vec<Operand> =
        values.iter().filter(|v| v.element == element && v.dims == dims).cloned().collect();
    if !fitting.is_empty() && !p.rng.one_in(4) {
        return p.rng.pick(&fitting).clone();
    }
    let new = p.parameter(element, dims);
    values.push(new.clone());
    new
}

/// Some instructions on arrays of one size; the result is all that nothing uses.
pub(super) fn typed(p: &mut Program<'_>) -> Operand {
    let rank = p.rng.range(0, 3) as usize;
    let dims = p.sizes(rank, 6);
    let mut values: Vec<Operand> = Vec::new();
    let mut results: Vec<Operand> = Vec::new();
    for _ in 0..p.rng.range(3, 8) {
        let (used, result) = instruction(p, &mut values, &dims);
        results.retain(|result| !used.contains(&result.name));
        results.push(result.clone());
        values.push(result);
    }
    let shapes: Vec<&str> = results.iter().map(|result| result.shape.as_str()).collect();
    let shape = format!("({})", shapes.join(", "));
    let operands: Vec<&Operand> = results.iter().collect();
    p.push_of(Opcode::Tuple, "", &[], shape, &operands, "")
}

/// Adds an instruction, and returns the names of its operands with it.
fn instruction(p: &mut Program<'_>, values: &mut Vec<Operand>, dims: &[i64]) -> (Vec<String>, Operand) {
    let of = match values.is_empty() || p.rng.one_in(3) {
        true => element(p).to_owned(),
        false => p.rng.pick(values).element.clone(),
    };
    let (opcode, result, operands, attributes) = match p.rng.range(0, 9) {
        0 => {
            let to = element(p);
            // Of complex numbers the real part would be left: an op of its own. Of 16 bits XLA may convert what is not rounded yet.
            let (from, to) = match of.as_str() {
                "c64" => ("f32".to_owned(), "c64"),
                "f16" | "bf16" => ("f32".to_owned(), to),
                _ => (of, to),
            };
            (Opcode::Convert, to.to_owned(), vec![value(p, values, &from, dims)], String::new())
        }
        1 => {
            // The integers are small, and as floats would be too small for XLA's arithmetic on a processor.
            let alike: Vec<&str> = INTEGERS.into_iter().filter(|to| bits(to) == bits(&of)).collect();
            let to = if alike.is_empty() { of.clone() } else { (*p.rng.pick(&alike)).to_owned() };
            let to = if of == "pred" || of == "c64" { of.clone() } else { to };
            (Opcode::BitcastConvert, to, vec![value(p, values, &of, dims)], String::new())
        }
        2 => {
            let known = if of == "c64" { &DIRECTIONS[..2] } else { &DIRECTIONS[..] };
            let attributes = format!("direction={}", p.rng.pick(known));
            let operands = vec![value(p, values, &of, dims), value(p, values, &of, dims)];
            (Opcode::Compare, "pred".to_owned(), operands, attributes)
        }
        3 => {
            let which = value(p, values, "pred", dims);
            let operands = vec![which, value(p, values, &of, dims), value(p, values, &of, dims)];
            (Opcode::Select, of, operands, String::new())
        }
        4 if of != "c64" && of != "pred" => {
            let operands = (0..3).map(|_| value(p, values, &of, dims)).collect();
            (Opcode::Clamp, of, operands, String::new())
        }
        5 if of != "c64" && !dims.is_empty() => return reduction(p, values, &of, dims),
        6 => {
            let mut opcode = *p.rng.pick(opcodes(&of, 1));
            // XLA rounds a logistic of 16 bits once on a processor, and after each of its steps on a GPU.
            if opcode == Opcode::Logistic && bits(&of) == 16 {
                opcode = Opcode::Tanh;
            }
            (opcode, of.clone(), vec![value(p, values, &of, dims)], String::new())
        }
        _ => {
            let opcode = *p.rng.pick(opcodes(&of, 2));
            let first = value(p, values, &of, dims);
            let mut second = value(p, values, &of, dims);
            // XLA takes a number divided by itself for 1, also where that is 0, by which it divides otherwise.
            if is_integer(&of) && matches!(opcode, Opcode::Divide | Opcode::Remainder) {
                second = p.parameter(&of, dims);
            }
            (opcode, of, vec![first, second], String::new())
        }
    };
    let names = operands.iter().map(|operand| operand.name.clone()).collect();
    let shape = p.shape(&result, dims);
    let operands: Vec<&Operand> = operands.iter().collect();
    (names, p.push_of(opcode, &result, dims, shape, &operands, &attributes))
}

/// What leaves every element as it is. XLA may apply the initial value of a reduction several times, or not at all.
fn neutral(opcode: Opcode, of: &str) -> String {
    let is_float = FLOATS.contains(&of);
    let (least, most) = match of {
        _ if is_float => ("-inf".to_owned(), "inf".to_owned()),
        _ if of.starts_with('u') => ("0".to_owned(), (u64::MAX >> (64 - bits(of))).to_string()),
        _ => {
            let half = 1i128 << (bits(of) - 1);
            ((-half).to_string(), (half - 1).to_string())
        }
    };
    match opcode {
        Opcode::And => "true".to_owned(),
        Opcode::Or => "false".to_owned(),
        Opcode::Maximum => least,
        Opcode::Minimum => most,
        // The sum of no numbers is -0, if that exists.
        _ if is_float => "-0".to_owned(),
        _ => "0".to_owned(),
    }
}

/// All elements along one dimension as one, broadcast along it again.
fn reduction(
    p: &mut Program<'_>,
    values: &mut Vec<Operand>,
    of: &str,
    dims: &[i64],
) -> (Vec<String>, Operand) {
    let all: &[Opcode] = match of {
        "pred" => &[Opcode::And, Opcode::Or],
        _ => &[Opcode::Add, Opcode::Maximum, Opcode::Minimum],
    };
    let opcode = *p.rng.pick(all);
    let lines = [
        format!("a = {of}[] parameter(0)"),
        format!("b = {of}[] parameter(1)"),
        format!("c = {of}[] {}(a, b)", opcode.name()),
    ];
    let apply = p.computation(&format!("{}_{of}", opcode.name()), &lines);
    let operand = value(p, values, of, dims);
    let init = format!("constant({})", neutral(opcode, of));
    let init = p.push_line(of, &[], format!("{of}[]"), &init);
    let dim = p.rng.range(0, dims.len() as i64 - 1) as usize;
    let kept: Vec<usize> = (0..dims.len()).filter(|&at| at != dim).collect();
    let sizes: Vec<i64> = kept.iter().map(|&at| dims[at]).collect();
    let shape = p.shape(of, &sizes);
    let attributes = format!("dimensions={{{dim}}}, to_apply={apply}");
    let reduced = p.push_of(Opcode::Reduce, of, &sizes, shape, &[&operand, &init], &attributes);
    let (shape, attributes) = (p.shape(of, dims), format!("dimensions={}", braces(&kept)));
    let result = p.push_of(Opcode::Broadcast, of, dims, shape, &[&reduced], &attributes);
    (vec![operand.name], result)
}
