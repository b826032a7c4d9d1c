//! The report as text: the answer first, then kernels, instructions and totals.

use std::fmt::Write;

use compile_diff::{Change, KernelChange, Verdict, growth};
use ide::{bytes, counted, duration};

use super::{Diff, percent};

/// More names of one entry are counted.
const MAX_NAMES: usize = 6;

/// More reasons of one kernel are counted.
const MAX_REASONS: usize = 5;

/// Lists at most `top` kernels, instructions and kinds each.
pub fn text(diff: &Diff<'_>, top: usize) -> String {
    let mut out = String::new();
    headline(&mut out, diff);
    counts(&mut out, diff);
    kernels(&mut out, diff, top);
    data_movement(&mut out, diff);
    instructions(&mut out, diff, top);
    kinds(&mut out, diff, top);
    out
}

fn line(out: &mut String, text: impl std::fmt::Display) {
    writeln!(out, "{text}").expect("text is written");
}

/// `2.1 % slower: …`
pub fn verdict(diff: &Diff<'_>) -> String {
    let report = &diff.report;
    let [before, after] = &report.totals;
    let why_none = diff.sides[1].heaviest.why_none;
    if after.launches == 0 && !why_none.is_empty() {
        return format!("no times to compare: {why_none}");
    }
    let times = format!("{} → {}", duration(before.time_us), duration(after.time_us));
    match report.time_growth() {
        None => format!("{times}: no kernel before"),
        Some(change) if change.abs() < 0.0005 => format!("as fast as before: {times}"),
        Some(change) if change > 0.0 => format!("{:.1} % slower: {times}", change * 100.0),
        Some(change) => format!("{:.1} % faster: {times}", -change * 100.0),
    }
}

fn headline(out: &mut String, diff: &Diff<'_>) {
    let report = &diff.report;
    let [before, after] = &report.totals;
    let at_least = diff.sides.iter().any(|side| side.heaviest.is_at_least);
    line(out, format_args!("{} → {}", diff.sides[0].name, diff.sides[1].name));
    let mut text = verdict(diff);
    if before.launches + after.launches > 0 {
        let (one, other) = (bytes(before.bytes), bytes(after.bytes));
        text += &format!(
            "; {one} → {other} ({}); {} → {} launches",
            percent(report.bytes_growth()),
            before.launches,
            after.launches
        );
    }
    text += &match &report.devices {
        [one, other] if one == other => format!("; on {one}"),
        [one, other] => format!("; on another device: {one} → {other}"),
    };
    line(out, text);
    if at_least {
        line(out, "some times are lower bounds, where XLA's cost model has no estimate");
    }
}

fn counts(out: &mut String, diff: &Diff<'_>) {
    let changes = &diff.report.changes;
    let kernels =
        |verdict: Verdict| diff.report.kernels.iter().filter(|kernel| kernel.verdict() == verdict).count();
    let instructions =
        |is_meant: fn(&Change) -> bool| changes.changes.iter().filter(|one| is_meant(one)).count();
    let parts = |counts: &[(usize, &str)]| {
        let shown =
            counts.iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("{count} {what}"));
        shown.collect::<Vec<_>>().join(", ")
    };
    let kernels = parts(&[
        (kernels(Verdict::New), "new"),
        (kernels(Verdict::Gone), "gone"),
        (kernels(Verdict::Slower), "slower"),
        (kernels(Verdict::Faster), "faster"),
        (kernels(Verdict::Changed), "changed at the same time"),
    ]);
    let instructions = parts(&[
        (instructions(|one| matches!(one, Change::New { .. })), "new"),
        (instructions(|one| matches!(one, Change::Gone { .. })), "gone"),
        (instructions(|one| matches!(one, Change::Changed { .. } | Change::Root { .. })), "changed"),
    ]);
    let moved = changes.changes.iter().filter(|one| matches!(one, Change::Moved { .. })).count();
    if !kernels.is_empty() {
        line(out, format_args!("kernels: {kernels}"));
    }
    if moved > 0 {
        line(out, format_args!("fused differently: {} of instructions", counted(moved as u64, "group")));
    }
    match instructions.is_empty() {
        true if changes.changes.is_empty() => line(out, "no instruction differs"),
        true => (),
        false => line(out, format_args!("instructions: {instructions}")),
    }
    let same = [
        (changes.renamed_computations, "computation", "renamed"),
        (changes.renamed_instructions, "instruction", "renamed"),
        (changes.reordered_computations, "computation", "in another order"),
    ];
    let same = same.into_iter().filter(|(count, ..)| *count > 0);
    let same: Vec<String> =
        same.map(|(count, one, what)| format!("{} {what}", counted(count as u64, one))).collect();
    if !same.is_empty() {
        line(out, format_args!("no change of meaning: {}", same.join(", ")));
    }
}

/// `slower`, `new`
pub fn word(kernel: &KernelChange) -> &'static str {
    match kernel.verdict() {
        Verdict::Slower => "slower",
        Verdict::Faster => "faster",
        Verdict::New => "new",
        Verdict::Gone => "gone",
        Verdict::Changed => "changed",
    }
}

fn kernels(out: &mut String, diff: &Diff<'_>, top: usize) {
    let all = &diff.report.kernels;
    if all.is_empty() {
        return;
    }
    line(out, "\nkernels, by change of time");
    for kernel in all.iter().take(top) {
        let (side, shown) = match (&kernel.before, &kernel.after) {
            (_, Some(after)) => (1, after),
            (Some(before), None) => (0, before),
            (None, None) => continue,
        };
        let (title, place) = diff.title_and_place(side, shown.instruction);
        let times = match (&kernel.before, &kernel.after) {
            (Some(before), Some(after)) => {
                format!("{} → {}", duration(before.total_us), duration(after.total_us))
            }
            _ => duration(shown.total_us),
        };
        let delta = kernel.delta_us();
        let delta = match delta {
            0.0 => "±0".to_owned(),
            delta if delta < 0.0 => format!("-{}", duration(-delta)),
            delta => format!("+{}", duration(delta)),
        };
        line(
            out,
            format_args!("  {delta:>10}  {:<7}  {title} ({}), {times}  {place}", word(kernel), shown.kind),
        );
        for reason in kernel.reasons.iter().take(MAX_REASONS) {
            line(out, format_args!("              {reason}"));
        }
        if kernel.reasons.len() > MAX_REASONS {
            line(out, format_args!("              and {} more", kernel.reasons.len() - MAX_REASONS));
        }
    }
    more(out, all.len(), top);
}

fn more(out: &mut String, all: usize, top: usize) {
    if all > top {
        line(out, format_args!("  {} more (--top)", all - top));
    }
}

fn data_movement(out: &mut String, diff: &Diff<'_>) {
    if diff.report.data_movement.is_empty() {
        return;
    }
    line(out, "\ncopies, transposes, converts and collectives");
    for (opcode, found) in &diff.report.data_movement {
        for (side, what, ids) in [(1, "new", &found.new), (0, "gone", &found.gone)] {
            if !ids.is_empty() {
                let names = ids.iter().take(MAX_NAMES).map(|&id| {
                    let (title, place) = diff.title_and_place(side, id);
                    format!("{title} {place}")
                });
                let names = names.collect::<Vec<_>>().join(", ");
                let dots = if ids.len() > MAX_NAMES { ", …" } else { "" };
                line(out, format_args!("  {opcode}: {} {what}: {names}{dots}", ids.len()));
            }
        }
    }
}

fn instructions(out: &mut String, diff: &Diff<'_>, top: usize) {
    let all = &diff.report.changes.changes;
    if all.is_empty() {
        return;
    }
    line(out, "\ninstructions");
    for change in all.iter().take(top) {
        line(out, format_args!("  {}", instruction(diff, change)));
    }
    more(out, all.len(), top);
}

fn instruction(diff: &Diff<'_>, change: &Change) -> String {
    let computation = |side: usize, at: u32| format!("%{}", diff.modules[side].program.computation(at).name);
    let opcode = |side: usize, id: u32| diff.modules[side].program.instruction(id).opcode_text;
    let single = |side: usize, what: &str, id: u32, members: u32| {
        let (title, place) = diff.title_and_place(side, id);
        let with = match members {
            0 => String::new(),
            count => format!(" with {}", counted(count.into(), "instruction")),
        };
        format!("{what:<7}  {title} ({}){with}  {place}", opcode(side, id))
    };
    match change {
        Change::New { instruction, members } => single(1, "new", *instruction, *members),
        Change::Gone { instruction, members } => single(0, "gone", *instruction, *members),
        Change::Changed { before, after, differences } => {
            let (title, place) = diff.title_and_place(1, *after);
            let (was, _) = diff.title_and_place(0, *before);
            let was = if was == title { String::new() } else { format!(" (was {was})") };
            let words: Vec<String> = differences
                .iter()
                .map(|one| format!("{}: {} → {}", one.what.words(), shown(&one.before), shown(&one.after)))
                .collect();
            format!("changed  {title}{was} {}  {place}", words.join("; "))
        }
        Change::Moved { from, to, instructions } => {
            let names: Vec<String> =
                instructions.iter().take(MAX_NAMES).map(|(_, id)| diff.modules[1].title(*id)).collect();
            let dots = if instructions.len() > MAX_NAMES { ", …" } else { "" };
            let (_, place) = diff.title_and_place(1, instructions[0].1);
            let count = counted(instructions.len() as u64, "instruction");
            let (from, to) = (computation(0, *from), computation(1, *to));
            format!("moved    {count} from {from} to {to}: {}{dots}  {place}", names.join(", "))
        }
        Change::Root { before, after } => {
            let root = |side: usize, at: u32| {
                diff.title_and_place(side, diff.modules[side].program.computation(at).root)
            };
            let ((was, _), (now, place)) = (root(0, *before), root(1, *after));
            format!("changed  {} returns {now}, not {was}  {place}", computation(1, *after))
        }
        Change::NewComputation(at) => {
            format!("new      computation {}, which nothing calls", computation(1, *at))
        }
        Change::GoneComputation(at) => {
            format!("gone     computation {}, which nothing calls", computation(0, *at))
        }
        Change::Header { key, before, after } => {
            format!("changed  HloModule {key}: {} → {}", shown(before), shown(after))
        }
    }
}

fn shown(text: &str) -> &str {
    if text.is_empty() { "none" } else { text }
}

fn kinds(out: &mut String, diff: &Diff<'_>, top: usize) {
    let all = &diff.report.kinds;
    if all.is_empty() {
        return;
    }
    line(out, "\ntime and bytes by kind of kernel");
    for (kind, [before, after]) in all.iter().take(top) {
        let times = format!("{} → {}", duration(before.time_us), duration(after.time_us));
        let moved = format!("{} → {}", bytes(before.bytes), bytes(after.bytes));
        let change = percent(growth(before.time_us, after.time_us));
        let launches = format!("{} → {} launches", before.launches, after.launches);
        line(out, format_args!("  {kind}: {times} ({change}), {moved}, {launches}"));
    }
    more(out, all.len(), top);
}
