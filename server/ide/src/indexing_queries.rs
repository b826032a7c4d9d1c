//! Queries of maps for the machine interface.

use crate::file_context::FileContext;
use indexing::{OpIndexing, OperandIndexing, Rules};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    OutputToInput,
    InputToOutput,
}

#[derive(Debug, Clone)]
pub struct IndexingQuery {
    /// The name without `%`.
    pub instruction: String,
    /// Optional; without it the name is looked up in the entry first.
    pub computation: Option<String>,
    pub kind: IndexingKind,
    pub simplify: bool,
    /// The rules, XLA's or exact, for a query of one instruction.
    pub rules: Rules,
}

#[derive(Debug, Clone)]
pub enum IndexingKind {
    One {
        direction: Direction,
        index: usize,
        physical_layout: bool,
    },
    /// Maps from `instruction` to all instructions in the set and its outside operands; an empty set means
    /// the fusion's own.
    Grouped {
        instructions: Vec<String>,
        index: usize,
    },
    /// Maps from the hero `instruction` to `root`.
    Epilogue {
        root: String,
    },
}

#[derive(Debug, Clone)]
pub enum IndexingReply {
    /// A list per operand, or per output.
    Operands(OpIndexing),
    ByInstruction(Vec<(String, Vec<OperandIndexing>)>),
    Map(Box<OperandIndexing>),
}

/// A name that is not in the file, or an instruction without a shape.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueryError(pub String);

/// The maps that scripts and commands ask for.
pub(crate) trait IndexingQueries {
    /// Maps of one instruction.
    fn indexing(&self, context: &FileContext<'_>, query: &IndexingQuery)
    -> Result<IndexingReply, QueryError>;
}
