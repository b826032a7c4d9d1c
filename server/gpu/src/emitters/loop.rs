//! The loop emitter: each thread computes a few neighbouring elements of the first result.

use indexing::IndexingMap;

use super::Context;
use crate::Reason;
use crate::launch::{Launch, product};
use crate::thread_map::{bitcast, then, work_items};
use crate::unroll::unroll_factor;

/// Source: `backends/gpu/codegen/emitters/loop.cc`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoopEmitter {
    pub launch: Launch,
    /// The number of elements per thread.
    pub unroll: i64,
}

impl LoopEmitter {
    pub(super) fn new(context: &Context<'_>) -> Result<LoopEmitter, Reason> {
        let shape = context.fused.root_shape(0).as_array().ok_or("the result is no array")?;
        let unroll = unroll_factor(context.fused, context.kind, shape, context.device)?;
        let launch = Launch::for_elements(product(&shape.dims)?, unroll, context.device);
        Ok(LoopEmitter { launch, unroll })
    }

    /// All results share the iteration space of the first one.
    pub(super) fn thread_to_output(&self, context: &Context<'_>, root: usize) -> IndexingMap {
        let first = context.fused.root_shape(0);
        let Some(array) = first.as_array() else { return IndexingMap::undefined() };
        let threads = work_items(&self.launch, self.unroll, array);
        match root {
            0 => threads,
            _ => then(&threads, &bitcast(first, context.fused.root_shape(root))),
        }
    }

    pub(super) fn thread_to_input(&self, context: &Context<'_>, root: usize) -> Vec<IndexingMap> {
        let threads = self.thread_to_output(context, root);
        context.through_operands(&threads, context.fused.roots[root])
    }
}

#[cfg(test)]
mod tests {
    use crate::fixture::{check, check_reads_once};

    #[test]
    fn elementwise() {
        let text = "p = f32[300] parameter(0)\n ROOT n = f32[300] negate(p)";
        check_reads_once(&check(text, "h100-sxm", "loop n 3x128"));
        check_reads_once(&check(text, "mi350", "loop n 2x256"));
    }

    #[test]
    fn a_full_device_is_unrolled() {
        let text = "p = f32[1024,264] parameter(0)\n ROOT n = f32[1024,264] negate(p)";
        check_reads_once(&check(text, "h100-sxm", "loop n 528x128"));
        // b200 has more threads: 148 * 2048.
        check(text, "b200", "loop n 2112x128");
    }

    #[test]
    fn whole_bytes_are_written() {
        let text = "p = s4[100] parameter(0)\n ROOT n = s4[100] negate(p)";
        check_reads_once(&check(text, "h100-sxm", "loop n 1x50"));
    }

    #[test]
    fn results_share_the_iteration() {
        let text = "p = f32[20,30] parameter(0)\n n = f32[20,30] negate(p)\n b = f32[600] bitcast(n)
            ROOT t = (f32[20,30], f32[600]) tuple(n, b)";
        check(text, "h100-sxm", "loop n 5x128");
    }

    #[test]
    fn layouts_are_followed() {
        let text = "p = f32[20,30]{0,1} parameter(0)\n ROOT n = f32[20,30]{0,1} negate(p)";
        check_reads_once(&check(text, "h100-sxm", "loop n 5x128"));
    }
}
