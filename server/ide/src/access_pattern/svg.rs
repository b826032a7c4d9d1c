//! The picture: a row per 128-byte line with its four sectors, a box per lane where it reads.

use std::fmt::Write;

use gpu::{LINE_BYTES, LanePicture, SECTOR_BYTES};

use super::Sector;

/// Lines shown; the rest is counted.
const LIMIT: usize = 96;
/// Pixels of a byte, of a line's height, and of the column with addresses.
const BYTE: i64 = 6;
const ROW: i64 = 22;
const LEFT: i64 = 96;
const TOP: i64 = 56;

/// Colours come from the editor where it sets `--vscode-…`, and else suit light and dark.
pub(super) fn svg(title: &str, caption: &str, picture: &LanePicture, sectors: &[Sector]) -> String {
    let per_line = (LINE_BYTES / SECTOR_BYTES) as i64;
    let mut lines: Vec<i64> = sectors.iter().map(|s| s.number.div_euclid(per_line)).collect();
    lines.dedup();
    let omitted = lines.len().saturating_sub(LIMIT);
    lines.truncate(LIMIT);
    let width = LEFT + LINE_BYTES as i64 * BYTE + 12;
    let height = TOP + ROW * lines.len() as i64 + 28;
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\" \
         font-family=\"var(--vscode-editor-font-family, monospace)\" font-size=\"11\" fill=\"var(--vscode-foreground, #777)\">\n"
    );
    _ = writeln!(
        out,
        "<text x=\"4\" y=\"16\" font-size=\"13\" font-weight=\"bold\">{}</text>",
        escaped(title)
    );
    _ = writeln!(out, "<text x=\"4\" y=\"34\">{}</text>", escaped(caption));
    for (row, line) in lines.iter().enumerate() {
        let y = TOP + ROW * row as i64;
        if row > 0 && lines[row - 1] + 1 != *line {
            _ = writeln!(
                out,
                "<line x1=\"0\" x2=\"{width}\" y1=\"{0}\" y2=\"{0}\" stroke=\"#888\" stroke-dasharray=\"2 4\"/>",
                y - 2
            );
        }
        let address = line.saturating_mul(LINE_BYTES as i64);
        _ = writeln!(out, "<text x=\"{}\" y=\"{}\" text-anchor=\"end\">{address}</text>", LEFT - 8, y + 13);
        for part in 0..per_line {
            let number = line * per_line + part;
            let x = LEFT + part * SECTOR_BYTES as i64 * BYTE;
            let sector = sectors.binary_search_by_key(&number, |s| s.number).ok().map(|at| &sectors[at]);
            let fill = if sector.is_some() { "rgba(220,150,40,0.22)" } else { "none" };
            _ = writeln!(
                out,
                "<rect x=\"{x}\" y=\"{y}\" width=\"{}\" height=\"{}\" fill=\"{fill}\" stroke=\"#888\" stroke-width=\"0.6\"/>",
                SECTOR_BYTES as i64 * BYTE,
                ROW - 4
            );
            for &(lane, first, end) in sector.map_or(&[][..], |s| &s.lanes) {
                let hue = lane * 360 / picture.lanes.len().max(1);
                _ = writeln!(
                    out,
                    "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"hsl({hue},65%,52%)\"><title>lane {lane}</title></rect>",
                    x + first * BYTE,
                    y + 3,
                    ((end - first) * BYTE - 1).max(2),
                    ROW - 10
                );
            }
        }
    }
    let below = match omitted {
        0 => "orange: sectors that are moved; boxes: what lanes use".to_owned(),
        n => format!("… and {n} more lines of 128 bytes"),
    };
    _ = writeln!(out, "<text x=\"4\" y=\"{}\">{below}</text>", height - 8);
    out + "</svg>\n"
}

fn escaped(text: &str) -> String {
    text::visible_line(text).replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
