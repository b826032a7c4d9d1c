//! Lines and columns as editors count them, computed independently of the server.

/// The number of column units of a character.
fn width(c: char, encoding: &str) -> usize {
    match encoding {
        "utf-8" => c.len_utf8(),
        "utf-16" => c.len_utf16(),
        _ => 1,
    }
}

/// Line and column of a byte offset.
pub fn position(text: &str, offset: usize, encoding: &str) -> (usize, usize) {
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
