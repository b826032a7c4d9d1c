//! Describes the layout in the braces after a shape.

use ir::{ArrayShape, ElementTypeExt};

use crate::markdown::code;

/// The order of the dimensions in memory with their strides, then tiles, packing and memory space, if any.
pub(crate) fn layout(array: &ArrayShape) -> Option<String> {
    let layout = array.layout.as_ref()?;
    let mut out = format!("{}: layout, fastest dimension first\n\n", code(&layout.to_string()));
    let order = array.minor_to_major();
    let mut stride: Option<i64> = Some(1);
    let mut lines = Vec::new();
    for (i, &dim) in order.iter().enumerate() {
        let step = stride.map_or_else(|| "?".to_owned(), |s| s.to_string());
        let note = if i == 0 { " (neighbours in memory)" } else { "" };
        lines.push(format!("- dimension {dim}, size {}: stride {step}{note}", array.dims[dim]));
        stride = stride.and_then(|s| s.checked_mul(array.dims[dim]));
    }
    if !lines.is_empty() {
        out += &format!("{}\n\nStrides in elements.\n\n", lines.join("\n"));
    }
    if !layout.tiles.is_empty() {
        out += "`T(…)`: elements lie in tiles of this size over the minor dimensions, each tile in one piece and padded \
                at the edges; a second tile cuts the first. Strides hold between tiles only.\n\n";
    }
    if layout.element_bits > 0 {
        let natural = array.element.bits().unwrap_or_default();
        out +=
            &format!("`E({})`: bits per element in memory; the type has {natural}.\n\n", layout.element_bits);
    }
    if layout.memory_space != 0 {
        let known = match layout.memory_space {
            1 => " (a faster memory of the device; on GPU memory that collectives share)",
            5 => " (the host's memory)",
            _ => "",
        };
        out += &format!("`S({})`: memory space{known}.\n\n", layout.memory_space);
    }
    out += "[reference](https://openxla.org/xla/tiled_layout)\n";
    Some(out)
}
