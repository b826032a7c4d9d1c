//! Kernels and their costs, as listed by `check --format json` and `hlo-analyzer/heaviestKernels`.

use ide::{HeaviestKernels, HeavyKernel};
use serde_json::{Value, json};

use super::source;

/// Kernels, totals and omitted counts. `place` converts a range to the caller's position format. Times are in
/// microseconds, without launch overhead.
pub fn heaviest_kernels(report: &HeaviestKernels, place: &dyn Fn(&ide::TextRange) -> Value) -> Value {
    let kernels: Vec<Value> = report.kernels.iter().map(|one| kernel(one, place)).collect();
    json!({
        "device": report.device,
        "total_us": report.total_us,
        "launches": report.launches,
        "launch_us": report.launch_us(),
        "unknown_loops": report.unknown_loops,
        "omitted": report.omitted,
        "note": report.summary(),
        "kernels": kernels,
    })
}

fn kernel(kernel: &HeavyKernel, place: &dyn Fn(&ide::TextRange) -> Value) -> Value {
    let figures = &kernel.figures;
    let roofline = &figures.estimate.roofline;
    let xla = figures.estimate.xla.as_ref().map(|xla| {
        json!({
            "flops": xla.flops,
            "bytes_read": xla.bytes_read,
            "bytes_written": xla.bytes_written,
            "compute_us": xla.compute_us,
            "read_us": xla.read_us,
            "write_us": xla.write_us,
            "exec_us": xla.exec_us,
        })
    });
    json!({
        "name": kernel.name,
        "computation": kernel.computation,
        "kind": kernel.kind,
        "at": place(&kernel.range),
        "executions": kernel.executions,
        "total_us": kernel.total_us,
        "share": kernel.share,
        "is_at_least": figures.is_at_least,
        "bytes_needed": figures.bytes_needed,
        "bytes_moved": figures.bytes_moved,
        "op_name": kernel.origin.name,
        "source": source(kernel.origin.source.as_ref()),
        "traffic": figures.traffic(),
        "bound": ide::bound(figures.bound),
        "xla": xla,
        "not_modelled": figures.estimate.not_modelled,
        "roofline": {
            "flops": roofline.flops,
            "bytes_read": roofline.bytes_read,
            "bytes_written": roofline.bytes_written,
            "compute_us": roofline.compute_us,
            "memory_us": roofline.memory_us,
            "exec_us": roofline.exec_us(),
        },
    })
}
