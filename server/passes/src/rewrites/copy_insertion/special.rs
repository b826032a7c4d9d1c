//! Copies of constants and parameters in buffers that something writes, and of results that need a buffer of their own.

use memory::{Copies, Special};

use super::Reasons;
use super::deep_copy::deep_copy;
use super::fusion_orders::FusionOrders;
use crate::driver::{Run, Stop};
use crate::module::{InstructionId, Planned};

/// The step alone.
pub(in crate::rewrites) fn run(run: &mut Run<'_>) -> Result<(), Stop> {
    add(run).map(|_| ())
}

/// Returns why each copy is necessary.
/// Source: `CopyInsertion::AddSpecialCaseCopies`.
pub(super) fn add(run: &mut Run<'_>) -> Result<Reasons, Stop> {
    let Planned { program, ids, .. } = run.module.planned();
    let orders = FusionOrders::new(run.module, run.options.device);
    let order_of = |fusion: memory::Id| orders.of(ids[fusion as usize]);
    let special = Copies::new(&program, &order_of).special();
    let mut reasons = Reasons::default();
    for of_one in special.chunk_by(|a, b| a.id == b.id) {
        let id = ids[of_one[0].id as usize];
        for (copy, why) in copy(run, id, of_one) {
            reasons.insert(copy, format!(" because {why}"));
        }
    }
    Ok(reasons)
}

fn copy(run: &mut Run<'_>, id: InstructionId, special: &[Special]) -> Vec<(InstructionId, &'static str)> {
    let why = |path: &[i64]| special.iter().find(|one| one.path == path).map(|one| one.why);
    run.changed(id, format!("copied: {}", special[0].why));
    let users = run.module[id].users().to_vec();
    let is_root = run.module.is_root(id);
    let copy = deep_copy(run.module, id, &|path| why(path).is_some());
    for user in users {
        run.module.replace_use(id, user, copy.whole);
    }
    if is_root {
        let parent = run.module[id].parent();
        run.module.set_root(parent, copy.whole);
    }
    copy.arrays.into_iter().filter_map(|(path, copy)| Some((copy, why(&path)?))).collect()
}
