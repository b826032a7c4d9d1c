//! `layout-assignment`: the layouts that library calls need, copies where they are few, and no value changes.

use std::sync::Arc;

use generators::hlo::{Generated, random_graph};
use ir::{ArrayShape, Layout, Shape};
use passes::{InstructionId, Module, optimize};
use random::Rng;
use syntax::hlo::Opcode;

use crate::values::values;
use crate::{module, options, print};

const CALLEES: &str = "
sum { a = f32[] parameter(0) b = f32[] parameter(1) ROOT s = f32[] add(a, b) }
less { a = f32[] parameter(0) b = f32[] parameter(1) ROOT s = pred[] compare(a, b), direction=LT }
body {
  t = (s32[], f32[8,64], f32[64,8]) parameter(0)
  i = s32[] get-tuple-element(t), index=0
  x = f32[8,64] get-tuple-element(t), index=1
  w = f32[64,8] get-tuple-element(t), index=2
  y = f32[64,8] transpose(x), dimensions={1,0}
  z = f32[64,8] add(y, w)
  x2 = f32[8,64] transpose(z), dimensions={1,0}
  ROOT r = (s32[], f32[8,64], f32[64,8]) tuple(i, x2, w)
}
condition {
  t = (s32[], f32[8,64], f32[64,8]) parameter(0)
  i = s32[] get-tuple-element(t), index=0
  n = s32[] constant(4)
  ROOT r = pred[] compare(i, n), direction=LT
}
plain { x = f32[8,4] parameter(0) ROOT n = f32[8,4] negate(x) }
sorted { x = f32[8,4] parameter(0) ROOT s = f32[8,4] sort(x), dimensions={1}, to_apply=less }
";

fn assign(module: &mut Module) -> bool {
    let applied = optimize(module, &["layout-assignment"], &options("layout_assignment"));
    let applied = applied.unwrap_or_else(|stop| panic!("{stop}:\n{}", print(module)));
    applied.iter().any(|applied| !applied.changes.is_empty())
}

#[test]
fn library_calls_get_the_layouts_that_they_need() {
    let mut failures = Vec::new();
    for example in include_str!("layout_assignment.txt").split("// -----\n") {
        let (title, rest) = example.split_once('\n').expect("a title");
        let (body, expected) = rest.split_once("// becomes\n").expect("what it becomes");
        let mut module = module(&format!("HloModule example\n{CALLEES}\nENTRY e {{\n{body}}}\n"));
        assign(&mut module);
        let after = print(&module);
        let entry = after.split("ENTRY").nth(1).expect("an entry");
        let lines = entry.lines().skip(1).map(|line| line.trim().replace('%', ""));
        let lines: Vec<String> = lines.filter(|line| line != "}" && !line.is_empty()).collect();
        let expected: Vec<&str> = expected.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        if lines != expected {
            failures.push(format!("{title}:\n{}\n", lines.join("\n")));
        }
        let errors = errors(&module);
        assert!(errors.is_empty(), "{title}: {errors:?}\n{after}");
    }
    assert!(failures.is_empty(), "{} differ:\n{}", failures.len(), failures.join("\n"));
}

/// What the verifier finds, and instructions whose operands lie otherwise than they can read.
fn errors(module: &Module) -> Vec<String> {
    let text: Arc<str> = Arc::from(print(module));
    let parse = Arc::new(syntax::hlo::parse(&text, syntax::hlo::PieceState::HEADER));
    let block = ir::lower(text, parse);
    let found = ir::verify(&block, &ir::Surroundings::alone(&block));
    let mut errors: Vec<String> = found.iter().map(|finding| format!("{finding:?}")).collect();
    for computation in module.computations() {
        for id in module.instructions(computation) {
            let opcode = module[id].opcode();
            let is_kept = opcode != Opcode::Copy && ir::is_elementwise(opcode)
                || matches!(opcode, Opcode::Pad | Opcode::Slice | Opcode::Reverse | Opcode::Concatenate);
            let lies_alike = |&operand: &InstructionId| {
                module[operand].dims().len() != module[id].dims().len()
                    || order(module[operand].shape()) == order(module[id].shape())
            };
            let is_passed_on = match opcode {
                Opcode::GetTupleElement => {
                    let index = module[id].attributes().int(syntax::hlo::AttributeKey::Index).unwrap_or(0);
                    let tuple = module[module.operand(id, 0)].shape().element_at(&[index]);
                    tuple == Some(module[id].shape())
                }
                Opcode::Tuple => {
                    let operands =
                        module[id].operands().iter().map(|&operand| module[operand].shape().clone());
                    *module[id].shape() == Shape::tuple(operands)
                }
                Opcode::While => {
                    let init = module[module.operand(id, 0)].shape();
                    let callees = module[id].called().flat_map(|callee| module.parameters(callee));
                    callees.into_iter().chain([id]).all(|of| module[of].shape() == init)
                }
                Opcode::Conditional => module[id].called().enumerate().all(|(index, branch)| {
                    let operand = module[module.operand(id, index + 1)].shape();
                    module.parameters(branch).iter().all(|&parameter| module[parameter].shape() == operand)
                        && module[module.root(branch)].shape() == module[id].shape()
                }),
                _ => true,
            };
            if !is_passed_on || is_kept && !module[id].operands().iter().all(lies_alike) {
                errors.push(format!("%{} does not suit its operands", module[id].name()));
            }
        }
    }
    errors
}

fn order(shape: &Shape) -> Option<Vec<usize>> {
    shape.as_array().map(ArrayShape::minor_to_major)
}

/// The shape with its arrays in random layouts.
fn shuffled(shape: &Shape, rng: &mut Rng) -> Shape {
    match shape {
        Shape::Array(array) => {
            let mut order: Vec<i64> = (0..array.rank() as i64).collect();
            for at in (1..order.len()).rev() {
                order.swap(at, rng.below(0..at as i64 + 1) as usize);
            }
            let layout = Some(Layout { minor_to_major: order, ..Layout::row_major(0) });
            Shape::Array(Arc::new(ArrayShape { layout, ..array.as_ref().clone() })).without_default_layouts()
        }
        Shape::Tuple(elements) => Shape::tuple(elements.iter().map(|element| shuffled(element, rng))),
        other => other.clone(),
    }
}

#[test]
fn random_modules_keep_their_values_in_any_layouts() {
    let (mut changed, mut copies, mut compared) = (0, 0, 0);
    let count = generators::cases(400);
    for case in 0..count {
        let seed = generators::seed(case);
        let generated: Generated = random_graph(&mut Rng::new(seed));
        let mut rng = Rng::new(seed ^ 0x9e37);
        let mut module = module(&generated.text);
        let entry = module.entry();
        let parameters = module.parameters(entry);
        let shapes: Vec<Shape> =
            parameters.iter().map(|&id| shuffled(module[id].shape(), &mut rng)).collect();
        let result = shuffled(module[module.root(entry)].shape(), &mut rng);
        module.header.entry_layout = Some((shapes.clone(), result.clone()));
        let expected = values(&module, &generated);
        let before = print(&module);
        let Ok(applied) = optimize(&mut module, &["layout-assignment"], &options("layout_assignment")) else {
            continue;
        };
        let after = print(&module);
        changed += usize::from(applied.iter().any(|applied| !applied.changes.is_empty()));
        copies += after.matches(" copy(").count() - before.matches(" copy(").count();
        let found = errors(&module);
        assert!(found.is_empty(), "seed {seed}: {found:?}\n{before}\nbecame\n{after}");
        for (&id, shape) in parameters.iter().zip(&shapes) {
            assert_eq!(order(module[id].shape()), order(shape), "seed {seed}\n{after}");
        }
        assert_eq!(order(module[module.root(entry)].shape()), order(&result), "seed {seed}\n{after}");
        for (found, expected) in values(&module, &generated).iter().zip(&expected) {
            if let Ok(expected) = expected {
                compared += 1;
                assert_eq!(found.as_ref(), Ok(expected), "seed {seed}\n{before}\nbecame\n{after}");
            }
        }
        // What has the right layouts keeps them.
        let again = assign(&mut module);
        assert!(!again || print(&module).matches(" copy(").count() >= after.matches(" copy(").count());
    }
    let least = count as usize / 4;
    assert!(
        changed > least && copies > least && compared > least,
        "{changed}, {copies}, {compared} of {count}"
    );
}

#[test]
fn what_has_no_rules_is_named() {
    let text = "HloModule m\n\nENTRY e {\n  x = f32[4] parameter(0)\n  ROOT b = s32[4] bitcast(x)\n}\n";
    let stop =
        optimize(&mut module(text), &["layout-assignment"], &options("layout_assignment")).unwrap_err();
    assert_eq!(stop.to_string(), "layout assignment of %b: bitcast");
    let text = format!(
        "HloModule m\n{CALLEES}\nENTRY e {{\n  x = f32[8,4] parameter(0)\n  y = f32[8,4] call(x), to_apply=plain\n  \
         ROOT z = f32[8,4] call(y), to_apply=plain\n}}\n"
    );
    let stop =
        optimize(&mut module(&text), &["layout-assignment"], &options("layout_assignment")).unwrap_err();
    assert!(stop.to_string().ends_with("run flatten-call-graph before"), "{stop}");
}
