//! Runs the kernels that Triton wrote for XLA's fusions, and compares them with the interpreter.
//!
//! A sample; `HLO_ANALYZER_KERNELS=all` runs all of them, `HLO_ANALYZER_KERNELS=<part of a name>` those that match.

#![allow(clippy::print_stdout, reason = "the figures are what a run over all kernels is for")]

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use agreement::{Effort, Flavour, Kernel, check};

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

    #[derive(Default)]
    struct Tally {
        ran: usize,
        traced: usize,
        equal: usize,
        /// Of those that multiply in TF32, how many differ.
        wrong_in_tf32: usize,
        wrong: Vec<String>,
        not_run: BTreeMap<String, Vec<String>>,
        compared: u64,
    }

    /// Products in TF32 are not within the error that the interpreter states for 32 bits, so they are counted apart.
    #[test]
    #[ignore = "needs the shared data beside the checkout: cargo xtask test"]
    fn triton_kernels_compute_their_fusions() {
        let (pairs, next, tally) = (pairs(), AtomicUsize::new(0), Mutex::new(Tally::default()));
        let effort =
            Effort { seed: 1, flavour: Flavour::Plain, threads: 1 << 10, elements: 1 << 8, traces: true };
        let run = || {
            while let Some(pair) = pairs.get(next.fetch_add(1, Ordering::Relaxed)) {
                let result = check(&pair.hlo, std::slice::from_ref(&pair.kernel), effort);
                let mut tally = tally.lock().expect("no panic elsewhere");
                match result {
                    Err(why) => tally.not_run.entry(why.into_owned()).or_default().push(pair.id.clone()),
                    Ok(outcome) => {
                        tally.ran += 1;
                        tally.compared += outcome.compared;
                        let is_traced = outcome.reports.iter().all(|report| !report.traffic.is_empty());
                        tally.traced += usize::from(is_traced);
                        match outcome.wrong.first() {
                            None => tally.equal += 1,
                            Some(_) if pair.kernel.ptx.contains(".tf32") => tally.wrong_in_tf32 += 1,
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
            "{} of {} kernels run, {} are equal, {} differ in TF32, {} are wrong; {} traced; {} elements compared",
            tally.ran,
            pairs.len(),
            tally.equal,
            tally.wrong_in_tf32,
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
