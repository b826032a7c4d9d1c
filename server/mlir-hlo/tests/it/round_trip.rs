//! HLO as StableHLO and back: the same ops, the same values.

use std::borrow::Cow;
use std::sync::Arc;

use eval::generate::{self, Generated, Rng};
use eval::reference::{Column, Evaluator, Kind};
use ir::{ElementType, Graph};
use mlir::PieceState;

use crate::graphs::{Graphs, is_bookkeeping};
use crate::{faults, to_hlo, to_stablehlo};

/// How many random instructions; `ROUND_TRIPS` says another number.
fn cases() -> u64 {
    std::env::var("ROUND_TRIPS").ok().and_then(|n| n.parse().ok()).unwrap_or(600)
}

#[test]
fn instructions_come_back() {
    let opcodes = generate::opcodes();
    let mut counts = Counts::default();
    for i in 0..cases() {
        let opcode = opcodes[i as usize % opcodes.len()];
        let mut rng = Rng::new(i.wrapping_mul(0xd134_2543_de82_ef95) ^ 17);
        let generated = generate::random_op(opcode, &mut rng).expect("an instruction");
        counts.add(&generated, i);
    }
    println!("{counts:?}");
    assert!(counts.incomplete * 4 < counts.all && counts.equal * 3 > counts.all, "{counts:?}");
}

#[test]
fn graphs_come_back() {
    let mut counts = Counts::default();
    for i in 0..cases() / 4 {
        let generated = generate::random_graph(&mut Rng::new(i.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 5));
        counts.add(&generated, i);
    }
    println!("{counts:?}");
    assert!(counts.incomplete == 0 && counts.equal * 4 > counts.all * 3, "{counts:?}");
}

#[derive(Debug, Default)]
struct Counts {
    all: u64,
    /// Something of it StableHLO does not say, and that was told.
    incomplete: u64,
    /// The interpreter answers the same bits.
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
        // Of operands of several types XLA's verifier has its opinion, too.
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
        assert_eq!(opcodes(before.entry()), opcodes(after.entry()), "{}", context());
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

/// What is computed, in order of name: tuples come apart, and go together elsewhere.
fn opcodes(graph: &Graph) -> Vec<&'static str> {
    let ops = graph.ops.iter().map(|op| op.opcode).filter(|&opcode| !is_bookkeeping(opcode));
    let mut names: Vec<_> = ops.map(|opcode| opcode.name()).collect();
    names.sort_unstable();
    names
}

/// The bits of all arrays of the result.
fn values(graphs: &Graphs, generated: &Generated, seed: u64) -> Result<Vec<Vec<u128>>, Cow<'static, str>> {
    let graph: &Arc<Graph> = graphs.entry();
    let inputs = |number: u32, leaf: usize, positions: &[i64]| -> Result<Column, Cow<'static, str>> {
        let id = graph.parameter(number).ok_or("no such parameter")?;
        let leaves = eval::leaves(&graph.ops[id as usize].shape);
        let element: ElementType = leaves.get(leaf).and_then(|s| s.element()).ok_or("no array")?;
        let kind = Kind::of(element).ok_or("no values")?;
        if let Some(Some(known)) = generated.values.get(number as usize) {
            return Ok(Column::int(kind, positions.iter().map(|&p| known[p as usize]).collect()));
        }
        let bits = positions.iter().map(|&p| value(kind, seed ^ u64::from(number) << 32 ^ p as u64).bits(0));
        Ok(Column::from_bits(kind, bits))
    };
    let callees = |name: &str| graphs.all.get(name).cloned();
    let mut evaluator = Evaluator::new(graph.clone(), &callees, &inputs);
    let leaves = eval::leaves(&graph.ops[graph.root as usize].shape).len();
    let bits = |column: Column| (0..column.len()).map(|i| column.bits(i)).collect();
    (0..leaves).map(|leaf| evaluator.whole(graph.root, leaf).map(bits)).collect()
}

fn value(kind: Kind, seed: u64) -> Column {
    let mut x = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    x = (x ^ (x >> 31)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    match kind {
        _ if kind.is_integral() => Column::int(kind, vec![kind.wrap((x >> 40) as i64 % 7 - 2)]),
        Kind::Complex { .. } => Column::complex(kind, vec![[(x >> 60) as f64, 1.0]]),
        _ => Column::real(kind, vec![kind.round((x >> 50) as f64 / 1000.0 - 4.0)]),
    }
}
