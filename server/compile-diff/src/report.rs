//! All that is known of two compiles of a module.

use std::collections::BTreeMap;

use matching::Pairing;
use syntax::hlo::Opcode;

use crate::changes::{Changes, changes};
use crate::kernels::{Kernel, KernelChange, kernel_changes};
use crate::module::Module;

/// The optimised module of a compile, with the figures of its kernels.
pub struct MeasuredModule<'a, 't> {
    pub module: &'a Module<'t>,
    pub kernels: &'a [Kernel],
    pub device: &'a str,
}

/// What two compiles of a module have different. Instructions are indices of their programs.
#[derive(Debug, Clone, PartialEq)]
pub struct Report {
    pub devices: [String; 2],
    pub totals: [Totals; 2],
    /// Per kind of kernel, that with the largest change of time first.
    pub kinds: Vec<(String, [Totals; 2])>,
    pub kernels: Vec<KernelChange>,
    pub changes: Changes,
    /// Instructions that only move or convert data, or exchange it, by opcode: those that only one of the compiles has.
    pub data_movement: BTreeMap<String, DataMovement>,
}

/// Sums over kernels.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Totals {
    pub launches: u64,
    /// Microseconds, without launches.
    pub time_us: f64,
    pub bytes: u64,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DataMovement {
    /// Of the first module.
    pub gone: Vec<u32>,
    /// Of the second module.
    pub new: Vec<u32>,
}

impl Totals {
    fn add(&mut self, kernel: &Kernel) {
        self.launches = self.launches.saturating_add(kernel.executions);
        self.time_us += kernel.total_us;
        self.bytes = self.bytes.saturating_add(kernel.total_bytes());
    }
}

impl Report {
    /// Compares two compiles. Takes time linear in their instructions.
    pub fn of(before: &MeasuredModule<'_, '_>, after: &MeasuredModule<'_, '_>) -> Report {
        let modules = [before.module, after.module];
        let (changes, pairing) = changes(modules[0], modules[1]);
        let kernels = kernel_changes(modules, &changes, &pairing, [before.kernels, after.kernels]);
        let mut totals = [Totals::default(); 2];
        let mut kinds: BTreeMap<&str, [Totals; 2]> = BTreeMap::new();
        for (side, compile) in [before, after].into_iter().enumerate() {
            for kernel in compile.kernels {
                totals[side].add(kernel);
                kinds.entry(&kernel.kind).or_default()[side].add(kernel);
            }
        }
        let mut kinds: Vec<(String, [Totals; 2])> =
            kinds.into_iter().map(|(kind, totals)| (kind.to_owned(), totals)).collect();
        let delta = |[before, after]: &[Totals; 2]| (after.time_us - before.time_us).abs();
        kinds.sort_by(|a, b| delta(&b.1).total_cmp(&delta(&a.1)).then_with(|| a.0.cmp(&b.0)));
        let devices = [before.device.to_owned(), after.device.to_owned()];
        Report { devices, totals, kinds, kernels, changes, data_movement: data_movement(modules, &pairing) }
    }

    /// The change of the estimated time: 0.02 if the second compile takes 2 % longer. `None` if the first has no kernels.
    pub fn time_growth(&self) -> Option<f64> {
        growth(self.totals[0].time_us, self.totals[1].time_us)
    }

    /// The same of the bytes that kernels move.
    pub fn bytes_growth(&self) -> Option<f64> {
        growth(self.totals[0].bytes as f64, self.totals[1].bytes as f64)
    }
}

/// 0.02 if `after` is 2 % more than `before`; `None` if there is nothing to compare with.
pub fn growth(before: f64, after: f64) -> Option<f64> {
    (before > 0.0).then(|| after / before - 1.0)
}

fn data_movement([before, after]: [&Module<'_>; 2], pairing: &Pairing) -> BTreeMap<String, DataMovement> {
    let mut found: BTreeMap<String, DataMovement> = BTreeMap::new();
    let missing = |module: &Module<'_>, pairs: &[Option<u32>]| -> Vec<(String, u32)> {
        let ids = (0..pairs.len() as u32).filter(|&id| pairs[id as usize].is_none());
        let named = ids.filter(|&id| moves_data(module.program.instruction(id).opcode));
        named.map(|id| (module.program.instruction(id).opcode_text.to_owned(), id)).collect()
    };
    for (opcode, id) in missing(before, &pairing.after) {
        found.entry(opcode).or_default().gone.push(id);
    }
    for (opcode, id) in missing(after, &pairing.before) {
        found.entry(opcode).or_default().new.push(id);
    }
    found
}

fn moves_data(opcode: Option<Opcode>) -> bool {
    use Opcode::*;
    matches!(
        opcode,
        Some(
            Copy | CopyStart
                | Transpose
                | Convert
                | AllGather
                | AllGatherStart
                | AllReduce
                | AllReduceStart
                | AllToAll
                | RaggedAllToAll
                | ReduceScatter
                | CollectivePermute
                | CollectivePermuteStart
                | CollectiveBroadcast
                | Send
                | Recv
        )
    )
}
