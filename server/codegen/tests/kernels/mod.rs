//! One-op kernels, run: inputs, launches, distances.
#![allow(dead_code, reason = "each test reads a part of it")]

use std::sync::Arc;

use eval::ptx::{Argument, Contents, Launch, Memory, Program, run};
use gpu::{Device, Fused, FusionAnalysis};
use ir::{AttributeKey, Graph, Opcode};
use syntax::hlo::{PieceState, parse};

/// A module with one fusion of one op on arrays of `count` elements.
pub fn module(op: &str, inputs: &[&str], output: &str, count: usize) -> String {
    let (name, attributes) = op.split_once(' ').unwrap_or((op, ""));
    let arguments: Vec<String> = (0..inputs.len()).map(|n| format!("p{n}")).collect();
    let arguments = arguments.join(", ");
    let declared: Vec<String> =
        inputs.iter().enumerate().map(|(n, ty)| format!("p{n}: {ty}[{count}]")).collect();
    let parameters: String = inputs
        .iter()
        .enumerate()
        .map(|(n, ty)| format!("  p{n} = {ty}[{count}]{{0}} parameter({n})\n"))
        .collect();
    let attributes = if attributes.is_empty() { String::new() } else { format!(", {attributes}") };
    format!(
        "HloModule m\n\nf ({}) -> {output}[{count}] {{\n{parameters}  ROOT r = {output}[{count}]{{0}} {name}({arguments}){attributes}\n}}\n\n\
         ENTRY main {{\n{parameters}  ROOT fusion = {output}[{count}]{{0}} fusion({arguments}), kind=kLoop, calls=f\n}}\n",
        declared.join(", ")
    )
}

pub struct Built {
    pub ptx: String,
    pub grid: [u32; 3],
    pub block: [u32; 3],
    pub missing: Vec<String>,
}

/// The kernel of the instruction `fusion`.
pub fn build(hlo: &str, device: &str) -> Result<Built, String> {
    let text: Arc<str> = Arc::from(hlo);
    let parsed = Arc::new(parse(&text, PieceState::HEADER));
    let block = ir::lower(text.clone(), parsed.clone());
    let graphs: Vec<(String, Arc<Graph>)> = parsed
        .computations
        .iter()
        .enumerate()
        .filter_map(|(i, computation)| {
            let graph = Graph::build(&[(&block, i as u32)])?;
            Some((computation.name.of(&text).trim_start_matches('%').to_owned(), Arc::new(graph)))
        })
        .collect();
    let callee = |name: &str| graphs.iter().find(|(n, _)| n == name).map(|(_, graph)| graph.clone());
    let (graph, id) =
        graphs.iter().rev().find_map(|(_, g)| Some((g, g.find("fusion")?))).ok_or("no such instruction")?;
    let op = &graph.ops[id as usize];
    let Opcode::Fusion = op.opcode else { return Err("no fusion".into()) };
    let called = op.attributes.computation(AttributeKey::Calls).ok_or("it calls nothing")?;
    let inside = callee(called).ok_or("no such computation")?;
    let fused = Fused::of_fusion(op, &inside, &callee);
    let device = Device::find(device).map_err(|_| "no such device")?;
    let analysis =
        FusionAnalysis::new(fused.map_err(|r| r.to_string())?, device).map_err(|r| r.to_string())?;
    let source =
        codegen::Source { name: "fusion", computation: called, analysis: &analysis, callees: &callee };
    let kernel = codegen::emit(&source).map_err(|r| r.to_string())?;
    let name_of = |op| analysis.fused.name(op).to_owned();
    let text = codegen::ptx(&kernel, device, &name_of).map_err(|r| r.to_string())?;
    let sizes = kernel.launch.sizes().map(|n| n as u32);
    Ok(Built {
        ptx: text.text,
        block: [sizes[0], sizes[1], sizes[2]],
        grid: [sizes[3], sizes[4], sizes[5]],
        missing: text.missing.into_iter().map(|m| format!("{}: {}", m.instruction, m.reason)).collect(),
    })
}

/// Runs a kernel on inputs; the bytes of its result.
pub fn execute(built: &Built, inputs: &[Vec<u8>], output: u64) -> Result<Vec<u8>, String> {
    if !built.missing.is_empty() {
        return Err(built.missing.join("; "));
    }
    let program = Program::new(&built.ptx, None).map_err(|p| format!("{p:?}\n{}", built.ptx))?;
    let mut memory = Memory::new(1 << 30);
    let mut arguments = Vec::new();
    for bytes in inputs {
        let fill = move |offset: u64, page: &mut [u8]| {
            let from = bytes.get(offset as usize..).unwrap_or(&[]);
            let count = from.len().min(page.len());
            page[..count].copy_from_slice(&from[..count]);
        };
        arguments.push(memory.add(bytes.len() as u64, Contents::Known(Box::new(fill))));
    }
    let result = memory.add(output, Contents::Unknown);
    arguments.push(result);
    let arguments = arguments.into_iter().map(Argument::Buffer).collect();
    let launch = Launch::new(built.grid, built.block, arguments);
    let report = run(&program, &launch, &mut memory).map_err(|p| format!("{p:?}\n{}", built.ptx))?;
    if let Some(finding) = report.findings.first() {
        return Err(format!("{finding:?}\n{}", built.ptx));
    }
    let mut bytes = vec![0; output as usize];
    memory.read(result, 0, &mut bytes).map_err(|at| format!("nobody wrote byte {at}\n{}", built.ptx))?;
    Ok(bytes)
}

/// An op on arrays of bytes.
pub fn apply(
    op: &str,
    types: &[&str],
    output: &str,
    count: usize,
    inputs: &[Vec<u8>],
    bytes: u64,
) -> Vec<u8> {
    let hlo = module(op, types, output, count);
    let built = build(&hlo, "h100").unwrap_or_else(|reason| panic!("{op}: {reason}\n{hlo}"));
    if let Ok(folder) = std::env::var("CODEGEN_OUT") {
        let name = format!("{folder}/op-{}-{}-{output}.ptx", op.replace([' ', '='], "_"), types.join("-"));
        std::fs::write(name, &built.ptx).expect("a folder");
    }
    execute(&built, inputs, bytes).unwrap_or_else(|reason| panic!("{op}: {reason}"))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bits {
    F16,
    Bf16,
    F32,
    F64,
}

impl Bits {
    pub fn name(self) -> &'static str {
        match self {
            Bits::F16 => "f16",
            Bits::Bf16 => "bf16",
            Bits::F32 => "f32",
            Bits::F64 => "f64",
        }
    }

    pub fn bytes(self) -> usize {
        match self {
            Bits::F16 | Bits::Bf16 => 2,
            Bits::F32 => 4,
            Bits::F64 => 8,
        }
    }

    /// Bits of the mantissa, exponent of the smallest normal number, largest number.
    fn format(self) -> (i32, i32, f64) {
        match self {
            Bits::F16 => (10, -14, 65504.0),
            Bits::Bf16 => (7, -126, f64::from(f32::from_bits(0x7f7f_0000))),
            Bits::F32 => (23, -126, f64::from(f32::MAX)),
            Bits::F64 => (52, -1022, f64::MAX),
        }
    }

    pub fn decode(self, bits: u64) -> f64 {
        match self {
            Bits::F64 => f64::from_bits(bits),
            Bits::F32 => f64::from(f32::from_bits(bits as u32)),
            Bits::Bf16 => f64::from(f32::from_bits((bits as u32) << 16)),
            Bits::F16 => {
                let (exponent, mantissa) = ((bits >> 10 & 31) as i32, (bits & 1023) as f64);
                let size = match exponent {
                    0 => mantissa * f64::powi(2.0, -24),
                    31 if mantissa == 0.0 => f64::INFINITY,
                    31 => f64::NAN,
                    _ => (1024.0 + mantissa) * f64::powi(2.0, exponent - 25),
                };
                if bits >> 15 & 1 == 1 { -size } else { size }
            }
        }
    }

    /// The spacing of numbers of the type around a number.
    fn unit(self, value: f64) -> f64 {
        let (mantissa, least, _) = self.format();
        let exponent = ((value.abs().to_bits() >> 52) as i32 - 1023).max(least);
        let power = exponent - mantissa;
        // Below the normal numbers of f64 itself, in two steps.
        f64::powi(2.0, power / 2) * f64::powi(2.0, power - power / 2)
    }

    /// How far a result is from the right answer; infinite where one of them alone is NaN, or infinite beyond rounding.
    pub fn distance(self, result: f64, right: f64) -> f64 {
        if right.is_nan() || result.is_nan() {
            return if right.is_nan() == result.is_nan() { 0.0 } else { f64::INFINITY };
        }
        if right == result {
            return if right == 0.0 && right.is_sign_negative() != result.is_sign_negative() {
                1e9
            } else {
                0.0
            };
        }
        let (_, _, largest) = self.format();
        if right.abs() > largest || result.is_infinite() {
            let edge = self.unit(largest);
            // One may round to infinity where the other does not quite.
            let near = |x: f64| if x.is_infinite() || x.abs() > largest { largest + edge } else { x.abs() };
            let beyond = (near(right) - near(result)).abs() / edge;
            return if right.signum() == result.signum() { beyond } else { f64::INFINITY };
        }
        (result - right).abs() / self.unit(right)
    }
}

/// Special numbers, all numbers of 16 bits, and random ones: any bits, and of moderate size.
pub fn ladder(bits: Bits) -> Vec<u64> {
    let mut values: Vec<u64> = Vec::new();
    if bits.bytes() == 2 {
        return (0..1 << 16).collect();
    }
    let of = |x: f64| if bits == Bits::F64 { x.to_bits() } else { u64::from((x as f32).to_bits()) };
    let top = if bits == Bits::F64 { 1u64 << 63 } else { 1 << 31 };
    let special = [
        0.0,
        1.0,
        0.5,
        2.0,
        1.5,
        2.5,
        3.0,
        0.499_999_97,
        0.25,
        1e-3,
        1e-8,
        1e-20,
        1e-38,
        1e-45,
        5e-324,
        1e-310,
        1e-300,
        1e38,
        1e300,
        f64::INFINITY,
        f64::NAN,
        88.7,
        88.8,
        89.0,
        103.9,
        104.0,
        709.7,
        709.8,
        745.2,
        16_777_216.0,
        8_388_608.5,
        1e9,
        1e15,
        1e22,
        1e30,
        std::f64::consts::PI,
        std::f64::consts::FRAC_PI_2,
        std::f64::consts::FRAC_PI_4,
        105_615.0,
        6.0,
        5.9,
        9.0,
        9.1,
        22.0,
        f64::MIN_POSITIVE,
        f64::MAX,
        3.402_823_4e38,
        1.175_494_4e-38,
        0.999_999_94,
        1.000_000_1,
        4_503_599_627_370_497.5,
    ];
    for x in special {
        for neighbour in [-2i64, -1, 0, 1, 2] {
            let near = of(x).wrapping_add_signed(neighbour) & (top - 1);
            values.extend([near, near | top]);
        }
    }
    let mut state = 7u64;
    let mut random = move || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (state ^ state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    };
    for _ in 0..12_000 {
        values.push(random() & (top | (top - 1)));
        let unit = random() as f64 / u64::MAX as f64 * 2.0 - 1.0;
        values.extend([of(unit), of(unit * 10.0), of(unit * 100.0), of(unit * 800.0), of(1.0 + unit * 0.01)]);
        values.push(of(unit.signum() * f64::powf(2.0, unit * 40.0)));
        values.push(of(f64::round(unit * 60.0) * std::f64::consts::FRAC_PI_2));
    }
    while !values.len().is_multiple_of(1024) {
        values.push(of(1.0));
    }
    values
}

/// Two lists of the same length: all pairs of special numbers, and random ones.
pub fn pairs(bits: Bits) -> (Vec<u64>, Vec<u64>) {
    let all = ladder(bits);
    let few: Vec<u64> =
        if bits.bytes() == 2 { all.iter().copied().step_by(331).collect() } else { all[..500].to_vec() };
    let (mut a, mut b) = (Vec::new(), Vec::new());
    for (i, &x) in few.iter().enumerate() {
        for &y in few.iter().skip(i % 3).step_by(3) {
            a.push(x);
            b.push(y);
        }
    }
    let whole: Vec<u64> = (-40..40)
        .map(|n| match bits {
            Bits::F64 => f64::from(n).to_bits(),
            Bits::F32 => u64::from((n as f32).to_bits()),
            Bits::Bf16 => u64::from((n as f32).to_bits() >> 16),
            Bits::F16 => all[(n + 40) as usize * 100],
        })
        .collect();
    for (i, &x) in all.iter().enumerate().take(60_000) {
        a.push(x);
        b.push(if i % 5 == 0 { whole[i / 5 % whole.len()] } else { all[(i * 7919 + 13) % all.len()] });
    }
    while !a.len().is_multiple_of(1024) {
        a.push(a[0]);
        b.push(b[0]);
    }
    (a, b)
}

pub fn bytes_of(values: &[u64], bytes: usize) -> Vec<u8> {
    values.iter().flat_map(|v| v.to_le_bytes()[..bytes].to_vec()).collect()
}

pub fn bits_of(bytes: &[u8], size: usize) -> Vec<u64> {
    let number = |chunk: &[u8]| chunk.iter().rev().fold(0u64, |sum, &byte| sum << 8 | u64::from(byte));
    bytes.chunks(size).map(number).collect()
}

#[derive(Debug)]
pub struct Worst {
    pub ulp: f64,
    pub inputs: Vec<f64>,
    pub result: f64,
    pub right: f64,
}

/// The result that is furthest from the right one.
pub fn worst(op: &str, bits: Bits, inputs: &[Vec<u64>], right: impl Fn(&[f64]) -> f64) -> Worst {
    let count = inputs[0].len();
    let types = vec![bits.name(); inputs.len()];
    let bytes: Vec<Vec<u8>> = inputs.iter().map(|list| bytes_of(list, bits.bytes())).collect();
    let output = apply(op, &types, bits.name(), count, &bytes, (count * bits.bytes()) as u64);
    let mut worst = Worst { ulp: -1.0, inputs: Vec::new(), result: 0.0, right: 0.0 };
    for (n, result) in bits_of(&output, bits.bytes()).into_iter().enumerate() {
        let x: Vec<f64> = inputs.iter().map(|list| bits.decode(list[n])).collect();
        let (result, right) = (bits.decode(result), right(&x));
        let ulp = bits.distance(result, right);
        if ulp > worst.ulp {
            worst = Worst { ulp, inputs: x, result, right };
        }
    }
    worst
}

pub fn asinh(x: f64) -> f64 {
    let a = x.abs();
    let size = if a > 1e9 {
        a.ln() + std::f64::consts::LN_2
    } else {
        (a + a * a / (1.0 + (a * a + 1.0).sqrt())).ln_1p()
    };
    size.copysign(x)
}

pub fn acosh(x: f64) -> f64 {
    let t = x - 1.0;
    match x {
        _ if x < 1.0 => f64::NAN,
        _ if x > 1e9 => x.ln() + std::f64::consts::LN_2,
        _ => (t + (t * (t + 2.0)).sqrt()).ln_1p(),
    }
}

pub fn atanh(x: f64) -> f64 {
    let a = x.abs();
    (0.5 * (2.0 * a / (1.0 - a)).ln_1p()).copysign(x)
}

/// By the series without cancellation; beyond 2.5 by the continued fraction of what is left to 1.
pub fn erf(x: f64) -> f64 {
    let a = x.abs();
    if x.is_nan() || a < 1e-150 {
        return x * std::f64::consts::FRAC_2_SQRT_PI;
    }
    if a > 2.5 {
        let mut fraction = 0.0;
        for n in (1..80).rev() {
            fraction = f64::from(n) / 2.0 / (a + fraction);
        }
        let rest = if a > 27.0 { 0.0 } else { (-a * a).exp() / std::f64::consts::PI.sqrt() / (a + fraction) };
        return (1.0 - rest).copysign(x);
    }
    let (mut term, mut sum, mut n) = (a, a, 0.0);
    while term > sum * 1e-18 {
        n += 1.0;
        term *= 2.0 * a * a / (2.0 * n + 1.0);
        sum += term;
    }
    (std::f64::consts::FRAC_2_SQRT_PI * (-a * a).exp() * sum).copysign(x)
}
