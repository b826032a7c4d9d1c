//! MLIR bytecode: what its header and its sections say without reading the module.
//!
//! Source: <https://mlir.llvm.org/docs/BytecodeFormat/>.

const MAGIC: &[u8] = b"ML\xefR";

/// What a file of MLIR bytecode says of itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bytecode {
    pub version: u64,
    /// Who wrote it: `StableHLO_v1.9.0`, `MLIR22.0.0git`.
    pub producer: String,
    /// The names of its dialects, with their versions where those are stated as numbers; empty where it could not be read.
    pub dialects: Vec<(String, Option<Vec<u64>>)>,
    /// Whether other bytes come before it, as in a file of `jax.export`.
    pub is_enclosed: bool,
}

/// The newest version of the format that is known.
const NEWEST: u64 = 6;
/// How many bytes of another file may come before.
const MAX_BEFORE: usize = 1 << 20;
const MAX_NAMES: u64 = 1 << 20;

/// The bytecode in a file, `None` where there is none.
pub(crate) fn bytecode(bytes: &[u8]) -> Option<Bytecode> {
    let is_enclosed = !bytes.starts_with(MAGIC);
    let start = match is_enclosed {
        false => 0,
        true => {
            // A file of `jax.export` is a flatbuffer: its first number is the place of its table.
            let table = u32::from_le_bytes(*bytes.first_chunk::<4>()?);
            if usize::try_from(table).ok()? >= bytes.len().min(MAX_BEFORE) || table < 4 {
                return None;
            }
            let before = &bytes[..bytes.len().min(MAX_BEFORE)];
            before.windows(MAGIC.len()).position(|window| window == MAGIC)?
        }
    };
    let mut reader = Reader { rest: &bytes[start + MAGIC.len()..] };
    let version = reader.varint()?;
    let producer = reader.zero_terminated()?;
    let producer: String = String::from_utf8_lossy(producer).chars().take(200).collect();
    let dialects = if version <= NEWEST { dialects(reader).unwrap_or_default() } else { Vec::new() };
    Some(Bytecode { version, producer, dialects, is_enclosed })
}

const STRINGS: u8 = 0;
const DIALECTS: u8 = 1;

/// Reads the sections of strings and of dialects.
fn dialects(mut reader: Reader<'_>) -> Option<Vec<(String, Option<Vec<u64>>)>> {
    let (mut strings, mut section) = (None, None);
    while !reader.rest.is_empty() && (strings.is_none() || section.is_none()) {
        cancel::tick();
        let id = reader.byte()?;
        let len = usize::try_from(reader.varint()?).ok()?;
        if id & 0x80 != 0 {
            let alignment = usize::try_from(reader.varint()?).ok()?;
            // Padding bytes come before the section.
            while reader.rest.first() == Some(&0xcb) && alignment > 1 {
                reader.byte()?;
            }
        }
        let bytes = reader.bytes(len)?;
        match id & 0x7f {
            STRINGS => strings = Some(bytes),
            DIALECTS => section = Some(bytes),
            _ => {}
        }
    }
    let strings = read_strings(strings?)?;
    let mut reader = Reader { rest: section? };
    let count = reader.varint()?.min(MAX_NAMES);
    let mut found = Vec::new();
    for _ in 0..count {
        let name = reader.varint()?;
        let text = String::from_utf8_lossy(strings.get(usize::try_from(name >> 1).ok()?)?).into_owned();
        let mut numbers = None;
        if name & 1 == 1 {
            // The version is a section of its own, in the encoding of the dialect: numbers for VHLO.
            let _id = reader.byte()?;
            let len = usize::try_from(reader.varint()?).ok()?;
            let mut version = Reader { rest: reader.bytes(len)? };
            let mut parts = Vec::new();
            while !version.rest.is_empty() && parts.len() < 8 {
                parts.push(version.varint()?);
            }
            numbers = Some(parts);
        }
        found.push((text, numbers));
    }
    Some(found)
}

/// The lengths come first, from the last string to the first.
fn read_strings(section: &[u8]) -> Option<Vec<&[u8]>> {
    let mut reader = Reader { rest: section };
    let count = reader.varint()?;
    if count > MAX_NAMES || count > section.len() as u64 {
        return None;
    }
    let mut lens = Vec::new();
    for _ in 0..count {
        lens.push(usize::try_from(reader.varint()?).ok()?);
    }
    let mut strings = Vec::new();
    for len in lens.into_iter().rev() {
        let bytes = reader.bytes(len)?;
        strings.push(bytes.strip_suffix(b"\0").unwrap_or(bytes));
    }
    Some(strings)
}

struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    fn byte(&mut self) -> Option<u8> {
        let (&byte, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(byte)
    }

    fn bytes(&mut self, len: usize) -> Option<&'a [u8]> {
        let (bytes, rest) = self.rest.split_at_checked(len)?;
        self.rest = rest;
        Some(bytes)
    }

    fn zero_terminated(&mut self) -> Option<&'a [u8]> {
        let end = self.rest.iter().position(|&byte| byte == 0)?;
        let bytes = self.bytes(end)?;
        self.byte()?;
        Some(bytes)
    }

    /// The number of zeros at the start of the first byte says how many bytes follow.
    fn varint(&mut self) -> Option<u64> {
        let first = self.byte()?;
        if first == 0 {
            let bytes = self.bytes(8)?;
            return Some(u64::from_le_bytes(bytes.try_into().ok()?));
        }
        let more = first.trailing_zeros() as usize;
        let mut value = u64::from(first);
        for (i, &byte) in self.bytes(more)?.iter().enumerate() {
            value |= u64::from(byte) << (8 * (i + 1));
        }
        Some(value >> (more + 1))
    }
}

impl Bytecode {
    /// What the file is, and how to get a text.
    pub fn explanation(&self) -> String {
        let producer = if self.producer.is_empty() { "an unnamed producer" } else { &self.producer };
        let mut out = match self.is_enclosed {
            true => "an exported function (`jax.export`) around MLIR bytecode".to_owned(),
            false => "MLIR bytecode".to_owned(),
        };
        out.push_str(&format!(" of version {} by {producer}", self.version));
        if self.version > NEWEST {
            out.push_str(&format!(", newer than {NEWEST}, the last version that is known"));
        }
        let dialects: Vec<String> = self
            .dialects
            .iter()
            .map(|(name, version)| match version {
                Some(version) => {
                    let parts: Vec<String> = version.iter().map(u64::to_string).collect();
                    format!("{name} {}", parts.join("."))
                }
                None => name.clone(),
            })
            .collect();
        if !dialects.is_empty() {
            out.push_str(&format!(", with the dialects {}", dialects.join(", ")));
        }
        let is_portable = self.dialects.iter().any(|(name, _)| name == "vhlo");
        out.push_str(match (self.is_enclosed, is_portable) {
            (true, _) => {
                "; it is not read: print the text with `jax.export.deserialize(bytearray(data)).mlir_module()` in Python"
            }
            (false, true) => "; it is not read: print the text with `stablehlo-translate --deserialize FILE`",
            (false, false) => "; it is not read: print the text with `mlir-opt FILE`",
        });
        out
    }
}
