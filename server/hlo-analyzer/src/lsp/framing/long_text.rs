//! Decodes the document text of a message in place. Parsing it with the rest of the message would copy the
//! text twice.

use serde_json::Value;
use text::json;

/// Shorter texts are parsed with the rest.
const LONG: usize = 64 << 10;
/// Replaces the extracted text in the message.
const PLACEHOLDER: &str = "a long text stands here";

/// A message without its first long text, and that text.
pub(super) struct LongText {
    pub(super) rest: Vec<u8>,
    text: String,
}

impl LongText {
    /// Extracts the text. Returns the body unchanged if there is none, or one that is not a valid JSON
    /// string.
    pub(super) fn take(mut body: Vec<u8>) -> Result<LongText, Vec<u8>> {
        let Some(written) = json::long_text(&body, LONG) else { return Err(body) };
        let rest = [&body[..written.start], PLACEHOLDER.as_bytes(), &body[written.end..]].concat();
        json::decode(&mut body, written);
        match String::from_utf8(body) {
            Ok(text) => Ok(LongText { rest, text }),
            // Unreachable: the text is valid UTF-8.
            Err(error) => Err(error.into_bytes()),
        }
    }

    /// Inserts the text again. Returns whether there is exactly one place for it.
    pub(super) fn put(self, params: &mut Value) -> bool {
        if count(params) != 1 {
            return false;
        }
        if let Some(place) = place(params) {
            *place = Value::String(self.text);
        }
        true
    }
}

fn is_place(value: &Value) -> bool {
    value.as_str() == Some(PLACEHOLDER)
}

// The JSON parser bounds the nesting depth.
fn count(value: &Value) -> usize {
    match value {
        Value::Array(values) => values.iter().map(count).sum(),
        Value::Object(values) => values.values().map(count).sum(),
        _ => usize::from(is_place(value)),
    }
}

fn place(value: &mut Value) -> Option<&mut Value> {
    match value {
        Value::Array(values) => values.iter_mut().find_map(place),
        Value::Object(values) => values.values_mut().find_map(place),
        _ => is_place(value).then_some(value),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compares a message with many repetitions of `letters` with the JSON parser's result.
    fn check(letters: &str, is_taken: bool) {
        let written = letters.repeat(LONG / letters.len() + 1);
        let body = format!("{{\"params\": {{\"x\": \"y\", \"text\" : \"{written}\", \"z\": 1}}}}");
        let expect = serde_json::from_str::<Value>(&body);
        match LongText::take(body.clone().into_bytes()) {
            Err(left) => assert!(!is_taken && left == body.as_bytes(), "{letters}"),
            Ok(long) => {
                assert!(is_taken && long.rest.len() < 200, "{letters}");
                let mut read: Value =
                    serde_json::from_slice(&long.rest).expect("it is JSON without the text");
                assert!(long.put(&mut read));
                assert_eq!(read, expect.expect("so it is with the text"));
            }
        }
    }

    #[test]
    fn a_long_text_is_what_the_reader_of_json_reads() {
        for letters in [
            "a",
            "\\n",
            "ab\\n  %0 = \\\"x.y\\\" \\\\ \\/ \\b\\f\\r\\t",
            "é😀\\u00e9\\u0000",
            "\\ud83d\\ude00",
            "\\u0041\\uFFFD",
        ] {
            check(letters, true);
        }
        for letters in ["\\ud83d", "\\ude00x", "\\ud83d\\n", "\\x", "\\u12g4", "\\u+123", "a\n", "\u{1}"] {
            check(letters, false);
        }
    }

    #[test]
    fn what_is_no_text_is_left() {
        let long = "a".repeat(LONG);
        for body in [
            String::new(),
            format!("{{\"id\": \"{long}\"}}"),
            format!("{{\"{long}\": 1}}"),
            format!("{{\"text\": \"{long}"),
            format!("{{\"text\": \"{long}\\"),
            "x".repeat(2 * LONG),
            "{\"text\": \"short\"}".to_owned(),
        ] {
            assert!(LongText::take(body.into_bytes()).is_err());
        }
        let twice = format!("[{{\"text\": \"{long}\"}}, \"{PLACEHOLDER}\"]");
        let Ok(taken) = LongText::take(twice.into_bytes()) else { panic!("there is a long text") };
        let mut read: Value = serde_json::from_slice(&taken.rest).expect("it is JSON");
        assert!(!taken.put(&mut read));
    }
}
