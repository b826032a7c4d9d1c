//! The text of ops of the `tt` dialect.

use syntax::hlo::ElementType;

use super::Writer;
use super::ops::packing;
use crate::program::{DotPrecision, Op, Triton};

impl Writer<'_> {
    /// An op without blocks; `ty` is the type of its result.
    pub(super) fn triton(&self, op: &Op, triton: &Triton, ty: &str) -> String {
        let operands = self.list(&op.operands);
        let types: Vec<String> = op.operands.iter().map(|&value| self.type_of(value)).collect();
        let first = types.first().map_or("", String::as_str);
        let plain = |name: &str| format!("tt.{name} {operands} : {first} -> {ty}");
        match triton {
            Triton::Bitcast => plain("bitcast"),
            Triton::Broadcast => plain("broadcast"),
            Triton::Dot { precision, is_imprecise } => {
                let precision = match precision {
                    DotPrecision::Ieee => "",
                    DotPrecision::Tf32 => ", inputPrecision = tf32",
                    DotPrecision::Tf32x3 => ", inputPrecision = tf32x3",
                };
                let sums = if *is_imprecise { " {maxNumImpreciseAcc = 2147483647 : i32}" } else { "" };
                let types = types.get(..2).unwrap_or_default().join(" * ");
                format!("tt.dot {operands}{precision}{sums} : {types} -> {ty}")
            }
            Triton::ExpandDims { axis } => {
                format!("tt.expand_dims {operands} {{axis = {axis} : i32}} : {first} -> {ty}")
            }
            Triton::Extern { symbol } => format!(
                "tt.extern_elementwise {operands} {{libname = \"libdevice\", libpath = \"libdevice.10.bc\", \
                 pure = true, symbol = \"{symbol}\"}} : ({}) -> {ty}",
                types.join(", ")
            ),
            Triton::FloatToFloat { rounds } => {
                let rounding = if *rounds { ", rounding = rtne" } else { "" };
                format!("tt.fp_to_fp {operands}{rounding} : {first} -> {ty}")
            }
            Triton::Range { end } => format!("tt.make_range {{end = {end} : i32, start = 0 : i32}} : {ty}"),
            Triton::Reduce { .. } | Triton::Scan { .. } => String::new(),
            Triton::Reshape => plain("reshape"),
            Triton::ScaledDot { has_scales, elements, is_packed_along_k } => {
                let (values, types) = self.scaled_operands(op, *has_scales);
                let sum = op.operands.last().map(|&sum| self.name(sum)).unwrap_or_default();
                let [left, right] = elements.map(scaled_element);
                format!(
                    "tt.dot_scaled {values}, {sum} lhs = {left} rhs = {right} {{fastMath = true{}}} : {types} -> {ty}",
                    packing(*is_packed_along_k)
                )
            }
            Triton::Splat => plain("splat"),
            Triton::Unsplat => format!("tt.unsplat {operands} : {first}"),
            Triton::Transpose { order } => {
                let order: Vec<String> = order.iter().map(usize::to_string).collect();
                let order = order.join(", ");
                format!("tt.trans {operands} {{order = array<i32: {order}>}} : {first} -> {ty}")
            }
        }
    }

    /// An op with a combiner: `tt.reduce`.
    pub(super) fn triton_region(&mut self, op: &Op, what: &str, attributes: &str, depth: usize) {
        let (Some(combiner), &[input]) = (op.blocks.first(), &op.operands[..]) else { return };
        let (name, from) = (self.name(input), self.type_of(input));
        let to = op.result().map(|result| self.type_of(result)).unwrap_or_default();
        let head = format!("{}\"tt.{what}\"({name}) <{{{attributes}}}> ({{", self.assigned(op));
        self.line(op.origin, depth, head);
        let outer = self.names.enter();
        let arguments = self.arguments(combiner);
        self.line(op.origin, depth, format!("^bb0({arguments}):"));
        self.nested(combiner, depth + 1, op.origin, &format!("tt.{what}.return"));
        self.names.leave(outer);
        self.line(op.origin, depth, format!("}}) : ({from}) -> {to}"));
    }
}

/// The name of the type of a scaled operand. Source: `GetScaleDotElemType`,
/// `backends/gpu/codegen/triton/transforms/xtile_lower_to_triton.cc`.
fn scaled_element(element: ElementType) -> &'static str {
    match element {
        ElementType::F8e4m3fn => "e4m3",
        ElementType::F8e5m2 => "e5m2",
        ElementType::F4e2m1fn => "e2m1",
        _ => "bf16",
    }
}
