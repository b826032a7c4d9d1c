//! Describes the layout in the braces after a shape.

use ir::{ArrayShape, ElementTypeExt};

use crate::rich_text::{Line, RichText, code, page_link, parts};

/// The order of the dimensions in memory with their strides, then tiles, packing and memory space, if any.
pub(crate) fn layout(array: &ArrayShape) -> Option<RichText> {
    let layout = array.layout.as_ref()?;
    let mut text = RichText::default();
    text.paragraph(parts![code(layout.to_string()), ": layout, fastest dimension first"]);
    let order = array.minor_to_major();
    let mut stride: Option<i64> = Some(1);
    for (i, &dim) in order.iter().enumerate() {
        let step = stride.map_or_else(|| "?".to_owned(), |s| s.to_string());
        let note = if i == 0 { " (neighbours in memory)" } else { "" };
        text.item(format!("dimension {dim}, size {}: stride {step}{note}", array.dims[dim]));
        stride = stride.and_then(|s| s.checked_mul(array.dims[dim]));
    }
    if !order.is_empty() {
        text.space();
        text.paragraph("Strides in elements.");
    }
    if !layout.tiles.is_empty() {
        text.paragraph(Line::documentation(
            "`T(…)`: elements lie in tiles of this size over the minor dimensions, each tile in one piece and padded \
             at the edges; a second tile cuts the first. Strides hold between tiles only.",
        ));
    }
    if layout.element_bits > 0 {
        let natural = array.element.bits().unwrap_or_default();
        let bits = code(format!("E({})", layout.element_bits));
        text.paragraph(parts![bits, format!(": bits per element in memory; the type has {natural}.")]);
    }
    if layout.memory_space != 0 {
        let known = match layout.memory_space {
            1 => " (a faster memory of the device; on GPU memory that collectives share)",
            5 => " (the host's memory)",
            _ => "",
        };
        text.paragraph(parts![code(format!("S({})", layout.memory_space)), ": memory space", known, "."]);
    }
    text.line(page_link("reference", "https://openxla.org/xla/tiled_layout"));
    Some(text)
}
