//! What subcommands print. Texts and file names come from anybody, and a terminal obeys what it is sent: control characters are
//! shown as pictures, in JSON as escapes.

use std::io::{self, IsTerminal, Write, stdout};

use serde::Serialize;
use serde_json::ser::{CompactFormatter, Formatter, Serializer};
use text::{is_invisible, visible};

/// One line on standard error.
pub fn complain(message: impl std::fmt::Display) {
    eprintln!("{}", visible(&message.to_string()));
}

/// Code that may be meant for a file: exactly as it is, but on a terminal.
pub(super) fn print_code(code: &str) -> io::Result<()> {
    let mut out = stdout().lock();
    out.write_all(shown(code, out.is_terminal()).as_bytes())
}

fn shown(code: &str, is_terminal: bool) -> std::borrow::Cow<'_, str> {
    if is_terminal { visible(code) } else { code.into() }
}

/// JSON on one line, without the line's end. Escapes all that a terminal would obey, beside what JSON demands.
pub(super) fn write_json(out: impl Write, value: &impl Serialize) -> io::Result<()> {
    value.serialize(&mut Serializer::with_formatter(out, Visible)).map_err(io::Error::from)
}

struct Visible;

impl Formatter for Visible {
    fn write_string_fragment<W: ?Sized + Write>(&mut self, out: &mut W, fragment: &str) -> io::Result<()> {
        let mut rest = fragment;
        while let Some(at) = rest.find(is_invisible) {
            CompactFormatter.write_string_fragment(out, &rest[..at])?;
            let c = rest[at..].chars().next().unwrap_or_default();
            // None is beyond 16 bits.
            write!(out, "\\u{:04x}", u32::from(c))?;
            rest = &rest[at + c.len_utf8()..];
        }
        CompactFormatter.write_string_fragment(out, rest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_is_the_same_value_in_visible_letters() {
        let text: String = (0..0x3000).filter_map(char::from_u32).collect();
        let value = serde_json::json!({ text.as_str(): [text, "größe", 1.5, null] });
        let mut out = Vec::new();
        write_json(&mut out, &value).expect("memory takes it");
        let out = String::from_utf8(out).expect("JSON is UTF-8");
        assert!(!out.contains(is_invisible));
        assert_eq!(serde_json::from_str::<serde_json::Value>(&out).expect("it is JSON"), value);
    }

    #[test]
    fn files_get_code_as_it_is() {
        assert_eq!(shown("a\x1b[2J\r\n", true), "a␛[2J\n");
        assert_eq!(shown("a\x1b[2J\r\n", false), "a\x1b[2J\r\n");
    }
}
