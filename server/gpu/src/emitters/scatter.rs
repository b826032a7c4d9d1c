//! The scatter emitter: threads iterate over the updates, or warps over the rows of indices.

use indexing::IndexingMap;
use indexing_map::{Expr, Interval, SimplifyMode, Variable, ceil_div, gcd};
use ir::{AttributeKey, ElementTypeExt, Shape};

use super::Context;
use crate::Reason;
use crate::launch::{Launch, product};
use crate::thread_map::{BL_X, RANGES, TH_X, delinearize, work_items};
use crate::unroll::unroll_factor;

/// How the work is distributed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScatterMode {
    /// Each thread handles a few elements of the updates.
    Updates,
    /// Each warp handles a few rows of sorted indices and adds up the updates of equal ones in registers.
    Indices {
        rows_per_warp: i64,
        /// The number of indices that a thread reads at once.
        index_vector: i64,
    },
}

/// Source: `backends/gpu/codegen/emitters/scatter.cc`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScatterEmitter {
    pub launch: Launch,
    pub mode: ScatterMode,
    /// The number of elements of the updates that a thread handles at once.
    pub vector: i64,
    /// The number of rows of indices, and of indices in a row.
    pub rows: i64,
    pub row_length: i64,
    /// The sizes of one update.
    pub slice: Vec<i64>,
    pub updates: Shape,
    /// The number of operands that are scattered into.
    pub operands: usize,
    pub warp: i64,
}

const WARPS_PER_BLOCK: i64 = 4;
/// The maximum number of bits that a thread reads at once.
const VECTOR_BITS: i64 = 128;

impl ScatterEmitter {
    pub(super) fn new(context: &Context<'_>) -> Result<ScatterEmitter, Reason> {
        let (fused, device) = (context.fused, context.device);
        let op = fused.op(fused.roots[0]);
        let operands = op.operand_shapes.len() / 2;
        let (Some(operand), Some(indices), Some(updates)) =
            (op.operand_shapes.first(), op.operand_shapes.get(operands), op.operand_shapes.get(operands + 1))
        else {
            return Err("the scatter has too few operands".into());
        };
        let array = updates.as_array().ok_or("the updates are no array")?;
        check_form(&op.attributes, operand, indices, updates)?;
        let (rows, row_length) = (indices.dims()[0], indices.dims()[1]);
        let slice = array.dims[1..].to_vec();
        let elements = product(&slice)?;
        let warp = device.threads_per_warp;
        let max_warps = WARPS_PER_BLOCK * device.cores;
        let flag = |key| op.attributes.bool(key).unwrap_or(false);
        let by_indices = flag(AttributeKey::IndicesAreSorted)
            && !flag(AttributeKey::UniqueIndices)
            && rows > max_warps
            && operands == 1;
        let mut emitter = ScatterEmitter {
            launch: Launch::linear(1, 1),
            mode: ScatterMode::Updates,
            vector: 1,
            rows,
            row_length,
            slice,
            updates: updates.clone(),
            operands,
            warp,
        };
        if !by_indices {
            let unroll = unroll_factor(fused, context.kind, array, device)?;
            emitter.vector = gcd(elements, unroll).max(1) as i64;
            let launch = Launch::for_elements(product(&array.dims)?, emitter.vector, device);
            // Whole warps; the map excludes elements beyond the updates.
            let warps = ceil_div(launch.threads_per_block(), warp).unwrap_or(1);
            emitter.launch = Launch::linear(launch.blocks()?, warps * warp);
            return Ok(emitter);
        }
        let bits = |shape: &Shape| shape.element().and_then(|e| e.bits()).map_or(8, i64::from);
        let mut vector = gcd(elements, VECTOR_BITS / bits(updates)).max(1) as i64;
        while vector > 1 && warp * vector > elements {
            vector /= 2;
        }
        // The number of different offsets that an update may have.
        let places = (0..row_length as usize).map(|dim| {
            let (size, slice) = (operand.dims().get(dim).copied(), emitter.slice.get(dim).copied());
            size.unwrap_or(1) - slice.unwrap_or(1) + 1
        });
        let places = product(&places.collect::<Vec<_>>())?;
        let mut rows_per_warp = ceil_div(rows, max_warps.max(places)).unwrap_or(1).max(1);
        let mut index_vector = 1;
        let in_vector = VECTOR_BITS / bits(indices);
        if row_length == 1 && rows_per_warp > in_vector {
            rows_per_warp = ceil_div(rows_per_warp, in_vector).unwrap_or(1) * in_vector;
            index_vector = in_vector;
        }
        emitter.vector = vector;
        emitter.mode = ScatterMode::Indices { rows_per_warp, index_vector };
        let blocks = ceil_div(rows, rows_per_warp * WARPS_PER_BLOCK).unwrap_or(1);
        emitter.launch = Launch::linear(blocks, WARPS_PER_BLOCK * warp);
        Ok(emitter)
    }

    /// The maps of the operands, which are undefined, of the indices, and of each of the updates.
    pub(super) fn thread_to_input(&self, _context: &Context<'_>) -> Vec<IndexingMap> {
        let (updates, indices) = match self.mode {
            ScatterMode::Updates => self.by_updates(),
            ScatterMode::Indices { rows_per_warp, index_vector } => {
                self.by_indices(rows_per_warp, index_vector)
            }
        };
        let mut maps = vec![IndexingMap::undefined(); self.operands];
        maps.push(indices);
        maps.extend(std::iter::repeat_n(updates, self.operands));
        maps
    }

    fn by_updates(&self) -> (IndexingMap, IndexingMap) {
        let Some(array) = self.updates.as_array() else {
            return (IndexingMap::undefined(), IndexingMap::undefined());
        };
        let updates = work_items(&self.launch, self.vector, array);
        let Some(row) = updates.results().first().cloned() else {
            return (updates, IndexingMap::undefined());
        };
        // Range variables come last, so that adding one renumbers nothing.
        let mut indices = updates.with_results(vec![row.clone()]);
        let index = indices.add_range(Variable::from_size(self.row_length));
        let mut indices = indices.with_results(vec![row, index]);
        indices.simplify(SimplifyMode::Replace);
        indices.remove_unused_symbols();
        (updates, indices)
    }

    fn by_indices(&self, rows_per_warp: i64, index_vector: i64) -> (IndexingMap, IndexingMap) {
        let (th_x, bl_x) = (Expr::var(TH_X), Expr::var(BL_X));
        let warp = bl_x * WARPS_PER_BLOCK + th_x.clone().floor_div(self.warp);
        let elements = product(&self.slice).unwrap_or(0);
        let grid = || Variable::gpu_grid(self.launch.sizes());
        let range = |name, size: i64| Variable::named(name, 0, size - 1);
        let s = |i| Expr::var(RANGES + i);

        let row = warp.clone() * rows_per_warp + s(0);
        let at_once = self.warp * self.vector;
        let linear = s(1) * at_once + th_x.modulo(self.warp) * self.vector + s(2);
        let mut results = vec![row.clone()];
        results.extend(delinearize(&linear, &self.slice));
        let ranges = vec![
            range("index_id_loop", rows_per_warp),
            range("update_loop", ceil_div(elements, at_once).unwrap_or(1)),
            range("vector_id", self.vector),
        ];
        let updates = IndexingMap::new(grid(), ranges, Vec::new(), results)
            .with_constraint(row, Interval::from_size(self.rows))
            .with_constraint(linear, Interval::from_size(elements))
            .simplified(SimplifyMode::Replace);

        let row = warp * rows_per_warp + s(0) * index_vector + s(1);
        let ranges = vec![
            range("index_id_loop", rows_per_warp / index_vector),
            range("index_vector_id", index_vector),
            range("index_dim", self.row_length),
        ];
        let indices = IndexingMap::new(grid(), ranges, Vec::new(), vec![row.clone(), s(2)])
            .with_constraint(row, Interval::from_size(self.rows))
            .simplified(SimplifyMode::Replace);
        (updates, indices)
    }
}

/// Refuses all forms but the one that XLA's simplifier produces.
fn check_form(
    attributes: &ir::Attributes,
    operand: &Shape,
    indices: &Shape,
    updates: &Shape,
) -> Result<(), Reason> {
    let ints = |key| attributes.ints(key);
    let windows = ints(AttributeKey::UpdateWindowDims);
    let rank = updates.dims().len();
    let reason = if operand.dims().is_empty() {
        "a scatter into a scalar is not emitted"
    } else if indices.dims().len() != 2 || attributes.int(AttributeKey::IndexVectorDim) != Some(1) {
        "the scatter is not simplified: rows of indices must be its last dimension of two"
    } else if rank == 0 || windows.len() + 1 != rank || windows.contains(&0) || !windows.is_sorted() {
        "the scatter is not simplified: updates must have one scatter dimension, the first"
    } else if !ints(AttributeKey::InsertedWindowDims).is_empty() {
        "the scatter is not simplified: it inserts window dimensions"
    } else if !ints(AttributeKey::InputBatchingDims).is_empty() {
        "the scatter is not simplified: it has batching dimensions"
    } else {
        return Ok(());
    };
    Err(reason.into())
}

#[cfg(test)]
mod tests {
    use super::ScatterMode;
    use crate::fixture::{analysis, check, check_reads_once};

    fn scatter(rows: i64, attributes: &str) -> String {
        format!(
            "\
p = f32[1000,16] parameter(0)
 i = s32[{rows},1] parameter(1)
 u = f32[{rows},2,16] parameter(2)
            ROOT s = f32[1000,16] scatter(p, i, u), update_window_dims={{1,2}}, inserted_window_dims={{}}, scatter_dims_to_operand_dims={{0}}, index_vector_dim=1, to_apply=add{attributes}"
        )
    }

    #[test]
    fn by_updates() {
        check(&scatter(24, ""), "h100-sxm", "scatter s 6x128");
    }

    #[test]
    fn by_sorted_indices() {
        let analysis = check(&scatter(5000, ", indices_are_sorted=true"), "h100-sxm", "scatter s 157x128");
        let crate::Emitter::Scatter(scatter) = &analysis.emitter else { panic!() };
        assert!(matches!(scatter.mode, ScatterMode::Indices { .. }));
        let inputs = analysis.thread_to_input();
        assert!(inputs[0].1[0].is_undefined());
        let _ = check_reads_once;
    }

    #[test]
    fn only_the_simplified_form() {
        let text = "\
p = f32[1000] parameter(0)
 i = s32[5,1] parameter(1)
 u = f32[5] parameter(2)
            ROOT s = f32[1000] scatter(p, i, u), update_window_dims={}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=add";
        let reason = analysis(text, "h100-sxm").unwrap_err();
        assert!(reason.contains("inserts window dimensions"), "{reason}");
        let batched = text.replace("inserted_window_dims={0}, scatter_dims_to_operand_dims={0}", "inserted_window_dims={}, scatter_dims_to_operand_dims={}, input_batching_dims={0}, scatter_indices_batching_dims={0}");
        let reason = analysis(&batched.replace("s32[5,1]", "s32[5,0]"), "h100-sxm").unwrap_err();
        assert!(reason.contains("batching dimensions"), "{reason}");
    }
}
