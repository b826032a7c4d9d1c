//! Decodes the document text of a message in place. Parsing it with the rest of the message would copy the
//! text twice.

use memchr::{memchr, memchr2};
use serde_json::Value;

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
        let Some((start, end)) = find(&body) else { return Err(body) };
        let mut rest = Vec::with_capacity(body.len() - (end - start) + PLACEHOLDER.len());
        rest.extend_from_slice(&body[..start]);
        rest.extend_from_slice(PLACEHOLDER.as_bytes());
        rest.extend_from_slice(&body[end..]);
        decode(&mut body, start, end);
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

/// The byte range of the first long string's content, if it is the value of `"text":`.
fn find(body: &[u8]) -> Option<(usize, usize)> {
    let mut at = 0;
    while body.len() - at >= LONG {
        let start = at + memchr(b'"', &body[at..])? + 1;
        let (end, knows_escapes) = end_of_string(body, start)?;
        if end - start >= LONG {
            let letters = &body[start..end];
            let key = body[..start - 1].trim_ascii_end().strip_suffix(b":");
            let is_text = key.is_some_and(|key| key.trim_ascii_end().ends_with(b"\"text\""));
            // Taking the minimum of many bytes is faster than searching for the first one that is too small.
            let is_written_well = || {
                letters
                    .chunks(CHUNK)
                    .all(|chunk| chunk.iter().fold(u8::MAX, |least, &b| least.min(b)) >= b' ')
                    && std::str::from_utf8(letters).is_ok()
            };
            return (is_text && knows_escapes && is_written_well()).then_some((start, end));
        }
        at = end + 1;
    }
    None
}

/// The number of bytes examined together.
const CHUNK: usize = 4096;

/// The end of the string whose content starts at `start`, and whether all of its escapes are valid.
fn end_of_string(body: &[u8], start: usize) -> Option<(usize, bool)> {
    let mut at = start;
    let mut knows_escapes = true;
    loop {
        at += memchr2(b'"', b'\\', body.get(at..)?)?;
        if body[at] == b'"' {
            return Some((at, knows_escapes));
        }
        let length = escape(&body[at..]).map(|(_, length)| length);
        knows_escapes &= length.is_some();
        at += length.unwrap_or(2);
    }
}

/// The character and the length of the escape at the start. `None` for an unpaired surrogate.
fn escape(letters: &[u8]) -> Option<(char, usize)> {
    let sign = match letters.get(1)? {
        b'n' => '\n',
        b'"' => '"',
        b'\\' => '\\',
        b'/' => '/',
        b't' => '\t',
        b'r' => '\r',
        b'b' => '\u{8}',
        b'f' => '\u{c}',
        b'u' => {
            let first = unit(letters)?;
            if let Some(sign) = char::from_u32(first.into()) {
                return Some((sign, 6));
            }
            let pair = [first, unit(letters.get(6..)?)?];
            return Some((char::decode_utf16(pair).next()?.ok()?, 12));
        }
        _ => return None,
    };
    Some((sign, 2))
}

/// The number in `\u12ab`.
fn unit(letters: &[u8]) -> Option<u16> {
    let digits = letters.strip_prefix(b"\\u")?.get(..4)?;
    // `from_str_radix` would also accept a sign.
    let digits = digits.iter().all(u8::is_ascii_hexdigit).then_some(digits)?;
    u16::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
}

/// Reduces the body to the decoded content of `start..end`, which is never longer than its escaped form.
fn decode(body: &mut Vec<u8>, start: usize, end: usize) {
    let (mut from, mut to) = (start, 0);
    while let Some(n) = memchr(b'\\', &body[from..end]) {
        body.copy_within(from..from + n, to);
        (from, to) = (from + n, to + n);
        let Some((sign, length)) = escape(&body[from..end]) else { break };
        let mut letters = [0; 4];
        let letters = sign.encode_utf8(&mut letters).as_bytes();
        body[to..to + letters.len()].copy_from_slice(letters);
        (from, to) = (from + length, to + letters.len());
    }
    body.copy_within(from..end, to);
    body.truncate(to + end - from);
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
