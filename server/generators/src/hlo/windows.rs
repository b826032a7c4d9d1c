//! Reductions, windows and scans.

use ir::Opcode;

use super::program::{Operand, Program, braces};
use crate::value::list;

/// One to three inputs of equal sizes, followed by as many scalars.
fn inputs_and_inits(p: &mut Program<'_>, first: Operand) -> Vec<Operand> {
    let inputs = if p.chain.is_some() || !p.rng.one_in(4) { 1 } else { p.rng.range(2, 3) as usize };
    let dims = first.dims.clone();
    let mut operands = vec![first];
    (1..inputs).for_each(|_| operands.push(p.parameter("f32", &dims)));
    (0..inputs).for_each(|_| operands.push(p.parameter("f32", &[])));
    operands
}

/// One array, or a tuple of one per input.
fn push_each(
    p: &mut Program<'_>,
    opcode: Opcode,
    dims: &[i64],
    operands: &[Operand],
    attributes: &str,
) -> Option<Operand> {
    let inputs = operands.len() / 2;
    let operands: Vec<&Operand> = operands.iter().collect();
    if inputs == 1 {
        return p.push(opcode, "f32", dims, &operands, attributes);
    }
    let shape = p.shape("f32", dims);
    let shape = format!("({})", vec![shape; inputs].join(", "));
    Some(p.push_of(opcode, "f32", dims, shape, &operands, attributes))
}

pub(super) fn reduce(p: &mut Program<'_>, opcode: Opcode) -> Option<Operand> {
    let is_chained = p.chain.is_some();
    let first = p.input(0..=4, 6)?;
    let reduced = p.rng.subset(first.dims.len());
    let dims =
        (0..first.dims.len()).filter(|d| !reduced.contains(d)).map(|d| first.dims[d]).collect::<Vec<_>>();
    let operands = match is_chained {
        true => vec![first, p.parameter("f32", &[])],
        false => inputs_and_inits(p, first),
    };
    let to_apply = p.adder(operands.len() / 2);
    push_each(p, opcode, &dims, &operands, &format!("dimensions={}, to_apply={to_apply}", braces(&reduced)))
}

/// A window over `dims`: its text, and the output sizes.
pub(super) struct Window {
    pub text: String,
    pub output: Vec<i64>,
}

/// `kernel`: the sizes that the window must have. Base dilation, dilation and reversal only if `is_full`.
pub(super) fn window(
    p: &mut Program<'_>,
    dims: &[i64],
    kernel: Option<&[i64]>,
    is_full: bool,
) -> Option<Window> {
    let dilated = |size: i64, dilation: i64| if size == 0 { 0 } else { (size - 1) * dilation + 1 };
    let mut fields: [Vec<String>; 6] = Default::default();
    let mut output = Vec::new();
    for (i, &base) in dims.iter().enumerate() {
        let size = kernel.map_or_else(|| p.rng.range(1, 3), |sizes| sizes[i]);
        let stride = p.rng.range(1, 3);
        let (low, high) = (p.rng.range(if is_full { -1 } else { 0 }, 2), p.rng.range(0, 2));
        let mut dilation = || if is_full && p.rng.one_in(3) { p.rng.range(1, 3) } else { 1 };
        let (base_dilation, window_dilation) = (dilation(), dilation());
        let is_reversed = is_full && kernel.is_some() && p.rng.one_in(4);
        let padded = low + dilated(base, base_dilation) + high;
        let span = dilated(size, window_dilation);
        (padded >= 0 && size > 0).then_some(())?;
        output.push(if padded == 0 || span > padded { 0 } else { (padded - span) / stride + 1 });
        let values = [size, stride, base_dilation, window_dilation, i64::from(is_reversed)];
        values
            .iter()
            .enumerate()
            .for_each(|(f, value)| fields[if f < 2 { f } else { f + 1 }].push(value.to_string()));
        fields[2].push(format!("{low}_{high}"));
    }
    let names = ["size", "stride", "pad", "lhs_dilate", "rhs_dilate", "rhs_reversal"];
    let text: Vec<String> =
        names.iter().zip(&fields).map(|(name, values)| format!("{name}={}", values.join("x"))).collect();
    let text = if dims.is_empty() { String::new() } else { format!("window={{{}}}, ", text.join(" ")) };
    Some(Window { text, output })
}

pub(super) fn reduce_window(p: &mut Program<'_>, opcode: Opcode) -> Option<Operand> {
    let is_chained = p.chain.is_some();
    let first = p.input(1..=3, 6)?;
    let window = window(p, &first.dims, None, true)?;
    let operands = match is_chained {
        true => vec![first, p.parameter("f32", &[])],
        false => inputs_and_inits(p, first),
    };
    let to_apply = p.adder(operands.len() / 2);
    push_each(p, opcode, &window.output, &operands, &format!("{}to_apply={to_apply}", window.text))
}

pub(super) fn select_and_scatter(p: &mut Program<'_>, opcode: Opcode) -> Option<Operand> {
    let operand = p.input(1..=2, 7)?;
    let window = window(p, &operand.dims, None, false)?;
    let source = p.parameter("f32", &window.output);
    let init = p.parameter("f32", &[]);
    let (select, scatter) = (p.comparison(1), p.adder(1));
    let attributes = format!("{}select={select}, scatter={scatter}", window.text);
    p.push(opcode, "f32", &operand.dims, &[&operand, &source, &init], &attributes)
}

/// Inputs and as many carries, which are slices of them; each input is added to its carry.
pub(super) fn scan(p: &mut Program<'_>, opcode: Opcode) -> Option<Operand> {
    let first = p.input(1..=3, 5)?;
    let dims = first.dims.clone();
    let dim = p.rng.range(0, dims.len() as i64 - 1) as usize;
    let mut beside = dims.clone();
    beside.remove(dim);
    let inputs = p.rng.range(1, 2) as usize;
    let mut operands = vec![first];
    (1..inputs).for_each(|_| operands.push(p.parameter("f32", &dims)));
    (0..inputs).for_each(|_| operands.push(p.parameter("f32", &beside)));
    let scalar = format!("f32[{}]", list(&beside));
    let mut lines: Vec<String> = (0..2 * inputs).map(|i| format!("a{i} = {scalar} parameter({i})")).collect();
    // Outputs are numbered by input. Every sum is both a result and the next carry, and includes all inputs.
    for i in 0..inputs {
        lines.push(format!("b{i} = {scalar} add(a{i}, a{})", inputs + i));
        let before = if i == 0 { "b0".to_owned() } else { format!("sum{}", i - 1) };
        lines.push(format!("sum{i} = {scalar} add(b{i}, {before})"));
    }
    let last = format!("sum{}", inputs - 1);
    let sums: Vec<String> = vec![last; 2 * inputs];
    lines.push(format!("t = ({}) tuple({})", vec![scalar; 2 * inputs].join(", "), sums.join(", ")));
    let name = format!("scan{inputs}_{}", list(&beside).replace(',', "_"));
    let to_apply = p.computation(&name, &lines);
    let reverse = if p.rng.one_in(2) { ", is_reverse=true" } else { "" };
    let attributes = format!("dimensions={{{dim}}}, num_carries={inputs}{reverse}, to_apply={to_apply}");
    let shapes: Vec<String> = (0..2 * inputs)
        .map(|i| if i < inputs { p.shape("f32", &dims) } else { p.shape("f32", &beside) })
        .collect();
    let operands: Vec<&Operand> = operands.iter().collect();
    Some(p.push_of(opcode, "f32", &dims, format!("({})", shapes.join(", ")), &operands, &attributes))
}
