//! Removes the copies without which no value is overwritten before its last use.

use memory::Copies;
use rustc_hash::FxHashMap;

use super::Reasons;
use super::fusion_orders::FusionOrders;
use crate::driver::Run;
use crate::module::{InstructionId, Planned};

/// Tries to remove these copies, in this order, and returns why the others stay. What is removed stays in the module without
/// users.
/// Source: `CopyInsertion::RemoveUnnecessaryCopies`.
pub(super) fn remove(run: &mut Run<'_>, copies: &[InstructionId]) -> Reasons {
    let Planned { program, ids, .. } = run.module.planned();
    let number: FxHashMap<InstructionId, memory::Id> = ids.iter().copied().zip(0..).collect();
    let orders = FusionOrders::new(run.module, run.options.device);
    let order_of = |fusion: memory::Id| orders.of(ids[fusion as usize]);
    let copies: Vec<memory::Id> = copies.iter().filter_map(|copy| number.get(copy).copied()).collect();
    let (removed, why) = Copies::new(&program, &order_of).unnecessary(&copies);
    let name = |id: memory::Id| run.module[ids[id as usize]].name();
    let mut reasons = Reasons::default();
    for (copy, reason) in why {
        let writer = name(reason.writer);
        let words = match reason.reader {
            Some(reader) if reader == reason.writer => {
                format!(" because %{writer} reads it and cannot overwrite it")
            }
            Some(reader) => {
                format!(" because %{writer} overwrites it while %{} still reads it", name(reader))
            }
            None => format!(" because %{writer} overwrites it while it is still alive"),
        };
        reasons.insert(ids[copy as usize], words);
    }
    for copy in removed {
        let copy = ids[copy as usize];
        let operand = run.module.operand(copy, 0);
        run.changed(copy, format!("not necessary: its users take %{}", run.module[operand].name()));
        run.module.drop_control(copy);
        run.module.replace_all_uses(copy, operand);
    }
    reasons
}
