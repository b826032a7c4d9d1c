//! Ops with dynamic indices: the index operands are parameters with known integers.

use ir::Opcode;

use super::program::{Operand, Program, braces};

/// The start indices of a slice of sizes `slice` in `whole`: mostly in bounds, sometimes clamped; scalars or
/// one vector. In a chain also constants and sums of constants.
fn starts(p: &mut Program<'_>, whole: &[i64], slice: &[i64], is_chained: bool) -> Vec<Operand> {
    let values: Vec<i64> = whole
        .iter()
        .zip(slice)
        .map(|(&whole, &slice)| match p.rng.one_in(5) {
            true => p.rng.range(-3, whole + 2),
            false => p.rng.range(0, whole - slice),
        })
        .collect();
    if !values.is_empty() && p.rng.one_in(4) {
        return vec![p.indices(&[values.len() as i64], values)];
    }
    let mut operands = Vec::new();
    for value in values {
        operands.push(match is_chained {
            true if p.rng.one_in(3) => {
                p.push_line("s32", &[], "s32[]".to_owned(), &format!("constant({value})"))
            }
            true if p.rng.one_in(3) => {
                let base = p.indices(&[], vec![value - 1]);
                let one = p.push_line("s32", &[], "s32[]".to_owned(), "constant(1)");
                p.push_of(Opcode::Add, "s32", &[], "s32[]".to_owned(), &[&base, &one], "")
            }
            _ => p.indices(&[], vec![value]),
        });
    }
    operands
}

fn part(p: &mut Program<'_>, whole: &[i64]) -> Vec<i64> {
    whole.iter().map(|&size| if p.rng.one_in(10) { 0 } else { p.rng.range(1.min(size), size) }).collect()
}

pub(super) fn dynamic_slice(p: &mut Program<'_>, opcode: Opcode) -> Option<Operand> {
    let is_chained = p.chain.is_some();
    let input = p.input(1..=3, 6)?;
    let slice = part(p, &input.dims);
    let starts = starts(p, &input.dims, &slice, is_chained);
    let operands: Vec<&Operand> = [&input].into_iter().chain(&starts).collect();
    p.push(opcode, "f32", &slice, &operands, &format!("dynamic_slice_sizes={}", braces(&slice)))
}

pub(super) fn dynamic_update_slice(p: &mut Program<'_>, opcode: Opcode) -> Option<Operand> {
    let is_chained = p.chain.is_some();
    let input = p.input(1..=3, 6)?;
    let slice = part(p, &input.dims);
    let update = p.beside(&slice);
    let starts = starts(p, &input.dims, &slice, is_chained);
    let operands: Vec<&Operand> = [&input, &update].into_iter().chain(&starts).collect();
    p.push(opcode, "f32", &input.dims, &operands, "")
}

/// The common parts of a gather and a scatter: the indexed array, and the index vectors.
struct Indexed {
    batching: Vec<usize>,
    index_batching: Vec<usize>,
    /// The dimension that each component of a vector indexes.
    start_map: Vec<usize>,
    /// The sizes of the window.
    sizes: Vec<i64>,
    /// Dimensions of the array that the window lacks: collapsed or inserted.
    collapsed: Vec<usize>,
    /// Window dimensions in the result (or the updates).
    window: Vec<usize>,
    indices: Operand,
    vector_dim: usize,
    batch: Vec<i64>,
}

impl Indexed {
    fn of(p: &mut Program<'_>, dims: &[i64]) -> Option<Indexed> {
        let rank = dims.len();
        // Vectors may lie along any dimension, or be scalars (then there is no such dimension).
        let batching = if p.rng.one_in(3) { p.rng.choose(rank, 1) } else { Vec::new() };
        let free: Vec<usize> = (0..rank).filter(|dim| !batching.contains(dim)).collect();
        let named = p.rng.range(0, free.len() as i64) as usize;
        let order = p.rng.permutation(free.len());
        let start_map: Vec<usize> = order[..named].iter().map(|&i| free[i]).collect();
        let mut sizes: Vec<i64> = Vec::new();
        for (dim, &size) in dims.iter().enumerate() {
            let largest = if batching.contains(&dim) { size.min(1) } else { size };
            sizes.push(if p.rng.one_in(12) { 0 } else { p.rng.range(1.min(largest), largest) });
        }
        let mut collapsed = Vec::new();
        for &dim in &free {
            if p.rng.one_in(3) {
                collapsed.push(dim);
                sizes[dim] = sizes[dim].min(1);
            }
        }
        let window = (0..rank).filter(|d| !batching.contains(d) && !collapsed.contains(d)).collect();
        let batch_rank = p.rng.range(batching.len() as i64, 2) as usize;
        let mut batch = p.sizes(batch_rank, 4);
        let batch_place = if batch_rank > 0 { p.rng.range(0, batch_rank as i64 - 1) as usize } else { 0 };
        batching.iter().for_each(|&dim| batch[batch_place] = dims[dim]);
        let is_scalar = start_map.len() == 1 && p.rng.one_in(3);
        let vector_dim = if is_scalar { batch_rank } else { p.rng.range(0, batch_rank as i64) as usize };
        let mut index_dims = batch.clone();
        if !is_scalar {
            index_dims.insert(vector_dim, start_map.len() as i64);
        }
        let index_batching = batching
            .iter()
            .map(|_| if !is_scalar && batch_place >= vector_dim { batch_place + 1 } else { batch_place });
        let index_batching = index_batching.collect();
        let mut values = Vec::new();
        dependences::for_each_index(&index_dims, |index| {
            let component = if is_scalar { 0 } else { index[vector_dim] as usize };
            let dim = start_map[component];
            values.push(match p.rng.one_in(5) {
                true => p.rng.range(-3, dims[dim] + 2),
                false => p.rng.range(0, dims[dim] - sizes[dim]),
            });
        });
        let indices = p.indices(&index_dims, values);
        Some(Indexed {
            batching,
            index_batching,
            start_map,
            sizes,
            collapsed,
            window,
            indices,
            vector_dim,
            batch,
        })
    }

    /// The window dimensions of the result (or the updates), and all its sizes.
    fn interleaved(&self, p: &mut Program<'_>) -> (Vec<usize>, Vec<i64>) {
        let rank = self.batch.len() + self.window.len();
        let places = p.rng.choose(rank, self.window.len());
        let (mut window, mut batch) = (self.window.iter(), self.batch.iter());
        let sizes = (0..rank).filter_map(|dim| match places.contains(&dim) {
            true => window.next().map(|&dim| self.sizes[dim]),
            false => batch.next().copied(),
        });
        let sizes = sizes.collect();
        (places, sizes)
    }
}

/// Half of the gathers have XLA's simplified form.
pub(super) fn gather(p: &mut Program<'_>, opcode: Opcode) -> Option<Operand> {
    let input = p.input(1..=3, 6)?;
    let mut of = Indexed::of(p, &input.dims)?;
    let is_simplified = of.batching.is_empty()
        && of.collapsed.is_empty()
        && of.batch.len() == 1
        && of.vector_dim == 1
        && of.indices.dims.len() == 2
        && p.rng.one_in(2);
    let (mut places, mut dims) = of.interleaved(p);
    if is_simplified {
        places = (1..=of.window.len()).collect();
        dims = of.batch.iter().chain(&of.sizes).copied().collect();
    }
    for &dim in &of.batching {
        of.sizes[dim] = of.sizes[dim].min(1);
    }
    let mut attributes = format!(
        "offset_dims={}, collapsed_slice_dims={}, start_index_map={}, index_vector_dim={}, slice_sizes={}",
        braces(&places),
        braces(&of.collapsed),
        braces(&of.start_map),
        of.vector_dim,
        braces(&of.sizes),
    );
    if !of.batching.is_empty() {
        let (operand, indices) = (braces(&of.batching), braces(&of.index_batching));
        attributes += &format!(", operand_batching_dims={operand}, start_indices_batching_dims={indices}");
    }
    // A batching slice of size 0 reads nothing and cannot express that.
    let is_read = of.batching.iter().chain(&of.collapsed).all(|&dim| of.sizes[dim] == 1);
    is_read.then_some(())?;
    p.push(opcode, "f32", &dims, &[&input, &of.indices], &attributes)
}

pub(super) fn scatter(p: &mut Program<'_>, opcode: Opcode) -> Option<Operand> {
    let inputs = if p.rng.one_in(4) { 2 } else { 1 };
    let mut operands = vec![p.input(1..=3, 6)?];
    let dims = operands[0].dims.clone();
    (1..inputs).for_each(|_| operands.push(p.parameter("f32", &dims)));
    let of = Indexed::of(p, &dims)?;
    operands.push(of.indices.clone());
    let (places, update_dims) = of.interleaved(p);
    (0..inputs).for_each(|_| operands.push(p.parameter("f32", &update_dims)));
    let to_apply = p.adder(inputs);
    let mut attributes = format!(
        "update_window_dims={}, inserted_window_dims={}, scatter_dims_to_operand_dims={}, index_vector_dim={}",
        braces(&places),
        braces(&of.collapsed),
        braces(&of.start_map),
        of.vector_dim,
    );
    if !of.batching.is_empty() {
        let (operand, indices) = (braces(&of.batching), braces(&of.index_batching));
        attributes += &format!(", input_batching_dims={operand}, scatter_indices_batching_dims={indices}");
    }
    // An inserted dimension of size 0 has no element to update.
    dims.iter().enumerate().all(|(i, &d)| d > 0 || of.window.contains(&i)).then_some(())?;
    attributes += &format!(", to_apply={to_apply}");
    let operands: Vec<&Operand> = operands.iter().collect();
    if inputs == 1 {
        return p.push(opcode, "f32", &dims, &operands, &attributes);
    }
    let shape = format!("({})", vec![operands[0].shape.as_str(); inputs].join(", "));
    Some(p.push_of(opcode, "f32", &dims, shape, &operands, &attributes))
}
