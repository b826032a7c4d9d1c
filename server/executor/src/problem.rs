//! Problems with PTX text, or with a run of it.

use std::fmt;

use ptx::{ErrorKind, Position};

/// Why a text cannot be run, or why a run ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// `ptx-syntax`, `ptx-unsupported`, `ptx-name`, `ptx-operand`; for a run `out-of-bounds`, `misaligned`,
    /// `divergent-barrier`, `step-limit`, `memory-limit`, `trap`, `launch`.
    pub code: &'static str,
    pub place: Position,
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
    pub(crate) fn new(code: &'static str, place: Position, words: impl Into<String>) -> Problem {
        Problem { code, place, words: words.into(), thread: None }
    }
}

impl From<ptx::Error> for Problem {
    fn from(error: ptx::Error) -> Problem {
        let code = match error.kind {
            ErrorKind::Syntax => "ptx-syntax",
            ErrorKind::Unsupported => "ptx-unsupported",
        };
        Problem::new(code, error.at, error.message)
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
