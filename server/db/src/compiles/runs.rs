//! Arrays whose values mostly go on as they started: instructions keep their order through a pass.

/// Maps indices to the indices of another array, with a tag. A run of consecutive indices that map to consecutive indices under one
/// tag is one entry.
///
/// Size: 16 bytes per run. A pass that changes 10 instructions of a module makes about 20 runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Runs<T> {
    runs: Vec<Run<T>>,
    len: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Run<T> {
    /// The first index.
    start: u32,
    /// What it maps to, and each further one to the next; all map to nothing if it is [`NOTHING`].
    target: u32,
    tag: T,
}

/// No module has so many instructions: their text would not fit into an offset.
const NOTHING: u32 = u32::MAX;

impl<T: Copy + PartialEq> Runs<T> {
    pub(crate) fn new(values: impl Iterator<Item = (T, Option<u32>)>) -> Runs<T> {
        let mut runs: Vec<Run<T>> = Vec::new();
        let mut len = 0;
        for (tag, target) in values {
            let target = target.unwrap_or(NOTHING);
            let goes_on = runs.last().is_some_and(|run| run.tag == tag && run.at(len) == target);
            if !goes_on {
                runs.push(Run { start: len, target, tag });
            }
            len += 1;
        }
        runs.shrink_to_fit();
        Runs { runs, len }
    }

    pub(crate) fn len(&self) -> u32 {
        self.len
    }

    /// `None` beyond the end.
    pub(crate) fn get(&self, index: u32) -> Option<(T, Option<u32>)> {
        if index >= self.len {
            return None;
        }
        let at = self.runs.partition_point(|run| run.start <= index).checked_sub(1)?;
        let run = self.runs.get(at)?;
        Some((run.tag, Some(run.at(index)).filter(|&target| target != NOTHING)))
    }

    /// The indices that map to `target`, in order.
    pub(crate) fn indices_of(&self, target: u32) -> impl Iterator<Item = u32> {
        self.with_ends().filter_map(move |(run, end)| {
            let index = run.start.checked_add(target.checked_sub(run.target)?)?;
            (run.target != NOTHING && index < end).then_some(index)
        })
    }

    /// Each run, and the first index behind it.
    fn with_ends(&self) -> impl Iterator<Item = (&Run<T>, u32)> {
        self.runs.iter().zip(self.runs.iter().skip(1).map(|run| run.start).chain([self.len]))
    }
}

impl<T> Run<T> {
    fn at(&self, index: u32) -> u32 {
        match self.target {
            NOTHING => NOTHING,
            target => target.saturating_add(index - self.start),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_hold_what_they_were_made_from() {
        let mut random = random::Rng::new(7);
        for _ in 0..200 {
            let len = random.index(40);
            let mut last = 0;
            let values: Vec<(u8, Option<u32>)> = (0..len)
                .map(|_| {
                    last = if random.index(4) == 0 { random.index(50) as u32 } else { last + 1 };
                    (u8::from(random.index(6) == 0), (random.index(8) != 0).then_some(last))
                })
                .collect();
            let runs = Runs::new(values.iter().copied());
            assert_eq!(runs.len() as usize, values.len());
            for (index, value) in values.iter().enumerate() {
                assert_eq!(runs.get(index as u32), Some(*value), "{values:?}");
            }
            assert_eq!(runs.get(values.len() as u32), None);
            for target in 0..60 {
                let maps_to = |(_, value): &(usize, &(u8, Option<u32>))| value.1 == Some(target);
                let expected = values.iter().enumerate().filter(maps_to).map(|(index, _)| index as u32);
                assert!(runs.indices_of(target).eq(expected), "{target} in {values:?}");
            }
        }
    }
}
