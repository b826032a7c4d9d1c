//! Source files that metadata names: links, definitions, and where a missing file was looked up.

use hlo_analyzer_tests::lsp_client::LspClient;
use serde_json::{Value, json};

use crate::editor::{Editor, URI, at, document};
use crate::navigation::{list, start_of};

#[test]
fn links_lead_to_files_that_exist() {
    let folder = std::env::temp_dir().join(format!("hlo-analyzer-links-{}", std::process::id()));
    std::fs::create_dir_all(folder.join("models")).expect("the temporary folder can be written");
    let file = folder.join("models/a.py");
    std::fs::write(&file, "x = 1\n").expect("the temporary folder can be written");
    let line = |name: &str, path: &str| {
        format!(
            "  {name} = f32[] constant(1), metadata={{op_name=\"x\" source_file=\"{path}\" source_line=3}}\n"
        )
    };
    let lines =
        [line("a", &file.display().to_string()), line("b", "models/a.py"), line("ROOT c", "/no/such.py")];
    let text = format!("HloModule m\n\nENTRY e {{\n{}}}\n", lines.concat());
    let links = |client: &mut LspClient| -> Vec<String> {
        client.open(URI, &text);
        let found = client.ask("textDocument/documentLink", document(URI));
        list(&found).iter().map(|l| l["target"].as_str().unwrap_or_default().to_owned()).collect()
    };
    let target = format!("file://{}#L3", file.display());
    assert_eq!(links(&mut LspClient::modern()), std::slice::from_ref(&target));

    let folders = json!([{"uri": format!("file://{}", folder.display()), "name": "x"}]);
    let mut client = LspClient::spawn();
    client.initialize(json!({"capabilities": {}, "workspaceFolders": folders}));
    assert_eq!(links(&mut client), [target.clone(), target.clone()]);

    let mut client = LspClient::spawn();
    let options = json!({"documentLinks": {"roots": [folder]}});
    client.initialize(json!({"capabilities": {}, "initializationOptions": options}));
    assert_eq!(links(&mut client), [target.clone(), target]);
    std::fs::remove_dir_all(folder).expect("it is ours");
}

const FRAMES: &str = "HloModule m

FileNames
1 \"model.py\"
2 \"gone.py\"

FunctionNames
1 \"main\"
2 \"layer\"

FileLocations
1 {file_name_id=2 function_name_id=1 line=30}
2 {file_name_id=1 function_name_id=2 line=3}
3 {file_name_id=1 function_name_id=2 line=2}

StackFrames
1 {file_location_id=1 parent_frame_id=1}
2 {file_location_id=2 parent_frame_id=2}
3 {file_location_id=3 parent_frame_id=3}

ENTRY e {
  p = f32[4] parameter(0)
  ROOT n = f32[4] negate(p), metadata={op_name=\"jit(main)/neg\" stack_frame_id=3}
}
";

/// Line and column of `text` in [`FRAMES`].
fn line_and_column(text: &str) -> (usize, usize) {
    let before = &FRAMES[..FRAMES.find(text).expect("it is there")];
    (before.matches('\n').count(), before.len() - before.rfind('\n').map_or(0, |n| n + 1))
}

#[test]
fn an_opcode_and_its_metadata_lead_to_the_source_lines() {
    let folder = std::env::temp_dir().join(format!("hlo-analyzer-frames-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a temporary folder");
    std::fs::write(folder.join("model.py"), "def layer(x):\n    return -x\n\n").expect("a temporary file");
    let uri = format!("file://{}", folder.display());
    let capabilities = json!({"textDocument": {"definition": {"linkSupport": true}}});
    let mut client = LspClient::spawn();
    let folders = json!([{"uri": uri, "name": "frames"}]);
    client.initialize(json!({"capabilities": capabilities, "workspaceFolders": folders}));
    client.open(URI, FRAMES);
    for place in ["negate(", "stack_frame_id=3}"] {
        let (line, column) = line_and_column(place);
        let links = client.ask("textDocument/definition", at(URI, line, column));
        let found: Vec<_> = list(&links)
            .iter()
            .map(|link| (link["targetUri"].as_str().unwrap_or_default(), start_of(&link["targetRange"])))
            .collect();
        let file = format!("{uri}/model.py");
        assert_eq!(found, [(file.as_str(), (1, 0)), (file.as_str(), (2, 0))], "{links}");
    }
    let hover = client.ask("textDocument/hover", at(URI, 22, 8));
    let shown = hover["contents"]["value"].as_str().unwrap_or_default();
    assert!(shown.contains("model.py:2") && shown.contains("gone.py:30"), "{shown}");
    std::fs::remove_dir_all(&folder).expect("it is ours");
}

/// What the user is told after "Go to definition" of the opcode.
fn told(client: &mut LspClient, uri: &str) -> Vec<String> {
    let (line, column) = line_and_column("negate(");
    let links = client.ask("textDocument/definition", at(uri, line, column));
    assert_eq!(links, Value::Null);
    // Messages are sent in the order in which the main loop takes events, so the answer to this one comes after.
    client.text(uri);
    std::iter::from_fn(|| client.take("window/showMessage"))
        .map(|sent| sent["message"].as_str().unwrap_or_default().to_owned())
        .collect()
}

#[test]
fn the_user_reads_once_where_a_missing_file_was_looked_up() {
    let folder = std::env::temp_dir().join(format!("hlo-analyzer-missing-{}", std::process::id()));
    let uri = |name: &str| format!("file://{}", folder.join(name).display());
    let mut client = LspClient::spawn();
    client.initialize(json!({
        "capabilities": {},
        "workspaceFolders": [{"uri": uri("workspace"), "name": "workspace"}],
        "initializationOptions": {"documentLinks": {"roots": [folder.join("root")]}},
    }));
    let sentence = |file: &str, folders: &[&str]| {
        let folders: Vec<_> = folders.iter().map(|name| folder.join(name).display().to_string()).collect();
        let (last, first) = folders.split_last().expect("there is a folder");
        let setting = "add the folder that contains it to the setting hlo-analyzer.documentLinks.roots";
        format!("Source file {file} is not in {} or {last}; {setting}", first.join(", "))
    };
    let missing = sentence("model.py", &["root", "workspace", "dump"]);
    let one = uri("dump/one.hlo");
    client.open(&one, FRAMES);
    assert_eq!(told(&mut client, &one), [missing]);
    assert_eq!(told(&mut client, &one), [""; 0]);

    // Another file of the folder names the same source file, and then another one.
    let two = uri("dump/two.hlo");
    client.open(&two, FRAMES);
    assert_eq!(told(&mut client, &two), [""; 0]);
    let renamed = FRAMES.replace("model.py", "layers/other.py");
    client.change(&two, 2, json!([{"text": renamed}]));
    let other = sentence("layers/other.py", &["root", "workspace", "dump"]);
    assert_eq!(told(&mut client, &two), [other]);

    // Paths that no folder can help are named as such, after those that one can.
    let absolute = FRAMES.replace("model.py", "/no/such/model.py");
    client.change(&two, 3, json!([{"text": absolute}]));
    assert_eq!(told(&mut client, &two), [sentence("gone.py", &["root", "workspace", "dump"])]);
    let absolute = absolute.replace("gone.py", "../gone.py");
    client.change(&two, 4, json!([{"text": absolute}]));
    let [message] = told(&mut client, &two).try_into().expect("one message");
    assert!(message.starts_with("Source file /no/such/model.py does not exist on this machine"), "{message}");
    let outside = absolute.replace("/no/such/model.py", "../model.py");
    client.change(&two, 5, json!([{"text": outside}]));
    let [message] = told(&mut client, &two).try_into().expect("one message");
    assert_eq!(message, "Source file ../model.py is not looked up, because its relative path contains `..`");

    // With other folders it is looked up again, and found.
    client.notify("workspace/didChangeConfiguration", json!({"settings": {"documentLinks": {"roots": []}}}));
    assert_eq!(told(&mut client, &one), [sentence("model.py", &["workspace", "dump"])]);
    std::fs::create_dir_all(folder.join("dump")).expect("a temporary folder");
    std::fs::write(folder.join("dump/model.py"), "").expect("a temporary file");
    let (line, column) = line_and_column("negate(");
    let found = client.ask("textDocument/definition", at(&one, line, column));
    assert_eq!(list(&found).len(), 2, "{found}");
    assert!(client.take("window/showMessage").is_none());
    std::fs::remove_dir_all(&folder).expect("it is ours");
}
