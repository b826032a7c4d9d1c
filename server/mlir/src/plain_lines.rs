//! Plain lines: one op whose brackets close on the same line, as most lines are. They leave the open brackets
//! unchanged, so the search for cuts can skip their tokens.

use memchr::{memchr3, memmem};

use crate::lexer::is_split_line;
use crate::words::{is_dotted, is_function_like, is_hungry_word, is_module_like};

/// The kind of a line, if its characters alone determine it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Line {
    /// Blanks, or a comment other than a split line.
    Empty,
    Plain {
        /// `%a = …`: an op starts here whatever precedes it. Other ops start only if the op above has ended.
        has_result: bool,
        /// Whether an op may start on the next line.
        ends: bool,
    },
    Other,
}

/// The deepest nesting of brackets that is handled; deeper lines are left to the parser.
const MAX_DEPTH: usize = 32;

/// Classifies a line, with or without its line end.
pub(crate) fn classify(line: &str) -> Line {
    let bytes = line.as_bytes();
    let start = bytes.iter().take_while(|b| matches!(b, b' ' | b'\t')).count();
    match bytes.get(start) {
        None | Some(b'\n') => Line::Empty,
        Some(b'\r') if matches!(bytes.get(start + 1), None | Some(b'\n')) => Line::Empty,
        Some(b'/') if bytes[start..].starts_with(b"//") => {
            let has_return = memchr::memchr(b'\r', bytes).is_some();
            if is_split_line(line[start..].trim_end()) || has_return { Line::Other } else { Line::Empty }
        }
        Some(b'%') => match behind_result(bytes, start) {
            Some(op) => plain(line, op, true),
            None => Line::Other,
        },
        Some(b) if b.is_ascii_alphabetic() || *b == b'_' => {
            let end = word_end(bytes, start);
            let word = &line[start..end];
            let next = bytes[end..].iter().find(|b| !matches!(b, b' ' | b'\t'));
            let is_op = is_dotted(word) && !is_function_like(word) && !is_module_like(word);
            match (is_op, next) {
                (true, Some(next)) if !matches!(next, b'=' | b',' | b'\n' | b'\r') => plain(line, end, false),
                _ => Line::Other,
            }
        }
        _ => Line::Other,
    }
}

fn word_end(bytes: &[u8], start: usize) -> usize {
    let is_letter = |b: &&u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'$' | b'.');
    start + bytes[start..].iter().take_while(is_letter).count()
}

/// The start of the op after `%name =` or `%name:2 =`, if an op name is there.
fn behind_result(bytes: &[u8], start: usize) -> Option<usize> {
    let mut at = start + 1;
    let digits = |at: usize| bytes[at..].iter().take_while(|b| b.is_ascii_digit()).count();
    let blanks = |at: usize| bytes[at..].iter().take_while(|b| matches!(b, b' ' | b'\t')).count();
    let number = digits(at);
    let is_suffix = |b: &&u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'$' | b'.' | b'-');
    let name = if number > 0 { number } else { bytes[at..].iter().take_while(is_suffix).count() };
    if name == 0 {
        return None;
    }
    at += name;
    if bytes.get(at) == Some(&b':') {
        let count = digits(at + 1);
        if count == 0 || !matches!(bytes.get(at + 1 + count), Some(b' ' | b'\t')) {
            return None;
        }
        at += 1 + count;
    }
    at += blanks(at);
    if bytes.get(at) != Some(&b'=') || matches!(bytes.get(at + 1), Some(b'=' | b'>')) {
        return None;
    }
    at += 1 + blanks(at + 1);
    match bytes.get(at)? {
        b'"' => {
            let end = string_end(bytes, at)?;
            (bytes.get(end) == Some(&b'(')).then_some(at)
        }
        b if b.is_ascii_alphabetic() => bytes[at..word_end(bytes, at)].contains(&b'.').then_some(at),
        _ => None,
    }
}

fn string_end(bytes: &[u8], start: usize) -> Option<usize> {
    let mut at = start + 1;
    loop {
        at += memchr3(b'"', b'\\', b'\n', bytes.get(at..)?)?;
        match bytes[at] {
            b'"' => return Some(at + 1),
            b'\n' => return None,
            _ => at += 2,
        }
    }
}

const fn signs() -> [bool; 256] {
    let mut signs = [false; 256];
    let all = b"()[]{}<>\"/#\r\n";
    let mut at = 0;
    while at < all.len() {
        signs[all[at] as usize] = true;
        at += 1;
    }
    signs
}

/// Characters that are not simply skipped.
static SIGNS: [bool; 256] = signs();

/// Whether the brackets after `from` close on the line.
fn plain(line: &str, from: usize, has_result: bool) -> Line {
    let bytes = line.as_bytes();
    let mut open = [0u8; MAX_DEPTH];
    let mut depth = 0;
    let mut at = from;
    let mut end = bytes.len();
    while at < bytes.len() {
        let b = bytes[at];
        if !SIGNS[b as usize] {
            at += 1;
            continue;
        }
        let before = at.checked_sub(1).map_or(0, |i| bytes[i]);
        let next = bytes.get(at + 1).copied().unwrap_or(0);
        match b {
            b'"' => match string_end(bytes, at) {
                Some(end) => {
                    at = end;
                    continue;
                }
                None => return Line::Other,
            },
            b'/' if next == b'/' => {
                end = at;
                if memchr::memchr(b'\r', &bytes[at..]).is_some() {
                    return Line::Other;
                }
                break;
            }
            b'#' if next == b'-' => return Line::Other,
            b'{' if next == b'-' => return Line::Other,
            b'<' | b'>' if next == b'=' => return Line::Other,
            b'>' if before == b'=' => return Line::Other,
            // `%->` is a name and a bracket, every other `->` an arrow.
            b'>' if before == b'-' && (at < 2 || matches!(bytes[at - 2], b'%' | b'^' | b'#' | b'!')) => {
                return Line::Other;
            }
            b'>' if before == b'-' => {}
            b'(' | b'[' | b'{' | b'<' => {
                if depth == MAX_DEPTH {
                    return Line::Other;
                }
                open[depth] = b;
                depth += 1;
            }
            b')' | b']' | b'}' | b'>' => {
                let opener = match b {
                    b')' => b'(',
                    b']' => b'[',
                    b'}' => b'{',
                    _ => b'<',
                };
                if depth == 0 || open[depth - 1] != opener {
                    return Line::Other;
                }
                depth -= 1;
            }
            b'\r' if next != b'\n' && at + 1 < bytes.len() => return Line::Other,
            _ => {}
        }
        at += 1;
    }
    match depth {
        0 => Line::Plain { has_result, ends: ends(line[..end].trim_end()) },
        _ => Line::Other,
    }
}

/// Whether text with this end cannot continue on the next line. May return false for text that cannot
/// continue.
fn ends(line: &str) -> bool {
    match line.bytes().next_back() {
        Some(b')' | b']' | b'}' | b'"') => true,
        Some(b'>') => !line.ends_with("->"),
        Some(b) if b.is_ascii_alphanumeric() => {
            let is_letter = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'$' | b'.');
            let start = line.bytes().rposition(|b| !is_letter(b));
            let word = &line[start.map_or(0, |at| at + 1)..];
            !is_hungry_word(word) && !word.contains("return") && !is_function_like(word)
        }
        _ => false,
    }
}

/// Whether a text may contain resources.
pub(crate) fn may_hold_resources(text: &str) -> bool {
    memmem::find(text.as_bytes(), b"{-#").is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ops_on_a_line_of_their_own_are_plain() {
        let plain = |has_result, ends| Line::Plain { has_result, ends };
        for (line, expect) in [
            ("  %0 = stablehlo.add %a, %b : tensor<4xf32>\n", plain(true, true)),
            ("%0:2 = \"a.b\"(%a) <{x = [1]}> : (f32) -> (f32, f32) loc(#loc1)", plain(true, true)),
            ("  a.b %a : f32 // (", plain(false, true)),
            ("  %0 = a.b %a :\n", plain(true, false)),
            ("  %0 = a.b %a to\n", plain(true, false)),
            ("  a.\u{112b0}to\n", plain(false, false)),
            ("  a.\u{112b0}a\n", plain(false, true)),
            ("  %0 = a.b %a -> // c\n", plain(true, false)),
            ("  // c {\n", Line::Empty),
            ("  \r\n", Line::Empty),
            ("// -----\n", Line::Other),
            ("  %0 = a.b (\n", Line::Other),
            ("  %0 = a.b [(])\n", Line::Other),
            ("  %0 = a.b \"\n", Line::Other),
            ("  %0 = a.b %->\n", Line::Other),
            ("  %0 = b %a : f32\n", Line::Other),
            ("  %0abc = a.b\n", Line::Other),
            ("  func.func @f()\n", Line::Other),
            ("  a.b = 3\n", Line::Other),
            ("  return\n", Line::Other),
            ("  } loc(x)\n", Line::Other),
            ("  ^bb0:\n", Line::Other),
        ] {
            assert_eq!(classify(line), expect, "{line}");
        }
    }
}
