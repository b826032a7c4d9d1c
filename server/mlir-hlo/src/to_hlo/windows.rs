//! Windows that slide over an operand, the dimensions of convolutions, slices and paddings.

use ir::{AttributeValue, WindowDim};
use mlir::lists::split;
use mlir::{field, integer, integers};
use mlir_ops::OpText;

use super::body::Operand;
use crate::not_in_hlo::NotInHlo;
use crate::op_text::{missing, needed};

/// The window of these sizes that the op slides. `padding`, if given, replaces that of the attributes.
pub(super) fn window(op: &OpText<'_>, sizes: &[i64], padding: Option<Vec<i64>>) -> Vec<WindowDim> {
    let rank = sizes.len();
    let custom = |key: &str| {
        let (_, rest) = op.first_of(&["window"])?.split_once(&format!("{key} = "))?;
        let end = match rest.starts_with("[[") {
            true => rest.find("]]")? + 1,
            false => rest.find(']')?,
        };
        integers(&rest[..=end])
    };
    let list = |names: &[&str], key: &str, length: usize| {
        op.list(names).or_else(|| custom(key)).filter(|list| list.len() == length)
    };
    let mut window: Vec<WindowDim> = sizes.iter().map(|&size| WindowDim::of_size(size)).collect();
    let mut set = |list: Option<Vec<i64>>, field: fn(&mut WindowDim) -> &mut i64| {
        for (dim, value) in window.iter_mut().zip(list.unwrap_or_default()) {
            *field(dim) = value;
        }
    };
    set(list(&["window_strides"], "stride", rank), |dim| &mut dim.stride);
    set(list(&["base_dilations", "lhs_dilation"], "lhs_dilate", rank), |dim| &mut dim.base_dilation);
    set(list(&["window_dilations", "rhs_dilation"], "rhs_dilate", rank), |dim| &mut dim.window_dilation);
    let padding = padding.or_else(|| list(&["padding"], "pad", 2 * rank)).unwrap_or_default();
    set(Some(padding.iter().copied().step_by(2).collect()), |dim| &mut dim.pad_low);
    set(Some(padding.iter().copied().skip(1).step_by(2).collect()), |dim| &mut dim.pad_high);
    let reversed = list(&["window_reversal"], "reverse", rank).unwrap_or_default();
    for (dim, value) in window.iter_mut().zip(reversed) {
        dim.is_reversed = value != 0;
    }
    window
}

/// The window of a convolution, whose sizes are extents of its kernel: negative where these are not known.
pub(super) fn convolution_window(
    op: &OpText<'_>,
    operands: &[Operand],
    padding: Option<Vec<i64>>,
) -> Result<Vec<WindowDim>, NotInHlo> {
    let numbers =
        op.first_of(&["dimension_numbers", "dim_numbers"]).ok_or_else(|| missing("dimension_numbers"))?;
    let labels = labels(numbers)?;
    let kernel = labels.split('_').nth(1).and_then(|l| l.split("->").next()).unwrap_or_default();
    let rhs = operands.get(1).ok_or("it has no kernel")?.shape.with_unknown_extents();
    let mut sizes: Vec<(u32, i64)> =
        kernel.chars().zip(rhs.dims()).filter_map(|(c, &extent)| Some((c.to_digit(10)?, extent))).collect();
    sizes.sort_unstable();
    let sizes: Vec<i64> = sizes.into_iter().map(|(_, extent)| extent).collect();
    match &padding {
        Some(given) if !given.is_empty() && given.len() != 2 * sizes.len() => {
            Err("its padding is not that of its dimensions".into())
        }
        _ => Ok(window(op, &sizes, padding)),
    }
}

/// `b0f_0io->b0f` of `[b, 0, f]x[0, i, o]->[b, 0, f]`, of the attribute around it, or of
/// `#stablehlo.conv<raw input_batch_dimension = 0, …>`.
pub(super) fn labels(numbers: &str) -> Result<String, NotInHlo> {
    let unread = || NotInHlo::from("dimension_numbers are not read");
    if let Some((_, fields)) = numbers.split_once("conv<raw") {
        let fields = format!("<{fields}");
        let side = |array: &str, named: [&str; 2], letters: [char; 2]| {
            let one = |name| integer(field(&fields, &format!("{array}_{name}_dimension"))?);
            let spatial = integers(field(&fields, &format!("{array}_spatial_dimensions"))?)?;
            let digits = (0..).zip(&spatial).map(|(k, &d)| Some((d, char::from_digit(k, 10)?)));
            let named = named.into_iter().zip(letters).map(|(name, letter)| Some((one(name)?, letter)));
            let mut all = named.chain(digits).collect::<Option<Vec<_>>>()?;
            all.sort_unstable();
            // Each dimension occurs once.
            let is_each = (0..).zip(&all).all(|(k, &(d, _))| k == d);
            is_each.then(|| all.into_iter().map(|(_, letter)| letter).collect::<String>())
        };
        let input = side("input", ["batch", "feature"], ['b', 'f']);
        let kernel = side("kernel", ["input_feature", "output_feature"], ['i', 'o']);
        let output = side("output", ["batch", "feature"], ['b', 'f']);
        let ((input, kernel), output) = input.zip(kernel).zip(output).ok_or_else(unread)?;
        return Ok(format!("{input}_{kernel}->{output}"));
    }
    let sides = &numbers[numbers.find('[').ok_or_else(unread)?..];
    let sides: Vec<&str> = sides.split(']').collect();
    let [input, kernel, output, ..] = sides[..] else { return Err(unread()) };
    let letters = |side: &str, start: &str| -> Option<String> {
        let list = side.trim().strip_prefix(start)?.trim_start().strip_prefix('[')?;
        let letters: String = list.chars().filter(|c| !c.is_whitespace() && *c != ',').collect();
        letters.chars().all(|c| c.is_ascii_digit() || "bfio?".contains(c)).then_some(letters)
    };
    let (input, kernel, output) = (letters(input, ""), letters(kernel, "x"), letters(output, "->"));
    match (input, kernel, output) {
        (Some(input), Some(kernel), Some(output)) => Ok(format!("{input}_{kernel}->{output}")),
        _ => Err(unread()),
    }
}

/// Start, limit and stride of each dimension.
pub(super) fn slice(op: &OpText<'_>) -> Result<AttributeValue, NotInHlo> {
    if let Some(starts) = op.list(&["start_indices"]) {
        let limits = needed(op, &["limit_indices"])?;
        let strides = op.list(&["strides"]).unwrap_or_else(|| vec![1; starts.len()]);
        return Ok(triples(&starts, &limits, &strides).into());
    }
    let unread = "its indices are not read";
    let list = op.body().split_once('[').and_then(|(_, rest)| rest.split_once(']'));
    let (list, _) = list.ok_or(unread)?;
    let range = |part: &str| {
        let numbers: Vec<i64> = part.split(':').map(|n| n.trim().parse().ok()).collect::<Option<_>>()?;
        match numbers[..] {
            [start, limit] => Some([start, limit, 1]),
            [start, limit, stride] => Some([start, limit, stride]),
            _ => None,
        }
    };
    let each: Option<Vec<[i64; 3]>> = split(list).into_iter().map(range).collect();
    Ok(each.ok_or(unread)?.into())
}

/// The numbers of each dimension together.
pub(super) fn triples(first: &[i64], second: &[i64], third: &[i64]) -> Vec<[i64; 3]> {
    first.iter().zip(second).zip(third).map(|((&first, &second), &third)| [first, second, third]).collect()
}
