//! One request, lane by lane, for "show access pattern".

use super::counter::active_lanes;
use super::counts::Counts;
use super::lanes::{MAX_LANES, Program};
use super::requests::{Vector, request, vector_of};
use super::traffic::Access;

/// The numbers of blocks of the grid, warps of a block, and iterations of a thread's loops.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PictureSizes {
    pub blocks: i64,
    pub warps: i64,
    pub iterations: i64,
}

/// The lanes of one request on memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LanePicture {
    /// Per lane, the bytes that it accesses, as offsets from the start of the array: first, and one past the
    /// last. `None` for an inactive lane.
    pub lanes: Vec<Option<(i64, i64)>>,
    pub counts: Counts,
    pub sizes: PictureSizes,
    /// The block's ids along x, y and z, and the values of the loops.
    pub block: [i64; 3],
    pub iteration: Vec<i64>,
}

impl LanePicture {
    /// The request of one warp of one block in one iteration, by number; numbers are clamped to the last.
    /// Runtime variables have their least value. `None` if the access has no map.
    pub fn of(access: &Access<'_>, block: i64, warp: i64, iteration: i64) -> Option<LanePicture> {
        let map = access.map;
        if !map.is_mapped() || map.num_dims() != 6 || map.results().len() != 1 {
            return None;
        }
        let Vector { elements: vector, is_last_loop } = vector_of(access);
        let product =
            |sizes: [i64; 3]| sizes.iter().try_fold(1i64, |n, &s| n.checked_mul(s)).filter(|&n| n > 0);
        let (blocks, threads) = (product(access.grid)?, product(access.block)?);
        let width = access.threads_per_warp.clamp(1, MAX_LANES as i64);
        let warps = (threads - 1) / width + 1;
        let mut loops: Vec<(i64, i64)> = Vec::new();
        for range in map.ranges() {
            loops.push((range.bounds.lower, i64::try_from(range.bounds.size()).unwrap_or(i64::MAX)));
        }
        if is_last_loop && let Some(last) = loops.last_mut() {
            *last = (0, 1);
        }
        let iterations = loops.iter().fold(1i64, |n, &(_, size)| n.saturating_mul(size)).max(1);
        let sizes = PictureSizes { blocks, warps, iterations };
        let (block, warp) = (block.clamp(0, blocks - 1), warp.clamp(0, warps - 1));
        let mut rest = iteration.clamp(0, iterations - 1);
        let mut values = vec![0; map.variables().len()];
        let block = [
            block % access.grid[0],
            block / access.grid[0] % access.grid[1],
            block / access.grid[0] / access.grid[1],
        ];
        values[3..6].copy_from_slice(&block);
        for (i, &(lower, size)) in loops.iter().enumerate().rev() {
            values[6 + i] = lower + rest % size.max(1);
            rest /= size.max(1);
        }
        let chosen_iteration = values[6..6 + loops.len()].to_vec();
        for (i, variable) in map.runtime().iter().enumerate() {
            values[6 + loops.len() + i] = variable.bounds.lower;
        }
        let first = warp * width;
        let lanes = (threads - first).min(width) as usize;
        let [x, y, _] = access.block;
        let of_axis = |id: &dyn Fn(i64) -> i64| std::array::from_fn(|lane| id(first + lane as i64));
        let ids = [of_axis(&|t| t % x), of_axis(&|t| t / x % y), of_axis(&|t| t / x / y)];
        let mut program = Program::new(map, &|v| v < 3)?;
        let (mut starts, mut chosen) = ([0i64; MAX_LANES], [0usize; MAX_LANES]);
        // A block outside the domain of the map requests nothing.
        let is_there = map.dims()[3..].iter().zip(block).all(|(v, id)| v.bounds.contains(id));
        let active = match is_there {
            true => active_lanes(&mut program, map, &values, &ids, lanes, &mut starts, &mut chosen),
            false => 0,
        };
        let bits = access.element_bits;
        let mut bytes = vec![None; lanes];
        for (&lane, &start) in chosen[..active].iter().zip(&starts[..active]) {
            let first = start.saturating_mul(bits).div_euclid(8);
            let end = start.saturating_add(vector).saturating_mul(bits).saturating_add(7).div_euclid(8);
            bytes[lane] = Some((first, end));
        }
        let counts = match active {
            0 => Counts::default(),
            _ => request(&mut starts[..active], bits, vector),
        };
        Some(LanePicture { lanes: bytes, counts, sizes, block, iteration: chosen_iteration })
    }
}

#[cfg(test)]
mod tests {
    use crate::fixture;

    use super::*;

    /// The sum over all pictures equals the counts.
    #[test]
    fn pictures_add_up() {
        let text = "\
p = f32[100,70]{0,1} parameter(0)
 q = bf16[100,70]{1,0} parameter(1)
            c = f32[100,70] convert(q)
 ROOT a = f32[100,70]{1,0} add(p, c)";
        let analysis = fixture::analysis(text, "h100-sxm").expect("a kernel");
        for buffer in analysis.coalescing() {
            let mut sum = Counts::default();
            let access = buffer.accesses[0].access.access(&analysis).expect("a map");
            let sizes = LanePicture::of(&access, 0, 0, 0).expect("a picture").sizes;
            for block in 0..sizes.blocks {
                for warp in 0..sizes.warps {
                    for iteration in 0..sizes.iterations {
                        let picture = LanePicture::of(&access, block, warp, iteration).expect("a picture");
                        let touched = picture.lanes.iter().flatten().count() as u64;
                        assert!(touched > 0 || picture.counts.requests == 0);
                        sum = sum.plus(picture.counts);
                    }
                }
            }
            assert_eq!(Some(sum), buffer.best());
        }
    }
}
