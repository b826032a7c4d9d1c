//! An op of StableHLO or MHLO as text of HLO: a module of one instruction, whose operands are parameters. What is known of the
//! instruction is then known of the op.

use std::borrow::Cow;
use std::fmt::Write as _;

use crate::attribute_values::integers;
use crate::hlo_ops::{Recipe, hlo_op, mnemonic, other_op};
use crate::shaped::shaped;
use crate::tree::*;

/// The module, as text, and what in it stands for what.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HloOp {
    /// The root of ENTRY is the op.
    pub text: String,
    /// The names of the operands in the text of MLIR, in the order of HLO's.
    pub operands: Vec<String>,
    /// How many results the op has; more than one are a tuple.
    pub results: usize,
}

/// Names beyond this many operands are not worth a module.
const MAX_OPERANDS: usize = 1024;

/// What other pieces of the text tell of names that a piece uses and does not define.
pub trait OtherPieces {
    /// The type of what is used.
    fn type_of(&self, used: &Use) -> Option<Cow<'_, str>>;
    /// The value of a constant of one element.
    fn constant(&self, used: &Use) -> Option<String>;
    /// What an alias that an op uses stands for.
    fn alias(&self, name: &str, op: OpId) -> Option<String>;
}

/// The piece is all of the text.
pub struct NoOtherPieces;

impl OtherPieces for NoOtherPieces {
    fn type_of(&self, _: &Use) -> Option<Cow<'_, str>> {
        None
    }

    fn constant(&self, _: &Use) -> Option<String> {
        None
    }

    fn alias(&self, _: &str, _: OpId) -> Option<String> {
        None
    }
}

/// Nothing where the op is none of StableHLO or MHLO, else the module or the reason why there is none.
pub fn hlo_op_text(
    parse: &Parse,
    text: &str,
    id: OpId,
    others: &dyn OtherPieces,
) -> Option<Result<HloOp, String>> {
    let writer = Writer { parse, text, id, others, callees: String::new() };
    let name = parse.name(id, text);
    if let Some(mnemonic) = mnemonic(name) {
        let (opcode, recipe) = hlo_op(mnemonic)?;
        return Some(writer.module(opcode, recipe, usize::MAX));
    }
    let (opcode, recipe, operands) = other_op(name)?;
    // Scalars, indices and buffers are not HLO's: nothing is missed where there is no twin.
    writer.module(opcode, recipe, operands).ok().map(Ok)
}

/// Whether what HLO's verifier says of the twin of an op is true of the op. Ops whose operands and results are of one type
/// have nothing to be wrong.
pub fn is_checked_as_hlo(parse: &Parse, text: &str, id: OpId) -> bool {
    let Some((_, recipe)) = mnemonic(parse.name(id, text)).and_then(hlo_op) else { return false };
    let op = parse.op(id);
    let types = parse.types(&op.operand_types).iter().chain(parse.types(&op.result_types));
    let mut written = types.map(|&ty| parse.type_text(ty, text));
    let first = written.next();
    let is_one = written.all(|ty| Some(ty) == first);
    !(matches!(recipe, Recipe::Constant | Recipe::BatchNorm) || recipe == Recipe::Plain && is_one)
}

/// `f32[4,8]` of `tensor<4x8xf32>`.
pub fn hlo_shape(ty: &str) -> Result<String, String> {
    let ty = ty.trim();
    if matches!(ty, "!stablehlo.token" | "!mhlo.token") {
        return Ok("token[]".to_owned());
    }
    if let Some(elements) = ty.strip_prefix("tuple<").and_then(|rest| rest.strip_suffix('>')) {
        let shapes: Result<Vec<_>, _> = split(elements).into_iter().map(hlo_shape).collect();
        return Ok(format!("({})", shapes?.join(", ")));
    }
    let array = shaped(ty).ok_or_else(|| format!("{ty} is no array"))?;
    let dimensions = array.dimensions.as_ref().ok_or_else(|| format!("the rank of {ty} is not known"))?;
    let extents: Option<Vec<String>> = dimensions.iter().map(|d| d.map(|d| d.to_string())).collect();
    let extents = extents.ok_or_else(|| format!("a dimension of {ty} is not known"))?;
    Ok(format!("{}[{}]", hlo_element(array.element)?, extents.join(",")))
}

/// `pred` of `i1`, `s32` of `i32`, `c64` of `complex<f32>`.
fn hlo_element(element: &str) -> Result<String, String> {
    let is_number = |s: &str| !s.is_empty() && s.bytes().all(|b| b.is_ascii_digit());
    Ok(match element {
        "i1" => "pred".to_owned(),
        "index" => "s64".to_owned(),
        "bf16" => "bf16".to_owned(),
        "complex<f32>" => "c64".to_owned(),
        "complex<f64>" => "c128".to_owned(),
        _ => match element.strip_prefix("ui").map(|width| ('u', width)) {
            Some((sign, width)) if is_number(width) => format!("{sign}{width}"),
            _ => match element.strip_prefix('i').or_else(|| element.strip_prefix("si")) {
                Some(width) if is_number(width) => format!("s{width}"),
                _ if element.starts_with('f') => element.to_ascii_lowercase(),
                _ => return Err(format!("{element} is no element type of HLO")),
            },
        },
    })
}

/// Parts between commas that no bracket encloses.
pub(crate) fn split(list: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let (mut depth, mut start) = (0usize, 0);
    for (at, c) in list.char_indices() {
        match c {
            '<' | '(' | '[' | '{' => depth += 1,
            '>' | ')' | ']' | '}' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                parts.push(list[start..at].trim());
                start = at + 1;
            }
            _ => {}
        }
    }
    if !list[start..].trim().is_empty() {
        parts.push(list[start..].trim());
    }
    parts
}

pub(crate) struct Writer<'t> {
    parse: &'t Parse,
    text: &'t str,
    id: OpId,
    others: &'t dyn OtherPieces,
    /// Computations that the instruction calls.
    pub(crate) callees: String,
}

pub(crate) fn braces(values: &[i64]) -> String {
    let values: Vec<_> = values.iter().map(i64::to_string).collect();
    format!("{{{}}}", values.join(","))
}

/// The extents in `f32[4,8]`.
pub(crate) fn extents(shape: &str) -> Vec<i64> {
    let list = shape.split_once('[').and_then(|(_, rest)| rest.split_once(']')).map_or("", |(list, _)| list);
    list.split(',').filter_map(|n| n.parse().ok()).collect()
}

pub(crate) fn element(shape: &str) -> &str {
    shape.split('[').next().unwrap_or(shape)
}

/// The value of a constant of StableHLO or MHLO of one element, or of elements that are alike.
pub fn scalar_constant(parse: &Parse, text: &str, op: OpId) -> Option<String> {
    let (_, Recipe::Constant) = hlo_op(mnemonic(parse.name(op, text))?)? else { return None };
    scalar_of(parse, text, op)
}

impl Writer<'_> {
    fn module(mut self, opcode: &str, recipe: Recipe, read: usize) -> Result<HloOp, String> {
        let mut operands: Vec<&Use> = self.parse.operands_of(self.id).collect();
        if recipe == Recipe::ExtractSlice && operands.len() > 1 {
            return Err("an offset, a size or a stride is not known".to_owned());
        }
        operands.truncate(read);
        if operands.len() > MAX_OPERANDS {
            return Err("it has too many operands".to_owned());
        }
        let is_custom = self.parse.op(self.id).form == Form::Custom;
        if recipe == Recipe::Reduce && is_custom {
            // `(%a init: %i), (%b init: %j)`: HLO has the arrays first.
            let (arrays, inits) = operands.iter().enumerate().partition::<Vec<_>, _>(|(at, _)| at % 2 == 0);
            operands = arrays.into_iter().chain(inits).map(|(_, o)| *o).collect();
        }
        if self.name() == "optimization_barrier" && operands.len() != 1 {
            return Err("each of its results is the operand of the same number".to_owned());
        }
        if matches!(self.name(), "dynamic_reshape" | "dynamic_broadcast_in_dim") {
            operands.truncate(1);
        } else if self.name() == "dynamic_iota" {
            operands.clear();
        }
        let shapes: Vec<String> =
            operands.iter().map(|operand| self.operand_shape(operand)).collect::<Result<_, _>>()?;
        let results = self.result_shapes()?;
        let result = match results.as_slice() {
            [one] => one.clone(),
            several => format!("({})", several.join(", ")),
        };
        let names: Vec<String> = (0..shapes.len()).map(|n| format!("%p{n}")).collect();
        let line = match recipe {
            Recipe::BroadcastInDim => self.broadcast_in_dim(&shapes, &result)?,
            Recipe::Constant => format!("  ROOT %r = {result} constant({})\n", self.scalar()?),
            Recipe::ExtractSlice => self.extract_slice(&shapes, &result)?,
            Recipe::TensorPad => self.tensor_pad(&result)?,
            Recipe::LinalgReduce => self.linalg_reduce(&shapes, &result)?,
            Recipe::Pointwise => pointwise(&shapes, &result)?,
            _ => {
                let attributes = self.attributes(recipe, &shapes, &results)?;
                format!("  ROOT %r = {result} {opcode}({}){attributes}\n", names.join(", "))
            }
        };
        let mut text = format!("HloModule m\n\n{}ENTRY %e {{\n", self.callees);
        let mut parameters = 0;
        for (n, (operand, shape)) in operands.iter().zip(&shapes).enumerate() {
            match self.constant_of(operand) {
                // What is known of an index makes the map exact.
                Some(value) => _ = writeln!(text, "  %p{n} = {shape} constant({value})"),
                None => {
                    _ = writeln!(text, "  %p{n} = {shape} parameter({parameters})");
                    parameters += 1;
                }
            }
        }
        text += &line;
        text += "}\n";
        let operands = operands.iter().map(|o| o.span.of(self.text).to_owned()).collect();
        Ok(HloOp { text, operands, results: results.len() })
    }

    fn name(&self) -> &str {
        mnemonic(self.parse.name(self.id, self.text)).unwrap_or_default()
    }

    fn resolved(&self, ty: &str) -> String {
        if !ty.starts_with('!') {
            return ty.to_owned();
        }
        let found = self.parse.aliases.iter().find(|a| a.is_definition && a.span.of(self.text) == ty);
        match found.and_then(|a| self.parse.op(a.op).span.of(self.text).split_once('=')) {
            Some((_, value)) => value.trim().to_owned(),
            None => self.others.alias(ty, self.id).unwrap_or_else(|| ty.to_owned()),
        }
    }

    fn operand_shape(&self, operand: &Use) -> Result<String, String> {
        let name = operand.span.of(self.text);
        let index = name.split_once('#').and_then(|(_, index)| index.parse().ok()).unwrap_or(0);
        let ty = operand.value.and_then(|value| self.parse.type_of(value, index, self.text));
        let ty = ty.or_else(|| self.others.type_of(operand));
        let ty = ty.ok_or_else(|| format!("the type of {name} is not known"))?;
        hlo_shape(&self.resolved(&ty))
    }

    fn result_shapes(&self) -> Result<Vec<String>, String> {
        let types = self.parse.types(&self.parse.op(self.id).result_types);
        let of = |&ty: &TypeRef| {
            let ty = self.parse.type_text(ty, self.text).ok_or("the type of a result is not known")?;
            hlo_shape(&self.resolved(&ty))
        };
        let shapes: Vec<String> = types.iter().map(of).collect::<Result<_, _>>()?;
        if shapes.is_empty() {
            return Err("it has no result".to_owned());
        }
        Ok(shapes)
    }

    pub(crate) fn attribute(&self, names: &[&str]) -> Option<&str> {
        names.iter().find_map(|name| self.parse.attribute(self.id, name, self.text))
    }

    pub(crate) fn list(&self, names: &[&str]) -> Option<Vec<i64>> {
        integers(self.attribute(names)?)
    }

    pub(crate) fn needed(&self, names: &[&str]) -> Result<Vec<i64>, String> {
        self.list(names).ok_or_else(|| format!("{} is not there, or not read", names[0]))
    }

    /// What stands between the name of the op and its types.
    pub(crate) fn body(&self) -> &str {
        let op = self.parse.op(self.id);
        op.head.of(self.text).get((op.name.end - op.span.start) as usize..).unwrap_or_default()
    }

    /// The value of a constant without dimensions, or one whose elements are alike.
    fn scalar(&self) -> Result<String, String> {
        scalar_of(self.parse, self.text, self.id).ok_or_else(|| "its value is not one number".to_owned())
    }

    /// The value of an operand that is a constant without dimensions.
    fn constant_of(&self, operand: &Use) -> Option<String> {
        let Some(value) = operand.value else { return self.others.constant(operand) };
        let Definition::Result(op) = self.parse.values[value as usize].definition else { return None };
        scalar_constant(self.parse, self.text, op)
    }

    /// HLO's broadcast does not stretch a dimension of one element: that is dropped first.
    fn broadcast_in_dim(&mut self, shapes: &[String], result: &str) -> Result<String, String> {
        let dimensions = self.needed(&["broadcast_dimensions", "dims"])?;
        let operand = shapes.first().ok_or("it has no operand")?;
        let (from, to) = (extents(operand), extents(result));
        if from.len() != dimensions.len() {
            return Err("broadcast_dimensions are not as many as the operand's".to_owned());
        }
        let target = |d: i64| usize::try_from(d).ok().and_then(|d| to.get(d)).copied();
        let kept: Vec<usize> = (0..from.len()).filter(|&i| target(dimensions[i]) == Some(from[i])).collect();
        if kept.len() == from.len() {
            return Ok(format!("  ROOT %r = {result} broadcast(%p0), dimensions={}\n", braces(&dimensions)));
        }
        let extents: Vec<_> = kept.iter().map(|&i| from[i].to_string()).collect();
        let small = format!("{}[{}]", element(operand), extents.join(","));
        let dimensions: Vec<i64> = kept.iter().map(|&i| dimensions[i]).collect();
        self.callees = format!(
            "%f {{\n  %a = {operand} parameter(0)\n  %b = {small} reshape(%a)\n  ROOT %c = {result} broadcast(%b), dimensions={}\n}}\n\n",
            braces(&dimensions)
        );
        Ok(format!("  ROOT %r = {result} fusion(%p0), kind=kLoop, calls=%f\n"))
    }

    /// Dimensions of one element that the result does not have are dropped behind the slice.
    fn extract_slice(&mut self, shapes: &[String], result: &str) -> Result<String, String> {
        let operand = shapes.first().ok_or("it has no operand")?.clone();
        let body = self.body();
        let clauses = body.split_once(':').map_or(body, |(front, _)| front);
        let mut lists = clauses.split('[').skip(1).filter_map(|part| integers(&format!("[{}", part)));
        let (offsets, sizes, strides) = match self.list(&["static_offsets"]) {
            Some(offsets) => (offsets, self.needed(&["static_sizes"])?, self.needed(&["static_strides"])?),
            None => match (lists.next(), lists.next(), lists.next()) {
                (Some(offsets), Some(sizes), Some(strides)) => (offsets, sizes, strides),
                _ => return Err("an offset, a size or a stride is not known".to_owned()),
            },
        };
        let mut each = Vec::new();
        for ((&from, &size), &by) in offsets.iter().zip(&sizes).zip(&strides) {
            let last = size.checked_sub(1).and_then(|n| n.checked_mul(by)).and_then(|n| n.checked_add(from));
            let limit = if size == 0 { Some(from) } else { last.and_then(|n| n.checked_add(1)) };
            each.push(format!("[{from}:{}:{by}]", limit.ok_or("its bounds are too large")?));
        }
        let slices = each.join(", ");
        if extents(result) == sizes {
            return Ok(format!("  ROOT %r = {result} slice(%p0), slice={{{slices}}}\n"));
        }
        let whole: Vec<_> = sizes.iter().map(i64::to_string).collect();
        let whole = format!("{}[{}]", element(result), whole.join(","));
        self.callees = format!(
            "%f {{\n  %a = {operand} parameter(0)\n  %b = {whole} slice(%a), slice={{{slices}}}\n  ROOT %c = {result} reshape(%b)\n}}\n\n"
        );
        Ok(format!("  ROOT %r = {result} fusion(%p0), kind=kLoop, calls=%f\n"))
    }

    /// The value that is padded with is the body's: any one does.
    fn tensor_pad(&self, result: &str) -> Result<String, String> {
        let body = self.body();
        let list = |key: &str| {
            let (_, rest) = body.split_once(key)?;
            integers(&format!("[{}]", rest.trim_start().strip_prefix('[')?.split_once(']')?.0))
        };
        let missing = "its padding is not known";
        let low = self.list(&["static_low"]).or_else(|| list("low")).ok_or(missing)?;
        let high = self.list(&["static_high"]).or_else(|| list("high")).ok_or(missing)?;
        let each: Vec<_> = low.iter().zip(&high).map(|(l, h)| format!("{l}_{h}")).collect();
        let e = element(result);
        let zero = if e == "pred" { "false" } else { "0" };
        Ok(format!(
            "  %z = {e}[] constant({zero})\n  ROOT %r = {result} pad(%p0, %z), padding={}\n",
            each.join("x")
        ))
    }

    fn linalg_reduce(&mut self, shapes: &[String], result: &str) -> Result<String, String> {
        let e = element(shapes.first().ok_or("it has no operand")?).to_owned();
        let dimensions = braces(&self.needed(&["dimensions"])?);
        self.reducer(std::slice::from_ref(&e));
        let zero = if e == "pred" { "false" } else { "0" };
        Ok(format!(
            "  %z = {e}[] constant({zero})\n  ROOT %r = {result} reduce(%p0, %z), dimensions={dimensions}, to_apply=%f\n"
        ))
    }
}

/// An instruction that reads its operands place by place, whatever it makes of them.
fn pointwise(shapes: &[String], result: &str) -> Result<String, String> {
    let e = element(result);
    if shapes.is_empty() || shapes.iter().any(|s| extents(s) != extents(result)) {
        return Err("its operands are not of one shape".to_owned());
    }
    let same = shapes.iter().all(|s| element(s) == e);
    Ok(match shapes {
        [_] if same => format!("  ROOT %r = {result} copy(%p0)\n"),
        [_] => format!("  ROOT %r = {result} convert(%p0)\n"),
        [_, _] if same && e == "pred" => format!("  ROOT %r = {result} and(%p0, %p1)\n"),
        [_, _] if same => format!("  ROOT %r = {result} add(%p0, %p1)\n"),
        [a, b] if a == b && e == "pred" => format!("  ROOT %r = {result} compare(%p0, %p1), direction=EQ\n"),
        [p, a, b] if element(p) == "pred" && a == b && a == result => {
            format!("  ROOT %r = {result} select(%p0, %p1, %p2)\n")
        }
        [_, _, _] if same => format!("  ROOT %r = {result} clamp(%p0, %p1, %p2)\n"),
        _ => return Err("its operands are of several types".to_owned()),
    })
}

/// The number in `dense<3> : tensor<i32>`.
fn scalar_of(parse: &Parse, text: &str, id: OpId) -> Option<String> {
    let value = match parse.attribute(id, "value", text) {
        Some(value) => value,
        None => {
            let op = parse.op(id);
            op.head.of(text).get((op.name.end - op.span.start) as usize..)?
        }
    };
    let (number, ty) = value.trim_start().strip_prefix("dense<")?.split_once('>')?;
    let is_scalar = shaped(ty.trim_start().strip_prefix(':')?.split([';', '\n', '{']).next()?.trim())
        .is_some_and(|t| t.dimensions.is_some_and(|d| d.is_empty()));
    let number = number.trim();
    let is_number =
        matches!(number, "true" | "false") || number.parse::<f64>().is_ok() && !number.contains("0x");
    (is_scalar && is_number).then(|| number.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{PieceState, parse};

    /// The instruction that the last op of the text becomes.
    fn check(line: &str, expect: &str) {
        let text = format!(
            "func.func @f(%a: tensor<4x8xf32>, %b: tensor<8x4xf32>, %i: tensor<i32>, %s: tensor<f32>, %k: tensor<1x8xf32>, %x: tensor<1x9x9x3xf32>, %w: tensor<3x3x3x5xf32>, %o: tensor<4xf32>) {{\n  %c1 = stablehlo.constant dense<1> : tensor<i32>\n  {line}\n}}\n"
        );
        let read = parse(&text, PieceState::default());
        assert_eq!(read.errors, []);
        let id = (0..read.ops.len() as u32).rfind(|&id| read.parent(id) == Some(0)).expect("an op");
        let op = hlo_op_text(&read, &text, id, &NoOtherPieces).expect("it is an op of HLO");
        let found = match &op {
            Ok(op) => op.text.lines().find(|l| l.contains("ROOT %r")).unwrap_or_default().trim(),
            Err(reason) => reason,
        };
        assert_eq!(found.trim_start_matches("ROOT %r = "), expect, "{line}");
    }

    #[test]
    fn both_forms_become_the_same_instruction() {
        let transpose = "f32[8,4] transpose(%p0), dimensions={1,0}";
        check("%0 = stablehlo.transpose %a, dims = [1, 0] : (tensor<4x8xf32>) -> tensor<8x4xf32>", transpose);
        check(
            "%0 = \"mhlo.transpose\"(%a) <{permutation = array<i64: 1, 0>}> : (tensor<4x8xf32>) -> tensor<8x4xf32>",
            transpose,
        );
        check(
            "%0 = \"mhlo.transpose\"(%a) {permutation = dense<[1, 0]> : tensor<2xi64>} : (tensor<4x8xf32>) -> tensor<8x4xf32>",
            transpose,
        );
        let slice = "f32[2,3] slice(%p0), slice={[0:4:2], [1:4:1]}";
        check(
            "%0 = \"stablehlo.slice\"(%a) <{limit_indices = array<i64: 4, 4>, start_indices = array<i64: 0, 1>, strides = array<i64: 2, 1>}> : (tensor<4x8xf32>) -> tensor<2x3xf32>",
            slice,
        );
        check(
            "%0 = stablehlo.slice %a [0:4:2, 1:4] : (tensor<4x8xf32>) -> tensor<2x3xf32>",
            "f32[2,3] slice(%p0), slice={[0:4:2], [1:4]}",
        );
        let dot = "f32[4,4] dot(%p0, %p1), lhs_contracting_dims={1}, rhs_contracting_dims={0}";
        check(
            "%0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x8xf32>, tensor<8x4xf32>) -> tensor<4x4xf32>",
            dot,
        );
        check(
            "%0 = \"stablehlo.dot_general\"(%a, %b) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>}> : (tensor<4x8xf32>, tensor<8x4xf32>) -> tensor<4x4xf32>",
            dot,
        );
    }

    #[test]
    fn attributes_follow_the_op() {
        check(
            "%0 = stablehlo.compare  LT, %a, %a,  FLOAT : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xi1>",
            "pred[4,8] compare(%p0, %p1), direction=LT",
        );
        check(
            "%0 = stablehlo.pad %a, %s, low = [1, 0], high = [0, 2], interior = [0, 1] : (tensor<4x8xf32>, tensor<f32>) -> tensor<5x17xf32>",
            "f32[5,17] pad(%p0, %p1), padding=1_0_0x0_2_1",
        );
        check(
            "%0 = stablehlo.reduce(%a init: %s) applies stablehlo.add across dimensions = [1] : (tensor<4x8xf32>, tensor<f32>) -> tensor<4xf32>",
            "f32[4] reduce(%p0, %p1), dimensions={1}, to_apply=%f",
        );
        check(
            "%0 = stablehlo.dynamic_slice %a, %i, %c1, sizes = [2, 8] : (tensor<4x8xf32>, tensor<i32>, tensor<i32>) -> tensor<2x8xf32>",
            "f32[2,8] dynamic-slice(%p0, %p1, %p2), dynamic_slice_sizes={2,8}",
        );
        check(
            "%0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [2, 2], pad = [[1, 1], [0, 0]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x9x9x3xf32>, tensor<3x3x3x5xf32>) -> tensor<1x5x4x5xf32>",
            "f32[1,5,4,5] convolution(%p0, %p1), window={size=3x3 stride=2x2 pad=1_1x0_0 lhs_dilate=1x1 rhs_dilate=1x1}, dim_labels=b01f_01io->b01f",
        );
    }

    #[test]
    fn a_stretched_dimension_is_dropped_first() {
        check(
            "%0 = stablehlo.broadcast_in_dim %k, dims = [0, 1] : (tensor<1x8xf32>) -> tensor<4x8xf32>",
            "f32[4,8] fusion(%p0), kind=kLoop, calls=%f",
        );
        check(
            "%0 = stablehlo.broadcast_in_dim %s, dims = [] : (tensor<f32>) -> tensor<4x8xf32>",
            "f32[4,8] broadcast(%p0), dimensions={}",
        );
    }

    #[test]
    fn other_dialects_read_as_hlo_does() {
        check(
            "%0 = tensor.collapse_shape %a [[0, 1]] : tensor<4x8xf32> into tensor<32xf32>",
            "f32[32] reshape(%p0)",
        );
        check(
            "%0 = tensor.extract_slice %a[0, 2] [4, 3] [1, 2] : tensor<4x8xf32> to tensor<4x3xf32>",
            "f32[4,3] slice(%p0), slice={[0:4:1], [2:7:2]}",
        );
        check(
            "%0 = tensor.extract_slice %a[1, 0] [1, 8] [1, 1] : tensor<4x8xf32> to tensor<8xf32>",
            "f32[8] fusion(%p0), kind=kLoop, calls=%f",
        );
        check(
            "%0 = tensor.concat dim(1) %a, %a : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x16xf32>",
            "f32[4,16] concatenate(%p0, %p1), dimensions={1}",
        );
        check(
            "%0 = linalg.transpose ins(%a : tensor<4x8xf32>) outs(%b : tensor<8x4xf32>) permutation = [1, 0]",
            "f32[8,4] transpose(%p0), dimensions={1,0}",
        );
        check(
            "%0 = linalg.matmul ins(%a, %b : tensor<4x8xf32>, tensor<8x4xf32>) outs(%o : tensor<4x4xf32>) -> tensor<4x4xf32>",
            "f32[4,4] dot(%p0, %p1), lhs_contracting_dims={1}, rhs_contracting_dims={0}",
        );
        check("%0 = arith.addf %a, %a : tensor<4x8xf32>", "f32[4,8] add(%p0, %p1)");
        check("%0 = arith.cmpf olt, %a, %a : tensor<4x8xf32>", "pred[4,8] compare(%p0, %p1), direction=EQ");
        check("%0 = chlo.acos %a : tensor<4x8xf32> -> tensor<4x8xf32>", "f32[4,8] copy(%p0)");
        check(
            "%0 = tensor.pad %a low[1, 0] high[0, 2] {\n  ^bb0(%u: index, %v: index):\n    tensor.yield %s : f32\n  } : tensor<4x8xf32> to tensor<5x10xf32>",
            "f32[5,10] pad(%p0, %z), padding=1_0x0_2",
        );
        check(
            "%0 = linalg.broadcast ins(%s : tensor<f32>) outs(%a : tensor<4x8xf32>) dimensions = [0, 1]",
            "f32[4,8] broadcast(%p0), dimensions={}",
        );
        check(
            "%0 = linalg.reduce { arith.addf } ins(%a : tensor<4x8xf32>) outs(%o : tensor<4xf32>) dimensions = [1]",
            "f32[4] reduce(%p0, %z), dimensions={1}, to_apply=%f",
        );
    }

    #[test]
    fn what_cannot_be_said_has_a_reason() {
        check(
            "%0 = stablehlo.abs %a : (tensor<4x8xf32>) -> tensor<?x8xf32>",
            "a dimension of tensor<?x8xf32> is not known",
        );
        check("%0 = stablehlo.reverse %a : tensor<4x8xf32>", "dimensions is not there, or not read");
    }
}
