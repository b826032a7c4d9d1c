//! Attributes and types: what an entry holds, with references to others by index.

use std::cell::RefCell;
use std::rc::Rc;

use crate::bytes::Reader;
use crate::sdy::Sharding;
use crate::sections::{Entry, File};
use crate::{Result, builtin, native, sdy, vhlo};

/// An attribute of any dialect that is read, in the terms of builtin and StableHLO.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Attribute<'a> {
    /// In its dialect's own text.
    Text(String),
    Array(Vec<u32>),
    /// Names, which are strings, and values.
    Dictionary(Vec<(u32, u32)>),
    String(&'a [u8]),
    TypedString(&'a [u8], u32),
    /// The strings of the path.
    Symbol(Vec<u32>),
    Type(u32),
    Unit,
    Bool(bool),
    Integer {
        ty: u32,
        bits: u128,
    },
    Float {
        ty: u32,
        bits: u128,
    },
    Location(Location),
    Dense {
        ty: u32,
        bytes: &'a [u8],
    },
    DenseStrings {
        ty: u32,
        is_splat: bool,
        strings: Vec<&'a [u8]>,
    },
    DenseArray {
        element: u32,
        len: u64,
        bytes: &'a [u8],
    },
    /// A case of an enumeration of StableHLO or CHLO.
    Enum {
        of: Enum,
        number: u64,
    },
    OutputAlias {
        output: Vec<i64>,
        operand: i64,
        operand_tuple: Vec<i64>,
    },
    Bounds(Vec<i64>),
    Accuracy {
        atol: f64,
        rtol: f64,
        ulps: i64,
        mode: u32,
    },
    SubAxis {
        pre: i64,
        size: i64,
    },
    Axis {
        name: u32,
        sub: Option<u32>,
    },
    MeshAxes {
        mesh: u32,
        axes: u32,
    },
    /// The same, with the list of axes in itself.
    MeshAxisList {
        mesh: u32,
        axes: Vec<u32>,
    },
    /// An axis whose name is a string of the file rather than an attribute.
    NamedAxis {
        name: &'a [u8],
        sub: Option<u32>,
    },
    NamedMeshAxis {
        name: &'a [u8],
        size: i64,
    },
    MeshAxis {
        name: u32,
        size: i64,
    },
    Mesh {
        axes: u32,
        devices: Option<u32>,
    },
    Sharding(Sharding<'a>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Enum {
    ComparisonDirection,
    ComparisonType,
    ApiVersion,
    FftType,
    Precision,
    RngAlgorithm,
    RngDistribution,
    Transpose,
    AccuracyMode,
    ChloComparisonDirection,
    ChloComparisonType,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Location {
    Unknown,
    CallSite {
        callee: u32,
        caller: u32,
    },
    /// A file, and up to four numbers: line, column, end line, end column.
    File {
        name: u32,
        numbers: Vec<u64>,
    },
    Fused {
        locations: Vec<u32>,
        metadata: Option<u32>,
    },
    Name {
        name: u32,
        child: u32,
    },
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Type {
    Text(String),
    Name(&'static str),
    Integer { width: u64, sign: &'static str },
    Function { inputs: Vec<u32>, results: Vec<u32> },
    Complex(u32),
    Tensor { shape: Vec<i64>, element: u32, encoding: Option<u32> },
    Unranked(u32),
    MemRef { shape: Option<Vec<i64>>, element: u32, layout: Option<u32>, space: Option<u32> },
    Vector { shape: Vec<i64>, scalable: Vec<bool>, element: u32 },
    Tuple(Vec<u32>),
    Future(Vec<u32>),
    Quantized(Box<Quantized>),
}

/// A uniformly quantized type: of one scale, or one per element of a dimension.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Quantized {
    pub(crate) storage: u32,
    pub(crate) expressed: u32,
    pub(crate) dimension: Option<u64>,
    pub(crate) scales: Vec<f64>,
    pub(crate) zero_points: Vec<i64>,
    pub(crate) min: i64,
    pub(crate) max: i64,
}

type Known<T> = RefCell<Vec<Option<Rc<T>>>>;

/// The attributes and types of a file, each read when it is first used. Size: those that are used, whose lists are no longer than
/// their bytes.
pub(crate) struct Entries<'a> {
    pub(crate) file: File<'a>,
    attributes: Known<Attribute<'a>>,
    types: Known<Type>,
}

impl<'a> Entries<'a> {
    pub(crate) fn new(file: File<'a>) -> Self {
        let attributes = RefCell::new(vec![None; file.attributes.len()]);
        let types = RefCell::new(vec![None; file.types.len()]);
        Self { file, attributes, types }
    }

    /// Whether there are locations other than the unknown one.
    pub(crate) fn have_locations(&self) -> bool {
        // The codes of `builtin.rs`.
        let is_location = |bytes: &[u8]| {
            let code = Reader::new(bytes, 0).number();
            matches!(code, Ok(10..=14 | 22))
        };
        let mut attributes = self.file.attributes.iter();
        attributes.any(|entry| {
            entry.is_encoded && self.file.dialect(entry.dialect) == "builtin" && is_location(entry.bytes)
        })
    }

    pub(crate) fn attribute(&self, index: u32) -> Result<Rc<Attribute<'a>>> {
        let index = index as usize;
        if let Some(Some(known)) = self.attributes.borrow().get(index) {
            return Ok(known.clone());
        }
        let entry = entry(&self.file.attributes, index, "attribute")?;
        let mut reader = Reader::new(entry.bytes, entry.offset);
        let read = match (entry.is_encoded, self.file.dialect(entry.dialect)) {
            (false, _) => Attribute::Text(text(&mut reader)?),
            (true, "builtin") => builtin::attribute(self, &mut reader)?,
            (true, "vhlo") => vhlo::attribute(self, &mut reader)?,
            (true, "sdy") => sdy::attribute(self, &mut reader)?,
            (true, "stablehlo") => native::stablehlo_attribute(self, &mut reader)?,
            (true, "chlo") => native::chlo_attribute(&mut reader)?,
            (true, dialect) => return reader.error(foreign("an attribute", dialect)),
        };
        let read = Rc::new(read);
        self.attributes.borrow_mut()[index] = Some(read.clone());
        Ok(read)
    }

    pub(crate) fn ty(&self, index: u32) -> Result<Rc<Type>> {
        let index = index as usize;
        if let Some(Some(known)) = self.types.borrow().get(index) {
            return Ok(known.clone());
        }
        let entry = entry(&self.file.types, index, "type")?;
        let mut reader = Reader::new(entry.bytes, entry.offset);
        let read = match (entry.is_encoded, self.file.dialect(entry.dialect)) {
            (false, _) => Type::Text(text(&mut reader)?),
            (true, "builtin") => builtin::ty(&mut reader)?,
            (true, "vhlo") => vhlo::ty(&mut reader)?,
            (true, "stablehlo") => native::stablehlo_type(&mut reader)?,
            (true, dialect) => return reader.error(foreign("a type", dialect)),
        };
        let read = Rc::new(read);
        self.types.borrow_mut()[index] = Some(read.clone());
        Ok(read)
    }

    /// An error at the bytes of an attribute.
    pub(crate) fn attribute_error<T>(&self, index: u32, message: impl Into<String>) -> Result<T> {
        let offset = self.file.attributes.get(index as usize).map_or(0, |entry| entry.offset);
        Err(crate::Error { offset, message: message.into() })
    }

    /// The string that an attribute is.
    pub(crate) fn string(&self, index: u32) -> Result<&'a [u8]> {
        match &*self.attribute(index)? {
            Attribute::String(string) | Attribute::TypedString(string, _) => Ok(string),
            found => self.attribute_error(index, format!("a string is expected, not {found:?}")),
        }
    }
}

fn entry<'e, 'a>(entries: &'e [Entry<'a>], index: usize, what: &str) -> Result<&'e Entry<'a>> {
    let message = || format!("{what} {index} of {}: the file is damaged; copy it again", entries.len());
    entries.get(index).ok_or_else(|| crate::Error { offset: 0, message: message() })
}

fn text(reader: &mut Reader<'_>) -> Result<String> {
    let at = *reader;
    let text = reader.zero_terminated()?;
    String::from_utf8(text.to_owned()).or_else(|_| at.error("the text of an attribute is not UTF-8"))
}

/// What to do with what only its dialect can read.
pub(crate) fn foreign(what: &str, dialect: &str) -> String {
    format!("{what} in the encoding of the dialect {dialect}, which is not read: {}", instead(dialect))
}

/// What to write in place of a dialect's own encoding.
pub(crate) fn instead(dialect: &str) -> &'static str {
    match dialect {
        "stablehlo" | "chlo" | "mhlo" => {
            "write the module as a portable artifact (`stablehlo.serialize_portable_artifact`, `stablehlo-translate --serialize`), or \
             print its text"
        }
        _ => "print the text with the tool that wrote it",
    }
}

/// An error at an attribute or a type of a dialect that is read, with a code that its sources do not have.
pub(crate) fn unknown_code<T>(at: &Reader<'_>, what: &str, dialect: &str, code: u64) -> Result<T> {
    at.error(format!(
        "{what} of the dialect {dialect} with the unknown code {code}: the file is newer; {}",
        instead(dialect)
    ))
}
