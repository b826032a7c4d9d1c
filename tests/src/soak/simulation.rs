//! A random client with many requests in flight, against a server that opens each text afresh.
//!
//! A seed determines a [`Script`]: edits, closes, settings, cancellations, wrong messages and injected faults. Each
//! response must be that for the text at the time of the request or for a later one; errors must have their reason;
//! each request has one response; and the server lives to its end. Which of the permitted responses comes
//! depends on threads, so a failure may need several plays to show again.

mod oracle;
mod player;
mod script;
mod world;

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};

use self::oracle::Oracle;
use self::player::Player;
use self::script::Script;
use crate::lsp_client::LspClient;
use crate::soak::differential::initialized;
use crate::soak::{Campaign, Failure, Kind, Report, shrink};

/// Cases per oracle, so that its memory stays small.
const CASES_PER_ORACLE: u64 = 25;
/// Plays of a script until it counts as one that does not fail: what fails may depend on threads.
const PLAYS: usize = 3;
/// The messages that a report has of a script.
const REPORTED: usize = 120;

/// The start of the names of dump folders.
const FOLDER: &str = "hlo-analyzer-simulation-";
/// The start of the names of folders that have the sources of a dump folder, not the dumps. As long as [`FOLDER`], so that texts cut to
/// a width do not differ.
const WITHOUT_DUMPS: &str = "hlo-analyzer-empty-dump-";

/// A copy of the dump folder of the fixtures, and one of its sources alone, removed at the end.
pub(super) struct Stages {
    pub(super) folder: PathBuf,
    without_dumps: PathBuf,
    /// The text files by URI.
    pub(super) files: Vec<(String, String)>,
}

impl Stages {
    pub(super) fn new() -> Stages {
        static COPIES: AtomicUsize = AtomicUsize::new(0);
        let copy = COPIES.fetch_add(1, Ordering::Relaxed);
        let [folder, without_dumps] = [FOLDER, WITHOUT_DUMPS].map(|start| {
            let folder = std::env::temp_dir().join(format!("{start}{}-{copy}", std::process::id()));
            std::fs::create_dir_all(&folder).expect("a temporary folder");
            folder
        });
        let mut files = Vec::new();
        for path in test_files::below(test_files::dump_folder(), "") {
            let name = path.file_name().expect("a file").to_string_lossy().into_owned();
            let copy = folder.join(&name);
            std::fs::copy(&path, &copy).expect("a copy");
            if name.ends_with(".py") {
                std::fs::copy(&path, without_dumps.join(&name)).expect("a copy");
            }
            let is_module = name.contains("before_") || name.ends_with("gpu_after_optimizations.txt");
            if let Some(text) = std::fs::read_to_string(&path).ok().filter(|_| is_module) {
                files.push((format!("file://{}", copy.display()), text));
            }
        }
        files.sort();
        Stages { folder, without_dumps, files }
    }
}

impl Drop for Stages {
    fn drop(&mut self) {
        _ = std::fs::remove_dir_all(&self.folder);
        _ = std::fs::remove_dir_all(&self.without_dumps);
    }
}

/// What a play has sent and compared.
struct Played {
    messages: u64,
    methods: BTreeSet<String>,
    transcript: Vec<Value>,
    result: Result<(), Failure>,
}

fn client(encoding: &str) -> LspClient {
    initialized(json!({"general": {"positionEncodings": [encoding, "utf-16"]}}))
}

/// Plays a script. A panic of the test client is a failure of the server: it checks the framing and that each
/// response belongs to a request.
fn play(script: &Script, oracle: &mut Oracle, stages: &Stages) -> Played {
    let mut player = Player::new(client(script.encoding), oracle, &stages.files, script.encoding);
    let played = catch_unwind(AssertUnwindSafe(|| player.play(script)));
    let result = played.unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().cloned();
        let text = text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()));
        let detail = text.unwrap_or_default();
        Err(Failure { kind: Kind::Malformed, method: "protocol".to_owned(), detail, input: Value::Null })
    });
    let Player { client, messages, methods, transcript, .. } = player;
    client.kill();
    Played { messages, methods, transcript, result }
}

/// Runs the scripts of a campaign.
pub fn run(campaign: Campaign) -> Report {
    let stages = Stages::new();
    let mut report = Report::default();
    let mut oracles: Option<Oracles> = None;
    for seed in campaign.seeds() {
        if report.cases.is_multiple_of(CASES_PER_ORACLE) {
            oracles = None;
        }
        report.cases += 1;
        let script = Script::of_seed(seed);
        let oracle = oracles.get_or_insert_default().of(script.encoding);
        let Played { messages, methods, result, .. } = play(&script, oracle, &stages);
        report.requests += messages;
        report.methods.extend(methods);
        if let Err(failure) = result {
            // Its state is unreliable after a failure of its own.
            oracles = None;
            report.add("simulation", seed, smaller(failure, script, &stages, None));
        }
    }
    report
}

/// A server without edits for each encoding.
#[derive(Default)]
struct Oracles(Vec<(&'static str, Oracle)>);

impl Oracles {
    fn of(&mut self, encoding: &'static str) -> &mut Oracle {
        let at = self.0.iter().position(|(known, _)| *known == encoding).unwrap_or_else(|| {
            self.0.push((encoding, Oracle::new(client(encoding), None)));
            self.0.len() - 1
        });
        &mut self.0[at].1
    }
}

impl Drop for Oracles {
    fn drop(&mut self) {
        self.0.drain(..).for_each(|(_, oracle)| oracle.kill());
    }
}

/// Plays the script of a report again.
///
/// # Panics
///
/// If it fails, or the report has no script.
pub fn replay(report: &Value) {
    let script = Script::of_json(&report["input"]["script"]).expect("the report has a script");
    let stages = Stages::new();
    let mut oracle = Oracle::new(client(script.encoding), None);
    let played = play(&script, &mut oracle, &stages);
    oracle.kill();
    if let Err(failure) = played.result {
        panic!("{failure}");
    }
}

/// Leaves out steps as long as the script fails alike. `spoilt`: see [`Oracle`].
fn smaller(failure: Failure, script: Script, stages: &Stages, spoilt: Option<&'static str>) -> Failure {
    let fails = |script: &Script, plays: usize| {
        (0..plays).find_map(|_| {
            let mut oracle = Oracle::new(client(script.encoding), spoilt);
            let played = play(script, &mut oracle, stages);
            oracle.kill();
            let found = played.result.err().filter(|found| found.is_like(&failure))?;
            Some((found, played.transcript))
        })
    };
    let with = |steps: &[script::Step]| Script { steps: steps.to_vec(), ..script.clone() };
    if fails(&script, 2 * PLAYS).is_none() {
        let input = json!({"script": script.to_json(), "shown_again": false});
        return Failure { input, ..failure };
    }
    let steps = shrink::list(&script.steps, |steps| fails(&with(steps), PLAYS).is_some());
    let script = with(&steps);
    let (found, mut transcript) = fails(&script, 2 * PLAYS).unwrap_or((failure, Vec::new()));
    transcript.drain(..transcript.len().saturating_sub(REPORTED));
    let input = json!({"script": script.to_json(), "messages": transcript});
    Failure { input, ..found }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_determines_a_script() {
        for seed in 0..20 {
            let (one, other) = (Script::of_seed(seed), Script::of_seed(seed));
            assert_eq!((one.steps, one.ending), (other.steps, other.ending));
        }
        assert_ne!(Script::of_seed(1).steps, Script::of_seed(2).steps);
    }

    #[test]
    fn a_report_has_the_script() {
        for seed in 0..20 {
            let script = Script::of_seed(seed);
            assert_eq!(Script::of_json(&script.to_json()), Some(script));
        }
        assert_eq!(Script::of_json(&json!({"encoding": "utf-7", "ending": "Shutdown", "steps": []})), None);
    }

    /// Of a script of tens of steps, the steps stay that open a document and ask.
    #[test]
    fn a_difference_is_reduced_to_a_few_steps_that_show_it_again() {
        let spoilt = Some("textDocument/documentSymbol");
        let stages = Stages::new();
        let play_spoilt = |script: &Script| {
            let mut oracle = Oracle::new(client(script.encoding), spoilt);
            let played = play(script, &mut oracle, &stages);
            oracle.kill();
            played.result
        };
        let found = (1..20).find_map(|seed| {
            let script = Script::of_seed(seed);
            let failure = play_spoilt(&script).err()?;
            Some((script, failure))
        });
        let (script, failure) = found.expect("some script asks for the symbols");
        assert_eq!(
            (failure.kind, failure.method.as_str()),
            (Kind::Difference, "textDocument/documentSymbol")
        );
        let smaller = smaller(failure.clone(), script.clone(), &stages, spoilt);
        assert!(smaller.is_like(&failure), "{smaller}");
        let reduced = Script::of_json(&smaller.input["script"]).expect("the report has a script");
        assert!(reduced.steps.len() <= 4 && reduced.steps.len() < script.steps.len(), "{reduced:?}");
        let again = play_spoilt(&reduced).expect_err("it shows the difference again");
        assert!(again.is_like(&failure), "{again}");
        assert!(smaller.input["messages"].as_array().is_some_and(|messages| !messages.is_empty()));
    }
}
