//! Kernels of fusions.

use agreement::{Effort, Flavour, Kernel, check};
use generators::hlo::{opcodes, random_graph, random_op, without_layouts};
use hlo_analyzer::Session;
use random::Rng;
use serde_json::{Value, json};

use crate::modules::{faults, lowered};

const DEVICES: [&str; 3] = ["h100-sxm", "a100-sxm-80", "b200"];

pub fn run(bytes: &[u8]) -> bool {
    let mut rng = Rng::from_bytes(bytes);
    let device = *rng.pick(&DEVICES);
    let generated = match rng.flag() {
        true => Some(random_graph(&mut rng)),
        false => random_op(*rng.pick(&opcodes()), &mut rng),
    };
    let Some(hlo) = generated.and_then(|generated| as_fusion(&generated.text)) else { return false };
    // Layouts are random, and most instructions must not change them.
    let hlo = if faults(&lowered(&hlo)).is_empty() { hlo } else { without_layouts(&hlo) };
    if !faults(&lowered(&hlo)).is_empty() {
        return false;
    }
    let answer = kernel_of(&hlo, device);
    assert_ne!(answer["error"]["kind"], "internal", "{answer}\n{hlo}");
    let Some(kernel) = whole(&answer["result"]) else { return false };
    for flavour in [Flavour::Plain, Flavour::Special] {
        let effort = Effort { seed: 1, flavour, threads: 1 << 14, elements: 1 << 10, traces: false };
        match check(&hlo, std::slice::from_ref(&kernel), effort) {
            Ok(outcome) => assert_eq!(outcome.wrong.first(), None, "{device}\n{hlo}\n{}", kernel.ptx),
            // The interpreter does not run it; what a run finds is a fault of the kernel.
            Err(why) => {
                assert!(!why.starts_with("run: "), "{why}\n{device}\n{hlo}\n{}", kernel.ptx);
                return false;
            }
        }
    }
    true
}

fn kernel_of(hlo: &str, device: &str) -> Value {
    let params = json!({"text": hlo, "instruction": "f", "emit": "ptx", "device": device});
    let request = json!({"id": 1, "method": "kernel", "params": params});
    Session::default().answer(&request.to_string())
}

/// The kernel, unless an instruction is missing in it.
fn whole(answer: &Value) -> Option<Kernel> {
    let sizes = |key: &str| -> Option<[u32; 3]> {
        let sizes = answer["launch"][key].as_array()?.iter().map(|size| size.as_u64()?.try_into().ok());
        sizes.collect::<Option<Vec<u32>>>()?.try_into().ok()
    };
    let is_whole = answer["missing"].as_array().is_some_and(Vec::is_empty);
    let ptx = answer["text"].as_str().filter(|_| is_whole)?.to_owned();
    Some(Kernel { ptx, grid: sizes("grid")?, threads: sizes("block")? })
}

/// The module whose entry calls the entry of the text as a fusion named `f`.
fn as_fusion(text: &str) -> Option<String> {
    let (head, entry) = text.split_once("ENTRY entry {\n")?;
    let root = entry.lines().find(|line| line.trim_start().starts_with("ROOT "))?;
    let shape = root.split_once(" = ")?.1;
    let shape = &shape[..shape_end(shape)?];
    let mut parameters = Vec::new();
    for line in entry.lines() {
        let Some((left, number)) = line.split_once(" parameter(") else { continue };
        let number: usize = number.split(')').next()?.parse().ok()?;
        parameters.push((number, left.split_once(" = ")?.1));
    }
    parameters.sort_unstable();
    // In a scheduled module layouts are checked.
    let head = head.replacen('\n', ", is_scheduled=true\n", 1);
    let mut out = format!("{head}fused {{\n{entry}\nENTRY entry {{\n");
    for (number, shape) in &parameters {
        out += &format!("  q{number} = {shape} parameter({number})\n");
    }
    let operands: Vec<String> = parameters.iter().map(|(number, _)| format!("q{number}")).collect();
    out += &format!("  ROOT f = {shape} fusion({}), kind=kLoop, calls=fused\n}}\n", operands.join(", "));
    Some(out)
}

/// Where the shape that a text begins with ends: at the first space outside of brackets.
fn shape_end(text: &str) -> Option<usize> {
    let mut depth = 0i64;
    text.char_indices().find_map(|(at, c)| {
        match c {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth -= 1,
            _ => {}
        }
        (c == ' ' && depth == 0).then_some(at)
    })
}
