//! Strings of JSON, as clients send documents of tens of MB: they are found and decoded in place.

use std::ops::Range;

use memchr::{memchr, memchr2};

/// The bytes between the quotes of the first string of at least `long` bytes, if it is the value of `"text":` and valid.
pub fn long_text(body: &[u8], long: usize) -> Option<Range<usize>> {
    let mut at = 0;
    while body.len() - at >= long {
        let start = at + memchr(b'"', &body[at..])? + 1;
        let (end, knows_escapes) = end_of_string(body, start)?;
        if end - start >= long {
            let letters = &body[start..end];
            let key = body[..start - 1].trim_ascii_end().strip_suffix(b":");
            let is_text = key.is_some_and(|key| key.trim_ascii_end().ends_with(b"\"text\""));
            let is_written_well = || !has_control(letters) && std::str::from_utf8(letters).is_ok();
            return (is_text && knows_escapes && is_written_well()).then_some(start..end);
        }
        at = end + 1;
    }
    None
}

/// Whether a control character occurs, which JSON requires to be escaped. The minimum of whole blocks is faster than a search for the
/// first one.
fn has_control(letters: &[u8]) -> bool {
    let (blocks, rest) = letters.as_chunks::<32>();
    let mut least = [u8::MAX; 32];
    for block in blocks {
        for (least, letter) in least.iter_mut().zip(block) {
            *least = (*least).min(*letter);
        }
    }
    least.iter().chain(rest).any(|letter| *letter < b' ')
}

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

/// Reduces the body to the string that is written in `written`, which is never longer than its escaped form.
pub fn decode(body: &mut Vec<u8>, written: Range<usize>) {
    let (mut from, mut to, end) = (written.start, 0, written.end);
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

    #[test]
    fn a_long_text_is_decoded_in_place() {
        let decoded = |body: &str| {
            let mut bytes = body.as_bytes().to_vec();
            let written = long_text(&bytes, 8)?;
            decode(&mut bytes, written);
            String::from_utf8(bytes).ok()
        };
        assert_eq!(
            decoded(r#"{"a": "b", "text" : "1\n\u00e9\ud83d\ude00é", "c": 1}"#).as_deref(),
            Some("1\né😀é")
        );
        for other in [
            r#"{"text": "123"}"#,
            r#"{"name": "12345678"}"#,
            r#"{"text": "12345\x78"}"#,
            r#"{"text": "12345678"#,
            "",
        ] {
            assert_eq!(decoded(other), None, "{other}");
        }
    }
}
