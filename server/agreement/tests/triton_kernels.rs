//! Runs the kernels that Triton wrote for XLA's fusions, and compares them with the interpreter.
//!
//! A sample; `HLO_ANALYZER_KERNELS=all` runs all of them, `HLO_ANALYZER_KERNELS=<part of a name>` those that match.

#![allow(clippy::print_stdout, reason = "the figures are what a run over all kernels is for")]

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use agreement::{Effort, Flavour, Kernel, check};

macro_rules! pair {
    ($name:literal, $grid:literal, $threads:literal) => {{
        let ptx = include_str!(concat!("../../test-files/triton/", $name, ".ptx"));
        let hlo = include_str!(concat!("../../test-files/triton/", $name, ".hlo"));
        let kernel = Kernel { ptx: ptx.to_owned(), grid: [$grid, 1, 1], threads: [$threads, 1, 1] };
        ($name, hlo, kernel)
    }};
}

/// Modules and the kernels that XLA's compiler wrote for them with Triton.
fn small_pairs() -> [(&'static str, &'static str, Kernel); 3] {
    [
        pair!("gemm_bf16_bf16_small", 16, 32),
        pair!("gemm_f32_f32_small", 16, 32),
        pair!("gemm_bf16_nt", 24, 128),
    ]
}

const EFFORT: Effort =
    Effort { seed: 1, flavour: Flavour::Plain, threads: 1 << 10, elements: 1 << 8, traces: true };

#[test]
fn products_of_matrices_answer_what_the_interpreter_does() {
    for (name, hlo, kernel) in small_pairs() {
        let outcome = check(hlo, std::slice::from_ref(&kernel), EFFORT).expect(name);
        assert!(outcome.compared >= 256 && outcome.open == 0, "{name}: {outcome:?}");
        assert_eq!(outcome.wrong, Vec::<String>::new(), "{name}");
    }
}

/// A change of each kernel's text.
#[test]
fn spoilt_products_are_found_out() {
    let spoilt = [
        ("bf16.bf16.f32", "f16.f16.f32"),
        (".x4.trans.shared", ".x4.shared"),
        ("{%r67, %r69}", "{%r69, %r67}"),
        ("cp.async.cg.shared.global [ %r5 + 0 ]", "cp.async.cg.shared.global [ %r4 + 0 ]"),
    ];
    for (from, to) in spoilt {
        let pairs = small_pairs();
        let (name, hlo, kernel) = pairs.iter().find(|(.., kernel)| kernel.ptx.contains(from)).expect(from);
        let kernel = Kernel { ptx: kernel.ptx.replace(from, to), ..kernel.clone() };
        let outcome = check(hlo, &[kernel], EFFORT).expect(from);
        assert!(outcome.wrong.len() > 20, "{name}: {from}: {} are wrong", outcome.wrong.len());
    }
}

mod needs_shared {
    use super::*;

    /// One of this many kernels is run.
    const SAMPLE: u64 = 8;

    struct Pair {
        id: String,
        hlo: String,
        kernel: Kernel,
    }

    fn pairs() -> Vec<Pair> {
        let which = std::env::var("HLO_ANALYZER_KERNELS").unwrap_or_default();
        let is_chosen = |name: &str| match which.as_str() {
            "" => agreement::xla_kernels::hash(name).is_multiple_of(SAMPLE),
            "all" => true,
            part => name.contains(part),
        };
        let mut pairs = Vec::new();
        for set in ["pairs", "sweep"] {
            let path = test_files::needs::shared(&format!("conformance/triton/dev/{set}.jsonl.gz"));
            for line in test_files::gzip_lines(&path).expect("the file is there") {
                let record: serde_json::Value = serde_json::from_str(&line).expect("a record");
                let text = |key: &str| record[key].as_str().unwrap_or_default().to_owned();
                let sizes = |key: &str| {
                    [0, 1, 2].map(|i| record["launch"][key][i].as_u64().map_or(1, |size| size as u32))
                };
                if !is_chosen(&text("id")) {
                    continue;
                }
                let kernel = Kernel { ptx: text("ptx"), grid: sizes("grid"), threads: sizes("block") };
                pairs.push(Pair { id: text("id"), hlo: text("hlo"), kernel });
            }
        }
        pairs
    }

    /// Kernels that do not compute their fusion, with the reason. They must differ, else the list is out of date.
    ///
    /// The tile of the first is 16 deep. `mma.m16n8k32`, the shallowest of 8 bits, is given the same registers for its upper
    /// and its lower 16 of depth, in both factors, so each product is counted twice.
    ///
    /// Both operands of the second are one array in its module, and the kernel reads its first argument for both.
    const NOT_THEIR_FUSIONS: [&str; 2] =
        ["int8_matmul/gemm_fusion_dot_general.1", "linalg/gemm_fusion_dot.1"];

    #[derive(Default)]
    struct Tally {
        ran: usize,
        traced: usize,
        equal: usize,
        /// Of [`NOT_THEIR_FUSIONS`], how many differ.
        known: usize,
        wrong: Vec<String>,
        not_run: BTreeMap<String, Vec<String>>,
        compared: u64,
    }

    #[test]
    #[ignore = "needs the shared data beside the checkout: cargo xtask test"]
    fn triton_kernels_compute_their_fusions() {
        let (pairs, next, tally) = (pairs(), AtomicUsize::new(0), Mutex::new(Tally::default()));
        let run = || {
            while let Some(pair) = pairs.get(next.fetch_add(1, Ordering::Relaxed)) {
                let result = check(&pair.hlo, std::slice::from_ref(&pair.kernel), EFFORT);
                let mut tally = tally.lock().expect("no panic elsewhere");
                match result {
                    Err(why) => tally.not_run.entry(why.into_owned()).or_default().push(pair.id.clone()),
                    Ok(outcome) => {
                        tally.ran += 1;
                        tally.compared += outcome.compared;
                        let is_traced = outcome.reports.iter().all(|report| !report.traffic.is_empty());
                        tally.traced += usize::from(is_traced);
                        let is_known = NOT_THEIR_FUSIONS.contains(&pair.id.as_str());
                        match outcome.wrong.first() {
                            None if is_known => tally.wrong.push(format!("{}: is right now", pair.id)),
                            None => tally.equal += 1,
                            Some(_) if is_known => tally.known += 1,
                            Some(first) => {
                                let (count, of) = (outcome.wrong.len(), outcome.compared);
                                tally.wrong.push(format!("{}: {count} of {of}: {first}", pair.id));
                            }
                        }
                    }
                }
            }
        };
        std::thread::scope(|scope| {
            for _ in 0..2 {
                let thread = std::thread::Builder::new().stack_size(64 << 20);
                thread.spawn_scoped(scope, run).expect("a thread");
            }
        });
        let tally = tally.into_inner().expect("no panic elsewhere");
        println!(
            "{} of {} kernels run, {} are equal, {} differ for known reasons, {} are wrong; {} traced; {} elements compared",
            tally.ran,
            pairs.len(),
            tally.equal,
            tally.known,
            tally.wrong.len(),
            tally.traced,
            tally.compared
        );
        for (why, ids) in &tally.not_run {
            println!("not run: {} {why}: {}", ids.len(), ids[..ids.len().min(4)].join(" "));
        }
        tally.wrong.iter().for_each(|wrong| println!("wrong: {wrong}"));
        assert!(tally.ran > 0 && tally.traced == tally.ran, "kernels that run are traced");
        assert!(tally.wrong.is_empty(), "{} kernels are wrong", tally.wrong.len());
    }
}
