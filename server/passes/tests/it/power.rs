//! What each pass, and all of them in the order of a compile, make of fixed random computations: a rule that applies less often or chooses something
//! else keeps all values, and changes a number here.

use expect_test::expect_file;
use generators::hlo::{opcodes, random_graph, random_op, random_typed};
use generators::kernels::Random;
use passes::{Module, PASSES, optimize, optimize_until_stop};
use random::Rng;
use test_files::Tally;

use crate::{module, options, print};

const SMALL: u64 = 60;
const LARGE: u64 = 40;
const COMPILES: u64 = 80;
const MODULES: u64 = SMALL + LARGE;
const INSTRUCTIONS: u64 = 400;

/// Adds what a module is: its computations, its instructions by opcode, and the length of its text.
fn add_module(tally: &mut Tally, of: &str, module: &Module) {
    let text = print(module);
    tally.add(format!("{of}: bytes"), text.len());
    tally.add(format!("{of}: instructions"), text.matches(" = ").count());
}

#[test]
fn each_pass() {
    let mut tally = Tally::default();
    let opcodes = opcodes();
    for seed in 0..MODULES + INSTRUCTIONS {
        let rng = &mut Rng::new(seed);
        let text = match seed {
            0..SMALL if seed % 2 == 0 => random_graph(rng).text,
            0..SMALL => random_typed(rng).text,
            SMALL..MODULES => Random::computation(rng).text,
            _ => random_op(opcodes[seed as usize % opcodes.len()], rng).expect("an instruction").text,
        };
        let before = module(&text);
        for pass in PASSES {
            let mut after = before.clone();
            let pipeline = if seed % 2 == 0 { "simplification" } else { "post-layout_assignment" };
            match optimize(&mut after, &[pass.name], &options(pipeline)) {
                Ok(applied) => {
                    let changes: usize = applied.iter().map(|applied| applied.changes.len()).sum();
                    if changes > 0 {
                        tally.add(format!("{}: changes", pass.name), changes);
                        add_module(&mut tally, pass.name, &after);
                    }
                }
                Err(_) => tally.add(format!("{}: refuses", pass.name), 1),
            }
        }
    }
    tally.check_file(expect_file!["power/each_pass.txt"]);
}

#[test]
fn all_passes_in_order() {
    let mut tally = Tally::default();
    for seed in 0..COMPILES {
        let before = module(&Random::computation(&mut Rng::new(seed)).text);
        let (after, applied, stopped) =
            optimize_until_stop(&before, &["pipeline", "copy-insertion", "schedule"], &options(""));
        for applied in applied {
            if !applied.changes.is_empty() {
                tally.add(applied.pass, applied.changes.len());
            }
        }
        if let Some(stopped) = stopped {
            let why = stopped.why.to_string().replace(|c: char| c.is_ascii_digit(), "");
            tally.add(format!("stops at {}: {why}", stopped.pass), 1);
        }
        add_module(&mut tally, "the end", &after);
    }
    tally.check_file(expect_file!["power/all_passes.txt"]);
}
