//! Runs one-op kernels: inputs, launches, distances.
#![allow(dead_code, unused_imports, reason = "each test reads a part of it")]

mod numbers;
mod references;

use std::sync::Arc;

use executor::{Argument, Contents, Launch, Memory, Program, run};
use gpu::{Device, Fused, FusionAnalysis};
use ir::{AttributeKey, Graph, Opcode};
use syntax::hlo::{PieceState, parse};

pub use numbers::{Bits, bits_of, bytes_of, ladder, pairs};
pub use references::{acosh, asinh, atanh, erf};

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
        "\
HloModule m

f ({}) -> {output}[{count}] {{
{parameters}  ROOT r = {output}[{count}]{{0}} {name}({arguments}){attributes}
}}

ENTRY main {{
{parameters}  ROOT fusion = {output}[{count}]{{0}} fusion({arguments}), kind=kLoop, calls=f
}}
",
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

/// Runs a kernel on inputs; returns the bytes of its result.
pub fn execute(built: &Built, inputs: &[Vec<u8>], output: u64) -> Result<Vec<u8>, String> {
    execute_over(built, inputs, output, Contents::Unknown)
}

/// The same with known previous contents of the result's memory.
pub fn execute_over(
    built: &Built,
    inputs: &[Vec<u8>],
    output: u64,
    before: Contents<'static>,
) -> Result<Vec<u8>, String> {
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
    let result = memory.add(output, before);
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

/// Applies an op to arrays of bytes, or returns the reason why it is not run.
pub fn apply(
    op: &str,
    types: &[&str],
    output: &str,
    count: usize,
    inputs: &[Vec<u8>],
    bytes: u64,
) -> Result<Vec<u8>, String> {
    let hlo = module(op, types, output, count);
    for device in ["a100-sxm-80", "b200-sxm"] {
        if let (Ok(folder), Ok(built)) = (std::env::var("CODEGEN_OUT"), build(&hlo, device)) {
            let name = format!(
                "{folder}/op-{}-{}-{output}-{device}.ptx",
                op.replace([' ', '='], "_"),
                types.join("-")
            );
            std::fs::write(name, &built.ptx).map_err(|e| e.to_string())?;
        }
    }
    let built = build(&hlo, "h100-sxm")?;
    if let Ok(folder) = std::env::var("CODEGEN_OUT") {
        let name = format!("{folder}/op-{}-{}-{output}.ptx", op.replace([' ', '='], "_"), types.join("-"));
        std::fs::write(name, &built.ptx).map_err(|e| e.to_string())?;
    }
    execute(&built, inputs, bytes)
}

#[derive(Debug)]
pub struct Worst {
    pub ulp: f64,
    pub inputs: Vec<f64>,
    pub result: f64,
    pub right: f64,
    /// The reason why it did not run.
    pub reason: String,
}

/// The result with the largest error, among those that are not below `least`.
pub fn worst(op: &str, bits: Bits, inputs: &[Vec<u64>], right: impl Fn(&[f64]) -> f64, least: f64) -> Worst {
    let count = inputs[0].len();
    let types = vec![bits.name(); inputs.len()];
    let bytes: Vec<Vec<u8>> = inputs.iter().map(|list| bytes_of(list, bits.bytes())).collect();
    let output = apply(op, &types, bits.name(), count, &bytes, (count * bits.bytes()) as u64);
    let output = match output {
        Ok(output) => output,
        Err(reason) => {
            let reason = reason.chars().take(400).collect();
            return Worst { ulp: f64::INFINITY, inputs: Vec::new(), result: 0.0, right: 0.0, reason };
        }
    };
    let mut worst = Worst { ulp: -1.0, inputs: Vec::new(), result: 0.0, right: 0.0, reason: String::new() };
    for (n, result) in bits_of(&output, bits.bytes()).into_iter().enumerate() {
        let x: Vec<f64> = inputs.iter().map(|list| bits.decode(list[n])).collect();
        let (result, right) = (bits.decode(result), right(&x));
        if right.abs() < least {
            continue;
        }
        let ulp = bits.distance(result, right);
        if ulp > worst.ulp {
            worst = Worst { ulp, inputs: x, result, right, reason: String::new() };
        }
    }
    worst
}
