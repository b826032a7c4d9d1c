//! A strict, synchronous LSP client for one run of the real server.
//!
//! Strict: all server messages must be well framed, each response must belong to a request, the test must
//! handle errors, and when the client is dropped the server must shut down in order. All waits have a time
//! limit.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::binary;

/// A generous limit, for a busy machine.
pub const PATIENCE: Duration = Duration::from_secs(60);

pub struct LspClient {
    server: Child,
    /// `None` once the test has closed it.
    input: Option<ChildStdin>,
    writes: Writes,
    messages: Receiver<(Value, Instant)>,
    log: Arc<Mutex<String>>,
    last_id: i64,
    /// Unanswered requests by id, with their method.
    asked: HashMap<i64, String>,
    answers: HashMap<i64, Answer>,
    notifications: Vec<Value>,
    /// Methods and parameters of the server's requests; each got the response null.
    pub server_requests: Vec<(String, Value)>,
    /// The settings of the section that the server may ask for.
    pub settings: Value,
    may_panic: bool,
    /// Whether the test itself checks that the server is alive.
    may_die: bool,
    left: bool,
}

/// How messages are written to the server's input.
enum Writes {
    /// Each with one write.
    Whole,
    /// In pieces of this many bytes.
    Pieces(usize),
    /// This many messages with one write.
    Together { count: usize, held: Vec<Vec<u8>> },
}

/// The reason why a request has no response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoAnswer {
    Died(ExitStatus),
    Hangs,
}

/// A response, and its time of arrival.
#[derive(Debug)]
pub struct Answer {
    pub method: String,
    pub result: Result<Value, Value>,
    pub at: Instant,
}

impl LspClient {
    /// Starts the server, without the handshake.
    pub fn spawn() -> Self {
        Self::spawn_as(|_| ())
    }

    /// Like [`LspClient::spawn`], with a different environment.
    pub fn spawn_as(configure: impl FnOnce(&mut Command)) -> Self {
        let mut command = Command::new(binary::hlo_analyzer());
        command.arg("lsp").env("HLO_ANALYZER_TEST_HOOKS", "1");
        configure(&mut command);
        let mut server = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the server can be started");
        let input = server.stdin.take();
        let output = server.stdout.take().expect("stdout is a pipe");
        let mut errors = server.stderr.take().expect("stderr is a pipe");
        let log = Arc::<Mutex<String>>::default();
        let lines = log.clone();
        std::thread::spawn(move || {
            let mut chunk = [0; 4096];
            while let Ok(n @ 1..) = errors.read(&mut chunk) {
                let text = String::from_utf8_lossy(&chunk[..n]);
                lines.lock().unwrap_or_else(PoisonError::into_inner).push_str(&text);
            }
        });
        let (sender, messages) = channel();
        std::thread::spawn(move || {
            let mut output = BufReader::new(output);
            while let Some(message) = read_message(&mut output) {
                if sender.send((message, Instant::now())).is_err() {
                    return;
                }
            }
        });
        Self {
            server,
            input,
            writes: Writes::Whole,
            messages,
            log,
            last_id: 0,
            asked: HashMap::new(),
            answers: HashMap::new(),
            notifications: Vec::new(),
            server_requests: Vec::new(),
            settings: Value::Null,
            may_panic: false,
            may_die: false,
            left: false,
        }
    }

    /// Starts the server and initialises it with these client capabilities.
    pub fn start(capabilities: Value) -> Self {
        let mut client = Self::spawn();
        client.initialize(json!({"processId": null, "rootUri": null, "capabilities": capabilities}));
        client
    }

    /// A client that counts columns in bytes and supports Markdown.
    pub fn modern() -> Self {
        Self::start(json!({
            "general": {"positionEncodings": ["utf-8", "utf-16"]},
            "textDocument": {
                "hover": {"contentFormat": ["markdown", "plaintext"]},
                "definition": {"linkSupport": true},
                "documentSymbol": {"hierarchicalDocumentSymbolSupport": true},
                "publishDiagnostics": {"relatedInformation": true, "versionSupport": true},
            },
            "workspace": {"inlayHint": {"refreshSupport": true}},
        }))
    }

    pub fn initialize(&mut self, params: Value) -> Value {
        let result = self.ask("initialize", params);
        self.notify("initialized", json!({}));
        result
    }

    /// The server is expected to panic during one of its responses.
    pub fn may_panic(mut self) -> Self {
        self.may_panic = true;
        self
    }

    /// The test uses [`LspClient::try_ask`] and itself checks whether the server panicked, died or hangs.
    pub fn may_die(mut self) -> Self {
        self.may_panic = true;
        self.may_die = true;
        self
    }

    /// Sends a request and waits for its response, which may be an error. `Err` gives the reason for a
    /// missing one.
    pub fn try_ask(
        &mut self,
        method: &str,
        params: Value,
        patience: Duration,
    ) -> Result<Result<Value, Value>, NoAnswer> {
        let id = self.request(method, params);
        self.try_answer(id, patience)
    }

    /// Waits for the response to a request, which may be an error. `Err` gives the reason for a missing one.
    pub fn try_answer(&mut self, id: i64, patience: Duration) -> Result<Result<Value, Value>, NoAnswer> {
        self.flush();
        let end = Instant::now() + patience;
        while !self.answers.contains_key(&id) {
            if !self.receive(end) {
                // The output closes shortly before the process exits.
                for _ in 0..100 {
                    if let Ok(Some(status)) = self.server.try_wait() {
                        self.left = true;
                        return Err(NoAnswer::Died(status));
                    }
                    if Instant::now() >= end {
                        return Err(NoAnswer::Hangs);
                    }
                    std::thread::sleep(Duration::from_millis(20));
                }
                return Err(NoAnswer::Hangs);
            }
        }
        Ok(self.answers.remove(&id).expect("it is there").result)
    }

    /// Kills the server in any state.
    pub fn kill(mut self) {
        self.left = true;
        self.answers.clear();
        let _ = self.server.kill();
        let _ = self.server.wait();
    }

    pub fn notify(&mut self, method: &str, params: Value) {
        self.send(&json!({"jsonrpc": "2.0", "method": method, "params": params}));
    }

    /// Sends a request; [`LspClient::answer`] waits for its response.
    pub fn request(&mut self, method: &str, params: Value) -> i64 {
        self.last_id += 1;
        let mut message = json!({"jsonrpc": "2.0", "id": self.last_id, "method": method});
        if !params.is_null() {
            message["params"] = params;
        }
        self.asked.insert(self.last_id, method.to_owned());
        self.send(&message);
        self.last_id
    }

    pub fn answer(&mut self, id: i64) -> Answer {
        let end = Instant::now() + PATIENCE;
        while !self.answers.contains_key(&id) {
            assert!(self.receive(end), "no answer to request {id}, {:?}{}", self.asked.get(&id), self.log());
        }
        self.answers.remove(&id).expect("it is there")
    }

    /// Sends a request and waits for its result, which must not be an error.
    pub fn ask(&mut self, method: &str, params: Value) -> Value {
        let id = self.request(method, params);
        self.answer(id).result.unwrap_or_else(|error| panic!("{method}: {error}{}", self.log()))
    }

    /// Sends a request and returns the code of its error.
    pub fn refused(&mut self, method: &str, params: Value) -> i64 {
        let id = self.request(method, params);
        self.error_code(id)
    }

    pub fn error_code(&mut self, id: i64) -> i64 {
        let answer = self.answer(id);
        match &answer.result {
            Err(error) => error["code"].as_i64().expect("an error has a code"),
            Ok(result) => panic!("{} was to fail but is answered {result}", answer.method),
        }
    }

    /// Waits for a notification for which `wanted` holds. Earlier ones are dropped.
    pub fn notification(&mut self, method: &str, wanted: impl Fn(&Value) -> bool) -> Value {
        let end = Instant::now() + PATIENCE;
        loop {
            while !self.notifications.is_empty() {
                let message = self.notifications.remove(0);
                if message["method"] == method && wanted(&message["params"]) {
                    return message["params"].clone();
                }
            }
            assert!(self.receive(end), "no {method} that is as wanted{}", self.log());
        }
    }

    /// Waits for a request of the server and returns its parameters. It is dropped with the earlier ones.
    pub fn server_request(&mut self, method: &str) -> Value {
        let end = Instant::now() + PATIENCE;
        loop {
            if let Some(at) = self.server_requests.iter().position(|(asked, _)| asked == method) {
                return self.server_requests.drain(..=at).next_back().expect("it is there").1;
            }
            assert!(self.receive(end), "the server does not request {method}{}", self.log());
        }
    }

    /// A notification that has already arrived, if any.
    pub fn take(&mut self, method: &str) -> Option<Value> {
        let at = self.notifications.iter().position(|message| message["method"] == method)?;
        Some(self.notifications.remove(at)["params"].clone())
    }

    /// Receives messages from the server for a given time.
    pub fn listen(&mut self, time: Duration) {
        let end = Instant::now() + time;
        while self.receive(end) {}
    }

    /// The server's log, for messages of failing tests.
    pub fn log(&self) -> String {
        let log = self.log.lock().unwrap_or_else(PoisonError::into_inner);
        if log.is_empty() { String::new() } else { format!("\nlog of the server:\n{log}") }
    }

    pub fn close_input(&mut self) {
        self.input = None;
    }

    /// Reads no more. The server's output is closed when the next message comes.
    pub fn close_output(&mut self) {
        self.messages = channel().1;
    }

    /// The server's process id; `None` if it has ended.
    pub fn process_id(&mut self) -> Option<u32> {
        let ended = self.server.try_wait().expect("the server can be waited for");
        ended.is_none().then(|| self.server.id())
    }

    /// Waits until the log contains a text, because the log arrives separately.
    pub fn has_logged(&self, text: &str) -> bool {
        let end = Instant::now() + PATIENCE;
        while !self.log().contains(text) && Instant::now() < end {
            std::thread::sleep(Duration::from_millis(5));
        }
        self.log().contains(text)
    }

    /// Sends `shutdown` and `exit`, leaving the input open.
    pub fn leave(&mut self) -> ExitStatus {
        self.ask("shutdown", Value::Null);
        self.exit()
    }

    /// Sends `exit` only.
    pub fn exit(&mut self) -> ExitStatus {
        self.send(&json!({"jsonrpc": "2.0", "method": "exit"}));
        self.ended()
    }

    /// Waits for the process to exit.
    pub fn ended(&mut self) -> ExitStatus {
        self.left = true;
        let end = Instant::now() + PATIENCE;
        loop {
            if let Some(status) = self.server.try_wait().expect("the server can be waited for") {
                return status;
            }
            assert!(Instant::now() < end, "the server does not end{}", self.log());
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    /// From here on each message is written at once.
    pub fn write_whole(&mut self) {
        self.flush();
        self.writes = Writes::Whole;
    }

    /// From here on messages are written in pieces of so many bytes.
    pub fn write_pieces(&mut self, bytes: usize) {
        self.flush();
        self.writes = Writes::Pieces(bytes.max(1));
    }

    /// From here on so many messages are written at once; [`LspClient::flush`] writes those that wait.
    pub fn write_together(&mut self, count: usize) {
        self.flush();
        self.writes = Writes::Together { count, held: Vec::new() };
    }

    /// Writes the messages that wait for others.
    pub fn flush(&mut self) {
        if let Writes::Together { held, .. } = &mut self.writes {
            let all = std::mem::take(held).concat();
            if !all.is_empty() {
                self.send_raw(&all);
            }
        }
    }

    /// Sends raw bytes.
    pub fn send_raw(&mut self, bytes: &[u8]) {
        let input = self.input.as_mut().expect("the input is open");
        let sent = input.write_all(bytes).and_then(|()| input.flush());
        assert!(sent.is_ok() || self.may_die, "the server does not read: {sent:?}");
    }

    fn send(&mut self, message: &Value) {
        self.send_body(message.to_string().as_bytes());
    }

    /// Sends a body that need not be JSON.
    pub fn send_body(&mut self, body: &[u8]) {
        let mut message = format!("Content-Length: {}\r\n\r\n", body.len()).into_bytes();
        message.extend_from_slice(body);
        match &mut self.writes {
            Writes::Whole => self.send_raw(&message),
            Writes::Pieces(bytes) => {
                let bytes = *bytes;
                message.chunks(bytes).for_each(|piece| self.send_raw(piece));
            }
            Writes::Together { count, held } => {
                held.push(message);
                if held.len() >= *count {
                    self.flush();
                }
            }
        }
    }

    /// Sends a request whose body the test supplies.
    pub fn request_body(&mut self, method: &str, body: impl FnOnce(i64) -> String) -> i64 {
        self.last_id += 1;
        self.asked.insert(self.last_id, method.to_owned());
        let body = body(self.last_id);
        self.send_body(body.as_bytes());
        self.last_id
    }

    /// Receives one message. Returns false at time `end`, or if the server has closed its output.
    fn receive(&mut self, end: Instant) -> bool {
        let (message, at) = match self.messages.recv_timeout(end.saturating_duration_since(Instant::now())) {
            Ok(received) => received,
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => return false,
        };
        assert_eq!(message["jsonrpc"], "2.0", "{message}");
        if message.get("method").is_none() {
            // A response without an id is about a malformed message.
            let id = message["id"].as_i64().unwrap_or_default();
            let method = match self.asked.remove(&id) {
                Some(method) => method,
                None if id == 0 => "malformed message".to_owned(),
                None => panic!("nobody asked for {message}"),
            };
            let result = match message.get("error") {
                Some(error) => Err(error.clone()),
                None => Ok(message["result"].clone()),
            };
            assert!(self.answers.insert(id, Answer { method, result, at }).is_none(), "answered twice");
        } else if let Some(id) = message.get("id") {
            let method = message["method"].as_str().unwrap_or_default().to_owned();
            let result = match method.as_str() {
                "workspace/configuration" => json!([self.settings]),
                _ => Value::Null,
            };
            self.server_requests.push((method, message["params"].clone()));
            let answer = json!({"jsonrpc": "2.0", "id": id, "result": result});
            self.send(&answer);
        } else {
            self.notifications.push(message);
        }
        true
    }
}

/// `None` at the end of the stream. Panics at a malformed message, which is a server bug.
fn read_message(output: &mut impl BufRead) -> Option<Value> {
    let mut header = String::new();
    output.read_line(&mut header).ok().filter(|&n| n > 0)?;
    let length = header.strip_prefix("Content-Length: ").and_then(|rest| rest.strip_suffix("\r\n"));
    let length = length.and_then(|digits| digits.parse::<usize>().ok());
    let length = length.unwrap_or_else(|| panic!("not a header on stdout: {header:?}"));
    let mut body = vec![0; length + 2];
    output.read_exact(&mut body).ok()?;
    assert_eq!(&body[..2], b"\r\n", "an empty line ends the header");
    Some(serde_json::from_slice(&body[2..]).expect("the body is JSON"))
}

impl Drop for LspClient {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let _ = self.server.kill();
            let _ = self.server.wait();
            return;
        }
        if !self.left {
            let status = self.leave();
            assert!(status.success(), "the server ended with {status}{}", self.log());
        }
        let unread: Vec<_> = self.answers.values().filter(|answer| answer.result.is_err()).collect();
        assert!(unread.is_empty(), "errors nobody looked at: {unread:?}{}", self.log());
        assert!(self.may_panic || !self.log().contains("panicked"), "the server panicked{}", self.log());
    }
}
