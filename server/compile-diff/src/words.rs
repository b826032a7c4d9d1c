//! Texts of a report.

/// Longer texts are cut.
const MAX_CHARS: usize = 96;
/// So much of what two long texts start with in common is kept.
const KEPT: usize = 12;

/// Without white space, `%` and comments.
pub(crate) fn squeezed(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("/*") {
        kept.push_str(&rest[..at]);
        rest = rest[at..].find("*/").map_or("", |end| &rest[at + end + 2..]);
    }
    kept.push_str(rest);
    kept.retain(|c| !c.is_whitespace() && c != '%');
    kept
}

/// Two texts that differ, cut so that the difference is seen.
pub(crate) fn apart(one: &str, other: &str) -> (String, String) {
    if one.chars().count().max(other.chars().count()) <= MAX_CHARS {
        return (one.to_owned(), other.to_owned());
    }
    let common = one.chars().zip(other.chars()).take_while(|(a, b)| a == b).count();
    let from = common.saturating_sub(KEPT);
    let cut = |text: &str| {
        let front = if from > 0 { "…" } else { "" };
        let kept: String = text.chars().skip(from).take(MAX_CHARS).collect();
        let back = if text.chars().nth(from + MAX_CHARS).is_some() { "…" } else { "" };
        format!("{front}{kept}{back}")
    };
    (cut(one), cut(other))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_show_where_they_differ() {
        assert_eq!(apart("a", "b"), ("a".into(), "b".into()));
        let long = "x".repeat(200);
        let (one, other) = apart(&format!("{long}a"), &format!("{long}b"));
        assert_eq!((one.as_str(), other.as_str()), ("…xxxxxxxxxxxxa", "…xxxxxxxxxxxxb"));
        assert_eq!(squeezed("{1, /*index=5*/ %a}"), "{1,a}");
    }
}
