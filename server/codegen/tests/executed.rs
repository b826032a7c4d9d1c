//! Runs our kernels on the processor and compares them with the interpreter of the op graph, for the fusions
//! of the corpus and for random ones.
//!
//! A seeded sample; `HLO_ANALYZER_KERNELS=all` runs all of them, `HLO_ANALYZER_KERNELS=<part of a name>` those.

#![allow(clippy::print_stdout, reason = "how many kernels agree")]

mod written;

use std::collections::BTreeMap;
use std::sync::Mutex;

use agreement::xla_kernels::{self, Loaded, Pair};
use agreement::{Effort, Flavour, Kernel, Outcome};
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

/// Whether a lane reads the value of an inactive lane.
fn reads_inactive_lanes(outcome: &Outcome) -> bool {
    outcome.reports.iter().flat_map(|report| &report.findings).any(|f| f.code == "inactive-shuffle")
}

/// The faults of a run, each with its line. The last warp of a block may have fewer lanes than its shuffles:
/// that is not a fault if XLA's kernels, `theirs`, do the same.
fn faults(hlo: &str, own: &[Kernel], outcome: &Outcome, theirs: &[Kernel], effort: Effort) -> Vec<String> {
    // Several results share a word: it is read to be exchanged, and other threads may have written it.
    let exchanges = own[0].ptx.contains("global.cas.b32");
    let as_theirs = reads_inactive_lanes(outcome)
        && agreement::check(hlo, theirs, Effort { elements: 0, ..effort })
            .is_ok_and(|outcome| reads_inactive_lanes(&outcome));
    let is_fault = |code: &str| match code {
        "inactive-shuffle" => !as_theirs,
        "uninitialised-global" => !exchanges,
        _ => true,
    };
    let findings = outcome.reports.iter().flat_map(|report| &report.findings);
    let faults = findings.filter(|finding| is_fault(finding.code));
    faults.map(|finding| format!("line {}: {}", finding.place.line, finding.words)).collect()
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
        match agreement::check(&own.hlo, &own.launches, effort) {
            Ok(outcome) => {
                add(&|t| t.compared += outcome.compared);
                for fault in faults(&pair.hlo, &own.launches, &outcome, &pair.launches, effort) {
                    add(&|t| t.findings.push(format!("{} {fault}", pair.name)));
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

/// Runs those kernels that the environment names.
fn all_agree(loaded: &Loaded) {
    let which = std::env::var("HLO_ANALYZER_KERNELS").unwrap_or_default();
    let (threads, elements) = if which.is_empty() { (1 << 13, 1 << 9) } else { (1 << 14, 1 << 11) };
    let wanted = loaded.chosen(&which, 8);
    let effort = |flavour| Effort { seed: 1, flavour, threads, elements, traces: false };
    let efforts = [effort(Flavour::Plain), effort(Flavour::Special)];
    let tally = Mutex::new(Tally::default());
    xla_kernels::for_each(&wanted, |pair| check(pair, &efforts, &tally));
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

/// 54 threads: the last lane of the second warp reads a lane that the block does not have.
#[test]
fn inactive_lanes_are_a_fault_where_xla_reads_none() {
    let hlo = "HloModule m

add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT sum = f32[] add(a, b)
}

fused {
  p = f32[27,2] parameter(0)
  zero = f32[] constant(0)
  ROOT sums = f32[27] reduce(p, zero), dimensions={1}, to_apply=add
}

ENTRY e {
  p = f32[27,2] parameter(0)
  ROOT f = f32[27] fusion(p), kind=kInput, calls=fused
}
";
    let Written { ptx, grid, block, .. } = written(hlo, "f", "h100-sxm").expect("a kernel");
    assert_eq!(block, [54, 1, 1]);
    let own = [Kernel { ptx, grid, threads: block }];
    let effort =
        Effort { seed: 1, flavour: Flavour::Plain, threads: 1 << 13, elements: 1 << 9, traces: false };
    let outcome = agreement::check(hlo, &own, effort).expect("a run");
    assert_eq!(outcome.wrong, Vec::<String>::new());
    let faults = |theirs: &[Kernel]| faults(hlo, &own, &outcome, theirs, effort);
    assert_eq!(faults(&own), Vec::<String>::new());
    let (head, _) = own[0].ptx.split_once("\n{\n").expect("a body");
    let without = [Kernel { ptx: format!("{head}\n{{\n\tret;\n}}\n"), ..own[0].clone() }];
    let found = faults(&without);
    assert!(!found.is_empty() && found.iter().all(|fault| fault.contains("lane 22")), "{found:?}");
}

mod needs_shared {
    use super::*;

    #[test]
    #[ignore = "needs the shared data beside the checkout: cargo xtask test"]
    fn our_kernels_answer_what_the_interpreter_does() {
        all_agree(&xla_kernels::load());
    }

    #[test]
    #[ignore = "needs the shared data beside the checkout: cargo xtask test"]
    fn our_kernels_of_random_fusions_do_too() {
        all_agree(&xla_kernels::load_random());
    }
}
