//! The sort emitter: a bitonic sort in several kernels, with as many steps as possible in shared memory.
//! There are no thread maps, because elements move.

use indexing_map::ceil_div;
use ir::{ArrayShape, AttributeKey, ElementTypeExt, Shape};

use super::Context;
use crate::Reason;
use crate::launch::{Launch, product};

/// One kernel of the sequence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SortStep {
    pub launch: Launch,
    /// Each step compares the elements whose indices differ by an exclusive or with its mask.
    pub masks: Vec<i64>,
    /// The number of elements of a tile in shared memory; none for a kernel that compares in place.
    pub tile: Option<i64>,
}

/// Source: `EmitSort`, `backends/gpu/codegen/llvm/llvm_emitter.cc`; `sort_util.cc`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SortEmitter {
    /// The kernels in the order in which they run.
    pub steps: Vec<SortStep>,
}

/// The number of elements of a tile that a thread copies.
const UNROLL: i64 = 4;
/// The minimum length of the shared array of an operand.
const MIN_SHARED_ELEMENTS: i64 = 64;

impl SortEmitter {
    pub(super) fn new(context: &Context<'_>) -> Result<SortEmitter, Reason> {
        let op = context.fused.op(context.fused.roots[0]);
        let keys = op.operand_shapes.first().ok_or("the sort has no operand")?.dims();
        let dim = op.attributes.ints(AttributeKey::Dimensions).first().and_then(|&d| usize::try_from(d).ok());
        let dim = dim.filter(|&dim| dim < keys.len()).ok_or("the sort names no dimension")?;
        let results = match op.shape.tuple_elements() {
            Some(elements) => elements,
            None => std::slice::from_ref(&op.shape),
        };
        let arrays = op.operand_shapes.iter().chain(results).filter_map(Shape::as_array);
        let mut layouts = arrays.map(ArrayShape::minor_to_major);
        let first = layouts.next();
        // `backends/gpu/codegen/sort.cc`: the operands are copied to the results and sorted there.
        if layouts.any(|layout| Some(&layout) != first.as_ref()) {
            return Err("XLA sorts arrays of one layout, and these have several".into());
        }
        let n = keys[dim];
        if n <= 1 || product(keys)? == 0 {
            return Err("there is nothing to sort: no kernel".into());
        }
        if n > 1 << 62 {
            return Err("element counts overflow 64 bits".into());
        }
        let stages = 64 - (n - 1).leading_zeros();
        let bytes = op.operand_shapes.iter().filter_map(|shape| shape.element()?.bits());
        let bytes: Vec<i64> = bytes.map(|bits| i64::from(bits.div_ceil(8))).collect();
        let sum = bytes.iter().sum::<i64>().max(1);
        let device = context.device;
        let tile = (UNROLL * device.threads_per_block_limit)
            .min(device.shared_memory_per_block / sum)
            .min(1 << stages);
        let tile = 1i64 << tile.max(1).ilog2();

        // The number of elements with a thread of their own, if those along the sorted dimension are `size`.
        let counted = |size: i64| {
            let mut sizes = keys.to_vec();
            sizes[dim] = size;
            product(&sizes)
        };
        let threads = (tile / UNROLL).max(1);
        let rounded = ceil_div(n, tile).unwrap_or(1).checked_mul(tile).ok_or("sizes overflow 64 bits")?;
        let tiled_elements = counted(ceil_div(rounded, UNROLL).unwrap_or(1))?;
        let shared = sum * tile.max(MIN_SHARED_ELEMENTS);
        let tiled = Launch::linear(ceil_div(tiled_elements, threads).unwrap_or(1), threads);
        let plain_elements = counted(ceil_div(1i64 << (stages - 1), UNROLL).unwrap_or(1))?;
        let plain = Launch::for_elements(plain_elements, 1, device);

        let mut steps = Vec::new();
        let mut batch = Vec::new();
        let flush = |batch: &mut Vec<i64>, steps: &mut Vec<SortStep>| {
            let masks = std::mem::take(batch);
            match masks.len() {
                0 => {}
                1 => steps.push(SortStep { launch: plain, masks, tile: None }),
                _ => {
                    steps.push(SortStep { launch: tiled.with_shared_bytes(shared), masks, tile: Some(tile) })
                }
            }
        };
        for mask in masks(stages) {
            if mask < tile {
                batch.push(mask);
                continue;
            }
            flush(&mut batch, &mut steps);
            steps.push(SortStep { launch: plain, masks: vec![mask], tile: None });
        }
        flush(&mut batch, &mut steps);
        Ok(SortEmitter { steps })
    }
}

/// The masks of each stage: first one that reverses a half, then successively smaller powers of two.
fn masks(stages: u32) -> impl Iterator<Item = i64> {
    (0..stages).flat_map(|stage| {
        let turn = (1i64 << (stage + 1)) - 1;
        std::iter::once(turn).chain((0..stage).rev().map(|finer| 1 << finer))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The masks sort any number of elements in any order.
    #[test]
    fn masks_sort() {
        for stages in 1..=6 {
            let n = 1usize << stages;
            for seed in 0..50u64 {
                let mut rng = random::Rng::new(seed);
                let mut values: Vec<u64> = (0..n).map(|_| rng.next_u64() >> 60).collect();
                for mask in masks(stages) {
                    for i in 0..n {
                        let j = i ^ mask as usize;
                        if i < j && values[j] < values[i] {
                            values.swap(i, j);
                        }
                    }
                }
                assert!(values.is_sorted(), "{values:?}");
            }
        }
    }

    #[test]
    fn one_tile() {
        let text = "p = f32[1000] parameter(0)\n ROOT s = f32[1000] sort(p), dimensions={0}, to_apply=add";
        crate::fixture::check(text, "h100-sxm", "sort s 1x256 +4096");
    }
}
