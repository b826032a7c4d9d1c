//! All requests of an editor about a document, with follow-up requests.

use std::time::Duration;

use serde_json::{Value, json};

use crate::lsp_client::{LspClient, NoAnswer};
use crate::positions::position;
use crate::soak::{Failure, Kind, PATIENCE};
use random::Rng;

/// Requests about a whole document.
const OF_DOCUMENTS: &[&str] = &[
    "hlo-analyzer/test/diagnostics",
    "textDocument/documentSymbol",
    "textDocument/foldingRange",
    "textDocument/inlayHint",
    "textDocument/semanticTokens/full",
    "textDocument/semanticTokens/range",
    "textDocument/documentLink",
    "textDocument/codeLens",
    "textDocument/formatting",
    "textDocument/rangeFormatting",
    "hlo-analyzer/convert",
    "hlo-analyzer/heaviestKernels",
    "hlo-analyzer/memoryTimeline",
    "hlo-analyzer/memoryAdvice",
    "hlo-analyzer/compiles",
    "hlo-analyzer/compileDetails",
    "hlo-analyzer/stageChanges",
    "hlo-analyzer/stageCosts",
    "hlo-analyzer/compareStages",
];

/// Requests about a position.
const OF_PLACES: &[&str] = &[
    "textDocument/hover",
    "textDocument/definition",
    "textDocument/declaration",
    "textDocument/implementation",
    "textDocument/typeDefinition",
    "textDocument/references",
    "textDocument/documentHighlight",
    "textDocument/prepareRename",
    "textDocument/rename",
    "textDocument/prepareCallHierarchy",
    "textDocument/selectionRange",
    "textDocument/completion",
    "textDocument/signatureHelp",
    "textDocument/codeAction",
    "textDocument/onTypeFormatting",
    "hlo-analyzer/accessPattern",
    "hlo-analyzer/kernelFunctions",
    "hlo-analyzer/evaluate",
    "hlo-analyzer/showKernel",
    "hlo-analyzer/stepStage",
    "hlo-analyzer/instructionStages",
];

/// All requests.
pub const METHODS: [&[&str]; 2] = [OF_DOCUMENTS, OF_PLACES];

/// The number of elements of a response that get a follow-up request each.
const MAX_FOLLOWED: usize = 4;

/// The requests about a document.
pub struct Questions<'a> {
    pub text: &'a str,
    /// Byte offsets in the text.
    pub places: Vec<usize>,
    /// Only this method, or all.
    pub only: Option<&'a str>,
}

/// A request in words, and its response.
pub type Answered = (String, Value);

impl<'a> Questions<'a> {
    /// Random offsets, and some around the last edit.
    pub fn random(random: &mut Rng, text: &'a str, near: usize, count: usize) -> Questions<'a> {
        let mut places: Vec<usize> = (0..count)
            .map(|n| match n {
                0 => near,
                _ => random.index(text.len() + 1),
            })
            .collect();
        for place in &mut places {
            *place = (*place).min(text.len());
            while !text.is_char_boundary(*place) {
                *place -= 1;
            }
        }
        places.dedup();
        Questions { text, places, only: None }
    }

    /// One method, at offsets across the text.
    pub fn everywhere(text: &'a str, method: &'a str) -> Questions<'a> {
        let step = (text.len() / 100).max(1);
        let places = (0..=text.len()).step_by(step).filter(|&at| text.is_char_boundary(at)).collect();
        Questions { text, places, only: Some(method) }
    }

    /// Sends the requests for a document with this text.
    pub fn ask(&self, client: &mut LspClient, uri: &str) -> Result<Vec<Answered>, Failure> {
        let mut asked = Asked { client, uri, answers: Vec::new() };
        let wanted = |method: &&&str| self.only.is_none_or(|only| only == **method);
        let end = position(self.text, self.text.len(), "utf-16");
        for method in OF_DOCUMENTS.iter().filter(wanted) {
            asked.of_document(method, end)?;
        }
        for &place in &self.places {
            let at = position(self.text, place, "utf-16");
            for method in OF_PLACES.iter().filter(wanted) {
                asked.of_place(method, at)?;
            }
        }
        Ok(asked.answers)
    }
}

struct Asked<'a> {
    client: &'a mut LspClient,
    uri: &'a str,
    answers: Vec<Answered>,
}

fn point((line, character): (usize, usize)) -> Value {
    json!({"line": line, "character": character})
}

impl Asked<'_> {
    fn of_document(&mut self, method: &str, end: (usize, usize)) -> Result<(), Failure> {
        let options = json!({"tabSize": 2, "insertSpaces": true});
        let mut params = json!({"textDocument": {"uri": self.uri}});
        let half = (end.0 / 2, 0);
        let range = |start, end| json!({"start": point(start), "end": point(end)});
        match method {
            "textDocument/inlayHint" => params["range"] = range((0, 0), end),
            "textDocument/semanticTokens/range" => params["range"] = range(half, end),
            "textDocument/formatting" => params["options"] = options,
            "textDocument/rangeFormatting" => {
                params["range"] = range(half, end);
                params["options"] = options;
            }
            "hlo-analyzer/heaviestKernels" => params["limit"] = json!(5),
            "hlo-analyzer/compiles" | "hlo-analyzer/compileDetails" => params["compile"] = json!(0),
            "hlo-analyzer/stageChanges" => params["stages"] = json!([self.uri]),
            _ => {}
        }
        let answer = self.one(method, method, params)?;
        if method == "textDocument/codeLens" {
            for (n, lens) in answer.as_array().into_iter().flatten().take(MAX_FOLLOWED).enumerate() {
                self.one(&format!("codeLens {n}"), "codeLens/resolve", lens.clone())?;
            }
        }
        Ok(())
    }

    fn of_place(&mut self, method: &str, at: (usize, usize)) -> Result<(), Failure> {
        let mut params = json!({"textDocument": {"uri": self.uri}, "position": point(at)});
        match method {
            "textDocument/references" => params["context"] = json!({"includeDeclaration": true}),
            "textDocument/rename" => params["newName"] = json!("a_name_nobody_has"),
            "textDocument/selectionRange" => params["positions"] = json!([point(at)]),
            "textDocument/codeAction" => {
                params["range"] = json!({"start": point(at), "end": point(at)});
                params["context"] = json!({"diagnostics": []});
            }
            "textDocument/onTypeFormatting" => {
                params["ch"] = json!(if at.1 == 0 { "\n" } else { "}" });
                params["options"] = json!({"tabSize": 2, "insertSpaces": true});
            }
            "hlo-analyzer/evaluate" => params["inputs"] = json!([]),
            "hlo-analyzer/stepStage" => params["to"] = json!("next"),
            _ => {}
        }
        let label = format!("{method} at {}:{}", at.0, at.1);
        let answer = self.one(&label, method, params)?;
        let follow = |list: &Value| -> Vec<Value> {
            list.as_array().into_iter().flatten().take(MAX_FOLLOWED).cloned().collect()
        };
        match method {
            "textDocument/prepareCallHierarchy" => {
                for item in follow(&answer) {
                    for direction in ["callHierarchy/incomingCalls", "callHierarchy/outgoingCalls"] {
                        self.one(&format!("{label}, {direction}"), direction, json!({"item": item}))?;
                    }
                }
            }
            "textDocument/completion" => {
                for item in follow(&answer["items"]).into_iter().take(1) {
                    self.one(&format!("{label}, resolved"), "completionItem/resolve", item)?;
                }
            }
            "textDocument/codeAction" => {
                for (n, action) in follow(&answer).into_iter().enumerate() {
                    if !action["data"].is_null() {
                        self.one(&format!("{label}, action {n}"), "codeAction/resolve", action)?;
                    }
                }
            }
            "hlo-analyzer/showKernel" => {
                for tab in follow(&answer["tabs"]) {
                    let name = tab["tab"].as_str().unwrap_or_default();
                    let label = format!("{label}, tab {name}");
                    self.one(&label, "hlo-analyzer/kernelContent", json!({"uri": tab["uri"]}))?;
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// Sends one request and records the response.
    fn one(&mut self, label: &str, method: &str, params: Value) -> Result<Value, Failure> {
        let answer = ask(self.client, method, params, PATIENCE)?;
        let value = match answer {
            Ok(result) => result,
            Err(error) => json!({"error": error}),
        };
        if let Some(detail) = inverted(&value) {
            return Err(failure(Kind::Malformed, method, detail));
        }
        self.answers.push((label.to_owned(), value.clone()));
        Ok(value)
    }
}

/// Sends a request. An error response is valid; a panic, a crash and a hang are failures.
pub fn ask(
    client: &mut LspClient,
    method: &str,
    params: Value,
    patience: Duration,
) -> Result<Result<Value, Value>, Failure> {
    match client.try_ask(method, params, patience) {
        Ok(Err(error)) if error["message"].as_str().is_some_and(|m| m.contains("which is a bug")) => {
            Err(failure(Kind::Panic, method, format!("{error}{}", client.log())))
        }
        Ok(answer) => Ok(answer),
        Err(NoAnswer::Died(status)) => Err(failure(Kind::Death, method, format!("{status}{}", client.log()))),
        Err(NoAnswer::Hangs) => Err(failure(Kind::Hang, method, format!("no answer in {patience:?}"))),
    }
}

fn failure(kind: Kind, method: &str, detail: String) -> Failure {
    Failure { kind, method: method.to_owned(), detail, input: Value::Null }
}

/// A range in a response whose end is before its start, or a symbol whose name is outside its range.
fn inverted(value: &Value) -> Option<String> {
    let place = |point: &Value| Some((point["line"].as_u64()?, point["character"].as_u64()?));
    let ends = |range: &Value| Some((place(&range["start"])?, place(&range["end"])?));
    match value {
        Value::Array(list) => list.iter().find_map(inverted),
        Value::Object(map) => {
            if let Some((start, end)) = ends(value).filter(|(start, end)| start > end) {
                return Some(format!("a range from {start:?} to {end:?}"));
            }
            if let (Some(range), Some(name)) = (map.get("range"), map.get("selectionRange"))
                && let (Some(range), Some(name)) = (ends(range), ends(name))
                && (name.0 < range.0 || range.1 < name.1)
            {
                return Some(format!("the name at {name:?} lies outside of its symbol at {range:?}"));
            }
            map.values().find_map(inverted)
        }
        _ => None,
    }
}
