//! URIs of documents that the server writes: a scheme, a file name to show, and as the query what the document is, in JSON,
//! percent-encoded once. Editors may encode more of it than this server does, but not less.

use serde::Serialize;
use serde::de::DeserializeOwned;
use tower_lsp::lsp_types::Url;

/// What a document is. `None` for URIs of other schemes or formats.
pub(super) fn parse<T: DeserializeOwned>(uri: &Url, scheme: &str) -> Option<T> {
    let query = uri.query().filter(|_| uri.scheme() == scheme)?;
    serde_json::from_slice(&decoded(query)).ok()
}

/// The URI of a document. Letters, digits and percent signs only, so this is a valid URL.
pub(super) fn write(scheme: &str, file_name: &str, document: &impl Serialize) -> Option<Url> {
    let query = serde_json::to_string(document).ok()?;
    Url::parse(&format!("{scheme}:/{}?{}", encoded(file_name), encoded(&query))).ok()
}

fn encoded(text: &str) -> String {
    let mut out = String::new();
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => out.push(byte as char),
            _ => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}

fn decoded(text: &str) -> Vec<u8> {
    let mut out = Vec::new();
    let mut rest = text.as_bytes();
    while let Some((&byte, behind)) = rest.split_first() {
        let hex = behind.get(..2).and_then(|hex| std::str::from_utf8(hex).ok());
        match hex.and_then(|hex| u8::from_str_radix(hex, 16).ok()).filter(|_| byte == b'%') {
            Some(value) => {
                out.push(value);
                rest = &behind[2..];
            }
            None => {
                out.push(byte);
                rest = behind;
            }
        }
    }
    out
}
