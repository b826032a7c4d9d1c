//! Bytes that are no message, or a damaged one.

use std::path::Path;

use hlo_proto::{Contents, Message, contents};
use random::Rng;

use crate::{bytes_of, text_of};

fn fixtures() -> Vec<Vec<u8>> {
    let files = test_files::below(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures"), ".pb");
    files.into_iter().map(|path| std::fs::read(path).expect("it is readable")).collect()
}

/// Reads bytes as whatever they may be, and as each message. What comes out as text is written again.
fn read_all(bytes: &[u8]) {
    _ = contents(bytes);
    for message in [Message::Module, Message::Hlo, Message::Snapshot, Message::UnoptimizedSnapshot] {
        if let Ok(text) = hlo_proto::read(bytes, message).and_then(hlo_proto::Module::into_text) {
            _ = bytes_of(&text.text);
        }
    }
}

#[test]
fn truncated_messages_are_named() {
    for bytes in fixtures() {
        for len in (0..bytes.len()).step_by(7) {
            read_all(&bytes[..len]);
        }
        let cut = contents(&bytes[..bytes.len() * 3 / 4]);
        let Contents::Other(what) = &cut else { panic!("{cut:?}") };
        assert!(what.starts_with("a truncated HloModuleProto: "), "{what}");
    }
}

#[test]
fn mutated_messages_do_not_panic() {
    let fixtures = fixtures();
    for case in 0..generators::cases(3000) {
        let mut rng = Rng::new(generators::seed(case));
        let mut bytes = rng.pick(&fixtures).clone();
        rng.damage(&mut bytes);
        read_all(&bytes);
    }
}

#[test]
fn random_bytes_do_not_panic() {
    for case in 0..generators::cases(1000) {
        let mut rng = Rng::new(generators::seed(case));
        let len = rng.index(200);
        let bytes: Vec<u8> = (0..len).map(|_| rng.next_u64() as u8).collect();
        read_all(&bytes);
        let mut bytecode = b"ML\xefR".to_vec();
        bytecode.extend(bytes);
        assert!(!matches!(contents(&bytecode), Contents::Module(_)));
    }
}

#[test]
fn nesting_is_bounded() {
    // A shape in a shape in a shape, in an instruction.
    let nested = |depth: usize| {
        let field = |number: u8, inner: &[u8]| {
            let mut out = vec![number << 3 | 2];
            let mut len = inner.len();
            loop {
                out.push((len & 0x7f) as u8 | if len > 0x7f { 0x80 } else { 0 });
                len >>= 7;
                if len == 0 {
                    break;
                }
            }
            out.extend(inner);
            out
        };
        let mut shape = vec![0x10, 13];
        for _ in 0..depth {
            let mut outer = vec![0x10, 13];
            outer.extend(field(4, &shape));
            shape = outer;
        }
        let mut instruction = field(1, b"a");
        instruction.extend(field(2, b"parameter"));
        instruction.extend(field(3, &shape));
        let mut computation = field(1, b"c");
        computation.extend(field(2, &instruction));
        let mut module = field(1, b"m");
        module.extend(field(3, &computation));
        module
    };
    assert!(text_of(&nested(50)).is_ok());
    let deep = text_of(&nested(5000)).unwrap_err();
    assert_eq!(deep, "a damaged HloModuleProto: messages are nested deeper than 100 levels");
}

/// Small messages of large ones in memory would otherwise take many times the size of the file.
#[test]
fn memory_is_bounded() {
    let mut computation = vec![0x0a, 1, b'c', 0x12, 5, 0x12, 3, b'a', b'd', b'd'];
    // Instructions of no bytes at all.
    computation.extend([0x12, 0].repeat(8 << 20));
    let mut module = vec![0x0a, 1, b'm', 0x1a];
    let mut len = computation.len();
    while len > 0x7f {
        module.push((len & 0x7f) as u8 | 0x80);
        len >>= 7;
    }
    module.push(len as u8);
    module.extend(computation);
    let why = text_of(&module).unwrap_err();
    assert_eq!(why, "an HloModuleProto that would take more than 8 GiB of memory");
}
