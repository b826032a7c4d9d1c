//! Random clients of the real binary, which detect crashes, panics, hangs and wrong responses.
//!
//! [`differential`] edits a document and compares every response with that for a document opened with the
//! same text. [`simulation`] keeps many requests about several documents in flight, injects faults, and
//! compares with a server that has seen no edits. [`changing_files`] asks while files change on disk. [`queries`]
//! sends mutated requests to `query`. Each case is determined by its seed. A failure is reduced and written to a file
//! in `target/soak`, and its seed repeats it.

pub mod changing_files;
pub mod differential;
pub mod edits;
pub mod queries;
pub mod questions;
pub mod requests;
pub mod shrink;
pub mod simulation;
pub mod texts;

use std::collections::BTreeSet;
use std::fmt;
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::Value;

/// The time limit of a small request on a busy machine. Exceeding it is a hang.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// Stacks of the server's threads: far smaller than any default, so that recursion over input overflows them.
pub const STACK_BYTES: usize = 256 << 10;

/// The failure of one case.
#[derive(Debug, Clone)]
pub struct Failure {
    pub kind: Kind,
    /// The request that fails.
    pub method: String,
    pub detail: String,
    /// The smallest input found, as JSON.
    pub input: Value,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// The process has exited.
    Death,
    Panic,
    Hang,
    /// The response after edits differs from that for the same text opened afresh.
    Difference,
    /// The response contradicts itself or the interface.
    Malformed,
}

impl Failure {
    pub fn is_hang(&self) -> bool {
        self.kind == Kind::Hang
    }

    /// Whether a smaller input shows the same failure.
    pub fn is_like(&self, other: &Failure) -> bool {
        self.kind == other.kind && self.method == other.method
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} in {}: {}\ninput: {}", self.kind, self.method, self.detail, self.input)
    }
}

/// The cases to run, or the duration.
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

/// The counts and failures of a campaign.
#[derive(Debug, Default)]
pub struct Report {
    pub cases: u64,
    pub requests: u64,
    /// The methods of the requests, where a part records them.
    pub methods: BTreeSet<String>,
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
    /// Records a failure, prints it and writes it to a file.
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
    ///
    /// If a failure was found.
    pub fn check(&self, part: &str) {
        let Report { cases, requests, failures, .. } = self;
        eprintln!("{part}: {cases} cases, {requests} requests, {} failures", failures.len());
        let seeds: Vec<_> = failures.iter().map(|(seed, failure)| (seed, failure.kind)).collect();
        assert!(failures.is_empty(), "{part}: {seeds:?}; HLO_ANALYZER_SOAK_SEED=N runs one again");
    }
}

/// Gives small stacks to the threads of a process, and no backtraces to its panics: on a busy machine, that of an injected one takes
/// longer to print than the server waits for responses at its end.
pub fn with_small_stacks(command: &mut Command) {
    command.env("RUST_MIN_STACK", STACK_BYTES.to_string()).env("RUST_BACKTRACE", "0");
}
