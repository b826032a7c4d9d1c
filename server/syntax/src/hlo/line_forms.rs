//! What a line of HLO text is, from its bytes: the start of a module, a computation or an instruction.

use super::lexer::{is_ident_byte, is_ident_start};

/// Whether a module starts at the line at `at`, with its separator or its header.
pub(super) fn starts_module(bytes: &[u8], at: usize) -> bool {
    let rest = &bytes[at..];
    match rest.first() {
        Some(b'H') => rest.starts_with(b"HloModule "),
        Some(b'/') if rest.starts_with(b"// -----") => {
            let end = memchr::memchr(b'\n', rest).unwrap_or(rest.len());
            rest[8..end].iter().all(u8::is_ascii_whitespace)
        }
        _ => false,
    }
}

/// Whether a string that is open at the start of this line is unclosed, because the line cannot be part of a
/// string.
pub(super) fn ends_open_string(text: &str, line: usize) -> bool {
    let bytes = text.as_bytes();
    let rest = &bytes[line.min(bytes.len())..];
    let rest = &rest[..memchr::memchr(b'\n', rest).unwrap_or(rest.len())];
    match rest.trim_ascii_start().first() {
        Some(b'}') => rest.trim_ascii_end() == b"}",
        Some(&first) if first == b'%' || first == b'/' || is_ident_start(first) => {
            // Headers contain no quotes; a line with one would close the string.
            let is_header = || !rest.contains(&b'"') && looks_like_computation(text, line);
            starts_module(bytes, line) || defines_instruction(rest) || is_header()
        }
        _ => false,
    }
}

/// Whether a line has the form `[ROOT] name = shape…` or `[ROOT] name = opcode(…`.
fn defines_instruction(line: &[u8]) -> bool {
    let Some(equal) = memchr::memmem::find(line, b" = ") else { return false };
    let name = line[..equal].trim_ascii();
    let name = name.strip_prefix(b"ROOT ").unwrap_or(name).trim_ascii();
    let name = name.strip_prefix(b"%").unwrap_or(name);
    let value = line[equal + 3..].trim_ascii_start();
    let word = value.iter().take_while(|&&b| is_ident_byte(b)).count();
    let is_value = match value.first() {
        Some(b'(') => true,
        Some(&first) => is_ident_start(first) && matches!(value.get(word), Some(b'[' | b'(')),
        None => false,
    };
    is_value && name.first().is_some_and(|&b| is_ident_start(b)) && name.iter().all(|&b| is_ident_byte(b))
}

/// Whether the line at `at` has the form `[ROOT] name = …`. Attributes (`name=…`, without spaces) do not.
pub(crate) fn looks_like_instruction(text: &str, at: usize) -> bool {
    let bytes = text.as_bytes();
    let blank = |mut at: usize| {
        while matches!(bytes.get(at), Some(b' ' | b'\t' | b'\r' | b'\n')) {
            at += 1;
        }
        at
    };
    let mut start = blank(at);
    if bytes[start..].starts_with(b"ROOT") && matches!(bytes.get(start + 4), Some(b' ' | b'\t')) {
        start = blank(start + 4);
    }
    if bytes.get(start) == Some(&b'%') {
        start += 1;
    }
    if !bytes.get(start).is_some_and(|&b| is_ident_start(b)) {
        return false;
    }
    let mut end = start;
    while bytes.get(end).is_some_and(|&b| is_ident_byte(b)) {
        end += 1;
    }
    let equal = blank(end);
    equal > end && bytes.get(equal) == Some(&b'=') && bytes.get(equal + 1).is_none_or(|&b| b != b'=')
}

/// Whether a computation's header starts at `at`: a line at column 0 that ends in `{` and contains no
/// assignment.
pub(crate) fn looks_like_computation(text: &str, at: usize) -> bool {
    let bytes = text.as_bytes();
    if at > 0 && bytes[at - 1] != b'\n' {
        return false;
    }
    if !bytes.get(at).is_some_and(|&b| b == b'%' || is_ident_start(b)) {
        return false;
    }
    let end = memchr::memchr(b'\n', &bytes[at..]).map_or(bytes.len(), |n| at + n);
    let line = text[at..end].trim_end();
    // `debug_attributes={` continues the module's header.
    line.ends_with('{') && !line.ends_with("={") && !line.contains(" = ") && !line.starts_with("HloModule")
}
