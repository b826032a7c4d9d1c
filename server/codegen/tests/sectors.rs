//! Compares the sectors that XLA's kernels access when they run, array by array, with those counted from our
//! code.
//!
//! A seeded sample; `HLO_ANALYZER_KERNELS=all` runs all kernels that are small enough, `HLO_ANALYZER_KERNELS=<part of a name>` those.

#![allow(clippy::print_stdout, reason = "how many arrays agree")]

mod written;

use std::collections::BTreeMap;
use std::sync::Mutex;

use agreement::xla_kernels::{self, Loaded, Pair};
use agreement::{Effort, Flavour, check};
use gpu::{Buffer, BufferTraffic};
use written::{Emitted, emitted};

#[derive(Default)]
struct Tally {
    kernels: usize,
    all: u64,
    /// Arrays whose sectors per request agree; those whose sectors and requests agree; the first by maps
    /// alone.
    per_request: u64,
    alike: u64,
    by_maps: u64,
    /// Arrays that are called wasteful although XLA's code wastes less than half: by the code, and by maps
    /// alone.
    false_alarms: [Vec<String>; 2],
    /// Per emitter, the arrays that differ.
    different: BTreeMap<String, Vec<String>>,
    unknown: BTreeMap<String, usize>,
}

/// Requests and sectors of an array. `None` if data decides, or if it is not accessed.
fn figures(buffers: &[BufferTraffic], buffer: Buffer) -> Option<(u64, u64)> {
    let own = buffers.iter().find(|own| own.buffer == buffer)?;
    let counts = own.best().filter(|_| own.is_exact())?;
    Some((counts.requests, counts.sectors))
}

fn compare(pair: &Pair, limit: u64, tally: &Mutex<Tally>) {
    let [launch] = pair.launches.as_slice() else { return };
    let threads = launch.grid.iter().chain(&launch.threads).map(|&n| u64::from(n)).product::<u64>();
    if threads > limit {
        return;
    }
    let effort = Effort { seed: 1, flavour: Flavour::Plain, threads: limit, elements: 0, traces: true };
    let Ok(outcome) = check(&pair.hlo, &pair.launches, effort) else { return };
    let (Some(report), false) = (outcome.reports.first(), outcome.is_in_place) else { return };
    let device = pair.name.rsplit('@').next().unwrap_or_default();
    let Ok(Emitted { analysis, kernel }) = emitted(&pair.hlo, &pair.fusion, device) else { return };
    let code = codegen::accesses(&kernel, analysis.device);
    let mut tally = tally.lock().expect("no panic elsewhere");
    if let Err(reason) = &code {
        *tally.unknown.entry(reason.to_string()).or_default() += 1;
    }
    let counted = analysis.coalescing_of(&|_| code.clone());
    let by_maps = analysis.coalescing();
    tally.kernels += 1;
    for buffer in &counted {
        let (number, is_result) = match buffer.buffer {
            Buffer::Operand(number) => (number as usize, false),
            Buffer::Result(number) => match outcome.results.get(number) {
                Some(&number) => (number, true),
                None => continue,
            },
        };
        let of = report.traffic.iter().filter(|t| t.buffer == number && t.is_store == is_result);
        let (mut run, mut asked) = ((0, 0), 0);
        for t in of {
            run = (run.0 + t.requests, run.1 + t.sectors);
            asked += t.threads * t.bytes;
        }
        let is_healthy = run.0 > 0 && run.1 * gpu::SECTOR_BYTES < 2 * asked;
        for (list, buffers) in tally.false_alarms.iter_mut().zip([&counted, &by_maps]) {
            let own = buffers.iter().find(|own| own.buffer == buffer.buffer);
            if is_healthy && own.is_some_and(|own| own.is_coalesced() == Some(false)) {
                list.push(format!("{} {:?}", pair.name, buffer.buffer));
            }
        }
        // A result without traffic is in the buffer of an operand.
        let (Some(own), true) = (figures(&counted, buffer.buffer), run.0 > 0) else { continue };
        tally.all += 1;
        let is_alike = |(requests, sectors): (u64, u64)| sectors * run.0 == run.1 * requests;
        tally.per_request += u64::from(is_alike(own));
        tally.alike += u64::from(own == run);
        tally.by_maps += u64::from(figures(&by_maps, buffer.buffer).is_some_and(is_alike));
        if !is_alike(own) {
            let what = if is_result { "result" } else { "operand" };
            let words = format!("{} {what} {number}: {own:?} counted, {run:?} run", pair.name);
            tally.different.entry(pair.emitter.clone()).or_default().push(words);
        }
    }
}

fn compare_all(loaded: &Loaded, least: u64) {
    let which = std::env::var("HLO_ANALYZER_KERNELS").unwrap_or_default();
    let (limit, every) = if which.is_empty() { (1 << 15, 16) } else { (1 << 18, 1) };
    let chosen: Vec<&Pair> = (loaded.pairs.iter().enumerate())
        .filter(|(i, pair)| match which.as_str() {
            "" => i % every == 5,
            "all" => true,
            part => pair.name.contains(part),
        })
        .map(|(_, pair)| pair)
        .collect();
    let tally = Mutex::new(Tally::default());
    xla_kernels::for_each(&chosen, |pair| compare(pair, limit, &tally));
    let tally = tally.into_inner().expect("no panic elsewhere");
    println!(
        "{} of {} arrays of {} kernels have the sectors per request of XLA's code, {} the same number of both; \
         {} by maps alone",
        tally.per_request, tally.all, tally.kernels, tally.alike, tally.by_maps
    );
    let [by_code, by_maps] = &tally.false_alarms;
    println!(
        "{} false alarms, {} by maps alone: {}",
        by_code.len(),
        by_maps.len(),
        by_code[..by_code.len().min(8)].join("; ")
    );
    for (reason, count) in &tally.unknown {
        println!("{count} not known: {reason}");
    }
    for (emitter, list) in &tally.different {
        println!("{emitter}: {} differ: {}", list.len(), list[..list.len().min(12)].join("\n  "));
    }
    assert!(tally.all > 0 && tally.per_request * 100 >= tally.all * least, "fewer than {least} % agree");
}

mod needs_shared {
    use super::*;

    #[test]
    #[ignore = "needs the shared data beside the checkout: cargo xtask test"]
    fn sectors_of_xla_kernels_are_those_of_the_code() {
        compare_all(&xla_kernels::load(), 85);
    }

    #[test]
    #[ignore = "needs the shared data beside the checkout: cargo xtask test"]
    fn sectors_of_random_fusions_are_those_of_the_code() {
        compare_all(&xla_kernels::load_random(), 80);
    }
}
