//! Windows that slide over an operand, the dimensions of convolutions, slices and paddings.

use std::fmt::Write as _;

use mlir::integers;
use mlir::lists::split;

use crate::lists::joined;
use crate::op_text::{OpText, missing};
use crate::types::extents;

/// `, window={size=2x2 stride=1x1 pad=0_0x0_0}` with the window that the op slides. What is usual is left out.
/// `padding` stands for that of the attributes where it is given.
pub(super) fn window(op: OpText<'_>, sizes: &[i64], padding: Option<Vec<i64>>) -> String {
    let rank = sizes.len();
    if rank == 0 {
        return String::new();
    }
    let custom = |key: &str| {
        let (_, rest) = op.attribute(&["window"])?.split_once(&format!("{key} = "))?;
        let end = match rest.starts_with("[[") {
            true => rest.find("]]")? + 1,
            false => rest.find(']')?,
        };
        integers(&rest[..=end])
    };
    let list = |names: &[&str], key: &str, length: usize, usual: i64| {
        let found = op.ints(names).or_else(|| custom(key)).filter(|list| list.len() == length);
        found.filter(|list| list.iter().any(|&n| n != usual))
    };
    let mut text = format!(", window={{size={}", joined(sizes, "x"));
    if let Some(strides) = list(&["window_strides"], "stride", rank, 1) {
        _ = write!(text, " stride={}", joined(&strides, "x"));
    }
    let padding = match padding {
        Some(given) => Some(given).filter(|list| list.iter().any(|&n| n != 0)),
        None => list(&["padding"], "pad", 2 * rank, 0),
    };
    if let Some(padding) = padding {
        let padding: Vec<_> = padding.chunks(2).map(|pair| joined(pair, "_")).collect();
        _ = write!(text, " pad={}", padding.join("x"));
    }
    if let Some(dilated) = list(&["base_dilations", "lhs_dilation"], "lhs_dilate", rank, 1) {
        _ = write!(text, " lhs_dilate={}", joined(&dilated, "x"));
    }
    if let Some(dilated) = list(&["window_dilations", "rhs_dilation"], "rhs_dilate", rank, 1) {
        _ = write!(text, " rhs_dilate={}", joined(&dilated, "x"));
    }
    if let Some(reversed) = list(&["window_reversal"], "reverse", rank, 0) {
        _ = write!(text, " rhs_reversal={}", joined(&reversed, "x"));
    }
    text + "}"
}

pub(super) fn convolution_window(
    op: OpText<'_>,
    operands: &[&str],
    padding: Option<Vec<i64>>,
) -> Result<String, String> {
    let numbers =
        op.attribute(&["dimension_numbers", "dim_numbers"]).ok_or_else(|| missing("dimension_numbers"))?;
    let labels = labels(numbers)?;
    let kernel = labels.split('_').nth(1).and_then(|l| l.split("->").next()).unwrap_or_default();
    let rhs = extents(operands.get(1).ok_or("it has no kernel")?)?;
    let mut sizes: Vec<(u32, i64)> =
        kernel.chars().zip(&rhs).filter_map(|(c, &extent)| Some((c.to_digit(10)?, extent))).collect();
    sizes.sort_unstable();
    let sizes: Vec<i64> = sizes.into_iter().map(|(_, extent)| extent).collect();
    match &padding {
        Some(given) if given.len() != 2 * sizes.len() => {
            Err("its padding is not that of its dimensions".to_owned())
        }
        _ => Ok(window(op, &sizes, padding)),
    }
}

/// `b0f_0io->b0f` of `[b, 0, f]x[0, i, o]->[b, 0, f]`, or of the attribute around it.
pub(super) fn labels(numbers: &str) -> Result<String, String> {
    let unread = || "dimension_numbers are not read".to_owned();
    let sides = &numbers[numbers.find('[').ok_or_else(unread)?..];
    let sides: Vec<&str> = sides.split(']').collect();
    let [input, kernel, output, ..] = sides[..] else { return Err(unread()) };
    let letters = |side: &str, start: &str| -> Option<String> {
        let list = side.strip_prefix(start)?.strip_prefix('[')?;
        let letters: String = list.chars().filter(|c| !c.is_whitespace() && *c != ',').collect();
        letters.chars().all(|c| c.is_ascii_digit() || "bfio?".contains(c)).then_some(letters)
    };
    let (input, kernel, output) = (letters(input, ""), letters(kernel, "x"), letters(output, "->"));
    match (input, kernel, output) {
        (Some(input), Some(kernel), Some(output)) => Ok(format!("{input}_{kernel}->{output}")),
        _ => Err(unread()),
    }
}

pub(super) fn slice(op: OpText<'_>) -> Result<String, String> {
    if let Some(starts) = op.ints(&["start_indices"]) {
        let limits = op.needed(&["limit_indices"])?;
        let strides = op.ints(&["strides"]).unwrap_or_else(|| vec![1; starts.len()]);
        return Ok(slices(&starts, &limits, &strides));
    }
    let list = op.body().split_once('[').and_then(|(_, rest)| rest.split_once(']'));
    let (list, _) = list.ok_or("its indices are not read")?;
    let each: Vec<_> = split(list).into_iter().map(|part| format!("[{}]", part.replace(' ', ""))).collect();
    Ok(format!(", slice={{{}}}", each.join(", ")))
}

/// `, slice={[0:4:2], [1:4]}`
pub(super) fn slices(starts: &[i64], limits: &[i64], strides: &[i64]) -> String {
    let each = starts.iter().zip(limits).zip(strides);
    let each: Vec<_> = each
        .map(|((from, to), by)| match by {
            1 => format!("[{from}:{to}]"),
            _ => format!("[{from}:{to}:{by}]"),
        })
        .collect();
    format!(", slice={{{}}}", each.join(", "))
}

/// `, padding=1_0x0_2_1`
pub(super) fn padding(low: &[i64], high: &[i64], interior: &[i64]) -> String {
    let each = low.iter().zip(high).zip(interior);
    let each: Vec<_> = each
        .map(|((low, high), interior)| match interior {
            0 => format!("{low}_{high}"),
            _ => format!("{low}_{high}_{interior}"),
        })
        .collect();
    match each.is_empty() {
        true => String::new(),
        false => format!(", padding={}", each.join("x")),
    }
}
