//! An op of StableHLO or MHLO as text of HLO: a module of one instruction, whose operands are parameters. What is known of the
//! instruction is then known of the op.

use std::fmt::Write as _;

use crate::attribute_values::{field, integer, integers};
use crate::hlo_ops::{Recipe, hlo_op, mnemonic};
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

/// Nothing where the op is none of StableHLO or MHLO, else the module or the reason why there is none.
pub fn hlo_op_text(parse: &Parse, text: &str, id: OpId) -> Option<Result<HloOp, String>> {
    let (opcode, recipe) = hlo_op(mnemonic(parse.name(id, text))?)?;
    Some(Writer { parse, text, id, callees: String::new() }.module(opcode, recipe))
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
fn split(list: &str) -> Vec<&str> {
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

struct Writer<'t> {
    parse: &'t Parse,
    text: &'t str,
    id: OpId,
    /// Computations that the instruction calls.
    callees: String,
}

fn braces(values: &[i64]) -> String {
    let values: Vec<_> = values.iter().map(i64::to_string).collect();
    format!("{{{}}}", values.join(","))
}

fn joined(values: impl IntoIterator<Item = i64>) -> String {
    let values: Vec<_> = values.into_iter().map(|v| v.to_string()).collect();
    values.join("x")
}

/// The extents in `f32[4,8]`.
fn extents(shape: &str) -> Vec<i64> {
    let list = shape.split_once('[').and_then(|(_, rest)| rest.split_once(']')).map_or("", |(list, _)| list);
    list.split(',').filter_map(|n| n.parse().ok()).collect()
}

fn element(shape: &str) -> &str {
    shape.split('[').next().unwrap_or(shape)
}

impl Writer<'_> {
    fn module(mut self, opcode: &str, recipe: Recipe) -> Result<HloOp, String> {
        let mut operands: Vec<&Use> = self.parse.operands_of(self.id).collect();
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
        // An alias of this piece.
        let found = self.parse.aliases.iter().find(|a| a.is_definition && a.span.of(self.text) == ty);
        let value = found.and_then(|a| self.parse.op(a.op).span.of(self.text).split_once('='));
        value.map_or(ty, |(_, value)| value.trim()).to_owned()
    }

    fn operand_shape(&self, operand: &Use) -> Result<String, String> {
        let name = operand.span.of(self.text);
        let index = name.split_once('#').and_then(|(_, index)| index.parse().ok()).unwrap_or(0);
        let ty = operand.value.and_then(|value| self.parse.type_of(value, index, self.text));
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

    fn attribute(&self, names: &[&str]) -> Option<&str> {
        names.iter().find_map(|name| self.parse.attribute(self.id, name, self.text))
    }

    fn list(&self, names: &[&str]) -> Option<Vec<i64>> {
        integers(self.attribute(names)?)
    }

    fn needed(&self, names: &[&str]) -> Result<Vec<i64>, String> {
        self.list(names).ok_or_else(|| format!("{} is not there, or not read", names[0]))
    }

    /// What stands between the name of the op and its types.
    fn body(&self) -> &str {
        let op = self.parse.op(self.id);
        op.head.of(self.text).get((op.name.end - op.span.start) as usize..).unwrap_or_default()
    }

    fn attributes(
        &mut self,
        recipe: Recipe,
        shapes: &[String],
        results: &[String],
    ) -> Result<String, String> {
        use Recipe::*;
        let first = shapes.first().map(String::as_str).unwrap_or_default();
        Ok(match recipe {
            Plain | BroadcastInDim | Constant => String::new(),
            Dimensions(generic, custom) => {
                format!(", dimensions={}", braces(&self.needed(&[generic, custom])?))
            }
            Dimension(generic, custom) => {
                let value = self.attribute(&[generic, custom]).and_then(integer);
                let value = value.ok_or_else(|| format!("{generic} is not there, or not read"))?;
                format!(", dimensions={}", braces(&[value]))
            }
            Iota => {
                let value = self.attribute(&["iota_dimension", "dim"]).and_then(integer);
                format!(", iota_dimension={}", value.ok_or("iota_dimension is not there")?)
            }
            Broadcast => {
                let (to, from) = (extents(&results[0]).len() as i64, extents(first).len() as i64);
                let dimensions: Vec<i64> = (to - from..to).collect();
                format!(", dimensions={}", braces(&dimensions))
            }
            Compare => {
                let generic = self.attribute(&["comparison_direction"]).map(|value| {
                    value.trim_end_matches('>').rsplit(' ').next().unwrap_or_default().to_owned()
                });
                let custom = self.body().trim_start().split(',').next().unwrap_or_default().trim();
                let direction = generic.unwrap_or_else(|| custom.to_owned());
                match direction.as_str() {
                    "EQ" | "NE" | "GE" | "GT" | "LE" | "LT" => format!(", direction={direction}"),
                    other => return Err(format!("{other} is no direction of a comparison")),
                }
            }
            Slice => self.slice()?,
            DynamicSlice => {
                format!(", dynamic_slice_sizes={}", braces(&self.needed(&["slice_sizes", "sizes"])?))
            }
            Pad => {
                let low = self.needed(&["edge_padding_low", "low"])?;
                let high = self.needed(&["edge_padding_high", "high"])?;
                let interior = self.needed(&["interior_padding", "interior"])?;
                let each = low.iter().zip(&high).zip(&interior);
                let each: Vec<_> = each.map(|((l, h), i)| format!("{l}_{h}_{i}")).collect();
                format!(", padding={}", each.join("x"))
            }
            TupleElement => {
                let custom = || self.body().split_once('[')?.1.split_once(']')?.0.trim().parse().ok();
                let index = self.attribute(&["index"]).and_then(integer).or_else(custom);
                format!(", index={}", index.ok_or("index is not there, or not read")?)
            }
            Reduce => {
                let dimensions = self.needed(&["dimensions"])?;
                let elements: Vec<String> =
                    shapes.iter().take(shapes.len() / 2).map(|s| element(s).to_owned()).collect();
                self.reducer(&elements);
                format!(", dimensions={}, to_apply=%f", braces(&dimensions))
            }
            ReduceWindow => {
                let elements: Vec<String> =
                    shapes.iter().take(shapes.len() / 2).map(|s| element(s).to_owned()).collect();
                self.reducer(&elements);
                let window = self.window(&self.needed(&["window_dimensions"])?)?;
                format!(", window={window}, to_apply=%f")
            }
            SelectAndScatter => {
                let e = element(first).to_owned();
                self.reducer(std::slice::from_ref(&e));
                _ = write!(
                    self.callees,
                    "%s {{\n  %a = {e}[] parameter(0)\n  %b = {e}[] parameter(1)\n  ROOT %c = pred[] compare(%a, %b), direction=GE\n}}\n\n"
                );
                let window = self.window(&self.needed(&["window_dimensions"])?)?;
                format!(", window={window}, select=%s, scatter=%f")
            }
            DotGeneral => self.dot_general()?,
            Dot => {
                let rank = extents(first).len().max(1) - 1;
                format!(", lhs_contracting_dims={{{rank}}}, rhs_contracting_dims={{0}}")
            }
            Convolution => self.convolution(shapes)?,
            Gather => {
                let numbers = self.attribute(&["dimension_numbers"]).unwrap_or_default();
                let list = |name: &str| field(numbers, name).and_then(integers).unwrap_or_default();
                let index = field(numbers, "index_vector_dim").and_then(integer).unwrap_or(0);
                let mut text = format!(
                    ", offset_dims={}, collapsed_slice_dims={}, start_index_map={}",
                    braces(&list("offset_dims")),
                    braces(&list("collapsed_slice_dims")),
                    braces(&list("start_index_map"))
                );
                if !list("operand_batching_dims").is_empty() {
                    _ = write!(
                        text,
                        ", operand_batching_dims={}, start_indices_batching_dims={}",
                        braces(&list("operand_batching_dims")),
                        braces(&list("start_indices_batching_dims"))
                    );
                }
                let sizes = braces(&self.needed(&["slice_sizes"])?);
                format!("{text}, index_vector_dim={index}, slice_sizes={sizes}")
            }
            Scatter => self.scatter(shapes)?,
            Sort => {
                let dimension = self.attribute(&["dimension"]).and_then(integer).unwrap_or(-1);
                let rank = extents(first).len() as i64;
                let dimension = if dimension < 0 { dimension + rank } else { dimension };
                self.comparator(shapes);
                format!(", dimensions={}, to_apply=%f", braces(&[dimension]))
            }
            Map => {
                let dimensions: Vec<i64> = (0..extents(first).len() as i64).collect();
                self.callees = "%f {\n".to_owned();
                for (n, shape) in shapes.iter().enumerate() {
                    _ = writeln!(self.callees, "  %a{n} = {}[] parameter({n})", element(shape));
                }
                let (from, to) = (element(first).to_owned(), element(&results[0]));
                let root = match from == to {
                    true => format!("  ROOT %c = {to}[] copy(%a0)\n}}\n\n"),
                    false => format!("  ROOT %c = {to}[] convert(%a0)\n}}\n\n"),
                };
                self.callees += &root;
                format!(", dimensions={}, to_apply=%f", braces(&dimensions))
            }
            Fft => {
                let kind = self.attribute(&["fft_type", "type"]).unwrap_or_default();
                let kind = kind.trim_end_matches('>').rsplit(' ').next().unwrap_or_default();
                let length = braces(&self.needed(&["fft_length", "length"])?);
                format!(", fft_type={kind}, fft_length={length}")
            }
            Cholesky => {
                let lower = self.attribute(&["lower"]).and_then(integer).unwrap_or(0) != 0;
                format!(", lower={lower}")
            }
            TriangularSolve => {
                let flag = |name| self.attribute(&[name]).and_then(integer).unwrap_or(0) != 0;
                let transpose = self.attribute(&["transpose_a"]).unwrap_or_default();
                let transpose = transpose.trim_end_matches('>').rsplit(' ').next().unwrap_or_default();
                format!(
                    ", left_side={}, lower={}, unit_diagonal={}, transpose_a={transpose}",
                    flag("left_side"),
                    flag("lower"),
                    flag("unit_diagonal")
                )
            }
            ReducePrecision => {
                let format = self.attribute(&["format"]).unwrap_or_default();
                let custom = || format.strip_prefix('e')?.split_once('m');
                let number = |name| self.attribute(&[name]).and_then(integer).map(|n| n.to_string());
                let exponent = number("exponent_bits").or_else(|| Some(custom()?.0.to_owned()));
                let mantissa = number("mantissa_bits").or_else(|| Some(custom()?.1.trim().to_owned()));
                let missing = "the format is not there, or not read";
                format!(
                    ", exponent_bits={}, mantissa_bits={}",
                    exponent.ok_or(missing)?,
                    mantissa.ok_or(missing)?
                )
            }
            BatchNorm => {
                let feature = self.attribute(&["feature_index"]).and_then(integer);
                format!(", epsilon=0, feature_index={}", feature.ok_or("feature_index is not there")?)
            }
        })
    }

    /// The value of a constant without dimensions, or one whose elements are alike.
    fn scalar(&self) -> Result<String, String> {
        scalar_of(self.parse, self.text, self.id).ok_or_else(|| "its value is not one number".to_owned())
    }

    /// The value of an operand that is a constant without dimensions.
    fn constant_of(&self, operand: &Use) -> Option<String> {
        let value = &self.parse.values[operand.value? as usize];
        let Definition::Result(op) = value.definition else { return None };
        let (_, Recipe::Constant) = hlo_op(mnemonic(self.parse.name(op, self.text))?)? else { return None };
        scalar_of(self.parse, self.text, op)
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

    fn slice(&self) -> Result<String, String> {
        if let Some(starts) = self.list(&["start_indices"]) {
            let limits = self.needed(&["limit_indices"])?;
            let strides = self.list(&["strides"]).unwrap_or_else(|| vec![1; starts.len()]);
            let each = starts.iter().zip(&limits).zip(&strides);
            let each: Vec<_> = each.map(|((from, to), by)| format!("[{from}:{to}:{by}]")).collect();
            return Ok(format!(", slice={{{}}}", each.join(", ")));
        }
        let list = self.body().split_once('[').and_then(|(_, rest)| rest.split_once(']'));
        let (list, _) = list.ok_or("its indices are not read")?;
        let each: Vec<_> =
            split(list).into_iter().map(|part| format!("[{}]", part.replace(' ', ""))).collect();
        Ok(format!(", slice={{{}}}", each.join(", ")))
    }

    /// `[1] x [0]`
    fn pair(&self, clause: &str) -> Option<(Vec<i64>, Vec<i64>)> {
        let (left, right) = self.attribute(&[clause])?.split_once("] x [")?;
        Some((integers(&format!("{left}]"))?, integers(&format!("[{right}"))?))
    }

    fn dot_general(&self) -> Result<String, String> {
        let (batch, contracting) = match self.attribute(&["dot_dimension_numbers"]) {
            Some(numbers) => {
                let list = |name: &str| field(numbers, name).and_then(integers).unwrap_or_default();
                (
                    (list("lhs_batching_dimensions"), list("rhs_batching_dimensions")),
                    (list("lhs_contracting_dimensions"), list("rhs_contracting_dimensions")),
                )
            }
            None => (
                self.pair("batching_dims").unwrap_or_default(),
                self.pair("contracting_dims").unwrap_or_default(),
            ),
        };
        let mut text = String::new();
        if !batch.0.is_empty() {
            text += &format!(", lhs_batch_dims={}, rhs_batch_dims={}", braces(&batch.0), braces(&batch.1));
        }
        Ok(format!(
            "{text}, lhs_contracting_dims={}, rhs_contracting_dims={}",
            braces(&contracting.0),
            braces(&contracting.1)
        ))
    }

    /// `{size=2x2 stride=1x1 pad=0_0x0_0}` with the window that the op slides.
    fn window(&self, sizes: &[i64]) -> Result<String, String> {
        let rank = sizes.len();
        let custom = |key: &str| {
            let (_, rest) = self.attribute(&["window"])?.split_once(&format!("{key} = "))?;
            let end = rest.find(']').map(|end| {
                if rest.starts_with("[[") { rest.find("]]").map_or(end, |e| e + 1) } else { end }
            })?;
            integers(&rest[..=end])
        };
        let list = |generic: &[&str], key: &str| self.list(generic).or_else(|| custom(key));
        let ones = || vec![1; rank];
        let strides = list(&["window_strides"], "stride").filter(|l| l.len() == rank).unwrap_or_else(ones);
        let base = list(&["base_dilations", "lhs_dilation"], "lhs_dilate")
            .filter(|l| l.len() == rank)
            .unwrap_or_else(ones);
        let dilated = list(&["window_dilations", "rhs_dilation"], "rhs_dilate")
            .filter(|l| l.len() == rank)
            .unwrap_or_else(ones);
        let padding =
            list(&["padding"], "pad").filter(|l| l.len() == 2 * rank).unwrap_or_else(|| vec![0; 2 * rank]);
        let reversal = list(&["window_reversal"], "reverse")
            .filter(|l| l.len() == rank)
            .unwrap_or_else(|| vec![0; rank]);
        if rank == 0 {
            return Ok("{}".to_owned());
        }
        let padding: Vec<_> = padding.chunks(2).map(|p| format!("{}_{}", p[0], p[1])).collect();
        let mut text =
            format!("{{size={} stride={} pad={}", joined(sizes.to_vec()), joined(strides), padding.join("x"));
        text += &format!(" lhs_dilate={} rhs_dilate={}", joined(base), joined(dilated));
        if reversal.iter().any(|&r| r != 0) {
            text += &format!(" rhs_reversal={}", joined(reversal));
        }
        Ok(text + "}")
    }

    fn convolution(&self, shapes: &[String]) -> Result<String, String> {
        let numbers =
            self.attribute(&["dimension_numbers", "dim_numbers"]).ok_or("dimension_numbers are not there")?;
        let letters: String =
            numbers.chars().skip_while(|&c| c != '[').filter(|c| !c.is_whitespace() && *c != ',').collect();
        let letters = letters.trim_end_matches('>').replace("]x[", "_").replace("]->[", "->");
        let labels = letters.trim_start_matches('[').trim_end_matches(']').to_owned();
        let kernel = labels.split('_').nth(1).and_then(|l| l.split("->").next()).unwrap_or_default();
        let rhs = extents(shapes.get(1).ok_or("it has no kernel")?);
        let mut sizes: Vec<(u32, i64)> =
            kernel.chars().zip(&rhs).filter_map(|(c, &extent)| Some((c.to_digit(10)?, extent))).collect();
        sizes.sort_unstable();
        let sizes: Vec<i64> = sizes.into_iter().map(|(_, extent)| extent).collect();
        let mut text = match sizes.is_empty() {
            true => String::new(),
            false => format!(", window={}", self.window(&sizes)?),
        };
        text += &format!(", dim_labels={labels}");
        for name in ["feature_group_count", "batch_group_count"] {
            if let Some(count) = self.attribute(&[name]).and_then(integer).filter(|&n| n != 1) {
                text += &format!(", {name}={count}");
            }
        }
        Ok(text)
    }

    fn scatter(&mut self, shapes: &[String]) -> Result<String, String> {
        let numbers = self
            .attribute(&["scatter_dimension_numbers"])
            .ok_or("scatter_dimension_numbers are not there")?;
        let list = |name: &str| field(numbers, name).and_then(integers).unwrap_or_default();
        let mut text = format!(
            ", update_window_dims={}, inserted_window_dims={}, scatter_dims_to_operand_dims={}",
            braces(&list("update_window_dims")),
            braces(&list("inserted_window_dims")),
            braces(&list("scatter_dims_to_operand_dims"))
        );
        if !list("input_batching_dims").is_empty() {
            text += &format!(
                ", input_batching_dims={}, scatter_indices_batching_dims={}",
                braces(&list("input_batching_dims")),
                braces(&list("scatter_indices_batching_dims"))
            );
        }
        let index = field(numbers, "index_vector_dim").and_then(integer).unwrap_or(0);
        let elements: Vec<String> =
            shapes.iter().take(shapes.len() / 2).map(|s| element(s).to_owned()).collect();
        self.reducer(&elements);
        Ok(format!("{text}, index_vector_dim={index}, to_apply=%f"))
    }

    /// Which elements are read does not depend on what is made of them: any reducer does.
    fn reducer(&mut self, elements: &[String]) {
        self.callees = "%f {\n".to_owned();
        let count = elements.len();
        for (n, e) in elements.iter().chain(elements).enumerate() {
            _ = writeln!(self.callees, "  %a{n} = {e}[] parameter({n})");
        }
        match elements {
            [e] => {
                let opcode = if e == "pred" { "or" } else { "add" };
                _ = writeln!(self.callees, "  ROOT %c = {e}[] {opcode}(%a0, %a1)");
            }
            _ => {
                let shapes: Vec<_> = elements.iter().map(|e| format!("{e}[]")).collect();
                let names: Vec<_> = (0..count).map(|n| format!("%a{n}")).collect();
                _ = writeln!(self.callees, "  ROOT %c = ({}) tuple({})", shapes.join(", "), names.join(", "));
            }
        }
        self.callees += "}\n\n";
    }

    fn comparator(&mut self, shapes: &[String]) {
        self.callees = "%f {\n".to_owned();
        for (n, shape) in shapes.iter().enumerate() {
            let e = element(shape);
            _ = writeln!(self.callees, "  %a{n} = {e}[] parameter({})", 2 * n);
            _ = writeln!(self.callees, "  %b{n} = {e}[] parameter({})", 2 * n + 1);
        }
        self.callees += "  ROOT %c = pred[] compare(%a0, %b0), direction=LT\n}\n\n";
    }
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
            "func.func @f(%a: tensor<4x8xf32>, %b: tensor<8x4xf32>, %i: tensor<i32>, %s: tensor<f32>, %k: tensor<1x8xf32>, %x: tensor<1x9x9x3xf32>, %w: tensor<3x3x3x5xf32>) {{\n  %c1 = stablehlo.constant dense<1> : tensor<i32>\n  {line}\n}}\n"
        );
        let read = parse(&text, PieceState::default());
        assert_eq!(read.errors, []);
        let id = (0..read.ops.len() as u32).filter(|&id| read.parent(id) == Some(0)).last().expect("an op");
        let op = hlo_op_text(&read, &text, id).expect("it is an op of HLO");
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
    fn what_cannot_be_said_has_a_reason() {
        check(
            "%0 = stablehlo.abs %a : (tensor<4x8xf32>) -> tensor<?x8xf32>",
            "a dimension of tensor<?x8xf32> is not known",
        );
        check("%0 = stablehlo.reverse %a : tensor<4x8xf32>", "dimensions is not there, or not read");
    }
}
