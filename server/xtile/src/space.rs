//! The tiling space of a fusion: the dimensions that are cut into tiles, and the offsets that only the running
//! program knows.

use gpu::{BlockLevel, Fused, post_order, stated_steps};
use indexing_map::{Expr, IndexingMap, SimplifyMode, Variable, ceil_div};
use ir::{AttributeKey, Op, OpId, Opcode};
use rustc_hash::FxHashMap;

use crate::Reason;

/// A dimension of the result, or one that an op of the fusion contracts or reduces.
#[derive(Debug, Clone)]
pub struct Dimension {
    pub size: i64,
    /// The tile size, a power of two.
    pub tile: i64,
    /// Whether one block visits all its tiles, one after another. The blocks divide the others among them.
    pub is_sequential: bool,
    /// The op that introduces the dimension: the root, or the op that contracts it.
    pub op: OpId,
}

impl Dimension {
    pub fn tiles(&self) -> i64 {
        ceil_div(self.size, self.tile).unwrap_or(0).max(0)
    }
}

/// An offset of a dynamic slice, from zero to `upper`.
#[derive(Debug, Clone)]
pub struct RuntimeOffset {
    pub upper: i64,
}

/// The dimensions of all tiles of one fusion. In the expressions of tiles, variable `d` below the number of
/// dimensions is the number of the tile along dimension `d`; runtime offsets follow.
/// Source: `codegen/tiling/experimental/tiling_space.cc`.
#[derive(Debug)]
pub struct TilingSpace {
    pub dimensions: Vec<Dimension>,
    pub offsets: Vec<RuntimeOffset>,
    /// Whether the tile sizes are variables, which follow those of the offsets.
    pub is_symbolic: bool,
    /// The dimension of an op at a position: first those of its result, then those that it contracts.
    of_op: FxHashMap<(OpId, usize), usize>,
    /// The runtime offset that an operand of a dynamic slice states.
    of_operand: FxHashMap<(OpId, usize), usize>,
}

impl TilingSpace {
    /// The space of a fusion, cut as its configuration says, or XLA's reason why it refuses the fusion.
    pub fn of(fused: &Fused, config: &BlockLevel) -> Result<TilingSpace, Reason> {
        check_results(fused)?;
        check_scans(fused)?;
        let root = *fused.roots.first().ok_or("a fusion without a result")?;
        let tile = one_tile(fused, config)?;
        let mut space = TilingSpace {
            dimensions: Vec::new(),
            offsets: Vec::new(),
            is_symbolic: false,
            of_op: FxHashMap::default(),
            of_operand: FxHashMap::default(),
        };
        let result = fused.op(root);
        let scanned = scan_dimension(result);
        if result.shape.as_array().is_none() && scanned.is_none() {
            return Err(
                format!("Unsupported root shape {} for root {}", result.shape, fused.name(root)).into()
            );
        }
        let dims = fused.root_shape(0).dims();
        let parallel = (0..dims.len()).filter(|&dim| Some(dim) != scanned);
        if parallel.clone().count() != tile.len() {
            return Err(format!(
                "Number of parallel dimensions in the tiling space ({}) does not match the number of output \
                 tile sizes in the block level fusion config ({}).",
                parallel.count(),
                tile.len()
            )
            .into());
        }
        let mut tiles = tile.iter().copied();
        for (position, &size) in dims.iter().enumerate() {
            let is_scanned = Some(position) == scanned;
            let tile = match is_scanned {
                true => stated_steps(&result.attributes).and_then(|sizes| sizes.first().copied()),
                false => tiles.next(),
            };
            space.push(root, position, size, tile.unwrap_or(size), is_scanned)?;
        }
        // All results have the tiles of the first one.
        for &other in fused.roots.iter().skip(1) {
            for position in 0..dims.len() {
                space.of_op.insert((other, position), position);
            }
        }
        for op in post_order(&fused.graph).into_iter().rev() {
            space.add_inner(fused, op)?;
        }
        Ok(space)
    }

    /// The space of a fusion whose tile sizes are not chosen yet, or XLA's reason why it refuses the fusion.
    pub fn symbolic(fused: &Fused) -> Result<TilingSpace, Reason> {
        let result = fused.roots.first().map_or(&[][..], |&root| fused.op(root).shape.dims());
        let config = BlockLevel {
            output_tiles: vec![result.to_vec()],
            warps: 1,
            tiles_per_block: 1,
            is_specialized: false,
            is_tma_allowed: false,
            stages: 1,
        };
        let mut space = TilingSpace::of(fused, &config)?;
        space.is_symbolic = true;
        Ok(space)
    }

    /// The dimensions and offsets that an op introduces.
    fn add_inner(&mut self, fused: &Fused, id: OpId) -> Result<(), Reason> {
        let op = fused.op(id);
        let contracted: &[i64] = match op.opcode {
            Opcode::Dot | Opcode::ScaledDot => op.attributes.ints(AttributeKey::LhsContractingDims),
            Opcode::Reduce => op.attributes.ints(AttributeKey::Dimensions),
            Opcode::DynamicSlice => {
                let sizes = op.shape.dims();
                let operand = op.operand_shapes.first().map_or(&[][..], |shape| shape.dims());
                for (dim, (&slice, &size)) in sizes.iter().zip(operand).enumerate() {
                    self.of_operand.insert((id, 1 + dim), self.offsets.len());
                    self.offsets.push(RuntimeOffset { upper: (size - slice).max(0) });
                }
                return Ok(());
            }
            Opcode::RaggedDot => return Err("tiles of ragged-dot are not supported yet".into()),
            _ => return Ok(()),
        };
        let rank = result_rank(op);
        let stated = stated_steps(&op.attributes);
        let operand = op.operand_shapes.first().map_or(&[][..], |shape| shape.dims());
        for (position, &dim) in contracted.iter().enumerate() {
            let size = usize::try_from(dim).ok().and_then(|dim| operand.get(dim).copied());
            let size = size.ok_or("a contracted dimension that the operand lacks")?;
            let tile = match &stated {
                None => size,
                Some(sizes) => *sizes.get(position).ok_or_else(|| {
                    format!(
                        "Sequential dimension index {position} is out of bounds for backend config sizes of \
                         size {}.",
                        sizes.len()
                    )
                })?,
            };
            self.push(id, rank + position, size, tile, true)?;
        }
        Ok(())
    }

    fn push(
        &mut self,
        op: OpId,
        position: usize,
        size: i64,
        tile: i64,
        is_sequential: bool,
    ) -> Result<(), Reason> {
        let tile = power_of_two(tile).ok_or("a tile size that does not fit 64 bits")?;
        self.of_op.insert((op, position), self.dimensions.len());
        self.dimensions.push(Dimension { size, tile, is_sequential, op });
        Ok(())
    }

    /// The number of the dimension at `position` of an op.
    pub fn dimension(&self, op: OpId, position: usize) -> Option<usize> {
        self.of_op.get(&(op, position)).copied()
    }

    /// The dimensions that an op contracts or reduces in several steps.
    pub fn loops_of(&self, op: OpId) -> impl Iterator<Item = usize> + '_ {
        let dimensions = self.dimensions.iter().enumerate();
        let loops =
            dimensions.filter(move |(_, dim)| dim.is_sequential && dim.op == op && dim.tile < dim.size);
        loops.map(|(number, _)| number)
    }

    /// The number of the runtime offset that an operand of an op states.
    pub fn offset(&self, op: OpId, operand: usize) -> Option<usize> {
        self.of_operand.get(&(op, operand)).copied()
    }

    /// The variable of a runtime offset.
    pub fn offset_variable(&self, offset: usize) -> Expr {
        Expr::var(self.dimensions.len() + offset)
    }

    /// The tile size of a dimension.
    pub fn tile_size(&self, number: usize) -> Expr {
        match self.is_symbolic {
            true => Expr::var(self.dimensions.len() + self.offsets.len() + number),
            false => Expr::Const(self.dimensions[number].tile),
        }
    }

    /// The expression simplified by the ranges of the tile numbers and of the runtime offsets.
    pub fn simplified(&self, expr: &Expr) -> Expr {
        if expr.as_binary().is_none() {
            return expr.clone();
        }
        if self.is_symbolic {
            return expr.canonicalize();
        }
        let dims = self.dimensions.iter().map(|d| Variable::new(0, d.tiles() - 1)).collect();
        let offsets = self.offsets.iter().map(|o| Variable::new(0, o.upper)).collect();
        let map = IndexingMap::new(dims, offsets, Vec::new(), vec![expr.clone()]);
        let map = map.simplified(SimplifyMode::Preserve);
        map.results().first().cloned().unwrap_or(Expr::TOO_LARGE)
    }
}

/// The flag with which XLA emits fusions of several results.
pub const SEVERAL_RESULTS_FLAG: &str = "xla_gpu_experimental_enable_same_shape_multi_output_fusion";

/// Refuses several results unless they have one shape and XLA's flag for them is set. Source: `TilingSpace::Create`.
fn check_results(fused: &Fused) -> Result<(), Reason> {
    if fused.outputs.len() < 2 {
        return Ok(());
    }
    let multiple = "TilingSpace does not support fusions with multiple roots.";
    let is_alike = (1..fused.roots.len()).all(|root| {
        let shapes = [fused.op(fused.roots[0]), fused.op(fused.roots[root])].map(|op| op.shape.as_array());
        let [Some(first), Some(other)] = shapes else { return false };
        first.dims == other.dims && first.minor_to_major() == other.minor_to_major()
    });
    match (is_alike, fused.has_several_results_flag) {
        (true, true) => Ok(()),
        (true, false) => Err(format!("{multiple} XLA emits them with {SEVERAL_RESULTS_FLAG}").into()),
        (false, _) => Err(multiple.into()),
    }
}

/// Refuses scans of which more than the sums is computed, before sizes are looked at. Observed in XLA's output.
fn check_scans(fused: &Fused) -> Result<(), Reason> {
    let is_scan = |op: OpId| fused.op(op).opcode == Opcode::Scan;
    let mut scans = post_order(&fused.graph).into_iter().filter(|&op| is_scan(op));
    match scans.any(|scan| !fused.roots.contains(&scan)) {
        true => Err("Epilogue fusion for scan is not supported yet.".into()),
        false => Ok(()),
    }
}

/// The tile of all results. Source: `GetTilingSpaceConcreteSizes`, `codegen/xtile/tiling_from_block_parameters.cc`.
fn one_tile<'c>(fused: &Fused, config: &'c BlockLevel) -> Result<&'c [i64], Reason> {
    let (first, others) = config.output_tiles.split_first().ok_or("output_tile_sizes cannot be empty.")?;
    if !others.is_empty() && !fused.has_several_results_flag {
        let count = config.output_tiles.len();
        return Err(
            format!("Only single-result fusions are supported for now. Received {count} roots.").into()
        );
    }
    if let Some(at) = others.iter().position(|other| other != first) {
        let list = |sizes: &[i64]| sizes.iter().map(i64::to_string).collect::<Vec<_>>().join(", ");
        return Err(format!(
            "Same-shape multi-output fusions must have identical tile sizes for all outputs. Received different \
             tile sizes for root 0 [{}] and root {} [{}].",
            list(first),
            at + 1,
            list(&others[at])
        )
        .into());
    }
    if config.output_tiles.len() < fused.outputs.len() {
        let (tiles, results) = (config.output_tiles.len(), fused.outputs.len());
        return Err(format!("XLA ends without a message: the tiles of {tiles} of {results} results").into());
    }
    Ok(first)
}

/// The dimension along which a scan goes; `None` for other ops.
pub(crate) fn scan_dimension(op: &Op) -> Option<usize> {
    let dim = op.attributes.ints(AttributeKey::Dimensions).first().filter(|_| op.opcode == Opcode::Scan)?;
    usize::try_from(*dim).ok()
}

/// The number of dimensions of the result; of the first one if there are several.
pub(crate) fn result_rank(op: &Op) -> usize {
    let first = op.shape.tuple_elements().and_then(<[_]>::first).unwrap_or(&op.shape);
    first.dims().len()
}

/// The smallest power of two that is at least `size`; 1 for an empty dimension. Triton's tiles have no other
/// sizes.
pub(crate) fn power_of_two(size: i64) -> Option<i64> {
    let size = u64::try_from(size).ok()?.max(1).checked_next_power_of_two()?;
    i64::try_from(size).ok()
}
