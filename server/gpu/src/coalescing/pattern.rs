//! Names for the access patterns of requests.

use std::fmt;

/// The access pattern of a typical request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pattern {
    /// All lanes access one element.
    Uniform,
    /// Lane i + 1 accesses the elements directly after those of lane i.
    Contiguous,
    /// Lane i + 1 is this many elements after lane i.
    Strided(i64),
    /// Some lanes access the same elements, and the accessed elements are adjacent.
    Broadcast,
    /// Runs of this many lanes access adjacent elements; the distance between runs is this many elements.
    Runs {
        lanes: i64,
        step: i64,
    },
    /// Each lane reads its position from memory.
    Gathered,
    Irregular,
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Pattern::Uniform => f.write_str("uniform"),
            Pattern::Contiguous => f.write_str("contiguous"),
            Pattern::Strided(step) => write!(f, "strided by {step}"),
            Pattern::Broadcast => f.write_str("broadcast"),
            Pattern::Runs { lanes, step } => write!(f, "runs of {lanes} lanes, {step} apart"),
            Pattern::Gathered => f.write_str("gathered"),
            Pattern::Irregular => f.write_str("irregular"),
        }
    }
}

/// Classifies the positions of the lanes' first elements, in lane order; each lane accesses `vector`
/// elements.
pub(super) fn pattern_of(starts: &[i64], vector: i64) -> Pattern {
    let mut steps = starts.windows(2).map(|pair| pair[1] - pair[0]);
    let Some(first) = steps.next() else { return Pattern::Uniform };
    if steps.all(|step| step == first) {
        return match first {
            0 => Pattern::Uniform,
            step if step == vector => Pattern::Contiguous,
            step => Pattern::Strided(step),
        };
    }
    if let Some(runs) = runs(starts, vector) {
        return runs;
    }
    let mut sorted = starts.to_vec();
    sorted.sort_unstable();
    sorted.dedup();
    let is_dense = sorted.windows(2).all(|pair| pair[1] - pair[0] == vector);
    if is_dense && sorted.len() < starts.len() { Pattern::Broadcast } else { Pattern::Irregular }
}

fn runs(starts: &[i64], vector: i64) -> Option<Pattern> {
    let breaks = starts.windows(2).position(|pair| pair[1] - pair[0] != vector)?;
    let lanes = breaks + 1;
    let step = starts.get(lanes)? - starts[0];
    let fits = starts.iter().enumerate().all(|(lane, &start)| {
        let (run, inside) = ((lane / lanes) as i64, (lane % lanes) as i64);
        start == starts[0] + run * step + inside * vector
    });
    (lanes > 1 && fits).then_some(Pattern::Runs { lanes: lanes as i64, step })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(start: impl Fn(i64) -> i64, vector: i64, expect: &str) {
        let starts: Vec<i64> = (0..32).map(start).collect();
        assert_eq!(pattern_of(&starts, vector).to_string(), expect);
    }

    #[test]
    fn names() {
        check(|_| 7, 1, "uniform");
        check(|lane| lane + 3, 1, "contiguous");
        check(|lane| lane * 4, 4, "contiguous");
        check(|lane| lane * 512, 1, "strided by 512");
        check(|lane| 31 - lane, 1, "strided by -1");
        check(|lane| lane / 8, 1, "broadcast");
        check(|lane| lane / 8 * 100 + lane % 8, 1, "runs of 8 lanes, 100 apart");
        check(|lane| lane * lane, 1, "irregular");
    }
}
