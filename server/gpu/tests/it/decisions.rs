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
        consumers: 1810
        fused: 1409
        ineligible: No users to fuse: 104
        ineligible: both the producer and the consumer contain a reduce: 3
        ineligible: do not fuse into the in-place operand of scatter: 18
        ineligible: do not fuse into the output of scatter: 18
        ineligible: fusion into output of a reduce fusion would create a loop fusion: 14
        ineligible: the consumer is not fusible: 233
        ineligible: the producer is not fusible: 32
        ineligible: unrecognized inplace update non-elementwise input pair: 10
        not asked: 1218
        not fused: both the producer and the consumer contain a reduce: 3
        not fused: do not fuse into the in-place operand of scatter: 19
        not fused: do not fuse into the output of scatter: 19
        not fused: fusion into output of a reduce fusion would create a loop fusion: 15
        not fused: the consumer is not fusible: 233
        not fused: the producer is not fusible: 34
        not fused: unrecognized inplace update non-elementwise input pair: 10
        not with several results: different loop shapes: 33
        not with several results: no kernel of a fusion emitter: 3
        not with several results: tiled reductions with different shapes: 3
        not with several results: v is in-place operation: 74
        not with several results: v is not eligible as multi-output fusion root.: 414
        not with several results: v is not loop-fusible: 34
        not with several results: v is physically transposing: 15
        ns fused: 1951365
        ns unfused: 3749381
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
        constant: 314
        convert: 4
        divide: 1
        dot: 10
        dynamic-update-slice: 10
        fusion: 300
        fusions of several results: 43
        gather: 2
        get-tuple-element: 93
        instructions before: 3068
        instructions of fusions: 3081
        log: 1
        parameter: 808
        reshape: 3
        scatter: 29
        slice: 2
        sort: 23
        steps by priority: 1794
        steps to several results: 50
        subtract: 1
        transpose: 7
        tuple: 96
    "#]]);
}
