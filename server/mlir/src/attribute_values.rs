//! Numbers in attributes, in every form: `array<i64: 1, 2>`, `[1, 2]`, `dense<1> : tensor<2xi64>`, `1 : i64`,
//! and fields of `#stablehlo.dot<lhs_batching_dimensions = [0], …>`.

use crate::array_type::ArrayType;

/// The largest number of list elements that are read: lists of dimensions are short.
const MAX_INTEGERS: usize = 4096;

/// The integers of a list, flattened, in text order; `None` if it is not a list of integers.
pub fn integers(value: &str) -> Option<Vec<i64>> {
    let value = value.trim();
    if let Some(body) = value.strip_prefix("array<") {
        let body = body.split_once('>')?.0;
        return numbers(body.split_once(':').map_or("", |(_, numbers)| numbers));
    }
    if let Some(body) = value.strip_prefix("dense<") {
        let (body, behind) = body.split_once('>')?;
        let found = numbers(body)?;
        let ty = behind.trim_start().strip_prefix(':').and_then(|ty| ArrayType::parse(ty.trim()).ok());
        let count = ty.and_then(|ty| ty.elements());
        return match (found.as_slice(), count) {
            (&[splat], Some(count)) if !body.contains('[') => {
                let count = usize::try_from(count).ok().filter(|&n| n <= MAX_INTEGERS)?;
                Some(vec![splat; count])
            }
            (_, Some(0)) => Some(Vec::new()),
            _ => Some(found),
        };
    }
    numbers(value.strip_prefix('[')?.rsplit_once(']')?.0)
}

fn numbers(text: &str) -> Option<Vec<i64>> {
    let words = text.split(|c: char| c == ',' || c == '[' || c == ']' || c.is_whitespace());
    let mut found = Vec::new();
    for word in words.filter(|w| !w.is_empty()) {
        if found.len() == MAX_INTEGERS {
            return None;
        }
        found.push(match word {
            "true" => 1,
            "false" => 0,
            _ => word.parse().ok()?,
        });
    }
    Some(found)
}

/// `1 : i64`, `true`.
pub fn integer(value: &str) -> Option<i64> {
    match value.split(':').next()?.trim() {
        "true" => Some(1),
        "false" => Some(0),
        number => number.parse().ok(),
    }
}

/// The text of a field of `#stablehlo.gather<offset_dims = [0], index_vector_dim = 1>`.
pub fn field<'t>(value: &'t str, name: &str) -> Option<&'t str> {
    let (_, body) = value.split_once('<')?;
    let body = body.rsplit_once('>')?.0;
    let mut depth = 0usize;
    let mut start = 0;
    for (at, c) in body.char_indices().chain([(body.len(), ',')]) {
        match c {
            '[' | '(' | '<' => depth += 1,
            ']' | ')' | '>' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                if let Some((key, value)) = body[start..at].split_once('=')
                    && key.trim() == name
                {
                    return Some(value.trim());
                }
                start = at + 1;
            }
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_in_all_their_forms() {
        assert_eq!(integers("array<i64: 1, -2>"), Some(vec![1, -2]));
        assert_eq!(integers("array<i64>"), Some(vec![]));
        assert_eq!(integers("[0, 1]"), Some(vec![0, 1]));
        assert_eq!(integers("dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>"), Some(vec![0, 1, 2, 3]));
        assert_eq!(integers("dense<7> : tensor<3xi64>"), Some(vec![7, 7, 7]));
        assert_eq!(integers("dense<> : tensor<0xi64>"), Some(vec![]));
        assert_eq!(integers("dense<7> : tensor<9999999xi64>"), None);
        assert_eq!(integers("[a]"), None);
        assert_eq!(integer("1 : i64"), Some(1));
    }

    #[test]
    fn fields_of_dialect_attributes() {
        let gather = "#stablehlo.gather<offset_dims = [0, 1], index_vector_dim = 1>";
        assert_eq!(field(gather, "offset_dims").and_then(integers), Some(vec![0, 1]));
        assert_eq!(field(gather, "index_vector_dim").and_then(integer), Some(1));
        assert_eq!(field(gather, "other"), None);
    }
}
