//! Problems with PTX text, or with a run of it.

use std::fmt;

/// A position in the text, both from 1; columns count characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Place {
    pub line: u32,
    pub column: u32,
}

/// Why a text cannot be run, or why a run ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// `ptx-syntax`, `ptx-unsupported`, `ptx-name`, `ptx-operand`; for a run `out-of-bounds`, `misaligned`,
    /// `divergent-barrier`, `step-limit`, `memory-limit`, `trap`, `launch`.
    pub code: &'static str,
    pub place: Place,
    pub words: String,
    /// The block and thread that caused it, for problems of a run.
    pub thread: Option<Thread>,
}

/// One thread of a grid.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Thread {
    pub block: [u32; 3],
    pub thread: [u32; 3],
}

impl Problem {
    pub(crate) fn new(code: &'static str, place: Place, words: impl Into<String>) -> Problem {
        Problem { code, place, words: words.into(), thread: None }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {} [{}]", self.place.line, self.place.column, self.words, self.code)?;
        if let Some(Thread { block, thread }) = self.thread {
            write!(f, " in thread {thread:?} of block {block:?}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Problem {}
