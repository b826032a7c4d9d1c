//! The reads and writes of a kernel's code, per instruction. The kernel's figures are counted from them.

use indexing_map::IndexingMap;

use super::LINE_BYTES;
use super::accesses::Buffer;
use super::counts::Counts;
use super::pattern::Pattern;
use super::picture::LanePicture;
use super::traffic::{Access, Traffic, traffic};
use crate::Reason;
use crate::fusion_analysis::FusionAnalysis;

/// Returns the memory accesses of a kernel's code, or why they are not known.
pub type Code<'a> = dyn Fn(&FusionAnalysis) -> Result<Vec<CodeAccess>, Reason> + 'a;

/// The kind of access of an instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CodeAccessKind {
    Read,
    Write,
    /// An atomic read and write.
    Change,
}

/// Instructions that access an array in the same way, except for an offset.
#[derive(Debug, Clone, PartialEq)]
pub struct CodeAccess {
    pub kind: CodeAccessKind,
    pub buffer: Buffer,
    /// Maps the ids of thread and block to the first byte. Range variables are the loops around the
    /// instruction.
    pub map: IndexingMap,
    /// As [`Access::gathered_at`].
    pub gathered_at: Vec<IndexingMap>,
    /// Bytes that a thread moves with one instruction.
    pub bytes: i64,
    /// Bits of an element of the array.
    pub element_bits: i64,
    /// Per instruction, the offset in bytes to add to the map.
    pub distances: Vec<i64>,
    /// False if data decides whether it is executed.
    pub is_certain: bool,
    /// Whether a bulk tensor copy (TMA) moves the bytes, which no thread addresses: the map is that of plain accesses to them.
    pub is_bulk: bool,
}

/// The traffic of such instructions.
#[derive(Debug, Clone, PartialEq)]
pub struct CodeTraffic {
    pub access: CodeAccess,
    /// The sum over all the instructions.
    pub traffic: Traffic,
    /// The same with instructions at neighbouring addresses as one request, because they share sectors in the
    /// cache.
    pub near: Traffic,
}

/// Addresses that differ by a multiple of this are equivalent.
const LINE: i64 = LINE_BYTES as i64;

impl CodeAccess {
    /// As [`LanePicture::of`], with the instructions counted as iterations.
    pub fn picture(
        &self,
        analysis: &FusionAnalysis,
        block: i64,
        warp: i64,
        iteration: i64,
    ) -> Option<LanePicture> {
        let alike = i64::try_from(self.distances.len()).ok()?.max(1);
        let own = usize::try_from(iteration.max(0) % alike).ok()?;
        let mut picture =
            LanePicture::of(&self.access(&self.map, &[], analysis)?, block, warp, iteration.max(0) / alike)?;
        let distance = *self.distances.get(own)?;
        for (first, end) in picture.lanes.iter_mut().flatten() {
            (*first, *end) = (*first + distance, *end + distance);
        }
        picture.sizes.iterations = picture.sizes.iterations.saturating_mul(alike);
        Some(picture)
    }

    /// Whether both access the same bytes of their arrays.
    pub(super) fn moves_as(&self, other: &CodeAccess) -> bool {
        let own = (self.bytes, self.element_bits, self.is_certain, &self.distances);
        own == (other.bytes, other.element_bits, other.is_certain, &other.distances)
            && self.gathered_at == other.gathered_at
            && self.map == other.map
    }

    /// The access of one of the instructions, in bytes.
    fn access<'a>(
        &'a self,
        map: &'a IndexingMap,
        beside: &'a [i64],
        analysis: &FusionAnalysis,
    ) -> Option<Access<'a>> {
        let launch = analysis.stated_launch()?;
        Some(Access {
            map,
            gathered_at: &self.gathered_at,
            element_bits: 8,
            at_once: Some(self.bytes),
            beside,
            grid: launch.grid,
            block: launch.block,
            threads_per_warp: analysis.device.threads_per_warp,
        })
    }

    pub(super) fn traffic(self, analysis: &FusionAnalysis, budget: u64) -> Option<CodeTraffic> {
        let each = self.distances.iter().map(|&distance| vec![distance]).collect();
        let traffic = self.sum(analysis, budget, each)?;
        let clusters = clusters(&self.distances);
        let own = self.bytes * 8 / self.element_bits.max(1);
        let side_by_side = clusters.iter().map(|cluster| cluster.len() as i64 * own).min();
        let mut near = match clusters.iter().all(|cluster| cluster.len() == 1) {
            true => traffic,
            false => self.sum(analysis, budget, clusters)?,
        };
        // Together the instructions fill the gap between two lanes.
        if let Pattern::Strided(step) = near.pattern
            && side_by_side == Some(step)
        {
            near.pattern = Pattern::Contiguous;
        }
        Some(CodeTraffic { access: self, traffic, near })
    }

    /// The sum of the traffic of requests at these offsets, each with its neighbours.
    fn sum(&self, analysis: &FusionAnalysis, budget: u64, requests: Vec<Vec<i64>>) -> Option<Traffic> {
        let mut known: Vec<(i64, Vec<i64>, u64)> = Vec::new();
        for request in requests {
            let (&first, others) = request.split_first()?;
            let beside: Vec<i64> = others.iter().map(|other| other - first).collect();
            let rest = first.rem_euclid(LINE);
            match known.iter_mut().find(|(own, list, _)| *own == rest && *list == beside) {
                Some((_, _, times)) => *times += 1,
                None => known.push((rest, beside, 1)),
            }
        }
        let mut sum: Option<Traffic> = None;
        for (rest, beside, times) in known {
            let results = self.map.results().iter().map(|result| result.clone() + rest).collect();
            let map = self.map.with_results(results);
            let one = traffic(&self.access(&map, &beside, analysis)?, budget)?;
            let mut all = sum.unwrap_or(Traffic { best: Counts::default(), worst: Counts::default(), ..one });
            if self.is_certain {
                all.best.add(one.best, times);
            }
            all.worst.add(one.worst, times);
            all.is_exact &= one.is_exact;
            sum = Some(all);
        }
        let bits = self.element_bits.max(1);
        let elements = |bytes: i64| bytes.checked_mul(8).filter(|n| n % bits == 0).map(|n| n / bits);
        let sum = sum?;
        let pattern = match sum.pattern {
            Pattern::Strided(step) => elements(step).map_or(Pattern::Irregular, Pattern::Strided),
            Pattern::Runs { lanes, step } => {
                elements(step).map_or(Pattern::Irregular, |step| Pattern::Runs { lanes, step })
            }
            other => other,
        };
        Some(Traffic { vector: elements(self.bytes).unwrap_or(1).max(1), pattern, ..sum })
    }
}

/// Groups of offsets less than a cache line apart.
fn clusters(distances: &[i64]) -> Vec<Vec<i64>> {
    let mut sorted = distances.to_vec();
    sorted.sort_unstable();
    sorted.chunk_by(|a, b| b - a < LINE).map(<[i64]>::to_vec).collect()
}
