//! Checks that edits give the same responses to every request as opening the final text, from the same
//! server.

use serde_json::{Value, json};

use crate::lsp_client::LspClient;
use crate::positions::{offset, position};
use crate::soak::edits::{Edit, random_edit};
use crate::soak::questions::{Answered, Questions, ask};
use crate::soak::texts::{Language, base};
use crate::soak::{Campaign, Failure, Kind, PATIENCE, Report, shrink, with_small_stacks};
use random::Rng;

/// The two documents. Their names have the same length, so that texts cut to a width do not differ.
const EDITED: &str = "file:///soak/edited/a";
const OPENED: &str = "file:///soak/opened/a";

const MAX_EDITS: usize = 12;
/// Cases per server: enough to show bugs of persistent state, while its memory stays small.
const CASES_PER_SERVER: u64 = 50;

/// A text and edits of it.
#[derive(Debug, Clone)]
pub struct Case {
    pub language: Language,
    pub base: String,
    pub edits: Vec<Edit>,
}

impl Case {
    fn of_seed(seed: u64) -> (Case, Rng) {
        let mut random = Rng::new(seed);
        let language = *random.pick(&Language::BOTH);
        let base = base(&mut random, language);
        let mut text = base.clone();
        let edits = (0..=random.index(MAX_EDITS)).map(|_| {
            let edit = random_edit(&mut random, &text, language);
            edit.apply(&mut text);
            edit
        });
        let edits = edits.collect();
        (Case { language, base, edits }, random)
    }

    /// The input in the format of the issue tracker's minimal cases.
    fn input(&self) -> Value {
        let mut text = self.base.clone();
        let changes: Vec<_> = self
            .edits
            .iter()
            .map(|edit| {
                let change = change(&text, edit);
                edit.apply(&mut text);
                json!([change])
            })
            .collect();
        json!({"language": self.language.id(), "base": self.base, "changes": changes, "text": text})
    }
}

/// An edit in the format of `didChange`.
fn change(text: &str, edit: &Edit) -> Value {
    let point = |at| {
        let (line, character) = position(text, at, "utf-16");
        json!({"line": line, "character": character})
    };
    json!({"range": {"start": point(edit.range.start), "end": point(edit.range.end)}, "text": edit.insert})
}

/// A server with small stacks, for a client that counts columns as VS Code does and supports every feature.
pub fn client() -> LspClient {
    initialized(json!({}))
}

/// The same with more capabilities.
pub fn initialized(more: Value) -> LspClient {
    let mut client = LspClient::spawn_as(with_small_stacks).may_die();
    let mut capabilities = json!({
        "textDocument": {
            "hover": {"contentFormat": ["markdown", "plaintext"]},
            "definition": {"linkSupport": true},
            "documentSymbol": {"hierarchicalDocumentSymbolSupport": true},
            "publishDiagnostics": {"relatedInformation": true, "versionSupport": true},
            "rename": {"prepareSupport": true},
            "completion": {"completionItem": {"snippetSupport": true, "documentationFormat": ["markdown"]}},
            "codeAction": {
                "codeActionLiteralSupport": {"codeActionKind": {"valueSet": []}},
                "dataSupport": true,
                "resolveSupport": {"properties": ["edit"]},
            },
        },
        "workspace": {"workspaceEdit": {"documentChanges": true, "resourceOperations": ["create"]}},
        "experimental": {"commands": ["hlo-analyzer.showKernel", "hlo-analyzer.showAccessPattern", "hlo-analyzer.showReferences"]},
    });
    if let (Some(all), Value::Object(more)) = (capabilities.as_object_mut(), more) {
        all.extend(more);
    }
    client.initialize(json!({"processId": null, "rootUri": null, "capabilities": capabilities}));
    client
}

pub fn open(client: &mut LspClient, uri: &str, language: Language, version: usize, text: &str) {
    let item = json!({"uri": uri, "languageId": language.id(), "version": version, "text": text});
    client.notify("textDocument/didOpen", json!({"textDocument": item}));
}

pub fn close(client: &mut LspClient, uri: &str) {
    client.notify("textDocument/didClose", json!({"textDocument": {"uri": uri}}));
}

/// Runs the cases of a campaign.
pub fn run(campaign: Campaign) -> Report {
    let mut report = Report::default();
    let mut client: Option<LspClient> = None;
    for seed in campaign.seeds() {
        if report.cases.is_multiple_of(CASES_PER_SERVER)
            && let Some(old) = client.take()
        {
            old.kill();
        }
        let server = client.get_or_insert_with(self::client);
        let (case, mut random) = Case::of_seed(seed);
        report.cases += 1;
        let mut look = |text: &str, near: usize, server: &mut LspClient| {
            let questions = Questions::random(&mut random, text, near, 4);
            compare(server, &case, text, &questions)
        };
        let found = play(server, &case, &mut |text, near, server| {
            report.requests += look(text, near, server)?;
            Ok(())
        });
        if let Err((failure, done)) = found {
            // The server's state is unreliable after a failure.
            client.take().into_iter().for_each(LspClient::kill);
            let case = Case { edits: case.edits[..done].to_vec(), ..case };
            let failure = smaller(failure, case);
            report.add("differential", seed, failure);
        }
    }
    client.into_iter().for_each(LspClient::kill);
    report
}

/// A check of a text after an edit near an offset.
type Look<'a> = dyn FnMut(&str, usize, &mut LspClient) -> Result<(), Failure> + 'a;

/// Applies the edits in order. The error has the number of edits applied.
fn play(client: &mut LspClient, case: &Case, look: &mut Look<'_>) -> Result<(), (Failure, usize)> {
    let mut text = case.base.clone();
    open(client, EDITED, case.language, 1, &text);
    // Fills caches that an edit can make stale.
    look_at(&text, 0, client, look, 0)?;
    for (n, edit) in case.edits.iter().enumerate() {
        let id = json!({"uri": EDITED, "version": n + 2});
        let changes = json!([change(&text, edit)]);
        client.notify("textDocument/didChange", json!({"textDocument": id, "contentChanges": changes}));
        edit.apply(&mut text);
        look_at(&text, edit.range.start, client, look, n + 1)?;
    }
    close(client, EDITED);
    Ok(())
}

fn look_at(
    text: &str,
    near: usize,
    client: &mut LspClient,
    look: &mut Look<'_>,
    done: usize,
) -> Result<(), (Failure, usize)> {
    look(text, near, client).map_err(|failure| (failure, done))
}

/// Sends requests for the edited document and for one opened with the same text. Returns the number of
/// requests.
fn compare(
    client: &mut LspClient,
    case: &Case,
    text: &str,
    questions: &Questions<'_>,
) -> Result<u64, Failure> {
    let held = ask(client, "hlo-analyzer/test/text", json!({"textDocument": {"uri": EDITED}}), PATIENCE)?;
    if held.as_ref().ok().and_then(Value::as_str) != Some(text) {
        let detail = format!("the server has {held:?}");
        return Err(Failure { kind: Kind::Difference, method: "text".into(), detail, input: Value::Null });
    }
    let edited = questions.ask(client, EDITED)?;
    open(client, OPENED, case.language, 1, text);
    let opened = questions.ask(client, OPENED);
    close(client, OPENED);
    match difference(&edited, &opened?) {
        Some(failure) => Err(failure),
        None => Ok(edited.len() as u64),
    }
}

/// Removes the document's name and version, which do not depend on its text.
fn without_identity(value: &Value) -> Value {
    match value {
        Value::Array(list) => list.iter().map(without_identity).collect(),
        Value::Object(map) => map
            .iter()
            .filter(|(key, _)| *key != "version" && *key != "resultId")
            .map(|(key, value)| (key.clone(), without_identity(value)))
            .collect(),
        Value::String(text) => Value::String(
            text.replace("soak/opened/", "soak/edited/").replace("soak%2Fopened", "soak%2Fedited"),
        ),
        other => other.clone(),
    }
}

fn difference(edited: &[Answered], opened: &[Answered]) -> Option<Failure> {
    for (edited, opened) in edited.iter().zip(opened) {
        let (a, b) = (without_identity(&edited.1), without_identity(&opened.1));
        if edited.0 != opened.0 || a != b {
            let method = edited.0.split([' ', ',']).next().unwrap_or_default().to_owned();
            let detail = format!("{}\nafter edits:  {a}\nfrom scratch: {b}", edited.0);
            return Some(Failure { kind: Kind::Difference, method, detail, input: Value::Null });
        }
    }
    None
}

/// Reduces the case to fewer edits of less text with the same failure.
fn smaller(failure: Failure, case: Case) -> Failure {
    let fails = |case: &Case| -> Option<Failure> {
        let mut client = client();
        let mut found = play(&mut client, case, &mut |text, near, server| {
            let all = Questions::everywhere(text, &failure.method);
            let questions = match failure.kind {
                // Earlier requests may contribute to the failure.
                Kind::Death | Kind::Panic | Kind::Hang if all.text.len() > 4000 => {
                    Questions::random(&mut Rng::new(1), text, near, 8)
                }
                _ => all,
            };
            compare(server, case, text, &questions).map(drop)
        })
        .err()
        .map(|(failure, _)| failure);
        client.kill();
        found = found.filter(|found| found.is_like(&failure));
        found
    };
    let Some(mut found) = fails(&case) else {
        return Failure { input: case.input(), ..failure };
    };
    let edits = shrink::list(&case.edits, |edits| {
        is_applicable(&case.base, edits) && fails(&Case { edits: edits.to_vec(), ..case.clone() }).is_some()
    });
    let mut case = Case { edits, ..case };
    if let [edit] = case.edits.as_slice() {
        // With a single edit, the text before and after it can be reduced.
        let (language, edit) = (case.language, edit.clone());
        let with = |head: &str, tail: &str| Case {
            language,
            base: format!("{head}{}{tail}", &case.base[edit.range.clone()]),
            edits: vec![Edit {
                range: head.len()..head.len() + edit.range.len(),
                insert: edit.insert.clone(),
            }],
        };
        let (head, tail) = (&case.base[..edit.range.start], &case.base[edit.range.end..]);
        let head = shrink::text(head, |head| fails(&with(head, tail)).is_some());
        let tail = shrink::text(tail, |tail| fails(&with(&head, tail)).is_some());
        case = with(&head, &tail);
    }
    if let Some(again) = fails(&case) {
        found = again;
    }
    Failure { input: case.input(), ..found }
}

/// Whether the edits fit the text without the removed ones.
fn is_applicable(base: &str, edits: &[Edit]) -> bool {
    let mut text = base.to_owned();
    edits.iter().all(|edit| {
        let fits = text.is_char_boundary(edit.range.start.min(text.len() + 1))
            && edit.range.end <= text.len()
            && text.is_char_boundary(edit.range.end);
        if fits {
            edit.apply(&mut text);
        }
        fits
    })
}

/// Plays a case whose edits have the format of `didChange`, and checks everything after each edit.
///
/// # Panics
///
/// If the case fails.
pub fn replay(language: Language, base: &str, changes: &[Value]) {
    let mut text = base.to_owned();
    let edits = changes.iter().flat_map(|changes| match changes {
        Value::Array(list) => list.clone(),
        one => vec![one.clone()],
    });
    let edits: Vec<Edit> = edits
        .map(|change| {
            let at = |point: &Value| offset(&text, point, "utf-16");
            let (start, end) = (at(&change["range"]["start"]), at(&change["range"]["end"]));
            let edit =
                Edit { range: start..end, insert: change["text"].as_str().unwrap_or_default().to_owned() };
            edit.apply(&mut text);
            edit
        })
        .collect();
    let case = Case { language, base: base.to_owned(), edits };
    let mut client = client();
    let found = play(&mut client, &case, &mut |text, near, server| {
        let mut questions = Questions::random(&mut Rng::new(7), text, near, 40);
        questions.places.extend((0..=text.len().min(400)).step_by(3));
        questions.places.extend((400..text.len()).step_by((text.len() / 160).max(3)));
        questions.places.retain(|&at| text.is_char_boundary(at));
        compare(server, &case, text, &questions).map(drop)
    });
    client.kill();
    if let Err((failure, done)) = found {
        panic!("after {done} edits: {failure}");
    }
}
