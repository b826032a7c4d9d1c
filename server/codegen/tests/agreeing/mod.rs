//! Runs kernels of fusions given as text and compares them with the interpreter.

use agreement::{Effort, Flavour, Kernel, check};

use crate::written::{Written, written};

const ADD: &str = "add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT sum = f32[] add(a, b)
}";

const DEVICES: [&str; 3] = ["h100-sxm", "a100-sxm-80", "b200"];

/// The module with the fusion of these instructions, with `params` as its parameters, in order.
fn module(called: &str, params: &[&str], instructions: &str, result: &str) -> String {
    let list = |f: &dyn Fn(usize, &str) -> String| {
        params.iter().enumerate().map(|(n, shape)| f(n, shape)).collect::<Vec<_>>()
    };
    let declared = list(&|n, shape| format!("  p{n} = {shape} parameter({n})\n")).concat();
    let names = list(&|n, _| format!("p{n}")).join(", ");
    format!(
        "\
HloModule m

{called}

fused {{
{declared}{instructions}
}}

ENTRY e {{
{declared}  ROOT f = {result} fusion({names}), kind=kLoop, calls=fused
}}
"
    )
}

/// For instructions that call only a sum of two `f32`.
#[allow(dead_code, reason = "not every test has such")]
#[track_caller]
pub fn agrees(params: &[&str], instructions: &str, result: &str) {
    agrees_calling(ADD, params, instructions, result);
}

/// Runs on every device; returns the kernels of the last one.
#[track_caller]
pub fn agrees_calling(called: &str, params: &[&str], instructions: &str, result: &str) -> Vec<String> {
    let hlo = module(called, params, instructions, result);
    let mut texts = Vec::new();
    for device in DEVICES {
        let Written { ptx, missing, grid, block, then } = written(&hlo, "f", device).expect("a kernel");
        assert_eq!(missing, Vec::<String>::new(), "{ptx}");
        let mut kernels = vec![Kernel { ptx: ptx.clone(), grid, threads: block }];
        kernels.extend(then.into_iter().map(|w| Kernel { ptx: w.ptx, grid: w.grid, threads: w.block }));
        for (seed, flavour) in [(1, Flavour::Plain), (2, Flavour::Special)] {
            let effort = Effort { seed, flavour, threads: 1 << 16, elements: 1 << 14, traces: false };
            let outcome = check(&hlo, &kernels, effort).expect(&ptx);
            assert!(outcome.compared > 0, "nothing was compared");
            assert_eq!(outcome.wrong.first(), None, "{} of {}\n{ptx}", outcome.wrong.len(), outcome.compared);
            // If several elements share a word, an element is exchanged together with its neighbours, which
            // other threads may write.
            let exchanges = ptx.contains(".cas.b32");
            let is_found = |code: &str| !(exchanges && code.starts_with("uninitialised"));
            let all = outcome.reports.iter().flat_map(|report| &report.findings);
            let findings: Vec<_> = all.filter(|finding| is_found(finding.code)).collect();
            assert!(findings.is_empty(), "{}\n{ptx}", findings[0].words);
        }
        texts.push(ptx);
    }
    texts
}
