//! What was computed about kernels and pairs of them, kept for the next run.

use std::sync::{Mutex, PoisonError};

use indexing::Callees;
use ir::Graph;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::content::{ContentId, Contents, Numbering};
use super::model::{Kernel, PairOfKernels};
use crate::cost::RankedTiling;
use crate::device::Device;
use crate::priority_fusion::Tiled;

/// The most entries that are kept for a device. An entry has about 300 bytes.
const MAX_ENTRIES: usize = 1 << 17;

/// Estimates of kernels by what the kernels are. They decide nothing: a run with those of other runs has the same result, sooner.
#[derive(Debug, Default)]
pub struct Estimates(Mutex<Vec<(&'static Device, Remembered)>>);

/// The estimates for one device.
#[derive(Debug, Default)]
pub(super) struct Remembered {
    pub(super) contents: Contents,
    pub(super) kernels: FxHashMap<ContentId, Kernel>,
    pub(super) pairs: FxHashMap<PairKey, PairOfKernels>,
    pub(super) tilings: FxHashMap<PairKey, Tiled>,
    /// Whether a producer and its consumer gain by one kernel with both results, unless that makes a cycle.
    pub(super) gains: FxHashMap<PairKey, bool>,
    /// Whether users of one operand may be one kernel, unless one depends on the other.
    pub(super) siblings: FxHashMap<PairKey, bool>,
    /// See [`Estimates::tiling`].
    computations: FxHashMap<ContentId, Option<RankedTiling>>,
}

/// A producer and a consumer, or two users of one operand, and which of their operands are the same: those of the second one come
/// first. 0 is the producer, or the operand; others are numbered as they come.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct PairKey {
    pub(super) first: ContentId,
    pub(super) second: ContentId,
    pub(super) operands: SmallVec<[u32; 8]>,
}

impl Estimates {
    /// Runs with the estimates for a device. Of runs at the same time, one has them.
    pub(super) fn with<T>(&self, device: &'static Device, run: impl FnOnce(&mut Remembered) -> T) -> T {
        let remembered = self.take(device).unwrap_or_default();
        let mut lent = Lent { of: self, device, remembered };
        run(&mut lent.remembered)
    }

    /// What `find` finds for a computation: the tiling with which it is fused for Triton, if it is. `find` may run passes.
    ///
    /// # Errors
    /// Those of `find`.
    pub fn tiling<E>(
        &self,
        device: &'static Device,
        computation: &Graph,
        callees: &Callees<'_>,
        find: impl FnOnce() -> Result<Option<RankedTiling>, E>,
    ) -> Result<Option<RankedTiling>, E> {
        let number = |remembered: &mut Remembered| {
            let contents = &mut remembered.contents;
            Numbering { contents, by_name: &mut FxHashMap::default(), callees }.of_computation(computation)
        };
        let known = self.with(device, |remembered| {
            number(remembered).and_then(|number| remembered.computations.get(&number)).cloned()
        });
        if let Some(known) = known {
            return Ok(known);
        }
        let found = find()?;
        self.with(device, |remembered| {
            // The numbers may be others by now.
            number(remembered).map(|number| remembered.computations.insert(number, found.clone()));
        });
        Ok(found)
    }

    fn take(&self, device: &'static Device) -> Option<Remembered> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let at = all.iter().position(|(of, _)| std::ptr::eq(*of, device))?;
        Some(all.swap_remove(at).1)
    }

    fn give(&self, device: &'static Device, remembered: Remembered) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match all.iter_mut().find(|(of, _)| std::ptr::eq(*of, device)) {
            Some((_, other)) if other.len() >= remembered.len() => {}
            Some((_, other)) => *other = remembered,
            None => all.push((device, remembered)),
        }
    }
}

impl Remembered {
    fn len(&self) -> usize {
        let pairs = self.pairs.len() + self.tilings.len() + self.gains.len() + self.siblings.len();
        self.contents.len() + self.kernels.len() + self.computations.len() + pairs
    }
}

/// Estimates that go back when the run ends or is cancelled.
struct Lent<'a> {
    of: &'a Estimates,
    device: &'static Device,
    remembered: Remembered,
}

impl Drop for Lent<'_> {
    fn drop(&mut self) {
        let remembered = std::mem::take(&mut self.remembered);
        if remembered.len() <= MAX_ENTRIES {
            self.of.give(self.device, remembered);
        }
    }
}
