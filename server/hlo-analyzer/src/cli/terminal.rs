//! Output of subcommands. Texts and file names are untrusted, and terminals interpret control characters:
//! they are printed as control pictures, and as escapes in JSON.

use std::io::{self, IsTerminal, Write, stdout};

use serde::Serialize;
use serde_json::ser::{CompactFormatter, Formatter, Serializer};
use text::{is_invisible, visible};

/// Prints one line to standard error.
pub fn complain(message: impl std::fmt::Display) {
    eprintln!("{}", visible(&message.to_string()));
}

/// Prints code unchanged when redirected; replaces control characters on a terminal.
pub(super) fn print_code(code: &str) -> io::Result<()> {
    let mut out = stdout().lock();
    out.write_all(shown(code, out.is_terminal()).as_bytes())
}

fn shown(code: &str, is_terminal: bool) -> std::borrow::Cow<'_, str> {
    if is_terminal { visible(code) } else { code.into() }
}

/// Writes JSON on one line without a newline. Escapes control characters in addition to what JSON requires.
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
            // All of these characters fit in 16 bits.
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
