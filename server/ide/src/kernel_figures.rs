//! What a kernel moves and how long it takes, as every place says it: the lens, the popup, the page of a kernel.

use gpu::{BufferTraffic, Estimate, FusionAnalysis};

use crate::kernel_lens::{net_bytes, size};
use crate::markdown::bytes;

/// Less is the rounding of requests at the edges of arrays.
const NOTABLE: f64 = 1.05;

/// `25.2 MB`; where the requests move more, `25.2 MB needed, 201 MB moved`: each byte of operands and results once, and all
/// sectors of all requests.
pub(crate) fn traffic(analysis: &FusionAnalysis, buffers: &[BufferTraffic]) -> Option<String> {
    let net = net_bytes(analysis, buffers)?;
    Some(match moved_bytes(buffers).filter(|&moved| moved as f64 > net as f64 * NOTABLE) {
        Some(moved) => format!("{} needed, {} moved", bytes(net), bytes(moved)),
        None => return size(analysis, buffers),
    })
}

/// `≈ 4.1 µs`; `at least 4.1 µs` where nobody has an estimate, and where it counts less than the requests move: memory that
/// has all its bandwidth would take longer for them.
pub(crate) fn time(estimate: &Estimate, analysis: &FusionAnalysis, buffers: &[BufferTraffic]) -> String {
    let microseconds = estimate.exec_us();
    let net = net_bytes(analysis, buffers);
    let is_short = moved_bytes(buffers).zip(net).is_some_and(|(moved, net)| {
        let at_full_bandwidth = moved as f64 / analysis.device.memory_bandwidth as f64 * 1e6;
        moved as f64 > net as f64 * NOTABLE && at_full_bandwidth > microseconds * NOTABLE
    });
    let sign = if estimate.is_at_least() || is_short { "at least" } else { "≈" };
    format!("{sign} {}", duration(microseconds))
}

/// `4.1 µs`, `1.2 ms`
pub(crate) fn duration(microseconds: f64) -> String {
    let (value, unit) =
        if microseconds < 1000.0 { (microseconds, "µs") } else { (microseconds / 1000.0, "ms") };
    let decimals = if value < 0.1 {
        3
    } else if value < 10.0 {
        1
    } else {
        0
    };
    format!("{value:.decimals$} {unit}")
}

/// The sectors of all requests; nothing where some array's are not known.
fn moved_bytes(buffers: &[BufferTraffic]) -> Option<u64> {
    let moved = buffers.iter().filter(|buffer| !buffer.accesses.is_empty() || buffer.unknown.is_some());
    moved.map(|buffer| Some(buffer.judged()?.bytes_moved())).try_fold(0u64, |sum, n| sum.checked_add(n?))
}
