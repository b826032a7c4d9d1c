//! Runs the kernels that XLA's GPU compiler wrote, and compares them with the interpreter.
//!
//! A seeded sample; `HLO_ANALYZER_KERNELS=all` runs all of them (`cargo xtask kernels --all`),
//! `HLO_ANALYZER_KERNELS=<part of a name>` those that match.

#![allow(clippy::print_stdout, reason = "the figures are what a run over all kernels is for")]

use std::collections::BTreeMap;
use std::sync::Mutex;

use agreement::xla_kernels::{self, Pair};
use agreement::{Effort, Flavour, check};

/// One of this many kernels is run.
const SAMPLE: u64 = 16;

#[derive(Default)]
struct Tally {
    agreeing: usize,
    wrong: Vec<String>,
    unsupported: BTreeMap<String, Vec<String>>,
    compared: u64,
    open: u64,
    findings: BTreeMap<&'static str, Vec<String>>,
    thread_steps: u64,
}

fn on_all(pairs: &[&Pair], efforts: &[Effort], verbose: bool) -> Tally {
    let tally = Mutex::new(Tally::default());
    xla_kernels::for_each(pairs, |pair| {
        let started = std::time::Instant::now();
        let mut is_right = true;
        for &effort in efforts {
            let result = check(&pair.hlo, &pair.launches, effort);
            let mut tally = tally.lock().expect("no panic elsewhere");
            match result {
                Ok(outcome) => {
                    tally.compared += outcome.compared;
                    tally.open += outcome.open;
                    for report in &outcome.reports {
                        tally.thread_steps += report.thread_steps;
                        for finding in &report.findings {
                            let words = format!("{} {}: {}", pair.name, finding.place.line, finding.words);
                            tally.findings.entry(finding.code).or_default().push(words);
                        }
                    }
                    if let Some(first) = outcome.wrong.first() {
                        let count = outcome.wrong.len();
                        let of = outcome.compared;
                        let words = format!(
                            "{} [{}] {:?}: {count} of {of}: {first}",
                            pair.name, pair.emitter, effort.flavour
                        );
                        tally.wrong.push(words);
                        is_right = false;
                    }
                }
                Err(reason) => {
                    tally.unsupported.entry(reason.into_owned()).or_default().push(pair.name.clone());
                    is_right = false;
                    break;
                }
            }
        }
        if is_right {
            tally.lock().expect("no panic elsewhere").agreeing += 1;
        }
        if verbose {
            eprintln!("{:6} ms {}", started.elapsed().as_millis(), pair.name);
        }
    });
    tally.into_inner().expect("no panic elsewhere")
}

mod needs_shared {
    use super::*;

    #[test]
    #[ignore = "needs the shared data beside the checkout: cargo xtask test"]
    fn xla_kernels_answer_what_the_interpreter_does() {
        let loaded = xla_kernels::load();
        let which = std::env::var("HLO_ANALYZER_KERNELS").unwrap_or_default();
        let number =
            |name: &str, or: u64| std::env::var(name).ok().and_then(|n| n.parse().ok()).unwrap_or(or);
        let (threads, elements) = match which.as_str() {
            "" => (1 << 13, 1 << 9),
            _ => (number("HLO_ANALYZER_THREADS", 1 << 16), number("HLO_ANALYZER_ELEMENTS", 1 << 12) as usize),
        };
        let pairs = loaded.chosen(&which, SAMPLE);
        let seed = number("HLO_ANALYZER_SEED", 1);
        let effort = |flavour| Effort { seed, flavour, threads, elements, traces: false };
        let efforts = [effort(Flavour::Plain), effort(Flavour::Special)];
        let tally = on_all(&pairs, &efforts, std::env::var("HLO_ANALYZER_VERBOSE").is_ok());
        let unsupported: usize = tally.unsupported.values().map(Vec::len).sum();
        println!(
            "{} of {} kernels agree, {} wrong, {unsupported} not run; {} elements compared, {} open; {} thread-instructions",
            tally.agreeing,
            pairs.len(),
            pairs.len() - tally.agreeing - unsupported,
            tally.compared,
            tally.open,
            tally.thread_steps
        );
        println!(
            "not in these: {} of other emitters, {} that use another's kernel",
            loaded.custom, loaded.reused
        );
        for (reason, names) in &tally.unsupported {
            println!("not run: {} {reason}: {}", names.len(), names[..names.len().min(4)].join(" "));
        }
        for (code, words) in &tally.findings {
            println!("finding {code}: {}: {}", words.len(), words[..words.len().min(3)].join("; "));
        }
        for wrong in &tally.wrong {
            println!("wrong: {wrong}");
        }
        assert!(tally.wrong.is_empty(), "{} answers are wrong", tally.wrong.len());
        assert!(unsupported * 33 <= pairs.len(), "{unsupported} of {} kernels are not run", pairs.len());
        assert!(
            tally.open * 10 <= tally.compared,
            "too much is left open: {} of {}",
            tally.open,
            tally.compared
        );
    }

    #[test]
    #[ignore = "needs the shared data beside the checkout: cargo xtask test"]
    fn xla_kernels_print_what_is_parsed() {
        let loaded = xla_kernels::load();
        for pair in loaded.chosen("", SAMPLE) {
            for launch in &pair.launches {
                let printed = ptx::parse(&launch.ptx).map(|module| module.to_string());
                let printed = printed.unwrap_or_else(|error| panic!("{}: {error}", pair.name));
                let again = ptx::parse(&printed).unwrap_or_else(|error| panic!("{}: {error}", pair.name));
                assert!(again.to_string() == printed, "{}", pair.name);
            }
        }
    }
}
