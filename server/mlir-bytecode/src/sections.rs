//! The header and the sections: strings, dialects, and the places of attributes, types, properties and ops.

use crate::bytes::Reader;
use crate::{Error, Result};

const MAGIC: &[u8] = b"ML\xefR";

/// The newest version of the format that is read.
pub const NEWEST: u64 = 6;

/// Versions from which the format has a feature, by MLIR's `Encoding.h`.
pub(crate) const DIALECT_VERSIONS: u64 = 1;
pub(crate) const LAZY_REGIONS: u64 = 2;
pub(crate) const USE_LIST_ORDERS: u64 = 3;
pub(crate) const OPTIONAL_ARGUMENT_LOCATIONS: u64 = 4;
pub(crate) const PROPERTIES: u64 = 5;

/// What the header says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Header {
    pub version: u64,
    /// Who wrote it: `StableHLO_v1.9.0`, `MLIR22.0.0git`.
    pub producer: String,
}

/// The header of bytecode; `None` for other bytes.
pub fn header(bytes: &[u8]) -> Option<Header> {
    read_header(bytes).ok().map(|(header, _)| header)
}

fn read_header(bytes: &[u8]) -> Result<(Header, Reader<'_>)> {
    let Some(rest) = bytes.strip_prefix(MAGIC) else {
        return Err(Error { offset: 0, message: "no MLIR bytecode: it starts otherwise".to_owned() });
    };
    let mut reader = Reader::new(rest, MAGIC.len());
    let version = reader.number()?;
    let producer = reader.zero_terminated()?;
    let producer = String::from_utf8_lossy(producer).chars().take(200).collect();
    Ok((Header { version, producer }, reader))
}

/// An attribute or a type in its section.
pub(crate) struct Entry<'a> {
    pub(crate) dialect: u32,
    pub(crate) bytes: &'a [u8],
    pub(crate) offset: usize,
    /// In the encoding of its dialect rather than as text.
    pub(crate) is_encoded: bool,
}

/// The name of an op: its dialect and its name in it.
pub(crate) struct OpName {
    pub(crate) dialect: u32,
    pub(crate) name: u32,
    /// Whether the writer knew the op, and wrote its properties in an encoding of their own.
    pub(crate) is_registered: bool,
}

pub(crate) struct File<'a> {
    pub(crate) header: Header,
    /// In bytes.
    pub(crate) len: usize,
    strings: Vec<&'a [u8]>,
    dialects: Vec<u32>,
    pub(crate) op_names: Vec<OpName>,
    pub(crate) attributes: Vec<Entry<'a>>,
    pub(crate) types: Vec<Entry<'a>>,
    pub(crate) properties: Vec<Reader<'a>>,
    pub(crate) ops: Reader<'a>,
}

const STRINGS: usize = 0;
const DIALECTS: usize = 1;
const ENTRIES: usize = 2;
const ENTRY_OFFSETS: usize = 3;
pub(crate) const OPS: usize = 4;
const PROPERTIES_SECTION: usize = 8;

/// Reads the head of a section: its kind and its bytes.
pub(crate) fn section<'a>(reader: &mut Reader<'a>) -> Result<(usize, Reader<'a>)> {
    let id = reader.byte()?;
    let len = reader.number()?;
    if id & 0x80 != 0 {
        let at = *reader;
        let alignment = reader.number()?;
        if !alignment.is_power_of_two() || alignment > 1 << 20 {
            return at.error("the alignment of a section is not a power of two: the file is damaged");
        }
        let padding = reader.offset() as u64 % alignment;
        if padding != 0 {
            reader.bytes(usize::try_from(alignment - padding).unwrap_or(usize::MAX))?;
        }
    }
    let offset = reader.offset();
    let bytes = reader.bytes(usize::try_from(len).unwrap_or(usize::MAX))?;
    Ok((usize::from(id & 0x7f), Reader::new(bytes, offset)))
}

impl<'a> File<'a> {
    pub(crate) fn read(bytes: &'a [u8]) -> Result<File<'a>> {
        let (header, mut reader) = read_header(bytes)?;
        if header.version > NEWEST {
            return Err(Error {
                offset: MAGIC.len(),
                message: format!(
                    "bytecode of version {} by {}, newer than {NEWEST}, the last version that is read: write an older version \
                     (`stablehlo-translate --serialize --target=1.9.0`, `mlir-opt --emit-bytecode-version={NEWEST}`), or print the \
                     text with the tool that wrote it",
                    header.version, header.producer
                ),
            });
        }
        let mut sections: [Option<Reader<'a>>; 9] = [None; 9];
        while !reader.is_empty() {
            cancel::tick();
            let at = reader;
            let (id, bytes) = section(&mut reader)?;
            match sections.get_mut(id) {
                Some(section) if section.is_none() => *section = Some(bytes),
                Some(_) => return at.error(format!("a second section {id}: the file is damaged")),
                None => {
                    return at
                        .error(format!("a section of the unknown kind {id}: the file is damaged or newer"));
                }
            }
        }
        let needed = |id: usize, what: &str| match sections[id] {
            Some(section) => Ok(section),
            None => reader
                .error(format!("the section of {what} is missing: the file is truncated; copy it again")),
        };
        let strings = strings(needed(STRINGS, "strings")?)?;
        let (dialects, op_names) = dialects(needed(DIALECTS, "dialects")?, header.version)?;
        let entries = needed(ENTRIES, "attributes and types")?;
        let (attributes, types) = offsets(needed(ENTRY_OFFSETS, "offsets")?, entries)?;
        let properties = sections[PROPERTIES_SECTION].map_or(Ok(Vec::new()), properties)?;
        let ops = needed(OPS, "ops")?;
        Ok(File { header, len: bytes.len(), strings, dialects, op_names, attributes, types, properties, ops })
    }

    pub(crate) fn string(&self, index: u32, at: &Reader<'_>) -> Result<&'a [u8]> {
        match self.strings.get(index as usize) {
            Some(string) => Ok(string),
            None => at.error(format!("string {index} of {}: the file is damaged", self.strings.len())),
        }
    }

    /// The name of a dialect.
    pub(crate) fn dialect(&self, index: u32) -> &'a str {
        let name = self.dialects.get(index as usize).and_then(|&name| self.strings.get(name as usize));
        name.and_then(|name| std::str::from_utf8(name).ok()).unwrap_or("?")
    }

    /// The full name of an op: `vhlo.add_v1`.
    pub(crate) fn op_name(&self, index: u32, at: &Reader<'_>) -> Result<(String, bool)> {
        let Some(op) = self.op_names.get(index as usize) else {
            return at.error(format!("op name {index} of {}: the file is damaged", self.op_names.len()));
        };
        let name = String::from_utf8_lossy(self.string(op.name, at)?).into_owned();
        Ok((format!("{}.{name}", self.dialect(op.dialect)), op.is_registered))
    }
}

/// The lengths come first, from the last string to the first.
fn strings(mut reader: Reader<'_>) -> Result<Vec<&[u8]>> {
    let count = reader.count()?;
    let mut lens = Vec::new();
    for _ in 0..count {
        lens.push(reader.number()?);
    }
    let mut strings = Vec::new();
    for len in lens.into_iter().rev() {
        let bytes = reader.bytes(usize::try_from(len).unwrap_or(usize::MAX))?;
        strings.push(bytes.strip_suffix(b"\0").unwrap_or(bytes));
    }
    Ok(strings)
}

fn dialects(mut reader: Reader<'_>, version: u64) -> Result<(Vec<u32>, Vec<OpName>)> {
    let count = reader.count()?;
    let mut dialects = Vec::new();
    for _ in 0..count {
        let at = reader;
        let number = reader.number()?;
        let (name, has_version) = match version >= DIALECT_VERSIONS {
            true => (number >> 1, number & 1 == 1),
            false => (number, false),
        };
        dialects
            .push(u32::try_from(name).or_else(|_| at.error("an index is too large: the file is damaged"))?);
        if has_version {
            section(&mut reader)?;
        }
    }
    if version >= OPTIONAL_ARGUMENT_LOCATIONS {
        reader.number()?;
    }
    let mut ops = Vec::new();
    while !reader.is_empty() {
        let dialect = reader.index()?;
        let count = reader.count()?;
        for _ in 0..count {
            cancel::tick();
            let (name, is_registered) = match version >= PROPERTIES {
                true => {
                    let (name, is_registered) = reader.flagged()?;
                    (u32::try_from(name).unwrap_or(u32::MAX), is_registered)
                }
                false => (reader.index()?, false),
            };
            ops.push(OpName { dialect, name, is_registered });
        }
    }
    Ok((dialects, ops))
}

/// The attributes and the types by the lengths of their entries, which follow each other.
fn offsets<'a>(mut reader: Reader<'_>, mut entries: Reader<'a>) -> Result<(Vec<Entry<'a>>, Vec<Entry<'a>>)> {
    let (attributes, types) = (reader.count()?, reader.count()?);
    let mut group = |wanted: usize| -> Result<Vec<Entry<'a>>> {
        let mut found: Vec<Entry<'a>> = Vec::new();
        while found.len() < wanted {
            let at = reader;
            let dialect = reader.index()?;
            let count = reader.count()?;
            if count == 0 || count > wanted - found.len() {
                return at.error("the groups of attributes and types have other sizes: the file is damaged");
            }
            for _ in 0..count {
                cancel::tick();
                let (len, is_encoded) = reader.flagged()?;
                let offset = entries.offset();
                let bytes = entries.bytes(usize::try_from(len).unwrap_or(usize::MAX))?;
                found.push(Entry { dialect, bytes, offset, is_encoded });
            }
        }
        Ok(found)
    };
    Ok((group(attributes)?, group(types)?))
}

fn properties(mut reader: Reader<'_>) -> Result<Vec<Reader<'_>>> {
    let count = reader.count()?;
    let mut properties = Vec::new();
    for _ in 0..count {
        let len = reader.count()?;
        let offset = reader.offset();
        properties.push(Reader::new(reader.bytes(len)?, offset));
    }
    Ok(properties)
}
