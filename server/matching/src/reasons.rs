//! Why a pass introduced an instruction: a sentence derived from what stands around it in the first stage that has it.

mod moved_data;
mod sentence;
mod written_shape;

use syntax::hlo::Opcode;

use crate::matching::{Matching, Relation};
use crate::program::Program;
use sentence::Step;

/// The largest number of replaced instructions in a sentence.
const MAX_CAUSES: usize = 3;

/// The reasons for the copies, transposes, bitcasts, conversions, paddings, collectives and fusions of the current stage.
///
/// A reason follows an instruction by its name, and to its clones: a conversion in a fusion has the reason of the conversion
/// that was fused.
#[derive(Debug, Clone)]
pub struct Reasons {
    /// Per instruction, an index into `reasons`.
    of: Vec<Option<u32>>,
    reasons: Vec<Reason>,
    stage: u32,
}

#[derive(Debug, Clone)]
struct Reason {
    cause: Cause,
    /// The index of the stage that has the instruction first.
    stage: u32,
    /// The reason of the instruction that it took the place of; an earlier one.
    replaced: Option<u32>,
}

/// Why an instruction exists.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Cause {
    /// The name of the instruction in the first stage that has it.
    pub name: String,
    /// A predicate without a subject, names in back-ticks: ``makes operand 0 of `%dot.4` row-major``. Empty if the instruction
    /// is of the program itself.
    pub sentence: String,
}

/// How a pass introduced an instruction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Introduction {
    /// As a clone of an instruction of the stage before, or under another name.
    Clone(u32),
    /// For a purpose, in the place of the given instruction of the stage before if that has a cause too.
    New(Cause, Option<u32>),
}

/// The instructions of `after` that have causes and are new there, in order, each with how it was introduced.
pub fn introductions(
    before: &Program<'_>,
    after: &Program<'_>,
    matching: &Matching,
) -> Vec<(u32, Introduction)> {
    let step = Step::new(before, after, matching);
    let ids = 0..after.instructions.len() as u32;
    ids.filter_map(|id| Some((id, introduction(&step, id)?))).collect()
}

fn introduction(step: &Step<'_, '_, '_>, id: u32) -> Option<Introduction> {
    cancel::tick();
    let instruction = step.after.instruction(id);
    let opcode = instruction.opcode.filter(|&opcode| has_cause(opcode))?;
    if step.matching.namesake(id).is_some() {
        return None;
    }
    let origin = step.matching.origins[id as usize];
    let is_equal =
        matches!(origin.relation, Relation::Same | Relation::Moved | Relation::Renamed | Relation::Cloned);
    let source = origin.source.filter(|_| is_equal && opcode != Opcode::Fusion);
    if let Some(former) = Some(id).filter(|_| opcode == Opcode::Fusion).and_then(|id| step.former_fusion(id))
    {
        return Some(Introduction::Clone(former));
    }
    if let Some(source) = source.filter(|&source| step.before.instruction(source).opcode == Some(opcode)) {
        return Some(Introduction::Clone(source));
    }
    let mut sentence = step.sentence(id, opcode)?;
    let replaced = step.replaced(id).filter(|_| opcode != Opcode::Fusion);
    let caused = |source: &u32| step.before.instruction(*source).opcode.is_some_and(has_cause);
    if let Some(source) = replaced.filter(|source| !caused(source)) {
        sentence += &format!("; it takes the place of {}", step.described(source));
    }
    let cause = Cause { name: instruction.name.to_owned(), sentence };
    Some(Introduction::New(cause, replaced.filter(caused)))
}

/// A sentence about an instruction: ``it makes operand 0 of `%dot.4` row-major``. `causes` are its own, then those of the
/// instructions that it and they took the place of, each with the name of its stage. `is_clone`: the first is that of the
/// instruction that it was cloned from.
pub fn explained(is_clone: bool, causes: impl IntoIterator<Item = (Cause, String)>) -> String {
    let mut text = String::new();
    for (nth, (cause, stage)) in causes.into_iter().take(1 + MAX_CAUSES).enumerate() {
        let from =
            || format!("{} of {}", sentence::quoted(&format!("%{}", cause.name)), sentence::quoted(&stage));
        text += &match (nth, is_clone) {
            (0, false) => "it ".to_owned(),
            (0, true) => format!("it comes from {}", from()),
            _ => format!("; it takes the place of {}", from()),
        };
        if !cause.sentence.is_empty() {
            text += if text == "it " { "" } else { ", which " };
            text += &cause.sentence;
        }
    }
    text
}

impl Reasons {
    /// The first stage: the program itself is the reason.
    pub fn new(first: &Program<'_>) -> Reasons {
        let mut reasons = Reasons { of: Vec::new(), reasons: Vec::new(), stage: 0 };
        for instruction in &first.instructions {
            let has_cause = instruction.opcode.is_some_and(has_cause);
            reasons.of.push(has_cause.then_some(reasons.reasons.len() as u32));
            if has_cause {
                let cause = Cause { name: instruction.name.to_owned(), sentence: String::new() };
                reasons.reasons.push(Reason { cause, stage: 0, replaced: None });
            }
        }
        reasons
    }

    /// Goes on to the next stage, `after`.
    pub fn step(&mut self, before: &Program<'_>, after: &Program<'_>, matching: &Matching) {
        self.stage += 1;
        let known = |source: u32| self.of[source as usize];
        let namesake = |id: u32| known(matching.namesake(id)?);
        let mut of: Vec<Option<u32>> = (0..after.instructions.len() as u32).map(namesake).collect();
        for (id, introduction) in introductions(before, after, matching) {
            of[id as usize] = match introduction {
                Introduction::Clone(source) => known(source),
                Introduction::New(cause, replaced) => {
                    let replaced = replaced.and_then(known);
                    self.reasons.push(Reason { cause, stage: self.stage, replaced });
                    Some(self.reasons.len() as u32 - 1)
                }
            };
        }
        self.of = of;
        self.forget();
    }

    /// Why an instruction of the current stage exists, which stage `introduced` has first: ``it makes operand 0 of `%dot.4`
    /// row-major``. `stage_name` names a stage. `None` for other opcodes, and for instructions of the first stage.
    pub fn sentence(
        &self,
        instruction: u32,
        introduced: u32,
        stage_name: impl Fn(u32) -> String,
    ) -> Option<String> {
        let reason = &self.reasons[self.of[instruction as usize]? as usize];
        if introduced == 0 {
            return None;
        }
        let causes =
            std::iter::successors(Some(reason), |reason| Some(&self.reasons[reason.replaced? as usize]));
        let causes = causes.map(|reason| (reason.cause.clone(), stage_name(reason.stage)));
        Some(explained(reason.stage != introduced, causes))
    }

    /// Drops the reasons that no instruction has any more, once they are most of them.
    fn forget(&mut self) {
        if self.reasons.len() < 1024 || self.of.len() > self.reasons.len() {
            return;
        }
        let mut moved = vec![None; self.reasons.len()];
        let mut open: Vec<u32> = self.of.iter().flatten().copied().collect();
        while let Some(used) = open.pop() {
            if moved[used as usize].replace(0).is_none() {
                open.extend(self.reasons[used as usize].replaced);
            }
        }
        // What was replaced is older, so that its new index is known.
        let mut kept: Vec<Reason> = Vec::new();
        for (old, mut reason) in std::mem::take(&mut self.reasons).into_iter().enumerate() {
            if moved[old].is_some() {
                reason.replaced = reason.replaced.and_then(|replaced| moved[replaced as usize]);
                moved[old] = Some(kept.len() as u32);
                kept.push(reason);
            }
        }
        self.reasons = kept;
        self.of.iter_mut().for_each(|of| *of = of.and_then(|old| moved[old as usize]));
    }
}

/// Whether passes introduce instructions of this opcode for the sake of others.
fn has_cause(opcode: Opcode) -> bool {
    use Opcode::*;
    matches!(
        opcode,
        Copy | CopyStart
            | CopyDone
            | Transpose
            | Bitcast
            | BitcastConvert
            | Convert
            | Pad
            | Fusion
            | AllGather
            | AllGatherStart
            | AllGatherDone
            | AllReduce
            | AllReduceStart
            | AllReduceDone
            | AllToAll
            | ReduceScatter
            | CollectivePermute
            | CollectivePermuteStart
            | CollectivePermuteDone
    )
}
