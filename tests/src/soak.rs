//! Random clients of the real binary, which look for deaths, panics, hangs and wrong answers.
//!
//! [`differential`] edits a document and compares every answer with that of a document that was opened with the same
//! text. [`queries`] sends mutated requests to `query`. Each case follows from its seed alone. A failure is shrunk and
//! written into a file of `target/soak`, and its seed runs it again.

pub mod differential;
pub mod edits;
pub mod queries;
pub mod questions;
pub mod shrink;
pub mod texts;

use std::fmt;
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::Value;

/// What a small request may take on a machine that does other things too. More is a hang.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// Stacks of the server's threads: far smaller than any default, so that recursion over input shows.
pub const STACK_BYTES: usize = 256 << 10;

/// What is wrong with one case.
#[derive(Debug, Clone)]
pub struct Failure {
    pub kind: Kind,
    /// The request that shows it.
    pub method: String,
    pub detail: String,
    /// The smallest input found, as JSON.
    pub input: Value,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// The process is gone.
    Death,
    Panic,
    Hang,
    /// The answer after edits is not that of the same text from scratch.
    Difference,
    /// The answer contradicts itself or the interface.
    Malformed,
}

impl Failure {
    /// Whether a smaller input shows the same.
    pub fn is_like(&self, other: &Failure) -> bool {
        self.kind == other.kind && self.method == other.method
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} in {}: {}\ninput: {}", self.kind, self.method, self.detail, self.input)
    }
}

/// Which cases run, and for how long.
#[derive(Debug, Clone, Copy)]
pub struct Campaign {
    pub first_seed: u64,
    pub length: Length,
}

#[derive(Debug, Clone, Copy)]
pub enum Length {
    Cases(u64),
    Time(Duration),
}

/// What a campaign did and found.
#[derive(Debug, Default)]
pub struct Report {
    pub cases: u64,
    pub requests: u64,
    pub failures: Vec<(u64, Failure)>,
}

impl Campaign {
    /// The seeds of the campaign, until its time is up.
    pub fn seeds(self) -> impl Iterator<Item = u64> {
        let start = Instant::now();
        (self.first_seed..).enumerate().map_while(move |(n, seed)| match self.length {
            Length::Cases(count) => ((n as u64) < count).then_some(seed),
            Length::Time(time) => (start.elapsed() < time).then_some(seed),
        })
    }
}

impl Report {
    /// Notes a failure, prints it and writes it into a file.
    pub fn add(&mut self, part: &str, seed: u64, failure: Failure) {
        eprintln!("{part}, seed {seed}: {failure}");
        let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../target/soak");
        let content = serde_json::json!({
            "part": part, "seed": seed, "kind": format!("{:?}", failure.kind), "method": failure.method,
            "detail": failure.detail, "input": failure.input,
        });
        let written = std::fs::create_dir_all(&folder)
            .and_then(|()| std::fs::write(folder.join(format!("{part}-{seed}.json")), content.to_string()));
        if let Err(error) = written {
            eprintln!("the failure is not written to {}: {error}", folder.display());
        }
        self.failures.push((seed, failure));
    }

    /// # Panics
    /// Where something was found.
    pub fn check(&self, part: &str) {
        let Report { cases, requests, failures } = self;
        eprintln!("{part}: {cases} cases, {requests} requests, {} failures", failures.len());
        let seeds: Vec<_> = failures.iter().map(|(seed, failure)| (seed, failure.kind)).collect();
        assert!(failures.is_empty(), "{part}: {seeds:?}; HLO_ANALYZER_SOAK_SEED=N runs one again");
    }
}

/// Gives the threads of a process small stacks.
pub fn with_small_stacks(command: &mut Command) {
    command.env("RUST_MIN_STACK", STACK_BYTES.to_string());
}
