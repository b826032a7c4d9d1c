//! The launch dimensions of a kernel.

use indexing_map::ceil_div;

use crate::Reason;
use crate::device::Device;

/// Blocks of the grid, threads of a block, and bytes of static shared memory per block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Launch {
    pub grid: [i64; 3],
    pub block: [i64; 3],
    pub shared_bytes: i64,
}

impl Launch {
    /// `blocks` of `threads` each, all along x, without shared memory.
    pub fn linear(blocks: i64, threads: i64) -> Launch {
        Launch { grid: [blocks, 1, 1], block: [threads, 1, 1], shared_bytes: 0 }
    }

    #[must_use]
    pub fn with_shared_bytes(self, shared_bytes: i64) -> Launch {
        Launch { shared_bytes, ..self }
    }

    /// A thread for every `unroll` of `elements`, four warps per block.
    /// Source: `CalculateLaunchDimensions`, `service/gpu/launch_dimensions.cc`.
    pub fn for_elements(elements: i64, unroll: i64, device: &Device) -> Launch {
        if elements <= 1 {
            return Launch::linear(1, 1);
        }
        let threads_needed = ceil_div(elements, unroll.max(1)).unwrap_or(1);
        let threads = threads_needed.min(4 * device.threads_per_warp);
        let blocks = ceil_div(threads_needed, threads).unwrap_or(1);
        let y = ceil_div(blocks, device.block_dim_limit[0]).unwrap_or(1);
        let x = ceil_div(blocks, y).unwrap_or(1);
        Launch { grid: [x, y, 1], block: [threads, 1, 1], shared_bytes: 0 }
    }

    /// Sizes of `th_x, th_y, th_z, bl_x, bl_y, bl_z`.
    pub fn sizes(&self) -> [i64; 6] {
        let ([tx, ty, tz], [bx, by, bz]) = (self.block, self.grid);
        [tx, ty, tz, bx, by, bz]
    }

    pub fn threads_per_block(&self) -> i64 {
        self.block.iter().product()
    }

    pub fn blocks(&self) -> Result<i64, Reason> {
        product(&self.grid)
    }
}

/// Splits the blocks along x if the device does not allow that many: as many along y as needed, a power of
/// two. Source: `MaybeSplitGridDimensionX`, `service/gpu/gpu_fusible.cc`.
pub fn split_grid_x(blocks: i64, threads: i64, device: &Device) -> (i64, i64) {
    let [limit_x, limit_y, _] = device.block_dim_limit;
    let fits = |x: i64| {
        let work_items = x.checked_mul(threads);
        x <= limit_x && (!device.is_rocm() || work_items.is_some_and(|n| n <= i64::from(u32::MAX)))
    };
    if fits(blocks) {
        return (blocks, 1);
    }
    let mut y = 2;
    while y <= limit_y {
        let x = ceil_div(blocks, y).unwrap_or(1);
        if fits(x) {
            return (x, y);
        }
        y *= 2;
    }
    (ceil_div(blocks, limit_y).unwrap_or(1), limit_y)
}

/// The product of the sizes, or the reason why there is none.
pub(crate) fn product(sizes: &[i64]) -> Result<i64, Reason> {
    if sizes.contains(&0) {
        return Ok(0);
    }
    let product = sizes.iter().try_fold(1i64, |n, &size| n.checked_mul(size));
    product.ok_or_else(|| "element counts overflow 64 bits".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(elements: i64, unroll: i64, device: &str, grid: [i64; 3], threads: i64) {
        let launch = Launch::for_elements(elements, unroll, Device::find(device).unwrap());
        assert_eq!((launch.grid, launch.block), (grid, [threads, 1, 1]));
    }

    #[test]
    fn four_warps_a_block() {
        check(256, 1, "h100-sxm", [2, 1, 1], 128);
        check(100, 1, "h100-sxm", [1, 1, 1], 100);
        check(257, 1, "mi350", [2, 1, 1], 256);
        check(6 * 512 * 4096, 4, "h100-sxm", [24_576, 1, 1], 128);
        check(1, 4, "h100-sxm", [1, 1, 1], 1);
        check(0, 1, "h100-sxm", [1, 1, 1], 1);
    }

    #[test]
    fn more_blocks_than_the_grid_is_wide() {
        check(1 << 39, 1, "h100-sxm", [1_431_655_766, 3, 1], 128);
    }

    #[test]
    fn blocks_are_split_by_a_power_of_two() {
        let h100 = Device::find("h100-sxm").unwrap();
        assert_eq!(split_grid_x(1000, 256, h100), (1000, 1));
        assert_eq!(split_grid_x((1 << 31) - 1, 256, h100), ((1 << 31) - 1, 1));
        assert_eq!(split_grid_x(1 << 31, 256, h100), (1 << 30, 2));
        // AMD counts threads, not blocks, along x.
        let mi350 = Device::find("mi350").unwrap();
        assert_eq!(split_grid_x(1 << 24, 256, mi350), (1 << 23, 2));
    }
}
