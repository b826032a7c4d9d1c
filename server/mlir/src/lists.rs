//! Splits lists and dictionaries in text at their brackets.

/// The bytes outside of brackets and strings, with their positions.
pub(crate) fn top_level(text: &str) -> impl Iterator<Item = (usize, u8)> + '_ {
    let bytes = text.as_bytes();
    let (mut depth, mut in_string, mut before) = (0usize, false, b' ');
    bytes.iter().enumerate().filter_map(move |(at, &c)| {
        let is_top = depth == 0 && !in_string;
        match c {
            b'"' if before != b'\\' => in_string = !in_string,
            _ if in_string => {}
            // `<=`, as in bounds and device orders, is not a bracket.
            b'<' if bytes.get(at + 1) == Some(&b'=') => {}
            b'<' | b'(' | b'[' | b'{' => depth += 1,
            // The `>` of an arrow is not a bracket.
            b'>' if before == b'-' => {}
            b'>' | b')' | b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        before = if before == b'\\' { b' ' } else { c };
        is_top.then_some((at, c))
    })
}

/// The parts between top-level commas, outside of strings.
pub fn split(list: &str) -> Vec<&str> {
    let (mut parts, mut start) = (Vec::new(), 0);
    for (at, _) in top_level(list).filter(|&(_, c)| c == b',') {
        parts.push(list[start..at].trim());
        start = at + 1;
    }
    if !list[start..].trim().is_empty() {
        parts.push(list[start..].trim());
    }
    parts
}

/// The entries of `{a = 1, b, "c" = [2]}`, where `text` includes the braces; empty if there are none.
pub fn dictionary(text: &str) -> Vec<(&str, &str)> {
    let Some(body) = text.trim().strip_prefix('{').and_then(|t| t.strip_suffix('}')) else {
        return Vec::new();
    };
    let parts = split(body).into_iter().map(|part| match part.split_once('=') {
        Some((name, value)) => (name.trim().trim_matches('"'), value.trim()),
        None => (part.trim_matches('"'), ""),
    });
    parts.collect()
}

/// The braces at the start of `text` with their contents; `None` if it starts with something else.
pub fn braced(text: &str) -> Option<&str> {
    let end = closing(text.strip_prefix('{')?, b'{', b'}')?;
    Some(&text[..end + 2])
}

/// The position of the bracket that closes one before `text`. Brackets in strings are ignored.
pub fn closing(text: &str, open: u8, close: u8) -> Option<usize> {
    let mut depth = 0usize;
    let mut in_string = false;
    let mut before = b' ';
    for (at, &c) in text.as_bytes().iter().enumerate() {
        match c {
            b'"' if before != b'\\' => in_string = !in_string,
            _ if in_string => {}
            _ if c == open => depth += 1,
            _ if c == close && depth == 0 => return Some(at),
            _ if c == close => depth -= 1,
            _ => {}
        }
        before = if before == b'\\' { b' ' } else { c };
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn brackets_and_strings_keep_commas() {
        assert_eq!(split("a<b, c>, \"d, e\", [f->g, h]"), ["a<b, c>", "\"d, e\"", "[f->g, h]"]);
        assert_eq!(split("f32[<=4,2], {devices=[2]<=[2]}, b"), ["f32[<=4,2]", "{devices=[2]<=[2]}", "b"]);
        assert_eq!(
            dictionary("{a = {b = 1, c}, \"d.e\", f = \"}\"}"),
            [("a", "{b = 1, c}"), ("d.e", ""), ("f", "\"}\"")]
        );
        assert_eq!(braced("{a = \"}\" {}} rest"), Some("{a = \"}\" {}}"));
        assert_eq!(braced("{a"), None);
    }
}
