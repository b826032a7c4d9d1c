//! `stablehlo.convolution` and `stablehlo.dynamic_conv`.
//!
//! Source: openxla.org/stablehlo/spec.

use indexing_map::{Expr, Interval};
use mlir::{field, integer, integers};
use mlir_ops::{NoMap, OpText, Operand};

use crate::access::{OpMaps, Role};
use crate::map_builder::MapBuilder;
use crate::stablehlo_ops::constant_elements;
use crate::stablehlo_windows::{Window, entries, low_padding, positive};

/// `[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]`: the dimensions of batch, feature and space in one operand.
struct Labels {
    /// Batch of input and output; input features of the kernel.
    first: usize,
    /// Features of input and output; output features of the kernel.
    second: usize,
    space: Vec<usize>,
}

fn labels(list: &str, first: &str, second: &str) -> Option<Labels> {
    let words: Vec<&str> = list.trim().trim_matches(['[', ']']).split(',').map(str::trim).collect();
    let find = |word: &str| words.iter().position(|w| *w == word);
    let space = (0..words.len().checked_sub(2)?).map(|k| find(&k.to_string())).collect::<Option<Vec<_>>>()?;
    Some(Labels { first: find(first)?, second: find(second)?, space })
}

/// The labels of input, kernel and output: `[…]x[…]->[…]`, or
/// `#stablehlo.conv<raw input_batch_dimension = 0, …>`.
fn all_labels(written: &str) -> Option<[Labels; 3]> {
    if let Some((_, raw)) = written.split_once("conv<raw") {
        let fields = format!("<{raw}");
        let one = |name: &str| usize::try_from(integer(field(&fields, name)?)?).ok();
        let read = |array: &str, first: &str, second: &str| {
            let space = integers(field(&fields, &format!("{array}_spatial_dimensions"))?)?;
            let found = Labels {
                first: one(&format!("{array}_{first}_dimension"))?,
                second: one(&format!("{array}_{second}_dimension"))?,
                space: space.into_iter().map(|k| usize::try_from(k).ok()).collect::<Option<_>>()?,
            };
            let all = || [found.first, found.second].into_iter().chain(found.space.iter().copied());
            // Each dimension occurs once.
            (0..found.space.len() + 2).all(|k| all().any(|d| d == k)).then_some(found)
        };
        return Some([
            read("input", "batch", "feature")?,
            read("kernel", "input_feature", "output_feature")?,
            read("output", "batch", "feature")?,
        ]);
    }
    let numbers = written.split_once("conv<").map_or(written, |(_, n)| n.trim_end_matches('>'));
    let (operands, output) = numbers.split_once("->")?;
    let (left, right) = operands.split_once(']')?;
    let right = right.trim_start().strip_prefix('x')?;
    Some([labels(left, "b", "f")?, labels(right, "i", "o")?, labels(output, "b", "f")?])
}

/// Padding as an operand: the first of each pair is a symbol, negative if the input is cropped.
fn padding_operand(builder: &mut MapBuilder<'_>, padding: &Operand, rank: usize) -> Vec<Expr> {
    let low = |k: usize| vec![Expr::Const(k as i64), Expr::ZERO];
    (0..rank).map(|k| builder.element(padding, k, low(k), Interval::ALL)).collect()
}

/// `dim_numbers = …, window = {stride = [2, 2], pad = [[1, 1], [0, 0]], …}`
pub(crate) fn convolution(text: &OpText<'_>) -> Result<OpMaps, NoMap> {
    let mut builder = MapBuilder::new(text.source);
    let (input, kernel) = (text.operand(0)?, text.operand(1)?);
    let (input_type, kernel_type, result) =
        (text.array_of(&input)?, text.array_of(&kernel)?, text.result_array(0)?);
    let missing = || NoMap::from("its dimension numbers are not read");
    let written =
        text.attribute("dim_numbers").or_else(|| text.attribute("dimension_numbers")).ok_or_else(missing)?;
    let written = text.source.resolved(written, text.source.parse.op(text.id).span.start).into_owned();
    let [input_labels, kernel_labels, output_labels] = all_labels(&written).ok_or_else(missing)?;
    let rank = input_labels.space.len();
    let fits = [input_type.rank(), kernel_type.rank(), result.rank()].iter().all(|&r| r == rank + 2);
    if !fits || kernel_labels.space.len() != rank || output_labels.space.len() != rank {
        return Err("its dimension numbers are not those of its operands".into());
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
        low: match text.operand(2) {
            Ok(padding) => match constant_elements(text, &padding) {
                // One number applies to all.
                Some(pairs) if pairs.len() == 1 => vec![Expr::Const(pairs[0]); rank],
                Some(pairs) => low_padding(Some(pairs), rank)?,
                None => padding_operand(&mut builder, &padding, rank),
            },
            Err(_) => low_padding(list("padding", "pad"), rank)?,
        },
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
    if feature_groups < 1 || batch_groups < 1 {
        return Err("its groups are not positive".into());
    }
    let mut known = vec![None; result.rank()];
    let batches = builder.extent(&input, &input_type, input_labels.first).floor_div(batch_groups);
    known[output_labels.first] = Some(batches.clone());
    known[output_labels.second] = Some(builder.extent(&kernel, &kernel_type, kernel_labels.second));
    let extents = builder.result_extents(text, 0, &result, &known);
    let dims = builder.dimensions(&extents);
    let features = builder.extent(&kernel, &kernel_type, kernel_labels.first);
    let feature = builder.range(None, &features);
    let outer = dims[output_labels.second].clone();
    let mut of_input = vec![Expr::ZERO; rank + 2];
    let mut of_kernel = vec![Expr::ZERO; rank + 2];
    // Groups of output features read groups of input features, or of batches.
    let group_of = |groups: i64, size: &Expr| {
        let in_group = extents[output_labels.second].clone().floor_div(groups);
        match (groups, in_group.as_const()) {
            (1, _) => Ok(Expr::ZERO),
            (_, Some(0)) => Err("it has more groups than output features"),
            _ => Ok(outer.clone().floor_div(in_group) * size.clone()),
        }
    };
    of_input[input_labels.first] = group_of(batch_groups, &batches)? + dims[output_labels.first].clone();
    of_input[input_labels.second] = group_of(feature_groups, &features)? + feature.clone();
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
    let mut accesses = vec![
        builder.access(&input, Role::Read, of_input, when.clone()),
        builder.access(&kernel, Role::Read, of_kernel, when),
    ];
    if let Ok(padding) = text.operand(2) {
        let all = [rank as i64, 2].map(|n| builder.range(None, &Expr::Const(n)));
        accesses.push(builder.access(&padding, Role::Read, all.to_vec(), Vec::new()));
    }
    Ok(OpMaps::of_result(0, accesses))
}
