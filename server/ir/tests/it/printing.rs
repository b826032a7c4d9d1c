//! Round trips of printing and parsing: printed text reads back as the same program, and prints the same
//! again.

use std::sync::Arc;

use generators::hlo::{self, Generated};
use generators::{cases, on_all_cores, seed};
use ir::{AttributeKey, Block, Graph, Module, Op, OpId, Opcode, PrintOptions, Shape, print_module};
use random::Rng;
use syntax::hlo::PieceState;

fn block(text: &str) -> Block {
    let text: Arc<str> = text.into();
    let parse = syntax::hlo::parse(&text, PieceState::HEADER);
    assert!(parse.errors.is_empty(), "{:?}\n{text}", parse.errors);
    let block = ir::lower(text.clone(), Arc::new(parse));
    assert!(block.findings.is_empty(), "{:?}\n{text}", block.findings);
    block
}

fn print(block: &Block, options: &PrintOptions) -> String {
    let module = Module::of_block(block);
    assert!(module.findings.is_empty(), "{:?}\n{}", module.findings, block.text);
    print_module(&[block], &module, options).expect("it is small")
}

fn entry(block: &Block) -> Graph {
    let computations = &block.parse.computations;
    let entry = computations.iter().rposition(|c| c.is_entry).unwrap_or(computations.len() - 1);
    Graph::build(&[(block, entry as u32)]).expect("it is complete")
}

/// Element types, sizes and the effective layout, written or default.
fn meaning(shape: &Shape) -> String {
    match (shape.as_array(), shape.tuple_elements()) {
        (Some(array), _) => {
            let dims: Vec<_> =
                array.dims.iter().enumerate().map(|(i, &d)| (d, array.is_dynamic(i))).collect();
            format!("{}{dims:?}{:?}", array.element, array.minor_to_major())
        }
        (None, Some(elements)) => elements.iter().map(meaning).collect::<Vec<_>>().join(" "),
        (None, None) => shape.to_string(),
    }
}

/// Everything about an op except the names of what it calls.
fn op_meaning(op: &Op) -> String {
    let mut out = format!("{} {} {:?}", op.opcode, meaning(&op.shape), op.parameter);
    let of = &op.attributes;
    for &key in AttributeKey::ALL {
        // Omitted flags are false, except for topk.
        let flag = of.bool(key).filter(|&b| b != (op.opcode == Opcode::Topk));
        let value = (of.int(key), flag, of.ints(key), of.triples(key));
        if value != (None, None, &[][..], &[][..]) {
            out += &format!(" {key}={value:?}");
        }
    }
    out += &format!("{:?}{:?}{:?}", of.window(), of.convolution_dims(), of.replica_group_size());
    out + &format!("{:?}", of.source_target_pairs())
}

/// Compares both programs from their roots.
fn assert_same(a: &Graph, b: &Graph, text: &dyn Fn() -> String) {
    let mut seen = std::collections::BTreeMap::<OpId, OpId>::new();
    let mut open = vec![(a.root, b.root)];
    while let Some((at, bt)) = open.pop() {
        if let Some(&known) = seen.get(&at) {
            assert_eq!(known, bt, "{}", text());
            continue;
        }
        seen.insert(at, bt);
        assert_eq!(op_meaning(&a.ops[at as usize]), op_meaning(&b.ops[bt as usize]), "{}", text());
        let (of_a, of_b) = (&a.operands[at as usize], &b.operands[bt as usize]);
        assert_eq!(of_a.len(), of_b.len(), "{}", text());
        open.extend(of_a.iter().copied().zip(of_b.iter().copied()));
    }
}

fn check(generated: &Generated) {
    let original = block(&generated.text);
    for options in [PrintOptions::lossless(), PrintOptions::short_parsable(), PrintOptions::canonical()] {
        let printed = print(&original, &options);
        let text = || format!("seed {:#x}\n{}\n{printed}", generated.seed, generated.text);
        let again = block(&printed);
        assert_eq!(print(&again, &options), printed, "{}", text());
        assert_same(&entry(&original), &entry(&again), &text);
    }
}

#[test]
fn printed_instructions_read_back() {
    let opcodes = hlo::opcodes();
    on_all_cores(cases(2_000), |i| {
        let opcode: Opcode = opcodes[i as usize % opcodes.len()];
        check(&hlo::random_op(opcode, &mut Rng::new(seed(i))).expect("an instruction"));
    });
}

#[test]
fn printed_programs_read_back() {
    on_all_cores(cases(500), |i| check(&hlo::random_graph(&mut Rng::new(seed(i)))));
}

#[test]
fn elements_of_tuples_are_written_where_they_are_used() {
    let compact = PrintOptions { compact_gte: true, ..PrintOptions::lossless() };
    let text = "\
HloModule m

ENTRY e {
  p = (f32[4], (f32[2], f32[3])) parameter(0)
  a = f32[4] get-tuple-element(p), index=0
  b = (f32[2], f32[3]) get-tuple-element(p), index=1
  c = f32[2] get-tuple-element(b), index=0
  s = f32[4] negate(a)
  k = f32[4] add(s, a), control-predecessors={b}
  ROOT t = (f32[4], f32[2], (f32[2], f32[3])) tuple(k, c, b)
}
";
    let printed = print(&block(text), &compact);
    // The target of a control dependency has its own line.
    for line in ["negate(%p#0)", "add(%s, %p#0), control-predecessors={%b}", "tuple(%k, %b#0, %b)"] {
        assert!(printed.contains(line), "{line} is not in\n{printed}");
    }
    assert_eq!(print(&block(&printed), &compact), printed);
    let nested = text.replace(", control-predecessors={b}", "");
    let printed = print(&block(&nested), &compact);
    assert!(printed.contains("tuple(%k, %p#1#0, %p#1)"), "{printed}");
    assert!(!printed.contains("get-tuple-element"), "{printed}");
    assert_eq!(print(&block(&printed), &compact), printed);
    // A root stays an instruction.
    let root = "\
HloModule m

ENTRY e {
  p = (f32[4], f32[2]) parameter(0)
  ROOT a = f32[4] get-tuple-element(p), index=0
}
";
    assert!(print(&block(root), &compact).contains("ROOT %a = f32[4]{0} get-tuple-element(%p), index=0"));
}

#[test]
fn shardings_are_written_as_xla_writes_them() {
    let of = |sharding: &str| {
        let text = format!(
            "\
HloModule m

ENTRY e {{
  ROOT p = f32[4,4] parameter(0), sharding={sharding}
}}
"
        );
        let printed = print(&block(&text), &PrintOptions::lossless());
        let rest = printed.split_once("sharding=").expect("it is kept").1.to_owned();
        rest.lines().next().expect("a line").to_owned()
    };
    assert_eq!(of("{mesh[], replicated}"), "{replicated}");
    assert_eq!(of("{mesh['x'=2,'y'=2] [{'x'},{'y'}]}"), "{mesh['x'=2,'y'=2], [{'x'}, {'y'}]}");
    assert_eq!(of("{ single_device[device_id=3] }"), "{single_device[device_id=3]}");
}

#[test]
fn strings_may_hold_line_breaks() {
    let text = r#"HloModule m

ENTRY e {
  a = f32[] parameter(0)
  ROOT c = f32[] custom-call(a), custom_call_target="two
lines", backend_config="{
   x = 1
}"
}
"#;
    let printed = print(&block(text), &PrintOptions::lossless());
    // A dictionary is printed without quotes, verbatim.
    let kept = [r#"custom_call_target="two\nlines""#, "backend_config={\n   x = 1\n}"];
    assert!(kept.iter().all(|part| printed.contains(part)), "{printed}");
    assert_eq!(print(&block(&printed), &PrintOptions::lossless()), printed);
}
