//! Every request of an editor, as data: its parameters for a document or a place, and the requests that follow
//! from its response.

use serde_json::{Value, json};

/// Requests about a whole document.
pub const OF_DOCUMENTS: &[&str] = &[
    "hlo-analyzer/test/diagnostics",
    "textDocument/diagnostic",
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
    "hlo-analyzer/compileWithXla",
    "hlo-analyzer/passes",
    "hlo-analyzer/showPreview",
    "hlo-analyzer/stageChanges",
    "hlo-analyzer/stageCosts",
    "hlo-analyzer/compareStages",
];

/// Those among them about the dump folder that the document is in. They wait until it is listed.
pub const OF_FOLDERS: &[&str] = &[
    "hlo-analyzer/compiles",
    "hlo-analyzer/compileDetails",
    "hlo-analyzer/stageChanges",
    "hlo-analyzer/stageCosts",
    "hlo-analyzer/compareStages",
];

/// Requests about a position.
pub const OF_PLACES: &[&str] = &[
    "textDocument/hover",
    "textDocument/definition",
    "textDocument/declaration",
    "textDocument/implementation",
    "textDocument/typeDefinition",
    "textDocument/references",
    "textDocument/documentHighlight",
    "textDocument/linkedEditingRange",
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
    "hlo-analyzer/kernelMembers",
    "hlo-analyzer/evaluate",
    "hlo-analyzer/showKernel",
    "hlo-analyzer/stepStage",
    "hlo-analyzer/instructionStages",
    "workspace/executeCommand",
];

/// Requests about all open documents.
pub const OF_WORKSPACES: &[&str] = &["workspace/symbol", "workspace/diagnostic", "hlo-analyzer/status"];

/// Requests that [`follow_ups`] makes.
pub const OF_RESPONSES: &[&str] = &[
    "callHierarchy/incomingCalls",
    "callHierarchy/outgoingCalls",
    "codeAction/resolve",
    "codeLens/resolve",
    "completionItem/resolve",
    "hlo-analyzer/kernelContent",
    "hlo-analyzer/kernelLines",
    "hlo-analyzer/kernelSource",
    "hlo-analyzer/previewContent",
    "hlo-analyzer/previewLines",
    "hlo-analyzer/previewSource",
    "textDocument/semanticTokens/full/delta",
    "workspace/textDocumentContent",
];

/// All requests about one document.
pub const METHODS: [&[&str]; 2] = [OF_DOCUMENTS, OF_PLACES];

/// The number of elements of a response that get a follow-up request each.
const MAX_FOLLOWED: usize = 4;

/// A request, in words and as sent.
#[derive(Debug, Clone)]
pub struct Question {
    pub label: String,
    pub method: String,
    pub params: Value,
}

impl Question {
    fn new(label: impl Into<String>, method: &str, params: Value) -> Question {
        Question { label: label.into(), method: method.to_owned(), params }
    }

    /// The document that the request is about, and the paths in the parameters to the positions in it that a server moves along
    /// with later edits.
    pub fn places(&self) -> Option<(String, &'static [&'static str])> {
        let Question { method, params, .. } = self;
        let (uri, paths): (_, &[&str]) = match method.as_str() {
            "workspace/executeCommand" => (&params["arguments"][0], &["/arguments/1"]),
            "codeLens/resolve" => (&params["data"]["uri"], &["/range/start", "/range/end"]),
            "callHierarchy/incomingCalls" | "callHierarchy/outgoingCalls" => {
                (&params["item"]["uri"], &["/item/selectionRange/start", "/item/selectionRange/end"])
            }
            "hlo-analyzer/kernelLines" | "hlo-analyzer/previewLines" => {
                return Some((source(params["uri"].as_str()?)?, &["/position"]));
            }
            _ => {
                let paths = &["/position", "/range/start", "/range/end", "/positions/0"];
                (&params["textDocument"]["uri"], paths)
            }
        };
        Some((uri.as_str()?.to_owned(), paths))
    }
}

/// The document that a kernel or a preview is of, from its URI: its query is JSON, percent-encoded.
fn source(uri: &str) -> Option<String> {
    let (_, file) = uri.split_once("%22file%22%3A%22")?;
    let (mut text, mut rest) = (String::new(), file.split("%22").next()?);
    while let Some((before, behind)) = rest.split_once('%') {
        text.push_str(before);
        text.push(char::from(u8::from_str_radix(behind.get(..2)?, 16).ok()?));
        rest = &behind[2..];
    }
    Some(text + rest)
}

fn point((line, character): (usize, usize)) -> Value {
    json!({"line": line, "character": character})
}

/// A request about a document that ends at the position `end`.
pub fn of_document(method: &str, uri: &str, end: (usize, usize)) -> Question {
    let options = json!({"tabSize": 2, "insertSpaces": true});
    let mut params = json!({"textDocument": {"uri": uri}});
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
        "hlo-analyzer/showPreview" => params["passes"] = json!(["algsimp", "dce", "fusion"]),
        "hlo-analyzer/stageChanges" => params["stages"] = json!([uri]),
        _ => {}
    }
    Question::new(method, method, params)
}

/// A request about a position in a document.
pub fn of_place(method: &str, uri: &str, at: (usize, usize)) -> Question {
    let mut params = json!({"textDocument": {"uri": uri}, "position": point(at)});
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
        "workspace/executeCommand" => {
            params = json!({"command": "hlo-analyzer.openKernel", "arguments": [uri, point(at)]});
        }
        _ => {}
    }
    Question::new(format!("{method} at {}:{}", at.0, at.1), method, params)
}

/// A request about all open documents.
pub fn of_workspace(method: &str) -> Question {
    let params = match method {
        "workspace/symbol" => json!({"query": "a"}),
        "workspace/diagnostic" => json!({"previousResultIds": []}),
        _ => json!({}),
    };
    Question::new(method, method, params)
}

/// The requests that an editor sends after this response.
pub fn follow_ups(question: &Question, answer: &Value) -> Vec<Question> {
    let Question { label, method, params } = question;
    let list = |list: &Value| -> Vec<Value> {
        list.as_array().into_iter().flatten().take(MAX_FOLLOWED).cloned().collect()
    };
    let each = |list: Vec<Value>, ask: &dyn Fn(usize, Value) -> Question| -> Vec<Question> {
        list.into_iter().enumerate().map(|(n, item)| ask(n, item)).collect()
    };
    match method.as_str() {
        "textDocument/codeLens" => each(list(answer), &|n, lens| {
            Question::new(format!("{method}, lens {n}"), "codeLens/resolve", lens)
        }),
        "textDocument/prepareCallHierarchy" => list(answer)
            .into_iter()
            .flat_map(|item| {
                ["callHierarchy/incomingCalls", "callHierarchy/outgoingCalls"].map(|direction| {
                    Question::new(format!("{label}, {direction}"), direction, json!({"item": item}))
                })
            })
            .collect(),
        "textDocument/completion" => {
            let first = list(&answer["items"]).into_iter().take(1);
            first
                .map(|item| Question::new(format!("{label}, resolved"), "completionItem/resolve", item))
                .collect()
        }
        "textDocument/codeAction" => {
            let mut resolved = each(list(answer), &|n, action| {
                Question::new(format!("{label}, action {n}"), "codeAction/resolve", action)
            });
            resolved.retain(|question| !question.params["data"].is_null());
            resolved
        }
        "hlo-analyzer/showKernel" => list(&answer["tabs"])
            .into_iter()
            .flat_map(|tab| {
                let (uri, name) = (&tab["uri"], tab["tab"].as_str().unwrap_or_default());
                let about = |method: &str, params: Value| {
                    Question::new(format!("{label}, {method} of tab {name}"), method, params)
                };
                [
                    about("hlo-analyzer/kernelContent", json!({"uri": uri})),
                    about("workspace/textDocumentContent", json!({"uri": uri})),
                    about("hlo-analyzer/kernelLines", json!({"uri": uri, "position": params["position"]})),
                    about("hlo-analyzer/kernelSource", json!({"uri": uri, "line": 12})),
                ]
            })
            .collect(),
        "hlo-analyzer/showPreview" if answer["uri"].is_string() => {
            let uri = &answer["uri"];
            let start = point((4, 4));
            [
                ("hlo-analyzer/previewContent", json!({"uri": uri})),
                ("workspace/textDocumentContent", json!({"uri": uri})),
                ("hlo-analyzer/previewLines", json!({"uri": uri, "position": start})),
                ("hlo-analyzer/previewSource", json!({"uri": uri, "line": 9})),
            ]
            .map(|(method, params)| Question::new(format!("{label}, {method}"), method, params))
            .to_vec()
        }
        "textDocument/semanticTokens/full" if answer["resultId"].is_string() => {
            let params =
                json!({"textDocument": params["textDocument"], "previousResultId": answer["resultId"]});
            vec![Question::new(format!("{label}, delta"), "textDocument/semanticTokens/full/delta", params)]
        }
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kernel_is_of_the_document_in_its_uri() {
        let uri = "hlo-analyzer-kernel:/add.mlir?%7B%22file%22%3A%22file%3A%2F%2F%2Fa%2Fe%2520f.txt%22%2C%22tab%22%3A%22mlir%22%7D";
        let question = Question::new("", "hlo-analyzer/kernelLines", json!({"uri": uri}));
        assert_eq!(question.places(), Some(("file:///a/e%20f.txt".to_owned(), &["/position"][..])));
    }
}
