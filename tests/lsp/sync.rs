//! The server's text equals the editor's text.

use hlo_analyzer_tests::lsp_client::LspClient;
use hlo_analyzer_tests::positions::position;
use hlo_analyzer_tests::sample;
use random::Rng;
use serde_json::{Value, json};

use crate::editor::{Editor, URI, document, range};

fn client_for(encoding: &str) -> LspClient {
    let mut client = LspClient::spawn();
    let offered = json!({"general": {"positionEncodings": [encoding]}});
    let welcome = client.initialize(json!({"capabilities": offered}));
    assert_eq!(welcome["capabilities"]["positionEncoding"], encoding);
    client
}

#[test]
fn an_edit_behind_an_emoji_lands_right() {
    for (encoding, column) in [("utf-8", 11), ("utf-16", 8), ("utf-32", 7)] {
        let mut client = client_for(encoding);
        client.open(URI, "// 😀é: x\r\n");
        client.change(URI, 2, json!([{"range": range((0, column), (0, column + 1)), "text": "→y"}]));
        assert_eq!(client.text(URI), "// 😀é: →y\r\n", "{encoding}");
    }
}

#[test]
fn positions_that_do_not_exist_are_the_nearest_that_do() {
    let mut client = LspClient::modern();
    client.open(URI, "ab\r\ncd");
    client.change(
        URI,
        2,
        json!([
            {"range": range((0, 99), (0, 99)), "text": "1"},
            {"range": range((99, 0), (99, 5)), "text": "2"},
            // An inverted range.
            {"range": range((1, 1), (1, 0)), "text": "3"},
        ]),
    );
    assert_eq!(client.text(URI), "ab1\r\n3d2");
    client.change(URI, 3, json!([]));
    client.change(URI, 4, json!([{"text": "all new"}]));
    client.change(URI, 5, json!([{"range": range((0, 0), (0, 3)), "text": "every"}, {"text": "twice"}, {"range": range((0, 5), (0, 5)), "text": "!"}]));
    assert_eq!(client.text(URI), "twice!");
}

#[test]
fn changes_of_unknown_documents_are_ignored() {
    let mut client = LspClient::modern();
    client.change("file:///never/opened.hlo", 2, json!([{"text": "x"}]));
    client.notify("textDocument/didClose", json!({"textDocument": {"uri": "file:///never/opened.hlo"}}));
    client.open(URI, "first");
    client.open(URI, "second");
    assert_eq!(client.text(URI), "second");
    let id = client.hover("file:///never/opened.hlo", 0, 0);
    assert_eq!(client.answer(id).result.expect("an answer"), Value::Null);
    for n in 0..50 {
        let uri = format!("file:///dump/{n}.hlo");
        client.open(&uri, &format!("text {n}"));
        assert_eq!(client.text(&uri), format!("text {n}"));
        client.notify("textDocument/didClose", json!({"textDocument": {"uri": uri}}));
    }
    assert_eq!(client.text(URI), "second");
}

#[test]
fn five_hundred_random_edits_give_the_editors_text() {
    const PARTS: [&str; 16] = [
        "a",
        "%add.1 = f32[8]{0} add(%x, %y)",
        "\n",
        "\r\n",
        "\r",
        "é",
        "→",
        "😀",
        "\u{2028}",
        "\0",
        "}\n",
        "{",
        "ENTRY %e {\n",
        "\"",
        "/*",
        "  ROOT ",
    ];
    for encoding in ["utf-8", "utf-16", "utf-32"] {
        let mut client = client_for(encoding);
        let mut random = Rng::new(7);
        let mut text = sample::MODULE.to_owned();
        client.open(URI, &text);
        for version in 0..500 {
            // Some notifications contain several changes, each relative to the text after the previous one.
            let changes: Vec<Value> = (0..=random.index(3))
                .map(|_| {
                    let place = |random: &mut Rng| {
                        let mut at = random.index(text.len() + 1);
                        // An editor has no position between \r and \n.
                        while !text.is_char_boundary(at)
                            || text[..at].ends_with('\r') && text[at..].starts_with('\n')
                        {
                            at -= 1;
                        }
                        at
                    };
                    let (a, b) = (place(&mut random), place(&mut random));
                    let start = a.min(b);
                    let mut end = a.max(b);
                    if end - start > 40 {
                        end = start;
                    }
                    let insert: String = (0..random.index(4)).map(|_| *random.pick(&PARTS)).collect();
                    let places = range(position(&text, start, encoding), position(&text, end, encoding));
                    text.replace_range(start..end, &insert);
                    json!({"range": places, "text": insert})
                })
                .collect();
            client.change(URI, version + 2, json!(changes));
            if version % 50 == 0 {
                assert_eq!(client.text(URI), text, "{encoding}, edit {version}");
            }
        }
        assert_eq!(client.text(URI), text, "{encoding}");
    }
}

/// HLO is often saved as `.mlir`, and pasted into an empty document.
#[test]
fn the_language_follows_the_text() {
    let mut client = LspClient::modern();
    let item = json!({"uri": URI, "languageId": "mlir", "version": 1, "text": ""});
    client.notify("textDocument/didOpen", json!({"textDocument": item}));
    let converted_to = |client: &mut LspClient| {
        let answer = client.ask("hlo-analyzer/convert", document(URI));
        answer["language"].as_str().unwrap_or_default().to_owned()
    };
    assert_eq!(converted_to(&mut client), "hlo");
    let hlo = "// a comment\nHloModule m\n\nENTRY e {\n  ROOT p = f32[8]{0} parameter(0)\n}\n";
    client.change(URI, 2, json!([{"range": range((0, 0), (0, 0)), "text": hlo}]));
    assert_eq!(converted_to(&mut client), "mlir");
    assert_eq!(client.ask("hlo-analyzer/test/diagnostics", document(URI)), json!([]));
    client.change(URI, 3, json!([{"range": range((1, 0), (1, 3)), "text": "module @"}]));
    assert_eq!(converted_to(&mut client), "hlo");
    assert_eq!(client.text(URI), hlo.replace("HloModule", "module @Module"));
}
