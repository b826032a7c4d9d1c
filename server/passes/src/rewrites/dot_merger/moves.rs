//! Transposes and reshapes in sequence, as few as possible.
//!
//! Source: XLA `hlo/analysis/shape_tracker.cc`, for what one transpose between two reshapes does.

use std::ops::Range;

use syntax::hlo::Opcode;

use super::super::every::add;
use crate::dimensions::{inverse_permutation, is_identity, permuted};
use crate::driver::Run;
use crate::module::{InstructionId, Module, NewOp};
use crate::shapes::of_element;

/// The elements of an array in another order and shape.
#[derive(Debug, Clone)]
pub(in super::super) struct Moves {
    input: Vec<i64>,
    output: Vec<i64>,
    /// Stride in the input and size of each part of the index, the slowest first.
    parts: Vec<(i64, i64)>,
}

impl Moves {
    pub(in super::super) fn new(dims: &[i64]) -> Moves {
        let count = dims.iter().product();
        Moves { input: dims.to_vec(), output: dims.to_vec(), parts: vec![(1, count)] }
    }

    /// Of the instructions from one value to another.
    pub(in super::super) fn of_chain(
        module: &Module,
        from: InstructionId,
        to: InstructionId,
    ) -> Option<Moves> {
        let mut chain = Vec::new();
        let mut id = to;
        while id != from {
            chain.push(id);
            id = *module[id].operands().first()?;
        }
        let mut moves = Moves::new(module[from].dims());
        for &id in chain.iter().rev() {
            match module[id].opcode() {
                Opcode::Reshape => moves.reshape(module[id].dims()),
                Opcode::Transpose => {
                    let order: Vec<usize> = module[id].dimensions().iter().map(|&dim| dim as usize).collect();
                    moves.transpose(&order)?;
                }
                _ => return None,
            }
        }
        Some(moves)
    }

    pub(in super::super) fn reshape(&mut self, dims: &[i64]) {
        self.output = dims.to_vec();
    }

    /// `None` where a dimension is no group of parts, and for arrays without elements.
    pub(in super::super) fn transpose(&mut self, order: &[usize]) -> Option<()> {
        if self.output.contains(&0) {
            return None;
        }
        let mut rest = self.parts.iter().copied();
        let mut part = rest.next();
        let mut groups: Vec<Vec<(i64, i64)>> = Vec::with_capacity(self.output.len());
        for &size in &self.output {
            let (mut group, mut left) = (Vec::new(), size);
            while left > 1 {
                let (stride, extent) = part?;
                let taken = extent.min(left);
                if extent % taken != 0 || left % taken != 0 {
                    return None;
                }
                group.push((stride * (extent / taken), taken));
                left /= taken;
                part = if extent == taken { rest.next() } else { Some((stride, extent / taken)) };
            }
            groups.push(group);
        }
        self.parts.clear();
        for &dim in order {
            for &(stride, size) in groups.get(dim)? {
                match self.parts.last_mut().filter(|last| last.0 == stride * size) {
                    Some(last) => *last = (stride, last.1 * size),
                    None => self.parts.push((stride, size)),
                }
            }
        }
        if self.parts.is_empty() {
            self.parts.push((1, 1));
        }
        self.output = order.iter().map(|&dim| self.output[dim]).collect();
        Some(())
    }

    /// Adds the instructions.
    pub(in super::super) fn add(&self, run: &mut Run<'_>, id: InstructionId) -> Option<InstructionId> {
        let mut sorted: Vec<usize> = (0..self.parts.len()).collect();
        sorted.sort_by_key(|&part| std::cmp::Reverse(self.parts[part].0));
        let sizes: Vec<i64> = sorted.iter().map(|&part| self.parts[part].1).collect();
        let sorted: Vec<i64> = sorted.iter().map(|&part| part as i64).collect();
        let order = inverse_permutation(&sorted);
        let mut new = id;
        let mut dims = self.input.clone();
        let reshape = |run: &mut Run<'_>, value: InstructionId, dims: &[i64]| {
            let shape = of_element(run.module[value].shape(), dims)?;
            Some(add(run, value, NewOp::new(Opcode::Reshape, shape, &[value])))
        };
        if !is_identity(&order) {
            let (split, groups) = expanded(&sizes, &dims);
            if dims != split {
                new = reshape(run, new, &split)?;
            }
            let order: Vec<i64> = order
                .iter()
                .flat_map(|&part| groups.get(part as usize).cloned().unwrap_or_default())
                .collect();
            let shape = permuted(run.module[new].shape(), &order);
            dims = shape.dims().to_vec();
            new = add(run, new, NewOp::new(Opcode::Transpose, shape, &[new]).dimensions(&order));
        }
        match dims == self.output {
            true => Some(new),
            false => reshape(run, new, &self.output),
        }
    }
}

/// A shape of these sizes in which dimensions of the shape before stay apart, where that is possible; and which dimensions each size
/// becomes. Source: `ExpandReshapeStep`.
fn expanded(sizes: &[i64], before: &[i64]) -> (Vec<i64>, Vec<Range<i64>>) {
    let products = |sizes: &[i64]| -> Vec<i64> {
        let product = |so_far: &mut i64, &size: &i64| {
            *so_far = so_far.saturating_mul(size);
            Some(*so_far)
        };
        sizes.iter().scan(1, product).collect()
    };
    let (kept, others) = (products(sizes), products(before));
    let mut others = others.into_iter().peekable();
    let (mut ends, mut groups) = (Vec::new(), Vec::new());
    for end in kept {
        let start = ends.len() as i64;
        while let Some(other) = others.next_if(|&other| other < end) {
            if end % other == 0 && ends.last().is_none_or(|last| other % last == 0) {
                ends.push(other);
            }
        }
        ends.push(end);
        others.next_if_eq(&end);
        groups.push(start..ends.len() as i64);
    }
    let sizes = (0..ends.len()).map(|at| ends[at] / if at == 0 { 1 } else { ends[at - 1] });
    (sizes.collect(), groups)
}
