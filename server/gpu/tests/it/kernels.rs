//! The kernels of random fusions.

use expect_test::expect;
use gpu::{
    DEFAULT_THRESHOLD, Device, Emitter, Fused, FusionAnalysis, SplitReason, best_tilings, estimate,
    signature, work_items,
};
use indexing_map::IndexingMap;
use ir::AttributeKey;
use random::Rng;
use test_files::Tally;

use generators::kernels::Random;

const FUSIONS: u64 = 600;
const DEVICES: [&str; 3] = ["h100-sxm", "a100-sxm-40", "mi200"];
/// The largest array whose elements are enumerated.
const ENUMERATED: i64 = 1 << 14;
/// The longest time that is recorded, in nanoseconds.
const LONGEST: f64 = 1e9;

/// The fusion of the entry on a device.
fn analysis(random: &Random, device: &'static Device) -> Result<FusionAnalysis, gpu::Reason> {
    let entry = random.entry();
    let callees = |name: &str| random.callee(name);
    let op = &entry.ops[entry.root as usize];
    let called = op.attributes.computation(AttributeKey::Calls).and_then(callees).expect("its computation");
    FusionAnalysis::new(Fused::of_fusion(op, &called, &callees)?, device)
}

fn each(mut f: impl FnMut(&Random, &str, Result<FusionAnalysis, gpu::Reason>)) {
    for seed in 0..FUSIONS {
        let random = Random::fusion(&mut Rng::new(seed));
        let name = DEVICES[seed as usize % DEVICES.len()];
        f(&random, name, analysis(&random, Device::find(name).expect(name)));
    }
}

fn without_numbers(reason: &str) -> String {
    reason.replace(|c: char| c.is_ascii_digit(), "")
}

/// Picoseconds of a time in microseconds.
fn picoseconds(us: f64) -> usize {
    (us * 1e6).clamp(0.0, LONGEST * 1e3) as usize
}

fn add_map(tally: &mut Tally, map: &IndexingMap) {
    tally.add("maps", 1);
    tally.add("nodes", map.node_count());
    tally.add("constraints", map.constraints().len());
    tally.add("range variables", map.num_ranges());
    let sizes = map.variables().iter().map(|v| v.bounds.size().min(10_000) as usize);
    tally.add("values of variables", sizes.sum());
}

#[test]
fn results_are_written_once() {
    let mut written = 0;
    each(|random, _, analysis| {
        let Ok(analysis) = analysis else { return };
        if matches!(analysis.emitter, Emitter::DynamicUpdateSlice(_)) {
            return;
        }
        for (map, &root) in analysis.thread_to_output().iter().zip(&analysis.fused.outputs) {
            let (Some(map), sizes) = (map, analysis.fused.root_shape(root).dims()) else { continue };
            let elements: i64 = sizes.iter().product();
            if elements > ENUMERATED {
                continue;
            }
            let mut seen = vec![false; elements as usize];
            for (_, index) in map.points(1 << 22).expect("few enough points") {
                assert!(
                    index.iter().zip(sizes).all(|(i, n)| (0..*n).contains(i)),
                    "{index:?} {map}\n{}",
                    random.text
                );
                let linear = index.iter().zip(sizes).fold(0, |linear, (i, n)| linear * n + i);
                let again = std::mem::replace(&mut seen[linear as usize], true);
                assert!(!again, "{index:?} is written twice by {map}\n{}", random.text);
            }
            assert!(
                seen.iter().all(|&seen| seen),
                "not all of {sizes:?} is written by {map}\n{}",
                random.text
            );
            written += 1;
        }
    });
    assert!(written > 100, "{written}");
}

#[test]
fn emitters_and_launches() {
    let mut tally = Tally::default();
    each(|_, device, analysis| {
        let analysis = match analysis {
            Ok(analysis) => analysis,
            Err(reason) => return tally.add(format!("no kernel: {}", without_numbers(&reason)), 1),
        };
        let name = analysis.emitter.name();
        tally.add(format!("{name} on {device}"), 1);
        tally.add(format!("kind {:?}", analysis.kind), 1);
        if let Some(launch) = analysis.stated_launch() {
            tally.add(format!("{name}: blocks"), launch.grid.iter().sum::<i64>() as usize);
            tally.add(format!("{name}: threads of a block"), launch.threads_per_block() as usize);
            tally.add(format!("{name}: shared bytes"), launch.shared_bytes as usize);
        }
    });
    tally.check(expect![[r#"
        concatenate on a100-sxm-40: 8
        concatenate on h100-sxm: 7
        concatenate on mi200: 12
        concatenate: blocks: 23205
        concatenate: shared bytes: 0
        concatenate: threads of a block: 4012
        kind Concatenate: 27
        kind Loop: 373
        kind Reduction: 59
        kind Scatter: 17
        kind Sort: 13
        kind Transpose: 11
        kind Triton: 98
        loop on a100-sxm-40: 128
        loop on h100-sxm: 123
        loop on mi200: 122
        loop: blocks: 181741
        loop: shared bytes: 0
        loop: threads of a block: 40416
        no kernel: the reduction is too long for one block: XLA splits it before it is fused: 2
        reduction-column on a100-sxm-40: 5
        reduction-column on h100-sxm: 4
        reduction-column on mi200: 2
        reduction-column: blocks: 134
        reduction-column: shared bytes: 67456
        reduction-column: threads of a block: 11264
        reduction-multirow on a100-sxm-40: 4
        reduction-multirow on h100-sxm: 7
        reduction-multirow on mi200: 7
        reduction-multirow: blocks: 189
        reduction-multirow: shared bytes: 0
        reduction-multirow: threads of a block: 914
        reduction-row on a100-sxm-40: 9
        reduction-row on h100-sxm: 14
        reduction-row on mi200: 6
        reduction-row: blocks: 98
        reduction-row: shared bytes: 60
        reduction-row: threads of a block: 2944
        reduction-small-column on h100-sxm: 1
        reduction-small-column: blocks: 130
        reduction-small-column: shared bytes: 1056
        reduction-small-column: threads of a block: 128
        scatter on a100-sxm-40: 5
        scatter on h100-sxm: 9
        scatter on mi200: 3
        scatter: blocks: 4573
        scatter: shared bytes: 0
        scatter: threads of a block: 2048
        sort on a100-sxm-40: 4
        sort on h100-sxm: 4
        sort on mi200: 5
        sort: blocks: 2137
        sort: shared bytes: 15936
        sort: threads of a block: 987
        transpose on a100-sxm-40: 3
        transpose on h100-sxm: 4
        transpose on mi200: 4
        transpose: blocks: 4574
        transpose: shared bytes: 56512
        transpose: threads of a block: 1920
        triton on a100-sxm-40: 34
        triton on h100-sxm: 27
        triton on mi200: 37
        triton: blocks: 110862
        triton: shared bytes: 0
        triton: threads of a block: 16576
    "#]]);
}

#[test]
fn thread_maps() {
    let (mut of_results, mut of_operands, mut of_items) =
        (Tally::default(), Tally::default(), Tally::default());
    each(|_, _, analysis| {
        let Ok(analysis) = analysis else { return };
        let outputs = analysis.thread_to_output();
        outputs.iter().flatten().for_each(|map| add_map(&mut of_results, map));
        for (_, maps) in analysis.thread_to_input() {
            maps.iter().for_each(|map| add_map(&mut of_operands, map));
        }
        if let (Some(launch), Some(array)) = (analysis.launch(), analysis.fused.root_shape(0).as_array()) {
            add_map(&mut of_items, &work_items(&launch, 2, array));
        }
    });
    of_results.check(expect![[r#"
        constraints: 153
        maps: 527
        nodes: 1847
        range variables: 76
        values of variables: 211915
    "#]]);
    of_operands.check(expect![[r#"
        constraints: 243
        maps: 1140
        nodes: 3059
        range variables: 280
        values of variables: 404239
    "#]]);
    of_items.check(expect![[r#"
        constraints: 174
        maps: 500
        nodes: 2715
        range variables: 494
        values of variables: 195044
    "#]]);
}

#[test]
fn functions() {
    let mut tally = Tally::default();
    each(|random, _, analysis| {
        let Ok(analysis) = analysis else { return };
        let partition = analysis.partition("kernel", "fused", &|name| random.callee(name));
        for function in &partition.functions {
            let reason = match &function.reason {
                SplitReason::SeveralFunctions(users) => format!("used by {}", users.len()),
                SplitReason::SeveralMaps { .. } => "needed at several indices".to_owned(),
                other => without_numbers(&format!("{other:?}")),
            };
            tally.add(reason, 1);
            tally.add("ops", function.ops.len());
            tally.add("without computing", usize::from(function.has_no_compute));
            tally.add("entries", usize::from(function.is_entry));
            tally.add("bytes of signatures", signature(&analysis.fused.graph, function).len());
        }
    });
    tally.check(expect![[r#"
        Hero: 42
        NoUser: 598
        ReadByHero: 162
        Result: 182
        bytes of signatures: 178849
        entries: 187
        ops: 5360
        without computing: 86
    "#]]);
}

#[test]
fn traffic_and_remedies() {
    let mut tally = Tally::default();
    let no_code = |_: &FusionAnalysis| Err("none".into());
    each(|_, _, analysis| {
        let Ok(analysis) = analysis else { return };
        for buffer in analysis.coalescing() {
            tally.add("buffers", 1);
            if let Some(unknown) = &buffer.unknown {
                tally.add(format!("unknown: {}", without_numbers(unknown)), 1);
            }
            if let Some(is_coalesced) = buffer.xla_coalesced {
                tally.add(format!("coalesced for XLA: {is_coalesced}"), 1);
            }
            if let Some(pattern) = buffer.pattern() {
                tally.add(without_numbers(&format!("pattern {pattern:?}")), 1);
            }
            tally.add("exact", usize::from(buffer.is_exact()));
            tally.add("sampled", usize::from(buffer.is_sampled()));
            for (name, counts) in
                [("best", buffer.best()), ("worst", buffer.worst()), ("judged", buffer.judged())]
            {
                let Some(counts) = counts else { continue };
                tally.add(format!("{name}: requests"), counts.requests as usize);
                tally.add(format!("{name}: sectors"), counts.sectors as usize);
                tally.add(format!("{name}: lines"), counts.lines as usize);
                tally.add(format!("{name}: ideal sectors"), counts.ideal_sectors as usize);
                tally.add(format!("{name}: bytes used"), counts.bytes_used as usize);
            }
            let Some(cause) = analysis.cause_of(&buffer, DEFAULT_THRESHOLD) else { continue };
            tally.add(format!("cause {}", without_numbers(&format!("{cause:?}"))), 1);
            if buffer.judged().is_none_or(|counts| counts.excess() < DEFAULT_THRESHOLD) {
                continue;
            }
            let remedy = analysis.remedy(buffer.buffer, cause, DEFAULT_THRESHOLD, &no_code);
            tally.add(
                without_numbers(&format!("remedy {:?}", remedy.as_ref().map(|remedy| &remedy.change))),
                1,
            );
            tally.add("sectors after remedies", remedy.map_or(0, |remedy| remedy.counts.sectors as usize));
        }
    });
    tally.check(expect![[r#"
        best: bytes used: 870056167
        best: ideal sectors: 30631893
        best: lines: 16946727
        best: requests: 7033862
        best: sectors: 43843899
        buffers: 2280
        cause Layout(): 583
        cause Op(): 1264
        cause Tiles(): 396
        coalesced for XLA: false: 233
        coalesced for XLA: true: 1336
        exact: 1599
        judged: bytes used: 870139237
        judged: ideal sectors: 30634013
        judged: lines: 16952859
        judged: requests: 7033862
        judged: sectors: 43851186
        pattern Broadcast: 39
        pattern Contiguous: 1126
        pattern Gathered: 43
        pattern Irregular: 25
        pattern Runs { lanes: , step:  }: 40
        pattern Strided(): 75
        pattern Uniform: 339
        remedy None: 85
        remedy Some(Layout([, , ])): 19
        remedy Some(Layout([, ])): 16
        sampled: 43
        sectors after remedies: 1363039
        unknown: Triton writes this kernel: its code is not known: 396
        unknown: what a sort moves depends on its data: 37
        worst: bytes used: 870238805
        worst: ideal sectors: 30637425
        worst: lines: 16957948
        worst: requests: 7037275
        worst: sectors: 43860273
    "#]]);
}

#[test]
fn times() {
    let (mut tally, mut tilings) = (Tally::default(), Tally::default());
    each(|random, device, analysis| {
        let Ok(analysis) = analysis else { return };
        let callees = |name: &str| random.callee(name);
        let of = estimate(&analysis, &callees);
        tally.add(format!("bound by {:?}", of.bound), 1);
        tally.add(format!("roofline on {device}: bytes read"), of.roofline.bytes_read as usize);
        tally.add("roofline: bytes written", of.roofline.bytes_written as usize);
        tally.add("roofline: flops", of.roofline.flops as usize);
        tally.add("roofline: memory ps", picoseconds(of.roofline.memory_us));
        tally.add("roofline: compute ps", picoseconds(of.roofline.compute_us));
        tally.add("with sectors ps", picoseconds(of.with_sectors_us(&analysis, &analysis.coalescing())));
        if let Some(why) = of.not_modelled {
            tally.add(format!("not modelled: {why}"), 1);
        }
        if let Some(time) = &of.xla {
            tally.add(format!("XLA on {device}: flops"), time.flops as usize);
            tally.add("XLA: bytes read", time.bytes_read as usize);
            tally.add("XLA: bytes written", time.bytes_written as usize);
            tally.add("XLA: compute ps", picoseconds(time.compute_us));
            tally.add("XLA: read ps", picoseconds(time.read_us));
            tally.add("XLA: write ps", picoseconds(time.write_us));
            tally.add("XLA: ps", picoseconds(time.exec_us));
        }
        if analysis.fused.root_shape(0).dims().iter().product::<i64>() > ENUMERATED {
            return;
        }
        match best_tilings(&analysis, &callees, 1) {
            Ok(best) => {
                tilings.add("tilings", best.len());
                tilings.add("tile sizes", best.iter().flat_map(|best| &best.tile).sum::<i64>() as usize);
                tilings.add("warps", best.iter().map(|best| best.warps).sum::<i64>() as usize);
                tilings.add("ps", best.iter().map(|best| picoseconds(best.time.exec_us)).sum());
            }
            Err(why) => tilings.add(format!("none: {why}"), 1),
        }
    });
    tally.check(expect![[r#"
        XLA on a100-sxm-40: flops: 2451402313
        XLA on h100-sxm: flops: 5173128278
        XLA on mi200: flops: 6827647513
        XLA: bytes read: 713841230
        XLA: bytes written: 353072134
        XLA: compute ps: 13252331499
        XLA: ps: 13800850247
        XLA: read ps: 497686714
        XLA: write ps: 290594249
        bound by Compute: 45
        bound by Launch: 486
        bound by Memory: 67
        not modelled: a Triton fusion with several results: 13
        not modelled: a dot without a tile size: 4
        not modelled: a tile that does not fit the registers: 2
        not modelled: an op whose operand is no tile: 12
        roofline on a100-sxm-40: bytes read: 76314910
        roofline on h100-sxm: bytes read: 182950689
        roofline on mi200: bytes read: 140611896
        roofline: bytes written: 371740416
        roofline: compute ps: 14534482
        roofline: flops: 492841532
        roofline: memory ps: 386266557
        with sectors ps: 14202280070
    "#]]);
    tilings.check(expect![[r#"
        none: a Triton fusion with several results: 55
        none: an op whose operand is no tile: 56
        none: no tiling fits: 2
        ps: 216249641
        tile sizes: 7254
        tilings: 369
        warps: 512
    "#]]);
}
