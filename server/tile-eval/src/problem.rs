//! Why a text is no program that can be executed, or why its execution stopped.

use std::fmt;

use eval::Reason;

/// A reason, and the line that it is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// From 1; 0 if it is about no line.
    pub line: usize,
    pub what: Reason,
}

impl Problem {
    pub(crate) fn at(line: usize) -> impl Fn(Reason) -> Problem {
        move |what| Problem { line, what }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => f.write_str(&self.what),
            line => write!(f, "line {line}: {}", self.what),
        }
    }
}

impl std::error::Error for Problem {}
