//! The kernels of random fusions.

use expect_test::expect;
use gpu::{
    Device, Emitter, Fused, FusionAnalysis, SplitReason, best_tilings, estimate, roofline_of, signature,
    work_items,
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
pub(crate) fn analysis(random: &Random, device: &'static Device) -> Result<FusionAnalysis, gpu::Reason> {
    let entry = random.entry();
    let callees = |name: &str| random.callee(name);
    let op = &entry.ops[entry.root as usize];
    let called = op.attributes.computation(AttributeKey::Calls).and_then(callees).expect("its computation");
    FusionAnalysis::new(Fused::of_fusion(op, &called, &callees)?, device)
}

pub(crate) fn each(mut f: impl FnMut(&Random, &str, Result<FusionAnalysis, gpu::Reason>)) {
    for seed in 0..FUSIONS {
        let random = Random::fusion(&mut Rng::new(seed));
        let name = DEVICES[seed as usize % DEVICES.len()];
        f(&random, name, analysis(&random, Device::find(name).expect(name)));
    }
}

pub(crate) fn without_numbers(reason: &str) -> String {
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
        if let Emitter::Reduction(reduction) = &analysis.emitter {
            tally.add("reductions: columns", reduction.columns() as usize);
            tally.add("reductions: written columns", reduction.written_columns() as usize);
            tally.add("reductions: first distances", reduction.first_distance() as usize);
            tally.add("reductions: exchanges", usize::from(reduction.exchange().is_some()));
        }
        if let Some(launch) = analysis.stated_launch() {
            tally.add(format!("{name}: blocks"), launch.grid.iter().sum::<i64>() as usize);
            tally.add(format!("{name}: threads of a block"), launch.threads_per_block() as usize);
            tally.add(format!("{name}: shared bytes"), launch.shared_bytes as usize);
        }
    });
    tally.check(expect![[r#"
        concatenate on a100-sxm-40: 8
        concatenate on h100-sxm: 9
        concatenate on mi200: 9
        concatenate: blocks: 5153
        concatenate: shared bytes: 0
        concatenate: threads of a block: 3010
        dynamic-update-slice on a100-sxm-40: 1
        dynamic-update-slice on h100-sxm: 4
        dynamic-update-slice on mi200: 2
        dynamic-update-slice: blocks: 1498
        dynamic-update-slice: shared bytes: 0
        dynamic-update-slice: threads of a block: 960
        kind Concatenate: 26
        kind Loop: 387
        kind Reduction: 56
        kind Scatter: 13
        kind Sort: 6
        kind Transpose: 11
        kind Triton: 100
        loop on a100-sxm-40: 136
        loop on h100-sxm: 120
        loop on mi200: 124
        loop: blocks: 137800
        loop: shared bytes: 0
        loop: threads of a block: 40422
        no kernel: the reduction is too long for one block: XLA splits it before it is fused: 1
        reduction-column on a100-sxm-40: 2
        reduction-column on h100-sxm: 2
        reduction-column on mi200: 2
        reduction-column: blocks: 146
        reduction-column: shared bytes: 41344
        reduction-column: threads of a block: 6144
        reduction-multirow on a100-sxm-40: 8
        reduction-multirow on h100-sxm: 8
        reduction-multirow on mi200: 8
        reduction-multirow: blocks: 5356
        reduction-multirow: shared bytes: 0
        reduction-multirow: threads of a block: 3157
        reduction-row on a100-sxm-40: 7
        reduction-row on h100-sxm: 14
        reduction-row on mi200: 4
        reduction-row: blocks: 303
        reduction-row: shared bytes: 102
        reduction-row: threads of a block: 2240
        reduction-small-column on mi200: 1
        reduction-small-column: blocks: 3
        reduction-small-column: shared bytes: 1280
        reduction-small-column: threads of a block: 128
        reductions: columns: 66
        reductions: exchanges: 15
        reductions: first distances: 601
        reductions: written columns: 75
        scatter on a100-sxm-40: 5
        scatter on h100-sxm: 1
        scatter on mi200: 7
        scatter: blocks: 1476
        scatter: shared bytes: 0
        scatter: threads of a block: 2304
        sort on h100-sxm: 5
        sort on mi200: 1
        sort: blocks: 167
        sort: shared bytes: 1984
        sort: threads of a block: 86
        transpose on a100-sxm-40: 5
        transpose on h100-sxm: 1
        transpose on mi200: 5
        transpose: blocks: 5390
        transpose: shared bytes: 60736
        transpose: threads of a block: 2048
        triton on a100-sxm-40: 28
        triton on h100-sxm: 36
        triton on mi200: 36
        triton: blocks: 96770
        triton: shared bytes: 0
        triton: threads of a block: 14784
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
        constraints: 133
        maps: 537
        nodes: 1814
        range variables: 74
        values of variables: 232868
    "#]]);
    of_operands.check(expect![[r#"
        constraints: 205
        maps: 1136
        nodes: 2764
        range variables: 267
        values of variables: 336813
    "#]]);
    of_items.check(expect![[r#"
        constraints: 171
        maps: 499
        nodes: 2745
        range variables: 489
        values of variables: 167318
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
        Hero: 45
        NoUser: 599
        ReadByHero: 153
        Result: 179
        bytes of signatures: 176830
        entries: 172
        needed at several indices: 33
        ops: 4825
        without computing: 144
    "#]]);
}

#[test]
fn rooflines_of_instructions() {
    let mut tally = Tally::default();
    let device = Device::find(DEVICES[0]).expect("it is known");
    for seed in 0..FUSIONS / 4 {
        for op in &Random::computation(&mut Rng::new(seed)).entry().ops {
            let of = roofline_of(op, device);
            tally.add("bytes read", of.bytes_read as usize);
            tally.add("bytes written", of.bytes_written as usize);
            tally.add("flops", of.flops as usize);
            tally.add("ps", picoseconds(of.exec_us()));
        }
    }
    tally.check(expect![[r#"
        bytes read: 704934159
        bytes written: 744214712
        flops: 133421961
        ps: 432281241
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
        XLA on a100-sxm-40: flops: 1312898008
        XLA on h100-sxm: flops: 1952404808
        XLA on mi200: flops: 9146011067
        XLA: bytes read: 836629205
        XLA: bytes written: 265811982
        XLA: compute ps: 1180574247
        XLA: ps: 1703861497
        XLA: read ps: 601309969
        XLA: write ps: 185067249
        bound by Compute: 33
        bound by Launch: 500
        bound by Memory: 66
        not modelled: a Triton fusion with several results: 13
        not modelled: a dot without a tile size: 4
        not modelled: a tile that does not fit the registers: 4
        not modelled: an op whose operand is no tile: 16
        roofline on a100-sxm-40: bytes read: 121686310
        roofline on h100-sxm: bytes read: 183394797
        roofline on mi200: bytes read: 460011583
        roofline: bytes written: 285539504
        roofline: compute ps: 11416680
        roofline: flops: 674391972
        roofline: memory ps: 551062878
        with sectors ps: 2206125715
    "#]]);
    tilings.check(expect![[r#"
        none: a Triton fusion with several results: 60
        none: an op whose operand is no tile: 63
        none: no tiling fits: 2
        ps: 116021676
        tile sizes: 3152
        tilings: 346
        warps: 457
    "#]]);
}
