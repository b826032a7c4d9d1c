//! What a random client does: steps that have a meaning in any state, so that any of them can be left out.

use random::Rng;
use serde_json::{Value, json};

/// A step, and the seed of all choices in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Step {
    pub kind: Kind,
    pub seed: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Open,
    /// One to four replacements in one notification.
    Edit,
    /// A notification that replaces the whole text.
    Replace,
    /// Requests whose responses the client does not wait for.
    Requests,
    /// A cancellation of a request that may be unanswered.
    Cancel,
    Configure,
    Close,
    /// A close, and an open with the same text and another name.
    Rename,
    Save,
    WatchedFiles,
    /// Notifications about documents that are not open, or are open already.
    WrongNotification,
    /// Requests with positions out of range, parameters of other types and unknown methods.
    WrongRequest,
    /// A panic in a query of the database, wherever the next ones run.
    PanicInQuery,
    PanicInRequest,
    PanicInResponse,
    /// A request that blocks its thread.
    Stuck,
    /// Bytes that are no message.
    Garbage,
    /// From here on messages are written in pieces, or several at once.
    Writes,
    Pause,
    /// Waits for all responses and compares them.
    Settle,
}

/// The kinds with how often they occur.
const WEIGHTS: &[(Kind, usize)] = &[
    (Kind::Open, 3),
    (Kind::Edit, 26),
    (Kind::Replace, 3),
    (Kind::Requests, 24),
    (Kind::Cancel, 8),
    (Kind::Configure, 3),
    (Kind::Close, 2),
    (Kind::Rename, 2),
    (Kind::Save, 1),
    (Kind::WatchedFiles, 1),
    (Kind::WrongNotification, 2),
    (Kind::WrongRequest, 4),
    (Kind::PanicInQuery, 2),
    (Kind::PanicInRequest, 1),
    (Kind::PanicInResponse, 1),
    (Kind::Stuck, 1),
    (Kind::Garbage, 1),
    (Kind::Writes, 2),
    (Kind::Pause, 8),
    (Kind::Settle, 9),
];

/// The end of a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    Shutdown,
    /// The input ends, perhaps inside a message.
    ClosedPipe,
    /// The client reads no more, but goes on to write.
    ClosedOutput,
}

impl Ending {
    const ALL: [Ending; 3] = [Ending::Shutdown, Ending::ClosedPipe, Ending::ClosedOutput];
}

const ENCODINGS: [&str; 3] = ["utf-8", "utf-16", "utf-32"];

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Script {
    pub encoding: &'static str,
    pub steps: Vec<Step>,
    pub ending: Ending,
}

const MAX_STEPS: usize = 70;

impl Script {
    pub fn of_seed(seed: u64) -> Script {
        let mut random = Rng::new(seed);
        let encoding = *random.pick(&["utf-8", "utf-16", "utf-16", "utf-32"]);
        let ending = match random.index(16) {
            0 | 8 => Ending::ClosedPipe,
            1 => Ending::ClosedOutput,
            _ => Ending::Shutdown,
        };
        let all: usize = WEIGHTS.iter().map(|(_, weight)| weight).sum();
        let mut step = |kind: Option<Kind>| {
            let mut at = random.index(all);
            let picked = WEIGHTS.iter().find(|(_, weight)| {
                let is_here = at < *weight;
                at = at.saturating_sub(*weight);
                is_here
            });
            let kind = kind.or(picked.map(|(kind, _)| *kind)).unwrap_or(Kind::Settle);
            Step { kind, seed: random.next_u64() }
        };
        let mut steps = vec![step(Some(Kind::Open)), step(Some(Kind::Open))];
        let count = step(None).seed as usize % MAX_STEPS;
        steps.extend((0..20 + count).map(|_| step(None)));
        Script { encoding, steps, ending }
    }

    /// The script in the report of a failure.
    pub fn to_json(&self) -> Value {
        let steps = self.steps.iter().map(|step| json!([format!("{:?}", step.kind), step.seed]));
        let steps: Vec<Value> = steps.collect();
        json!({"encoding": self.encoding, "ending": format!("{:?}", self.ending), "steps": steps})
    }

    /// Reads what [`Script::to_json`] writes.
    pub fn of_json(script: &Value) -> Option<Script> {
        let encoding = ENCODINGS.into_iter().find(|encoding| script["encoding"] == *encoding)?;
        let ending = Ending::ALL.into_iter().find(|ending| script["ending"] == format!("{ending:?}"))?;
        let step = |step: &Value| {
            let (kind, _) = WEIGHTS.iter().find(|(kind, _)| step[0] == format!("{kind:?}"))?;
            Some(Step { kind: *kind, seed: step[1].as_u64()? })
        };
        let steps = script["steps"].as_array()?.iter().map(step).collect::<Option<Vec<Step>>>()?;
        Some(Script { encoding, steps, ending })
    }
}
