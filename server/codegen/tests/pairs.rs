//! Compares the memory accesses of our kernels with those of XLA's compiler for the same fusions. Checks
//! their MLIR, too.

#![allow(clippy::print_stdout, reason = "the figures are what it is for")]

mod well_formed;
mod written;

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde_json::Value;
use well_formed::check_mlir;
use written::{Written, written_of};

/// The number of accesses of each kind to global memory in the text.
fn accesses(ptx: &str, kind: &str) -> BTreeMap<String, usize> {
    let mut found = BTreeMap::new();
    for line in ptx.lines() {
        let line = line.trim_start();
        let line =
            if line.starts_with('@') { line.split_once(' ').map_or("", |(_, rest)| rest) } else { line };
        let name = line.split_whitespace().next().unwrap_or("");
        if let Some(rest) = name.strip_prefix(kind)
            && rest.starts_with(".global")
        {
            let width: Vec<&str> = rest.split('.').filter(|p| !matches!(*p, "" | "global" | "nc")).collect();
            *found.entry(width.join(".").replace(['s', 'u'], "b")).or_default() += 1;
        }
    }
    found
}

#[derive(Default)]
struct Tally {
    cases: usize,
    written: usize,
    complete: usize,
    loads: usize,
    stores: usize,
    reasons: BTreeMap<String, usize>,
    examples: Vec<String>,
}

mod needs_shared {
    use super::*;

    #[test]
    #[ignore = "needs the shared data beside the checkout: cargo xtask test"]
    fn accesses_are_those_of_xla() {
        let mut tallies: BTreeMap<String, Tally> = BTreeMap::new();
        let only = std::env::var("CODEGEN_ONLY").ok();
        let out = std::env::var("CODEGEN_OUT").ok().map(PathBuf::from);
        for set in ["xla_gpu", "xla_gpu_emitters", "xla_gpu_sweep"] {
            let path = test_files::needs::shared(&format!("conformance/data/{set}/pairs.jsonl.gz"));
            let lines = test_files::gzip_lines(&path).expect("it is there");
            for (number, line) in lines.iter().enumerate() {
                let record: Value = serde_json::from_str(line).expect("a record");
                let of = |key: &str| record[key].as_str().unwrap_or_default();
                let emitter = if of("xla_emitter").is_empty() { of("emitter") } else { of("xla_emitter") };
                let (ptx, fusion) = (of("ptx"), of("fusion"));
                if ptx.is_empty() || only.as_deref().is_some_and(|only| !fusion.contains(only)) {
                    continue;
                }
                let tally = tallies
                    .entry(format!("{set} {emitter} {}", if emitter.is_empty() { of("kind") } else { "" }))
                    .or_default();
                tally.cases += 1;
                // Also checks the kernel's MLIR text.
                let as_mlir = |kernel: codegen::Kernel| {
                    check_mlir(&codegen::mlir(&kernel).text, fusion);
                    kernel
                };
                match written_of(of("hlo"), fusion, of("device"), &as_mlir) {
                    Ok(Written { ptx: own, missing, .. }) => {
                        tally.written += 1;
                        if missing.is_empty() {
                            tally.complete += 1;
                        }
                        for reason in &missing {
                            *tally.reasons.entry(reason.clone()).or_default() += 1;
                        }
                        let same = |kind| accesses(&own, kind) == accesses(ptx, kind);
                        let (loads, stores) = (same("ld"), same("st"));
                        tally.loads += usize::from(loads);
                        tally.stores += usize::from(stores);
                        if missing.is_empty() && !(loads && stores) {
                            tally.examples.push(fusion.to_owned());
                        }
                        if let Some(out) = &out {
                            std::fs::write(out.join(format!("{set}-{number}.ptx")), own).expect("a folder");
                        }
                    }
                    Err(reason) => *tally.reasons.entry(reason).or_default() += 1,
                }
            }
        }
        for (name, t) in &tallies {
            println!(
                "{name}: {} kernels, {} written, {} complete, loads {}, stores {}",
                t.cases, t.written, t.complete, t.loads, t.stores
            );
            for (reason, count) in &t.reasons {
                println!("    {count:4} {reason}");
            }
            println!("    {}", t.examples.iter().take(8).cloned().collect::<Vec<_>>().join(" "));
        }
    }
}
