//! Plays a script on a server, and compares what it answers with the oracle.

mod answers;
mod documents;
mod messages;

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use random::Rng;
use serde_json::{Value, json};

use super::oracle::Oracle;
use super::script::{Ending, Kind, Script, Step};
use super::world::World;
use crate::lsp_client::LspClient;
use crate::soak::Failure;
use crate::soak::requests::Question;

/// The longest text. The server plans kernels and memory of longer ones in the background, so their answers
/// depend on time.
const MAX_BYTES: usize = 11_000;
/// The longest text that a document is opened with.
const MAX_OPENED: usize = 5_000;
const MAX_DOCUMENTS: usize = 4;
/// Names of documents outside of the dump folder.
const NAMES: &[&str] = &["a.hlo", "b.hlo", "c.mlir", "d.mlir", "e f.txt", "g"];
/// The requests that a settled client sends.
const SETTLED: usize = 10;

const CONTENT_MODIFIED: i64 = -32801;
const CANCELLED: i64 = -32800;
const INTERNAL_ERROR: i64 = -32603;

/// An unanswered request.
struct Asked {
    id: i64,
    question: Question,
    /// The state in which it was sent.
    moment: usize,
    is_cancelled: bool,
    /// Whether its response is the one that a fault asks for.
    is_fault: bool,
    /// The tokens to which a delta is relative.
    tokens: Option<Vec<Value>>,
}

pub struct Player<'a> {
    pub client: LspClient,
    oracle: &'a mut Oracle,
    world: World,
    /// Documents that exist in a dump folder, by URI.
    stages: &'a [(String, String)],
    asked: Vec<Asked>,
    /// Requests that follow from earlier responses of the oracle.
    known: Vec<Question>,
    /// The last tokens of each document, with their result id.
    tokens: BTreeMap<String, (Value, Vec<Value>)>,
    /// Injected faults that may still make one response an internal error.
    faults: usize,
    /// Requests that a fault struck since all were answered: equal ones share their computation, and so its end.
    struck: Vec<(String, Value)>,
    /// All injected faults.
    all_faults: usize,
    queries_panic: bool,
    published: BTreeMap<String, Value>,
    version: i64,
    pub messages: u64,
    /// The methods of all requests.
    pub methods: BTreeSet<String>,
    pub compared: u64,
    /// The last messages, for the report.
    pub transcript: Vec<Value>,
}

impl<'a> Player<'a> {
    pub fn new(
        client: LspClient,
        oracle: &'a mut Oracle,
        stages: &'a [(String, String)],
        encoding: &'static str,
    ) -> Player<'a> {
        Player {
            client,
            oracle,
            world: World::new(encoding),
            stages,
            asked: Vec::new(),
            known: Vec::new(),
            tokens: BTreeMap::new(),
            faults: 0,
            struck: Vec::new(),
            all_faults: 0,
            queries_panic: false,
            published: BTreeMap::new(),
            version: 0,
            messages: 0,
            methods: BTreeSet::new(),
            compared: 0,
            transcript: Vec::new(),
        }
    }

    /// Plays all steps and ends the server.
    pub fn play(&mut self, script: &Script) -> Result<(), Failure> {
        let settings = self.world.now().settings.clone();
        self.notify("workspace/didChangeConfiguration", json!({"settings": settings}));
        for step in &script.steps {
            self.step(*step)?;
        }
        self.client.write_whole();
        match script.ending {
            Ending::Shutdown => {
                self.settle(&mut Rng::new(0))?;
                self.check_published()?;
                self.end()
            }
            Ending::ClosedPipe => self.close_pipe(),
            Ending::ClosedOutput => self.close_output(),
        }
    }

    fn notify(&mut self, method: &str, params: Value) {
        self.messages += 1;
        self.transcript.push(json!({"method": method, "params": params}));
        self.client.notify(method, params);
    }

    fn request(&mut self, question: Question) {
        self.messages += 1;
        self.methods.insert(question.method.clone());
        let tokens = question.params["previousResultId"].as_str().and_then(|id| {
            let uri = question.params["textDocument"]["uri"].as_str()?;
            self.tokens.get(uri).filter(|(known, _)| known == id).map(|(_, tokens)| tokens.clone())
        });
        let id = self.client.request(&question.method, question.params.clone());
        self.transcript.push(json!({"id": id, "method": question.method, "params": question.params}));
        let moment = self.world.moment();
        self.asked.push(Asked { id, question, moment, is_cancelled: false, is_fault: false, tokens });
    }

    fn fault(&mut self, question: Question) {
        self.request(question);
        self.faults += 1;
        self.all_faults += 1;
        if let Some(asked) = self.asked.last_mut() {
            asked.is_fault = true;
        }
    }

    fn step(&mut self, Step { kind, seed }: Step) -> Result<(), Failure> {
        let random = &mut Rng::new(seed);
        match kind {
            Kind::Open => self.open(random),
            Kind::Edit => self.edit(random),
            Kind::Replace => self.replace(random),
            Kind::Requests => {
                for _ in 0..=random.index(5) {
                    if let Some(question) = self.question(random) {
                        self.request(question);
                    }
                }
            }
            Kind::Cancel => self.cancel(random),
            Kind::Configure => self.configure(random),
            Kind::Close => {
                if let Some(uri) = self.pick(random) {
                    self.close(&uri);
                }
            }
            Kind::Rename => self.rename(random),
            Kind::Save => {
                if let Some(uri) = self.pick(random) {
                    self.notify("textDocument/didSave", json!({"textDocument": {"uri": uri}}));
                }
            }
            Kind::WatchedFiles => {
                let uri = match self.pick(random) {
                    Some(uri) if random.flag() => uri,
                    _ => random.pick(self.stages).0.clone(),
                };
                let changes = json!([{"uri": uri, "type": 1 + random.index(3)}]);
                self.notify("workspace/didChangeWatchedFiles", json!({"changes": changes}));
            }
            Kind::WrongNotification => self.wrong_notification(random),
            Kind::WrongRequest => self.wrong_request(random),
            Kind::PanicInQuery | Kind::PanicInRequest | Kind::PanicInResponse | Kind::Stuck => {
                self.inject(kind, random);
            }
            Kind::Garbage => self.garbage(random)?,
            Kind::Writes => match random.index(3) {
                0 => self.client.write_whole(),
                1 => self.client.write_pieces(1 + random.index(40)),
                _ => self.client.write_together(2 + random.index(6)),
            },
            Kind::Pause => {
                self.client.flush();
                self.client.listen(Duration::from_millis(random.index(12) as u64));
            }
            Kind::Settle => self.settle(random)?,
        }
        Ok(())
    }
}
