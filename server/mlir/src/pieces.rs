//! Where a text may be cut, so that each piece is read on its own: between the functions of modules.

use memchr::{memchr, memchr3};

use crate::lexer::is_split_line;
use crate::words::{is_function_like, is_module_like};

/// How a piece starts: so many bodies of modules are open.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PieceState {
    pub depth: u8,
}

/// Bodies of modules deeper than this are not cut.
const MAX_DEPTH: u8 = 16;

/// Where a text is cut, as [`text::Cuts`] says it.
pub fn split(text: &str, state: u8, min_bytes: usize) -> text::Cuts {
    let mut scan = Scan {
        bytes: text.as_bytes(),
        depth: state.min(MAX_DEPTH),
        inner: 0,
        starts_module: false,
        resources_stay_open: false,
    };
    let mut cuts = text::Cuts::default();
    let mut at = 0;
    let mut piece = 0;
    while at < text.len() {
        let line_end = scan.line_end(at);
        if scan.inner == 0 && at > 0 && at - piece >= min_bytes && scan.starts_unit(at, line_end) {
            cuts.pieces.push((at, scan.depth));
            piece = at;
        }
        let next = scan.line(at, line_end);
        if scan.is_split(at, line_end) {
            scan.depth = 0;
            scan.inner = 0;
            scan.starts_module = false;
            if next - piece >= min_bytes && next < text.len() {
                cuts.pieces.push((next, 0));
                piece = next;
            }
        }
        at = next;
    }
    let is_line = text.is_empty() || text.ends_with('\n');
    cuts.end = (is_line && scan.inner == 0 && !scan.starts_module).then_some(scan.depth);
    cuts
}

/// The state of the scanner between two lines.
struct Scan<'t> {
    bytes: &'t [u8],
    /// Bodies of modules that are open.
    depth: u8,
    /// Other brackets that are open inside.
    inner: u32,
    /// The statement is that of a module, whose body has not started yet.
    starts_module: bool,
    /// The end of resources was looked for in vain.
    resources_stay_open: bool,
}

impl Scan<'_> {
    fn line_end(&self, at: usize) -> usize {
        memchr(b'\n', &self.bytes[at..]).map_or(self.bytes.len(), |n| at + n + 1)
    }

    fn trimmed(&self, at: usize, end: usize) -> &str {
        std::str::from_utf8(&self.bytes[at..end]).unwrap_or_default().trim()
    }

    fn is_split(&self, at: usize, end: usize) -> bool {
        let blanks = self.bytes[at..end].iter().take_while(|b| matches!(b, b' ' | b'\t')).count();
        self.bytes[at + blanks..].starts_with(b"//") && is_split_line(self.trimmed(at, end))
    }

    /// The first word of the line: letters of an op's name.
    fn first_word(&self, at: usize, end: usize) -> &str {
        let line = &self.bytes[at..end];
        let blanks = line.iter().take_while(|b| matches!(b, b' ' | b'\t')).count();
        let is_letter = |b: &&u8| b.is_ascii_alphanumeric() || matches!(**b, b'_' | b'.' | b'$');
        let letters = line[blanks..].iter().take_while(is_letter).count();
        std::str::from_utf8(&line[blanks..blanks + letters]).unwrap_or_default()
    }

    /// Whether a function or a module starts on this line: a piece may.
    fn starts_unit(&self, at: usize, end: usize) -> bool {
        let word = self.first_word(at, end);
        is_function_like(word) || is_module_like(word)
    }

    /// Reads a line, and answers where the next one starts. A resource section is as long as it is.
    fn line(&mut self, at: usize, end: usize) -> usize {
        if self.inner == 0 && is_module_like(self.first_word(at, end)) {
            self.starts_module = true;
        } else if self.inner == 0 && !self.first_word(at, end).is_empty() && self.starts_unit(at, end) {
            self.starts_module = false;
        }
        let mut i = at;
        while i < end {
            match self.bytes[i] {
                b'"' => i = self.string(i, end),
                b'/' if self.bytes.get(i + 1) == Some(&b'/') => return end,
                b'{' if self.bytes[i..].starts_with(b"{-#") => {
                    if let Some(behind) = self.resources(i) {
                        return self.line_end(behind.min(self.bytes.len()));
                    }
                    i += 3;
                }
                b'{' if self.starts_module && self.inner == 0 && self.ends_line(i + 1, end) => {
                    self.starts_module = false;
                    // What is too deep is inside of something else, and not cut.
                    if self.depth < MAX_DEPTH {
                        self.depth += 1
                    } else {
                        self.inner += 1
                    }
                    i += 1;
                }
                b'{' | b'(' | b'[' => {
                    self.inner += 1;
                    i += 1;
                }
                b'}' if self.inner == 0 => {
                    self.depth = self.depth.saturating_sub(1);
                    i += 1;
                }
                b'}' | b')' | b']' => {
                    self.inner = self.inner.saturating_sub(1);
                    i += 1;
                }
                _ => i += 1,
            }
        }
        end
    }

    fn ends_line(&self, at: usize, end: usize) -> bool {
        let rest = &self.bytes[at..end];
        let blanks = rest.iter().take_while(|b| matches!(b, b' ' | b'\t' | b'\r')).count();
        matches!(rest.get(blanks), None | Some(b'\n')) || rest[blanks..].starts_with(b"//")
    }

    fn string(&self, start: usize, end: usize) -> usize {
        let mut at = start + 1;
        while let Some(n) = self.bytes.get(at..end).and_then(|rest| memchr3(b'"', b'\\', b'\n', rest)) {
            match self.bytes[at + n] {
                b'"' => return at + n + 1,
                b'\n' => return at + n,
                _ => at += n + 2,
            }
        }
        end
    }

    fn resources(&mut self, start: usize) -> Option<usize> {
        if self.resources_stay_open {
            return None;
        }
        let found = memchr::memmem::find(&self.bytes[start..], b"#-}");
        self.resources_stay_open = found.is_none();
        Some(start + found? + 3)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pieces as their first lines with the depth they start at.
    fn check(text: &str, min_bytes: usize, expect: &[&str], end: Option<u8>) {
        let cuts = split(text, 0, min_bytes);
        let shown: Vec<_> = cuts
            .pieces
            .iter()
            .map(|&(at, depth)| format!("{depth} {}", text[at..].lines().next().unwrap_or_default()))
            .collect();
        assert_eq!(shown, expect);
        assert_eq!(cuts.end, end);
    }

    #[test]
    fn functions_of_modules_are_apart() {
        check(
            "module @m attributes {a = 1} {\n  func.func @f() {\n    return\n  }\n  func.func @g() {\n  }\n}\n",
            1,
            &["1   func.func @f() {", "1   func.func @g() {"],
            Some(0),
        );
        check("module {\nfunc.func @f() {\n", 1, &["1 func.func @f() {"], None);
        check("func.func @f() {\n}\n// -----\nfunc.func @f() {\n}\n", 1, &["0 func.func @f() {"], Some(0));
    }

    #[test]
    fn brackets_in_strings_and_comments_do_not_count() {
        check("func.func @f(\n) { // {\n \"{\\\"\" }\nfunc.func @g()\n", 1, &["0 func.func @g()"], Some(0));
    }

    #[test]
    fn small_functions_share_a_piece() {
        check("func.func @f() {\n}\nfunc.func @g() {\n}\n", 100, &[], Some(0));
    }
}
