//! Why an op has no map.

use std::borrow::Cow;
use std::fmt;

use mlir::{EinsumError, NoArrayType};

/// Its `Display` is what users read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NoMap {
    /// A part of the op is missing or has an unknown form.
    NotRead(Cow<'static, str>),
    /// The text of a map or set does not follow its grammar.
    MapText(Cow<'static, str>),
    /// A map has another number of variables or results than the op has arguments or dimensions.
    MapArity(Cow<'static, str>),
    /// A type is not known, is not an array, or lacks its rank or an extent.
    Type(Cow<'static, str>),
    /// The op has no operand of this number.
    NoOperand(usize),
    /// An array of this rank has another number of subscripts.
    Subscripts { has: usize, rank: usize },
    /// Operands, results and attributes contradict each other.
    Malformed(Cow<'static, str>),
    /// The op is well-formed, but a map cannot say what it reads.
    Unsupported(Cow<'static, str>),
}

impl NoMap {
    pub const fn not_read(why: &'static str) -> NoMap {
        NoMap::NotRead(Cow::Borrowed(why))
    }

    pub fn list_not_read(name: &str) -> NoMap {
        NoMap::NotRead(format!("its {name} are not read").into())
    }

    pub const fn map_text(why: &'static str) -> NoMap {
        NoMap::MapText(Cow::Borrowed(why))
    }

    pub const fn of_type(why: &'static str) -> NoMap {
        NoMap::Type(Cow::Borrowed(why))
    }
}

impl fmt::Display for NoMap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NoMap::NoOperand(nth) => write!(f, "it has no operand {nth}"),
            NoMap::Subscripts { has, rank } => write!(f, "it has {has} subscripts for {rank} dimensions"),
            NoMap::NotRead(why)
            | NoMap::MapText(why)
            | NoMap::MapArity(why)
            | NoMap::Type(why)
            | NoMap::Malformed(why)
            | NoMap::Unsupported(why) => f.write_str(why),
        }
    }
}

impl std::error::Error for NoMap {}

impl From<NoArrayType> for NoMap {
    fn from(why: NoArrayType) -> Self {
        NoMap::Type(why.to_string().into())
    }
}

impl From<EinsumError> for NoMap {
    fn from(why: EinsumError) -> Self {
        NoMap::Malformed(why.to_string().into())
    }
}

impl From<&'static str> for NoMap {
    fn from(why: &'static str) -> Self {
        NoMap::Malformed(why.into())
    }
}

impl From<String> for NoMap {
    fn from(why: String) -> Self {
        NoMap::Malformed(why.into())
    }
}
