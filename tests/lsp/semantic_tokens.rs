//! Semantic tokens: full, as a delta, and for a range.

use hlo_analyzer_tests::lsp_client::LspClient;
use hlo_analyzer_tests::sample;
use serde_json::{Value, json};

use crate::editor::{Editor, URI, document, range};

fn numbers(tokens: &Value) -> Vec<u64> {
    tokens["data"].as_array().into_iter().flatten().filter_map(Value::as_u64).collect()
}

#[test]
fn tokens_stand_where_their_words_are() {
    let text = "\
HloModule m

/* é
😀 */
ENTRY %e {
  ROOT %c = f32[] constant(1) // 😀
}
";
    for (encodings, expect) in [(json!(["utf-8"]), "utf-8"), (json!(["utf-16"]), "utf-16")] {
        let mut client = LspClient::spawn();
        let capabilities = json!({"general": {"positionEncodings": encodings}});
        let welcome = client.initialize(json!({"capabilities": capabilities}));
        let legend = &welcome["capabilities"]["semanticTokensProvider"]["legend"]["tokenTypes"];
        client.open(URI, text);
        let tokens = client.ask("textDocument/semanticTokens/full", document(URI));
        let lines: Vec<&str> = text.lines().collect();
        let (mut line, mut column) = (0, 0);
        let mut words = Vec::new();
        for token in numbers(&tokens).as_chunks::<5>().0 {
            let [down, right, length, kind, _] = token.map(|n| n as usize);
            (line, column) = (line + down, if down > 0 { right } else { column + right });
            let word = match expect {
                "utf-8" => lines[line][column..column + length].to_owned(),
                _ => {
                    let units: Vec<u16> = lines[line].encode_utf16().collect();
                    String::from_utf16(&units[column..column + length]).expect("no character is cut")
                }
            };
            words.push(format!("{word}:{}", legend[kind].as_str().unwrap_or_default()));
        }
        assert_eq!(
            words.join(" "),
            "HloModule:keyword m:namespace /* é:comment 😀 */:comment ENTRY:keyword %e:function ROOT:keyword \
             %c:variable f32:type constant:method 1:number // 😀:comment"
        );
    }
}

#[test]
fn a_difference_leads_to_the_whole() {
    let mut client = LspClient::modern();
    client.open(URI, sample::MODULE);
    let first = client.ask("textDocument/semanticTokens/full", document(URI));
    let line = sample::MODULE.lines().position(|l| l.contains("ROOT %add.1")).expect("it is there");
    let change = json!([{"range": range((line, 0), (line, 0)), "text": "  %new = f32[] constant(2)\n"}]);
    client.change(URI, 2, change);
    let mut asked = document(URI);
    asked["previousResultId"] = first["resultId"].clone();
    let delta = client.ask("textDocument/semanticTokens/full/delta", asked.clone());
    let mut patched = numbers(&first);
    let edits = delta["edits"].as_array().expect("a difference");
    for edit in edits {
        let start = edit["start"].as_u64().expect("a number") as usize;
        let end = start + edit["deleteCount"].as_u64().expect("a number") as usize;
        assert!(end - start <= 5, "one line is new: {edit}");
        patched.splice(start..end, numbers(edit));
    }
    let whole = client.ask("textDocument/semanticTokens/full", document(URI));
    assert_eq!(patched, numbers(&whole));
    // A request for the delta to an evicted response gets a full response.
    let again = client.ask("textDocument/semanticTokens/full/delta", asked);
    assert_eq!(numbers(&again), numbers(&whole));
}

#[test]
fn a_range_has_its_own_tokens_alone() {
    let mut client = LspClient::modern();
    client.open(URI, sample::MODULE);
    let asked = json!({"textDocument": {"uri": URI}, "range": range((4, 0), (5, 0))});
    let tokens = numbers(&client.ask("textDocument/semanticTokens/range", asked));
    assert_eq!(tokens[..2], [4, 2], "the name stands on line 4");
    assert!(tokens.as_chunks::<5>().0[1..].iter().all(|t| t[0] == 0), "and the rest beside it");
}
