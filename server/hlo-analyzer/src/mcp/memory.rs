//! `memory` and `memory_advice`: what is in memory at the peak, and what would lower it.

use ide::{AliveUntil, AliveValue, MemoryReport, NoMemory, bytes, counted, devices_in_words, value_name};

use super::answer::{Answer, Link, Window};
use super::arguments::Arguments;
use super::resources;
use super::source::Asked;
use crate::api::{ApiError, ErrorKind, Session, category};
use crate::cli::memory::dumped_beside;

/// Names of values in a row of a group.
const NAMED: usize = 4;

pub(super) fn memory(
    session: &mut Session,
    arguments: &Arguments,
    window: &Window,
) -> Result<Answer, ApiError> {
    let asked = Asked::of(session, arguments)?;
    let report = report(session, &asked)?;
    let plan = &report.memory;
    let mut head = vec![asked.path.clone(), format!("{}: {}", report.module, report.peak_in_words())];
    head.extend(report.order_in_words().map(str::to_owned));
    head.extend(devices_in_words(&report.devices, plan));
    head.extend(report.collectives.in_words());
    let kinds = ide::Category::ALL.into_iter().filter(|&kind| plan.usage.allocated[kind as usize] > 0);
    let kinds =
        kinds.map(|kind| format!("{} {}", category(kind), bytes(plan.usage.allocated[kind as usize])));
    let kinds = kinds.collect::<Vec<_>>().join(", ");
    head.push(format!("allocated: {kinds}; fragmentation {}", bytes(plan.usage.fragmentation)));
    // A report is right without XLA's own.
    if let Ok(Some(dumped)) = dumped_beside(&asked.path) {
        let values = counted(dumped.values() as u64, "value");
        let differences = dumped.differences(plan).len();
        head.push(format!(
            "XLA's buffer assignment: {}; {differences} of {values} placed differently",
            bytes(dumped.total)
        ));
    }
    let page = match arguments.text("by") {
        Some("source") => window.page(&grouped(&report, by_source), "source line", group_row),
        Some("op_name") => window.page(&grouped(&report, by_op), "framework op", group_row),
        _ => window.page(&report.alive, "value", row),
    };
    head.push("alive at the peak, the largest first".to_owned());
    let mut answer = Answer::new(head, page);
    answer.notes = plan.problems.iter().chain(&report.devices.problems).cloned().collect();
    answer.links.push(Link {
        uri: resources::uri("memory.svg", arguments),
        name: "bytes in use over the schedule, as a picture".to_owned(),
        mime_type: resources::SVG,
    });
    Ok(answer)
}

/// All values that are alive at the peak.
pub(super) fn report(session: &mut Session, asked: &Asked) -> Result<MemoryReport, ApiError> {
    asked.ask(session, |analysis, file| {
        let report = analysis.memory_report(file, usize::MAX)?;
        Ok(report.map_err(|why| refusal(asked, analysis.text(file), why)))
    })?
}

fn refusal(asked: &Asked, rope: &ropey::Rope, why: NoMemory) -> ApiError {
    match why {
        NoMemory::Syntax { message, offset } => ApiError::in_text(rope, offset, message),
        why => ApiError::new(ErrorKind::Unsupported, format!("{} {why}: give an HLO module", asked.path)),
    }
}

/// `262 kB %gemm_fusion_dot (temp) 5–6 until %loop_tanh_fusion (layer.py:9) · jit(step)/dot_general · layer.py:5`
fn row(value: &AliveValue) -> String {
    let until = match &value.until {
        AliveUntil::Use(step) => format!("until {}", step.with_source()),
        AliveUntil::Result => "a result of the module".to_owned(),
        AliveUntil::Caller => "the caller's to the end".to_owned(),
    };
    let [from, to] = value.live;
    let mut text = format!(
        "{} %{} ({}) {from}–{to} {until}",
        bytes(value.bytes),
        value_name(&value.name),
        category(value.category)
    );
    if let Some(other) = &value.shares_with {
        text += &format!("; in the place of %{}", value_name(other));
    }
    for part in [by_op(value), by_source(value)].into_iter().flatten() {
        text += &format!(" · {part}");
    }
    text
}

fn by_source(value: &AliveValue) -> Option<String> {
    let frame = value.defined.as_ref()?.source.as_ref()?;
    let line = frame.line.map_or_else(String::new, |line| format!(":{line}"));
    Some(format!("{}{line}", frame.path))
}

fn by_op(value: &AliveValue) -> Option<String> {
    value.defined.as_ref()?.op_name.clone()
}

/// Values at the peak with the same key.
struct Group {
    key: Option<String>,
    bytes: u64,
    names: Vec<String>,
}

/// The groups with most bytes first. A value in the place of another one adds none.
fn grouped(report: &MemoryReport, key: fn(&AliveValue) -> Option<String>) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    for value in &report.alive {
        let key = key(value);
        let added = if value.shares_with.is_some() { 0 } else { value.bytes };
        let name = value_name(&value.name).to_owned();
        match groups.iter_mut().find(|group| group.key == key) {
            Some(group) => {
                group.bytes = group.bytes.saturating_add(added);
                group.names.push(name);
            }
            None => groups.push(Group { key, bytes: added, names: vec![name] }),
        }
    }
    groups.sort_by_key(|group| std::cmp::Reverse(group.bytes));
    groups
}

fn group_row(group: &Group) -> String {
    let names: Vec<String> = group.names.iter().take(NAMED).map(|name| format!("%{name}")).collect();
    let more = group.names.len().saturating_sub(NAMED);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let key = group.key.as_deref().unwrap_or("no source known");
    format!("{} {key} · {}{more}", bytes(group.bytes), names.join(", "))
}

pub(super) fn advice(
    session: &mut Session,
    arguments: &Arguments,
    window: &Window,
) -> Result<Answer, ApiError> {
    let asked = Asked::of(session, arguments)?;
    let peak = report(session, &asked)?.peak_in_words();
    let advised = asked.ask(session, |analysis, file| {
        let advice = analysis.memory_advice(file)?;
        Ok(advice.map_err(|why| refusal(&asked, analysis.text(file), why)))
    })??;
    let page = window.page(&advised, "change", |one| {
        let in_jax = one.in_jax().map_or_else(String::new, |way| format!(" (in jax: {way})"));
        let source = one.changed.as_ref().and_then(|step| step.source.as_ref());
        let source = source.map_or_else(String::new, |frame| format!(" · {}", frame.short()));
        format!("{}{in_jax}{source}", one.text)
    });
    let mut answer = Answer::new(vec![asked.path.clone(), peak], page);
    if advised.is_empty() {
        let nothing = "nothing found: no change that was tried lowers the peak by a thousandth or more";
        answer.notes.push(nothing.to_owned());
    }
    Ok(answer)
}
