//! Results of the comparisons, counted by opcode.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::Mutex;

use ir::Opcode;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Direction {
    /// By the rules `Exact`.
    OutputToInput,
    InputToOutput,
    /// XLA's own maps, where they claim to be exact.
    XlaOutputToInput,
    XlaInputToOutput,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    Exact,
    /// A map that is marked as an upper bound, and is one.
    Bound,
    /// No map, for this reason.
    Unknown(String),
    /// The reference does not evaluate it.
    NotEvaluated(String),
    Wrong(String),
}

#[derive(Default)]
struct Counts {
    exact: u64,
    bound: u64,
    unknown: u64,
    not_evaluated: u64,
    wrong: u64,
    /// The reason why there is no map, or no evaluation.
    reason: String,
    /// The shortest failing program.
    failure: Option<String>,
}

#[derive(Default)]
pub struct Tally(Mutex<BTreeMap<(Direction, &'static str), Counts>>);

impl Tally {
    /// `program` is the text and seed to print for a failure.
    pub fn count(
        &self,
        opcode: Opcode,
        direction: Direction,
        outcome: Outcome,
        program: impl Fn() -> String,
    ) {
        let mut all = self.0.lock().unwrap();
        let counts = all.entry((direction, opcode.name())).or_default();
        match outcome {
            Outcome::Exact => counts.exact += 1,
            Outcome::Bound => counts.bound += 1,
            Outcome::Unknown(reason) => {
                counts.unknown += 1;
                counts.reason = reason;
            }
            Outcome::NotEvaluated(reason) => {
                counts.not_evaluated += 1;
                counts.reason = reason;
            }
            Outcome::Wrong(what) => {
                counts.wrong += 1;
                let failure = format!("{what}\n{}", program());
                if counts.failure.as_ref().is_none_or(|known| known.len() > failure.len()) {
                    counts.failure = Some(failure);
                }
            }
        }
    }

    /// The table to print.
    pub fn table(&self) -> String {
        let mut text = String::new();
        for ((direction, opcode), c) in self.0.lock().unwrap().iter() {
            if c.bound + c.unknown + c.not_evaluated + c.wrong == 0 {
                continue;
            }
            let Counts { exact, bound, unknown, not_evaluated, wrong, reason, .. } = c;
            _ = writeln!(
                text,
                "{direction:?} {opcode}: {exact} exact, {bound} upper bounds, {unknown} without a map, \
                 {not_evaluated} not evaluated, {wrong} wrong; {reason}"
            );
        }
        text
    }

    /// Fails with one program for every opcode and direction that has a failure.
    pub fn verdict(&self) {
        let mut text = String::new();
        for ((direction, opcode), counts) in self.0.lock().unwrap().iter() {
            if let Some(failure) = &counts.failure {
                _ = writeln!(text, "---- {direction:?} {opcode}: {} wrong, e.g.\n{failure}", counts.wrong);
            }
        }
        assert!(text.is_empty(), "{text}");
    }
}
