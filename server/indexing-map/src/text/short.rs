//! Short forms for inlay hints and narrow hovers.

use std::fmt::Write;

use crate::interval::Interval;
use crate::map::IndexingMap;
use crate::text::PrintStyle;
use crate::text::print::Printer;

/// Prints the domain in mathematical notation: `d0 ≤ 9, 2 ≤ d1 ≤ 9, d2 = 0, d0 + d1 ≤ 20`. Lower bounds of
/// zero are omitted. Constraints follow, sorted by their text. `empty` and `unknown` for the other two
/// states; nothing for a map without variables.
pub fn domain_short(map: &IndexingMap, style: PrintStyle) -> String {
    if map.is_undefined() {
        return "unknown".to_owned();
    }
    if map.is_known_empty() {
        return "empty".to_owned();
    }
    let printer = Printer::of_map(map, style);
    let mut parts: Vec<String> = Vec::with_capacity(map.variables().len() + map.constraints().len());
    for (id, v) in map.variables().iter().enumerate() {
        let mut name = String::new();
        printer.name(&mut name, id as u32);
        parts.push(relation(&name, v.bounds));
    }
    parts.append(&mut printer.constraints(map, relation));
    parts.join(", ")
}

fn relation(what: &str, interval: Interval) -> String {
    let Interval { lower, upper } = interval;
    let mut out = String::new();
    _ = match (lower, upper) {
        (l, u) if l == u => write!(out, "{what} = {l}"),
        (i64::MIN, i64::MAX) => write!(out, "{what}"),
        (l, i64::MAX) => write!(out, "{l} ≤ {what}"),
        (0 | i64::MIN, u) => write!(out, "{what} ≤ {u}"),
        (l, u) => write!(out, "{l} ≤ {what} ≤ {u}"),
    };
    out
}

/// Breaks a printed map (or any text) into lines of at most `width` characters where possible: after `, `
/// outside of brackets, and before `domain:`. Continuation lines are indented by two spaces. A piece longer
/// than a line stays whole.
pub fn wrap(text: &str, width: usize) -> String {
    let mut out = String::with_capacity(text.len() + 16);
    let mut column = 0;
    let too_long = text.chars().count() > width;
    let (mut start, mut end, mut open) = (0, 0, 0i32);
    for part in text.split_inclusive(", ") {
        end += part.len();
        open += part.bytes().map(|b| i32::from(b == b'[') - i32::from(b == b']')).sum::<i32>();
        if open > 0 && end < text.len() {
            continue;
        }
        let piece = &text[start..end];
        start = end;
        let length = piece.trim_end().chars().count();
        if column > 0 && ((piece.starts_with("domain:") && too_long) || column + length > width) {
            out.truncate(out.trim_end().len());
            out.push_str("\n  ");
            column = 2;
        }
        out.push_str(piece);
        column += piece.chars().count();
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::parse_map;

    #[track_caller]
    fn check(text: &str, expect: &str) {
        assert_eq!(domain_short(&parse_map(text).unwrap(), PrintStyle::Floordiv), expect);
    }

    #[test]
    fn short_domains() {
        check("(d0, d1) -> (d0), domain: d0 in [0, 9], d1 in [0, 19]", "d0 ≤ 9, d1 ≤ 19");
        check(
            "(d0, d1)[s0] -> (d0), domain: d0 in [2, 9], d1 in [0, 0], s0 in [-3, 4], (d0 - 1) mod 2 in [0, 0], d0 + s0 in [0, 20]",
            "2 ≤ d0 ≤ 9, d1 = 0, -3 ≤ s0 ≤ 4, (d0 - 1) mod 2 = 0, d0 + s0 ≤ 20",
        );
        check("KNOWN EMPTY", "empty");
        check("() -> (4)", "");
    }

    #[test]
    fn wraps_at_commas() {
        let text = "(d0, d1) -> (d0, d1), domain: d0 in [0, 9], d1 in [0, 19]";
        assert_eq!(wrap(text, 100), text);
        assert_eq!(wrap(text, 30), "(d0, d1) -> (d0, d1),\n  domain: d0 in [0, 9],\n  d1 in [0, 19]");
    }
}
