//! What was meant where a name is not known.

/// The one candidate nearest to `name`: at most two letters apart, and no other as near.
pub(crate) fn nearest<'a>(name: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    // Of a short name too little would be left.
    let limit = match name.len() {
        0..=2 => return None,
        3..=4 => 1,
        _ => 2,
    };
    let mut best: Option<(usize, &str)> = None;
    let mut is_unique = true;
    for candidate in candidates.filter(|c| c.len().abs_diff(name.len()) <= limit) {
        let Some(distance) = distance(name.as_bytes(), candidate.as_bytes(), limit) else { continue };
        match best {
            Some((least, _)) if distance > least => {}
            Some((least, _)) if distance == least => is_unique = false,
            _ => (best, is_unique) = (Some((distance, candidate)), true),
        }
    }
    best.filter(|_| is_unique).map(|(_, candidate)| candidate)
}

/// Letters to insert, remove, replace or swap with a neighbour; nothing beyond `limit`.
fn distance(a: &[u8], b: &[u8], limit: usize) -> Option<usize> {
    let mut before: Vec<usize> = vec![0; b.len() + 1];
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i; b.len() + 1];
        for j in 1..=b.len() {
            let replaced = last[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            row[j] = replaced.min(last[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                row[j] = row[j].min(before[j - 2] + 1);
            }
        }
        if row.iter().all(|&n| n > limit) {
            return None;
        }
        before = std::mem::replace(&mut last, row);
    }
    last.last().copied().filter(|&n| n <= limit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_name_is_meant_if_there_is_one() {
        let find = |name: &str, all: &[&'static str]| nearest(name, all.iter().copied());
        assert_eq!(find("mutliply.3", &["multiply.3", "add.3"]), Some("multiply.3"));
        assert_eq!(find("arg2", &["arg0", "arg1"]), None, "two are as near");
        assert_eq!(find("add.12", &["add.1", "add.12345"]), Some("add.1"));
        assert_eq!(find("x", &["y"]), None, "nothing is left of x");
    }
}
