//! The sectors that XLA's kernels touch, buffer by buffer, against what is computed from maps.

use std::collections::BTreeMap;

use eval::agreement::{Effort, Flavour, Graphs, check};
use gpu::{Device, Fused, FusionAnalysis};
use ir::AttributeKey;

use crate::pairs::{self, Pair};

#[derive(Default)]
struct Tally {
    /// Buffers whose sectors and requests agree, whose sectors do, and all.
    alike: u64,
    sectors: u64,
    all: u64,
    /// Per emitter: buffers that differ.
    different: BTreeMap<String, Vec<String>>,
    unknown: u64,
}

/// What maps say of each buffer: number, is it a result, requests and sectors.
fn computed(pair: &Pair, results: &[usize]) -> Option<Vec<(usize, bool, u64, u64)>> {
    let graphs = Graphs::new(&pair.hlo);
    let entry = graphs.entry()?;
    let fusion = &entry.ops[entry.root as usize];
    let called = graphs.get(fusion.attributes.computation(AttributeKey::Calls)?)?;
    let callees = |name: &str| graphs.get(name);
    let device = Device::find(pair.name.rsplit('@').next()?).ok()?;
    let analysis = FusionAnalysis::new(Fused::of_fusion(fusion, &called, &callees).ok()?, device).ok()?;
    let mut list = Vec::new();
    for buffer in analysis.coalescing() {
        let (Some(best), Some(worst), true) = (buffer.best(), buffer.worst(), buffer.is_exact()) else {
            continue;
        };
        let known = best == worst && !buffer.accesses.is_empty();
        let (number, is_result) = match buffer.buffer {
            gpu::Buffer::Operand(number) => (number as usize, false),
            gpu::Buffer::Result(number) => (*results.get(number)?, true),
        };
        if known {
            list.push((number, is_result, best.requests, best.sectors));
        }
    }
    Some(list)
}

#[test]
fn sectors_of_xla_kernels_are_those_of_the_maps() {
    let Some(loaded) = pairs::load() else { return };
    let which = std::env::var("EVAL_KERNELS").unwrap_or_default();
    let (limit, every) = if which.is_empty() { (1 << 15, 24) } else { (1 << 18, 1) };
    let effort = Effort { seed: 1, flavour: Flavour::Plain, threads: limit, elements: 0, traces: true };
    let mut tally = Tally::default();
    let chosen = loaded.pairs.iter().enumerate().filter(|(i, pair)| match which.as_str() {
        "" => i % every == 5,
        "all" => true,
        part => pair.name.contains(part),
    });
    for (_, pair) in chosen {
        let [launch] = pair.launches.as_slice() else { continue };
        let threads = launch.grid.iter().chain(&launch.threads).map(|&n| u64::from(n)).product::<u64>();
        if threads > limit {
            continue;
        }
        let Ok(outcome) = check(&pair.hlo, &pair.launches, effort) else { continue };
        let (Some(report), false) = (outcome.reports.first(), outcome.is_in_place) else { continue };
        let Some(computed) = computed(pair, &outcome.results) else {
            tally.unknown += 1;
            continue;
        };
        for (buffer, is_result, requests, sectors) in computed {
            let of = report.traffic.iter().filter(|t| t.buffer == buffer && t.is_store == is_result);
            let (own_requests, own_sectors) = of.fold((0, 0), |(r, s), t| (r + t.requests, s + t.sectors));
            // A result without traffic has the buffer of an operand.
            if own_requests == 0 {
                continue;
            }
            tally.all += 1;
            tally.sectors += u64::from(own_sectors == sectors);
            tally.alike += u64::from(own_sectors == sectors && own_requests == requests);
            if own_sectors != sectors {
                let what = if is_result { "result" } else { "operand" };
                let words = format!(
                    "{} {what} {buffer}: {sectors} in {requests} computed, {own_sectors} in {own_requests} run",
                    pair.name
                );
                tally.different.entry(pair.emitter.clone()).or_default().push(words);
            }
        }
    }
    println!(
        "{} of {} buffers have the sectors that maps say, {} in as many requests; {} kernels without maps",
        tally.sectors, tally.all, tally.alike, tally.unknown
    );
    for (emitter, list) in &tally.different {
        println!("{emitter}: {} differ: {}", list.len(), list[..list.len().min(12)].join("\n  "));
    }
    assert!(tally.all > 0 && tally.sectors * 10 >= tally.all * 8, "fewer than eight in ten agree");
}
