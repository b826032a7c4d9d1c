//! Where the memory of a module goes: the bytes over the schedule, what is alive at the peak, what would help.

use ide::{AliveUntil, AliveValue, MemoryReport, NoMemory, bytes, memory_picture};
use maud::{Markup, html};

use super::{Open, origin, picture};

pub(super) struct MemorySection {
    pub(super) facts: Vec<String>,
    pub(super) body: Markup,
}

pub(super) fn section(open: &Open, top: usize) -> MemorySection {
    let analysis = open.host.analysis();
    let report = match analysis.memory_report(open.file, top) {
        Ok(Ok(report)) => report,
        Ok(Err(why @ NoMemory::Mlir)) => {
            let body = html! { h3 { "Memory" } p.note { "the module " (why) } };
            return MemorySection { facts: Vec::new(), body };
        }
        // What is wrong with the text is among the findings.
        _ => return MemorySection { facts: Vec::new(), body: html! {} },
    };
    let advice = analysis.memory_advice(open.file).ok().and_then(Result::ok).unwrap_or_default();
    // The values have a table.
    let drawn = MemoryReport { alive: Vec::new(), ..report.clone() };
    let body = html! {
        h3 { "Memory" }
        @if let Some(order) = report.order_in_words() { p.note { (order) } }
        (picture(&memory_picture(&drawn), &report.peak_in_words()))
        h3 { "Alive at the peak" }
        (alive(&report))
        @if !advice.is_empty() {
            h3 { "What would help" }
            ul { @for one in &advice { li { (one.text) } } }
        }
        @for problem in &report.memory.problems { p.note { (problem) } }
    };
    MemorySection { facts: vec![format!("{} of memory", bytes(report.memory.total))], body }
}

fn alive(report: &MemoryReport) -> Markup {
    html! {
        table {
            thead { tr { th.number { "bytes" } th { "value" } th { "positions" } th { "alive until" } th { "from" } } }
            tbody { @for value in &report.alive { (row(value)) } }
        }
        @if report.omitted > 0 { p.note { "and " (report.omitted) " smaller" } }
    }
}

fn row(value: &AliveValue) -> Markup {
    let [from, to] = value.live;
    html! {
        tr {
            td.number { (bytes(value.bytes)) }
            td { code { "%" (value.name.strip_suffix("{}").unwrap_or(&value.name)) } }
            td { (from) "–" (to) }
            td {
                @match &value.until {
                    AliveUntil::Use(step) => code { (step.with_source()) },
                    AliveUntil::Result => { "a result of the module" },
                    AliveUntil::Caller => { "the caller's to the end" },
                }
            }
            td {
                @if let Some(step) = &value.defined { (origin(step.op_name.as_deref(), step.source.as_ref())) }
            }
        }
    }
}
