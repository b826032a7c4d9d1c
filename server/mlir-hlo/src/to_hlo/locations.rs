//! Where an op comes from: `loc(…)` as metadata.

use std::rc::Rc;

use mlir::{OpId, ValueId};

use super::Writer;
use crate::environment::Environment;
use crate::lists::split;
use crate::strings::hlo_string;

/// Locations in locations beyond this depth are not read.
const MAX_DEPTH: usize = 32;

#[derive(Debug, Default, PartialEq, Eq)]
struct Place {
    name: String,
    file: String,
    line: u64,
}

impl Writer<'_> {
    /// `, metadata={op_name="…" source_file="…" source_line=1}`, or nothing.
    pub(super) fn location(&mut self, id: OpId) -> Rc<str> {
        let op = self.parse().op(id);
        match op.location.is_empty() {
            true => Rc::from(""),
            false => self.metadata(op.location.of(self.slice.text)),
        }
    }

    /// The same of an argument, behind whose type and attributes it stands.
    pub(super) fn location_of_argument(&mut self, argument: ValueId) -> Rc<str> {
        let parse = self.slice.parse;
        let types = parse.types(&parse.values[argument as usize].types);
        let Some(mlir::TypeRef::Written(span)) = types.first() else { return Rc::from("") };
        let mut behind = self.slice.text.get(span.end as usize..).unwrap_or_default().trim_start();
        if let Some(attributes) = crate::lists::braced(behind) {
            behind = behind[attributes.len()..].trim_start();
        }
        let Some(end) = behind.strip_prefix("loc(").and_then(closing) else { return Rc::from("") };
        self.metadata(&behind[..4 + end + 1])
    }

    fn metadata(&mut self, location: &str) -> Rc<str> {
        if let Some(known) = self.metadata.get(location) {
            return known.clone();
        }
        let inner = location.strip_prefix("loc(").and_then(|l| l.strip_suffix(')')).unwrap_or_default();
        let place = place(inner, self.environment, 0);
        let mut fields = Vec::new();
        if !place.name.is_empty() {
            fields.push(format!("op_name=\"{}\"", hlo_string(&place.name)));
        }
        if !place.file.is_empty() {
            fields.push(format!("source_file=\"{}\" source_line={}", hlo_string(&place.file), place.line));
        }
        let text: Rc<str> = match fields.is_empty() {
            true => Rc::from(""),
            false => format!(", metadata={{{}}}", fields.join(" ")).into(),
        };
        // Locations that are written in place are many, aliases few.
        if inner.starts_with('#') {
            self.metadata.insert(location.into(), text.clone());
        }
        text
    }
}

/// Where the bracket is closed that stands in front of `text`.
fn closing(text: &str) -> Option<usize> {
    let mut depth = 0usize;
    let mut in_string = false;
    let mut before = b' ';
    for (at, &c) in text.as_bytes().iter().enumerate() {
        match c {
            b'"' if before != b'\\' => in_string = !in_string,
            _ if in_string => {}
            b'(' => depth += 1,
            b')' if depth == 0 => return Some(at),
            b')' => depth -= 1,
            b'\n' => return None,
            _ => {}
        }
        before = c;
    }
    None
}

fn place(location: &str, environment: &Environment, depth: usize) -> Place {
    let mut location = environment.resolved(location.trim());
    if let Some(inner) = location.strip_prefix("loc(").and_then(|l| l.strip_suffix(')')) {
        location = inner.trim();
    }
    if depth > MAX_DEPTH {
        return Place::default();
    }
    if let Some(rest) = location.strip_prefix('"') {
        let mut escaped = false;
        let end = rest.find(|c: char| {
            let ends = c == '"' && !escaped;
            escaped = c == '\\' && !escaped;
            ends
        });
        let Some(end) = end else { return Place::default() };
        let (letters, behind) = (&rest[..end], rest[end + 1..].trim_start());
        if let Some(numbers) = behind.strip_prefix(':') {
            let line = numbers.split(':').next().and_then(|line| line.trim().parse().ok()).unwrap_or(0);
            return Place { name: String::new(), file: letters.to_owned(), line };
        }
        let child = behind.strip_prefix('(').and_then(|b| b.strip_suffix(')'));
        let child = child.map(|child| place(child, environment, depth + 1)).unwrap_or_default();
        return Place { name: letters.to_owned(), ..child };
    }
    if let Some(body) = location.strip_prefix("callsite(").and_then(|l| l.strip_suffix(')')) {
        let callee = body.split(" at ").next().unwrap_or_default();
        return place(callee, environment, depth + 1);
    }
    if location.starts_with("fused") {
        let list = location.find('[').and_then(|at| location[at + 1..].strip_suffix(']')).unwrap_or_default();
        let mut all = Place::default();
        for part in split(list).into_iter().take(16) {
            let part = place(part, environment, depth + 1);
            if !part.name.is_empty() {
                all.name += if all.name.is_empty() { "" } else { ";" };
                all.name += &part.name;
            }
            if all.file.is_empty() {
                (all.file, all.line) = (part.file, part.line);
            }
        }
        return all;
    }
    Place::default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_read() {
        let check = |location: &str, name: &str, file: &str, line| {
            let found = place(location, &Environment::default(), 0);
            assert_eq!(found, Place { name: name.to_owned(), file: file.to_owned(), line }, "{location}");
        };
        check("\"a.py\":3:4", "", "a.py", 3);
        check("\"a.py\":3:4 to :9", "", "a.py", 3);
        check("\"jit(f)/add\"(\"a.py\":3:4)", "jit(f)/add", "a.py", 3);
        check("fused[\"x\", \"y\"(\"b.py\":1:1)]", "x;y", "b.py", 1);
        check("callsite(\"x\"(\"a.py\":1:2) at \"b.py\":3:4)", "x", "a.py", 1);
        check("unknown", "", "", 0);
    }
}
