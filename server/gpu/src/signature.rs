//! The functions of a partition as XLA's emitters declare them in MLIR.

use std::fmt::Write;

use ir::{Graph, OpId, Shape};
use syntax::hlo::ElementType;

use crate::partition::Function;

/// `func.func private @f_root(%arg0: tensor<6xf32>, %arg1: index {xla.range = [0 : index, 5 : index]}) -> f32`: the
/// parameters of the computation, then an index per dimension of the root; results are the elements there.
/// Source: XLA `codegen/emitters/computation_partitioner.cc` (`CreateSubgraphMlirFunction`).
pub fn signature(graph: &Graph, function: &Function) -> String {
    let mut out = format!("func.func private @{}(", function.name);
    let mut number = 0;
    let mut argument = |out: &mut String| {
        let separator = if number == 0 { "" } else { ", " };
        _ = write!(out, "{separator}%arg{number}: ");
        number += 1;
    };
    for shape in parameters(graph) {
        argument(&mut out);
        tensor(&mut out, shape);
    }
    let root = &graph.ops[function.root as usize].shape;
    for size in first_array(root).dims() {
        argument(&mut out);
        _ = write!(out, "index {{xla.range = [0 : index, {} : index]}}", size.saturating_sub(1));
    }
    out.push_str(") -> ");
    let mut results = Vec::new();
    leaves(root, &mut results);
    let names: Vec<&str> = results.iter().map(|leaf| leaf.element().map_or("none", element)).collect();
    match names.as_slice() {
        [only] => out.push_str(only),
        several => _ = write!(out, "({})", several.join(", ")),
    }
    out
}

/// Shapes of the parameters, by number.
fn parameters(graph: &Graph) -> impl Iterator<Item = &Shape> {
    let mut parameters: Vec<(u32, OpId)> =
        (graph.ops.iter().enumerate()).filter_map(|(id, op)| Some((op.parameter?, id as OpId))).collect();
    parameters.sort_unstable();
    parameters.into_iter().map(|(_, id)| &graph.ops[id as usize].shape)
}

fn first_array(shape: &Shape) -> &Shape {
    match shape.tuple_elements() {
        Some([first, ..]) => first_array(first),
        _ => shape,
    }
}

fn leaves<'s>(shape: &'s Shape, out: &mut Vec<&'s Shape>) {
    match shape.tuple_elements() {
        Some(elements) => elements.iter().for_each(|element| leaves(element, out)),
        None => out.push(shape),
    }
}

/// `tensor<8x4xf32>`; a non-default layout is an encoding, minor to major: `tensor<8x4xf32, dense<[0, 1]> :
/// tensor<2xi64>>`.
fn tensor(out: &mut String, shape: &Shape) {
    let Some(array) = shape.as_array() else {
        out.push_str("none");
        return;
    };
    out.push_str("tensor<");
    for size in shape.dims() {
        _ = write!(out, "{size}x");
    }
    out.push_str(shape.element().map_or("none", element));
    let minor_to_major = array.minor_to_major();
    if !minor_to_major.iter().rev().copied().eq(0..minor_to_major.len()) {
        _ = write!(out, ", dense<{minor_to_major:?}> : tensor<{}xi64>", minor_to_major.len());
    }
    out.push('>');
}

/// The name of an element type in MLIR. Integers are signless there; a `pred` is stored in 8 bits.
fn element(element: ElementType) -> &'static str {
    use ElementType::*;
    match element {
        S1 | U1 => "i1",
        S2 | U2 => "i2",
        S4 | U4 => "i4",
        Pred | S8 | U8 => "i8",
        S16 | U16 => "i16",
        S32 | U32 => "i32",
        S64 | U64 => "i64",
        F16 => "f16",
        Bf16 => "bf16",
        F32 => "f32",
        F64 => "f64",
        C64 => "complex<f32>",
        C128 => "complex<f64>",
        F4e2m1fn => "f4E2M1FN",
        F6e2m3fn => "f6E2M3FN",
        F6e3m2fn => "f6E3M2FN",
        F8e3m4 => "f8E3M4",
        F8e4m3 => "f8E4M3",
        F8e4m3b11fnuz => "f8E4M3B11FNUZ",
        F8e4m3fn => "f8E4M3FN",
        F8e4m3fnuz => "f8E4M3FNUZ",
        F8e5m2 => "f8E5M2",
        F8e5m2fnuz => "f8E5M2FNUZ",
        F8e8m0fnu => "f8E8M0FNU",
        Token | Opaque => "none",
    }
}
