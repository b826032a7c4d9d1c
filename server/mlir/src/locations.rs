//! Locations: the framework's name of an op, and the source line that created it.

use crate::lists::split;

/// The deepest nesting of locations that is read.
const MAX_DEPTH: usize = 32;
/// The largest number of locations read for one op; it bounds aliases of fused locations that refer to more
/// aliases.
const MAX_READ: usize = 64;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SourcePlace {
    /// A name such as `jit(f)/add`; for a fused location those of its parts, joined by `;`.
    pub name: String,
    /// Empty if no file is named.
    pub file: String,
    /// From 1; 0 if unknown.
    pub line: u64,
}

/// The source place of `loc(…)`, or of the text between its brackets. `alias` resolves a name, including its
/// `#`.
pub fn source_place(location: &str, alias: &dyn Fn(&str) -> Option<String>) -> SourcePlace {
    Reader { alias, left: MAX_READ }.place(location, 0)
}

struct Reader<'a> {
    alias: &'a dyn Fn(&str) -> Option<String>,
    left: usize,
}

impl Reader<'_> {
    fn place(&mut self, location: &str, depth: usize) -> SourcePlace {
        if depth > MAX_DEPTH || self.left == 0 {
            return SourcePlace::default();
        }
        self.left -= 1;
        let mut location = location.trim();
        if let Some(inner) = location.strip_prefix("loc(").and_then(|l| l.strip_suffix(')')) {
            location = inner.trim();
        }
        if location.starts_with('#') {
            return (self.alias)(location).map(|value| self.place(&value, depth + 1)).unwrap_or_default();
        }
        if let Some(rest) = location.strip_prefix('"') {
            return self.named(rest, depth);
        }
        if let Some(body) = location.strip_prefix("callsite(").and_then(|l| l.strip_suffix(')')) {
            let end = outside(body, " at ").unwrap_or(body.len());
            return self.place(&body[..end], depth + 1);
        }
        if location.starts_with("fused") {
            return self.fused(location, depth);
        }
        SourcePlace::default()
    }

    /// The rest after the first quote: a file with a line, or a name and its location.
    fn named(&mut self, rest: &str, depth: usize) -> SourcePlace {
        let mut is_escaped = false;
        let end = rest.find(|c: char| {
            let ends = c == '"' && !is_escaped;
            is_escaped = c == '\\' && !is_escaped;
            ends
        });
        let Some(end) = end else { return SourcePlace::default() };
        let (letters, behind) = (&rest[..end], rest[end + 1..].trim_start());
        if let Some(numbers) = behind.strip_prefix(':') {
            let line = numbers.split(':').next().and_then(|line| line.trim().parse().ok()).unwrap_or(0);
            return SourcePlace { name: String::new(), file: letters.to_owned(), line };
        }
        let child = behind.strip_prefix('(').and_then(|b| b.strip_suffix(')'));
        let child = child.map(|child| self.place(child, depth + 1)).unwrap_or_default();
        SourcePlace { name: letters.to_owned(), ..child }
    }

    /// The names of all parts, and the first line.
    fn fused(&mut self, location: &str, depth: usize) -> SourcePlace {
        // The angle brackets before the list may also contain brackets.
        let list =
            outside(location, "[").and_then(|at| location[at + 1..].strip_suffix(']')).unwrap_or_default();
        let mut all = SourcePlace::default();
        for part in split(list) {
            if self.left == 0 {
                break;
            }
            let part = self.place(part, depth + 1);
            if !part.name.is_empty() {
                all.name += if all.name.is_empty() { "" } else { ";" };
                all.name += &part.name;
            }
            if all.file.is_empty() {
                (all.file, all.line) = (part.file, part.line);
            }
        }
        all
    }
}

/// The start of `word` outside of brackets and strings.
fn outside(text: &str, word: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let (mut depth, mut in_string, mut before) = (0usize, false, b' ');
    for (at, &c) in bytes.iter().enumerate() {
        if depth == 0 && !in_string && bytes[at..].starts_with(word.as_bytes()) {
            return Some(at);
        }
        match c {
            b'"' if before != b'\\' => in_string = !in_string,
            _ if in_string => {}
            b'<' | b'(' | b'[' | b'{' => depth += 1,
            // The `>` of an arrow is not a bracket.
            b'>' if before == b'-' => {}
            b'>' | b')' | b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        before = if before == b'\\' { b' ' } else { c };
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(location: &str) -> SourcePlace {
        let alias = |name: &str| match name {
            "#loc1" => Some("loc(\"jit(f)/mul\"(#loc2))".to_owned()),
            "#loc2" => Some("loc(\"c.py\":7:1)".to_owned()),
            "#circle" => Some("loc(fused[#circle, #circle, \"x\"])".to_owned()),
            _ => None,
        };
        source_place(location, &alias)
    }

    #[test]
    fn places_are_read() {
        let check = |location: &str, name: &str, file: &str, line| {
            let expect = SourcePlace { name: name.to_owned(), file: file.to_owned(), line };
            assert_eq!(read(location), expect, "{location}");
        };
        check("\"a.py\":3:4", "", "a.py", 3);
        check("loc(\"a.py\":3:4 to :9)", "", "a.py", 3);
        check("\"jit(f)/add\"(\"a.py\":3:4)", "jit(f)/add", "a.py", 3);
        check("fused[\"x, y\", \"z\"(\"b.py\":1:1)]", "x, y;z", "b.py", 1);
        check("callsite(\"x\"(\"a.py\":1:2) at \"b.py\":3:4)", "x", "a.py", 1);
        check("callsite(\"look at me\"(\"a.py\":1:2) at \"b.py\":3:4)", "look at me", "a.py", 1);
        check("callsite(callsite(\"x\"(\"a.py\":1:2) at \"b.py\":3:4) at \"c.py\":5:6)", "x", "a.py", 1);
        check("fused<[\"a\"]>[\"x\"(\"a.py\":1:2)]", "x", "a.py", 1);
        check("fused<affine_map<(d0) -> (d0)>>[\"x\", \"y\"]", "x;y", "", 0);
        check("loc(#loc1)", "jit(f)/mul", "c.py", 7);
        check("loc(#none)", "", "", 0);
        check("unknown", "", "", 0);
    }

    #[test]
    fn circles_end() {
        assert!(read("loc(#circle)").name.len() < 2 * MAX_READ);
    }
}
