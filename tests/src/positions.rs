//! Lines and columns as editors count them, computed independently of the server.

use serde_json::Value;

/// The number of column units of a character.
fn width(c: char, encoding: &str) -> usize {
    match encoding {
        "utf-8" => c.len_utf8(),
        "utf-16" => c.len_utf16(),
        _ => 1,
    }
}

/// The byte offset nearest to a position (`{"line", "character"}`), clamped as the protocol says.
pub fn offset(text: &str, point: &Value, encoding: &str) -> usize {
    let number = |key: &str| point[key].as_u64().unwrap_or_default();
    let wanted = (number("line"), number("character"));
    let (mut best, mut line, mut column) = (0, 0, 0);
    for (at, c) in text.char_indices().chain([(text.len(), ' ')]) {
        let is_inside_line_end = text[..at].ends_with('\r') && c == '\n';
        if (line, column) <= wanted && !is_inside_line_end {
            best = at;
        }
        match c {
            '\n' => (line, column) = (line + 1, 0),
            '\r' if !text[at + 1..].starts_with('\n') => (line, column) = (line + 1, 0),
            '\r' => {}
            c => column += width(c, encoding) as u64,
        }
    }
    best
}

/// Line and column of a byte offset. One between `\r` and `\n` is the end of its line.
pub fn position(text: &str, offset: usize, encoding: &str) -> (usize, usize) {
    let is_inside_line_end = text[..offset].ends_with('\r') && text[offset..].starts_with('\n');
    let offset = offset - usize::from(is_inside_line_end);
    let (mut line, mut column) = (0, 0);
    let mut chars = text[..offset].chars().peekable();
    while let Some(c) = chars.next() {
        let ends_line = c == '\n' || c == '\r' && chars.peek() != Some(&'\n');
        if ends_line {
            (line, column) = (line + 1, 0);
        } else {
            column += width(c, encoding);
        }
    }
    (line, column)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn offsets_and_positions_agree_except_inside_of_a_line_end() {
        let text = "a😀\r\né\rb\n";
        for encoding in ["utf-8", "utf-16", "utf-32"] {
            for at in (0..=text.len()).filter(|&at| text.is_char_boundary(at)) {
                let (line, character) = position(text, at, encoding);
                let found = offset(text, &json!({"line": line, "character": character}), encoding);
                assert_eq!(found, if at == 6 { 5 } else { at }, "{at} in {encoding}");
            }
        }
    }
}
