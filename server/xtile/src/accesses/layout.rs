//! Which elements of a tile each thread holds.

/// The move that a bit of a number makes: a dimension, and by how much. `None` if elements are held several times.
pub(super) type Step = Option<(usize, i64)>;

/// A distribution of a tile, whose sizes are powers of two, among registers and threads: the element is the sum of the steps
/// of the bits that are set. Source: `LinearLayout` of Triton.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Layout {
    pub sizes: Vec<i64>,
    /// The bits of the number of the register of a thread.
    pub registers: Vec<Step>,
    /// The bits of the number of the thread in its block: lanes, then warps.
    pub threads: Vec<Step>,
    /// Whether it is that of the result of a dot on tensor cores.
    pub is_of_dot: bool,
}

/// Bits of the number of a lane.
const LANE_BITS: usize = 5;

fn bits(count: i64) -> usize {
    count.max(1).ilog2() as usize
}

impl Layout {
    /// The blocked layout in which each thread holds `vector` elements along the first dimension of `order`, next to each other,
    /// and lanes and warps follow each other along the dimensions in their order. Source: `BlockedEncodingAttr`.
    pub fn blocked(sizes: &[i64], vector: i64, order: &[usize], warps: i64) -> Layout {
        let own = |dim: usize| if Some(&dim) == order.first() { vector } else { 1 };
        let (mut lanes_left, mut warps_left) = (1 << LANE_BITS, warps.max(1));
        let mut threads_left = lanes_left * warps_left;
        let (mut lanes, mut groups) = (vec![1; sizes.len()], vec![1; sizes.len()]);
        for (at, &dim) in order.iter().enumerate() {
            if at + 1 == order.len() {
                (lanes[dim], groups[dim]) = (lanes_left, warps_left);
                break;
            }
            let wanted = (sizes[dim] / own(dim)).clamp(1, threads_left);
            lanes[dim] = wanted.clamp(1, lanes_left);
            groups[dim] = (wanted / lanes[dim]).clamp(1, warps_left);
            (lanes_left, warps_left) = (lanes_left / lanes[dim], warps_left / groups[dim]);
            threads_left /= wanted;
        }
        let mut next = vec![1; sizes.len()];
        let mut take = |dim: usize, count: i64| -> Vec<Step> {
            let mut step = || {
                let step = next[dim];
                next[dim] *= 2;
                (step < sizes[dim]).then_some((dim, step))
            };
            (0..bits(count)).map(|_| step()).collect()
        };
        let mut registers: Vec<Step> = order.iter().flat_map(|&dim| take(dim, own(dim))).collect();
        let mut threads: Vec<Step> = order.iter().flat_map(|&dim| take(dim, lanes[dim])).collect();
        threads.resize(LANE_BITS, None);
        threads.extend(order.iter().flat_map(|&dim| take(dim, groups[dim])));
        threads.resize(LANE_BITS + bits(warps), None);
        // What one round of the threads does not reach is in further registers.
        let rounds = |dim: usize| sizes[dim] / (own(dim) * lanes[dim] * groups[dim]);
        registers.extend(order.iter().flat_map(|&dim| take(dim, rounds(dim))));
        registers.retain(Option::is_some);
        Layout { sizes: sizes.to_vec(), registers, threads, is_of_dot: false }
    }

    /// The layout of the result of a dot of tiles of two dimensions on tensor cores, of Hopper's groups of warps or as warps
    /// alone. Source: `NvidiaMmaEncodingAttr`, and `getWarpsPerTile` in `AccelerateMatmul.cpp` of Triton.
    pub fn of_dot(sizes: [i64; 2], warps: i64, is_of_warp_groups: bool) -> Layout {
        let [rows, columns] = sizes;
        let mut tiles = if is_of_warp_groups { [4, 1] } else { [1, 1] };
        while tiles[0] * tiles[1] < warps {
            let is_down = match is_of_warp_groups {
                true => rows > 16 * tiles[0],
                false => rows / 16 / tiles[0] >= columns / 16 / tiles[1] && tiles[0] < rows / 16,
            };
            tiles[usize::from(!is_down)] *= 2;
        }
        let width = match is_of_warp_groups {
            true => (columns / tiles[1]).clamp(8, 256),
            false => 8,
        };
        let steps = |dim: usize, first: i64, count: i64| {
            (0..bits(count)).map(move |bit| (dim, first << bit)).filter(|&(dim, step)| step < sizes[dim])
        };
        let within = |dim: usize, step: i64| (step < sizes[dim]).then_some((dim, step));
        let mut registers: Vec<Step> = vec![within(1, 1), within(0, 8)];
        registers.extend(steps(1, 8, width / 8).map(Some));
        registers.extend(steps(1, width * tiles[1], columns / (width * tiles[1])).map(Some));
        registers.extend(steps(0, 16 * tiles[0], rows / (16 * tiles[0])).map(Some));
        registers.retain(Option::is_some);
        let mut threads = vec![within(1, 2), within(1, 4), within(0, 1), within(0, 2), within(0, 4)];
        let down = (0..bits(tiles[0])).map(|bit| within(0, 16 << bit));
        let across = (0..bits(tiles[1])).map(|bit| within(1, width << bit));
        match is_of_warp_groups {
            true => threads.extend(down.chain(across)),
            false => threads.extend(across.chain(down)),
        }
        Layout { sizes: sizes.to_vec(), registers, threads, is_of_dot: true }
    }

    /// The same with each step changed, for a tile of other sizes.
    fn changed(&self, sizes: Vec<i64>, change: impl Fn(usize, i64) -> Step) -> Layout {
        let changed = |steps: &[Step]| -> Vec<Step> {
            steps.iter().map(|step| step.and_then(|(dim, step)| change(dim, step))).collect()
        };
        let mut registers = changed(&self.registers);
        registers.retain(Option::is_some);
        Layout { sizes, registers, threads: changed(&self.threads), is_of_dot: self.is_of_dot }
    }

    /// That of a tile whose elements along some dimensions are repeated to give the tile with this layout.
    pub fn before_broadcast(&self, sizes: &[i64]) -> Layout {
        self.changed(sizes.to_vec(), |dim, step| (step < *sizes.get(dim)?).then_some((dim, step)))
    }

    /// That of the tile without a dimension.
    pub fn without(&self, axis: usize) -> Layout {
        let mut sizes = self.sizes.clone();
        if axis < sizes.len() {
            sizes.remove(axis);
        }
        self.changed(sizes, |dim, step| match dim.cmp(&axis) {
            std::cmp::Ordering::Less => Some((dim, step)),
            std::cmp::Ordering::Equal => None,
            std::cmp::Ordering::Greater => Some((dim - 1, step)),
        })
    }

    /// That of the same elements, in row-major order, with other sizes.
    pub fn reshaped(&self, sizes: &[i64]) -> Layout {
        let weights = |sizes: &[i64]| {
            let mut weights = vec![1; sizes.len()];
            for dim in (1..sizes.len()).rev() {
                weights[dim - 1] = i64::saturating_mul(weights[dim], sizes[dim]);
            }
            weights
        };
        let (old, new) = (weights(&self.sizes), weights(sizes));
        self.changed(sizes.to_vec(), |dim, step| {
            let moved = step.saturating_mul(old[dim]);
            let dim = (0..sizes.len())
                .find(|&dim| new[dim] <= moved && moved < new[dim].saturating_mul(sizes[dim]))?;
            Some((dim, moved / new[dim]))
        })
    }

    /// That of the tile whose dimension `i` is dimension `order[i]` of this one.
    pub fn transposed(&self, order: &[usize]) -> Layout {
        let sizes = order.iter().map(|&dim| self.sizes.get(dim).copied().unwrap_or(1)).collect();
        self.changed(sizes, |dim, step| Some((order.iter().position(|&from| from == dim)?, step)))
    }

    /// That of a tile with further dimensions of size 1, of which dimension `i` of this one is `dims[i]`.
    pub fn spread(&self, dims: &[usize], sizes: &[i64]) -> Layout {
        self.changed(sizes.to_vec(), |dim, step| Some((*dims.get(dim)?, step)))
    }

    /// That of the dimensions of several elements.
    pub fn squeezed(&self) -> Layout {
        let several: Vec<usize> = (0..self.sizes.len()).filter(|&dim| self.sizes[dim] > 1).collect();
        let sizes = several.iter().map(|&dim| self.sizes[dim]).collect();
        self.changed(sizes, |dim, step| Some((several.iter().position(|&known| known == dim)?, step)))
    }

    /// The number of neighbours along `dim` in the first registers of a thread.
    pub fn run(&self, dim: usize) -> i64 {
        let mut run = 1;
        while self.registers.get(bits(run)) == Some(&Some((dim, run))) {
            run *= 2;
        }
        run
    }

    /// The dimension along which neighbours are in the first registers; the last one if registers do not differ.
    pub fn fastest(&self) -> usize {
        let first = self.registers.iter().find_map(|step| step.map(|(dim, _)| dim));
        first.unwrap_or(self.sizes.len().saturating_sub(1))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;

    /// The elements that are held, with the number of their holders.
    fn held(layout: &Layout) -> HashMap<Vec<i64>, usize> {
        let steps: Vec<Step> = layout.registers.iter().chain(&layout.threads).copied().collect();
        let mut held = HashMap::new();
        for number in 0..1usize << steps.len() {
            let mut place = vec![0; layout.sizes.len()];
            for (bit, step) in steps.iter().enumerate() {
                if let Some((dim, step)) = step.filter(|_| number >> bit & 1 == 1) {
                    place[dim] += step;
                }
            }
            *held.entry(place).or_default() += 1;
        }
        held
    }

    #[test]
    fn each_element_is_held_equally_often() {
        let dots = [
            ([16, 8], 2, false),
            ([64, 64], 4, true),
            ([128, 256], 8, true),
            ([32, 64], 4, false),
            ([8, 16], 1, false),
        ];
        for (sizes, warps, is_of_warp_groups) in dots {
            let layout = Layout::of_dot(sizes, warps, is_of_warp_groups);
            assert_eq!(layout.threads.len(), LANE_BITS + bits(warps));
            let held = held(&layout);
            assert_eq!(held.len() as i64, sizes.iter().product::<i64>(), "{layout:?}");
            let times = held[&vec![0, 0]];
            assert!(held.values().all(|&count| count == times), "{layout:?}");
        }
        let orders: [&[usize]; 3] = [&[0, 1, 2], &[2, 1, 0], &[1, 0, 2]];
        for (sizes, warps) in
            [([1, 16, 64], 4), ([8, 2, 1024], 8), ([4, 4, 2], 2), ([1, 1, 1], 1), ([2, 64, 8], 16)]
        {
            for (order, vector) in orders.iter().flat_map(|order| [(order, 1), (order, 2), (order, 8)]) {
                let vector = vector.min(sizes[order[0]]);
                let layout = Layout::blocked(&sizes, vector, order, warps);
                assert_eq!(layout.threads.len(), LANE_BITS + bits(warps));
                let held = held(&layout);
                let times = held[&vec![0, 0, 0]];
                assert_eq!(held.len() as i64, sizes.iter().product::<i64>(), "{layout:?}");
                assert!(held.values().all(|&count| count == times), "{layout:?}");
                assert!(layout.run(order[0]) >= vector, "{layout:?}");
            }
        }
    }

    /// As `#ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>`.
    #[test]
    fn lanes_follow_the_fastest_dimension() {
        let layout = Layout::blocked(&[64, 64], 8, &[1, 0], 4);
        let lanes = [(1, 8), (1, 16), (1, 32), (0, 1), (0, 2)].map(Some);
        assert_eq!(layout.threads[..5], lanes);
        assert_eq!(layout.threads[5..], [Some((0, 4)), Some((0, 8))]);
        assert_eq!(layout.registers, [(1, 1), (1, 2), (1, 4), (0, 16), (0, 32)].map(Some));
        assert_eq!((layout.run(1), layout.run(0), layout.fastest()), (8, 1, 1));
    }
}
