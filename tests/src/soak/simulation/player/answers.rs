//! What the server answers, compared with the oracle, and its end.

use std::time::{Duration, Instant};

use random::Rng;
use serde_json::{Value, json};

use super::{Asked, CANCELLED, CONTENT_MODIFIED, INTERNAL_ERROR, Player, SETTLED};
use crate::lsp_client::NoAnswer;
use crate::soak::questions::{failure, inverted};
use crate::soak::requests::{self, OF_FOLDERS, Question};
use crate::soak::simulation::oracle::{Response, listing};
use crate::soak::{Failure, Kind as FailureKind, PATIENCE};

/// The time between two requests of a client that reads no more: all of them fit into a pipe.
const CLOSED_PAUSE: Duration = Duration::from_millis(100);

impl Player<'_> {
    pub(super) fn died(&self, method: &str, why: NoAnswer) -> Failure {
        match why {
            NoAnswer::Died(status) => {
                failure(FailureKind::Death, method, format!("{status}{}", self.client.log()))
            }
            NoAnswer::Hangs => failure(FailureKind::Hang, method, format!("no answer{}", self.client.log())),
        }
    }

    /// Waits for all responses, compares them, and sends more requests, whose responses are those for the
    /// current texts.
    pub(super) fn settle(&mut self, random: &mut Rng) -> Result<(), Failure> {
        self.client.flush();
        self.struck.clear();
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
        if let Some((method, params)) = listing(self.world.now()) {
            self.ask_settled(method, params)?;
        }
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
    pub(super) fn without_errors(
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
            INTERNAL_ERROR if self.is_struck(&asked.question) => true,
            INTERNAL_ERROR if self.faults > 0 => {
                self.faults -= 1;
                self.struck.push((asked.question.method.clone(), asked.question.params.clone()));
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

    /// Whether a fault struck an equal request.
    fn is_struck(&self, question: &Question) -> bool {
        self.struck.iter().any(|(method, params)| *method == question.method && *params == question.params)
    }

    /// Compares responses to requests with edits behind them: each is that of some state since it was sent.
    pub(super) fn compare_in_flight(&mut self, mut open: Vec<(Response, Asked)>) -> Result<(), Failure> {
        for (answer, asked) in &mut open {
            self.remember(answer, asked.tokens.as_deref(), &asked.question);
            check_form(answer, &asked.question)?;
        }
        let mut expected = Vec::new();
        for moment in (0..=self.world.moment()).rev() {
            let mut left = Vec::new();
            for (answer, asked) in open {
                if asked.moment > moment {
                    left.push((answer, asked));
                    continue;
                }
                let params = self.world.moved(&asked.question, asked.moment, moment);
                let method = &asked.question.method;
                let found = comparable(method, &answer);
                let wanted = self.expected(moment, method, params.clone())?;
                self.compared += 1;
                if found != wanted && !self.is_of_unlisted(moment, method, params, &found)? {
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

    /// Whether a response is that of a server which has not yet listed the dump folder of a document: listings arrive in the
    /// background.
    fn is_of_unlisted(
        &mut self,
        moment: usize,
        method: &str,
        params: Value,
        found: &Response,
    ) -> Result<bool, Failure> {
        let state = self.world.at(moment);
        let has_stages = self.stages.iter().any(|(uri, _)| state.documents.contains_key(uri));
        if !has_stages || OF_FOLDERS.contains(&method) {
            return Ok(false);
        }
        let (method, params) = of_texts(method, params);
        let answer = self.oracle.ask_unlisted(state, method, &params)?;
        Ok(*found == comparable(method, &answer))
    }

    /// What the oracle answers in a state.
    pub(super) fn expected(
        &mut self,
        moment: usize,
        method: &str,
        params: Value,
    ) -> Result<Response, Failure> {
        let (method, params) = of_texts(method, params);
        let answer = self.oracle.ask(self.world.at(moment), method, params)?;
        Ok(comparable(method, &answer))
    }

    /// Makes the full tokens of a delta, and keeps tokens for later deltas.
    pub(super) fn remember(&mut self, answer: &mut Response, before: Option<&[Value]>, question: &Question) {
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
    pub(super) fn ask_settled(&mut self, method: &str, params: Value) -> Result<Response, Failure> {
        self.methods.insert(method.to_owned());
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
    pub(super) fn settled(&mut self, question: &Question) -> Result<Response, Failure> {
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
    pub(super) fn check_published(&mut self) -> Result<(), Failure> {
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
    pub(super) fn end(&mut self) -> Result<(), Failure> {
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
    pub(super) fn close_pipe(&mut self) -> Result<(), Failure> {
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

    /// Ends the output alone, with requests unanswered. The server ends as soon as it writes.
    pub(super) fn close_output(&mut self) -> Result<(), Failure> {
        self.client.close_output();
        self.asked.clear();
        let end = Instant::now() + PATIENCE;
        while self.client.process_id().is_some() {
            if Instant::now() > end {
                return Err(failure(FailureKind::Hang, "the end of the output", self.client.log()));
            }
            self.messages += 1;
            self.client.request("hlo-analyzer/status", json!({}));
            std::thread::sleep(CLOSED_PAUSE);
        }
        let status = self.client.ended();
        if status.code() != Some(1) {
            return Err(failure(FailureKind::Death, "the end of the output", format!("{status}")));
        }
        self.check_panics()
    }

    pub(super) fn check_panics(&self) -> Result<(), Failure> {
        let log = self.client.log();
        match log.matches("panicked at").count() > self.all_faults {
            true => Err(failure(FailureKind::Panic, "background", log)),
            false => Ok(()),
        }
    }
}

/// The request whose response depends on texts alone: a delta is compared by what it makes of the tokens before.
fn of_texts(method: &str, mut params: Value) -> (&str, Value) {
    match method {
        "textDocument/semanticTokens/full/delta" => {
            if let Some(params) = params.as_object_mut() {
                params.remove("previousResultId");
            }
            ("textDocument/semanticTokens/full", params)
        }
        method => (method, params),
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
    if let ("codeLens/resolve", Some(lens)) = (method, answer.as_object_mut()) {
        // It is that of the request, wherever the lens has moved since.
        lens.remove("range");
    }
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
