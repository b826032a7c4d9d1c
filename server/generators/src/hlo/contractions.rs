//! Dots of all kinds, and convolution.

use ir::Opcode;

use super::program::{Operand, Program, braces};
use super::windows::window;

/// The sizes of `roles` in a random order, and the position of each role.
fn shuffled(p: &mut Program<'_>, roles: &[i64]) -> (Vec<i64>, Vec<usize>) {
    let order = p.rng.permutation(roles.len());
    let mut dims = vec![0; roles.len()];
    order.iter().zip(roles).for_each(|(&place, &size)| dims[place] = size);
    (dims, order)
}

/// Operand dimensions in the order batch, contracting, free.
struct Side {
    dims: Vec<i64>,
    /// The position of each of them.
    places: Vec<usize>,
    batch: usize,
    contracting: usize,
}

impl Side {
    fn batch(&self) -> String {
        braces(&self.places[..self.batch])
    }

    fn contracting(&self) -> String {
        braces(&self.places[self.batch..self.batch + self.contracting])
    }

    /// The free sizes in dimension order, without those at `except`.
    fn free(&self, except: Option<usize>) -> Vec<i64> {
        let taken = &self.places[..self.batch + self.contracting];
        let is_free = |dim: &usize| !taken.contains(dim) && Some(*dim) != except;
        (0..self.dims.len()).filter(is_free).map(|dim| self.dims[dim]).collect()
    }
}

fn side(p: &mut Program<'_>, batch: &[i64], contracting: &[i64], free: &[i64]) -> Side {
    let (dims, places) = shuffled(p, &[batch, contracting, free].concat());
    Side { dims, places, batch: batch.len(), contracting: contracting.len() }
}

fn attributes(lhs: &Side, rhs: &Side) -> String {
    format!(
        "lhs_batch_dims={}, lhs_contracting_dims={}, rhs_batch_dims={}, rhs_contracting_dims={}",
        lhs.batch(),
        lhs.contracting(),
        rhs.batch(),
        rhs.contracting()
    )
}

fn few(p: &mut Program<'_>, most: i64, largest: i64) -> Vec<i64> {
    let count = p.rng.range(0, most) as usize;
    p.sizes(count, largest)
}

pub(super) fn dot(p: &mut Program<'_>, opcode: Opcode) -> Option<Operand> {
    let is_scaled = opcode == Opcode::ScaledDot;
    let (lhs, first) = match p.chain.is_some() {
        true => {
            let first = p.input(1..=3, 6)?;
            let places = p.rng.permutation(first.dims.len());
            let batch = p.rng.range(0, first.dims.len() as i64 - 1) as usize;
            let contracting = p.rng.range(0, (first.dims.len() - batch) as i64) as usize;
            (Side { dims: first.dims.clone(), places, batch, contracting }, Some(first))
        }
        false => {
            let (batch, free) = (few(p, 2, 3), few(p, 2, 4));
            let contracting = if is_scaled { vec![p.rng.range(1, 8)] } else { few(p, 2, 5) };
            (side(p, &batch, &contracting, &free), None)
        }
    };
    let size = |i: usize| lhs.dims[lhs.places[i]];
    let batch: Vec<i64> = (0..lhs.batch).map(size).collect();
    let contracting: Vec<i64> = (lhs.batch..lhs.batch + lhs.contracting).map(size).collect();
    let free = few(p, 2, 4);
    let rhs = side(p, &batch, &contracting, &free);
    let first = first.unwrap_or_else(|| p.parameter("f32", &lhs.dims));
    let second = p.parameter("f32", &rhs.dims);
    let mut operands = vec![first, second];
    if is_scaled {
        for side in [&lhs, &rhs] {
            let scale: Vec<i64> = side
                .dims
                .iter()
                .map(|&size| {
                    let divisors: Vec<i64> = (1..=size).filter(|d| size % d == 0).collect();
                    if divisors.is_empty() { size } else { *p.rng.pick(&divisors) }
                })
                .collect();
            operands.push(p.parameter("f32", &scale));
        }
    }
    let output = [batch, lhs.free(None), rhs.free(None)].concat();
    let operands: Vec<&Operand> = operands.iter().collect();
    p.push(opcode, "f32", &output, &operands, &attributes(&lhs, &rhs))
}

/// The ragged dimension is free, contracted or a batch dimension.
pub(super) fn ragged_dot(p: &mut Program<'_>, opcode: Opcode) -> Option<Operand> {
    let (batch, contracting, free) =
        (vec![p.rng.range(1, 2)], vec![p.rng.range(1, 4)], vec![p.rng.range(1, 5)]);
    let mode = p.rng.range(0, 2);
    let groups = p.rng.range(1, 3);
    let lhs = side(p, &batch, &contracting, &free);
    let right_free = vec![p.rng.range(1, 3)];
    let mut right = right_free.clone();
    if mode == 0 {
        right.push(groups);
    }
    let rhs = side(p, &batch, &contracting, &right);
    let (ragged, size) = match mode {
        0 => (lhs.places[2], free[0]),
        1 => (lhs.places[1], contracting[0]),
        _ => (lhs.places[0], batch[0]),
    };
    // The groups may leave rows at the end.
    let mut left = size;
    let sizes: Vec<i64> = (0..groups)
        .map(|_| {
            let size = p.rng.range(0, left);
            left -= size;
            size
        })
        .collect();
    let group = (mode == 0).then(|| rhs.places[3]);
    let mut output = [batch, free, rhs.free(group)].concat();
    if mode == 1 {
        output.insert(0, groups);
    }
    let operands =
        [p.parameter("f32", &lhs.dims), p.parameter("f32", &rhs.dims), p.indices(&[groups], sizes)];
    let group = group.map_or("{}".to_owned(), |group| braces(&[group]));
    let attributes =
        format!("{}, lhs_ragged_dims={{{ragged}}}, rhs_group_dims={group}", attributes(&lhs, &rhs));
    p.push(opcode, "f32", &output, &operands.iter().collect::<Vec<_>>(), &attributes)
}

pub(super) fn convolution(p: &mut Program<'_>, opcode: Opcode) -> Option<Operand> {
    let spatial = p.rng.range(0, 2) as usize;
    let base: Vec<i64> = (0..spatial).map(|_| p.rng.range(1, 5)).collect();
    let kernel: Vec<i64> = (0..spatial).map(|_| p.rng.range(1, 3)).collect();
    let window = window(p, &base, Some(&kernel), true)?;
    let (feature_groups, batch_groups) = match p.rng.range(0, 3) {
        0 => (p.rng.range(2, 3), 1),
        1 => (1, p.rng.range(2, 3)),
        _ => (1, 1),
    };
    let features = p.rng.range(1, 2);
    let batch = p.rng.range(1, 2);
    let output_features = feature_groups * batch_groups * p.rng.range(1, 2);
    // Each side: two letters, then the spatial digits, in a random order.
    let mut place = |letters: [char; 2], sizes: [i64; 2], spatial_sizes: &[i64]| {
        let order = p.rng.permutation(spatial + 2);
        let mut labels = vec![' '; spatial + 2];
        let mut dims = vec![0; spatial + 2];
        for (i, &at) in order.iter().enumerate() {
            labels[at] = if i < 2 { letters[i] } else { char::from(b'0' + (i - 2) as u8) };
            dims[at] = if i < 2 { sizes[i] } else { spatial_sizes[i - 2] };
        }
        (labels.into_iter().collect::<String>(), dims)
    };
    let input = place(['b', 'f'], [batch * batch_groups, features * feature_groups], &base);
    let weights = place(['i', 'o'], [features, output_features], &kernel);
    let output = place(['b', 'f'], [batch, output_features], &window.output);
    let operands = [p.parameter("f32", &input.1), p.parameter("f32", &weights.1)];
    let mut attributes = format!("{}dim_labels={}_{}->{}", window.text, input.0, weights.0, output.0);
    if feature_groups > 1 {
        attributes += &format!(", feature_group_count={feature_groups}");
    }
    if batch_groups > 1 {
        attributes += &format!(", batch_group_count={batch_groups}");
    }
    p.push(opcode, "f32", &output.1, &[&operands[0], &operands[1]], &attributes)
}
