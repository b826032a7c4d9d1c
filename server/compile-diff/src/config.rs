//! The members of a `backend_config`, so that a change of one of them is named.

/// Deeper members belong to the text of the one above.
const MAX_DEPTH: usize = 16;

/// A figure of XLA's cost model, which decides nothing.
const NOTES: [&str; 1] = ["reification_cost"];

/// Path and value of each member: `{"a":{"b":"1"}}` has `a.b` = `1`. Any text is accepted; one that is no JSON object is a
/// member without a path.
pub(crate) fn members(config: &str) -> Vec<(String, String)> {
    let text = unquoted(config.trim());
    let mut found = Vec::new();
    if !text.starts_with('{') {
        found.push((String::new(), text));
        return found;
    }
    let mut path: Vec<String> = Vec::new();
    let mut word = String::new();
    let mut key: Option<String> = None;
    let mut in_text = false;
    // Brackets of lists that are open inside of a value.
    let mut lists = 0usize;
    let mut escaped = false;
    for c in text.chars() {
        if in_text {
            let ends = c == '"' && !escaped;
            escaped = c == '\\' && !escaped;
            in_text = !ends;
            if !ends || lists > 0 {
                word.push(c);
            }
            continue;
        }
        match c {
            '"' => {
                in_text = true;
                if lists > 0 {
                    word.push(c);
                }
            }
            '[' => {
                lists += 1;
                word.push(c);
            }
            ']' => {
                lists = lists.saturating_sub(1);
                word.push(c);
            }
            _ if lists > 0 => word.extend(Some(c).filter(|c| !c.is_whitespace())),
            '{' if path.len() < MAX_DEPTH => {
                if let Some(key) = key.take() {
                    path.push(key);
                } else {
                    path.push(String::new());
                }
            }
            ':' if key.is_none() => key = Some(std::mem::take(&mut word)),
            ',' | '}' => {
                add(&mut found, &path, key.take(), std::mem::take(&mut word));
                if c == '}' {
                    path.pop();
                }
            }
            _ => word.extend(Some(c).filter(|c| !c.is_whitespace())),
        }
    }
    add(&mut found, &path, key, word);
    found
}

/// Older versions of XLA print the configuration as a string.
fn unquoted(text: &str) -> String {
    match text.strip_prefix('"').and_then(|text| text.strip_suffix('"')) {
        Some(inner) if inner.starts_with('{') => inner.replace("\\\"", "\"").replace("\\\\", "\\"),
        _ => text.to_owned(),
    }
}

fn add(found: &mut Vec<(String, String)>, path: &[String], key: Option<String>, value: String) {
    let Some(key) = key else { return };
    if !NOTES.contains(&key.as_str()) && !path.iter().any(|part| NOTES.contains(&part.as_str())) {
        let parts: Vec<&str> = path.iter().map(String::as_str).chain([key.as_str()]).collect();
        let parts: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
        found.push((parts.join("."), value));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_have_paths() {
        let config = r#"{"fusion_backend_config":{"kind":"__triton","block":{"sizes":["1","64"], "num_warps":"4"}},"reification_cost":[{"end_to_end_cycles":6}]}"#;
        let found: Vec<String> =
            members(config).iter().map(|(path, value)| format!("{path} = {value}")).collect();
        assert_eq!(
            found,
            [
                "fusion_backend_config.kind = __triton",
                "fusion_backend_config.block.sizes = [\"1\",\"64\"]",
                "fusion_backend_config.block.num_warps = 4"
            ]
        );
        assert_eq!(members("\"opaque\""), [(String::new(), "\"opaque\"".to_owned())]);
        assert_eq!(members(r#""{\"a\":\"1\"}""#), [("a".to_owned(), "1".to_owned())]);
        for broken in ["{", "{\"a", "}{}]", "{\"a\":[", "{{{{\"a\":1}"] {
            members(broken);
        }
    }
}
