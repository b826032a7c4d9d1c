//! The attributes of instructions of HLO, from those of StableHLO's and MHLO's ops in both of their forms.

use std::fmt::Write as _;

use crate::attribute_values::{field, integer, integers};
use crate::hlo_ops::Recipe;
use crate::hlo_text::{Writer, braces, element, extents, split};

fn joined(values: impl IntoIterator<Item = i64>) -> String {
    let values: Vec<_> = values.into_iter().map(|v| v.to_string()).collect();
    values.join("x")
}

impl Writer<'_> {
    /// What stands behind the operands of the instruction.
    pub(crate) fn attributes(
        &mut self,
        recipe: Recipe,
        shapes: &[String],
        results: &[String],
    ) -> Result<String, String> {
        use Recipe::*;
        let first = shapes.first().map(String::as_str).unwrap_or_default();
        Ok(match recipe {
            Plain | BroadcastInDim | Constant | ExtractSlice | TensorPad | LinalgReduce | Pointwise => {
                String::new()
            }
            TensorConcat => {
                let custom = || self.body().split_once("dim(")?.1.split_once(')')?.0.trim().parse().ok();
                let dimension = self.attribute(&["dim"]).and_then(integer).or_else(custom);
                format!(", dimensions={}", braces(&[dimension.ok_or("its dimension is not read")?]))
            }
            LinalgBroadcast => {
                let added = self.needed(&["dimensions"])?;
                let rank = extents(&results[0]).len() as i64;
                let kept: Vec<i64> = (0..rank).filter(|d| !added.contains(d)).collect();
                format!(", dimensions={}", braces(&kept))
            }
            Contraction(batch, [left, right]) => {
                let batches = match batch.is_empty() {
                    true => String::new(),
                    false => format!(", lhs_batch_dims={0}, rhs_batch_dims={0}", braces(batch)),
                };
                format!("{batches}, lhs_contracting_dims={{{left}}}, rhs_contracting_dims={{{right}}}")
            }
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
    pub(crate) fn reducer(&mut self, elements: &[String]) {
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
