//! Printing against parsing: what is printed reads back as the same program, and is printed the same again.

use std::sync::Arc;

use eval::generate::{self, Generated, Rng};
use ir::{AttributeKey, Block, Graph, Module, Op, OpId, Opcode, PrintOptions, Shape, print_module};
use syntax::hlo::PieceState;

use crate::{cases, on_all_cores, seed};

fn block(text: &str) -> Block {
    let text: Arc<str> = text.into();
    let parse = syntax::hlo::parse(&text, PieceState::HEADER);
    assert!(parse.errors.is_empty(), "{:?}\n{text}", parse.errors);
    let block = ir::lower(text.clone(), Arc::new(parse));
    assert!(block.findings.is_empty(), "{:?}\n{text}", block.findings);
    block
}

fn print(block: &Block, options: &PrintOptions) -> String {
    let signature = block.signature();
    let module = Module::build(std::iter::once(&signature));
    assert!(module.findings.is_empty(), "{:?}\n{}", module.findings, block.text);
    print_module(&[block], &module, options).expect("it is small")
}

fn entry(block: &Block) -> Graph {
    let computations = &block.parse.computations;
    let entry = computations.iter().rposition(|c| c.is_entry).unwrap_or(computations.len() - 1);
    Graph::build(&[(block, entry as u32)]).expect("it is complete")
}

/// Element types, sizes and the layout that is meant, written or not.
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

/// All of an op but the names of what it calls.
fn op_meaning(op: &Op) -> String {
    let mut out = format!("{} {} {:?}", op.opcode, meaning(&op.shape), op.parameter);
    let of = &op.attributes;
    for &key in AttributeKey::ALL {
        // Flags that are not written are false, but those of topk.
        let flag = of.bool(key).filter(|&b| b != (op.opcode == Opcode::Topk));
        let value = (of.int(key), flag, of.ints(key), of.triples(key));
        if value != (None, None, &[][..], &[][..]) {
            out += &format!(" {key}={value:?}");
        }
    }
    out += &format!("{:?}{:?}{:?}", of.window(), of.convolution_dims(), of.replica_group_size());
    out + &format!("{:?}", of.source_target_pairs())
}

/// Walks both programs from their roots.
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
    let opcodes = generate::opcodes();
    on_all_cores(cases(), |i| {
        let opcode: Opcode = opcodes[i as usize % opcodes.len()];
        check(&generate::random_op(opcode, &mut Rng::new(seed(i))).expect("an instruction"));
    });
}

#[test]
fn printed_programs_read_back() {
    on_all_cores(cases() / 4, |i| check(&generate::random_graph(&mut Rng::new(seed(i)))));
}
