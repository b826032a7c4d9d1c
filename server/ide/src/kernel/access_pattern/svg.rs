//! The picture: a row per 128-byte line with its four sectors, and a numbered box per lane where it reads.

use std::fmt::Write;

use gpu::{LINE_BYTES, LanePicture, SECTOR_BYTES};

use super::Sector;
use super::text::spans;

/// The number of lines drawn; the rest are counted.
const LIMIT: usize = 96;
/// Pixels of a byte, of a line's height, and of the columns with addresses and with the lanes of a line.
const BYTE: i64 = 6;
const ROW: i64 = 24;
const LEFT: i64 = 96;
const RIGHT: i64 = 150;
const TOP: i64 = 72;
/// Pixels of a two-digit number.
const NUMBER: i64 = 13;

/// Colours and fonts come from the editor's `--vscode-…` variables; the defaults suit light and dark themes.
const STYLE: &str = "<style>\
    .line { font: 11px var(--vscode-editor-font-family, monospace); fill: var(--vscode-foreground, #777); }\
    .title { font: 600 13px var(--vscode-font-family, sans-serif); fill: var(--vscode-foreground, #777); }\
    .note { font: 12px var(--vscode-font-family, sans-serif); fill: var(--vscode-descriptionForeground, #777); }\
    .sector { stroke: var(--vscode-charts-lines, #8888); stroke-width: 0.6; fill: none; }\
    .moved { fill: var(--vscode-charts-orange, #d18616); fill-opacity: 0.45; }\
    .gap { stroke: var(--vscode-charts-lines, #8888); stroke-dasharray: 1 7; }\
    .lane { font: 10px var(--vscode-editor-font-family, monospace); text-anchor: middle; fill: #111; }\
    </style>";

pub(super) fn svg(title: &str, caption: &str, picture: &LanePicture, sectors: &[Sector]) -> String {
    let per_line = (LINE_BYTES / SECTOR_BYTES) as i64;
    let mut lines: Vec<i64> = sectors.iter().map(|s| s.number.div_euclid(per_line)).collect();
    lines.dedup();
    let omitted = lines.len().saturating_sub(LIMIT);
    lines.truncate(LIMIT);
    let width = LEFT + LINE_BYTES as i64 * BYTE + RIGHT;
    let height = TOP + ROW * lines.len() as i64 + 30;
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\" \
         role=\"img\" aria-label=\"{}\">\n{STYLE}\n",
        escaped(caption)
    );
    _ = writeln!(out, "<text x=\"4\" y=\"16\" class=\"title\">{}</text>", escaped(title));
    _ = writeln!(out, "<text x=\"4\" y=\"35\" class=\"note\">{}</text>", escaped(caption));
    header(&mut out);
    for (row, line) in lines.iter().enumerate() {
        let y = TOP + ROW * row as i64;
        if row > 0 && lines[row - 1] + 1 != *line {
            _ = writeln!(out, "<line x1=\"0\" x2=\"{width}\" y1=\"{0}\" y2=\"{0}\" class=\"gap\"/>", y - 2);
        }
        let of_line = sectors.iter().filter(|s| s.number.div_euclid(per_line) == *line);
        draw_line(&mut out, y, *line, &of_line.collect::<Vec<_>>(), picture.lanes.len());
    }
    let below = match omitted {
        0 => "orange: sectors that are moved; boxes: the bytes that each lane uses".to_owned(),
        n => format!("… and {n} more lines of 128 bytes"),
    };
    _ = writeln!(out, "<text x=\"4\" y=\"{}\" class=\"note\">{below}</text>", height - 8);
    out + "</svg>\n"
}

fn header(out: &mut String) {
    let y = TOP - 8;
    _ = writeln!(out, "<text x=\"{}\" y=\"{y}\" text-anchor=\"end\" class=\"note\">byte</text>", LEFT - 8);
    for byte in (0..LINE_BYTES as i64).step_by(SECTOR_BYTES as usize) {
        _ = writeln!(out, "<text x=\"{}\" y=\"{y}\" class=\"note\">+{byte}</text>", LEFT + byte * BYTE);
    }
    _ = writeln!(
        out,
        "<text x=\"{}\" y=\"{y}\" class=\"note\">lanes</text>",
        LEFT + LINE_BYTES as i64 * BYTE + 10
    );
}

/// A line of 128 bytes: its address, its sectors, its lanes as boxes and as numbers.
fn draw_line(out: &mut String, y: i64, line: i64, sectors: &[&Sector], lanes: usize) {
    let per_line = (LINE_BYTES / SECTOR_BYTES) as i64;
    let address = line.saturating_mul(LINE_BYTES as i64);
    _ = writeln!(
        out,
        "<text x=\"{}\" y=\"{}\" text-anchor=\"end\" class=\"line\">{address}</text>",
        LEFT - 8,
        y + 15
    );
    for part in 0..per_line {
        let number = line.saturating_mul(per_line).saturating_add(part);
        let x = LEFT + part * SECTOR_BYTES as i64 * BYTE;
        let sector = sectors.iter().find(|s| s.number == number);
        let moved = if sector.is_some() { " moved" } else { "" };
        _ = writeln!(
            out,
            "<rect x=\"{x}\" y=\"{y}\" width=\"{}\" height=\"{}\" class=\"sector{moved}\"/>",
            SECTOR_BYTES as i64 * BYTE,
            ROW - 3
        );
        // Where several lanes read one address, the box has the number of the first; the right column lists
        // all.
        let mut numbered = Vec::new();
        for &(lane, first, end) in sector.map_or(&[][..], |s| &s.lanes) {
            let hue = lane * 360 / lanes.max(1);
            let (left, size) = (x + first * BYTE, (end - first) * BYTE);
            _ = writeln!(
                out,
                "<rect x=\"{left}\" y=\"{}\" width=\"{}\" height=\"{}\" rx=\"1\" fill=\"hsl({hue},70%,72%)\"><title>lane {lane}</title></rect>",
                y + 2,
                (size - 1).max(2),
                ROW - 7
            );
            if size >= NUMBER && numbered.iter().all(|&(from, to)| end <= from || to <= first) {
                numbered.push((first, end));
                let middle = left + size / 2;
                _ = writeln!(out, "<text x=\"{middle}\" y=\"{}\" class=\"lane\">{lane}</text>", y + 14);
            }
        }
    }
    let mut of_line: Vec<_> = sectors.iter().flat_map(|s| s.lanes.iter().copied()).collect();
    of_line.sort_unstable();
    let x = LEFT + LINE_BYTES as i64 * BYTE + 10;
    _ = writeln!(
        out,
        "<text x=\"{x}\" y=\"{}\" class=\"line\">{}</text>",
        y + 15,
        shortened(&spans(&of_line))
    );
}

/// The text cut to the column's width.
fn shortened(text: &str) -> String {
    const LETTERS: usize = 20;
    match text.char_indices().nth(LETTERS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// One line of text inside of SVG or XML.
pub fn escaped(text: &str) -> String {
    text::visible_line(text)
        .replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}
