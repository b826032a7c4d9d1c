//! Reduces inputs that fail.

/// The number of attempts for one failure.
const MAX_ATTEMPTS: usize = 400;

/// Removes elements as long as `fails` holds: halves first, then quarters, down to single ones.
pub fn list<T: Clone>(all: &[T], mut fails: impl FnMut(&[T]) -> bool) -> Vec<T> {
    let mut kept = all.to_vec();
    let mut chunk = kept.len().div_ceil(2);
    let mut attempts = 0;
    while chunk > 0 && !kept.is_empty() {
        let (mut at, mut is_smaller) = (0, false);
        while at < kept.len() && attempts < MAX_ATTEMPTS {
            let end = (at + chunk).min(kept.len());
            let without: Vec<T> = kept[..at].iter().chain(&kept[end..]).cloned().collect();
            attempts += 1;
            match fails(&without) {
                true => (kept, is_smaller) = (without, true),
                false => at = end,
            }
        }
        if attempts >= MAX_ATTEMPTS || chunk == 1 && !is_smaller {
            break;
        }
        chunk = if is_smaller { chunk.min(kept.len()) } else { chunk.div_ceil(2) };
    }
    kept
}

/// Removes lines, then characters, as long as `fails` holds.
pub fn text(text: &str, mut fails: impl FnMut(&str) -> bool) -> String {
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let lines = list(&lines, |lines| fails(&lines.concat())).concat();
    let characters: Vec<char> = lines.chars().collect();
    list(&characters, |kept| fails(&kept.iter().collect::<String>())).into_iter().collect()
}

#[cfg(test)]
mod tests {
    #[test]
    fn what_is_not_needed_goes() {
        let small = super::text("one\ntwo three\nfour\n", |text| text.contains("three"));
        assert_eq!(small, "three");
        assert_eq!(super::list(&[1, 2, 3, 4, 5], |kept| kept.contains(&2) && kept.contains(&5)), [2, 5]);
    }
}
