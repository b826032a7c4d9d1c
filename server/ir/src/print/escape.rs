//! Strings in quotes: C escapes both ways. Source: `absl::CEscape`, `absl::CUnescape`.

/// The bytes that the inside of a string represents.
pub fn unescape(inner: &str) -> Vec<u8> {
    let bytes = inner.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        at += 1;
        let (b'\\', Some(&escape)) = (byte, bytes.get(at)) else {
            out.push(byte);
            continue;
        };
        at += 1;
        match escape {
            b'n' => out.push(b'\n'),
            b't' => out.push(b'\t'),
            b'r' => out.push(b'\r'),
            b'a' => out.push(7),
            b'b' => out.push(8),
            b'f' => out.push(12),
            b'v' => out.push(11),
            b'0'..=b'7' => {
                at -= 1;
                out.push(number(inner, &mut at, 3, 8).unwrap_or_default() as u8);
            }
            b'x' | b'X' => out.push(number(inner, &mut at, 2, 16).unwrap_or_default() as u8),
            b'u' | b'U' => {
                let code = number(inner, &mut at, if escape == b'u' { 4 } else { 8 }, 16);
                let c = code.and_then(char::from_u32).unwrap_or(char::REPLACEMENT_CHARACTER);
                out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
            }
            other => out.push(other),
        }
    }
    out
}

/// The number of at most `digits` digits at `at`, which moves past it.
fn number(text: &str, at: &mut usize, digits: usize, radix: u32) -> Option<u32> {
    let rest = text.as_bytes()[*at..].iter().take(digits);
    let len = rest.take_while(|b| char::from(**b).is_digit(radix)).count();
    let number = u32::from_str_radix(text.get(*at..*at + len)?, radix).ok();
    *at += len;
    number
}

/// Writes `bytes` with the escapes that they have inside quotes.
pub fn escape(out: &mut String, bytes: &[u8]) {
    for &byte in bytes {
        match byte {
            b'\n' => out.push_str("\\n"),
            b'\r' => out.push_str("\\r"),
            b'\t' => out.push_str("\\t"),
            b'"' | b'\'' | b'\\' => {
                out.push('\\');
                out.push(char::from(byte));
            }
            0x20..0x7f => out.push(char::from(byte)),
            _ => out.push_str(&format!("\\{byte:03o}")),
        }
    }
}

/// Writes the string whose inside, as it is written, is `inner`: in quotes, with canonical escapes.
pub(super) fn requote(out: &mut String, inner: &str) {
    out.push('"');
    let is_plain = |b: u8| (0x20..0x7f).contains(&b) && !matches!(b, b'"' | b'\'' | b'\\');
    if inner.bytes().all(is_plain) {
        out.push_str(inner);
    } else {
        escape(out, &unescape(inner));
    }
    out.push('"');
}

/// As [`requote`], but a dictionary is written without quotes.
pub(super) fn requote_or_json(out: &mut String, inner: &str) {
    if inner.starts_with('{')
        && let Ok(text) = String::from_utf8(unescape(inner))
        && is_json_dict(&text)
    {
        out.push_str(&text);
    } else {
        requote(out, inner);
    }
}

/// Whether `text` is one balanced dictionary and nothing else, as XLA's lexer reads it.
pub fn is_json_dict(text: &str) -> bool {
    let mut depth = 0usize;
    let bytes = text.as_bytes();
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'{' => depth += 1,
            b'}' => match depth {
                0 => return false,
                1 => return at + 1 == bytes.len(),
                _ => depth -= 1,
            },
            b'"' if depth > 0 => {
                at += 1;
                while !matches!(bytes.get(at), Some(b'"')) {
                    match bytes.get(at) {
                        None | Some(b'\n') => return false,
                        Some(b'\\') => at += 2,
                        Some(_) => at += 1,
                    }
                }
            }
            _ if depth == 0 => return false,
            _ => {}
        }
        at += 1;
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_are_canonical() {
        let check = |inner: &str, expect: &str| {
            let mut out = String::new();
            requote(&mut out, inner);
            assert_eq!(out, format!("\"{expect}\""));
            let mut again = String::new();
            requote(&mut again, expect);
            assert_eq!(again, out);
        };
        check("plain", "plain");
        check(r"it's\x41", r"it\'sA");
        check("\u{e4}", r"\303\244");
        check(r"\n\101\\", r"\nA\\");
        check(r"\377", r"\377");
    }

    #[test]
    fn dictionaries() {
        for (text, expect) in [
            ("{}", true),
            ("{\"a\":{\"}\":1}}", true),
            ("", false),
            ("{", false),
            ("{}}", false),
            ("{}a", false),
            ("a{}", false),
            ("{\"", false),
        ] {
            assert_eq!(is_json_dict(text), expect, "{text}");
        }
    }
}
