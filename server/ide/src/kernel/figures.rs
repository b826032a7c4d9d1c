//! The figures of a kernel: the only source for the lens, the hover, `explain`, the list of heaviest kernels
//! and the kernel's document.

use db::KernelId;
use gpu::{Bound, BufferTraffic, Counts, Estimate};

use crate::file_context::FileContext;
use crate::units::bytes;

/// Smaller ratios are rounding of requests at array edges.
const NOTABLE: f64 = 1.05;

/// Bytes and time of one execution of a kernel.
#[derive(Debug, Clone, PartialEq)]
pub struct KernelFigures {
    /// Distinct bytes that it reads and writes: the roofline's, or those that its lanes use if fewer. Both
    /// are upper bounds: the roofline adds up maps that may overlap, and lanes of two requests may use the
    /// same bytes.
    pub bytes_needed: u64,
    /// Bytes of the sectors of all its requests; for Triton, those that its layout rules predict. `None` if the
    /// requests of some array are unknown: library kernels, sorts.
    pub bytes_moved: Option<u64>,
    /// 32-byte sectors per request of a warp, on average; `None` as above.
    pub sectors_per_request: Option<f64>,
    /// Microseconds without the launch.
    pub exec_us: f64,
    /// Whether `exec_us` is a lower bound: there is no estimate, or it is shorter than the requests take at
    /// full bandwidth.
    pub is_at_least: bool,
    pub bound: Bound,
    /// The estimate from which `exec_us` comes.
    pub estimate: Estimate,
}

impl KernelFigures {
    /// `None` if there is no such instruction.
    pub(crate) fn of<'a>(context: &FileContext<'a>, id: KernelId<'a>) -> Option<KernelFigures> {
        let estimate = context.kernel_cost(id)?;
        let buffers = context.kernel_coalescing(id);
        let requests = all_requests(buffers);
        let bytes_moved = requests.map(|counts| counts.bytes_moved());
        let roofline = &estimate.roofline;
        // A float cast saturates, so a size beyond 64 bits stays the maximum.
        let distinct = (roofline.bytes_read + roofline.bytes_written) as u64;
        let bytes_needed = requests.map_or(distinct, |counts| distinct.min(counts.bytes_used));
        let exec_us = estimate.exec_us();
        let at_full_bandwidth =
            |moved: u64| moved as f64 / context.db.device_of(context.view.file).memory_bandwidth as f64 * 1e6;
        // Blocks of a Triton kernel read tiles that other blocks read too, mostly from the cache: what counts is how
        // much more sectors are moved than the tiles fill.
        let from_memory = match requests.filter(|_| buffers.iter().any(|buffer| buffer.is_predicted)) {
            Some(counts) => Some((bytes_needed as f64 * counts.excess()) as u64),
            None => bytes_moved,
        };
        let is_short = from_memory.is_some_and(|moved| {
            is_notable(moved, bytes_needed) && at_full_bandwidth(moved) > exec_us * NOTABLE
        });
        Some(KernelFigures {
            bytes_needed,
            bytes_moved,
            sectors_per_request: requests.map(|counts| counts.sectors_per_request()),
            exec_us,
            is_at_least: estimate.is_at_least() || is_short,
            bound: estimate.bound,
            estimate: Estimate::clone(&estimate),
        })
    }

    /// `25.2 MB`; if the requests move more, `25.2 MB needed, 201 MB moved`; if they are unknown, `25.2 MB
    /// needed`.
    pub fn traffic(&self) -> String {
        let needed = bytes(self.bytes_needed);
        match self.bytes_moved {
            None => format!("{needed} needed"),
            Some(moved) if is_notable(moved, self.bytes_needed) => {
                format!("{needed} needed, {} moved", bytes(moved))
            }
            Some(_) => needed,
        }
    }

    /// `≈ 4.1 µs`; `≥ 4.1 µs` if the time is a lower bound.
    pub fn time(&self) -> String {
        format!("{} {}", time_sign(self.is_at_least), duration(self.exec_us))
    }
}

/// What stands before a time: `≈` an estimate, `≥` a lower bound.
pub fn time_sign(is_at_least: bool) -> &'static str {
    if is_at_least { "≥" } else { "≈" }
}

fn is_notable(moved: u64, needed: u64) -> bool {
    moved as f64 > needed as f64 * NOTABLE
}

/// `4.1 µs`, `1.2 ms`
pub fn duration(microseconds: f64) -> String {
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

/// The sum over all arrays; `None` if some array's requests are unknown, or there are none.
fn all_requests(buffers: &[BufferTraffic]) -> Option<Counts> {
    let counted = buffers.iter().filter(|buffer| buffer.is_accessed() || buffer.unknown.is_some());
    counted.map(BufferTraffic::judged).reduce(|a, b| Some(a?.plus(b?)))?
}
