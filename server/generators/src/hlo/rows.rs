//! Ops over rows, matrices and features.

use ir::Opcode;

use super::program::{Operand, Program, braces};
use crate::value::list;

pub(super) fn sort(p: &mut Program<'_>, opcode: Opcode) -> Option<Operand> {
    let first = p.input(1..=3, 6)?;
    let dims = first.dims.clone();
    let inputs = p.rng.range(1, 3) as usize;
    let mut operands = vec![first];
    (1..inputs).for_each(|_| operands.push(p.parameter("f32", &dims)));
    let dim = p.rng.range(0, dims.len() as i64 - 1);
    let attributes = format!("dimensions={{{dim}}}, to_apply={}", p.comparison(inputs));
    let shapes: Vec<String> = (0..inputs).map(|_| p.shape("f32", &dims)).collect();
    let shape = if inputs == 1 { shapes[0].clone() } else { format!("({})", shapes.join(", ")) };
    let operands: Vec<&Operand> = operands.iter().collect();
    Some(p.push_of(opcode, "f32", &dims, shape, &operands, &attributes))
}

pub(super) fn topk(p: &mut Program<'_>, opcode: Opcode) -> Option<Operand> {
    let input = p.input(1..=3, 6)?;
    let mut dims = input.dims.clone();
    let last = dims.len() - 1;
    dims[last] = p.rng.range(0, dims[last]);
    let attributes = format!("k={}, largest=true", dims[last]);
    let shape = format!("({}, {})", p.shape("f32", &dims), p.shape("s32", &dims));
    Some(p.push_of(opcode, "f32", &dims, shape, &[&input], &attributes))
}

/// Complex to complex, or between real and the half spectrum.
pub(super) fn fft(p: &mut Program<'_>, opcode: Opcode) -> Option<Operand> {
    let rank = p.rng.range(1, 3) as usize;
    let mut dims = p.sizes(rank, 5);
    dims.iter().all(|&size| size > 0).then_some(())?;
    let lengths = dims[dims.len() - p.rng.range(1, rank as i64) as usize..].to_vec();
    let (kind, from, to) = match p.rng.range(0, 3) {
        0 => ("FFT", "c64", "c64"),
        1 => ("IFFT", "c64", "c64"),
        2 => ("RFFT", "f32", "c64"),
        _ => ("IRFFT", "c64", "f32"),
    };
    let full = dims.clone();
    dims[rank - 1] = dims[rank - 1] / 2 + 1;
    let (input, output) = match kind {
        "RFFT" => (&full, &dims),
        "IRFFT" => (&dims, &full),
        _ => (&full, &full),
    };
    let operand = p.parameter(from, input);
    p.push(opcode, to, output, &[&operand], &format!("fft_type={kind}, fft_length={}", braces(&lengths)))
}

pub(super) fn solve(p: &mut Program<'_>, opcode: Opcode) -> Option<Operand> {
    let (batch_rank, n) = (p.rng.range(0, 1) as usize, p.rng.range(1, 5));
    let batch = p.sizes(batch_rank, 3);
    let square = [&batch[..], &[n, n]].concat();
    let a = p.parameter("f32", &square);
    let mut flag = |name: &str| if p.rng.one_in(2) { format!("{name}=true, ") } else { String::new() };
    let lower = flag("lower");
    if opcode == Opcode::Cholesky {
        return p.push(opcode, "f32", &square, &[&a], lower.trim_end_matches(", "));
    }
    let (left, unit) = (flag("left_side"), flag("unit_diagonal"));
    let beside = p.rng.range(1, 3);
    let right = if left.is_empty() { [beside, n] } else { [n, beside] };
    let dims = [&batch[..], &right].concat();
    let b = p.parameter("f32", &dims);
    let transposed = *p.rng.pick(&["NO_TRANSPOSE", "TRANSPOSE", "ADJOINT"]);
    p.push(opcode, "f32", &dims, &[&a, &b], &format!("{left}{lower}{unit}transpose_a={transposed}"))
}

pub(super) fn batch_norm(p: &mut Program<'_>, opcode: Opcode) -> Option<Operand> {
    let x = p.input(1..=4, 4)?;
    let dims = x.dims.clone();
    let feature = p.rng.range(0, dims.len() as i64 - 1) as usize;
    let size = [dims[feature]];
    let mut operands = vec![x];
    let vectors = match opcode {
        Opcode::BatchNormTraining => 2,
        Opcode::BatchNormInference => 4,
        _ => 3,
    };
    (0..vectors).for_each(|_| operands.push(p.parameter("f32", &size)));
    if opcode == Opcode::BatchNormGrad {
        operands.push(p.parameter("f32", &dims));
    }
    let attributes = format!("epsilon=0.001, feature_index={feature}");
    let operands: Vec<&Operand> = operands.iter().collect();
    if opcode == Opcode::BatchNormInference {
        return p.push(opcode, "f32", &dims, &operands, &attributes);
    }
    let vector = format!("f32[{}]", list(&size));
    let shape = format!("({}, {vector}, {vector})", p.shape("f32", &dims));
    Some(p.push_of(opcode, "f32", &dims, shape, &operands, &attributes))
}
