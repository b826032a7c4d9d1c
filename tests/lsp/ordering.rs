//! A request sees every edit sent before it.

use hlo_analyzer_tests::lsp_client::LspClient;
use hlo_analyzer_tests::sample;
use serde_json::json;

use crate::editor::{Editor, URI, mentions, range};

/// The line of `%x = … parameter(0)` in the entry computation of the sample.
const LINE: usize = 9;

/// Each edit types a new instruction above the last one and requests its hover at once, without waiting.
/// Later edits move the request's line down; the response must still be about its own instruction.
#[test]
fn a_hover_knows_the_edit_before_it() {
    let mut client = LspClient::modern();
    client.open(URI, sample::MODULE);
    let asked: Vec<_> = (0..300)
        .map(|n| {
            let typed = format!("  %typed.{n} = f32[8,128]{{1,0}} negate(%x)\n");
            let place = range((LINE + 1, 0), (LINE + 1, 0));
            client.change(URI, n + 2, json!([{"range": place, "text": typed}]));
            (n, client.hover(URI, LINE + 1, 5))
        })
        .collect();
    let wrong: Vec<_> = asked
        .into_iter()
        .filter_map(|(n, id)| {
            let answer = client.answer(id).result;
            let right = answer.as_ref().is_ok_and(|hover| mentions(hover, &format!("%typed.{n}")));
            (!right).then_some((n, answer))
        })
        .collect();
    assert!(wrong.is_empty(), "{} of 300 hovers are wrong, the first: {:?}", wrong.len(), wrong[0]);
}

/// Waiting for each response: it is then about exactly the text before it.
#[test]
fn a_hover_knows_a_name_typed_letter_by_letter() {
    let mut client = LspClient::modern();
    client.open(URI, sample::MODULE);
    let mut name = "x".to_owned();
    for n in 0..26 {
        let letter = char::from(b'a' + n);
        let end = "  %".len() + name.len();
        client.change(
            URI,
            i32::from(n) + 2,
            json!([{"range": range((LINE, end), (LINE, end)), "text": letter.to_string()}]),
        );
        name.push(letter);
        let id = client.hover(URI, LINE, 4);
        let hover = client.answer(id).result.expect("a hover is answered");
        assert!(mentions(&hover, &format!("%{name}")), "{name}: {hover}");
    }
}
