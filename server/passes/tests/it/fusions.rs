//! Fusing, unfusing and splitting by hand keep the values of random modules; and which instructions of the text others stand for.

use generators::hlo::random_graph;
use passes::{InstructionId, Module};
use random::Rng;
use syntax::hlo::Opcode;

use crate::values::values;
use crate::{module, print, run};

/// The names of the instructions of the text that the one of this name stands for.
#[track_caller]
fn origins(before: &Module, after: &Module, name: &str) -> Vec<String> {
    let all = after.computations().into_iter().flat_map(|computation| after.instructions(computation));
    let id = all.into_iter().find(|&id| after[id].name() == name);
    let id = id.unwrap_or_else(|| panic!("no {name} in {}", print(after)));
    let own = after.origins()[Module::index(id)].clone();
    own.into_iter().map(|id| before[id].name().to_owned()).collect()
}

const TEXT: &str = "HloModule m
ENTRY e {
  p = f32[8] parameter(0)
  one = f32[] constant(1)
  ones = f32[8] broadcast(one), dimensions={}
  n = f32[8] negate(p)
  m = f32[8] negate(p)
  x = f32[8] multiply(n, ones)
  ROOT r = f32[8] add(x, m)
}
";

#[test]
fn what_replaces_an_instruction_stands_for_it() {
    let before = module(TEXT);
    let mut after = before.clone();
    run(&mut after, "cse").expect("it is supported");
    assert_eq!(origins(&before, &after, "n"), ["n", "m"]);
    run(&mut after, "algsimp").expect("it is supported");
    assert_eq!(origins(&before, &after, "n"), ["n", "m", "x"]);
    let [n, r] = ["n", "r"].map(|name| named(&after, name));
    after.fuse(n, r).expect("they can be fused");
    assert_eq!(origins(&before, &after, "fusion"), ["n", "m", "x", "r"]);
    assert_eq!(origins(&before, &after, "n.1"), ["n", "m", "x"]);
    assert_eq!(origins(&before, &after, "p"), ["p"]);
}

fn named(module: &Module, name: &str) -> InstructionId {
    let all = module.instructions(module.entry()).into_iter();
    all.into_iter().find(|&id| module[id].name() == name).expect("it is there")
}

#[test]
fn fusing_and_taking_apart_keep_the_values_of_random_modules() {
    let (mut fused, mut split, mut compared) = (0, 0, 0);
    for case in 0..generators::cases(200) {
        let generated = random_graph(&mut Rng::new(generators::seed(case)));
        let before = module(&generated.text);
        let expected = values(&before, &generated);
        let mut check = |after: &Module| {
            for (found, expected) in values(after, &generated).iter().zip(&expected) {
                if let Ok(expected) = expected {
                    compared += 1;
                    assert_eq!(found.as_ref(), Ok(expected), "{}\n{}", generated.text, print(after));
                }
            }
            // The module is one that can be read.
            assert_eq!(print(&module(&print(after))), print(after));
        };
        for user in before.instructions(before.entry()) {
            for &producer in before[user].operands() {
                let leaf = [Opcode::Parameter, Opcode::Constant, Opcode::Tuple];
                if leaf.contains(&before[producer].opcode()) || leaf.contains(&before[user].opcode()) {
                    continue;
                }
                let mut after = before.clone();
                let Some(fusion) = after.fuse(producer, user) else { continue };
                fused += 1;
                check(&after);
                let body = after[fusion].called().next().expect("it calls its computation");
                for at in after.instructions(body) {
                    let mut parts = after.clone();
                    if parts.split(fusion, at).is_some() {
                        split += 1;
                        check(&parts);
                    }
                }
                assert!(after.unfuse(fusion));
                check(&after);
            }
        }
    }
    assert!(fused > 50 && split > 20 && compared > 500, "{fused} fused, {split} split, {compared} compared");
}
