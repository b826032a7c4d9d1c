//! What the bytes of a file are, by the bytes alone.

use crate::bytecode::{self, Bytecode};
use crate::wire::{Fault, Fields, Value};

/// A message that holds a module.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Message {
    /// `HloModuleProto`: what `jax` and `torch_xla` exchange with XLA.
    Module,
    /// `HloProto`, as `--xla_dump_hlo_as_proto` writes it, or `HloModuleProtoWithConfig`.
    Hlo,
    /// `HloSnapshot`, as `--xla_dump_hlo_snapshots` writes it.
    Snapshot,
    /// `HloUnoptimizedSnapshot`.
    UnoptimizedSnapshot,
}

/// What a file holds.
#[derive(Debug, PartialEq, Eq)]
pub enum Contents {
    /// Text, or what may be one: the parsers say what is wrong with it.
    Text,
    Module(Message),
    /// Bytes that are no module that can be read: what they are, and what to do.
    Other(String),
    Bytecode(Bytecode),
}

impl Message {
    pub fn name(self) -> &'static str {
        match self {
            Message::Module => "HloModuleProto",
            Message::Hlo => "HloProto",
            Message::Snapshot => "HloSnapshot",
            Message::UnoptimizedSnapshot => "HloUnoptimizedSnapshot",
        }
    }

    /// The fields that lead to the module.
    fn path(self) -> &'static [u32] {
        match self {
            Message::Module => &[],
            Message::Hlo | Message::UnoptimizedSnapshot => &[1],
            Message::Snapshot => &[1, 1],
        }
    }
}

/// How many bytes are looked at to tell text from other data.
const SAMPLE: usize = 8 << 10;

/// What the bytes are.
pub fn contents(bytes: &[u8]) -> Contents {
    let sample = &bytes[..bytes.len().min(SAMPLE)];
    let is_control = |byte: &u8| *byte < 0x20 && !matches!(byte, b'\t' | b'\n' | 0x0b | 0x0c | b'\r' | 0x1b);
    if let Some(bytecode) = bytecode::bytecode(bytes) {
        return Contents::Bytecode(bytecode);
    }
    if let Some(what) = by_first_bytes(bytes) {
        return Contents::Other(what.to_owned());
    }
    let controls = sample.iter().filter(|byte| is_control(byte)).count();
    if controls == 0 {
        return Contents::Text;
    }
    let mut truncated = None;
    for message in [Message::Snapshot, Message::Hlo, Message::Module] {
        match module_at(bytes, message.path()) {
            Some(Found { is_truncated: false, .. }) => return Contents::Module(unoptimized(message, bytes)),
            Some(found) => _ = truncated.get_or_insert((message, found)),
            None => {}
        }
    }
    if let Some((message, found)) = truncated {
        return Contents::Other(format!(
            "a truncated {}: {} bytes are missing at the end; copy or dump the file again",
            message.name(),
            found.missing
        ));
    }
    if let Some(what) = other_message(bytes) {
        return Contents::Other(what);
    }
    // A text may have a stray character.
    match controls * 20 > sample.len() || sample.contains(&0) {
        true => Contents::Other(
            "binary data of an unknown kind: neither HLO or MLIR text nor a message with an HLO module"
                .to_owned(),
        ),
        false => Contents::Text,
    }
}

fn by_first_bytes(bytes: &[u8]) -> Option<&'static str> {
    const KINDS: &[(&[u8], &str)] = &[
        (b"PK\x03\x04", "a zip archive: unpack it, and name the module in it"),
        (b"\x28\xb5\x2f\xfd", "data compressed by zstd: unpack it with `zstd -d`"),
        (b"\xfd7zXZ\x00", "data compressed by xz: unpack it with `xz -d`"),
        (b"BZh", "data compressed by bzip2: unpack it with `bzip2 -d`"),
        (b"\x7fELF", "a compiled object or cubin, which holds no HLO"),
        (b"BC\xc0\xde", "LLVM bitcode, which holds no HLO: the `.ll` file beside it is its text"),
        (b"\x89PNG", "a picture"),
    ];
    KINDS.iter().find(|(start, _)| bytes.starts_with(start)).map(|(_, what)| *what)
}

struct Found {
    is_truncated: bool,
    missing: u64,
}

/// Whether a module lies in the bytes at the end of a path of fields.
fn module_at(bytes: &[u8], path: &[u32]) -> Option<Found> {
    let [first, rest @ ..] = path else { return module(bytes) };
    for field in Fields::new(bytes) {
        match field {
            Ok((number, Value::Bytes(inner))) if number == *first => return module_at(inner, rest),
            Err(Fault::Truncated { field, present, missing }) if field == *first => {
                module_at(present, rest)?;
                return Some(Found { is_truncated: true, missing });
            }
            Ok(_) => {}
            Err(_) => return None,
        }
    }
    None
}

/// A name, and a computation with an instruction whose opcode is a word.
fn module(bytes: &[u8]) -> Option<Found> {
    let mut has_computation = false;
    let mut has_name = false;
    for field in Fields::new(bytes) {
        match field {
            Ok((1, Value::Bytes(name))) => has_name |= std::str::from_utf8(name).is_ok(),
            Ok((3, Value::Bytes(computation))) => has_computation |= is_computation(computation),
            Ok((1..=3, Value::Number(_))) => return None,
            Ok(_) => {}
            Err(Fault::Truncated { present, missing, field }) => {
                has_computation |= field == 3 && is_computation(present);
                let is_module = has_name && has_computation;
                return is_module.then_some(Found { is_truncated: true, missing });
            }
            Err(Fault::Invalid) => return None,
        }
    }
    (has_name && has_computation).then_some(Found { is_truncated: false, missing: 0 })
}

fn is_computation(bytes: &[u8]) -> bool {
    let mut fields = Fields::new(bytes).map_while(Result::ok);
    fields.any(|(number, value)| matches!(value, Value::Bytes(bytes) if number == 2 && is_instruction(bytes)))
}

fn is_instruction(bytes: &[u8]) -> bool {
    let mut fields = Fields::new(bytes).map_while(Result::ok);
    let is_word = |bytes: &[u8]| {
        !bytes.is_empty()
            && bytes.iter().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
    };
    fields.any(|(number, value)| matches!(value, Value::Bytes(bytes) if number == 2 && is_word(bytes)))
}

/// An unoptimised snapshot begins as an `HloProto` does, and then has the inputs of each partition, or a version.
fn unoptimized(message: Message, bytes: &[u8]) -> Message {
    let is_version = |field: (u32, Value<'_>)| matches!(field, (3, Value::Number(_)));
    match message == Message::Hlo && Fields::new(bytes).map_while(Result::ok).any(is_version) {
        true => Message::UnoptimizedSnapshot,
        false => message,
    }
}

/// Other messages that are found beside dumps.
fn other_message(bytes: &[u8]) -> Option<String> {
    let fields: Vec<(u32, Value<'_>)> = Fields::new(bytes).take(4096).collect::<Result<_, _>>().ok()?;
    let bytes_of = |wanted: u32| {
        fields.iter().find_map(|(number, value)| match value {
            Value::Bytes(bytes) if *number == wanted => Some(*bytes),
            _ => None,
        })
    };
    let field_of = |bytes: Option<&'_ [u8]>, wanted: u32| -> Option<Vec<u8>> {
        Fields::new(bytes?).map_while(Result::ok).find_map(|(number, value)| match value {
            Value::Bytes(bytes) if number == wanted => Some(bytes.to_vec()),
            _ => None,
        })
    };
    let numbers: Vec<u32> = fields.iter().map(|(number, _)| *number).collect();
    // XSpace: planes with names like `/device:GPU:0`.
    if numbers.contains(&1)
        && numbers.iter().all(|number| *number <= 4)
        && field_of(bytes_of(1), 2)
            .is_some_and(|name| name.starts_with(b"/") || name.starts_with(b"Task Environment"))
    {
        return Some("an XSpace profile, not an HLO module: open it in XProf or TensorBoard".to_owned());
    }
    // An HloProto whose only field is the buffer assignment.
    if numbers.iter().all(|number| *number == 3)
        && let Some(assignment) = bytes_of(3)
        && Fields::new(assignment).all(|field| matches!(field, Ok((1..=5, Value::Bytes(_)))))
    {
        return Some(
            "an HloProto of buffer assignment only, without a module: read the file that was dumped beside it".to_owned(),
        );
    }
    if numbers.iter().all(|number| (1..=5).contains(number))
        && field_of(bytes_of(5), 2).is_some()
        && bytes_of(1).is_none()
    {
        return Some(
            "an HloModuleMetadataProto: it lists the passes of a compile and holds no module".to_owned(),
        );
    }
    if bytes_of(2).is_some_and(|inner| module(inner).is_some()) {
        return Some("an HloModuleGroupProto: write each of its modules to a file of its own".to_owned());
    }
    None
}
