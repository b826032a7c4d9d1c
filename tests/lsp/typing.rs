//! Typing in a module of 18 MB. Runs for five seconds; with `HLO_ANALYZER_SOAK=1` for a minute.

use std::time::{Duration, Instant};

use hlo_analyzer_tests::lsp_client::LspClient;
use hlo_analyzer_tests::sample;
use random::Rng;
use serde_json::json;

use crate::editor::{Editor, URI, range};

/// The largest acceptable delay on a busy machine.
const BOUND: Duration = Duration::from_secs(2);

#[test]
fn the_server_keeps_answering() {
    let minute = std::env::var_os("HLO_ANALYZER_SOAK").is_some_and(|value| value == "1");
    let time = Duration::from_secs(if minute { 60 } else { 5 });
    let (text, name) = sample::training_step();
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let instructions: Vec<usize> =
        (0..lines.len()).filter(|&n| lines[n].starts_with("  ") && lines[n].contains(" = ")).collect();
    assert!(!instructions.is_empty());

    let mut client = LspClient::modern();
    let start = Instant::now();
    client.open(URI, &text);
    let id = client.hover(URI, instructions[0], 6);
    client.answer(id).result.expect("the first hover is answered");
    eprintln!(
        "{name}: {} MB, {} lines, the first hover after {:?}",
        text.len() >> 20,
        lines.len(),
        start.elapsed()
    );

    let mut random = Rng::new(1);
    let mut latencies = Vec::new();
    let mut version = 1;
    let start = Instant::now();
    while start.elapsed() < time {
        // A user stays at one place for a while: a letter is inserted at the end of a name, and removed
        // again.
        let line = *random.pick(&instructions);
        let Some(column) = lines[line].find(" = ") else { continue };
        for typed in ["q", "w", "", "e", ""] {
            version += 1;
            let end = if typed.is_empty() { column + 1 } else { column };
            client.change(
                URI,
                version,
                json!([{"range": range((line, column), (line, end)), "text": typed}]),
            );
            match typed {
                "" => drop(lines[line].remove(column)),
                letter => lines[line].insert_str(column, letter),
            }
            let sent = Instant::now();
            let id = client.hover(URI, line, 6);
            let answer = client.answer(id);
            answer.result.expect("a hover after an edit is answered");
            latencies.push(answer.at - sent);
            client.listen(Duration::from_millis(15));
        }
    }
    latencies.sort();
    let at = |percent: usize| latencies[(latencies.len() - 1) * percent / 100];
    eprintln!(
        "{} hovers, each right after an edit: p50 {:?}, p90 {:?}, p99 {:?}, worst {:?}",
        latencies.len(),
        at(50),
        at(90),
        at(99),
        at(100)
    );
    assert!(at(100) < BOUND, "a hover took {:?}", at(100));
    client.notification("textDocument/publishDiagnostics", |params| params["version"] == version);
}
