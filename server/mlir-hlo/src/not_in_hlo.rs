//! Why an op of MLIR has no instruction of HLO.

use std::borrow::Cow;
use std::fmt;

use mlir::{EinsumError, NoArrayType};

use crate::literals::LiteralError;

/// Its `Display` is what users read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NotInHlo {
    /// HLO has no instruction that does the same.
    NoInstruction(Cow<'static, str>),
    /// The attribute of this name is missing or has an unknown form.
    Attribute(Cow<'static, str>),
    /// A type or an extent is not known, or HLO does not have it.
    Type(Cow<'static, str>),
    /// Operands, results, regions and attributes contradict each other.
    Malformed(Cow<'static, str>),
}

impl NotInHlo {
    pub(crate) const NO_SUCH_OP: NotInHlo = NotInHlo::no_instruction("HLO has no such op");

    pub(crate) const fn no_instruction(why: &'static str) -> NotInHlo {
        NotInHlo::NoInstruction(Cow::Borrowed(why))
    }

    pub(crate) fn of_type(why: String) -> NotInHlo {
        NotInHlo::Type(why.into())
    }

    pub(crate) fn unknown_type(name: &str) -> NotInHlo {
        NotInHlo::of_type(format!("the type of {name} is not known"))
    }
}

impl fmt::Display for NotInHlo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NotInHlo::Attribute(name) => write!(f, "{name} is not there, or not read"),
            NotInHlo::NoInstruction(why) | NotInHlo::Type(why) | NotInHlo::Malformed(why) => f.write_str(why),
        }
    }
}

impl std::error::Error for NotInHlo {}

impl From<NoArrayType> for NotInHlo {
    fn from(why: NoArrayType) -> Self {
        NotInHlo::of_type(why.to_string())
    }
}

impl From<LiteralError> for NotInHlo {
    fn from(why: LiteralError) -> Self {
        NotInHlo::Malformed(why.to_string().into())
    }
}

impl From<EinsumError> for NotInHlo {
    fn from(why: EinsumError) -> Self {
        NotInHlo::Malformed(why.to_string().into())
    }
}

impl From<&'static str> for NotInHlo {
    fn from(why: &'static str) -> Self {
        NotInHlo::Malformed(why.into())
    }
}

impl From<String> for NotInHlo {
    fn from(why: String) -> Self {
        NotInHlo::Malformed(why.into())
    }
}
