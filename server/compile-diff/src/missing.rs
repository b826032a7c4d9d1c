//! Instructions of one module that the other has not. What only a new instruction calls is part of it.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::module::Module;

pub(crate) enum Missing {
    /// With the number of instructions in the computations that only it calls.
    Instruction { instruction: u32, members: u32 },
    /// A computation that nothing calls.
    Computation(u32),
}

/// What the instructions of a computation without a counterpart are part of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    /// Each is reported itself.
    None,
    OfInstruction(u32),
    OfComputation(u32),
    /// The other module has the same code elsewhere, or the caller is reported to call something else.
    Known,
}

/// Longer chains of callers are not followed.
const MAX_CALLERS: usize = 256;

impl Missing {
    /// In the order of the text. `digests` are those of the module and of the other one.
    pub(crate) fn of(
        module: &Module<'_>,
        pairs: &[Option<u32>],
        computations: &[Option<u32>],
        [own, others]: [&Vec<u64>; 2],
    ) -> Vec<Missing> {
        let others: FxHashSet<u64> = others.iter().copied().collect();
        let is_missing = |id: u32| pairs[id as usize].is_none() && !module.is_plumbing(id);
        let program = &module.program;
        let mut callers: Vec<Vec<u32>> = vec![Vec::new(); program.computations.len()];
        for id in 0..pairs.len() as u32 {
            cancel::tick();
            program.callees(id).iter().for_each(|&callee| callers[callee as usize].push(id));
        }
        let is_whole = |at: usize| {
            let mut ids = program.computations[at].instructions.clone();
            computations[at].is_none() && ids.all(|id| pairs[id as usize].is_none() || module.is_plumbing(id))
        };
        let is_whole: Vec<bool> = (0..program.computations.len()).map(is_whole).collect();
        let part = |start: u32| {
            let mut part = Part::None;
            let mut at = start as usize;
            for _ in 0..MAX_CALLERS {
                if !is_whole[at] {
                    break;
                }
                if others.contains(&own[at]) {
                    return Part::Known;
                }
                if callers[at].is_empty() {
                    return Part::OfComputation(at as u32);
                }
                let Some(&caller) = callers[at].iter().find(|&&caller| is_missing(caller)) else {
                    return Part::Known;
                };
                part = Part::OfInstruction(caller);
                at = program.instruction(caller).computation as usize;
            }
            part
        };
        let mut found: Vec<Missing> = Vec::new();
        let mut members: FxHashMap<u32, u32> = FxHashMap::default();
        let mut orphans: Vec<u32> = Vec::new();
        for at in 0..program.computations.len() as u32 {
            let part = part(at);
            for id in program.computation(at).instructions.clone().filter(|&id| is_missing(id)) {
                cancel::tick();
                match part {
                    // Its instructions are reported to be computed elsewhere.
                    Part::None if module.body(id).is_some_and(|body| !is_whole[body as usize]) => (),
                    Part::None => found.push(Missing::Instruction { instruction: id, members: 0 }),
                    Part::OfInstruction(caller) => *members.entry(caller).or_default() += 1,
                    Part::OfComputation(computation) => orphans.push(computation),
                    Part::Known => (),
                }
            }
        }
        for missing in &mut found {
            if let Missing::Instruction { instruction, members: count } = missing {
                *count = members.get(instruction).copied().unwrap_or_default();
            }
        }
        orphans.dedup();
        found.extend(orphans.into_iter().map(Missing::Computation));
        found
    }
}
