//! The shape of the nested lists in `dense<[[1, 2], [3, 4]]>`.

/// The nesting of a literal's lists.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ListShape {
    /// Every list at one depth has the same length.
    Even(Vec<i64>),
    Uneven,
}

/// The deepest nesting of lists that is read.
const MAX_DEPTH: usize = 32;

/// The shape of the list at the start of `text`; `None` if there is none, or if it is not closed. Complex
/// numbers are pairs in parentheses and count as one element.
pub(crate) fn list_shape(text: &str) -> Option<ListShape> {
    let bytes = text.as_bytes();
    // For each open list: the number of commas, and whether it has elements.
    let mut open: Vec<(i64, bool)> = Vec::new();
    let mut shape: Vec<Option<i64>> = Vec::new();
    let mut leaves: Option<usize> = None;
    let mut is_even = true;
    let mut at = bytes.iter().position(|b| !b.is_ascii_whitespace())?;
    if bytes[at] != b'[' {
        return None;
    }
    while at < bytes.len() {
        let depth = open.len();
        match bytes[at] {
            b'[' => {
                if let Some(list) = open.last_mut() {
                    list.1 = true;
                }
                if depth == MAX_DEPTH {
                    return None;
                }
                open.push((0, false));
                if shape.len() == depth {
                    shape.push(None);
                }
            }
            b']' => {
                let (commas, is_filled) = open.pop()?;
                let count = commas + i64::from(is_filled);
                let extent = shape[depth - 1].get_or_insert(count);
                is_even &= *extent == count;
                if open.is_empty() {
                    let even = || shape.into_iter().collect::<Option<Vec<_>>>();
                    return if is_even { even().map(ListShape::Even) } else { Some(ListShape::Uneven) };
                }
            }
            b',' => open.last_mut()?.0 += 1,
            b if b.is_ascii_whitespace() => {}
            byte => {
                open.last_mut()?.1 = true;
                is_even &= *leaves.get_or_insert(depth) == depth;
                match byte {
                    b'(' => at += bytes[at..].iter().position(|&b| b == b')')?,
                    b'"' => at += 1 + bytes[at + 1..].iter().position(|&b| b == b'"')?,
                    _ => {}
                }
            }
        }
        at += 1;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_have_shapes() {
        let even = |shape: &[i64]| Some(ListShape::Even(shape.to_vec()));
        assert_eq!(list_shape("[1.0, -2e3, 0x7F]> : x"), even(&[3]));
        assert_eq!(list_shape(" [[(1, 2), (3, 4)]]"), even(&[1, 2]));
        assert_eq!(list_shape("[\"a]\", \"b\"]"), even(&[2]));
        assert_eq!(list_shape("[]"), even(&[0]));
        assert_eq!(list_shape("[[1, 2], [3]]"), Some(ListShape::Uneven));
        assert_eq!(list_shape("[1, [2]]"), Some(ListShape::Uneven));
        for text in ["1.0>", "\"0x00\">", "", "[1, 2", "]"] {
            assert_eq!(list_shape(text), None, "{text}");
        }
    }
}
