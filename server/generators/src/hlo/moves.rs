//! Ops that move elements, with places known from shapes and attributes.

use ir::Opcode;

use super::program::{Operand, Program, braces};
use crate::value::count;

pub(super) fn broadcast(p: &mut Program<'_>, opcode: Opcode) -> Option<Operand> {
    let input = p.input(0..=3, 5)?;
    let added = p.rng.range(0, 2) as usize;
    let rank = input.dims.len() + added;
    // XLA allows dimensions in any order.
    let mut places = p.rng.choose(rank, input.dims.len());
    if p.rng.one_in(4) {
        let order = p.rng.permutation(places.len());
        places = order.iter().map(|&i| places[i]).collect();
    }
    let mut dims = p.sizes(rank, 3);
    places.iter().zip(&input.dims).for_each(|(&place, &size)| dims[place] = size);
    p.push(opcode, "f32", &dims, &[&input], &format!("dimensions={}", braces(&places)))
}

pub(super) fn transpose(p: &mut Program<'_>, opcode: Opcode) -> Option<Operand> {
    let input = p.input(0..=4, 6)?;
    let order = p.rng.permutation(input.dims.len());
    let dims: Vec<i64> = order.iter().map(|&dim| input.dims[dim]).collect();
    p.push(opcode, "f32", &dims, &[&input], &format!("dimensions={}", braces(&order)))
}

pub(super) fn reverse(p: &mut Program<'_>, opcode: Opcode) -> Option<Operand> {
    let input = p.input(0..=3, 6)?;
    let reversed = p.rng.subset(input.dims.len());
    p.push(opcode, "f32", &input.dims, &[&input], &format!("dimensions={}", braces(&reversed)))
}

pub(super) fn slice(p: &mut Program<'_>, opcode: Opcode) -> Option<Operand> {
    let input = p.input(0..=3, 8)?;
    let mut dims = Vec::new();
    let mut parts = Vec::new();
    for &size in &input.dims {
        let start = p.rng.range(0, size);
        let limit = if p.rng.one_in(12) { start } else { p.rng.range((start + 1).min(size), size) };
        let stride = p.rng.range(1, 3);
        dims.push((limit - start + stride - 1) / stride);
        parts.push(format!("[{start}:{limit}:{stride}]"));
    }
    p.push(opcode, "f32", &dims, &[&input], &format!("slice={{{}}}", parts.join(", ")))
}

pub(super) fn concatenate(p: &mut Program<'_>, opcode: Opcode) -> Option<Operand> {
    let input = p.input(1..=3, 5)?;
    let dim = p.rng.range(0, input.dims.len() as i64 - 1) as usize;
    let mut dims = input.dims.clone();
    let mut operands = vec![input];
    for _ in 0..p.rng.range(0, 3) {
        let mut other = dims.clone();
        other[dim] = p.rng.range(0, 3);
        operands.push(p.beside(&other));
    }
    let order = p.rng.permutation(operands.len());
    let operands: Vec<&Operand> = match operands.iter().all(|o| o.name.starts_with('p')) {
        // Parameters are operands in order.
        true => operands.iter().collect(),
        false => order.iter().map(|&i| &operands[i]).collect(),
    };
    dims[dim] = operands.iter().map(|o| o.dims[dim]).sum();
    p.push(opcode, "f32", &dims, &operands, &format!("dimensions={{{dim}}}"))
}

pub(super) fn pad(p: &mut Program<'_>, opcode: Opcode) -> Option<Operand> {
    let input = p.input(0..=3, 5)?;
    let value = p.beside(&[]);
    let mut dims = Vec::new();
    let mut parts = Vec::new();
    for &size in &input.dims {
        let (low, high) = (p.rng.range(-2, 3), p.rng.range(-2, 3));
        let interior = if p.rng.one_in(2) { 0 } else { p.rng.range(0, 2) };
        dims.push(size + low + high + (size - 1).max(0) * interior);
        parts.push(format!("{low}_{high}_{interior}"));
    }
    let attributes =
        if parts.is_empty() { "padding=".to_owned() } else { format!("padding={}", parts.join("x")) };
    (!parts.is_empty()).then_some(())?;
    p.push(opcode, "f32", &dims, &[&input, &value], &attributes)
}

pub(super) fn reshape(p: &mut Program<'_>, opcode: Opcode) -> Option<Operand> {
    let input = p.input(0..=4, 8)?;
    let n = count(&input.dims);
    let mut dims = p.rng.factors(n.max(1), 4);
    if n == 0 {
        dims.push(0);
    }
    let mut operands = vec![input];
    if opcode == Opcode::DynamicReshape {
        (0..dims.len()).for_each(|i| {
            let size = p.indices(&[], vec![dims[i]]);
            operands.push(size);
        });
    }
    let operands: Vec<&Operand> = operands.iter().collect();
    p.push(opcode, "f32", &dims, &operands, "")
}

/// Random layouts; outside of chains also from one element width to another.
pub(super) fn bitcast(p: &mut Program<'_>, opcode: Opcode) -> Option<Operand> {
    let widths = [("u8", 8), ("u16", 16), ("f32", 32), ("s64", 64)];
    let is_chained = p.chain.is_some() || p.rng.one_in(2);
    let (from, to) = match is_chained {
        true => (("f32", 32), ("f32", 32)),
        false => (*p.rng.pick(&widths), *p.rng.pick(&widths)),
    };
    let input = match is_chained {
        true => p.input(0..=4, 6)?,
        false => {
            let rank = p.rng.range(0, 4) as usize;
            let dims = p.sizes(rank, 6);
            p.parameter(from.0, &dims)
        }
    };
    let n = count(&input.dims);
    let (element, bits) = to;
    (n * from.1 % bits == 0).then_some(())?;
    let mut dims = p.rng.factors((n * from.1 / bits).max(1), 4);
    if n == 0 {
        dims.push(0);
    }
    p.push(opcode, element, &dims, &[&input], "")
}

pub(super) fn dimension_size(p: &mut Program<'_>, opcode: Opcode) -> Option<Operand> {
    let input = p.input(1..=3, 5)?;
    let dim = p.rng.range(0, input.dims.len() as i64 - 1) as usize;
    let attributes = format!("dimensions={{{dim}}}");
    if opcode == Opcode::GetDimensionSize {
        return p.push(opcode, "s32", &[], &[&input], &attributes);
    }
    let size = p.indices(&[], vec![input.dims[dim]]);
    let mut sizes: Vec<String> = input.dims.iter().map(i64::to_string).collect();
    sizes[dim] = format!("<={}", sizes[dim]);
    let shape = format!("f32[{}]", sizes.join(","));
    Some(p.push_of(opcode, "f32", &input.dims, shape, &[&input, &size], &attributes))
}

/// Ops whose results are their operands unchanged.
pub(super) fn in_place(p: &mut Program<'_>, opcode: Opcode) -> Option<Operand> {
    let input = p.input(0..=3, 6)?;
    let shape = match opcode {
        Opcode::CopyStart => format!("({0}, {0}, u32[])", input.shape),
        _ => input.shape.clone(),
    };
    Some(p.push_of(opcode, "f32", &input.dims.clone(), shape, &[&input], ""))
}

pub(super) fn copy_done(p: &mut Program<'_>, opcode: Opcode) -> Option<Operand> {
    let rank = p.rng.range(0, 3) as usize;
    let dims = p.sizes(rank, 5);
    let shape = p.shape("f32", &dims);
    let start = p.parameter_of("f32", &dims, format!("({shape}, {shape}, u32[])"), None);
    Some(p.push_of(opcode, "f32", &dims, shape, &[&start], ""))
}
