//! Counts by name, for tests that record how much code achieves.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use expect_test::{Expect, ExpectFile};

#[derive(Debug, Default)]
pub struct Tally(BTreeMap<String, usize>);

impl Tally {
    pub fn add(&mut self, name: impl Into<String>, count: usize) {
        *self.0.entry(name.into()).or_default() += count;
    }

    /// Adds the counts of another one.
    pub fn add_all(&mut self, other: Tally) {
        other.0.into_iter().for_each(|(name, count)| self.add(name, count));
    }

    /// Compares `name: count`, a line each in the order of the names.
    #[track_caller]
    pub fn check(&self, expect: Expect) {
        expect.assert_eq(&self.lines());
    }

    /// As [`Tally::check`], with many names.
    #[track_caller]
    pub fn check_file(&self, expect: ExpectFile) {
        expect.assert_eq(&self.lines());
    }

    fn lines(&self) -> String {
        self.0.iter().fold(String::new(), |mut text, (name, count)| {
            writeln!(text, "{name}: {count}").expect("a string takes all");
            text
        })
    }
}
