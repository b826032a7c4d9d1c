//! The timeline as a picture: the bytes in use over the schedule, an area per category, the peak marked.

use std::fmt::Write;

use ::memory::{Bytes, Category, Usage};

use super::{AliveUntil, MemoryReport};
use crate::escaped_xml as escaped;
use crate::units::bytes;

/// Pixels of the drawing, and of what stands around it.
const WIDTH: usize = 900;
const HEIGHT: usize = 320;
const LEFT: usize = 78;
const TOP: usize = 62;
const RIGHT: usize = 20;
const ROW: usize = 18;

/// The largest values that are alive at the peak and listed below it.
const LISTED: usize = 12;
const MAX_CHARS: usize = 118;

/// Colours that are told apart in both themes, in the order in which the areas lie on each other.
const AREAS: [(Category, &str, &str); 4] = [
    (Category::Parameter, "parameters", "p"),
    (Category::Constant, "constants", "c"),
    (Category::Output, "outputs", "o"),
    (Category::Temporary, "temporaries", "t"),
];

const STYLE: &str = "<style>\
    text { font: 12px var(--vscode-font-family, sans-serif); fill: var(--vscode-foreground, #333); }\
    .title { font-weight: 600; font-size: 14px; }\
    .value { font-family: var(--vscode-editor-font-family, monospace); }\
    .axis { stroke: #8888; stroke-width: 1; fill: none; }\
    .peak { stroke: #c4532d; stroke-width: 1.5; stroke-dasharray: 4 3; }\
    .limit { stroke: #8888; stroke-dasharray: 2 4; }\
    .p { fill: #6b7a99; } .c { fill: #b58900; } .o { fill: #2e8b57; } .t { fill: #2f6fde; }\
    @media (prefers-color-scheme: dark) { text { fill: var(--vscode-foreground, #ccc); } .peak { stroke: #f0805a; }\
     .p { fill: #8b9bbd; } .c { fill: #d9b34a; } .o { fill: #5cc08a; } .t { fill: #6ea2ff; } }\
    </style>";

/// An SVG that is as large for a million positions as for a hundred. Its colours suit light and dark pages. Each column
/// shows the position of those it stands for at which most bytes are in use; `data-positions` has the first one per column.
pub fn memory_picture(report: &MemoryReport) -> String {
    let usage = &report.memory.usage;
    let columns: Vec<Bytes> = usage.columns(WIDTH).iter().map(|column| column.bytes).collect();
    let allocated = report.memory.total.max(1);
    let listed = report.alive.len().min(LISTED);
    let (width, height) = (LEFT + WIDTH + RIGHT, TOP + HEIGHT + 76 + ROW * listed);
    let caption = report.peak_in_words();
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\" \
         role=\"img\" aria-label=\"{0}\" data-left=\"{LEFT}\" data-width=\"{WIDTH}\" data-positions=\"{1}\">\n{STYLE}\n\
         <text x=\"4\" y=\"18\" class=\"title\">{2}</text>\n<text x=\"4\" y=\"38\">{0}</text>\n",
        escaped(&caption),
        usage.in_use.len(),
        escaped(&report.module),
    );
    axis(&mut out, allocated);
    areas(&mut out, &columns, allocated);
    peak(&mut out, usage);
    legend(&mut out, report);
    for (row, value) in report.alive.iter().take(LISTED).enumerate() {
        let y = TOP + HEIGHT + 70 + ROW * row;
        let until = match &value.until {
            AliveUntil::Use(step) => format!("until %{}", step.name),
            AliveUntil::Result => "a result".to_owned(),
            AliveUntil::Caller => "the caller's".to_owned(),
        };
        let source = value.defined.as_ref().and_then(|step| step.source.as_ref());
        let source = source.map_or_else(String::new, |frame| format!(" · {}", frame.short()));
        let line = format!(
            "{:>9}  %{}  {}–{}  {until}{source}",
            bytes(value.bytes),
            value.name,
            value.live[0],
            value.live[1]
        );
        let line: String = line.chars().take(MAX_CHARS).collect();
        _ = writeln!(
            out,
            "<text x=\"4\" y=\"{y}\" class=\"value\" xml:space=\"preserve\">{}</text>",
            escaped(&line)
        );
    }
    out + "</svg>\n"
}

fn axis(out: &mut String, allocated: u64) {
    let bottom = TOP + HEIGHT;
    for quarter in 0..=4 {
        let y = bottom - HEIGHT * quarter / 4;
        let label = bytes((u128::from(allocated) * quarter as u128 / 4) as u64);
        let class = if quarter == 4 { "axis limit" } else { "axis" };
        _ = writeln!(
            out,
            "<text x=\"{}\" y=\"{}\" text-anchor=\"end\">{label}</text>\
             <line x1=\"{LEFT}\" x2=\"{}\" y1=\"{y}\" y2=\"{y}\" class=\"{class}\"/>",
            LEFT - 6,
            y + 4,
            LEFT + WIDTH
        );
    }
}

fn areas(out: &mut String, columns: &[Bytes], allocated: u64) {
    let y = |bytes: u64| (TOP + HEIGHT) as f64 - bytes as f64 / allocated as f64 * HEIGHT as f64;
    let x = |column: usize| LEFT as f64 + column as f64 * WIDTH as f64 / columns.len().max(1) as f64;
    let mut below = vec![0u64; columns.len()];
    for (category, _, class) in AREAS {
        let above: Vec<u64> = columns
            .iter()
            .zip(&below)
            .map(|(c, &below)| below.saturating_add(c[category as usize]))
            .collect();
        if above != below {
            let mut path = String::new();
            for (n, &top) in above.iter().enumerate() {
                let letter = if n == 0 { 'M' } else { 'L' };
                _ = write!(path, "{letter}{:.1} {:.1}H{:.1}", x(n), y(top), x(n + 1));
            }
            for (n, &bottom) in below.iter().enumerate().rev() {
                _ = write!(path, "L{:.1} {:.1}H{:.1}", x(n + 1), y(bottom), x(n));
            }
            _ = writeln!(out, "<path d=\"{path}Z\" class=\"{class}\"/>");
        }
        below = above;
    }
}

fn peak(out: &mut String, usage: &Usage) {
    let x = LEFT as f64 + (f64::from(usage.peak) + 0.5) / usage.in_use.len().max(1) as f64 * WIDTH as f64;
    _ = writeln!(
        out,
        "<line x1=\"{x:.1}\" x2=\"{x:.1}\" y1=\"{}\" y2=\"{}\" class=\"peak\"/><text x=\"{x:.1}\" y=\"{}\" text-anchor=\"{}\">peak</text>",
        TOP - 4,
        TOP + HEIGHT,
        TOP - 8,
        if x > (LEFT + WIDTH / 2) as f64 { "end" } else { "start" },
    );
}

fn legend(out: &mut String, report: &MemoryReport) {
    let y = TOP + HEIGHT + 22;
    let usage = &report.memory.usage;
    let peak = usage.at_peak();
    for (n, (category, name, class)) in AREAS.into_iter().enumerate() {
        let x = LEFT + n * WIDTH / AREAS.len();
        _ = writeln!(
            out,
            "<rect x=\"{x}\" y=\"{}\" width=\"11\" height=\"11\" class=\"{class}\"/><text x=\"{}\" y=\"{y}\">{name}: {} at the peak</text>",
            y - 10,
            x + 16,
            bytes(peak[category as usize])
        );
    }
    let last = usage.in_use.len().saturating_sub(1);
    let note = format!(
        "positions 0 to {last} of the schedule; top: {} allocated, {} of it fragmentation",
        bytes(report.memory.total),
        bytes(usage.fragmentation)
    );
    _ = writeln!(out, "<text x=\"{LEFT}\" y=\"{}\">{note}</text>", y + 20);
}
