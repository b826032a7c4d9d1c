//! A computation before and after a rewrite: which instructions are the same, and where cones may be cut.

use passes::{ComputationId, InstructionId, Module};
use rustc_hash::{FxHashMap, FxHashSet};
use syntax::hlo::Opcode;

use crate::numbers::{Number, Numbered, stems};

/// A module with the terms of its instructions.
pub struct Side {
    pub module: Module,
    pub numbered: Numbered,
}

/// A pair of computations.
pub struct Context {
    /// By instruction of either computation where it may be cut, the instruction of the first that it is by its term or name: the
    /// key of the cut.
    pub cuts_before: FxHashMap<InstructionId, InstructionId>,
    pub cuts_after: FxHashMap<InstructionId, InstructionId>,
    /// By key, the instructions of the second computation.
    pub partners: FxHashMap<InstructionId, Vec<InstructionId>>,
}

impl Context {
    pub fn new(before: &Side, after: &Side, pair: (ComputationId, ComputationId)) -> Context {
        let olds = before.module.post_order(pair.0);
        let mut of_number: FxHashMap<Number, InstructionId> = FxHashMap::default();
        let mut of_name: FxHashMap<&str, InstructionId> = FxHashMap::default();
        for &id in &olds {
            of_name.insert(before.module[id].name(), id);
            if let Some(number) = before.numbered.number(id) {
                of_number.entry(number).or_insert(id);
            }
        }
        let first = |id: InstructionId| {
            before.numbered.number(id).and_then(|number| of_number.get(&number).copied()).unwrap_or(id)
        };
        let news = after.module.post_order(pair.1);
        let mut origin: FxHashMap<InstructionId, InstructionId> = FxHashMap::default();
        for &id in &news {
            cancel::tick();
            let by_term = after.numbered.number(id).and_then(|number| of_number.get(&number).copied());
            let found = by_term.or_else(|| {
                let name = after.module[id].name();
                let has_shape =
                    |old: &InstructionId| before.module[*old].shape().is_compatible(after.module[id].shape());
                let same = of_name.get(name).copied().filter(has_shape);
                let opcode = after.module[id].opcode();
                let copied = |name: &str| {
                    let old = of_name.get(name).copied().filter(has_shape)?;
                    (before.module[old].opcode() == opcode).then_some(old)
                };
                same.or_else(|| stems(name).find_map(copied))
            });
            if let Some(old) = found {
                origin.insert(id, first(old));
            }
        }
        let (old_varies, new_varies) = (varying(&before.module, &olds), varying(&after.module, &news));
        let mut partners: FxHashMap<InstructionId, Vec<InstructionId>> = FxHashMap::default();
        let mut cuts_after = FxHashMap::default();
        for id in news.into_iter().filter(|id| new_varies.contains(id)) {
            if let Some(&key) = origin.get(&id).filter(|key| old_varies.contains(key)) {
                cuts_after.insert(id, key);
                partners.entry(key).or_default().push(id);
            }
        }
        let cuts_before = olds.into_iter().map(|id| (id, first(id)));
        let cuts_before = cuts_before.filter(|(_, key)| partners.contains_key(key)).collect();
        Context { cuts_before, cuts_after, partners }
    }
}

/// The instructions that depend on a parameter or on something that is not evaluated. The others are known numbers, which
/// stay in their cones.
fn varying(module: &Module, order: &[InstructionId]) -> FxHashSet<InstructionId> {
    let mut varying = FxHashSet::default();
    for &id in order {
        let instruction = &module[id];
        let is_source = instruction.opcode() == Opcode::Parameter || is_opaque(instruction.opcode());
        if is_source || instruction.operands().iter().any(|operand| varying.contains(operand)) {
            varying.insert(id);
        }
    }
    varying
}

/// Whether the interpreter does not evaluate an op, or only with what its operands are worth at run time.
pub fn is_opaque(opcode: Opcode) -> bool {
    use Opcode::*;
    matches!(
        opcode,
        AfterAll
            | CustomCall
            | Infeed
            | Outfeed
            | RaggedAllToAll
            | Recv
            | RecvDone
            | Rng
            | RngGetAndUpdateState
            | Send
            | SendDone
            | While
    )
}
