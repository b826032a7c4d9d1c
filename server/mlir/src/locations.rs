//! Locations: the framework's name of an op, and the source lines that created it.

use crate::lists::{split, top_level};

/// The deepest nesting of locations that is read.
const MAX_DEPTH: usize = 32;
/// The largest number of locations read for one op; it bounds aliases of fused locations that refer to more
/// aliases.
const MAX_READ: usize = 512;
/// The largest number of frames of an op.
const MAX_FRAMES: usize = 128;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SourcePlace {
    /// A name such as `jit(f)/add`; for a fused location those of its parts, joined by `;`.
    pub name: String,
    /// The calls that led to the op, innermost first; for a fused location those of its first part that has any.
    pub frames: Vec<SourceFrame>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SourceFrame {
    /// The name of a location in `callsite(… at …)`; empty if it has none.
    pub function: String,
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
        let location = inside(location);
        if location.starts_with('#') {
            return (self.alias)(location).map(|value| self.place(&value, depth + 1)).unwrap_or_default();
        }
        if let Some(rest) = location.strip_prefix('"') {
            return self.named(rest, depth);
        }
        if let Some((callee, caller)) = call_site(location) {
            return self.calls(callee, caller, depth);
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
            let frame = SourceFrame { function: String::new(), file: letters.to_owned(), line };
            let frames = if letters.is_empty() { Vec::new() } else { vec![frame] };
            return SourcePlace { name: String::new(), frames };
        }
        let child = behind.strip_prefix('(').and_then(|b| b.strip_suffix(')'));
        let child = child.map(|child| self.place(child, depth + 1)).unwrap_or_default();
        SourcePlace { name: letters.to_owned(), ..child }
    }

    /// The frames of a call and of its callers, which may be as many as the stack is deep.
    fn calls(&mut self, callee: &str, caller: &str, depth: usize) -> SourcePlace {
        let called = self.place(callee, depth + 1);
        let mut all = SourcePlace { name: called.name.clone(), frames: Vec::new() };
        push_frames(&mut all.frames, called);
        let mut caller = caller.to_owned();
        while self.left > 0 && all.frames.len() < MAX_FRAMES {
            let location = inside(&caller);
            if location.starts_with('#') {
                self.left -= 1;
                let Some(value) = (self.alias)(location) else { break };
                caller = value;
                continue;
            }
            let Some((callee, next)) = call_site(location) else {
                let outermost = self.place(location, depth + 1);
                push_frames(&mut all.frames, outermost);
                break;
            };
            let called = self.place(callee, depth + 1);
            push_frames(&mut all.frames, called);
            caller = next.to_owned();
        }
        all
    }

    /// The names of all parts, and the first frames.
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
            if all.frames.is_empty() {
                all.frames = part.frames;
            }
        }
        all
    }
}

/// Adds the frames of a location in a call site, whose name is that of the function.
fn push_frames(frames: &mut Vec<SourceFrame>, place: SourcePlace) {
    let first = frames.len();
    frames.extend(place.frames);
    if let Some(frame) = frames.get_mut(first)
        && frame.function.is_empty()
    {
        frame.function = place.name;
    }
    frames.truncate(MAX_FRAMES);
}

/// The location in `loc(…)`.
fn inside(location: &str) -> &str {
    let location = location.trim();
    location.strip_prefix("loc(").and_then(|l| l.strip_suffix(')')).map_or(location, str::trim)
}

/// Callee and caller of `callsite(callee at caller)`.
fn call_site(location: &str) -> Option<(&str, &str)> {
    let body = location.strip_prefix("callsite(")?.strip_suffix(')')?;
    let end = outside(body, " at ").unwrap_or(body.len());
    Some((&body[..end], body[end..].strip_prefix(" at ").unwrap_or_default()))
}

/// The start of `word` outside of brackets and strings.
fn outside(text: &str, word: &str) -> Option<usize> {
    let mut places = top_level(text).map(|(at, _)| at);
    places.find(|&at| text.as_bytes()[at..].starts_with(word.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(location: &str) -> SourcePlace {
        let alias = |name: &str| match name {
            "#loc1" => Some("loc(\"jit(f)/mul\"(#loc2))".to_owned()),
            "#loc2" => Some("loc(\"c.py\":7:1)".to_owned()),
            "#calls" => Some("loc(callsite(\"d.py\":1:1 at #calls))".to_owned()),
            "#circle" => Some("loc(fused[#circle, #circle, \"x\"])".to_owned()),
            _ => None,
        };
        source_place(location, &alias)
    }

    /// The name, and the frames as `function file:line`.
    fn check(location: &str, name: &str, frames: &[&str]) {
        let place = read(location);
        assert_eq!(place.name, name, "{location}");
        let frame = |frame: &SourceFrame| {
            format!("{} {}:{}", frame.function, frame.file, frame.line).trim_start().to_owned()
        };
        assert_eq!(place.frames.iter().map(frame).collect::<Vec<_>>(), frames, "{location}");
    }

    #[test]
    fn places_are_read() {
        check("\"a.py\":3:4", "", &["a.py:3"]);
        check("loc(\"a.py\":3:4 to :9)", "", &["a.py:3"]);
        check("\"jit(f)/add\"(\"a.py\":3:4)", "jit(f)/add", &["a.py:3"]);
        check("fused[\"x, y\", \"z\"(\"b.py\":1:1)]", "x, y;z", &["b.py:1"]);
        check("fused<[\"a\"]>[\"x\"(\"a.py\":1:2)]", "x", &["a.py:1"]);
        check("fused<affine_map<(d0) -> (d0)>>[\"x\", \"y\"]", "x;y", &[]);
        check("loc(#loc1)", "jit(f)/mul", &["c.py:7"]);
        check("loc(#none)", "", &[]);
        check("unknown", "", &[]);
    }

    #[test]
    fn call_sites_are_stacks() {
        check("callsite(\"x\"(\"a.py\":1:2) at \"b.py\":3:4)", "x", &["x a.py:1", "b.py:3"]);
        check(
            "callsite(\"look at me\"(\"a.py\":1:2) at \"b.py\":3:4)",
            "look at me",
            &["look at me a.py:1", "b.py:3"],
        );
        check(
            "callsite(callsite(\"x\"(\"a.py\":1:2) at \"b.py\":3:4) at \"c.py\":5:6)",
            "x",
            &["x a.py:1", "b.py:3", "c.py:5"],
        );
        // As JAX writes stacks: the op's name around them.
        check(
            "\"jit(f)/add\"(callsite(\"g\"(\"a.py\":1:2) at callsite(\"h\"(\"b.py\":3:4) at #loc1)))",
            "jit(f)/add",
            &["g a.py:1", "h b.py:3", "jit(f)/mul c.py:7"],
        );
        check("callsite(\"x\"(\"a.py\":1:2) at", "", &[]);
        check("callsite(\"x\"(\"a.py\":1:2))", "x", &["x a.py:1"]);
    }

    #[test]
    fn deep_stacks_are_cut() {
        let deep = (0..1000)
            .fold("\"a.py\":1:1".to_owned(), |caller, _| format!("callsite(\"a.py\":2:2 at {caller})"));
        assert_eq!(read(&deep).frames.len(), MAX_FRAMES);
    }

    #[test]
    fn circles_end() {
        assert!(read("loc(#circle)").name.len() < 2 * MAX_READ);
        assert_eq!(read("loc(#calls)").frames.len(), MAX_FRAMES);
    }
}
