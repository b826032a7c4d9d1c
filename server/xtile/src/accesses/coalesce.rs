//! The layout in which Triton's coalescing pass reads and writes each tile.
//! Source: `lib/Dialect/TritonGPU/Transforms/Coalesce.cpp` and `CoalesceUtils.cpp` of Triton.

use gpu::CodeAccessKind;

use super::axis_info::AxisInfo;
use super::layout::Layout;
use super::tiles::TileAccess;

/// The widest access of a thread, in bytes.
const MOST_BYTES: i64 = 16;
/// What divides the address of each argument.
const ARGUMENT_DIVISIBILITY: i64 = 16;

/// What Triton knows of the addresses of a tile.
#[derive(Debug, Clone)]
pub(super) struct Pointers {
    info: AxisInfo,
    /// Per dimension, the length of runs of elements that are all read or written, or all left out.
    mask: Option<Vec<i64>>,
    bytes: i64,
    sizes: Vec<i64>,
    /// The dimensions, that of the longest runs first.
    order: Vec<usize>,
}

impl Pointers {
    pub fn of(access: &TileAccess) -> Pointers {
        let sizes: Vec<i64> = access.dims.iter().map(|dim| dim.size).collect();
        let mut numbers: Option<AxisInfo> = None;
        let mut mask: Option<Vec<i64>> = None;
        for (at, dim) in access.dims.iter().enumerate() {
            let range = AxisInfo::range(at, dim.stride, &sizes);
            if dim.is_masked {
                let end = dim.offset_divisibility.min(super::axis_info::power_of_two_in(dim.extent));
                for runs in [range.compared(end), range.compared(dim.offset_divisibility)] {
                    mask = Some(match mask {
                        None => runs,
                        Some(mask) => mask.iter().zip(&runs).map(|(a, b)| *a.min(b)).collect(),
                    });
                }
            }
            let moved = range.times(dim.step);
            numbers = Some(match numbers {
                None => moved,
                Some(numbers) => numbers.plus(&moved, 1),
            });
        }
        let start = AxisInfo::splat(ARGUMENT_DIVISIBILITY, &sizes);
        let start = start.plus(&AxisInfo::splat(access.start_divisibility, &sizes), access.bytes);
        let info = match numbers {
            None => start,
            Some(numbers) => start.plus(&numbers, access.bytes),
        };
        let mut order: Vec<usize> = (0..sizes.len()).rev().collect();
        order.sort_by_key(|&dim| std::cmp::Reverse(info.contiguity[dim]));
        Pointers { info, mask, bytes: access.bytes, sizes, order }
    }

    /// The number of neighbours along a dimension that are at one aligned address.
    fn aligned(&self, dim: usize) -> i64 {
        let Some(&divisibility) = self.info.divisibility.get(dim) else { return 1 };
        (divisibility / self.bytes).max(1).min(self.info.contiguity[dim])
    }

    /// The number of elements that a thread should hold next to each other.
    fn vector(&self) -> i64 {
        let Some(&first) = self.order.first() else { return 1 };
        self.aligned(first).min(self.sizes[first]).min((MOST_BYTES / self.bytes).max(1))
    }

    /// The number of elements that a thread moves with one instruction.
    pub fn elements_at_once(&self, layout: &Layout) -> i64 {
        let dim = layout.fastest();
        let most = (MOST_BYTES / self.bytes).max(1).min(layout.run(dim)).min(self.aligned(dim));
        let unmasked = self.mask.as_ref().and_then(|mask| mask.get(dim).copied());
        most.min(unmasked.unwrap_or(most)).max(1)
    }
}

/// The coalesced layout of each access.
pub(super) fn coalesced(accesses: &[TileAccess], pointers: &[Pointers], warps: i64) -> Vec<Layout> {
    let layout = |(access, own): (&TileAccess, &Pointers)| {
        let alike = pointers.iter().filter(|other| other.sizes == own.sizes && other.order == own.order);
        let wanted = alike.map(Pointers::vector).max().unwrap_or(1);
        let count: i64 = own.sizes.iter().product();
        let mut vector = wanted.min((count / (32 * warps)).max(1));
        if access.kind != CodeAccessKind::Read {
            vector = vector.min(own.vector());
        }
        Layout::blocked(&own.sizes, vector, &own.order, warps)
    };
    accesses.iter().zip(pointers).map(layout).collect()
}
