//! The time of a kernel with the sectors that its requests move, which XLA's estimate knows only in part.

use super::times::{combined_us, read_us};
use super::{Estimate, launch};
use crate::coalescing::BufferTraffic;
use crate::fusion_analysis::FusionAnalysis;

impl Estimate {
    /// [`Estimate::exec_us`], or the time that the sectors take if that is longer. Bytes of an array that are moved again come from a
    /// cache that it fits in, by XLA's model of the caches. Where the requests of some array are unknown, it is the estimate.
    pub fn with_sectors_us(&self, analysis: &FusionAnalysis, buffers: &[BufferTraffic]) -> f64 {
        self.sectors_us(analysis, buffers).map_or(self.exec_us(), |time| time.max(self.exec_us()))
    }

    fn sectors_us(&self, analysis: &FusionAnalysis, buffers: &[BufferTraffic]) -> Option<f64> {
        let (blocks, _) = launch(analysis)?;
        let mut memory = 0.0;
        for buffer in buffers.iter().filter(|buffer| buffer.is_accessed() || buffer.unknown.is_some()) {
            let counts = buffer.judged()?;
            let size = buffer.shape(analysis)?.bytes()?;
            let moved = counts.bytes_moved() as f64;
            memory += read_us(size.min(counts.bytes_used) as f64, moved, blocks, 1.0, analysis.device);
        }
        Some(combined_us(self.times().0, memory))
    }
}

#[cfg(test)]
mod tests {
    use crate::fixture;

    fn times(lines: &str) -> (f64, f64) {
        let analysis = fixture::analysis(lines, "h100-sxm").expect("a kernel");
        let estimate = super::super::estimate(&analysis, &fixture::callees());
        (estimate.exec_us(), estimate.with_sectors_us(&analysis, &analysis.coalescing()))
    }

    #[test]
    fn sectors_that_no_lane_uses_take_time() {
        let add = "p = f32[2048,2048]{1,0} parameter(0)\n q = f32[2048,2048]{0,1} parameter(1)
             ROOT a = f32[2048,2048]{1,0} add(p, q)";
        let (estimate, with_sectors) = times(add);
        assert!(with_sectors > 1.5 * estimate, "{with_sectors} of {estimate}");
        // XLA's estimate takes what reads and writes whole sectors for what it is.
        let (estimate, with_sectors) = times(&add.replace("{0,1}", "{1,0}"));
        assert!((with_sectors - estimate).abs() < 0.02 * estimate, "{with_sectors} of {estimate}");
    }
}
