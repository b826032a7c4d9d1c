//! Decisions about the producers of random computations, and the fusions that they lead to.

use expect_test::expect;
use gpu::{Computation, Device, Estimates, decide, fuse_by_priority, fuse_results};
use ir::OpId;
use random::Rng;
use test_files::Tally;

use generators::kernels::Random;

const COMPUTATIONS: u64 = 200;
const DEVICES: [&str; 2] = ["h100-sxm", "mi200"];

fn words(reason: &str) -> String {
    reason.replace(|c: char| c.is_ascii_digit(), "")
}

/// Whole nanoseconds.
fn nanoseconds(us: Option<f64>) -> usize {
    us.map_or(0, |us| (us * 1e3) as usize)
}

#[test]
fn producers_are_fused_or_not_for_these_reasons() {
    let mut tally = Tally::default();
    for seed in 0..COMPUTATIONS {
        let random = Random::computation(&mut Rng::new(seed));
        let entry = random.entry();
        let device = Device::find(DEVICES[seed as usize % DEVICES.len()]).expect("it is known");
        for id in 0..entry.ops.len() as OpId {
            let Some(decision) = decide(&entry, Some(entry.root), id, device, &|name| random.callee(name))
            else {
                tally.add("not asked", 1);
                continue;
            };
            tally.add("fused", usize::from(decision.is_fused()));
            tally.add("ns unfused", nanoseconds(decision.unfused_us));
            tally.add("ns fused", nanoseconds(decision.fused_us));
            if let Some(reason) = &decision.ineligible {
                tally.add(format!("ineligible: {}", words(reason)), 1);
            }
            for consumer in &decision.consumers {
                tally.add("consumers", 1);
                if let Some(reason) = &consumer.reason {
                    tally.add(format!("not fused: {}", words(reason)), 1);
                }
                if let Some(reason) = &consumer.several_results {
                    tally.add(format!("not with several results: {}", words(reason)), 1);
                }
            }
        }
    }
    tally.check(expect![[r#"
        consumers: 1910
        fused: 1489
        ineligible: No users to fuse: 101
        ineligible: both the producer and the consumer contain a reduce: 3
        ineligible: do not fuse into the in-place operand of scatter: 21
        ineligible: do not fuse into the output of scatter: 19
        ineligible: fusion into output of a reduce fusion would create a loop fusion: 14
        ineligible: the consumer is not fusible: 235
        ineligible: the producer is not fusible: 34
        ineligible: unrecognized inplace update non-elementwise input pair: 5
        not asked: 1213
        not fused: both the producer and the consumer contain a reduce: 3
        not fused: do not fuse into the in-place operand of scatter: 22
        not fused: do not fuse into the output of scatter: 20
        not fused: fusion into output of a reduce fusion would create a loop fusion: 15
        not fused: the consumer is not fusible: 235
        not fused: the producer is not fusible: 38
        not fused: unrecognized inplace update non-elementwise input pair: 5
        not with several results: different loop shapes: 32
        not with several results: no kernel of a fusion emitter: 2
        not with several results: tiled reductions with different shapes: 3
        not with several results: v is in-place operation: 76
        not with several results: v is not eligible as multi-output fusion root.: 453
        not with several results: v is not loop-fusible: 38
        not with several results: v is physically transposing: 17
        ns fused: 2143055
        ns unfused: 4022643
    "#]]);
}

#[test]
fn computations_are_fused_into_these_kernels() {
    let mut tally = Tally::default();
    for seed in 0..COMPUTATIONS {
        let random = Random::computation(&mut Rng::new(seed));
        let device = Device::find(DEVICES[seed as usize % DEVICES.len()]).expect("it is known");
        let callees = |name: &str| random.callee(name);
        let mut computation = Computation::of(&random.entry(), "e");
        let estimates = Estimates::default();
        tally.add("instructions before", computation.ids().count());
        let steps = fuse_by_priority(&mut computation, device, &callees, &estimates);
        tally.add("steps by priority", steps.len());
        let steps = fuse_results(&mut computation, device, &callees, &estimates);
        tally.add("steps to several results", steps.len());
        for id in computation.ids().collect::<Vec<_>>() {
            tally.add(computation.op(id).opcode.name(), 1);
            if let Some(body) = computation.body(id) {
                tally.add("instructions of fusions", body.ids().count());
                tally.add("fusions of several results", usize::from(computation.has_several_results(id)));
            }
        }
    }
    tally.check(expect![[r#"
        add: 1
        concatenate: 2
        constant: 322
        convert: 3
        divide: 1
        dot: 11
        dynamic-update-slice: 2
        fusion: 297
        fusions of several results: 44
        gather: 2
        get-tuple-element: 97
        instructions before: 3141
        instructions of fusions: 3263
        log: 1
        maximum: 1
        parameter: 792
        reshape: 3
        scatter: 32
        slice: 3
        sort: 24
        steps by priority: 1946
        steps to several results: 53
        subtract: 2
        transpose: 6
        tuple: 99
    "#]]);
}
