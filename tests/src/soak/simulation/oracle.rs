//! The server that answers are compared with: it has seen no edits, as each text is opened afresh in it.

use serde_json::{Value, json};

use super::FOLDER;
use super::world::{Document, State};
use crate::lsp_client::LspClient;
use crate::soak::questions::ask;
use crate::soak::{Failure, PATIENCE};

/// A response: the result, or `{"error": …}`.
pub type Response = Value;

/// The start of the names of folders that are not there. As long as [`FOLDER`], so that texts cut to a width do not differ.
const UNLISTABLE: &str = "hlo-analyzer-unlistable-";

pub struct Oracle {
    client: LspClient,
    /// What is open in it.
    state: State,
    /// A method whose answers are changed, to test what becomes of a difference.
    spoilt: Option<&'static str>,
}

impl Oracle {
    pub fn new(client: LspClient, spoilt: Option<&'static str>) -> Oracle {
        let mut oracle = Oracle { client, state: State::new(), spoilt };
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

    /// The response to a request in a state.
    pub fn ask(&mut self, state: &State, method: &str, params: Value) -> Result<Response, Failure> {
        self.enter(state);
        let answer = ask(&mut self.client, method, params, PATIENCE).map_err(|mut failure| {
            failure.detail = format!("in a server that has seen no edits: {}", failure.detail);
            failure
        })?;
        if self.spoilt == Some(method) && answer.as_ref().is_ok_and(|result| !result.is_null()) {
            return Ok(json!("spoilt"));
        }
        Ok(answer.unwrap_or_else(|error| json!({"error": error})))
    }

    /// The same before the server has listed the dump folders that documents are in.
    pub fn ask_unlisted(&mut self, state: &State, method: &str, params: &Value) -> Result<Response, Failure> {
        let documents = state.documents.iter();
        let documents = documents.map(|(uri, document)| (uri.replace(FOLDER, UNLISTABLE), document.clone()));
        let state = State { documents: documents.collect(), settings: state.settings.clone() };
        let answer = self.ask(&state, method, renamed(params, FOLDER, UNLISTABLE))?;
        Ok(renamed(&answer, UNLISTABLE, FOLDER))
    }
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
