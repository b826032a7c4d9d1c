//! A dump folder whose files change, vanish and are cut off while requests read them.
//!
//! Each request has a response, nothing panics, and once the files are as before, so are the responses.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use random::Rng;
use serde_json::{Value, json};

use crate::lsp_client::{LspClient, NoAnswer};
use crate::positions::position;
use crate::soak::differential::{client, open};
use crate::soak::questions::{ask, failure};
use crate::soak::requests::{self, OF_DOCUMENTS, OF_FOLDERS, OF_PLACES, Question};
use crate::soak::simulation::Stages;
use crate::soak::texts::Language;
use crate::soak::{Campaign, Failure, Kind, PATIENCE, Report};

/// Groups of requests per case, and the requests of a group, which are in flight together.
const ROUNDS: usize = 25;
const IN_FLIGHT: usize = 4;
/// The time for the server to notice that the files are as before.
const SETTLING: Duration = Duration::from_secs(30);

/// Runs the cases of a campaign.
pub fn run(campaign: Campaign) -> Report {
    let mut report = Report::default();
    for seed in campaign.seeds() {
        report.cases += 1;
        match case(seed) {
            Ok(requests) => report.requests += requests,
            Err(failure) => report.add("changing-files", seed, failure),
        }
    }
    report
}

fn case(seed: u64) -> Result<u64, Failure> {
    let stages = Stages::new();
    let files = contents(&stages);
    let random = &mut Rng::new(seed);
    let (uri, text) = random.pick(&stages.files).clone();
    let mut server = client();
    open(&mut server, &uri, Language::Hlo, 1, &text);
    let is_over = AtomicBool::new(false);
    let asked = std::thread::scope(|scope| {
        scope.spawn(|| damage(&files, seed, &is_over));
        let asked = ask_all(&mut server, &stages, (&uri, &text), random);
        is_over.store(true, Ordering::Relaxed);
        asked
    });
    for (path, content) in &files {
        std::fs::write(path, content).expect("the file can be written");
    }
    let result = asked.and_then(|asked| Ok(asked + compare(&mut server, &stages, (&uri, &text))?));
    let log = server.log();
    server.kill();
    match log.contains("panicked at") {
        true => Err(failure(Kind::Panic, "background", log)),
        false => result,
    }
}

fn contents(stages: &Stages) -> Vec<(PathBuf, Vec<u8>)> {
    let files = std::fs::read_dir(&stages.folder).expect("the folder is there");
    let paths = files.map(|file| file.expect("a file").path());
    let mut all: Vec<_> = paths.map(|path| (path.clone(), std::fs::read(path).expect("a file"))).collect();
    all.sort();
    all
}

/// Changes files until the requests are over. What fails, as for files that are not there, is of no interest.
fn damage(files: &[(PathBuf, Vec<u8>)], seed: u64, is_over: &AtomicBool) {
    let random = &mut Rng::new(!seed);
    while !is_over.load(Ordering::Relaxed) {
        let (path, content) = random.pick(files);
        _ = match random.index(6) {
            0 => std::fs::remove_file(path),
            1 => {
                let file = std::fs::OpenOptions::new().write(true).open(path);
                file.and_then(|file| file.set_len(random.index(content.len() + 1) as u64))
            }
            2 => std::fs::write(path, &random.pick(files).1),
            3 => {
                let noise: Vec<u8> = (0..random.index(3000)).map(|_| random.next_u64() as u8).collect();
                std::fs::write(path, noise)
            }
            // A file in whose place a folder is.
            4 => std::fs::remove_file(path).and_then(|()| {
                std::fs::create_dir(path)?;
                std::fs::remove_dir(path)
            }),
            _ => std::fs::write(path, content),
        };
        std::thread::sleep(Duration::from_micros(random.index(1500) as u64));
    }
}

fn question(stages: &Stages, (uri, text): (&str, &str), random: &mut Rng) -> Question {
    match random.index(4) {
        0 => requests::of_document(
            random.pick::<&str>(OF_DOCUMENTS),
            uri,
            position(text, text.len(), "utf-16"),
        ),
        1 => {
            let at = random.index(text.len() + 1);
            let at = (0..=at).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0);
            requests::of_place(random.pick::<&str>(OF_PLACES), uri, position(text, at, "utf-16"))
        }
        _ => of_folder(random.pick::<&str>(OF_FOLDERS), stages, uri),
    }
}

fn of_folder(method: &str, stages: &Stages, uri: &str) -> Question {
    let mut question = requests::of_document(method, uri, (0, 0));
    if method == "hlo-analyzer/stageChanges" {
        let all: Vec<&String> = stages.files.iter().map(|(uri, _)| uri).collect();
        question.params["stages"] = json!(all);
    }
    question
}

fn ask_all(
    server: &mut LspClient,
    stages: &Stages,
    document: (&str, &str),
    random: &mut Rng,
) -> Result<u64, Failure> {
    let mut asked = 0;
    for _ in 0..ROUNDS {
        if random.one_in(3) {
            report_changes(server, stages, 1 + random.index(3));
        }
        let group: Vec<(i64, String)> = (0..IN_FLIGHT)
            .map(|_| {
                let Question { method, params, .. } = question(stages, document, random);
                (server.request(&method, params), method)
            })
            .collect();
        for (id, method) in group {
            let answer = server.try_answer(id, PATIENCE).map_err(|why| match why {
                NoAnswer::Died(status) => failure(Kind::Death, &method, format!("{status}{}", server.log())),
                NoAnswer::Hangs => failure(Kind::Hang, &method, server.log()),
            })?;
            if let Err(error) = answer
                && error["code"] == -32603
            {
                return Err(failure(Kind::Panic, &method, format!("{error}{}", server.log())));
            }
            asked += 1;
        }
    }
    Ok(asked)
}

/// `kind`: 1 if the files are said to be new, 2 changed, 3 deleted.
fn report_changes(server: &mut LspClient, stages: &Stages, kind: usize) {
    let changes = stages.files.iter().map(|(uri, _)| json!({"uri": uri, "type": kind}));
    let changes: Vec<Value> = changes.collect();
    server.notify("workspace/didChangeWatchedFiles", json!({"changes": changes}));
}

/// Compares the responses about the folder with those of a server that has seen no changes.
fn compare(server: &mut LspClient, stages: &Stages, (uri, text): (&str, &str)) -> Result<u64, Failure> {
    report_changes(server, stages, 2);
    let mut fresh = client();
    open(&mut fresh, uri, Language::Hlo, 1, text);
    let end = Instant::now() + SETTLING;
    let mut asked = 0;
    for method in OF_FOLDERS {
        let Question { params, .. } = of_folder(method, stages, uri);
        loop {
            let found = ask(server, method, params.clone(), PATIENCE)?;
            let wanted = ask(&mut fresh, method, params.clone(), PATIENCE)?;
            asked += 1;
            if found == wanted {
                break;
            }
            if Instant::now() > end {
                let detail = format!("after changes: {found:?}\nfresh: {wanted:?}");
                fresh.kill();
                return Err(failure(Kind::Difference, method, detail));
            }
            std::thread::sleep(Duration::from_millis(100));
        }
    }
    fresh.kill();
    Ok(asked)
}
