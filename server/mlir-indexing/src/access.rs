//! The answer: which elements an op reads and writes.

use std::sync::Arc;

use indexing_map::{Expr, IndexingMap, Interval, PrintStyle, print_expr};
use mlir::ValueId;

/// What the dimensions of an op's maps are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Space {
    /// The elements of a result, by its number.
    Result(usize),
    /// The iterations of the op's own loops: what it writes does not tell which iteration writes it.
    Loops,
    /// The variables of the loops around the op, the outermost first: it touches one place in each iteration.
    Around,
    /// The elements of what it stores: a vector, a tile.
    Stored(String),
    /// The elements of a buffer that it writes.
    Written(String),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    Read,
    Write,
    /// The map is the value of an index, not a place.
    Value,
}

/// Of each operand that an op reads or writes by index, how.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpMaps {
    pub space: Space,
    pub accesses: Vec<Access>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Access {
    /// As it is written: `%a`, `%0#1`.
    pub operand: String,
    /// The value, and which result of its pack; nothing where the name is not defined.
    pub value: Option<(ValueId, u32)>,
    pub role: Role,
    /// From the space to the operand's elements, simplified.
    pub map: IndexingMap,
    /// One per runtime variable of the map, in order.
    pub symbols: Vec<Symbol>,
    /// Of a buffer whose layout is known: the same domain, to the distance in elements from the buffer's start.
    pub address: Option<Address>,
    pub note: Option<String>,
}

/// Where in memory an access goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address {
    /// From the space of the access to one number.
    pub map: IndexingMap,
    /// One per runtime variable of the map, in order.
    pub symbols: Vec<Symbol>,
    /// The innermost variable, and by how many elements its next value is further: a loop's step counts.
    pub stride: Option<(String, i64)>,
}

/// A number that is known only when the program runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Symbol {
    pub source: SymbolSource,
    /// What it is called in the map.
    pub name: Arc<str>,
    /// What it can be in a program that has a meaning.
    pub bounds: Interval,
    /// Of an element: where it stands in its array, over the variables of the access's map.
    pub index: Vec<Expr>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum SymbolSource {
    /// The value of an index, as written.
    Value { value: Option<(ValueId, u32)>, name: String },
    /// The variable of a loop around the op.
    Loop { value: (ValueId, u32), name: String },
    /// The extent of a dimension: `dim(%x, 1)`.
    Extent { of: Option<(ValueId, u32)>, name: String, dimension: usize },
    /// An element of an array of indices; `nth` tells several of one array apart.
    Element { of: Option<(ValueId, u32)>, name: String, nth: usize },
    /// A stride of a buffer's layout, or its offset where there is no dimension.
    Layout { of: Option<(ValueId, u32)>, name: String, dimension: Option<usize> },
}

impl Symbol {
    /// What it is, as one would write it: `%i`, `dim(%x, 1)`, `%t[d0, 0]`; `%t[?]` where it is another element from one read to
    /// the next. `map` is the map of the access.
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
    /// A name for the map: letters, digits and underscores.
    pub(crate) fn short_name(&self) -> String {
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
        // `d0`, `s1` and `rt2` are what variables without a name are called.
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
