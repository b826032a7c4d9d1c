//! The concatenate emitter: each thread iterates over all operands and copies its elements of each.

use indexing::IndexingMap;
use indexing_map::{SimplifyMode, gcd};
use ir::{AttributeKey, Shape};

use super::Context;
use crate::Reason;
use crate::launch::{Launch, product};
use crate::thread_map::{in_bounds, work_items};
use crate::unroll::unroll_factor;

/// Source: `backends/gpu/codegen/emitters/concatenate.cc`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConcatenateEmitter {
    pub launch: Launch,
    pub unroll: i64,
    /// The operand that is longest in the concatenated dimension; the launch is sized by it.
    pub largest: Shape,
}

impl ConcatenateEmitter {
    pub(super) fn new(context: &Context<'_>) -> Result<ConcatenateEmitter, Reason> {
        let hero = context.fused.op(context.heroes[0]);
        let dim =
            hero.attributes.ints(AttributeKey::Dimensions).first().and_then(|&d| usize::try_from(d).ok());
        let dim = dim.ok_or("the concatenate names no dimension")?;
        let length = |shape: &&Shape| shape.dims().get(dim).copied().unwrap_or(0);
        // The first of equally long ones.
        let largest = hero.operand_shapes.iter().rev().max_by_key(length).ok_or("nothing to concatenate")?;
        let array = largest.as_array().ok_or("an operand is no array")?;
        // All elements of a thread must be in one operand.
        let mut unroll = unroll_factor(context.fused, context.kind, array, context.device)?;
        for operand in &hero.operand_shapes {
            let length = operand.dims().get(dim).copied().unwrap_or(1);
            unroll = gcd(unroll, length).max(1) as i64;
        }
        let launch = Launch::for_elements(product(&array.dims)?, unroll, context.device);
        Ok(ConcatenateEmitter { launch, unroll, largest: largest.clone() })
    }

    /// The same map for every operand, restricted to the bounds of the shorter ones.
    pub(super) fn thread_to_input(&self, context: &Context<'_>) -> Vec<IndexingMap> {
        let Some(array) = self.largest.as_array() else { return Vec::new() };
        let threads = work_items(&self.launch, self.unroll, array);
        let operands = &context.fused.op(context.heroes[0]).operand_shapes;
        let maps = operands.iter().map(|operand| match operand.dims() == self.largest.dims() {
            true => threads.clone(),
            false => in_bounds(threads.clone(), operand.dims()).simplified(SimplifyMode::Replace),
        });
        maps.collect()
    }
}

#[cfg(test)]
mod tests {
    use crate::fixture::{check, check_reads_once};

    #[test]
    fn threads_cover_every_operand() {
        let text = "p = f32[20,3] parameter(0)\n q = f32[70,3] parameter(1)
            ROOT c = f32[90,3] concatenate(p, q), dimensions={0}";
        check_reads_once(&check(text, "h100-sxm", "concatenate c 2x128"));
    }

    #[test]
    fn many_operands_are_a_loop() {
        let text = "p = f32[20] parameter(0)\n ROOT c = f32[100] concatenate(p, p, p, p, p), dimensions={0}";
        check(text, "h100-sxm", "loop c 1x100");
    }
}
