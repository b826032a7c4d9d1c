//! Safe display of untrusted text. Control characters become pictures, so that a terminal obeys none of them
//! and no line imitates another.

use std::borrow::Cow;

/// Returns `text` with a picture for each control character except line ends and tabs: `␛` for ESC, `␛[` for
/// the one-character CSI. `\r\n` becomes `\n`. Characters that change the direction of writing become `�`, as
/// in rustc.
pub fn visible(text: &str) -> Cow<'_, str> {
    pictures(text, &['\n', '\t'])
}

/// Like [`visible`], for a single line: line ends and tabs become pictures too.
pub fn visible_line(text: &str) -> Cow<'_, str> {
    pictures(text, &[])
}

/// Whether `c` has an effect instead of a glyph when printed.
pub fn is_invisible(c: char) -> bool {
    c.is_control() || is_direction(c) || matches!(c, '\u{2028}' | '\u{2029}')
}

fn is_direction(c: char) -> bool {
    matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

fn pictures<'a>(text: &'a str, kept: &[char]) -> Cow<'a, str> {
    let is_shown = |c: char| is_invisible(c) && !kept.contains(&c);
    if !text.contains(is_shown) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        if c == '\r' && rest.peek() == Some(&'\n') && kept.contains(&'\n') {
            continue;
        }
        match c {
            c if !is_shown(c) => out.push(c),
            '\u{7f}' => out.push('␡'),
            '\0'..='\u{1f}' => out.extend(char::from_u32(0x2400 + u32::from(c))),
            // A C1 control is ESC and a letter in one character.
            '\u{80}'..='\u{9f}' => {
                out.push('␛');
                out.extend(char::from_u32(u32::from(c) - 0x40));
            }
            '\u{2028}' | '\u{2029}' => out.push('␤'),
            _ => out.push(char::REPLACEMENT_CHARACTER),
        }
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn controls_are_pictures() {
        assert_eq!(visible("a\x1b[31m\x07\u{9b}2J\u{202e}b\x7f"), "a␛[31m␇␛[2J�b␡");
        assert_eq!(visible("a\tb\r\nc\rd\n"), "a\tb\nc␍d\n");
        assert_eq!(visible_line("a\r\nb\tc\0"), "a␍␊b␉c␀");
    }

    #[test]
    fn nothing_invisible_is_left() {
        for c in (0..=0x2_ffff).filter_map(char::from_u32) {
            let text = format!("x{c}y");
            assert!(!visible_line(&text).contains(is_invisible), "{c:?}");
            assert_eq!(visible_line(&text) == text, !is_invisible(c), "{c:?}");
        }
    }

    #[test]
    fn plain_text_is_not_copied() {
        assert!(matches!(visible("größe × 2\n\t→"), Cow::Borrowed(_)));
    }
}
