//! The rules of `algsimp`: each of them changes its example, and none changes a value.

use std::collections::BTreeSet;

use passes::{Applied, Module, Stop, optimize};
use random::Rng;

use crate::compare::compare;
use crate::{module, options, print};

/// Computations that the examples call.
pub(crate) const CALLEES: &str = "
sum { a = f32[] parameter(0) b = f32[] parameter(1) ROOT s = f32[] add(a, b) }
isum { a = s32[] parameter(0) b = s32[] parameter(1) ROOT s = s32[] add(a, b) }
greatest { a = f32[] parameter(0) b = f32[] parameter(1) ROOT s = f32[] maximum(a, b) }
less { a = f32[] parameter(0) b = f32[] parameter(1) ROOT s = pred[] compare(a, b), direction=LT }
double { a = f32[] parameter(0) ROOT s = f32[] add(a, a) }
sines { a = f32[3] parameter(0) ROOT s = f32[3] sine(a) }
is_below_12 { p = (s32[], f32[5,3]) parameter(0) i = s32[] get-tuple-element(p), index=0 n = s32[] constant(12) ROOT c = pred[] compare(i, n), direction=LT }
add_row {
  p = (s32[], f32[5,3]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  x = f32[5,3] get-tuple-element(p), index=1
  zero = s32[] constant(0)
  row = f32[1,3] dynamic-slice(x, i, zero), dynamic_slice_sizes={1,3}
  twice = f32[1,3] add(row, row)
  y = f32[5,3] dynamic-update-slice(x, twice, i, zero)
  three = s32[] constant(3)
  j = s32[] add(i, three)
  ROOT next = (s32[], f32[5,3]) tuple(j, y)
}
ones { one = f32[] constant(1) ROOT b = f32[512,1024] broadcast(one), dimensions={} }
first { x = f32[512,1024] parameter(0) y = f32[512,1024] parameter(1) s = f32[512,1024] add(x, y) ROOT corner = f32[1,2] slice(s), slice={[0:1],[3:5]} }
sum_difference_and_product { a = f32[3] parameter(0) b = f32[3] parameter(1) s = f32[3] add(a, b) d = f32[3] subtract(a, b) p = f32[3] multiply(a, b) ROOT all = (f32[3], f32[3], f32[3]) tuple(s, d, p) }
sum_and_carry { a = f32[3] parameter(0) b = f32[3] parameter(1) s = f32[3] add(a, b) ROOT both = (f32[3], f32[3]) tuple(s, s) }
is_below_5 { p = (s32[], s32[], f32[], f32[3]) parameter(0) i = s32[] get-tuple-element(p), index=0 n = s32[] constant(5) ROOT c = pred[] compare(i, n), direction=LT }
is_below_1 { p = (s32[], s32[], f32[], f32[3]) parameter(0) i = s32[] get-tuple-element(p), index=0 n = s32[] constant(1) ROOT c = pred[] compare(i, n), direction=LT }
scale_and_count {
  p = (s32[], s32[], f32[], f32[3]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  j = s32[] get-tuple-element(p), index=1
  factor = f32[] get-tuple-element(p), index=2
  x = f32[3] get-tuple-element(p), index=3
  factors = f32[3] broadcast(factor), dimensions={}
  scaled = f32[3] multiply(x, factors)
  count = f32[] convert(j)
  counts = f32[3] broadcast(count), dimensions={}
  y = f32[3] add(scaled, counts)
  one = s32[] constant(1)
  two = s32[] constant(2)
  next_i = s32[] add(i, one)
  next_j = s32[] add(j, two)
  ROOT next = (s32[], s32[], f32[], f32[3]) tuple(next_i, next_j, factor, y)
}
at_least { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = pred[] compare(a, b), direction=GE }
first_less { a = f32[] parameter(0) b = f32[] parameter(1) c = s32[] parameter(2) d = s32[] parameter(3) ROOT e = pred[] compare(a, b), direction=LT }
second_less { a = s32[] parameter(0) b = s32[] parameter(1) c = f32[] parameter(2) d = f32[] parameter(3) ROOT s = pred[] compare(c, d), direction=LT }
sine_and_cosine {
  p = (f32[3], f32[3]) parameter(0)
  x = f32[3] get-tuple-element(p), index=1
  s = f32[3] sine(x)
  c = f32[3] cosine(x)
  ROOT r = (f32[3], f32[3], f32[3], f32[3]) tuple(s, c, s, c)
}
square { a = f32[] parameter(0) ROOT s = f32[] multiply(a, a) }
";

/// Simplifies until nothing changes, at most so often.
const ROUNDS: usize = 4;

fn simplify(module: &mut Module, pipeline: &str) -> BTreeSet<String> {
    apply(module, "algsimp", pipeline).expect("it is supported")
}

/// Applies a pass until nothing changes, and returns what was said of the changes. The error is what it does not support.
pub(crate) fn apply(module: &mut Module, pass: &str, pipeline: &str) -> Result<BTreeSet<String>, String> {
    let options = options(pipeline);
    let mut rules = BTreeSet::new();
    for _ in 0..ROUNDS {
        let applied = match optimize(module, &[pass], &options) {
            Err(Stop::Unsupported(what)) => return Err(what),
            applied => applied.expect("the pass is known"),
        };
        let [Applied { changes, .. }] = &applied[..] else { panic!("one pass ran: {applied:?}") };
        rules.extend(changes.iter().map(|change| change.what.clone()));
    }
    Ok(rules)
}

#[test]
fn each_rule_changes_its_example_and_no_value() {
    let examples = include_str!("algsimp.txt");
    let mut failures = Vec::new();
    for example in examples.split("// -----\n") {
        let (title, body) = example.split_once('\n').expect("a title and a body");
        let title = title.trim_start_matches("// ");
        let (pipeline, rule) = title.split_once(": ").unwrap_or(("simplification", title));
        let text = format!("HloModule example\n{CALLEES}\nENTRY e {{\n{body}}}\n");
        let mut module = module(&text);
        let rules = simplify(&mut module, pipeline);
        let after = print(&module);
        if !rules.contains(rule) {
            failures.push(format!("{title}: only {rules:?} changed\n{body}"));
        }
        match compare(&text, &after, 7, &[]) {
            Ok(compared) if compared > 0 || rule == "reduces nothing" => {}
            Ok(_) => failures.push(format!("{title}: nothing was compared")),
            Err(why) => failures.push(format!("{title}: {why}\n{body}\nbecame\n{after}")),
        }
    }
    assert!(failures.is_empty(), "{} failed:\n{}", failures.len(), failures.join("\n"));
}

#[test]
fn other_passes_change_their_examples_and_no_value() {
    for example in include_str!("passes.txt").split("// -----\n") {
        let (title, body) = example.split_once('\n').expect("a title and a body");
        let (pass, what) = title.trim_start_matches("// ").split_once(": ").expect("a pass and what it does");
        let text = format!("HloModule example\n{CALLEES}\nENTRY e {{\n{body}}}\n");
        let mut module = module(&text);
        let changes = apply(&mut module, pass, "post-layout_assignment").expect("it is supported");
        assert!(changes.contains(what), "{title}: only {changes:?} changed");
        let after = print(&module);
        let compared = compare(&text, &after, 7, &[]);
        assert!(
            compared.as_ref().is_ok_and(|&count| count > 0),
            "{title}: {compared:?}\n{body}\nbecame\n{after}"
        );
    }
}

#[test]
fn split_reductions_keep_their_values() {
    const SIZES: [&[i64]; 7] =
        [&[1, 2, 3, 5], &[2, 8, 9, 33], &[1, 2, 17], &[40, 64, 67], &[4097, 5003], &[20_003], &[1, 3]];
    let (mut changed, mut compared) = ([0; 2], 0);
    for case in 0..generators::cases(60) {
        let mut rng = Rng::new(generators::seed(case));
        let (mut dims, mut reduced, mut elements) = (Vec::new(), Vec::new(), 1);
        for dim in 0..rng.below(2..5) {
            let sizes = SIZES[rng.below(0..SIZES.len() as i64) as usize];
            let size = sizes[rng.below(0..sizes.len() as i64) as usize];
            if elements * size > 40_000 {
                continue;
            }
            elements *= size;
            if dim as u64 % 2 == case % 2 {
                reduced.push(dims.len() as i64);
            }
            dims.push(size);
        }
        let kept: Vec<i64> =
            (0..).zip(&dims).filter(|(dim, _)| !reduced.contains(dim)).map(|(_, &size)| size).collect();
        let text = format!(
            "HloModule example\n{CALLEES}\nENTRY e {{\nx = f32{dims:?} parameter(0)\nzero = f32[] constant(0)\n\
             ROOT r = f32{kept:?} reduce(x, zero), dimensions={{{}}}, to_apply=sum\n}}\n",
            reduced.iter().map(i64::to_string).collect::<Vec<_>>().join(",")
        );
        for (pass, changed) in ["reduction-splitter", "tree-reduction-rewriter"].iter().zip(&mut changed) {
            let mut module = module(&text);
            if apply(&mut module, pass, "post-layout_assignment").expect("it is supported").is_empty() {
                continue;
            }
            *changed += 1;
            let after = print(&module);
            match compare(&text, &after, case, &[]) {
                Ok(elements) => compared += elements,
                Err(why) => panic!("{pass}: {why}\n{text}\nbecame\n{after}"),
            }
        }
    }
    assert!(
        changed.iter().all(|&count| count > 2) && compared > 20,
        "{changed:?} changed, {compared} compared"
    );
}

#[test]
fn random_programs_keep_their_values() {
    let count = generators::cases(600);
    let (mut changed, mut compared) = (0u64, 0u64);
    for i in 0..count {
        let mut rng = Rng::new(generators::seed(i));
        let generated = match i % 3 {
            0 => generators::hlo::random_graph(&mut rng),
            _ => {
                let opcodes = generators::hlo::opcodes();
                let opcode = opcodes[(i as usize * 7) % opcodes.len()];
                match generators::hlo::random_op(opcode, &mut rng) {
                    Some(generated) => generated,
                    None => continue,
                }
            }
        };
        let pipeline = if i % 2 == 0 { "simplification" } else { "post-layout_assignment" };
        let mut module = module(&generated.text);
        if simplify(&mut module, pipeline).is_empty() {
            continue;
        }
        changed += 1;
        let after = print(&module);
        match compare(&generated.text, &after, i, &generated.values) {
            Ok(elements) => compared += elements,
            Err(why) => panic!("seed {}: {why}\n{}\nbecame\n{after}", generated.seed, generated.text),
        }
    }
    assert!(changed > count / 20 && compared > changed, "{changed} of {count} changed, {compared} compared");
}
