//! Exchanges between the lanes of a warp: shuffles, votes, reductions.

use super::accesses::each_lane;
use super::atomics::combine;
use super::block::Machine;
use super::lanes::Words;
use super::program::*;
use super::warp::Warp;

impl Machine<'_, '_> {
    /// Executes an exchange. All lanes that the instruction names are present.
    pub(crate) fn exchange(&mut self, warp: &mut Warp, op: &DecodedOp, step: u32, active: u32) {
        match *op {
            DecodedOp::Shuffle { mode, to, found, from: [value, by, limits], .. } => {
                for slot in [value, by, limits] {
                    self.unknown_register(Warp::unknown(&warp.known_words, slot, active), step, warp);
                }
                let (values, by, limits) = (*warp.word(value), *warp.word(by), *warp.word(limits));
                let mut inside = 0;
                let mut result: Words = [0; 32];
                each_lane(active, |lane| {
                    let i = lane as usize;
                    let source = source(mode, lane, by[i], limits[i]);
                    inside |= u32::from(source.is_some()) << lane;
                    let source = source.unwrap_or(lane);
                    // A lane that does not participate has no value to give.
                    if active >> source & 1 == 0 {
                        self.finding("inactive-shuffle", step, warp, 1 << lane, || {
                            format!("takes the value of lane {source}, which does not take part")
                        });
                    }
                    result[i] = values[source as usize];
                });
                warp.put_words(to, &result, u32::MAX, active);
                warp.put_lanes(found, inside, active);
            }
            DecodedOp::Vote { mode, to, of, .. } => {
                let holds = self.holds(warp, of, step, active) & active;
                match mode {
                    Vote::Ballot => warp.put_words(to, &[holds; 32], u32::MAX, active),
                    Vote::All => warp.put_lanes(to, all(holds == active), active),
                    Vote::Any => warp.put_lanes(to, all(holds != 0), active),
                    Vote::Uniform => warp.put_lanes(to, all(holds == 0 || holds == active), active),
                }
            }
            DecodedOp::Reduce { update, kind, to, from, .. } => {
                self.unknown_register(Warp::unknown(&warp.known_words, from, active), step, warp);
                let values = *warp.word(from);
                let mut sum: Option<u64> = None;
                each_lane(active, |lane| {
                    let value = u64::from(values[lane as usize]);
                    sum = Some(sum.map_or(value, |sum| combine(update, kind, 32, sum, value, 0)));
                });
                warp.put_words(to, &[sum.unwrap_or(0) as u32; 32], u32::MAX, active);
            }
            _ => (),
        }
    }
}

fn all(holds: bool) -> u32 {
    if holds { u32::MAX } else { 0 }
}

/// The lane whose value `lane` takes, if it is within the limits.
fn source(mode: Shuffle, lane: u32, by: u32, limits: u32) -> Option<u32> {
    let (by, clamp, segment) = (by & 31, limits & 31, limits >> 8 & 31);
    let highest = (lane & segment) | (clamp & !segment);
    let lowest = lane & segment;
    match mode {
        Shuffle::Up => lane.checked_sub(by).filter(|&source| source >= highest),
        Shuffle::Down => Some(lane + by).filter(|&source| source <= highest),
        Shuffle::Butterfly => Some(lane ^ by).filter(|&source| source <= highest),
        Shuffle::Index => Some(lowest | (by & !segment)).filter(|&source| source <= highest),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lanes_of_shuffles() {
        assert_eq!(source(Shuffle::Down, 3, 16, 31), Some(19));
        assert_eq!(source(Shuffle::Down, 20, 16, 31), None);
        assert_eq!(source(Shuffle::Up, 3, 1, 0), Some(2));
        assert_eq!(source(Shuffle::Up, 0, 1, 0), None);
        assert_eq!(source(Shuffle::Butterfly, 5, 1, 31), Some(4));
        assert_eq!(source(Shuffle::Index, 9, 3, 31), Some(3));
        // Segments of 8 lanes.
        let segments = 0x1800 | 31;
        assert_eq!(source(Shuffle::Down, 7, 1, segments), None);
        assert_eq!(source(Shuffle::Index, 9, 3, segments), Some(11));
    }
}
