//! A client that sends requests and does not read.

use std::io::{BufRead, BufReader, Write};
use std::ops::RangeInclusive;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use hlo_analyzer_tests::binary;
use hlo_analyzer_tests::sample::large_module;
use serde::Deserialize;
use serde_json::{Value, json};

fn send(input: &mut impl Write, message: &Value) {
    let body = message.to_string();
    write!(input, "Content-Length: {}\r\n\r\n{body}", body.len()).expect("the server reads");
}

/// The members that distinguish responses, errors and notifications; full responses are too long to parse.
#[derive(Deserialize)]
struct Message {
    method: Option<String>,
    error: Option<Value>,
}

fn receive(output: &mut impl BufRead) -> Message {
    let mut header = String::new();
    output.read_line(&mut header).expect("the server writes");
    let length = header.trim().strip_prefix("Content-Length: ").and_then(|n| n.parse::<usize>().ok());
    let mut body = vec![0; length.expect("a header") + 2];
    output.read_exact(&mut body).expect("a whole message");
    serde_json::from_slice(&body).expect("JSON")
}

/// A server with one document open, and its streams.
struct Server {
    process: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

const URI: &str = "file:///dump/large.hlo";

impl Server {
    fn with(text: &str) -> Server {
        let mut process = Command::new(binary::hlo_analyzer())
            .arg("lsp")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("the server can be started");
        let mut input = process.stdin.take().expect("stdin is a pipe");
        let output = BufReader::new(process.stdout.take().expect("stdout is a pipe"));
        let capabilities = json!({"processId": null, "capabilities": {}});
        send(&mut input, &json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": capabilities}));
        send(&mut input, &json!({"jsonrpc": "2.0", "method": "initialized", "params": {}}));
        let item = json!({"uri": URI, "languageId": "hlo", "version": 1, "text": text});
        send(
            &mut input,
            &json!({"jsonrpc": "2.0", "method": "textDocument/didOpen", "params": {"textDocument": item}}),
        );
        Server { process, input, output }
    }

    /// Sends a request with each id. No two requests are equal.
    fn ask(&mut self, method: &str, ids: RangeInclusive<u64>) {
        for id in ids {
            let mut params = json!({"textDocument": {"uri": URI}, "workDoneToken": id});
            params["position"] = json!({"line": 3, "character": id % 20});
            send(&mut self.input, &json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        }
    }

    /// The largest memory use until the server is idle, without a client that reads.
    fn largest(&self) -> u64 {
        let mut largest = 0;
        let end = Instant::now() + Duration::from_secs(60);
        let mut last = (0, Instant::now());
        while Instant::now() < end && last.1.elapsed() < Duration::from_secs(5) {
            std::thread::sleep(Duration::from_millis(100));
            let now = resident(self.process.id());
            largest = largest.max(now);
            if now.abs_diff(last.0) > 1 << 20 {
                last = (now, Instant::now());
            }
        }
        largest
    }

    /// The number of successful responses, including that to `initialize`, and of `ServerCancelled` errors.
    fn answers(&mut self, requests: u64) -> (u64, u64) {
        let (mut answered, mut refused) = (0, 0);
        while answered + refused <= requests {
            let message = receive(&mut self.output);
            match (message.method, message.error) {
                (None, None) => answered += 1,
                (None, Some(error)) => {
                    assert_eq!(error["code"], -32802, "{error}");
                    refused += 1;
                }
                _ => {}
            }
        }
        (answered, refused)
    }

    fn end(self) {
        let Server { mut process, input, output } = self;
        drop((input, output));
        process.wait().expect("it ends with its input");
    }
}

/// Queued outlines have bounded memory. Later requests wait; beyond a number of requests they are refused.
/// All others are answered when the client reads.
#[test]
fn what_nobody_reads_is_bounded() {
    const OUTLINES: u64 = 100;
    const HOVERS: u64 = 9000;
    let mut server = Server::with(&large_module(1_000_000));
    server.ask("textDocument/documentSymbol", 1..=OUTLINES);
    let largest = server.largest();
    server.ask("textDocument/hover", OUTLINES + 1..=OUTLINES + HOVERS);
    let (largest, with_hovers) = (largest >> 20, server.largest() >> 20);
    eprintln!(
        "{OUTLINES} outlines that nobody reads take {largest} MB, and {HOVERS} hovers after them {with_hovers} MB"
    );
    assert!(largest < 250 && with_hovers < 250, "{largest} MB, {with_hovers} MB");
    let (answered, refused) = server.answers(OUTLINES + HOVERS);
    eprintln!("{answered} were answered, {refused} refused");
    assert!(answered > 8192 && refused > 100);
    server.end();
}

/// Resident memory; 0 where the system does not report it.
fn resident(process: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.and_then(|line| line.trim().strip_suffix(" kB")?.parse::<u64>().ok()).unwrap_or(0) << 10
}
