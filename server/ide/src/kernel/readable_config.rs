//! A backend configuration, broken into lines: `{"kind":"__triton","block_m":"64"}` becomes two lines without
//! quotes.

/// Longer configurations are cut.
const MAX_BYTES: usize = 64 * 1024;

enum Token {
    Open(char),
    Close,
    Comma,
    Colon,
    Word(String),
}

/// One value per line, members of a group indented by two blanks; a list of plain values stays on one line.
/// Accepts any text: unbalanced brackets are tolerated.
pub(crate) fn readable_config(text: &str) -> Vec<String> {
    let mut end = text.len().min(MAX_BYTES);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let tokens = tokens(&unquoted(text[..end].trim()));
    let mut lines = vec![String::new()];
    let mut depth = 0usize;
    let mut at = 0;
    while let Some(token) = tokens.get(at) {
        match token {
            Token::Open(open) => match plain_list(&tokens[at + 1..], *open) {
                Some((list, len)) => {
                    append(&mut lines, depth, &list);
                    at += len;
                }
                // The outermost braces, and those after a name, are shown by the indentation.
                None => {
                    let last = lines.last().is_some_and(|line| line.ends_with(": "));
                    if last {
                        trim_end(&mut lines);
                        depth += 1;
                    } else if at > 0 {
                        append(&mut lines, depth, "-");
                        depth += 1;
                    }
                    lines.push(String::new());
                }
            },
            Token::Close => {
                depth = depth.saturating_sub(1);
                lines.push(String::new());
            }
            Token::Comma => lines.push(String::new()),
            Token::Colon => append(&mut lines, depth, ": "),
            Token::Word(word) => append(&mut lines, depth, word),
        }
        at += 1;
    }
    trim_end(&mut lines);
    lines.retain(|line| !line.trim().is_empty());
    // Members of a list that were opened but are empty.
    while lines.last().is_some_and(|line| line.trim() == "-") {
        lines.pop();
    }
    if end < text.len() {
        lines.push("…".to_owned());
    }
    lines
}

fn trim_end(lines: &mut [String]) {
    if let Some(last) = lines.last_mut() {
        last.truncate(last.trim_end().len());
    }
}

fn append(lines: &mut Vec<String>, depth: usize, text: &str) {
    if lines.is_empty() {
        lines.push(String::new());
    }
    if let Some(last) = lines.last_mut() {
        if last.is_empty() {
            *last = "  ".repeat(depth.min(32));
        }
        last.push_str(text);
    }
}

/// A flat list or group on one line, and its number of tokens.
fn plain_list(tokens: &[Token], open: char) -> Option<(String, usize)> {
    let mut words: Vec<&str> = Vec::new();
    for (n, token) in tokens.iter().enumerate() {
        match token {
            Token::Word(word) => words.push(word),
            Token::Comma if open == '[' => {}
            Token::Close if open == '[' || words.is_empty() => {
                return Some((format!("[{}]", words.join(", ")), n + 1));
            }
            _ => return None,
        }
    }
    None
}

/// A configuration may be a string that contains the text.
fn unquoted(text: &str) -> String {
    let inner = text.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
    let Some(inner) = inner else { return text.to_owned() };
    let mut out = String::new();
    let mut chars = inner.chars();
    while let Some(c) = chars.next() {
        match (c, c == '\\') {
            (_, true) => out.extend(chars.next().map(|c| if c == 'n' { '\n' } else { c })),
            (c, false) => out.push(c),
        }
    }
    out
}

fn tokens(text: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut word = String::new();
    let mut chars = text.chars();
    let flush = |word: &mut String, tokens: &mut Vec<Token>| {
        if !word.trim().is_empty() {
            tokens.push(Token::Word(word.trim().to_owned()));
        }
        word.clear();
    };
    while let Some(c) = chars.next() {
        let token = match c {
            '{' | '[' => Token::Open(c),
            '}' | ']' => Token::Close,
            ',' => Token::Comma,
            ':' => Token::Colon,
            '"' => {
                let mut text = String::new();
                while let Some(c) = chars.next().filter(|&c| c != '"') {
                    match c {
                        '\\' => text.extend(chars.next()),
                        c if c.is_control() => text.push(' '),
                        c => text.push(c),
                    }
                }
                // An empty string is a value too.
                word.push_str(if text.is_empty() { "\"\"" } else { &text });
                continue;
            }
            c => {
                word.push(if c.is_control() { ' ' } else { c });
                continue;
            }
        };
        flush(&mut word, &mut tokens);
        tokens.push(token);
    }
    flush(&mut word, &mut tokens);
    tokens
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(config: &str, expect: &[&str]) {
        assert_eq!(readable_config(config), expect);
    }

    #[test]
    fn groups_are_indented_and_lists_stay() {
        let triton = r#"{"operation_queue_id":"0","fusion_backend_config":{"kind":"__triton","block_level_fusion_config":{"num_warps":"4","output_tiles":[{"sizes":["1","128"]}]}},"force_earliest_schedule":false}"#;
        check(
            triton,
            &[
                "operation_queue_id: 0",
                "fusion_backend_config:",
                "  kind: __triton",
                "  block_level_fusion_config:",
                "    num_warps: 4",
                "    output_tiles:",
                "      -",
                "        sizes: [1, 128]",
                "force_earliest_schedule: false",
            ],
        );
        check(r#"{"a":[],"b":{},"c":""}"#, &["a: []", "b: []", "c: \"\""]);
    }

    #[test]
    fn any_text_is_shown() {
        check(r#""{\"a\": [1,2]}""#, &["a: [1, 2]"]);
        check("opaque words", &["opaque words"]);
        check("", &[]);
        check("}}]{", &[]);
        check(r#"{"a":{"b":1"#, &["a:", "  b: 1"]);
        assert!(readable_config(&"{".repeat(200_000)).len() < 3);
        assert!(readable_config(&"{\"é\":[".repeat(20_000)).last().is_some_and(|line| line == "…"));
    }
}
