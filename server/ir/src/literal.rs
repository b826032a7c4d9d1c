//! The elements of literals of arrays.

/// The elements of a literal in row-major order, as written: `1`, `-inf`, `nan(0x1)`, `(1, 2)`, `...` for those that
/// the text leaves out. Braces, commas, comments and a shape in front of the braces are none.
///
/// `{ /*i0=0*/ {1, 2} }` has the elements `1` and `2`.
pub fn literal_elements(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = match text.split_once('{') {
        Some((shape, _)) if shape.contains('[') => &text[shape.len()..],
        _ => text,
    };
    let is_between = |c: char| c.is_whitespace() || matches!(c, '{' | '}' | ',');
    std::iter::from_fn(move || {
        loop {
            rest = rest.trim_start_matches(is_between);
            match rest.strip_prefix("/*") {
                Some(comment) => rest = comment.split_once("*/").map_or("", |(_, behind)| behind),
                None => break,
            }
        }
        let mut depth = 0usize;
        let end = rest.char_indices().find(|&(at, c)| {
            match c {
                '(' => depth += 1,
                ')' => depth = depth.saturating_sub(1),
                _ => {}
            }
            depth == 0 && (is_between(c) || rest[at..].starts_with("/*"))
        });
        let (element, behind) = rest.split_at(end.map_or(rest.len(), |(at, _)| at));
        rest = behind;
        (!element.is_empty()).then_some(element)
    })
}

/// The two parts of a complex element: `1` and `-2` of `(1, -2)`.
pub fn complex_parts(element: &str) -> Option<(&str, &str)> {
    let (real, imaginary) = element.trim().strip_prefix('(')?.strip_suffix(')')?.split_once(',')?;
    Some((real.trim(), imaginary.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expect: &[&str]) {
        assert_eq!(literal_elements(text).collect::<Vec<_>>(), expect, "{text}");
    }

    #[test]
    fn elements_are_what_is_no_brace_comma_comment_or_shape() {
        check("5", &["5"]);
        check("", &[]);
        check("{ { 1, -2 }, { 3, inf } }", &["1", "-2", "3", "inf"]);
        check("{ /*i0=0*/ {1},\n /*i0=1*/ {2/*last*/} }", &["1", "2"]);
        check("f32[2] {1, 2}", &["1", "2"]);
        check("{(1, 2), (nan(0x1), -0)}", &["(1, 2)", "(nan(0x1), -0)"]);
        check("{...}", &["..."]);
        check("{1, /* open", &["1"]);
        check("{(1, 2", &["(1, 2"]);
        assert_eq!(complex_parts("(nan(0x1), -0)"), Some(("nan(0x1)", "-0")));
        assert_eq!(complex_parts("1"), None);
    }
}
