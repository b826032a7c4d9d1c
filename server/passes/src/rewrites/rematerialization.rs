//! `rematerialization`: computes values again instead of keeping them, in modules that need more memory than there is.
//!
//! Only modules that fit are known to stay as they are.
//! Source: XLA `hlo/transforms/simplifiers/hlo_rematerialization.cc`.

use crate::driver::{Run, Stop};

/// No module whose values fit in this part of the device's memory, all at the same time, is changed.
const PART: i64 = 2;

pub(super) fn run(run: &mut Run<'_>) -> Result<(), Stop> {
    let mut bytes = 0u64;
    for computation in run.module.computations() {
        for id in run.module.instructions(computation) {
            bytes = bytes.saturating_add(run.module[id].shape().bytes().unwrap_or(u64::MAX));
        }
    }
    let limit = u64::try_from(run.options.device.memory_size / PART).unwrap_or(0);
    match bytes <= limit {
        true => Ok(()),
        false => Err(Stop::Unsupported(format!(
            "the values of the module have {bytes} bytes together, more than the {limit} for which it is known that nothing \
             is computed again"
        ))),
    }
}
