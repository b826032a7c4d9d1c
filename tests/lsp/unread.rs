//! A client that asks and does not read.

use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use hlo_analyzer_tests::binary;
use hlo_analyzer_tests::sample::large_module;
use serde_json::{Value, json};

fn send(input: &mut impl Write, message: &Value) {
    let body = message.to_string();
    write!(input, "Content-Length: {}\r\n\r\n{body}", body.len()).expect("the server reads");
}

fn receive(output: &mut impl BufRead) -> Value {
    let mut header = String::new();
    output.read_line(&mut header).expect("the server writes");
    let length = header.trim().strip_prefix("Content-Length: ").and_then(|n| n.parse::<usize>().ok());
    let mut body = vec![0; length.expect("a header") + 2];
    output.read_exact(&mut body).expect("a whole message");
    serde_json::from_slice(&body).expect("JSON")
}

/// Thousands of answers of a megabyte and more: they take no more memory than a few, and every request is answered.
#[test]
#[ignore = "the server still grows to 3 GB: the bound of the queue does not hold for answers on their way to it"]
fn answers_that_nobody_reads_are_bounded() {
    let mut server = Command::new(binary::hlo_analyzer())
        .arg("lsp")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("the server can be started");
    let mut input = server.stdin.take().expect("stdin is a pipe");
    let mut output = BufReader::new(server.stdout.take().expect("stdout is a pipe"));
    let uri = "file:///dump/large.hlo";
    let capabilities = json!({"processId": null, "capabilities": {}});
    send(&mut input, &json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": capabilities}));
    send(&mut input, &json!({"jsonrpc": "2.0", "method": "initialized", "params": {}}));
    let item = json!({"uri": uri, "languageId": "hlo", "version": 1, "text": large_module(1_000_000)});
    send(
        &mut input,
        &json!({"jsonrpc": "2.0", "method": "textDocument/didOpen", "params": {"textDocument": item}}),
    );
    const REQUESTS: u64 = 1000;
    for id in 1..=REQUESTS {
        // No two are equal.
        let params = json!({"textDocument": {"uri": uri}, "workDoneToken": id});
        send(
            &mut input,
            &json!({"jsonrpc": "2.0", "id": id, "method": "textDocument/documentSymbol", "params": params}),
        );
    }
    let mut largest = 0;
    let end = Instant::now() + Duration::from_secs(60);
    let mut last = (0, Instant::now());
    // Until it has done what it can.
    while Instant::now() < end {
        std::thread::sleep(Duration::from_millis(200));
        let now = resident(server.id());
        largest = largest.max(now);
        if now.abs_diff(last.0) > 1 << 20 {
            last = (now, Instant::now());
        }
        if last.1.elapsed() > Duration::from_secs(5) {
            break;
        }
    }
    eprintln!("{REQUESTS} answers that nobody reads take {} MB", largest >> 20);
    assert!(largest < 1_200 << 20, "{} MB", largest >> 20);
    let (mut answered, mut refused) = (0, 0);
    while answered + refused <= REQUESTS {
        let message = receive(&mut output);
        match (&message["method"], &message["error"]) {
            (Value::Null, Value::Null) => answered += 1,
            (Value::Null, error) => {
                assert_eq!(error["code"], -32802, "{error}");
                refused += 1;
            }
            _ => {}
        }
    }
    eprintln!("{answered} were answered, {refused} refused");
    assert!(answered > 10 && refused > 10);
    drop(input);
    server.wait().expect("it ends with its input");
}

/// 0 where the system does not say.
fn resident(process: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.and_then(|line| line.trim().strip_suffix(" kB")?.parse::<u64>().ok()).unwrap_or(0) << 10
}
