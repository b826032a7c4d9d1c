//! The bytes that a client sends.

use std::collections::BTreeMap;
use std::io::{Cursor, Write};
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::Value;

/// What the server has written.
#[derive(Clone, Default)]
struct Written(Arc<Mutex<Vec<u8>>>);

impl Write for Written {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

pub fn run(bytes: &[u8]) -> bool {
    let written = Written::default();
    let input = Cursor::new(bytes.to_vec());
    hlo_analyzer::serve(Box::new(input), Box::new(written.clone())).expect("the server starts");
    let written = written.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
    let messages = messages(&written);
    let mut answers: BTreeMap<String, usize> = BTreeMap::new();
    for message in &messages {
        assert_eq!(message["jsonrpc"], "2.0", "{message}");
        if message.get("method").is_none() && !message["id"].is_null() {
            *answers.entry(message["id"].to_string()).or_default() += 1;
        }
    }
    // A client may use an id twice; the seeds do not, but changed ones may.
    let asked = String::from_utf8_lossy(bytes).matches("\"id\"").count();
    assert!(answers.values().sum::<usize>() <= asked, "{asked} requests, answers: {answers:?}");
    !answers.is_empty()
}

/// The messages of a stream that has nothing else.
fn messages(mut bytes: &[u8]) -> Vec<Value> {
    let mut found = Vec::new();
    while !bytes.is_empty() {
        let end = bytes.windows(4).position(|four| four == b"\r\n\r\n").expect("a header ends");
        let header = std::str::from_utf8(&bytes[..end]).expect("a header is text");
        let length = header.strip_prefix("Content-Length: ").expect("a header has the length");
        let length: usize = length.parse().expect("the length is a number");
        let body = &bytes[end + 4..][..length];
        found.push(serde_json::from_slice(body).expect("a body is JSON"));
        bytes = &bytes[end + 4 + length..];
    }
    found
}
