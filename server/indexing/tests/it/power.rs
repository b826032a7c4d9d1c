//! How short and how exact the maps of a fixed set of random instructions are. A rule that gives a correct map of more variables, or
//! an upper bound where an exact map was, breaks no comparison with the evaluation; it changes a number here. A change of the
//! generators changes them all: `UPDATE_EXPECT=1` writes the numbers of this code.

use expect_test::expect;
use generators::hlo;
use indexing::{
    OpIndexing, Rules, fusion, fusion_input_to_output, in_graph, input_to_output_by, no_callees,
    output_to_input_by,
};
use ir::{Op, Opcode};
use random::Rng;
use test_files::Tally;

const INSTRUCTIONS: u64 = 3000;
const CHAINS: u64 = 300;

pub(crate) fn measure(tally: &mut Tally, mut answer: OpIndexing, rules: Rules) {
    answer.simplify_by(rules);
    for access in answer.operands.iter().flatten() {
        tally.add("accesses", 1);
        tally.add("undefined", usize::from(access.map.is_undefined()));
        tally.add("upper bounds", usize::from(access.is_upper_bound));
        tally.add("notes", usize::from(access.note.is_some()));
        tally.add("empty", usize::from(access.map.is_known_empty()));
        tally.add("range variables", access.map.num_ranges());
        tally.add("runtime variables", access.map.num_runtime());
        tally.add("constraints", access.map.constraints().len());
        tally.add("nodes", access.map.node_count());
        let sizes = access.map.variables().iter().map(|v| v.bounds.size().min(1000) as usize);
        tally.add("values of variables", sizes.sum());
    }
}

fn measure_op(tally: &mut Tally, op: &Op, rules: Rules, is_forth: bool) {
    match is_forth {
        true => {
            let outputs = op.shape.tuple_elements().map_or(1, <[_]>::len);
            (0..outputs).for_each(|k| measure(tally, output_to_input_by(op, k, rules), rules));
        }
        false => {
            let operands = op.operand_shapes.len();
            (0..operands).for_each(|i| measure(tally, input_to_output_by(op, i, rules), rules));
        }
    }
}

fn tally(rules: Rules, is_forth: bool) -> Tally {
    let opcodes = hlo::opcodes();
    let mut tally = Tally::default();
    for seed in 0..INSTRUCTIONS {
        let opcode = opcodes[seed as usize % opcodes.len()];
        let generated = hlo::random_op(opcode, &mut Rng::new(seed)).expect("an instruction");
        measure_op(&mut tally, generated.op(), rules, is_forth);
    }
    tally
}

#[test]
fn from_outputs_to_operands() {
    tally(Rules::Exact, true).check(expect![[r#"
        accesses: 5745
        constraints: 329
        empty: 713
        nodes: 1308
        notes: 1254
        range variables: 1263
        runtime variables: 260
        undefined: 1
        upper bounds: 341
        values of variables: 31138
    "#]]);
}

#[test]
fn from_operands_to_outputs() {
    tally(Rules::Exact, false).check(expect![[r#"
        accesses: 5745
        constraints: 353
        empty: 713
        nodes: 1341
        notes: 1199
        range variables: 1710
        runtime variables: 232
        undefined: 1
        upper bounds: 341
        values of variables: 30403
    "#]]);
}

#[test]
fn by_the_rules_of_xla() {
    let mut both = tally(Rules::Xla, true);
    both.add_all(tally(Rules::Xla, false));
    both.check(expect![[r#"
        accesses: 11304
        constraints: 59
        empty: 440
        nodes: 729
        notes: 5701
        range variables: 449
        runtime variables: 84
        undefined: 5428
        upper bounds: 91
        values of variables: 31152
    "#]]);
}

#[test]
fn of_unknown_extents() {
    let opcodes = hlo::opcodes();
    let mut tally = Tally::default();
    for seed in 0..INSTRUCTIONS {
        let opcode = opcodes[seed as usize % opcodes.len()];
        let mut rng = Rng::new(seed);
        let generated = hlo::random_op(opcode, &mut rng).expect("an instruction");
        let open = hlo::without_some_extents(generated.op(), &mut rng);
        measure_op(&mut tally, &open, Rules::Exact, seed % 3 != 0);
    }
    tally.check(expect![[r#"
        accesses: 5658
        constraints: 2292
        empty: 230
        nodes: 5984
        notes: 3080
        range variables: 533
        runtime variables: 2494
        undefined: 2717
        upper bounds: 112
        values of variables: 3488699
    "#]]);
}

#[test]
fn through_chains() {
    let mut tally = Tally::default();
    for seed in 0..CHAINS {
        let generated = hlo::random_graph(&mut Rng::new(seed));
        let (graph, parameters) = (&generated.graph, generated.values.len());
        for rules in [Rules::Exact, Rules::Xla] {
            measure(&mut tally, fusion(graph, 0, parameters, rules, &no_callees), rules);
            let back = |number| fusion_input_to_output(graph, number, rules, &no_callees);
            (0..parameters).for_each(|number| measure(&mut tally, back(number), rules));
        }
    }
    tally.check(expect![[r#"
        accesses: 4008
        constraints: 356
        empty: 712
        nodes: 3496
        notes: 928
        range variables: 1569
        runtime variables: 822
        undefined: 673
        upper bounds: 208
        values of variables: 16140
    "#]]);
}

/// How many indices that the program computes are folded.
#[test]
fn of_computed_indices() {
    let opcodes = [Opcode::DynamicSlice, Opcode::DynamicUpdateSlice, Opcode::Gather, Opcode::Scatter];
    let mut tally = Tally::default();
    for seed in 0..INSTRUCTIONS {
        let mut rng = Rng::new(seed);
        let generated = hlo::random_op(opcodes[seed as usize % opcodes.len()], &mut rng).expect("one");
        let Some(computed) = hlo::with_computed_indices(&generated, &mut rng) else { continue };
        measure(
            &mut tally,
            in_graph(&computed.graph, computed.root(), 0, Rules::Exact, &no_callees),
            Rules::Exact,
        );
    }
    tally.check(expect![[r#"
        accesses: 9013
        constraints: 402
        empty: 2202
        nodes: 2512
        notes: 2800
        range variables: 2637
        runtime variables: 2025
        undefined: 0
        upper bounds: 0
        values of variables: 45440
    "#]]);
}
