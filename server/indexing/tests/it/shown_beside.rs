//! The maps that are shown beside those from the output to the operands.

use generators::hlo;
use indexing::{Rules, in_graph_input_to_output, maps_beside, no_callees};
use ir::Opcode;
use random::Rng;

#[test]
fn of_a_dot_they_lead_from_each_operand_to_the_output() {
    let mut shown = 0;
    for seed in 0..200 {
        let opcode = if seed % 4 == 0 { Opcode::ScaledDot } else { Opcode::Dot };
        let generated = hlo::random_op(opcode, &mut Rng::new(seed)).expect("a dot");
        let names: Vec<String> = (0..generated.op().operand_shapes.len()).map(|i| format!("%{i}")).collect();
        let beside = maps_beside(&generated.graph, generated.root(), &names, &no_callees);
        let expected: Vec<_> = (0..names.len())
            .flat_map(|i| {
                let answer = in_graph_input_to_output(&generated.graph, generated.root(), i, Rules::Exact);
                let accesses = answer.simplified().operands.remove(0);
                accesses.into_iter().map(move |access| (format!("%{i}"), "output".to_owned(), access))
            })
            .filter(|(_, _, access)| access.map.is_mapped())
            .collect();
        shown += expected.len();
        let got: Vec<_> = beside.into_iter().map(|map| (map.from, map.to, map.access)).collect();
        assert_eq!(got, expected, "{}", generated.text);
    }
    // Of empty arrays there are none.
    assert!(shown > 300, "{shown}");
}

#[test]
fn an_iota_reads_nothing_and_other_ops_have_none() {
    let text = "HloModule m
ENTRY e {
  i = s32[3,4] iota(), iota_dimension=1
  ROOT n = s32[3,4] negate(i)
}";
    let graph = crate::entry(text);
    let beside = |name: &str| {
        let maps = maps_beside(&graph, graph.find(name).expect(name), &[], &no_callees);
        let shown = |map: indexing::MapBeside| format!("{} to {}: {}", map.from, map.to, map.access.map);
        maps.into_iter().map(shown).collect::<Vec<_>>()
    };
    let both = [
        "output to input: (d0, d1) -> (), domain: d0 in [0, 2], d1 in [0, 3]",
        "input to output: ()[s0, s1] -> (s0, s1), domain: s0 in [0, 2], s1 in [0, 3]",
    ];
    assert_eq!(beside("i"), both);
    assert!(beside("n").is_empty());
}
