//! The report as a picture: a pair of bars per kind of kernel, and per kernel that differs.

use std::fmt::Write;

use ide::duration;

use super::text::verdict;
use super::{Diff, percent};

/// Pixels of the names, of the longest bar, of the figures behind the bars, of a bar and of a pair of bars.
const NAMES: usize = 230;
const BARS: usize = 420;
const FIGURES: usize = 230;
const BAR: usize = 9;
const ROW: usize = 28;
const TOP: usize = 64;

/// Longer names are cut.
const MAX_CHARS: usize = 34;

const STYLE: &str = "<style>\
    text { font: 12px sans-serif; fill: #333; }\
    .title { font: 600 14px sans-serif; }\
    .before { fill: #8a8f98; }\
    .after { fill: #2f6fde; }\
    .slower { fill: #c4532d; }\
    .faster { fill: #2e8b57; }\
    @media (prefers-color-scheme: dark) { text { fill: #ccc; } .after { fill: #6ea2ff; } .slower { fill: #f0805a; } .faster { fill: #5cc08a; } }\
    </style>";

struct Bars {
    name: String,
    before_us: f64,
    after_us: f64,
}

/// An SVG with at most `top` kinds of kernels and `top` kernels. Its colours suit light and dark pages.
pub fn picture(diff: &Diff<'_>, top: usize) -> String {
    let kinds: Vec<Bars> = diff
        .report
        .kinds
        .iter()
        .take(top)
        .map(|(kind, [before, after])| Bars {
            name: kind.clone(),
            before_us: before.time_us,
            after_us: after.time_us,
        })
        .collect();
    let kernels: Vec<Bars> = diff
        .report
        .kernels
        .iter()
        .take(top)
        .map(|change| {
            let time =
                |kernel: &Option<compile_diff::Kernel>| kernel.as_ref().map_or(0.0, |one| one.total_us);
            let (before, after) = (&change.before, &change.after);
            let title = |side: usize| {
                let kernel = if side == 0 { before } else { after };
                kernel.as_ref().map(|kernel| diff.modules[side].title(kernel.instruction))
            };
            Bars {
                name: title(1).or_else(|| title(0)).unwrap_or_default(),
                before_us: time(before),
                after_us: time(after),
            }
        })
        .collect();
    let groups = [("kinds of kernels", kinds), ("kernels that differ", kernels)];
    let rows: usize = groups.iter().map(|(_, bars)| bars.len() + 1).sum();
    let (width, height) = (NAMES + BARS + FIGURES, TOP + ROW * rows + 8);
    let title = format!("{} → {}", diff.sides[0].name, diff.sides[1].name);
    let caption = verdict(diff);
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\" \
         role=\"img\" aria-label=\"{0}\">\n{STYLE}\n\
         <text x=\"4\" y=\"18\" class=\"title\">{0}</text>\n<text x=\"4\" y=\"38\">{1}</text>\n",
        ide::escaped_xml(&caption),
        ide::escaped_xml(&title),
    );
    let mut y = TOP;
    for (title, bars) in &groups {
        _ = writeln!(out, "<text x=\"4\" y=\"{}\" class=\"title\">{title}, before and after</text>", y + 12);
        y += ROW;
        let longest = bars.iter().map(|bar| bar.before_us.max(bar.after_us)).fold(0.0, f64::max);
        for bar in bars {
            draw(&mut out, y, bar, longest);
            y += ROW;
        }
    }
    out + "</svg>\n"
}

fn draw(out: &mut String, y: usize, bar: &Bars, longest: f64) {
    let width = |time: f64| if longest > 0.0 { (time / longest * BARS as f64).max(0.5) } else { 0.5 };
    let class = match bar.after_us.total_cmp(&bar.before_us) {
        std::cmp::Ordering::Greater => "slower",
        std::cmp::Ordering::Less => "faster",
        std::cmp::Ordering::Equal => "after",
    };
    let mut name: String = bar.name.chars().take(MAX_CHARS).collect();
    if name.len() < bar.name.len() {
        name.push('…');
    }
    let figures = format!("{} → {}", duration(bar.before_us), duration(bar.after_us));
    let change = percent(compile_diff::growth(bar.before_us, bar.after_us));
    _ = writeln!(
        out,
        "<text x=\"4\" y=\"{}\">{}</text><rect x=\"{NAMES}\" y=\"{y}\" width=\"{:.1}\" height=\"{BAR}\" class=\"before\"/>\
         <rect x=\"{NAMES}\" y=\"{}\" width=\"{:.1}\" height=\"{BAR}\" class=\"{class}\"/><text x=\"{}\" y=\"{}\">{figures} ({change})</text>",
        y + 13,
        ide::escaped_xml(&name),
        width(bar.before_us),
        y + BAR + 1,
        width(bar.after_us),
        NAMES + BARS + 8,
        y + 13,
    );
}
