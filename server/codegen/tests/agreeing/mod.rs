//! Runs kernels of fusions given as text and compares them with the interpreter.

use agreement::{Effort, Flavour, Kernel, check};
use test_files::hlo::{ADD, fusion_module};

use crate::written::{Written, written};

const DEVICES: [&str; 3] = ["h100-sxm", "a100-sxm-80", "b200"];

/// For instructions that call only a sum of two `f32`.
#[allow(dead_code, reason = "not every test has such")]
#[track_caller]
pub fn agrees(params: &[&str], instructions: &str, result: &str) {
    agrees_calling(ADD, params, instructions, result);
}

/// Runs on every device; returns the kernels of the last one.
#[track_caller]
pub fn agrees_calling(called: &str, params: &[&str], instructions: &str, result: &str) -> Vec<String> {
    let hlo = fusion_module(called, params, instructions, result);
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
