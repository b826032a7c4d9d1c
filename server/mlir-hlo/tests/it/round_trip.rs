//! HLO as StableHLO and back: the same ops, the same values.

use std::borrow::Cow;
use std::sync::Arc;

use eval::{Column, Evaluator};
use generators::cases;
use generators::hlo::{self, Generated};
use ir::{Graph, Opcode};
use mlir::PieceState;
use random::Rng;

use crate::graphs::{Graphs, is_bookkeeping};
use crate::{faults, to_hlo, to_stablehlo};

#[test]
fn instructions_come_back() {
    let opcodes = hlo::opcodes();
    let mut counts = Counts::default();
    for i in 0..cases(600) {
        let opcode = opcodes[i as usize % opcodes.len()];
        let mut rng = Rng::new(i.wrapping_mul(0xd134_2543_de82_ef95) ^ 17);
        let generated = hlo::random_op(opcode, &mut rng).expect("an instruction");
        counts.add(&generated, i);
    }
    println!("{counts:?}");
    assert!(counts.incomplete * 4 < counts.all && counts.equal * 3 > counts.all, "{counts:?}");
}

#[test]
fn graphs_come_back() {
    let mut counts = Counts::default();
    for i in 0..cases(150) {
        let generated = hlo::random_graph(&mut Rng::new(i.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 5));
        assert_eq!(faults(&generated.text), [] as [&str; 0], "{}", generated.text);
        counts.add(&generated, i);
    }
    println!("{counts:?}");
    assert!(counts.incomplete == 0 && counts.equal == counts.all, "{counts:?}");
}

#[derive(Debug, Default)]
struct Counts {
    all: u64,
    /// StableHLO lacks a part of it, which is reported.
    incomplete: u64,
    /// The interpreter returns the same bits.
    equal: u64,
    /// The interpreter does not run it.
    refused: u64,
}

impl Counts {
    fn add(&mut self, generated: &Generated, seed: u64) {
        self.all += 1;
        let stablehlo = to_stablehlo(&generated.text);
        let parse = mlir::parse(&stablehlo.text, PieceState::default());
        let findings = mlir::check(&parse, &stablehlo.text);
        assert!(
            parse.errors.is_empty() && findings.is_empty(),
            "{:?} {findings:?}\n{}\n{}",
            parse.errors,
            generated.text,
            stablehlo.text
        );
        // Of what is started alone, or done, XLA's verifier has its opinion.
        if !faults(&generated.text).is_empty() {
            self.refused += 1;
            return;
        }
        let back = to_hlo(&stablehlo.text);
        let wrong = faults(&back.text);
        let context = || format!("{wrong:?}\n{}\n{}\n{}", generated.text, stablehlo.text, back.text);
        assert!(wrong.is_empty(), "{}", context());
        if !stablehlo.incomplete.is_empty() {
            self.incomplete += 1;
            return;
        }
        assert!(back.incomplete.is_empty(), "{:?}\n{}", back.incomplete, context());
        let (before, after) = (Graphs::of(&generated.text), Graphs::of(&back.text));
        let root = |graphs: &Graphs| graphs.entry().ops[graphs.entry().root as usize].shape.clone();
        // An entry that returns a tuple of one element becomes a function that returns the element, as in XLA.
        if let (Some([element]), after) = (root(&before).tuple_elements(), root(&after))
            && after.tuple_elements().is_none()
        {
            assert!(element.is_compatible(&after), "{}", context());
            self.equal += 1;
            return;
        }
        let moves = takes_places_together(before.entry());
        assert_eq!(opcodes(before.entry(), moves), opcodes(after.entry(), moves), "{}", context());
        let shapes = (
            &before.entry().ops[before.entry().root as usize].shape,
            &after.entry().ops[after.entry().root as usize].shape,
        );
        assert!(shapes.0.is_compatible(shapes.1), "{}", context());
        match (values(&before, generated, seed), values(&after, generated, seed)) {
            (Ok(before), Ok(after)) => {
                assert_eq!(before, after, "{}", context());
                self.equal += 1;
            }
            (Err(_), _) => self.refused += 1,
            (Ok(_), Err(why)) => panic!("{why}\n{}", context()),
        }
    }
}

/// Whether a slice has its places in one array, which comes apart.
fn takes_places_together(graph: &Graph) -> bool {
    graph.ops.iter().any(|op| {
        let first = match op.opcode {
            Opcode::DynamicSlice => 1,
            Opcode::DynamicUpdateSlice => 2,
            _ => return false,
        };
        op.operand_shapes.get(first).is_some_and(|shape| shape.dims().len() == 1)
    })
}

/// The ops by name, without those that only pack or unpack tuples.
fn opcodes(graph: &Graph, without_moves: bool) -> Vec<&'static str> {
    let is_move = |opcode| without_moves && matches!(opcode, Opcode::Slice | Opcode::Reshape);
    let ops = graph.ops.iter().map(|op| op.opcode);
    let ops = ops.filter(|&opcode| !is_bookkeeping(opcode) && !is_move(opcode));
    let mut names: Vec<_> = ops.map(|opcode| opcode.name()).collect();
    names.sort_unstable();
    names
}

/// The bits of all arrays of the result.
fn values(graphs: &Graphs, generated: &Generated, seed: u64) -> Result<Vec<Vec<u128>>, Cow<'static, str>> {
    let graph: &Arc<Graph> = graphs.entry();
    let inputs =
        |number: u32, leaf: usize, positions: &[i64]| generated.input(graph, seed, (number, leaf), positions);
    let callees = |name: &str| graphs.all.get(name).cloned();
    let mut evaluator = Evaluator::new(graph.clone(), &callees, &inputs);
    let leaves = eval::leaves(&graph.ops[graph.root as usize].shape).len();
    let bits = |column: Column| (0..column.len()).map(|i| column.bits(i)).collect();
    (0..leaves).map(|leaf| evaluator.whole(graph.root, leaf).map(bits)).collect()
}
