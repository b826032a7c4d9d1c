//! Why an instruction of HLO has no op of StableHLO or MHLO.

use std::borrow::Cow;
use std::fmt;

/// Whether an instruction is written, or why not.
pub(crate) type Outcome = Result<(), NotInStablehlo>;

/// Its `Display` is what users read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum NotInStablehlo {
    /// StableHLO and MHLO have no op of this kind.
    NoSuchOp,
    /// They have the op, but it cannot be used in this way.
    OtherUse(&'static str),
    /// The text lacks an attribute, an instruction or a computation of this name.
    Missing(Cow<'static, str>),
    /// They have no such type.
    Type(String),
    /// Operands, results and attributes contradict each other, or an attribute has an unknown form.
    Malformed(Cow<'static, str>),
}

impl NotInStablehlo {
    pub const fn missing(name: &'static str) -> NotInStablehlo {
        NotInStablehlo::Missing(Cow::Borrowed(name))
    }

    pub fn missing_name(name: &str) -> NotInStablehlo {
        NotInStablehlo::Missing(name.to_owned().into())
    }
}

impl fmt::Display for NotInStablehlo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NotInStablehlo::NoSuchOp => f.write_str("StableHLO and MHLO have no such op"),
            NotInStablehlo::OtherUse(why) => f.write_str(why),
            NotInStablehlo::Missing(name) => write!(f, "{name} is not there"),
            NotInStablehlo::Type(why) => f.write_str(why),
            NotInStablehlo::Malformed(why) => f.write_str(why),
        }
    }
}

impl From<&'static str> for NotInStablehlo {
    fn from(why: &'static str) -> Self {
        NotInStablehlo::Malformed(why.into())
    }
}
