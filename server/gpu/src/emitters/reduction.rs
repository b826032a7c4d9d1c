//! The common parts of the four reduction emitters. Each thread reduces a tile, then threads reduce among
//! themselves.

use indexing::IndexingMap;
use indexing_map::{Expr, Interval, SimplifyMode};
use ir::{ElementTypeExt, OpId, Shape};

use super::reduction_groups::group_roots;
use super::{Context, reduction_column, reduction_multirow, reduction_row, reduction_small_column};
use crate::Reason;
use crate::heroes::is_real_reduction;
use crate::launch::{Launch, product, split_grid_x};
use crate::reduction_dims::{ReductionDims, is_race_free, result_in_operand_order};
use crate::thread_map::{
    BL_X, BL_Y, BL_Z, RANGES, TH_X, bitcast, bitcast_from_sizes, delinearize, grid_map, in_bounds, then,
};

/// The variant of the reduction emitter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ReductionVariant {
    /// Threads of a block share one row or a few.
    Row,
    /// Threads of a warp share several short rows.
    MultiRow,
    /// A tile of 32 columns, transposed through shared memory.
    Column,
    /// Few columns: a warp's width is a multiple of their number.
    SmallColumn,
}

/// The decisions about one reduction. The lists are over the variant's own dimensions; see its file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReductionPlan {
    pub variant: ReductionVariant,
    pub dims: ReductionDims,
    /// The number of elements that a thread reads at once.
    pub vector: i64,
    /// The number of threads of a block.
    pub threads: Vec<i64>,
    /// The number of elements of a thread: the sizes of the range variables.
    pub tile: Vec<i64>,
    pub blocks: Vec<i64>,
    /// The number of elements that one result of one reduction occupies in shared memory.
    pub shared_elements: i64,
    /// The number of threads of a warp.
    pub warp: i64,
}

/// How threads exchange partial results, for one result of one reduction. Indices are over `th_x` and, if a
/// thread has several columns, a range variable after the six ids of thread and block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exchange {
    /// The sizes of the array in shared memory.
    pub dims: Vec<i64>,
    /// The index to which a thread writes its partial result.
    pub write: Vec<Expr>,
    /// Threads for which this is 0 write.
    pub writes_if_zero: Expr,
    /// The index from which it reads the value to continue with.
    pub read: Vec<Expr>,
    /// Threads for which this is below the bound read; the others continue with the initial value.
    pub reads_if_below: (Expr, i64),
    /// The distance to the first thread that is added after the exchange.
    pub distance: i64,
}

/// Maps threads to the elements that they write.
pub(super) struct Written {
    pub(super) results: Vec<Expr>,
    /// Sizes of the range variables.
    pub(super) ranges: Vec<i64>,
    /// The sizes of the canonical output.
    pub(super) sizes: Vec<i64>,
    /// Threads for which this is 0 write.
    pub(super) writes_if_zero: Expr,
}

/// Source: `backends/gpu/codegen/emitters/reduction.cc`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReductionEmitter {
    pub launch: Launch,
    pub plan: ReductionPlan,
    /// Roots that are computed by the same blocks. Each group has its own `bl_z`.
    pub groups: Vec<Vec<usize>>,
    /// The reductions, each once.
    pub reductions: Vec<OpId>,
}

impl ReductionVariant {
    pub fn name(self) -> &'static str {
        match self {
            ReductionVariant::Row => "reduction-row",
            ReductionVariant::MultiRow => "reduction-multirow",
            ReductionVariant::Column => "reduction-column",
            ReductionVariant::SmallColumn => "reduction-small-column",
        }
    }
}

impl ReductionEmitter {
    pub(super) fn new(context: &Context<'_>) -> Result<ReductionEmitter, Reason> {
        let mut reductions: Vec<OpId> = Vec::new();
        for (&root, &hero) in context.fused.roots.iter().zip(context.heroes) {
            if is_real_reduction(context.fused, root, hero, context.device) && !reductions.contains(&hero) {
                reductions.push(hero);
            }
        }
        if reductions.iter().any(|&hero| product(first_array(&context.fused.op(hero).shape).dims()) == Ok(0))
        {
            return Err("nothing is reduced: the result has no elements".into());
        }
        let hero = *reductions.first().ok_or("there is no reduction")?;
        let dims = ReductionDims::of(context.fused.op(hero)).ok_or("what is reduced is not contiguous")?;
        let all = reductions.iter().filter_map(|&hero| ReductionDims::of(context.fused.op(hero)));
        if !all.into_iter().all(|dims| is_race_free(&dims)) {
            return Err("the reduction is too long for one block: XLA splits it before it is fused".into());
        }
        let plan = match dims {
            ReductionDims::Row { .. } => reduction_multirow::plan(context, &reductions, dims)
                .or_else(|| reduction_row::plan(context, &reductions, dims)),
            ReductionDims::Column { .. } => reduction_small_column::plan(context, &reductions, dims)
                .or_else(|| reduction_column::plan(context, &reductions, dims)),
        };
        let plan = plan.ok_or("the sizes of the reduction overflow 64 bits")?;
        let groups = group_roots(context);
        let threads = product(&plan.threads)?;
        let (x, y) = split_grid_x(product(&plan.blocks)?, threads, context.device);
        let shared: i64 = reductions
            .iter()
            .flat_map(|&hero| element_bytes(&context.fused.op(hero).shape))
            .map(|bytes| bytes * plan.shared_elements)
            .sum();
        let launch =
            Launch { grid: [x, y, groups.len() as i64], block: [threads, 1, 1], shared_bytes: shared };
        Ok(ReductionEmitter { launch, plan, groups, reductions })
    }

    /// The loop of each thread over the elements that it reduces: the map to the canonical input, and the
    /// sizes of that input.
    pub fn thread_loop(&self) -> (IndexingMap, Vec<i64>) {
        let plan = &self.plan;
        let (t, b) = self.ids();
        let s: Vec<Expr> = (0..plan.tile.len()).map(|i| Expr::var(RANGES + i)).collect();
        let (results, sizes) = self.read(&t, &b, &s);
        let map = in_bounds(grid_map(&self.launch, &plan.tile, results), &sizes);
        (map.simplified(SimplifyMode::Replace), sizes)
    }

    /// Maps the canonical input of [`ReductionEmitter::thread_loop`] to a shape with the same number of
    /// elements.
    pub fn of_canonical(&self, sizes: &[i64], shape: &Shape) -> IndexingMap {
        bitcast_from_sizes(sizes, shape)
    }

    /// The number of columns for which a thread has partial results, where threads exchange these.
    pub fn columns(&self) -> i64 {
        match self.plan.variant {
            ReductionVariant::Row | ReductionVariant::MultiRow => 1,
            ReductionVariant::Column | ReductionVariant::SmallColumn => self.plan.vector,
        }
    }

    /// The number of columns whose results a thread writes.
    pub fn written_columns(&self) -> i64 {
        match self.plan.variant {
            ReductionVariant::Column => reduction_column::written_columns(&self.plan),
            _ => self.columns(),
        }
    }

    /// The distance to the first thread in the same warp whose partial result is added to a thread's own; 0
    /// if there is none.
    pub fn first_distance(&self) -> i64 {
        match self.plan.variant {
            ReductionVariant::Row => self.plan.warp / 2,
            ReductionVariant::MultiRow => self.plan.threads[1] / 2,
            ReductionVariant::Column | ReductionVariant::SmallColumn => 0,
        }
    }

    /// The exchange through shared memory; `None` if one warp has all partial results of an element.
    pub fn exchange(&self) -> Option<Exchange> {
        let t = self.ids().0;
        match self.plan.variant {
            ReductionVariant::Row => reduction_row::exchange(&self.plan, &t),
            ReductionVariant::MultiRow => None,
            ReductionVariant::Column => Some(reduction_column::exchange(&self.plan, &t)),
            ReductionVariant::SmallColumn => reduction_small_column::exchange(&self.plan),
        }
    }

    fn read(&self, t: &[Expr], b: &[Expr], s: &[Expr]) -> (Vec<Expr>, Vec<i64>) {
        match self.plan.variant {
            ReductionVariant::Row => reduction_row::read(&self.plan, t, b, s),
            ReductionVariant::MultiRow => reduction_multirow::read(&self.plan, t, b, s),
            ReductionVariant::Column => reduction_column::read(&self.plan, t, b, s),
            ReductionVariant::SmallColumn => reduction_small_column::read(&self.plan, t, b, s),
        }
    }

    fn is_reduction(&self, context: &Context<'_>, root: usize) -> bool {
        self.reductions.contains(&context.heroes[root])
    }

    /// Thread ids and block ids by the plan's dimensions.
    fn ids(&self) -> (Vec<Expr>, Vec<Expr>) {
        let block = Expr::var(BL_X) + Expr::var(BL_Y) * self.launch.grid[0];
        (delinearize(&Expr::var(TH_X), &self.plan.threads), delinearize(&block, &self.plan.blocks))
    }

    /// Constrains a map to the blocks of the root's group.
    fn in_group(&self, map: IndexingMap, root: usize) -> IndexingMap {
        let group = self.groups.iter().position(|group| group.contains(&root)).unwrap_or(0) as i64;
        map.with_constraint(Expr::var(BL_Z), Interval::point(group))
    }

    /// Maps threads to the elements of `shape` that are reduced.
    fn read_map(&self, root: usize, shape: &Shape) -> IndexingMap {
        let plan = &self.plan;
        let (t, b) = self.ids();
        let s: Vec<Expr> = (0..plan.tile.len()).map(|i| Expr::var(RANGES + i)).collect();
        let (results, sizes) = self.read(&t, &b, &s);
        let map = in_bounds(grid_map(&self.launch, &plan.tile, results), &sizes);
        let map = map.compose(&bitcast_from_sizes(&sizes, shape));
        self.in_group(map, root).simplified(SimplifyMode::Replace)
    }

    /// Maps threads to the elements of `shape` that a reduction writes.
    fn written_map(&self, root: usize, shape: &Shape) -> IndexingMap {
        let plan = &self.plan;
        let (t, b) = self.ids();
        let written = match plan.variant {
            ReductionVariant::Row => reduction_row::written(plan, &t, &b),
            ReductionVariant::MultiRow => reduction_multirow::written(plan, &t, &b),
            ReductionVariant::Column => reduction_column::written(plan, &t, &b),
            ReductionVariant::SmallColumn => reduction_small_column::written(plan, &b),
        };
        let map = in_bounds(grid_map(&self.launch, &written.ranges, written.results), &written.sizes);
        let map = map.with_constraint(written.writes_if_zero, Interval::point(0));
        let map = map.compose(&bitcast_from_sizes(&written.sizes, shape));
        self.in_group(map, root).simplified(SimplifyMode::Replace)
    }

    pub(super) fn thread_to_output(&self, context: &Context<'_>, root: usize) -> IndexingMap {
        if self.is_reduction(context, root) {
            let hero = context.fused.op(context.heroes[root]);
            let shape = result_in_operand_order(hero).unwrap_or_else(|| first_array(&hero.shape).clone());
            return context.on_to_root(self.written_map(root, &shape), root);
        }
        // Results other than reductions are written at the indices that the reductions read.
        let input = &context.fused.op(self.reductions[0]).operand_shapes[0];
        then(&self.read_map(root, input), &bitcast(input, context.fused.root_shape(root)))
    }

    pub(super) fn thread_to_input(&self, context: &Context<'_>, root: usize) -> Vec<IndexingMap> {
        if !self.is_reduction(context, root) {
            return context
                .through_operands(&self.thread_to_output(context, root), context.fused.roots[root]);
        }
        // The operands, then as many initial values, which are not part of the iteration.
        let shapes = &context.fused.op(context.heroes[root]).operand_shapes;
        let maps = shapes.iter().enumerate().map(|(i, shape)| match i < shapes.len() / 2 {
            true => self.read_map(root, shape),
            false => IndexingMap::undefined(),
        });
        maps.collect()
    }
}

fn first_array(shape: &Shape) -> &Shape {
    match shape.tuple_elements() {
        Some([first, ..]) => first_array(first),
        _ => shape,
    }
}

/// Bytes of an element of each result.
fn element_bytes(shape: &Shape) -> Vec<i64> {
    match shape.tuple_elements() {
        Some(elements) => elements.iter().flat_map(element_bytes).collect(),
        None => shape
            .element()
            .and_then(|e| e.bits())
            .map(|bits| i64::from(bits.div_ceil(8)))
            .into_iter()
            .collect(),
    }
}

#[cfg(test)]
mod tests {
    use crate::fixture::{check, check_reads_once};

    #[test]
    fn rows() {
        let text = "\
p = f32[9,1000] parameter(0)
 z = f32[] constant(0)
            r = f32[9] reduce(p, z), dimensions={1}, to_apply=add
 ROOT l = f32[9] log(r)";
        check_reads_once(&check(text, "h100-sxm", "reduction-row r 3x256 +32"));
        check_reads_once(&check(text, "mi350", "reduction-row r 3x256"));
    }

    #[test]
    fn rows_of_many_warps() {
        let text = "p = f32[2,3,16000] parameter(0)\n z = f32[] constant(0)
            ROOT r = f32[3] reduce(p, z), dimensions={0,2}, to_apply=add";
        check_reads_once(&check(text, "h100-sxm", "reduction-row r 3x1024 +132"));
    }

    #[test]
    fn rows_beyond_a_block_are_not_emitted() {
        let text = "p = f32[3,20000] parameter(0)\n z = f32[] constant(0)
            ROOT r = f32[3] reduce(p, z), dimensions={1}, to_apply=add";
        let reason = crate::fixture::analysis(text, "h100-sxm").unwrap_err();
        assert!(reason.contains("too long for one block"), "{reason}");
    }

    #[test]
    fn short_rows() {
        let text = "p = f32[100,32] parameter(0)\n z = f32[] constant(0)
            ROOT r = f32[100] reduce(p, z), dimensions={1}, to_apply=add";
        check_reads_once(&check(text, "h100-sxm", "reduction-multirow r 13x256"));
        // 64 would allow a vector of 2, but then there are fewer blocks than cores.
        let text = text.replace("32]", "64]");
        check_reads_once(&check(&text, "h100-sxm", "reduction-row r 13x256"));
    }

    #[test]
    fn columns() {
        let text = "p = f32[3,70,50] parameter(0)\n z = f32[] constant(0)
            ROOT r = f32[3,50] reduce(p, z), dimensions={1}, to_apply=add";
        check_reads_once(&check(text, "h100-sxm", "reduction-column r 6x1024 +4224"));
    }

    #[test]
    fn small_columns() {
        let text = "p = f32[3,128,4] parameter(0)\n z = f32[] constant(0)
            ROOT r = f32[3,4] reduce(p, z), dimensions={1}, to_apply=add";
        check_reads_once(&check(text, "h100-sxm", "reduction-small-column r 3x128 +640"));
    }

    #[test]
    fn what_shares_nothing_has_its_own_blocks() {
        let text = "\
p = f32[64,64] parameter(0)
 q = f32[64,64] parameter(1)
 z = f32[] constant(0)
            r = f32[64] reduce(p, z), dimensions={0}, to_apply=add
 s = f32[64] reduce(q, z), dimensions={0}, to_apply=add
            n = f32[64,64] negate(q)
 ROOT t = (f32[64], f32[64], f32[64,64]) tuple(r, s, n)";
        let analysis = check(text, "h100-sxm", "reduction-column r 1x2x1024 +16640");
        check_reads_once(&analysis);
        let crate::Emitter::Reduction(reduction) = &analysis.emitter else { panic!() };
        assert_eq!(reduction.groups, [vec![0], vec![1, 2]]);
    }
}
