//! Messages about unknown words, with a suggestion.

/// `unknown opcode: subtrct; did you mean subtract?`
pub(super) fn unknown(what: &str, word: &str, known: impl Iterator<Item = &'static str>) -> String {
    let near = known.map(|name| (distance(word, name), name)).min();
    match near.filter(|&(distance, name)| distance <= 2 && distance < name.len().min(word.len())) {
        Some((_, name)) => format!("unknown {what}: {word}; did you mean {name}?"),
        None => format!("unknown {what}: {word}"),
    }
}

/// Returns the edit distance of two words: the number of letters inserted, removed or replaced; one swap of
/// neighbours counts as 1. Returns `FAR` if the lengths differ by at least that much.
fn distance(a: &str, b: &str) -> usize {
    const FAR: usize = 3;
    if a.len().abs_diff(b.len()) >= FAR {
        return FAR;
    }
    let is_swapped = |at: usize| {
        let mut letters = a.as_bytes().to_vec();
        letters.swap(at, at + 1);
        letters == b.as_bytes()
    };
    if (1..a.len()).any(|behind| is_swapped(behind - 1)) {
        return 1;
    }
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.bytes().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], i + 1);
        for (j, y) in b.bytes().enumerate() {
            let replaced = diagonal + usize::from(x != y);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(row[j + 1] + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_that_are_near_are_suggested() {
        let of = |word| unknown("opcode", word, ["add", "subtract", "slice"].into_iter());
        assert_eq!(of("subtrct"), "unknown opcode: subtrct; did you mean subtract?");
        assert_eq!(of("slcie"), "unknown opcode: slcie; did you mean slice?");
        assert_eq!(
            unknown("element type", "f23", ["f16", "f32"].into_iter()),
            "unknown element type: f23; did you mean f32?"
        );
        assert_eq!(of("frobnicate"), "unknown opcode: frobnicate");
        assert_eq!(of("x"), "unknown opcode: x");
    }
}
