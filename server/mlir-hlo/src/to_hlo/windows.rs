//! Windows that slide over an operand, and the dimensions of convolutions.

use std::fmt::Write as _;

use mlir::integers;

use crate::lists::joined;
use crate::op_text::{OpText, missing};
use crate::types::extents;

/// `, window={size=2x2 stride=1x1 pad=0_0x0_0}` with the window that the op slides. What is usual is left out.
pub(super) fn window(op: OpText<'_>, sizes: &[i64]) -> String {
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
    if let Some(padding) = list(&["padding"], "pad", 2 * rank, 0) {
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

pub(super) fn convolution_window(op: OpText<'_>, operands: &[&str]) -> Result<String, String> {
    let numbers =
        op.attribute(&["dimension_numbers", "dim_numbers"]).ok_or_else(|| missing("dimension_numbers"))?;
    let labels = labels(numbers)?;
    let kernel = labels.split('_').nth(1).and_then(|l| l.split("->").next()).unwrap_or_default();
    let rhs = extents(operands.get(1).ok_or("it has no kernel")?);
    let mut sizes: Vec<(u32, i64)> =
        kernel.chars().zip(&rhs).filter_map(|(c, &extent)| Some((c.to_digit(10)?, extent))).collect();
    sizes.sort_unstable();
    let sizes: Vec<i64> = sizes.into_iter().map(|(_, extent)| extent).collect();
    Ok(window(op, &sizes))
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
