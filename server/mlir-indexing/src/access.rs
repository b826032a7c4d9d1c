//! The result of the analysis: which elements an op reads and writes.

use std::sync::Arc;

use indexing_map::{Expr, IndexingMap, Interval, PrintStyle, print_expr};
use mlir::ValueId;

/// What the dimensions of an op's maps range over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Space {
    /// The elements of the result with this number.
    Result(usize),
    /// The iterations of the op's own loops, where a written element does not determine its iteration.
    Loops,
    /// The variables of the enclosing loops, outermost first. The op accesses one element per iteration.
    Around,
    /// The elements of the stored vector or tile.
    Stored(String),
    /// The elements of the buffer that the op writes.
    Written(String),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    Read,
    Write,
    /// The map gives the value of an index, not the position of an access.
    Value,
}

/// How an op reads and writes each of its operands by index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpMaps {
    pub space: Space,
    pub accesses: Vec<Access>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Access {
    /// The name as written: `%a`, `%0#1`.
    pub operand: String,
    /// The value and the index in its result pack; `None` if the name is not defined.
    pub value: Option<(ValueId, u32)>,
    pub role: Role,
    /// Maps the space to the operand's elements, simplified.
    pub map: IndexingMap,
    /// One symbol per runtime variable of the map, in order.
    pub symbols: Vec<Symbol>,
    /// The address, for a buffer with a known layout. Its map has the same domain and gives the distance from
    /// the buffer's start, in elements.
    pub address: Option<Address>,
    pub note: Option<String>,
}

/// The memory address of an access.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address {
    /// Maps the space of the access to one number.
    pub map: IndexingMap,
    /// One symbol per runtime variable of the map, in order.
    pub symbols: Vec<Symbol>,
    /// The innermost variable, and the distance in elements to its next value. A loop variable advances by
    /// the loop's step.
    pub stride: Option<(String, i64)>,
}

/// A number known only at run time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Symbol {
    pub source: SymbolSource,
    /// Its name in the map.
    pub name: Arc<str>,
    /// The values it can have in a program with defined behaviour.
    pub bounds: Interval,
    /// For an element: its index in the array, over the variables of the access's map.
    pub index: Vec<Expr>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum SymbolSource {
    /// The value of an index, with its name as written.
    Value { value: Option<(ValueId, u32)>, name: String },
    /// The variable of an enclosing loop.
    Loop { value: (ValueId, u32), name: String },
    /// The extent of a dimension: `dim(%x, 1)`.
    Extent { of: Option<(ValueId, u32)>, name: String, dimension: usize },
    /// An element of an array of indices; `nth` distinguishes several elements of one array.
    Element { of: Option<(ValueId, u32)>, name: String, nth: usize },
    /// A stride of a buffer's layout, or its offset if `dimension` is `None`.
    Layout { of: Option<(ValueId, u32)>, name: String, dimension: Option<usize> },
}

impl Symbol {
    /// The symbol as one would write it: `%i`, `dim(%x, 1)`, `%t[d0, 0]`; `%t[?]` if each read uses a
    /// different element. `map` is the map of the access.
    pub fn describe(&self, map: &IndexingMap) -> String {
        match &self.source {
            SymbolSource::Value { name, .. } | SymbolSource::Loop { name, .. } => name.clone(),
            SymbolSource::Extent { name, dimension, .. } => format!("dim({name}, {dimension})"),
            SymbolSource::Element { name, .. } if self.index.is_empty() => format!("{name}[?]"),
            SymbolSource::Element { name, .. } => {
                let index: Vec<_> =
                    self.index.iter().map(|e| print_expr(e, map, PrintStyle::Floordiv)).collect();
                format!("{name}[{}]", index.join(", "))
            }
            SymbolSource::Layout { name, dimension: Some(k), .. } => format!("stride {k} of {name}"),
            SymbolSource::Layout { name, dimension: None, .. } => format!("the offset of {name}"),
        }
    }
}

impl SymbolSource {
    /// A name that is valid in a map: letters, digits and underscores.
    pub fn short_name(&self) -> String {
        let (name, suffix) = match self {
            SymbolSource::Value { name, .. } | SymbolSource::Loop { name, .. } => (name, String::new()),
            SymbolSource::Extent { name, dimension, .. } => (name, format!("_dim{dimension}")),
            SymbolSource::Element { name, nth, .. } => (name, format!("_at{nth}")),
            SymbolSource::Layout { name, dimension: Some(k), .. } => (name, format!("_stride{k}")),
            SymbolSource::Layout { name, dimension: None, .. } => (name, "_offset".to_owned()),
        };
        let letters: String = name
            .trim_start_matches('%')
            .chars()
            .map(|c| if c.is_ascii_alphanumeric() { c } else { '_' })
            .collect();
        let base = format!("{letters}{suffix}");
        // `d0`, `s1` and `rt2` are the default names of variables.
        let digits = base.strip_prefix("rt").or_else(|| base.strip_prefix(['d', 's'])).unwrap_or("x");
        let is_default = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
        let is_word = matches!(&*base, "mod" | "floordiv" | "ceildiv" | "min" | "max" | "domain" | "in");
        match base.starts_with(|c: char| c.is_ascii_alphabetic()) && !is_default && !is_word {
            true => base,
            false => format!("v_{base}").replace("__", "_"),
        }
    }
}

impl OpMaps {
    pub(crate) fn of_result(result: usize, accesses: Vec<Access>) -> OpMaps {
        OpMaps { space: Space::Result(result), accesses }
    }
}
