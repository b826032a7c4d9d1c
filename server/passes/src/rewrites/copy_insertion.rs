//! `copy-insertion`: copies values that something overwrites before their last use, or that nothing may write. Its steps are
//! passes of their own.
//!
//! Source: XLA `service/copy_insertion.cc`; what conflicts, in crate `memory`.

mod deep_copy;
mod fusion_orders;
mod resolve;
mod special;
mod unnecessary;

use rustc_hash::{FxHashMap, FxHashSet};
use syntax::hlo::Opcode;

use super::{dce, tuple_simplifier};
use crate::driver::{Run, Stop};
use crate::module::{InstructionId, Module};

pub(super) use special::run as special;

/// All steps.
pub(super) fn run(run: &mut Run<'_>) -> Result<(), Stop> {
    let before = run.module.clone();
    let old: FxHashSet<InstructionId> = copies(run.module).into_iter().collect();
    let mut inner = Run::new(run.module, run.options);
    resolve::add(&mut inner)?;
    simplify(&mut inner)?;
    let all = copies(inner.module);
    let mut why = unnecessary::remove(&mut inner, &all);
    why.extend(special::add(&mut inner)?);
    simplify(&mut inner)?;
    let left: FxHashSet<InstructionId> = copies(run.module).into_iter().collect();
    for &id in left.iter().filter(|id| !old.contains(id)) {
        let why = why.get(&id).map(String::as_str);
        let what = format!("copied as %{}{}", run.module[id].name(), why.unwrap_or_default());
        run.changed(run.module.operand(id, 0), what);
    }
    let mut is_changed = left.len() > old.intersection(&left).count();
    let after = std::mem::replace(run.module, before);
    for &id in old.iter().filter(|id| !left.contains(id)) {
        is_changed = true;
        run.changed(id, "removed: the copy is not necessary");
    }
    if is_changed {
        *run.module = after;
    }
    Ok(())
}

/// The first step alone.
pub(super) fn resolve(run: &mut Run<'_>) -> Result<(), Stop> {
    let before = run.module.clone();
    resolve::add(run)?;
    if run.changes() == 0 {
        *run.module = before;
        return Ok(());
    }
    simplify(&mut Run::new(run.module, run.options))
}

/// The second step alone.
pub(super) fn unnecessary(run: &mut Run<'_>) -> Result<(), Stop> {
    let mut copies = copies(run.module);
    // The text does not have the order of creation, which names show.
    copies.sort_by_key(|&id| number(run.module[id].name()));
    unnecessary::remove(run, &copies);
    Ok(())
}

/// The number at the end of a name.
fn number(name: &str) -> u64 {
    name.rsplit('.').next().and_then(|end| end.parse().ok()).unwrap_or(0)
}

fn simplify(run: &mut Run<'_>) -> Result<(), Stop> {
    tuple_simplifier::run(run)?;
    dce::run(run)
}

/// The copies outside of fusions in the order of creation.
fn copies(module: &Module) -> Vec<InstructionId> {
    let steps: FxHashSet<_> = module.non_fusion_computations().into_iter().collect();
    let computations = module.computations().into_iter().filter(|computation| steps.contains(computation));
    let all = computations.flat_map(|computation| module.instructions(computation));
    all.filter(|&id| module[id].opcode() == Opcode::Copy).collect()
}

/// Per copy, the reason that follows "copied as %copy".
type Reasons = FxHashMap<InstructionId, String>;
