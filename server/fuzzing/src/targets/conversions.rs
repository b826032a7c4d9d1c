//! HLO to StableHLO, and back.

use std::sync::Arc;

use eval::Column;
use generators::hlo::{Generated, opcodes, random_graph, random_op};
use ir::{Graph, graphs_of_text};
use mlir::PieceState;
use mlir_hlo::Slice;
use random::Rng;

use crate::modules::{faults, lowered};

pub fn run(bytes: &[u8]) -> bool {
    let mut rng = Rng::from_bytes(bytes);
    let generated = match rng.flag() {
        true => random_graph(&mut rng),
        false => match random_op(*rng.pick(&opcodes()), &mut rng) {
            Some(generated) => generated,
            None => return false,
        },
    };
    let block = lowered(&generated.text);
    if !faults(&block).is_empty() {
        return false;
    }
    let module = ir::Module::of_block(&block);
    let stablehlo = mlir_hlo::to_stablehlo(&[&block], &module);
    let parse = mlir::parse(&stablehlo.text, PieceState::default());
    let findings = mlir::check(&parse, &stablehlo.text);
    let both = || format!("{}\n{}", generated.text, stablehlo.text);
    assert!(parse.errors.is_empty() && findings.is_empty(), "{:?} {findings:?}\n{}", parse.errors, both());
    let parts: Vec<_> =
        Slice::parts(&parse, &stablehlo.text).into_iter().map(|slice| vec![(0, slice)]).collect();
    let back = mlir_hlo::to_hlo(&parts);
    let wrong = faults(&lowered(&back.text));
    assert!(wrong.is_empty(), "{wrong:?}\n{}\n{}", both(), back.text);
    if !stablehlo.incomplete.is_empty() {
        return false;
    }
    assert!(back.incomplete.is_empty(), "{:?}\n{}\n{}", back.incomplete, both(), back.text);
    let (Some(before), Some(after)) = (values(&generated, &generated.text), values(&generated, &back.text))
    else {
        return false;
    };
    // A result of no element, and a tuple of one, have another form.
    if before.len() == after.len() {
        assert_eq!(before, after, "{}\n{}", both(), back.text);
    }
    true
}

/// The bits of the arrays of the result; `None` if the interpreter does not run it.
fn values(generated: &Generated, text: &str) -> Option<Vec<Vec<u128>>> {
    let graphs = graphs_of_text(text);
    let callee = |name: &str| graphs.iter().find(|(own, _)| own == name).map(|(_, graph)| graph.clone());
    let entry: &Arc<Graph> = &graphs.last()?.1;
    let bits = |column: Column| (0..column.len()).map(|i| column.bits(i)).collect();
    let results = generated.results(entry.clone(), &callee, 1);
    results.into_iter().map(|result| result.ok().map(bits)).collect()
}
