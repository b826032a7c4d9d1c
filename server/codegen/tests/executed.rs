//! Runs our kernels on the processor and compares them with the interpreter of the op graph, for the fusions
//! of the corpus.
//!
//! A seeded sample; `EVAL_KERNELS=all` runs all of them, `EVAL_KERNELS=<part of a name>` those.

#![allow(clippy::print_stdout, reason = "how many kernels agree")]

#[path = "../../eval/tests/kernels/pairs.rs"]
#[allow(dead_code, reason = "shared with the test of XLA's kernels")]
mod pairs;
mod written;

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use eval::agreement::{Effort, Flavour, Kernel};
use pairs::Pair;
use written::{Written, written};

#[derive(Default)]
struct Tally {
    agreeing: usize,
    incomplete: usize,
    compared: u64,
    wrong: Vec<String>,
    findings: Vec<String>,
    not_run: BTreeMap<String, Vec<String>>,
}

fn sampled(pair: &Pair) -> bool {
    let hash = pair
        .name
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3));
    (hash >> 20).is_multiple_of(8)
}

/// Our kernel in place of XLA's; `None` if it is not or not completely emitted.
fn ours(pair: &Pair) -> Result<Option<Pair>, String> {
    let (_, rest) = pair.name.rsplit_once('/').ok_or("no name")?;
    let (_, device) = rest.rsplit_once('@').ok_or("no device")?;
    let fusion = pair.fusion.as_str();
    let Written { ptx, missing, grid, block, then } = match written(&pair.hlo, fusion, device) {
        Ok(written) => written,
        Err(reason) if reason.contains("is not written") => return Ok(None),
        Err(reason) => return Err(reason),
    };
    if !missing.is_empty() || then.iter().any(|w| !w.missing.is_empty()) {
        return Ok(None);
    }
    let first = Kernel { ptx, grid, threads: block };
    let then = then.into_iter().map(|w| Kernel { ptx: w.ptx, grid: w.grid, threads: w.block });
    Ok(Some(Pair {
        name: pair.name.clone(),
        fusion: pair.fusion.clone(),
        emitter: pair.emitter.clone(),
        hlo: pair.hlo.clone(),
        launches: std::iter::once(first).chain(then).collect(),
    }))
}

fn check(pair: &Pair, efforts: &[Effort], tally: &Mutex<Tally>) {
    let add = |f: &dyn Fn(&mut Tally)| f(&mut tally.lock().expect("no panic elsewhere"));
    let own = match ours(pair) {
        Ok(Some(own)) => own,
        Ok(None) => return add(&|t| t.incomplete += 1),
        Err(reason) => {
            return add(&|t| t.not_run.entry(reason.clone()).or_default().push(pair.name.clone()));
        }
    };
    for &effort in efforts {
        match eval::agreement::check(&own.hlo, &own.launches, effort) {
            Ok(outcome) => {
                add(&|t| t.compared += outcome.compared);
                // Several results share a word: it is read to be exchanged, and other threads may have
                // written it.
                let exchanges = own.launches[0].ptx.contains("global.cas.b32");
                for finding in outcome.reports.iter().flat_map(|report| &report.findings) {
                    // Blocks of fewer threads than a warp shuffle from beyond their last thread, as XLA's do;
                    // the results are unused.
                    let is_small = own.launches[0].threads.iter().product::<u32>() < 32
                        && finding.code == "inactive-shuffle";
                    if is_small || exchanges && finding.code == "uninitialised-global" {
                        continue;
                    }
                    let words = format!("{} line {}: {}", pair.name, finding.place.line, finding.words);
                    add(&|t| t.findings.push(words.clone()));
                }
                if let Some(first) = outcome.wrong.first() {
                    let (count, of) = (outcome.wrong.len(), outcome.compared);
                    let words = format!(
                        "{} [{}] {:?}: {count} of {of}: {first}",
                        pair.name, pair.emitter, effort.flavour
                    );
                    return add(&|t| t.wrong.push(words.clone()));
                }
            }
            Err(reason) => {
                let reason = reason.into_owned();
                return add(&|t| t.not_run.entry(reason.clone()).or_default().push(pair.name.clone()));
            }
        }
    }
    add(&|t| t.agreeing += 1);
}

#[test]
fn our_kernels_answer_what_the_interpreter_does() {
    let Some(loaded) = pairs::load() else { return };
    let which = std::env::var("EVAL_KERNELS").unwrap_or_default();
    let (threads, elements) = if which.is_empty() { (1 << 13, 1 << 9) } else { (1 << 14, 1 << 11) };
    let wanted: Vec<&Pair> = loaded
        .pairs
        .iter()
        .filter(|pair| match which.as_str() {
            "" => sampled(pair),
            "all" => true,
            part => pair.name.contains(part),
        })
        .collect();
    let effort = |flavour| Effort { seed: 1, flavour, threads, elements, traces: false };
    let efforts = [effort(Flavour::Plain), effort(Flavour::Special)];
    let tally = Mutex::new(Tally::default());
    let next = AtomicUsize::new(0);
    let work = || {
        while let Some(pair) = wanted.get(next.fetch_add(1, Ordering::Relaxed)) {
            check(pair, &efforts, &tally);
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..2 {
            // Nested computations need a large stack.
            let thread = std::thread::Builder::new().stack_size(64 << 20);
            thread.spawn_scoped(scope, work).expect("a thread");
        }
    });
    let tally = tally.into_inner().expect("no panic elsewhere");
    let not_run: usize = tally.not_run.values().map(Vec::len).sum();
    println!(
        "{} of {} kernels agree, {} wrong, {not_run} not run, {} not written in full; {} elements compared",
        tally.agreeing,
        wanted.len(),
        tally.wrong.len(),
        tally.incomplete,
        tally.compared
    );
    for (reason, names) in &tally.not_run {
        println!("not run: {} {reason}: {}", names.len(), names[..names.len().min(4)].join(" "));
    }
    for words in tally.findings.iter().take(20).chain(&tally.wrong) {
        println!("{words}");
    }
    assert!(tally.wrong.is_empty(), "{} kernels are wrong", tally.wrong.len());
    assert!(tally.findings.is_empty(), "{} kernels do what none should", tally.findings.len());
    assert!(not_run * 10 <= wanted.len(), "{not_run} kernels are not run");
}
