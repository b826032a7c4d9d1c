//! Windows that slide over arrays: `stablehlo.reduce_window`, `stablehlo.convolution`.
//!
//! Source: openxla.org/stablehlo/spec.

use indexing_map::{Expr, Interval};
use mlir::{field, integer, integers};

use crate::access::{OpMaps, Role};
use crate::map_builder::MapBuilder;
use crate::op_text::OpText;

/// A window over some dimensions, one entry for each.
struct Window {
    sizes: Vec<Expr>,
    strides: Vec<i64>,
    low: Vec<i64>,
    base_dilations: Vec<i64>,
    window_dilations: Vec<i64>,
    reversed: Vec<bool>,
}

impl Window {
    /// The place in the operand that element `inside` of the window at `d` is, and when there is one: dilation puts holes
    /// between elements, and padding is around them.
    fn place(&self, k: usize, d: &Expr, inside: &Expr, extent: &Expr) -> (Expr, Vec<(Expr, Interval)>) {
        let inside = match self.reversed[k] {
            true => self.sizes[k].clone() - 1 - inside.clone(),
            false => inside.clone(),
        };
        let at = d.clone() * self.strides[k] + inside * self.window_dilations[k] - self.low[k];
        let dilation = self.base_dilations[k];
        let place = at.clone().floor_div(dilation);
        let mut when = MapBuilder::within(&place, extent);
        if dilation != 1 {
            when.push((at.modulo(dilation), Interval::point(0)));
        }
        (place, when)
    }
}

/// An entry per dimension, or `otherwise` for each where the attribute is not there.
fn entries(written: Option<Vec<i64>>, rank: usize, otherwise: i64, what: &str) -> Result<Vec<i64>, String> {
    match written {
        None => Ok(vec![otherwise; rank]),
        Some(list) if list.len() == rank => Ok(list),
        Some(list) => Err(format!("its {what} are {} for {rank} dimensions", list.len())),
    }
}

/// The first of each pair of `padding`.
fn low_padding(written: Option<Vec<i64>>, rank: usize) -> Result<Vec<i64>, String> {
    let pairs = entries(written, 2 * rank, 0, "padding")?;
    Ok(pairs.into_iter().step_by(2).collect())
}

fn positive(list: Vec<i64>, what: &str) -> Result<Vec<i64>, String> {
    match list.iter().all(|&n| n > 0) {
        true => Ok(list),
        false => Err(format!("its {what} are not all positive")),
    }
}

/// Each result element is made of a window of the operand; what of it is outside is the initial value.
pub(crate) fn reduce_window(text: &OpText<'_>, result: usize) -> Result<OpMaps, String> {
    let mut builder = MapBuilder::new(text.source);
    let operands = text.operands();
    let arrays = operands.len() / 2;
    let first = operands.first().ok_or("it has no operand")?;
    let (ty, to) = (text.array_of(first)?, text.result_array(result)?);
    let rank = ty.rank();
    if to.rank() != rank {
        return Err("its result has not the dimensions of the operand".to_owned());
    }
    let sizes = text.list(&["window_dimensions"]).ok_or("its window_dimensions are not read")?;
    let list = |name: &str, otherwise: i64| entries(text.list(&[name]), rank, otherwise, name);
    let window = Window {
        sizes: entries(Some(sizes), rank, 1, "window_dimensions")?.into_iter().map(Expr::Const).collect(),
        strides: positive(list("window_strides", 1)?, "window_strides")?,
        low: low_padding(text.list(&["padding"]), rank)?,
        base_dilations: positive(list("base_dilations", 1)?, "base_dilations")?,
        window_dilations: positive(list("window_dilations", 1)?, "window_dilations")?,
        reversed: vec![false; rank],
    };
    let inner = builder.extents(first, &ty);
    // A dimension over which nothing slides is as long as before.
    let is_still = |k: usize| {
        window.sizes[k] == Expr::Const(1)
            && (window.strides[k], window.base_dilations[k], window.low[k]) == (1, 1, 0)
    };
    let known: Vec<Option<Expr>> = (0..rank).map(|k| is_still(k).then(|| inner[k].clone())).collect();
    let extents = builder.result_extents(text, result, &to, &known);
    let dims = builder.dimensions(&extents);
    let (mut index, mut when) = (Vec::new(), Vec::new());
    for (k, d) in dims.iter().enumerate() {
        let inside = builder.range(None, &window.sizes[k]);
        let (place, more) = window.place(k, d, &inside, &inner[k]);
        index.push(place);
        when.extend(more);
    }
    let accesses = operands
        .iter()
        .enumerate()
        .map(|(nth, operand)| match nth < arrays {
            true => builder.access(operand, Role::Read, index.clone(), when.clone()),
            false => builder.access(operand, Role::Read, Vec::new(), Vec::new()),
        })
        .collect();
    Ok(OpMaps::of_result(result, accesses))
}

/// `[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]`: where batch, feature and space are in an operand.
struct Labels {
    /// Batch of the input and output, input features of the kernel.
    first: usize,
    /// Features of the input and output, output features of the kernel.
    second: usize,
    space: Vec<usize>,
}

fn labels(list: &str, first: &str, second: &str) -> Option<Labels> {
    let words: Vec<&str> = list.trim().trim_matches(['[', ']']).split(',').map(str::trim).collect();
    let find = |word: &str| words.iter().position(|w| *w == word);
    let space = (0..words.len().checked_sub(2)?).map(|k| find(&k.to_string())).collect::<Option<Vec<_>>>()?;
    Some(Labels { first: find(first)?, second: find(second)?, space })
}

/// `dim_numbers = …, window = {stride = [2, 2], pad = [[1, 1], [0, 0]], …}`
pub(crate) fn convolution(text: &OpText<'_>) -> Result<OpMaps, String> {
    let mut builder = MapBuilder::new(text.source);
    let (input, kernel) = (text.operand(0)?, text.operand(1)?);
    let (input_type, kernel_type, result) =
        (text.array_of(&input)?, text.array_of(&kernel)?, text.result_array(0)?);
    let missing = "its dimension numbers are not read";
    let written =
        text.attribute("dim_numbers").or_else(|| text.attribute("dimension_numbers")).ok_or(missing)?;
    let written = text.source.resolved(written, text.source.parse.op(text.id).span.start).into_owned();
    let numbers = written.split_once("conv<").map_or(written.as_str(), |(_, n)| n.trim_end_matches('>'));
    let (operands, output) = numbers.split_once("->").ok_or(missing)?;
    let (left, right) = operands.split_once(']').ok_or(missing)?;
    let right = right.trim_start().strip_prefix('x').ok_or(missing)?;
    let input_labels = labels(left, "b", "f").ok_or(missing)?;
    let kernel_labels = labels(right, "i", "o").ok_or(missing)?;
    let output_labels = labels(output, "b", "f").ok_or(missing)?;
    let rank = input_labels.space.len();
    let fits = [input_type.rank(), kernel_type.rank(), result.rank()].iter().all(|&r| r == rank + 2);
    if !fits || kernel_labels.space.len() != rank || output_labels.space.len() != rank {
        return Err("its dimension numbers are not those of its operands".to_owned());
    }
    let body = text.attribute("window");
    let in_window = |name: &str| -> Option<Vec<i64>> {
        let dictionary = body?.replacen('{', "<", 1);
        let closed = format!("{}>", dictionary.trim_end().trim_end_matches('}'));
        integers(field(&closed, name)?)
    };
    let list = |generic: &str, custom: &str| text.list(&[generic]).or_else(|| in_window(custom));
    let window = Window {
        sizes: kernel_labels.space.iter().map(|&k| builder.extent(&kernel, &kernel_type, k)).collect(),
        strides: positive(entries(list("window_strides", "stride"), rank, 1, "strides")?, "strides")?,
        low: low_padding(list("padding", "pad"), rank)?,
        base_dilations: positive(
            entries(list("lhs_dilation", "lhs_dilate"), rank, 1, "dilations")?,
            "dilations",
        )?,
        window_dilations: positive(
            entries(list("rhs_dilation", "rhs_dilate"), rank, 1, "dilations")?,
            "dilations",
        )?,
        reversed: entries(list("window_reversal", "reverse"), rank, 0, "reversals")?
            .into_iter()
            .map(|r| r != 0)
            .collect(),
    };
    let group = |name: &str| text.attribute(name).and_then(integer).unwrap_or(1);
    let (feature_groups, batch_groups) = (group("feature_group_count"), group("batch_group_count"));
    if batch_groups != 1 {
        return Err("batch groups of operands that are not of a known shape".to_owned());
    }
    let mut known = vec![None; result.rank()];
    known[output_labels.first] = Some(builder.extent(&input, &input_type, input_labels.first));
    known[output_labels.second] = Some(builder.extent(&kernel, &kernel_type, kernel_labels.second));
    let extents = builder.result_extents(text, 0, &result, &known);
    let dims = builder.dimensions(&extents);
    let features = builder.extent(&kernel, &kernel_type, kernel_labels.first);
    let feature = builder.range(None, &features);
    let outer = dims[output_labels.second].clone();
    let mut of_input = vec![Expr::ZERO; rank + 2];
    let mut of_kernel = vec![Expr::ZERO; rank + 2];
    of_input[input_labels.first] = dims[output_labels.first].clone();
    of_input[input_labels.second] = match feature_groups {
        1 => feature.clone(),
        // Groups of output features read groups of input features.
        n if n > 1 => {
            let in_group = extents[output_labels.second].clone().floor_div(n);
            feature.clone() + outer.clone().floor_div(in_group) * features
        }
        _ => return Err("its feature_group_count is not positive".to_owned()),
    };
    of_kernel[kernel_labels.first] = feature;
    of_kernel[kernel_labels.second] = outer;
    let mut when = Vec::new();
    for k in 0..rank {
        let inside = builder.range(None, &window.sizes[k]);
        let extent = builder.extent(&input, &input_type, input_labels.space[k]);
        let (place, more) = window.place(k, &dims[output_labels.space[k]], &inside, &extent);
        of_input[input_labels.space[k]] = place;
        of_kernel[kernel_labels.space[k]] = inside;
        when.extend(more);
    }
    let accesses = vec![
        builder.access(&input, Role::Read, of_input, when.clone()),
        builder.access(&kernel, Role::Read, of_kernel, when),
    ];
    Ok(OpMaps::of_result(0, accesses))
}
