//! What is derived from maps: how much of an operand they read, the tiles that they read, the names of their variables, epilogues and
//! physical maps of fixed random instructions and fusions. Counts of reads are compared with the evaluation; the rest is recorded.

use std::collections::BTreeSet;

use dependences::{TracedValue, trace_graph};
use expect_test::expect;
use generators::hlo;
use generators::kernels::Random;
use indexing::{
    Count, OpIndexing, OperandIndexing, Rules, SymbolicTile, epilogue, fusion, is_round_trip, no_callees,
    output_to_input_by, physical, physical_input_to_output, utilisation, variable_names,
};
use indexing_map::PrintStyle;
use ir::{AttributeKey, Graph, Shape};
use random::Rng;
use test_files::Tally;

use crate::power::measure;

const CHAINS: u64 = 400;
const FUSIONS: u64 = 300;
const INSTRUCTIONS: u64 = 2000;

fn parameter_shape(graph: &Graph, number: usize) -> Option<&Shape> {
    Some(&graph.ops[graph.parameter(number as u32)? as usize].shape)
}

#[test]
fn reads_are_as_many_as_the_evaluation_has() {
    let mut exact = 0;
    for seed in 0..CHAINS {
        let generated = hlo::random_graph(&mut Rng::new(seed));
        let values = generated.on(0, |setting| trace_graph(&generated.graph, setting)).remove(0);
        let Ok(TracedValue { leaves, .. }) = &values[generated.root() as usize] else { continue };
        let mut answer = fusion(&generated.graph, 0, generated.values.len(), Rules::Exact, &no_callees);
        answer.simplify_by(Rules::Exact);
        for (number, accesses) in answer.operands.iter().enumerate() {
            let Some(shape) = parameter_shape(&generated.graph, number) else { continue };
            let Some(used) = utilisation(accesses, shape) else { continue };
            let reads = leaves[0].elements.iter().flatten().filter(|read| read.operand as usize == number);
            let read = reads.map(|read| read.position).collect::<BTreeSet<_>>().len() as u64;
            let maps = || accesses.iter().map(|access| access.map.to_string()).collect::<Vec<_>>().join("\n");
            let words = || format!("{number}: {read}, {used:?}\n{}\n{}", maps(), generated.text);
            assert!(read <= used.read.upper && used.read.upper <= used.elements, "{}", words());
            // Of runtime variables, any value counts.
            if accesses.iter().all(|access| access.runtime_variables.is_empty()) {
                assert!(used.read.lower <= read, "{}", words());
                exact += u64::from(used.is_exact);
            }
            let (least, most) = used.reads_per_element;
            assert!(least <= most && (least > 0.0) == (used.reads.upper > 0), "{}", words());
        }
    }
    assert!(exact > CHAINS, "{exact}");
}

fn measure_reads(tally: &mut Tally, accesses: &[OperandIndexing], shape: &Shape) {
    let Some(used) = utilisation(accesses, shape) else { return tally.add("no array", 1) };
    let mut add = |name: &str, Count { lower, upper }: Count| {
        tally.add(format!("{name}, at least"), lower as usize);
        tally.add(format!("{name}, at most"), upper.min(1 << 40) as usize);
    };
    add("read", used.read);
    add("reads", used.reads);
    used.bytes_read.into_iter().for_each(|bytes| add("bytes read", bytes));
    tally.add("exact", usize::from(used.is_exact));
    let (least, most) = used.reads_per_element;
    tally.add("thousandths of reads per element, at least", (least * 1e3) as usize);
    tally.add("thousandths of reads per element, at most", (most * 1e3).min(1e9) as usize);
}

fn measure_tile(tally: &mut Tally, access: &OperandIndexing) {
    let Some(tile) = SymbolicTile::from_map(&access.map) else { return tally.add("no tile", 1) };
    tally.add("tiles", 1);
    for text in [PrintStyle::Floordiv, PrintStyle::Symbolic]
        .map(|style| tile.offset_text(style) + &tile.size_text(style))
    {
        tally.add("bytes of offsets and sizes", text.len());
    }
    tally.add("runtime bounds", tile.runtime_bounds().count());
    for size in [1, 2, 3, 8] {
        let Some(values) = tile.at(&vec![size; access.map.num_dims()]) else { continue };
        tally.add("tiles with values", 1);
        tally.add("debug of values", format!("{values:?}").len());
        let (mut sizes, mut strides) = (Vec::new(), Vec::new());
        if tile.extents_at(&vec![size; access.map.num_dims()], &mut sizes, &mut strides) {
            tally.add("sizes", sizes.iter().sum::<i64>().unsigned_abs() as usize);
            tally.add("strides", strides.iter().sum::<i64>().unsigned_abs() as usize);
        }
    }
}

#[test]
fn reads_and_tiles_of_large_fusions() {
    let (mut maps, mut reads, mut tiles) = (Tally::default(), Tally::default(), Tally::default());
    for seed in 0..FUSIONS {
        let random = Random::fusion(&mut Rng::new(seed));
        let entry = random.entry();
        let op = &entry.ops[entry.root as usize];
        let graph = op.attributes.computation(AttributeKey::Calls).and_then(|name| random.callee(name));
        let graph = graph.expect("its computation");
        let count = op.operand_shapes.len();
        let mut answer = fusion(&graph, 0, count, Rules::Exact, &no_callees);
        answer.simplify_by(Rules::Exact);
        for (accesses, shape) in answer.operands.iter().zip(&op.operand_shapes) {
            measure_reads(&mut reads, accesses, shape);
            accesses.iter().for_each(|access| measure_tile(&mut tiles, access));
        }
        measure(&mut maps, fusion(&graph, 0, count, Rules::Xla, &no_callees), Rules::Xla);
    }
    maps.check(expect![[r#"
        accesses: 740
        constraints: 131
        empty: 0
        nodes: 567
        notes: 195
        range variables: 121
        runtime variables: 184
        undefined: 103
        upper bounds: 92
        values of variables: 266779
    "#]]);
    reads.check(expect![[r#"
        bytes read, at least: 105964711
        bytes read, at most: 459943542
        exact: 556
        read, at least: 27615033
        read, at most: 91677435
        reads, at least: 2429546288
        reads, at most: 2885677181
        thousandths of reads per element, at least: 11762708344
        thousandths of reads per element, at most: 23780911000
    "#]]);
    tiles.check(expect![[r#"
        bytes of offsets and sizes: 46727
        debug of values: 265506
        no tile: 98
        runtime bounds: 56
        sizes: 132815
        strides: 3587
        tiles: 642
        tiles with values: 2568
    "#]]);
}

#[test]
fn names_and_physical_maps_of_instructions() {
    let opcodes = hlo::opcodes();
    let (mut names, mut forth, mut back) = (Tally::default(), Tally::default(), Tally::default());
    for seed in 0..INSTRUCTIONS {
        let opcode = opcodes[seed as usize % opcodes.len()];
        let generated = hlo::random_op(opcode, &mut Rng::new(seed)).expect("an instruction");
        let op = generated.op();
        let answer = output_to_input_by(op, 0, Rules::Exact);
        let all = answer.operands.iter().flatten().flat_map(|access| variable_names(op, access));
        all.for_each(|name| names.add(name, 1));
        measure(&mut forth, physical(op, 0, &answer), Rules::Exact);
        for operand in 0..op.operand_shapes.len() {
            let answer = indexing::input_to_output_by(op, operand, Rules::Exact);
            measure(&mut back, physical_input_to_output(op, operand, &answer), Rules::Exact);
        }
    }
    names.check(expect![[r#"
        : 6651
        batch: 72
        batch0: 32
        batch1: 32
        in_feature: 8
        k: 74
        k0: 12
        k1: 12
        m: 32
        m0: 24
        m1: 24
        n: 26
        n0: 24
        n1: 24
        offset: 9
        offset0: 10
        offset1: 10
        offset2: 2
        out_feature: 26
        reduced: 6
        reduced0: 6
        reduced1: 6
        replica_id: 67
        spatial: 6
        spatial0: 8
        spatial1: 8
        window: 5
        window0: 5
        window1: 6
        window2: 2
    "#]]);
    forth.check(expect![[r#"
        accesses: 3117
        constraints: 210
        empty: 253
        nodes: 812
        notes: 476
        range variables: 595
        runtime variables: 90
        undefined: 101
        upper bounds: 191
        values of variables: 17875
    "#]]);
    back.check(expect![[r#"
        accesses: 3804
        constraints: 250
        empty: 485
        nodes: 912
        notes: 730
        range variables: 1058
        runtime variables: 82
        undefined: 101
        upper bounds: 159
        values of variables: 19434
    "#]]);
}

#[test]
fn epilogues_and_round_trips_in_chains() {
    let (mut epilogues, mut pairs) = (Tally::default(), Tally::default());
    for seed in 0..CHAINS {
        let generated = hlo::random_graph(&mut Rng::new(seed));
        let graph = &generated.graph;
        for (id, operands) in graph.operands.iter().enumerate() {
            for rules in [Rules::Exact, Rules::Xla] {
                let access = epilogue(graph, id as u32, graph.root, rules, &no_callees);
                measure(&mut epilogues, OpIndexing { operands: vec![vec![access]] }, rules);
            }
            for &operand in operands {
                let is_one = is_round_trip(&graph.ops[id], &graph.ops[operand as usize]);
                pairs.add(if is_one { "round trips" } else { "others" }, 1);
            }
        }
    }
    epilogues.check(expect![[r#"
        accesses: 6818
        constraints: 478
        empty: 1284
        nodes: 4450
        notes: 1752
        range variables: 1477
        runtime variables: 474
        undefined: 1646
        upper bounds: 0
        values of variables: 23995
    "#]]);
    pairs.check(expect![[r#"
        others: 2880
        round trips: 299
    "#]]);
}
