//! Real models: the ops of their StableHLO read as the instructions of the HLO that XLA makes of it.

mod pairs;
mod program;
mod simplified;

use std::collections::{BTreeMap, HashMap};

use ir::{Op, Opcode};
use mlir::PieceState;

use crate::graphs::{check_text, is_bookkeeping, op_maps, shown};
use crate::{faults, to_hlo};
use pairs::Pairs;
use program::{Node, Program, maps_of};
use simplified::Absent;

#[derive(Debug, Default)]
struct Counts {
    /// Ops.
    all: usize,
    /// Those that have an instruction, whose maps are theirs.
    same: usize,
    /// Those that XLA leaves out.
    absent: BTreeMap<Absent, usize>,
    unexplained: Vec<String>,
}

fn compare(text: &str, hlo: &str) -> Counts {
    let module = to_hlo(text);
    assert_eq!(faults(&module.text), [] as [&str; 0]);
    let (ours, theirs) = (Program::of(&module.text), Program::of(hlo));
    let pairs = Pairs::of(&ours, &theirs);
    assert_eq!(pairs.differing, [] as [&str; 0]);
    // The maps of the single op are those of its instruction in the module.
    let parse = mlir::parse(text, PieceState::default());
    let block = crate::lowered(&module.text);
    let mut told: HashMap<(String, String), mlir::OpId> = HashMap::new();
    for origin in &module.origins {
        let Some(id) = block.parse.instruction_at(origin.offset as usize + 2) else { continue };
        let computation = block.parse.computation_of(id).expect("it is in one");
        let computation = block.parse.computations[computation as usize].name.of(&block.text).to_owned();
        told.insert((computation, block.name(id).to_owned()), origin.op);
    }
    let origin = |(computation, id): Node| {
        let name = ours.graphs[computation].names[id as usize].clone();
        told.get(&(ours.names[computation].clone(), name)).copied()
    };
    let mut several: HashMap<(usize, mlir::OpId), usize> = HashMap::new();
    for node in ours.nodes() {
        origin(node).into_iter().for_each(|op| *several.entry((node.0, op)).or_default() += 1);
    }
    let mut counts = Counts::default();
    for node in ours.nodes() {
        let op = ours.op(node);
        let Some(mlir_op) = origin(node).filter(|_| !is_bookkeeping(op.opcode)) else { continue };
        counts.all += 1;
        // An op that is several instructions reads what they do together.
        let is_alone = several[&(node.0, mlir_op)] == 1;
        check_text(&parse, text, mlir_op);
        let own = maps_of(op).map(|maps| shown(&maps));
        if let (Some(own), Some(Ok(alone)), true) = (own, op_maps(&parse, text, mlir_op, 0), is_alone)
            && !has_runtime(op)
        {
            assert_eq!(shown(&alone), own, "{}", ours.name(node));
        }
        match pairs.absent.get(&node) {
            _ if pairs.matched.contains(&node) => counts.same += 1,
            Some(&reason) => *counts.absent.entry(reason).or_default() += 1,
            None => counts.unexplained.push(format!("{} {}", ours.name(node), op.opcode)),
        }
    }
    counts
}

/// Indices that are constants make the maps of a single op exact.
fn has_runtime(op: &Op) -> bool {
    matches!(op.opcode, Opcode::DynamicSlice | Opcode::DynamicUpdateSlice | Opcode::Gather | Opcode::Scatter)
}

mod needs_jax_models {
    use super::*;

    #[test]
    #[ignore = "needs JAX's models in the folder JAX_MODELS: cargo xtask test"]
    fn ops_read_as_the_instructions_that_they_become() {
        let folder = test_files::needs::jax_models();
        let (mut counts, mut models) = (Counts::default(), 0);
        for path in test_files::below(&folder, ".stablehlo.mlir") {
            let hlo = path.to_string_lossy().replace(".stablehlo.mlir", ".before_opt.hlo");
            let Ok(hlo) = std::fs::read_to_string(hlo) else { continue };
            let text = std::fs::read_to_string(&path).expect("it is readable");
            models += 1;
            let here = compare(&text, &hlo);
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            println!("{:>5} of {:>5} {name} {:?}", here.same, here.all, here.absent);
            here.unexplained.iter().for_each(|op| println!("      not found: {op}"));
            counts.all += here.all;
            counts.same += here.same;
            here.absent
                .iter()
                .for_each(|(&reason, count)| *counts.absent.entry(reason).or_default() += count);
            counts.unexplained.extend(here.unexplained);
        }
        let Counts { all, same, absent, unexplained } = counts;
        println!(
            "{same} of {all} ops of {models} models read as their instructions; XLA has none for the others:"
        );
        absent.iter().for_each(|(reason, count)| println!("{count:>5} {reason}"));
        assert_eq!(unexplained, [] as [&str; 0]);
        assert_eq!(same + absent.values().sum::<usize>(), all);
    }
}
