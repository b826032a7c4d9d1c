//! The report and the timeline as text for terminals.

use std::cmp::Ordering;
use std::fmt::Write;

use ide::{
    AliveUntil, AliveValue, Category, DumpedAssignment, MemoryAdvice, MemoryReport, PlaceDifference,
    UsageColumn as Column, ValuePlace, bytes, counted, devices_in_words, sum_of_bytes, value_name,
};

use crate::api;

/// Characters of the timeline.
const COLUMNS: usize = 72;
const ROWS: usize = 8;
/// Values that XLA places elsewhere are listed up to this number.
const DIFFERENCES: usize = 8;
/// A column is filled from below in eighths.
const EIGHTHS: [char; 9] = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

pub(super) fn lines(
    name: &str,
    report: &MemoryReport,
    dumped: Option<&DumpedAssignment>,
    advice: &[MemoryAdvice],
) -> String {
    let (memory, usage) = (&report.memory, &report.memory.usage);
    let mut out = String::new();
    _ = writeln!(out, "{}: {} ({name})", report.module, bytes(memory.total));
    if let Some(order) = report.order_in_words() {
        _ = writeln!(out, "{order}");
    }
    if let Some(devices) = devices_in_words(&report.devices, memory) {
        _ = writeln!(out, "{devices}");
    }
    _ = writeln!(out, "{}", report.peak_in_words());
    if let Some(collectives) = report.collectives.in_words() {
        _ = writeln!(out, "{collectives}");
    }
    _ = writeln!(out, "\n{:>12} {:>12}", "allocated", "at the peak");
    let peak = usage.at_peak();
    for category in Category::ALL {
        let [all, used] = [usage.allocated, peak].map(|of| of[category as usize]);
        if all > 0 {
            let note = match category {
                Category::Temporary => format!(", {} of it fragmentation", bytes(usage.fragmentation)),
                _ => String::new(),
            };
            _ = writeln!(out, "{:>12} {:>12}  {}{note}", bytes(all), bytes(used), api::category(category));
        }
    }
    if let Some(dumped) = dumped {
        out += &comparison(report, dumped);
    }
    out.push('\n');
    out += &timeline(report);
    _ = writeln!(out, "\nalive at the peak, largest first");
    for value in &report.alive {
        out += &line(value);
    }
    if report.omitted > 0 {
        _ = writeln!(out, "… and {} smaller (--at-peak lists all)", report.omitted);
    }
    _ = writeln!(out, "\nwhat would help");
    if advice.is_empty() {
        _ = writeln!(
            out,
            "  nothing found: no change that was tried lowers the peak by a thousandth or more"
        );
    }
    for one in advice {
        let in_jax = one.in_jax().map_or_else(String::new, |way| format!(" (in jax: {way})"));
        _ = writeln!(out, "  {}{in_jax}", one.text);
    }
    for problem in memory.problems.iter().chain(&report.devices.problems) {
        _ = writeln!(out, "note: {problem}");
    }
    out
}

/// What XLA's own buffer assignment has, and where it differs.
fn comparison(report: &MemoryReport, dumped: &DumpedAssignment) -> String {
    let memory = &report.memory;
    let mut out = format!(
        "\nXLA's buffer assignment: {} in {}{}\n",
        bytes(dumped.total),
        counted(dumped.allocations.len() as u64, "allocation"),
        difference(dumped.total, memory.total)
    );
    if let Some(peak) = dumped.peak {
        let [own, other] = [peak.bytes, memory.peak.bytes];
        _ = writeln!(out, "XLA's peak: {}{}", bytes(own), difference(own, other));
    }
    let differences = dumped.differences(memory);
    if differences.is_empty() {
        _ = writeln!(out, "all {} are placed as here", counted(dumped.values() as u64, "value"));
        return out;
    }
    let all = counted(dumped.values() as u64, "value");
    _ = writeln!(out, "{} of {all} placed differently, the largest first", differences.len());
    let place = |place: Option<ValuePlace>| match place {
        Some(ValuePlace { size, category: of, offset }) => {
            format!("{} in {} at offset {offset}", bytes(size), api::category(of))
        }
        None => "none".to_owned(),
    };
    for PlaceDifference { name, dumped, planned } in differences.iter().take(DIFFERENCES) {
        _ = writeln!(out, "  %{}: XLA {}; here {}", value_name(name), place(*dumped), place(*planned));
    }
    if differences.len() > DIFFERENCES {
        _ = writeln!(out, "… and {} more (--json lists all)", differences.len() - DIFFERENCES);
    }
    out
}

/// `, 48 B more than here`
fn difference(dumped: u64, planned: u64) -> String {
    match dumped.cmp(&planned) {
        Ordering::Equal => ", as here".to_owned(),
        Ordering::Greater => format!(", {} more than here", bytes(dumped - planned)),
        Ordering::Less => format!(", {} less than here", bytes(planned - dumped)),
    }
}

fn line(value: &AliveValue) -> String {
    let until = match &value.until {
        AliveUntil::Use(step) => format!("until {}", step.with_source()),
        AliveUntil::Result => "a result of the module".to_owned(),
        AliveUntil::Caller => "the caller's to the end".to_owned(),
    };
    let [from, to] = value.live;
    let mut out = format!("{:>10}  %{}  {from}–{to}  {until}", bytes(value.bytes), value_name(&value.name));
    if let Some(other) = &value.shares_with {
        _ = write!(out, "; in the place of %{}", value_name(other));
    }
    out.push('\n');
    if let Some(step) = &value.defined {
        let source = step.source.as_ref().map(|frame| match frame.line {
            Some(line) => format!("{}:{line}", frame.path),
            None => frame.path.clone(),
        });
        let parts: Vec<&str> = step.op_name.iter().chain(&source).map(String::as_str).collect();
        if !parts.is_empty() {
            _ = writeln!(out, "{:>10}    {}", "", parts.join(" · "));
        }
    }
    out
}

/// The bytes in use over the schedule. The top is what is allocated; an arrow marks the peak.
pub(super) fn timeline(report: &MemoryReport) -> String {
    let usage = &report.memory.usage;
    let positions = usage.in_use.len().max(1);
    let count = positions.min(COLUMNS);
    let height = |column: &Column| {
        let most = sum_of_bytes(&column.bytes);
        let eighths = u128::from(most) * 8 * ROWS as u128 / u128::from(report.memory.total.max(1));
        // What is in use is seen.
        if most > 0 { (eighths as usize).max(1) } else { 0 }
    };
    let heights: Vec<usize> = usage.columns(COLUMNS).iter().map(height).collect();
    let mut out = String::new();
    for row in (0..ROWS).rev() {
        let label = if row + 1 == ROWS { bytes(report.memory.total) } else { String::new() };
        let bar: String =
            heights.iter().map(|&height| EIGHTHS[height.saturating_sub(8 * row).min(8)]).collect();
        _ = writeln!(out, "{label:>10} {}", bar.trim_end());
    }
    let at = usage.peak as usize * count / positions;
    _ = writeln!(out, "{:>10} {}↑ position {} of {}", "0", " ".repeat(at), usage.peak, positions - 1);
    out
}
