//! Typed attributes, printed and read again.

use std::collections::BTreeMap;
use std::path::Path;

use ir::{AttributeKey, AttributeValue, Attributes, Op};

use crate::lowered;

/// The op as one instruction, and its attributes as they are read from that.
fn printed_and_read(op: &Op) -> (String, Option<Attributes>) {
    let names: Vec<String> = (0..op.operand_shapes.len()).map(|n| format!("operand.{n}")).collect();
    let mut text = String::new();
    op.write(&mut text, names.iter().map(String::as_str));
    let mut module = "HloModule m\nENTRY e {\n".to_owned();
    for (name, shape) in names.iter().zip(&op.operand_shapes) {
        module += &format!("  {name} = {shape} custom-call(), custom_call_target=\"c\"\n");
    }
    module += &format!("  ROOT r = {text}\n}}\n");
    let block = lowered(&module);
    let read = block.root(0).filter(|_| block.parse.errors.is_empty());
    (text, read.and_then(|root| block.op(root, |_| None)).map(|op| op.attributes))
}

/// How `attributes` print, each on its own: what is written in several ways is the same where it prints the same.
fn values(attributes: &Attributes) -> BTreeMap<AttributeKey, String> {
    let printed = |(key, value): (AttributeKey, &AttributeValue)| {
        let op =
            Op { attributes: Attributes::default().with(key, value.clone()), ..Op::leaf(ir::Shape::Token) };
        let mut text = String::new();
        op.write(&mut text, std::iter::empty());
        (key, text)
    };
    let is_kept = |key: AttributeKey, text: &str| text.contains(&format!(", {key}="));
    attributes.iter().map(printed).filter(|(key, text)| is_kept(*key, text)).collect()
}

/// Whether typed values are equal where they are more than text.
fn is_same(a: &AttributeValue, b: &AttributeValue) -> bool {
    use AttributeValue::{Quoted, Text, Word};
    match (a, b) {
        (Word(_), Word(_)) | (Quoted(_), Quoted(_)) | (Text(_), Text(_)) => true,
        // A dictionary is written without quotes.
        (Quoted(_), Text(_)) => true,
        _ => a == b,
    }
}

fn check(op: &Op, within: &Path) -> bool {
    let attributes = &op.attributes;
    let inline =
        |value: &AttributeValue| matches!(value, AttributeValue::Names(n) if n.iter().any(String::is_empty));
    if attributes.iter().next().is_none() || attributes.iter().any(|(_, value)| inline(value)) {
        return false;
    }
    let (text, read) = printed_and_read(op);
    let read = read.unwrap_or_else(|| panic!("{}: not read: {text}", within.display()));
    assert_eq!(values(&read), values(attributes), "{}: {text}", within.display());
    for (key, value) in read.iter() {
        let before = attributes.get(key).expect("nothing is added");
        assert!(is_same(before, value), "{}: {before:?} is read as {value:?}", within.display());
    }
    // What is printed is a fixpoint, whatever kind of value it is.
    let (again, second) = printed_and_read(&Op { attributes: read.clone(), ..op.clone() });
    assert_eq!(second.as_ref(), Some(&read), "{}: {again}", within.display());
    true
}

#[test]
fn attributes_are_printed_as_they_are_read() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut files = test_files::below(root.join("server"), ".hlo");
    files.extend(test_files::below(root.join("grammar"), ".hlo"));
    files.extend(test_files::below(root.join("tests"), ".hlo"));
    assert!(!files.is_empty(), "fixtures are committed");
    match std::env::var_os("HLO_CORPUS") {
        Some(folder) => files.extend(test_files::below(folder, ".hlo")),
        None => eprintln!("the project's own files alone: HLO_CORPUS names no folder of more"),
    }
    let mut checked = 0;
    let mut keys = std::collections::BTreeSet::new();
    for path in files {
        let text = std::fs::read_to_string(&path).expect("the file can be read");
        let block = lowered(&text);
        if text.len() > 4 << 20 || !block.parse.errors.is_empty() {
            continue;
        }
        for id in 0..block.parse.instructions.len() as u32 {
            let Some(op) = block.op(id, |_| None).filter(|op| op.attributes.unknown().is_empty()) else {
                continue;
            };
            if check(&op, &path) {
                checked += 1;
                keys.extend(op.attributes.iter().map(|(key, _)| key));
            }
        }
    }
    let kinds = keys.len();
    assert!(checked > 30 && kinds > 15, "only {checked} instructions with {kinds} kinds of attributes");
}

/// Values of every kind that fixtures may lack.
#[test]
fn values_of_every_kind_are_printed_and_read() {
    use AttributeKey as K;
    use AttributeValue::{Computation, Names, Quoted, Shape, Text, Word};
    let window = ir::WindowDim { stride: 2, pad_high: 1, is_reversed: true, ..ir::WindowDim::of_size(3) };
    let all: [(K, AttributeValue); 16] = [
        (K::IsStable, true.into()),
        (K::ChannelId, 7.into()),
        (K::Dimensions, vec![1, 0].into()),
        (K::Slice, vec![[0, 4, 1], [2, 8, 3]].into()),
        (K::Padding, vec![[0, -1, 0], [2, 8, 3]].into()),
        (K::Window, vec![ir::WindowDim::of_size(2), window].into()),
        (K::ToApply, Computation("add".to_owned())),
        (K::BranchComputations, Names(vec!["a".to_owned(), "b.1".to_owned()])),
        (K::ControlPredecessors, Names(vec!["operand.0".to_owned()])),
        (K::Direction, Word("LT".to_owned())),
        (K::DimLabels, Word("b01f_01io->b01f".to_owned())),
        (K::CustomCallTarget, Quoted("a\\\"b".to_owned())),
        (K::OutfeedShape, Shape(ir::Shape::Tuple([ir::Shape::Token, ir::Shape::Opaque].into()))),
        (K::Sharding, Text("{devices=[2,1]<=[2]}".to_owned())),
        (K::ReplicaGroups, Text("{{0,1},{2,3}}".to_owned())),
        (K::Metadata, Text("{op_name=\"a\" source_line=3}".to_owned())),
    ];
    let mut attributes = Attributes::default();
    for (key, value) in all {
        attributes.push(key, value);
    }
    let op = Op {
        opcode: ir::Opcode::Add,
        operand_shapes: vec![ir::Shape::Token],
        attributes: attributes.clone(),
        ..Op::leaf(ir::Shape::Token)
    };
    let (text, read) = printed_and_read(&op);
    let known = |attributes: &Attributes| -> Vec<_> {
        attributes.iter().map(|(key, value)| (key, value.clone())).collect()
    };
    assert_eq!(read.as_ref().map(known), Some(known(&attributes)), "{text}");
}
