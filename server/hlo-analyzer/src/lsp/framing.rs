//! Messages on a byte stream: a `Content-Length` header followed by JSON.
//!
//! Reading is lenient. A body that is not JSON costs only that message; the stream continues after it.
//! Escapes of unpaired surrogates, which editors send for binary files, and invalid UTF-8 are read as U+FFFD;
//! that character has as many UTF-16 units as the unpaired surrogate, so later positions stay right.

mod long_text;

use std::io::{BufRead, Read as _, Write};

use serde::{Deserialize, Deserializer};
use serde_json::Value;
use tower_lsp::jsonrpc::{Error, Id, Request, Response};

use self::long_text::LongText;

/// A longer header line means that the peer does not speak LSP.
const MAX_HEADER_LINE: u64 = 16 * 1024;
/// The rope's length is a `usize`, but a larger single text is refused without trying.
const MAX_BODY: u64 = 4 << 30;

/// A message from the client.
pub(super) enum Incoming {
    Request(Request),
    /// The client's response to one of our requests: its id, and its result or error.
    Response(Id, Result<Value, Value>),
    /// Not a valid message. The response reports the error, if there is an id to respond to.
    Malformed(Box<Response>),
}

#[derive(Deserialize)]
struct Envelope {
    method: Option<String>,
    /// `Some(None)` is an id that is null, unlike a missing one.
    #[serde(default, deserialize_with = "present")]
    id: Option<Option<Value>>,
    params: Option<Value>,
    #[serde(default, deserialize_with = "present")]
    result: Option<Option<Value>>,
    error: Option<Value>,
}

fn present<'de, D: Deserializer<'de>, T: Deserialize<'de>>(deserializer: D) -> Result<Option<T>, D::Error> {
    T::deserialize(deserializer).map(Some)
}

/// The next message, or `None` at the end of the stream.
pub(super) fn read_message(input: &mut impl BufRead) -> std::io::Result<Option<Incoming>> {
    let Some(length) = read_header(input)? else { return Ok(None) };
    let Some(length) = length.filter(|&length| length <= MAX_BODY) else {
        return Ok(Some(malformed(Error::parse_error(), "no valid Content-Length header")));
    };
    let mut body = Vec::new();
    // Not `with_capacity(length)`, because the header may be wrong.
    input.take(length).read_to_end(&mut body)?;
    if (body.len() as u64) < length {
        return Ok(None);
    }
    Ok(Some(parse(body)))
}

/// Reads up to the empty line after the headers. The inner `None` is a header without a usable length.
fn read_header(input: &mut impl BufRead) -> std::io::Result<Option<Option<u64>>> {
    let mut length = None;
    let mut line = Vec::new();
    let mut any = false;
    loop {
        line.clear();
        if input.take(MAX_HEADER_LINE).read_until(b'\n', &mut line)? == 0 {
            return Ok(None);
        }
        let text = String::from_utf8_lossy(&line);
        let text = text.trim();
        if text.is_empty() {
            // Stray empty lines between messages are not a header.
            if any {
                return Ok(Some(length));
            }
            continue;
        }
        any = true;
        if let Some((name, value)) = text.split_once(':')
            && name.trim().eq_ignore_ascii_case("content-length")
        {
            length = value.trim().parse().ok();
        }
    }
}

fn parse(body: Vec<u8>) -> Incoming {
    let (body, long) = match LongText::take(body) {
        Ok(mut long) => (std::mem::take(&mut long.rest), Some(long)),
        Err(body) => (body, None),
    };
    let envelope = serde_json::from_slice::<Envelope>(&body).or_else(|error| {
        if error.is_data() {
            return Err(error);
        }
        serde_json::from_str(&repair(body))
    });
    let envelope = match envelope {
        Ok(envelope) => envelope,
        Err(error) if error.is_data() => return malformed(Error::invalid_request(), &error.to_string()),
        Err(error) => return malformed(Error::parse_error(), &error.to_string()),
    };
    let id = match envelope.id.map(Option::unwrap_or_default).map(serde_json::from_value::<Id>) {
        None => None,
        Some(Ok(id)) => Some(id),
        Some(Err(_)) => return malformed(Error::invalid_request(), "an id is a whole number or a string"),
    };
    let Some(method) = envelope.method else {
        let id = id.unwrap_or_default();
        return match (envelope.error, envelope.result) {
            (Some(error), _) => Incoming::Response(id, Err(error)),
            (None, Some(result)) => Incoming::Response(id, Ok(result.unwrap_or_default())),
            (None, None) => {
                let error = describe(Error::invalid_request(), "neither a request nor a response");
                Incoming::Malformed(Box::new(Response::from_error(id, error)))
            }
        };
    };
    let mut request = Request::build(method);
    if let Some(mut params) = envelope.params {
        if long.is_some_and(|long| !long.put(&mut params)) {
            return malformed(Error::invalid_request(), "it is not clear where its long text stands");
        }
        request = request.params(params);
    }
    if let Some(id) = id {
        request = request.id(id);
    }
    Incoming::Request(request.finish())
}

fn malformed(error: Error, why: &str) -> Incoming {
    tracing::error!("a message was not understood: {why}");
    Incoming::Malformed(Box::new(Response::from_error(Id::Null, describe(error, why))))
}

fn describe(mut error: Error, why: &str) -> Error {
    error.message = format!("{}: {why}", error.message).into();
    error
}

/// Repairs the body so that it is valid UTF-8 and JSON; see the module documentation.
fn repair(body: Vec<u8>) -> String {
    let mut text = String::from_utf8(body)
        .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
        .into_bytes();
    let surrogate = |text: &[u8], at: usize| {
        let digits = text.get(at..at + 6).filter(|escape| escape.starts_with(b"\\u"))?;
        u16::from_str_radix(std::str::from_utf8(&digits[2..]).ok()?, 16).ok()
    };
    let mut at = 0;
    while at < text.len() {
        if text[at] != b'\\' {
            at += 1;
            continue;
        }
        match surrogate(&text, at) {
            Some(0xd800..=0xdbff) if matches!(surrogate(&text, at + 6), Some(0xdc00..=0xdfff)) => at += 12,
            Some(0xd800..=0xdfff) => {
                text[at..at + 6].copy_from_slice(b"\\ufffd");
                at += 6;
            }
            Some(_) => at += 6,
            None => at += 2,
        }
    }
    // Only ASCII was replaced by ASCII.
    String::from_utf8(text).unwrap_or_default()
}

pub(super) fn write_message(output: &mut impl Write, body: &[u8]) -> std::io::Result<()> {
    write!(output, "Content-Length: {}\r\n\r\n", body.len())?;
    output.write_all(body)?;
    output.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks how each message of a stream is read, one per line.
    fn check(stream: &[u8], expect: &[&str]) {
        let mut input = stream;
        let mut found = Vec::new();
        while let Some(message) = read_message(&mut input).unwrap() {
            found.push(match message {
                Incoming::Request(request) => match request.params() {
                    Some(params) => format!("{} {params}", request.method()),
                    None => request.method().to_owned(),
                },
                Incoming::Response(id, result) => format!("response to {id}: {result:?}"),
                Incoming::Malformed(answer) => format!("{}", answer.error().unwrap().code.code()),
            });
        }
        assert_eq!(found, expect);
    }

    fn frame(body: &[u8]) -> Vec<u8> {
        let mut stream = Vec::new();
        write_message(&mut stream, body).unwrap();
        stream
    }

    #[test]
    fn messages_follow_each_other() {
        let mut stream = frame(br#"{"jsonrpc":"2.0","method":"a","params":[1]}"#);
        stream.extend(frame(br#"{"jsonrpc":"2.0","id":"x","result":null}"#));
        stream.extend(b"content-length:  16 \r\nContent-Type: utf8\r\n\r\n{\"method\": \"b\" }");
        check(&stream, &["a [1]", "response to \"x\": Ok(Null)", "b"]);
    }

    #[test]
    fn a_bad_message_costs_that_message() {
        let good = frame(br#"{"method":"ok"}"#);
        for (bad, code) in [
            (frame(b"{"), "-32700"),
            (frame(b"[]"), "-32600"),
            (frame(b"{}"), "-32600"),
            (frame(br#"{"method": 5}"#), "-32600"),
            (frame(br#"{"method": "m", "id": 1.5}"#), "-32600"),
            (frame(b"{\"method\": \"\0\"}"), "-32700"),
            (frame("[".repeat(100_000).as_bytes()), "-32600"),
            (frame(format!(r#"{{"method":"m","params":{}"#, "[".repeat(100_000)).as_bytes()), "-32700"),
            (b"Nonsense\r\n\r\n".to_vec(), "-32700"),
            (b"Content-Length: 99999999999999999999\r\n\r\n".to_vec(), "-32700"),
        ] {
            check(&[bad, good.clone()].concat(), &[code, "ok"]);
        }
    }

    #[test]
    fn half_surrogate_pairs_become_replacement_characters() {
        check(
            &frame(br#"{"method": "m", "params": ["a\ud800b", "\udc00", "\ud83d\ude00", "\\ud800", "\ud800\ud83d\ude00"]}"#),
            &["m [\"a\u{fffd}b\",\"\u{fffd}\",\"😀\",\"\\\\ud800\",\"\u{fffd}😀\"]"],
        );
        check(&frame(b"{\"method\": \"m\xff\"}"), &["m\u{fffd}"]);
    }

    #[test]
    fn a_stream_may_end_anywhere() {
        let whole = frame(br#"{"method":"ok"}"#);
        for end in 0..whole.len() {
            check(&whole[..end], &[]);
        }
    }
}
