//! The server that answers are compared with: it has seen no edits, as each text is opened afresh in it.

use serde_json::{Value, json};

use super::world::{Document, State};
use super::{FOLDER, WITHOUT_DUMPS};
use crate::lsp_client::LspClient;
use crate::soak::questions::ask;
use crate::soak::{Failure, PATIENCE};

/// A response: the result, or `{"error": …}`.
pub type Response = Value;

pub struct Oracle {
    client: LspClient,
    /// What is open in it.
    state: State,
    has_listed: bool,
    /// A method whose answers are changed, to test what becomes of a difference.
    spoilt: Option<&'static str>,
}

impl Oracle {
    pub fn new(client: LspClient, spoilt: Option<&'static str>) -> Oracle {
        let mut oracle = Oracle { client, state: State::new(), has_listed: false, spoilt };
        oracle.configure();
        oracle
    }

    fn configure(&mut self) {
        let settings = &self.state.settings;
        self.client.notify("workspace/didChangeConfiguration", json!({"settings": settings}));
    }

    pub fn kill(self) {
        self.client.kill();
    }

    /// Opens the texts of a state, and closes all others.
    fn enter(&mut self, state: &State) {
        if self.state.settings != state.settings {
            self.state.settings = state.settings.clone();
            self.configure();
        }
        for (uri, document) in &self.state.documents {
            if state.documents.get(uri) != Some(document) {
                self.client.notify("textDocument/didClose", json!({"textDocument": {"uri": uri}}));
            }
        }
        for (uri, document) in &state.documents {
            if self.state.documents.get(uri) != Some(document) {
                self.client.notify("textDocument/didOpen", opened(uri, document));
            }
        }
        self.state = state.clone();
    }

    /// The response to a request in a state, after the dump folder is listed.
    pub fn ask(&mut self, state: &State, method: &str, params: Value) -> Result<Response, Failure> {
        self.enter(state);
        if let Some((method, params)) = listing(state).filter(|_| !self.has_listed) {
            _ = self.answer(method, params)?;
            self.has_listed = true;
        }
        self.ask_at_once(method, params)
    }

    fn answer(&mut self, method: &str, params: Value) -> Result<Result<Value, Value>, Failure> {
        ask(&mut self.client, method, params, PATIENCE).map_err(|mut failure| {
            failure.detail = format!("in a server that has seen no edits: {}", failure.detail);
            failure
        })
    }

    fn ask_at_once(&mut self, method: &str, params: Value) -> Result<Response, Failure> {
        let answer = self.answer(method, params)?;
        if self.spoilt == Some(method) && answer.as_ref().is_ok_and(|result| !result.is_null()) {
            return Ok(json!("spoilt"));
        }
        Ok(answer.unwrap_or_else(|error| json!({"error": error})))
    }

    /// The same before the server has listed the dump folders that documents are in.
    pub fn ask_unlisted(&mut self, state: &State, method: &str, params: &Value) -> Result<Response, Failure> {
        let documents = state.documents.iter();
        let documents =
            documents.map(|(uri, document)| (uri.replace(FOLDER, WITHOUT_DUMPS), document.clone()));
        let state = State { documents: documents.collect(), settings: state.settings.clone() };
        self.enter(&state);
        let answer = self.ask_at_once(method, renamed(params, FOLDER, WITHOUT_DUMPS))?;
        Ok(renamed(&answer, WITHOUT_DUMPS, FOLDER))
    }
}

/// A request that is answered when the dump folder of the open documents is listed.
pub fn listing(state: &State) -> Option<(&'static str, Value)> {
    let uri = state.documents.keys().find(|uri| uri.contains(FOLDER))?;
    Some(("hlo-analyzer/compiles", json!({"textDocument": {"uri": uri}, "compile": 0})))
}

/// A value with one name in place of another.
fn renamed(value: &Value, from: &str, to: &str) -> Value {
    serde_json::from_str(&value.to_string().replace(from, to)).expect("a name needs no escapes")
}

/// The parameters of `didOpen`.
pub fn opened(uri: &str, document: &Document) -> Value {
    let Document { language, version, text, .. } = document;
    json!({"textDocument": {"uri": uri, "languageId": language.id(), "version": version, "text": **text}})
}
