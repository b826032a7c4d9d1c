//! Plays a script on a server, and compares what it answers with the oracle.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use random::Rng;
use serde_json::{Value, json};

use super::oracle::{Oracle, Response, opened};
use super::script::{Ending, Kind, Script, Step};
use super::world::{Document, Replaced, World};
use crate::lsp_client::{LspClient, NoAnswer};
use crate::soak::edits::{Edit, random_edit};
use crate::soak::questions::{failure, inverted};
use crate::soak::requests::{self, OF_DOCUMENTS, OF_PLACES, OF_WORKSPACES, Question};
use crate::soak::texts::{ANY_WORDS, Language, texts};
use crate::soak::{Failure, Kind as FailureKind, PATIENCE};

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
    /// All injected faults.
    all_faults: usize,
    queries_panic: bool,
    published: BTreeMap<String, Value>,
    version: i64,
    pub messages: u64,
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
            all_faults: 0,
            queries_panic: false,
            published: BTreeMap::new(),
            version: 0,
            messages: 0,
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
        }
    }

    fn notify(&mut self, method: &str, params: Value) {
        self.messages += 1;
        self.transcript.push(json!({"method": method, "params": params}));
        self.client.notify(method, params);
    }

    fn request(&mut self, question: Question) {
        self.messages += 1;
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

    fn pick(&self, random: &mut Rng) -> Option<String> {
        let open: Vec<&String> = self.world.now().documents.keys().collect();
        (!open.is_empty()).then(|| (*random.pick(&open)).clone())
    }

    fn next_version(&mut self, random: &mut Rng) -> i64 {
        self.version += 1 + i64::from(random.one_in(5));
        self.version
    }

    /// Opens a document of the dump folder, perhaps with other text than it has on disk, or one that is in none.
    fn open(&mut self, random: &mut Rng) {
        let (uri, language, text) = match random.index(3) {
            0 => {
                let (uri, text) = random.pick(self.stages).clone();
                (uri, Language::Hlo, text)
            }
            _ => {
                let language = *random.pick(&Language::BOTH);
                let all = texts(language);
                let short = (0..8).map(|_| random.pick(all)).find(|text| text.len() <= MAX_OPENED);
                let text = short.cloned().unwrap_or_default();
                (format!("file:///simulated/{}", random.pick(NAMES).replace(' ', "%20")), language, text)
            }
        };
        let documents = &self.world.now().documents;
        if documents.contains_key(&uri) || documents.len() >= MAX_DOCUMENTS {
            return;
        }
        let text = match random.index(6) {
            0 => text.replace('\n', "\r\n"),
            1 => format!("{text}// é→😀\n"),
            _ => text,
        };
        self.open_as(uri, language, text, random);
    }

    fn open_as(&mut self, uri: String, language: Language, text: String, random: &mut Rng) {
        let version = self.next_version(random);
        let document = Document { opening: version as u64, language, version, text: text.into() };
        self.notify("textDocument/didOpen", opened(&uri, &document));
        self.world.advance(None, |state| _ = state.documents.insert(uri, document));
    }

    fn close(&mut self, uri: &str) {
        self.notify("textDocument/didClose", json!({"textDocument": {"uri": uri}}));
        self.tokens.remove(uri);
        self.world.advance(None, |state| _ = state.documents.remove(uri));
    }

    fn rename(&mut self, random: &mut Rng) {
        let Some(uri) = self.pick(random) else { return };
        let new = format!("file:///simulated/renamed-{}.txt", random.index(3));
        if self.world.now().documents.contains_key(&new) {
            return;
        }
        let Document { language, text, .. } = self.world.now().documents[&uri].clone();
        self.close(&uri);
        let language = if random.one_in(4) { *random.pick(&Language::BOTH) } else { language };
        self.open_as(new, language, text.to_string(), random);
    }

    /// Sends edits, with positions that clients may write in several ways.
    fn edit(&mut self, random: &mut Rng) {
        let Some(uri) = self.pick(random) else { return };
        let document = self.world.now().documents[&uri].clone();
        let mut text = document.text.to_string();
        let (mut changes, mut replaced): (Vec<Value>, Replaced) = (Vec::new(), Vec::new());
        let count = if random.one_in(30) { 0 } else { 1 + random.index(4) * usize::from(random.one_in(3)) };
        for _ in 0..count {
            let mut edit = random_edit(random, &text, document.language);
            if text.len() + edit.insert.len() > MAX_BYTES {
                edit = Edit { range: edit.range.start..text.len(), insert: String::new() };
            }
            changes.push(self.change(&text, &edit, random));
            replaced.push((edit.range.clone(), edit.insert.len()));
            edit.apply(&mut text);
        }
        self.changed(&uri, changes, text, replaced, random);
    }

    /// An edit in the format of `didChange`.
    fn change(&self, text: &str, edit: &Edit, random: &mut Rng) -> Value {
        let start = self.world.point(text, edit.range.start);
        let mut end = self.world.point(text, edit.range.end);
        let ends_line = text[edit.range.end..].chars().next().is_none_or(|c| matches!(c, '\n' | '\r'));
        if ends_line && random.one_in(6) {
            // A column behind the end of a line is its end.
            end["character"] = json!(end["character"].as_u64().unwrap_or_default() + 7);
        }
        if edit.range.end == text.len() && random.one_in(6) {
            end = json!({"line": u32::MAX, "character": 0});
        }
        let is_reversed = edit.range.len() > 1 && random.one_in(12);
        let range = match is_reversed {
            true => json!({"start": end, "end": start}),
            false => json!({"start": start, "end": end}),
        };
        json!({"range": range, "text": edit.insert})
    }

    fn changed(
        &mut self,
        uri: &str,
        changes: Vec<Value>,
        text: String,
        replaced: Replaced,
        random: &mut Rng,
    ) {
        let version = self.next_version(random);
        let id = json!({"uri": uri, "version": version});
        self.notify("textDocument/didChange", json!({"textDocument": id, "contentChanges": changes}));
        self.world.advance(Some((uri.to_owned(), replaced)), |state| {
            if let Some(document) = state.documents.get_mut(uri) {
                (document.version, document.text) = (version, text.into());
            }
        });
    }

    fn replace(&mut self, random: &mut Rng) {
        let Some(uri) = self.pick(random) else { return };
        let document = self.world.now().documents[&uri].clone();
        let old = document.text.to_string();
        let new = match random.index(6) {
            0 => String::new(),
            1 => old.replace("\r\n", "\n"),
            2 if old.len() * 2 < MAX_BYTES => old.replace("\r\n", "\n").replace('\n', "\r\n"),
            3 => (0..random.index(30)).map(|_| *random.pick(ANY_WORDS)).collect(),
            4 => old.clone(),
            _ => random.pick(texts(document.language)).chars().take(MAX_OPENED).collect(),
        };
        let replaced = vec![(0..old.len(), new.len())];
        self.changed(&uri, vec![json!({"text": new})], new, replaced, random);
    }

    fn cancel(&mut self, random: &mut Rng) {
        let id = match self.asked.is_empty() || random.one_in(10) {
            true => 1_000_000 + random.index(10) as i64,
            false => {
                let last = self.asked.len().min(6);
                let at = self.asked.len() - 1 - random.index(last);
                self.asked[at].is_cancelled = true;
                self.asked[at].id
            }
        };
        self.notify("$/cancelRequest", json!({"id": id}));
    }

    fn configure(&mut self, random: &mut Rng) {
        let device = *random.pick(&["h100-sxm", "a100-sxm-80", "a6000", "no such device"]);
        let settings = json!({
            "inlayHints": {
                "domains": random.flag(), "everywhere": random.flag(), "splits": random.flag(), "memory": random.flag(),
            },
            "gpu": {"device": device, "coalescingThreshold": 1 + random.index(4), "codeLens": random.flag()},
            "optimizer": {"hints": random.flag(), "codeLens": random.flag()},
            "hover": {"readableVariables": random.flag()},
            "diagnostics": {"limit": *random.pick(&[3, 1000])},
            "warnings": {
                "enable": !random.one_in(4), "disabled": if random.flag() { json!(["no-op"]) } else { json!([]) },
                "unoptimized": random.flag(),
            },
        });
        let sent = if random.flag() { json!({"hlo-analyzer": settings}) } else { settings.clone() };
        self.notify("workspace/didChangeConfiguration", json!({"settings": sent}));
        self.world.advance(None, |state| {
            let device = match device {
                // An unknown device is refused, so the one before stays.
                "no such device" => state.settings["gpu"]["device"].clone(),
                known => json!(known),
            };
            state.settings = settings;
            state.settings["gpu"]["device"] = device;
        });
    }

    /// A request of any method about an open document.
    fn question(&self, random: &mut Rng) -> Option<Question> {
        if random.one_in(4) && !self.known.is_empty() {
            return Some(random.pick(&self.known).clone());
        }
        if random.one_in(12) {
            let method = *random.pick(OF_WORKSPACES);
            return Some(requests::of_workspace(method));
        }
        let uri = self.pick(random)?;
        let text = &self.world.now().documents[&uri].text;
        let place = |at: usize| {
            let point = self.world.point(text, at);
            let number = |key: &str| point[key].as_u64().unwrap_or_default() as usize;
            (number("line"), number("character"))
        };
        if let Some((id, _)) = self.tokens.get(&uri).filter(|_| random.one_in(12)) {
            let params = json!({"textDocument": {"uri": uri}, "previousResultId": id});
            let method = "textDocument/semanticTokens/full/delta".to_owned();
            return Some(Question { label: method.clone(), method, params });
        }
        Some(match random.index(3) {
            0 => requests::of_document(random.pick::<&str>(OF_DOCUMENTS), &uri, place(text.len())),
            _ => {
                let at = random.index(text.len() + 1);
                let at = (0..=at).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0);
                requests::of_place(random.pick::<&str>(OF_PLACES), &uri, place(at))
            }
        })
    }

    fn wrong_notification(&mut self, random: &mut Rng) {
        let unknown = json!({"uri": "file:///simulated/unknown.hlo", "version": 3});
        match random.index(6) {
            0 => {
                let changes = json!([{"text": "HloModule x"}]);
                self.notify(
                    "textDocument/didChange",
                    json!({"textDocument": unknown, "contentChanges": changes}),
                );
            }
            1 => self.notify("textDocument/didClose", json!({"textDocument": unknown})),
            2 => self.notify("textDocument/didSave", json!({"textDocument": unknown})),
            3 => self.notify("textDocument/didChange", json!({"textDocument": 7})),
            4 => self.notify("hlo-analyzer/unknown", json!({"x": 1})),
            _ => {
                // A document that is opened twice has the newer text.
                let Some(uri) = self.pick(random) else { return };
                let Document { language, text, .. } = self.world.now().documents[&uri].clone();
                let half = (0..=text.len() / 2).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0);
                self.tokens.remove(&uri);
                self.open_as(uri, language, text[..half].to_owned(), random);
            }
        }
    }

    fn wrong_request(&mut self, random: &mut Rng) {
        let Some(mut question) = self.question(random) else { return };
        match random.index(5) {
            0 => question.params["textDocument"] = json!({"uri": "file:///simulated/unknown.hlo"}),
            1 => {
                for path in ["/position", "/range/end", "/positions/0"] {
                    if let Some(point) = question.params.pointer_mut(path) {
                        *point = match random.index(3) {
                            0 => json!({"line": u32::MAX, "character": u32::MAX}),
                            1 => json!({"line": 1, "character": 100_000}),
                            _ => json!({"line": 1_000_000, "character": 3}),
                        };
                    }
                }
            }
            2 => question.params = json!([1, "x"]),
            3 => question.params["textDocument"] = json!({"uri": "no URI"}),
            _ => question.method = "hlo-analyzer/unknown".to_owned(),
        }
        self.request(question);
    }

    fn inject(&mut self, kind: Kind, random: &mut Rng) {
        let Some(uri) = self.pick(random) else { return };
        let mut params = json!({"textDocument": {"uri": uri}});
        let (method, label) = match kind {
            Kind::PanicInQuery => {
                params["inQuery"] = json!(1 + random.index(60));
                self.queries_panic = true;
                ("hlo-analyzer/test/panic", "a panic in a query")
            }
            Kind::PanicInRequest => ("hlo-analyzer/test/panic", "a panic in a request"),
            Kind::PanicInResponse => {
                params["inResponse"] = json!(true);
                ("hlo-analyzer/test/panic", "a panic in a response")
            }
            _ => {
                (params["ms"], params["blocking"]) = (json!(20 + random.index(150)), json!(random.flag()));
                ("hlo-analyzer/test/sleep", "a stuck thread")
            }
        };
        self.fault(Question { label: label.to_owned(), method: method.to_owned(), params });
    }

    fn garbage(&mut self, random: &mut Rng) -> Result<(), Failure> {
        self.client.flush();
        let bodies: &[&[u8]] =
            &[b"{", b"\0\0\0", b"[1, 2]", b"{}", b"null", b"{\"jsonrpc\":\"2.0\",\"method\":7}", b"\xff\xfe"];
        self.messages += 1;
        match random.index(4) {
            0 => self.client.send_raw(b"Not: a header\r\n\r\n"),
            _ => self.client.send_body(random.pick::<&[u8]>(bodies)),
        }
        self.transcript.push(json!("garbage"));
        self.client.flush();
        match self.client.try_answer(0, PATIENCE) {
            Ok(Err(_)) => Ok(()),
            other => Err(failure(FailureKind::Malformed, "garbage", format!("is answered {other:?}"))),
        }
    }

    fn died(&self, method: &str, why: NoAnswer) -> Failure {
        match why {
            NoAnswer::Died(status) => {
                failure(FailureKind::Death, method, format!("{status}{}", self.client.log()))
            }
            NoAnswer::Hangs => failure(FailureKind::Hang, method, format!("no answer{}", self.client.log())),
        }
    }

    /// Waits for all responses, compares them, and sends more requests, whose responses are those for the
    /// current texts.
    fn settle(&mut self, random: &mut Rng) -> Result<(), Failure> {
        self.client.flush();
        let mut again = Vec::new();
        let mut open = Vec::new();
        for asked in std::mem::take(&mut self.asked) {
            let answer = self.client.try_answer(asked.id, PATIENCE);
            let answer = answer.map_err(|why| self.died(&asked.question.method, why))?;
            if let Some((answer, asked)) = self.without_errors(answer, asked, &mut again)? {
                open.push((answer, asked));
            }
        }
        self.compare_in_flight(open)?;
        self.world.settle();
        for question in again {
            self.settled(&question)?;
        }
        for uri in self.world.now().documents.keys().cloned().collect::<Vec<_>>() {
            let text = &self.world.now().documents[&uri].text.to_string();
            let held = self.ask_settled("hlo-analyzer/test/text", json!({"textDocument": {"uri": uri}}))?;
            if held.as_str() != Some(text) {
                let detail = format!("{uri}: the server has {held}\nthe client has {}", json!(text));
                return Err(failure(FailureKind::Difference, "text", detail));
            }
        }
        for _ in 0..SETTLED {
            let Some(question) = self.question(random) else { break };
            let found = self.settled(&question)?;
            let next = requests::follow_ups(&question, &found);
            if let Some(question) = next.get(random.index(next.len())) {
                self.settled(question)?;
            }
            self.known.extend(next.into_iter().take(3));
        }
        let excess = self.known.len().saturating_sub(40);
        self.known.drain(..excess);
        Ok(())
    }

    /// The response, unless it is an error that the request may get. Requests that are to be sent again go to
    /// `again`.
    fn without_errors(
        &mut self,
        answer: Result<Value, Value>,
        asked: Asked,
        again: &mut Vec<Question>,
    ) -> Result<Option<(Response, Asked)>, Failure> {
        let error = match answer {
            Ok(result) => match asked.is_fault {
                // Not cancelled, and its result is of no interest.
                true => return Ok(None),
                false => return Ok(Some((result, asked))),
            },
            Err(error) => error,
        };
        let code = error["code"].as_i64().unwrap_or_default();
        let is_same = asked.moment == self.world.moment();
        let is_allowed = match code {
            CANCELLED => asked.is_cancelled,
            CONTENT_MODIFIED => !is_same || self.faults > 0,
            INTERNAL_ERROR if self.faults > 0 => {
                self.faults -= 1;
                true
            }
            _ => return Ok(Some((json!({"error": error}), asked))),
        };
        if !is_allowed {
            let detail = format!("{}: {error}{}", asked.question.label, self.client.log());
            let kind = if code == INTERNAL_ERROR { FailureKind::Panic } else { FailureKind::Malformed };
            return Err(failure(kind, &asked.question.method, detail));
        }
        if !asked.is_fault && code != CANCELLED {
            again.push(asked.question);
        }
        Ok(None)
    }

    /// Compares responses to requests with edits behind them: each is that of some state since it was sent.
    fn compare_in_flight(&mut self, mut open: Vec<(Response, Asked)>) -> Result<(), Failure> {
        for (answer, asked) in &mut open {
            self.remember(answer, asked.tokens.as_deref(), &asked.question);
            check_form(answer, &asked.question)?;
        }
        if !is_search() {
            return Ok(());
        }
        // What the server knows of a dump folder arrives in the background.
        open.retain(|(_, asked)| !is_stage(&asked.question));
        let mut expected = Vec::new();
        for moment in (0..=self.world.moment()).rev() {
            let mut left = Vec::new();
            for (answer, asked) in open {
                if asked.moment > moment {
                    left.push((answer, asked));
                    continue;
                }
                let params = self.world.moved(&asked.question, asked.moment, moment);
                let wanted = self.expected(moment, &asked.question.method, params)?;
                self.compared += 1;
                if comparable(&asked.question.method, &answer) != wanted {
                    expected.push((asked.id, moment, wanted));
                    left.push((answer, asked));
                }
            }
            open = left;
        }
        let Some((answer, asked)) = open.first() else { return Ok(()) };
        let question = &asked.question;
        let found = comparable(&question.method, answer);
        let wanted = expected.iter().filter(|(id, ..)| *id == asked.id);
        let wanted: Vec<String> = wanted
            .map(|(_, moment, wanted)| {
                format!("of state {moment} of {}..={}: {wanted}", asked.moment, self.world.moment())
            })
            .collect();
        let detail = format!(
            "in flight, {} {}\nanswered: {found}\n{}",
            question.label,
            question.params,
            wanted.join("\n")
        );
        Err(failure(FailureKind::Difference, &question.method, detail))
    }

    /// What the oracle answers in a state.
    fn expected(&mut self, moment: usize, method: &str, mut params: Value) -> Result<Response, Failure> {
        let method = match method {
            // A delta is compared by what it makes of the tokens before.
            "textDocument/semanticTokens/full/delta" => {
                if let Some(params) = params.as_object_mut() {
                    params.remove("previousResultId");
                }
                "textDocument/semanticTokens/full"
            }
            method => method,
        };
        let answer = self.oracle.ask(self.world.at(moment), method, params)?;
        Ok(comparable(method, &answer))
    }

    /// Makes the full tokens of a delta, and keeps tokens for later deltas.
    fn remember(&mut self, answer: &mut Response, before: Option<&[Value]>, question: &Question) {
        if !question.method.starts_with("textDocument/semanticTokens/full") {
            return;
        }
        if let Some(edits) = answer["edits"].as_array() {
            let mut tokens = before.unwrap_or_default().to_vec();
            for edit in edits.iter().rev() {
                let number = |key: &str| edit[key].as_u64().unwrap_or_default() as usize;
                let start = number("start").min(tokens.len());
                let end = (start + number("deleteCount")).min(tokens.len());
                tokens.splice(start..end, edit["data"].as_array().cloned().unwrap_or_default());
            }
            *answer = json!({"resultId": answer["resultId"], "data": tokens});
        }
        let uri = question.params["textDocument"]["uri"].as_str();
        if let (Some(uri), Some(data)) = (uri, answer["data"].as_array())
            && self.world.now().documents.contains_key(uri)
        {
            self.tokens.insert(uri.to_owned(), (answer["resultId"].clone(), data.clone()));
        }
    }

    /// Sends a request while nothing changes. An injected fault may cost a response, not two.
    fn ask_settled(&mut self, method: &str, params: Value) -> Result<Response, Failure> {
        loop {
            self.messages += 1;
            let id = self.client.request(method, params.clone());
            self.transcript.push(json!({"id": id, "method": method, "params": params}));
            self.client.flush();
            let answer = self.client.try_answer(id, PATIENCE).map_err(|why| self.died(method, why))?;
            match answer {
                Err(error) if error["code"] == INTERNAL_ERROR && self.faults > 0 => self.faults -= 1,
                Err(error) if error["code"] == CONTENT_MODIFIED && self.faults > 0 => {}
                Err(error) if error["code"] == INTERNAL_ERROR => {
                    let detail = format!("{error}{}", self.client.log());
                    return Err(failure(FailureKind::Panic, method, detail));
                }
                answer => return Ok(answer.unwrap_or_else(|error| json!({"error": error}))),
            }
        }
    }

    /// Compares one response in a settled state, and returns it.
    fn settled(&mut self, question: &Question) -> Result<Response, Failure> {
        let tokens = question.params["textDocument"]["uri"].as_str().and_then(|uri| self.tokens.get(uri));
        let tokens = tokens.filter(|(id, _)| *id == question.params["previousResultId"]);
        let tokens = tokens.map(|(_, tokens)| tokens.clone());
        let mut answer = self.ask_settled(&question.method, question.params.clone())?;
        self.remember(&mut answer, tokens.as_deref(), question);
        check_form(&answer, question)?;
        let found = comparable(&question.method, &answer);
        let wanted = self.expected(self.world.moment(), &question.method, question.params.clone())?;
        self.compared += 1;
        if found != wanted {
            let detail =
                format!("{} {}\nanswered: {found}\nafresh:   {wanted}", question.label, question.params);
            return Err(failure(FailureKind::Difference, &question.method, detail));
        }
        Ok(answer)
    }

    /// The diagnostics that the server published last of each open document are those of its text.
    fn check_published(&mut self) -> Result<(), Failure> {
        if self.queries_panic {
            // What is published stays until the text changes.
            return Ok(());
        }
        let end = Instant::now() + Duration::from_secs(20);
        for (uri, document) in self.world.now().documents.clone() {
            let params = json!({"textDocument": {"uri": uri}});
            let wanted = self.oracle.ask(self.world.now(), "hlo-analyzer/test/diagnostics", params)?;
            loop {
                while let Some(params) = self.client.take("textDocument/publishDiagnostics") {
                    let about = params["uri"].as_str().unwrap_or_default().to_owned();
                    self.published.insert(about, params);
                }
                let last = self.published.get(&uri);
                if last
                    .is_some_and(|last| last["version"] == document.version && last["diagnostics"] == wanted)
                {
                    break;
                }
                if Instant::now() > end {
                    let detail = format!("{uri}, version {}: {last:?}\nafresh: {wanted}", document.version);
                    return Err(failure(FailureKind::Difference, "textDocument/publishDiagnostics", detail));
                }
                self.client.listen(Duration::from_millis(20));
            }
        }
        Ok(())
    }

    /// Shuts the server down, with requests unanswered.
    fn end(&mut self) -> Result<(), Failure> {
        let random = &mut Rng::new(7);
        for _ in 0..3 {
            if let Some(question) = self.question(random) {
                self.request(question);
            }
        }
        let answer = self.client.try_ask("shutdown", Value::Null, PATIENCE);
        answer
            .map_err(|why| self.died("shutdown", why))?
            .map_err(|error| failure(FailureKind::Malformed, "shutdown", format!("is answered {error}")))?;
        for asked in std::mem::take(&mut self.asked) {
            let answer = self.client.try_answer(asked.id, PATIENCE);
            _ = answer.map_err(|why| self.died(&asked.question.method, why))?;
        }
        let status = self.client.exit();
        if status.code() != Some(0) {
            return Err(failure(FailureKind::Death, "exit", format!("{status}{}", self.client.log())));
        }
        self.check_panics()
    }

    /// Ends the input inside a message. Whole messages before it are answered.
    fn close_pipe(&mut self) -> Result<(), Failure> {
        self.client.send_raw(b"Content-Length: 100\r\n\r\n{\"jsonrpc\":");
        self.client.close_input();
        for asked in std::mem::take(&mut self.asked) {
            let answer = self.client.try_answer(asked.id, PATIENCE);
            _ = answer.map_err(|why| self.died(&asked.question.method, why))?;
        }
        let status = self.client.ended();
        if status.code() != Some(1) {
            return Err(failure(FailureKind::Death, "the end of the input", format!("{status}")));
        }
        self.check_panics()
    }

    fn check_panics(&self) -> Result<(), Failure> {
        let log = self.client.log();
        match log.matches("panicked at").count() > self.all_faults {
            true => Err(failure(FailureKind::Panic, "background", log)),
            false => Ok(()),
        }
    }
}

fn check_form(answer: &Response, question: &Question) -> Result<(), Failure> {
    match inverted(answer) {
        Some(detail) => Err(failure(FailureKind::Malformed, &question.method, detail)),
        None => Ok(()),
    }
}

/// A response without what differs between two servers: ids of results, the process, the order of documents.
fn comparable(method: &str, answer: &Response) -> Response {
    if method == "hlo-analyzer/status" {
        return json!(answer["error"]);
    }
    if method.starts_with("textDocument/semanticTokens/full") && answer["error"].is_object() {
        // The message about wrong parameters names the method.
        return answer["error"]["code"].clone();
    }
    let mut answer = without_ids(answer);
    let (list, key) = match method {
        "workspace/symbol" => (Some(&mut answer), "/location/uri"),
        "workspace/diagnostic" => (answer.get_mut("items"), "/uri"),
        _ => (None, ""),
    };
    if let Some(Value::Array(items)) = list {
        items.sort_by_key(|item| item.pointer(key).and_then(Value::as_str).unwrap_or_default().to_owned());
    }
    answer
}

fn without_ids(value: &Value) -> Value {
    match value {
        Value::Array(list) => list.iter().map(without_ids).collect(),
        Value::Object(map) => map
            .iter()
            .filter(|(key, _)| *key != "resultId")
            .map(|(key, value)| (key.clone(), without_ids(value)))
            .collect(),
        other => other.clone(),
    }
}

/// Whether new failures are searched for. Which response comes in flight depends on threads, so the test run compares only those to
/// requests behind which there is no edit.
fn is_search() -> bool {
    ["HLO_ANALYZER_SOAK_MINUTES", "HLO_ANALYZER_SOAK_SEED", "HLO_ANALYZER_SOAK_FIRST_SEED"]
        .iter()
        .any(|name| std::env::var_os(name).is_some())
}

/// Whether a request is about a file of the dump folder.
fn is_stage(question: &Question) -> bool {
    question.params["textDocument"]["uri"].as_str().is_some_and(|uri| uri.ends_with(".txt"))
}
