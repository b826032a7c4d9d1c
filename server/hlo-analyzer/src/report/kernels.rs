//! The kernels of a module by time.

use ide::{HeaviestKernels, HeavyKernel, bound, counted, duration, time_sign};
use maud::{Markup, html};

use super::{Open, origin};

/// `≥ 84 µs on h100-sxm · 12 launches`
pub(super) fn facts(heaviest: &HeaviestKernels) -> Vec<String> {
    if heaviest.launches == 0 {
        return Vec::new();
    }
    let sign = time_sign(heaviest.is_at_least);
    let time = format!("{sign} {} on {}", duration(heaviest.total_us), heaviest.device);
    vec![time, counted(heaviest.launches, "launch")]
}

pub(super) fn section(open: &Open, heaviest: &HeaviestKernels) -> Markup {
    html! {
        h3 { "Kernels by time" }
        p.note { (heaviest.summary()) }
        @if !heaviest.kernels.is_empty() {
            table {
                thead { tr {
                    th { "kernel" } th { "kind" } th.number { "runs" } th.number { "time" } th.number { "share" }
                    th { "bound by" } th { "bytes per run" } th { "from" }
                } }
                tbody { @for kernel in &heaviest.kernels { (row(open, kernel)) } }
            }
        }
    }
}

fn row(open: &Open, kernel: &HeavyKernel) -> Markup {
    let percent = kernel.share * 100.0;
    let sign = if kernel.figures.is_at_least { "≥ " } else { "" };
    html! {
        tr {
            td { code { "%" (kernel.name) } " " span.note { (open.place(kernel.range.start)) } }
            td { (kernel.kind) }
            td.number { (kernel.executions) }
            td.number { (sign) (duration(kernel.total_us)) }
            td.number.share style=(format!("background-size: {percent:.1}% 100%")) { (format!("{percent:.1} %")) }
            td { (bound(kernel.figures.bound)) }
            td { (kernel.figures.traffic()) }
            td { (origin(kernel.origin.name.as_deref(), kernel.origin.source.as_ref())) }
        }
    }
}
