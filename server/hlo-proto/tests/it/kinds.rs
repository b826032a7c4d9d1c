//! What the bytes of a file are.

use hlo_proto::messages::{HloProto, HloSnapshot, HloUnoptimizedSnapshot, encoded};
use hlo_proto::{Contents, Message, contents};

use crate::text_of;

const TEXT: &str = "HloModule m\n\nENTRY e {\n  ROOT p = f32[2] parameter(0)\n}\n";

fn hlo() -> HloProto {
    hlo_proto::module_proto(TEXT).unwrap().into_hlo()
}

#[track_caller]
fn other(bytes: &[u8]) -> String {
    match contents(bytes) {
        Contents::Other(what) => what,
        found => panic!("{found:?}"),
    }
}

#[test]
fn modules_are_found_in_their_messages() {
    let with_buffers = HloProto { buffer_assignment: vec![10, 0], ..hlo() };
    let snapshot = HloSnapshot {
        hlo: Some(hlo()),
        arguments: vec![vec![10, 0]],
        execution_platform: "CUDA".to_owned(),
        ..HloSnapshot::default()
    };
    let unoptimized =
        HloUnoptimizedSnapshot { hlo_module: hlo().hlo_module, partitions: vec![vec![10, 0]], version: 1 };
    for (bytes, message, notes) in [
        (encoded(&hlo().hlo_module.unwrap()), Message::Module, vec![]),
        (encoded(&hlo()), Message::Hlo, vec![]),
        (
            encoded(&with_buffers),
            Message::Hlo,
            vec!["the HloProto also has buffer_assignment, which is not shown"],
        ),
        (
            encoded(&snapshot),
            Message::Snapshot,
            vec![
                "the HloSnapshot also has arguments, which is not shown",
                "the HloSnapshot also has execution_platform, which is not shown",
            ],
        ),
        (
            encoded(&unoptimized),
            Message::UnoptimizedSnapshot,
            vec!["the HloUnoptimizedSnapshot also has partitions, which is not shown"],
        ),
    ] {
        assert_eq!(contents(&bytes), Contents::Module(message));
        let read = text_of(&bytes).unwrap();
        assert!(read.text.starts_with("HloModule m, entry_computation_layout"), "{}", read.text);
        assert_eq!(read.notes, notes);
    }
}

#[test]
fn fields_that_are_newer_are_named() {
    let mut bytes = encoded(&hlo().hlo_module.unwrap());
    // Field 1000, twice, and 7 as a number.
    bytes.extend([0xc2, 0x3e, 1, b'x', 0xc2, 0x3e, 1, b'y']);
    let read = text_of(&bytes).unwrap();
    assert_eq!(
        read.notes,
        ["field 1000 of HloModuleProto is newer than this version and left out (2 times)"]
    );
}

#[test]
fn what_the_text_has_no_place_for_is_named() {
    let mut module = hlo().hlo_module.unwrap();
    module.is_dynamic = true;
    module.device_assignment = vec![8, 1];
    module.computations[0].instructions[0].delta = 5;
    let read = text_of(&encoded(&module)).unwrap();
    assert_eq!(
        read.notes,
        [
            "parameter %p has delta, which HLO text has no place for",
            "the module has device_assignment, which HLO text has no place for",
            "the module has is_dynamic, which HLO text has no place for",
        ]
    );
}

#[test]
fn other_files_are_named() {
    let xspace = b"\x0a\x1a\x08\x01\x12\x0d/device:GPU:0\x1a\x07\x08\x01\x12\x03abc";
    assert_eq!(other(xspace), "an XSpace profile, not an HLO module: open it in XProf or TensorBoard");
    let buffers = b"\x1a\x06\x0a\x04\x08\x01\x10\x02";
    assert!(other(buffers).starts_with("an HloProto of buffer assignment only, without a module"));
    assert!(other(b"PK\x03\x04\x00").starts_with("a zip archive"));
    assert!(other(b"\x7fELF\x02\x01\x01\x00").starts_with("a compiled object or cubin"));
    assert!(other(b"\x00\x01\x02\x03").starts_with("binary data of an unknown kind"));
    for text in [TEXT, "", "module {\n}", "// caf\u{e9}\n", "\u{feff}HloModule m"] {
        assert_eq!(contents(text.as_bytes()), Contents::Text);
    }
    // A broken text is a text: the parsers say where it is broken.
    assert_eq!(
        contents(b"HloModule m\n\nENTRY e { \xff\xfe\x01 }\n                        "),
        Contents::Text
    );
}

#[test]
fn bytecode_is_found() {
    let found = |bytes: &[u8]| match contents(bytes) {
        Contents::Bytecode(bytecode) => bytecode,
        found => panic!("{found:?}"),
    };
    for bytes in
        [&include_bytes!("../fixtures/add.mlirbc")[..], include_bytes!("../fixtures/add_portable.mlirbc")]
    {
        let bytecode = found(bytes);
        assert_eq!((bytecode.range, bytecode.is_enclosed), (0..bytes.len(), false));
    }
    let exported = include_bytes!("../fixtures/add.jax_export");
    let bytecode = found(exported);
    assert!(bytecode.is_enclosed && exported[bytecode.range.clone()].starts_with(b"ML\xefR"));
    assert!(bytecode.range.len() < exported.len() - bytecode.range.start, "other members follow the module");
}
