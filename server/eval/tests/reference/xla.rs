//! Values that XLA's CPU backend returns, compared with the interpreter's.
//!
//! `xla_values.py` made `xla_values.txt.gz` with jaxlib 0.12.0.1, and `xla_expanded_values.txt.gz` with
//! 0.10.2. A line is an instruction on parameters `a`, `b`, …:
//! `shape | instruction | shape bits… | … | bits…`, with the bits of elements in hexadecimal digits, the
//! result last. A tuple shape is followed by the number of the returned array.

use std::io::Read;

use eval::{Column, Evaluator, Kind, Values};
use syntax::hlo::ElementType;

use crate::graphs;

/// The computations that ops name, as in `xla_values.py`.
const CALLED: &str = "sum {
 a = f32[] parameter(0)
 b = f32[] parameter(1)
 ROOT c = f32[] add(a, b)
}
running {
 x = f32[] parameter(0)
 carry = f32[] parameter(1)
 next = f32[] add(x, carry)
 ROOT both = (f32[], f32[]) tuple(next, next)
}
weighed {
 x = s32[3] parameter(0)
 y = s32[3] parameter(1)
 carry = s32[3] parameter(2)
 product = s32[3] multiply(x, y)
 next = s32[3] add(product, carry)
 ROOT all = (s32[3], s32[3], s32[3]) tuple(product, carry, next)
}
";

struct Line<'a> {
    shape: &'a str,
    leaf: usize,
    op: &'a str,
    parameters: Vec<(&'a str, Column)>,
    expect: Column,
}

fn kind_of(shape: &str) -> Kind {
    let kind = shape.split('[').next().and_then(ElementType::from_name).and_then(Kind::of);
    kind.unwrap_or_else(|| panic!("{shape} is not evaluated"))
}

fn column(kind: Kind, words: &str) -> Column {
    let digits = |word| u128::from_str_radix(word, 16).expect("hexadecimal digits");
    Column::from_bits(kind, words.split_whitespace().map(digits))
}

impl<'a> Line<'a> {
    fn of(text: &'a str) -> Line<'a> {
        let parts: Vec<&str> = text.split(" | ").collect();
        let [shape, op, parameters @ .., expect] = &parts[..] else { panic!("{text}") };
        let parameters = parameters.iter().map(|text| {
            let (shape, words) = text.split_once(' ').expect("a shape and bits");
            (shape, column(kind_of(shape), words))
        });
        let parameters = parameters.collect();
        let Some((shape, leaf)) = shape.rsplit_once(") ") else {
            return Line { shape, leaf: 0, op, parameters, expect: column(kind_of(shape), expect) };
        };
        let leaf = leaf.parse().expect("the number of an array");
        let kind = kind_of(shape.trim_start_matches('(').split(", ").nth(leaf).expect("an array"));
        let expect = column(kind, expect);
        Line { shape: &text[..shape.len() + 1], leaf, op, parameters, expect }
    }

    fn evaluate(&self) -> Result<Column, String> {
        let declared = self.parameters.iter().zip("abcde".chars()).enumerate();
        let declared = declared.map(|(i, ((shape, _), name))| format!(" {name} = {shape} parameter({i})\n"));
        let declared: String = declared.collect();
        let called = if self.op.contains("to_apply") { CALLED } else { "" };
        let text =
            format!("HloModule m\n{called}ENTRY e {{\n{declared} ROOT r = {} {}\n}}\n", self.shape, self.op);
        let (graphs, last) = graphs(&text);
        let source = |number: u32, _: usize, positions: &[i64]| {
            let (_, whole) = &self.parameters[number as usize];
            Ok(Column::from_bits(whole.kind, positions.iter().map(|&p| whole.bits(p as usize))))
        };
        let graph = graphs[&last].clone();
        let callees = |name: &str| graphs.get(name).cloned();
        let mut evaluator = Evaluator::new(graph.clone(), &callees, &source);
        evaluator.whole(graph.root, self.leaf).map_err(|why| format!("{self}: {why}"))
    }
}

impl std::fmt::Display for Line<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let shapes: Vec<&str> = self.parameters.iter().map(|(shape, _)| *shape).collect();
        write!(f, "{} {} of {}", self.shape, self.op, shapes.join(", "))
    }
}

/// The exponent of the smallest normal number, and the mantissa bits, of a type or of its parts.
fn format_of(kind: Kind) -> (i32, i32) {
    if matches!(kind, Kind::F64 | Kind::Complex { is_double: true }) {
        return (-1022, 52);
    }
    let digits = (0..52).find(|&n| kind.round(1.0 + 0.5f64.powi(n + 1)) == 1.0).unwrap_or(52);
    // A format's smallest number is one ulp of its smallest normal number.
    let smallest =
        (0..200).rev().map(|n| -n).find(|&n| kind.round(2f64.powi(n)) == 2f64.powi(n)).unwrap_or(0);
    (smallest + digits, digits)
}

fn parts(column: &Column, i: usize) -> Vec<f64> {
    match &column.values {
        Values::Int(v) => vec![v[i] as f64],
        Values::Real(v) => vec![v[i]],
        Values::Complex(v) => v[i].to_vec(),
    }
}

/// Whether XLA's CPU code may flush an element to zero: a denormal of a type that it computes with, or, for a
/// result, one that is rounded to the smallest normal number.
fn may_be_flushed(column: &Column, i: usize, is_result: bool) -> bool {
    let (least, _) = format_of(column.kind);
    let is_small = |x: &f64| {
        *x != 0.0
            && (x.abs() < f64::exp2(f64::from(least)) || is_result && x.abs() == f64::exp2(f64::from(least)))
    };
    least <= -126 && parts(column, i).iter().any(is_small)
}

/// The error of XLA's approximations in ulps; 0 if its results are exact.
fn allowed(op: &str, operand: Kind) -> f64 {
    let name = op.split('(').next().unwrap_or(op);
    let is_complex = matches!(operand, Kind::Complex { .. });
    match name {
        // XLA's CPU code does not round short types between fused ops, and fuses multiplications and
        // additions into one rounding.
        _ if name.starts_with("batch-norm") && operand.width() == 16 => 8.0,
        _ if name.starts_with("batch-norm") => 2.0,
        "divide" | "multiply" | "sqrt" | "abs" if is_complex => 4.0,
        "sine" | "cosine" | "tan" | "tanh" | "power" | "atan2" | "logistic" | "rsqrt" if is_complex => 64.0,
        "acosh" | "asinh" | "atanh" | "atan2" | "erf" | "power" | "tanh" | "cbrt" => 8.0,
        "cholesky" | "triangular-solve" => 64.0,
        "fft" => 16.0,
        _ if is_complex
            && !matches!(
                name,
                "add" | "subtract" | "negate" | "convert" | "complex" | "compare" | "real" | "imag"
            ) =>
        {
            16.0
        }
        "exponential"
        | "exponential-minus-one"
        | "log"
        | "log-plus-one"
        | "logistic"
        | "sine"
        | "cosine"
        | "tan"
        | "sinh"
        | "cosh"
        | "acos"
        | "asin"
        | "rsqrt"
        | "sqrt"
        | "divide" => 4.0,
        _ => 0.0,
    }
}

/// Whether XLA's result agrees with the interpreter's, within `ulps` of the number's magnitude, or of the
/// largest in the array.
fn agrees(op: &str, operand: Kind, want: &Column, got: &Column, i: usize) -> bool {
    let ulps = allowed(op, operand);
    if want.bits(i) == got.bits(i) {
        return true;
    }
    let (a, b) = (parts(want, i), parts(got, i));
    // Where XLA's formulas overflow or propagate infinities, their results are less precise than possible.
    let is_lost = ulps >= 16.0 && b.iter().any(|x| !x.is_finite());
    let (least, digits) = format_of(want.kind);
    let is_whole = op.starts_with("fft")
        || op.starts_with("cholesky")
        || op.starts_with("triangular")
        || op.starts_with("batch-norm");
    let sizes =
        |i: usize| parts(want, i).into_iter().filter(|x| x.is_finite()).fold(0f64, |m, x| m.max(x.abs()));
    let size = if is_whole { (0..want.len()).map(sizes).fold(0.0, f64::max) } else { sizes(i) };
    // Complex functions are sums: their error is relative to the magnitude of the terms.
    let size = if ulps >= 16.0 { size.max(1.0) } else { size };
    let ulp = f64::exp2(size.log2().floor().max(f64::from(least)) - f64::from(digits));
    let is_near = |(&x, &y): (&f64, &f64)| {
        let is_same_zero =
            x == y && (x != 0.0 || x.is_sign_negative() == y.is_sign_negative() || ulps >= 4.0);
        x.is_nan() && y.is_nan() || is_same_zero || (x - y).abs() <= ulps * ulp && ulps > 0.0
    };
    is_lost || a.iter().zip(&b).all(is_near)
}

/// Known defects of XLA's CPU code: it counts in the byte that holds 4 bits, and saturates the largest number
/// of `f4e2m1fn`; divides by |z| where that is infinite; loses the sign of -0 in a reduce-scatter.
fn is_xlas_defect(line: &Line<'_>, i: usize) -> bool {
    let from = line.parameters.first().map_or("", |(shape, _)| *shape);
    let operand = parts(&line.parameters[0].1, i);
    match line.op {
        // It adds to zero.
        op if op.starts_with("reduce-scatter") => operand[0] == 0.0,
        "popcnt(a)" => from.starts_with("s4") && operand[0] < 0.0,
        "convert(a)" => from.starts_with("f4e2m1fn") && operand[0].abs() == 6.0,
        "sign(a)" => operand.len() == 2 && operand[0].hypot(operand[1]) > f64::from(f32::MAX),
        _ => false,
    }
}

fn check(path: &str) {
    let mut text = String::new();
    let file = std::fs::File::open(path).expect("the file of values");
    flate2::read::GzDecoder::new(file).read_to_string(&mut text).expect("a readable file");
    let (mut values, mut wrong) = (0, Vec::new());
    for line in text.lines().map(Line::of) {
        let got = match line.evaluate() {
            Ok(got) => got,
            Err(why) => {
                wrong.push(why);
                continue;
            }
        };
        assert_eq!(got.len(), line.expect.len(), "{line}");
        for i in 0..got.len() {
            values += 1;
            let inputs =
                || line.parameters.iter().map(|(_, column)| column).filter(|column| i < column.len());
            let is_in_budget = got.error_at(i) > 0.0 && got.differs(i, &line.expect).is_none();
            let agrees = is_in_budget && is_composite(line.op)
                || agrees(line.op, line.parameters[0].1.kind, &got, &line.expect, i);
            let is_flushed =
                inputs().any(|column| may_be_flushed(column, i, false)) || may_be_flushed(&got, i, true);
            if !agrees && !is_flushed && !is_xlas_defect(&line, i) {
                let (inputs, expect) =
                    (inputs().map(|c| parts(c, i)).collect::<Vec<_>>(), parts(&line.expect, i));
                wrong.push(format!("{line}: {i}, {inputs:?} is {:?}, XLA {expect:?}", parts(&got, i)));
            }
        }
    }
    eprintln!("{values} values, {} not XLA's", wrong.len());
    assert!(wrong.is_empty() && values > 0, "{}", wrong.join("\n"));
}

/// Whether an op expands to several others, for which the interpreter bounds the error.
fn is_composite(op: &str) -> bool {
    ["batch-norm", "scan", "ragged-dot"].iter().any(|name| op.starts_with(name))
}

#[test]
fn values_of_expanded_ops_are_xlas() {
    check(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/reference/xla_expanded_values.txt.gz"));
}

#[test]
fn values_are_xlas() {
    check(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/reference/xla_values.txt.gz"));
}
