//! Elementwise ops, and ops without data operands.

use ir::Opcode;

use super::program::{Operand, Program, braces};

/// The element types of operands and result, if they are not all `f32`.
fn types(opcode: Opcode) -> (Vec<&'static str>, &'static str) {
    use Opcode::*;
    match opcode {
        Compare => (vec!["f32"; 2], "pred"),
        IsFinite => (vec!["f32"], "pred"),
        Select => (vec!["pred", "f32", "f32"], "f32"),
        Clamp => (vec!["f32"; 3], "f32"),
        Complex => (vec!["f32"; 2], "c64"),
        Real | Imag => (vec!["c64"], "f32"),
        Convert => (vec!["s32"], "f32"),
        StochasticConvert => (vec!["f32", "u32"], "f16"),
        CountLeadingZeros | Not | Popcnt => (vec!["s32"], "s32"),
        And | Or | Xor | Mulhi | ShiftLeft | ShiftRightArithmetic | ShiftRightLogical => {
            (vec!["s32"; 2], "s32")
        }
        Add | Atan2 | Divide | Maximum | Minimum | Multiply | Power | Remainder | Subtract => {
            (vec!["f32"; 2], "f32")
        }
        _ => (vec!["f32"], "f32"),
    }
}

pub(super) fn elementwise(p: &mut Program<'_>, opcode: Opcode) -> Option<Operand> {
    let (operand_types, result) = types(opcode);
    let is_chained = p.chain.is_some();
    // In a chain the value becomes the last operand, which has the result's type.
    let first = p.input(0..=4, 6)?;
    let dims = first.dims.clone();
    let mut operands = Vec::new();
    for (i, element) in operand_types.iter().enumerate() {
        let is_last = i + 1 == operand_types.len();
        let may_be_scalar = matches!((opcode, i), (Opcode::Select, 0) | (Opcode::Clamp, 0 | 2));
        let takes_first = if is_chained { is_last } else { i == 0 && *element == "f32" && !may_be_scalar };
        let operand = if takes_first {
            first.clone()
        } else if may_be_scalar && p.rng.one_in(2) {
            p.parameter(element, &[])
        } else if opcode == Opcode::StochasticConvert {
            // All operands have the same layout.
            let shape = first.shape.replacen(&first.element, element, 1);
            p.parameter_of(element, &dims, shape, None)
        } else if *element == "f32" {
            p.beside(&dims)
        } else {
            p.parameter(element, &dims)
        };
        operands.push(operand);
    }
    // The first parameter only served for its sizes.
    if !is_chained && !operands.iter().any(|o| o.name == first.name) {
        let kept: Vec<String> = operands.iter().map(|o| o.element.clone()).collect();
        let sizes: Vec<Vec<i64>> = operands.iter().map(|o| o.dims.clone()).collect();
        p.restart();
        operands = kept.iter().zip(&sizes).map(|(element, dims)| p.parameter(element, dims)).collect();
    }
    let attributes = match opcode {
        Opcode::Compare => "direction=LT",
        Opcode::ReducePrecision => "exponent_bits=5, mantissa_bits=10",
        _ => "",
    };
    let operands: Vec<&Operand> = operands.iter().collect();
    p.push(opcode, result, &dims, &operands, attributes)
}

pub(super) fn map(p: &mut Program<'_>, opcode: Opcode) -> Option<Operand> {
    let first = p.input(0..=3, 6)?;
    let second = p.beside(&first.dims);
    let to_apply = p.adder(1);
    let dims: Vec<usize> = (0..first.dims.len()).collect();
    let attributes = format!("dimensions={}, to_apply={to_apply}", braces(&dims));
    p.push(opcode, "f32", &first.dims, &[&first, &second], &attributes)
}

/// Equal widths, one wide element to a row of narrow ones, or the reverse.
pub(super) fn bitcast_convert(p: &mut Program<'_>, opcode: Opcode) -> Option<Operand> {
    let rank = p.rng.range(0, 3) as usize;
    let wide = p.sizes(rank, 5);
    let narrow = [&wide[..], &[4]].concat();
    let (from, from_dims, to, to_dims) = match p.rng.range(0, 2) {
        0 => ("f32", &wide, "s32", &wide),
        1 => ("s32", &wide, "s8", &narrow),
        _ => ("s8", &narrow, "s32", &wide),
    };
    let operand = p.parameter(from, from_dims);
    p.push(opcode, to, to_dims, &[&operand], "")
}

pub(super) fn without_data(p: &mut Program<'_>, opcode: Opcode) -> Option<Operand> {
    if p.chain.is_some() {
        return None;
    }
    let rank = p.rng.range(i64::from(opcode == Opcode::Iota), 3) as usize;
    let dims = p.sizes(rank, 5);
    match opcode {
        Opcode::Iota => {
            let dim = p.rng.range(0, rank as i64 - 1);
            p.push(opcode, "s32", &dims, &[], &format!("iota_dimension={dim}"))
        }
        Opcode::Constant => Some(p.push_line("s32", &[], "s32[]".to_owned(), "constant(3)")),
        Opcode::Rng => {
            let (low, high) = (p.parameter("f32", &[]), p.parameter("f32", &[]));
            p.push(opcode, "f32", &dims, &[&low, &high], "distribution=rng_uniform")
        }
        Opcode::RngBitGenerator => {
            let state = p.parameter("u64", &[2]);
            let bits = p.shape("u32", &dims);
            let shape = format!("({}, {bits})", state.shape);
            Some(p.push_of(opcode, "u32", &dims, shape, &[&state], "algorithm=rng_default"))
        }
        _ => Some(p.push_of(opcode, "u32", &[], "u32[]".to_owned(), &[], "")),
    }
}
