//! What a location says: the framework's name of an op, and the line of the program that made it.

use crate::lists::split;

/// Locations in locations beyond this depth are not read.
const MAX_DEPTH: usize = 32;
/// So many locations are read for one: parts that are aliases of more parts are no more than that together.
const MAX_READ: usize = 64;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SourcePlace {
    /// Such as `jit(f)/add`; of a fused location those of its parts, with `;` between.
    pub name: String,
    /// Empty where no file is named.
    pub file: String,
    /// Counted from 1; 0 where it is not known.
    pub line: u64,
}

/// Of `loc(…)`, or of what is between its brackets. `alias` tells the value of a name with its `#`.
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

    /// Behind the first quote: a file with a line, or a name and where that is.
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

    /// All names of its parts, and the first line.
    fn fused(&mut self, location: &str, depth: usize) -> SourcePlace {
        // Between angles in front of the list may stand brackets, too.
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

/// Where `word` starts that neither brackets nor a string enclose.
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
            // The arrow closes nothing.
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
