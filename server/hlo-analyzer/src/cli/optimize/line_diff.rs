//! The lines in which two texts differ.

use std::collections::HashMap;
use std::fmt::Write as _;

/// How many equal lines are shown around a difference.
const CONTEXT: usize = 2;

/// Lines of `before` with `-`, of `after` with `+`, and equal ones around them; empty where the texts are equal. Skipped lines
/// are counted in `@@ 12 lines @@`. Time is n log n in the lines.
pub fn unified(before: &str, after: &str) -> String {
    let before: Vec<&str> = before.lines().collect();
    let after: Vec<&str> = after.lines().collect();
    let lines = signed(&before, &after);
    let mut is_shown = vec![false; lines.len()];
    for at in (0..lines.len()).filter(|&at| lines[at].0 != ' ') {
        is_shown[at.saturating_sub(CONTEXT)..(at + CONTEXT + 1).min(lines.len())].fill(true);
    }
    let mut out = String::new();
    let mut skipped = 0;
    for (&(sign, line), is_shown) in lines.iter().zip(is_shown) {
        if !is_shown {
            skipped += 1;
            continue;
        }
        if skipped > 0 && !out.is_empty() {
            _ = writeln!(out, "@@ {skipped} lines @@");
        }
        skipped = 0;
        _ = writeln!(out, "{sign}{line}");
    }
    out
}

/// All lines of both texts with their signs; equal ones once.
fn signed<'a>(before: &[&'a str], after: &[&'a str]) -> Vec<(char, &'a str)> {
    let mut lines = Vec::new();
    let (mut left, mut right) = (0, 0);
    for (at, of) in anchors(before, after).into_iter().chain([(before.len(), after.len())]) {
        lines.extend(before[left..at].iter().map(|line| ('-', *line)));
        lines.extend(after[right..of].iter().map(|line| ('+', *line)));
        lines.extend(before.get(at).map(|line| (' ', *line)));
        (left, right) = (at + 1, of + 1);
    }
    lines
}

/// Pairs of equal lines, ascending in both texts: those that occur once in each, as many as keep the order, and equal ones next
/// to them.
fn anchors(before: &[&str], after: &[&str]) -> Vec<(usize, usize)> {
    let mut places: HashMap<&str, [(usize, usize); 2]> = HashMap::new();
    for (side, lines) in [before, after].into_iter().enumerate() {
        for (at, line) in lines.iter().enumerate() {
            let (count, last) = &mut places.entry(line).or_default()[side];
            (*count, *last) = (*count + 1, at);
        }
    }
    let unique = before.iter().enumerate().filter_map(|(at, line)| match places[line] {
        [(1, _), (1, other)] => Some((at, other)),
        _ => None,
    });
    let unique: Vec<(usize, usize)> = unique.collect();
    let mut pairs = Vec::new();
    let (mut left, mut right) = (0, 0);
    for (at, of) in ascending(&unique).into_iter().chain([(before.len(), after.len())]) {
        // Equal lines behind the last pair, then those in front of this one.
        while left < at && right < of && before[left] == after[right] {
            pairs.push((left, right));
            (left, right) = (left + 1, right + 1);
        }
        let room = (at - left).min(of - right);
        let equal = (1..=room).take_while(|&n| before[at - n] == after[of - n]).count();
        pairs.extend((0..equal).rev().map(|n| (at - n - 1, of - n - 1)));
        if at < before.len() {
            pairs.push((at, of));
        }
        (left, right) = (at + 1, of + 1);
    }
    pairs
}

/// The longest run of pairs, ascending in the first number, that ascends in the second too.
fn ascending(pairs: &[(usize, usize)]) -> Vec<(usize, usize)> {
    // Per length the pair that ends a run of it with the smallest second number, and the pair before each.
    let mut ends: Vec<usize> = Vec::new();
    let mut previous = vec![None; pairs.len()];
    for (index, &(_, second)) in pairs.iter().enumerate() {
        let length = ends.partition_point(|&end| pairs[end].1 < second);
        previous[index] = length.checked_sub(1).map(|length| ends[length]);
        match ends.get_mut(length) {
            Some(end) => *end = index,
            None => ends.push(index),
        }
    }
    let mut run = Vec::new();
    let mut at = ends.last().copied();
    while let Some(index) = at {
        run.push(pairs[index]);
        at = previous[index];
    }
    run.reverse();
    run
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_differences_and_their_surroundings_are_shown() {
        let before = "a\nb\nc\nd\ne\nf\ng\nh\ni\n";
        let after = "a\nb\nx\nd\ne\nf\ng\nh\n";
        assert_eq!(unified(before, after), " a\n b\n-c\n+x\n d\n e\n@@ 1 lines @@\n g\n h\n-i\n");
        assert_eq!(unified(before, before), "");
        assert_eq!(unified("", "a\n"), "+a\n");
    }

    #[test]
    fn the_lines_of_both_texts_are_in_the_diff() {
        // All texts of at most four lines over two words, against each other.
        let word = |bits: u32, at: u32| if bits >> at & 1 == 1 { "a" } else { "b" };
        let text = |bits: u32| (0..bits.ilog2()).map(|at| word(bits, at)).collect();
        let texts: Vec<Vec<&str>> = (2..32).map(text).collect();
        for before in &texts {
            for after in &texts {
                let lines = signed(before, after);
                let of = |sign: char| -> Vec<&str> {
                    lines.iter().filter(|line| line.0 == sign || line.0 == ' ').map(|line| line.1).collect()
                };
                assert_eq!((of('-'), of('+')), (before.clone(), after.clone()), "{lines:?}");
            }
        }
    }
}
