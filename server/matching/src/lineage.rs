//! Origins over the stages of a compile.

use syntax::hlo::Opcode;

use crate::matching::Matching;
use crate::numbering::is_transparent;
use crate::program::Program;

/// Deeper calls within a fusion are not entered.
const MAX_DEPTH: u32 = 16;
/// Callers of callers beyond this depth are not looked for.
const MAX_CALLERS: usize = 64;

/// Which instruction of the first stage each instruction of the current stage comes from.
#[derive(Debug, Clone)]
pub struct Lineage {
    sources: Vec<Option<u32>>,
}

impl Lineage {
    /// The lineage of the first stage itself.
    pub fn new(first: &Program<'_>) -> Lineage {
        Lineage { sources: (0..first.instructions.len() as u32).map(Some).collect() }
    }

    /// Goes on to the next stage.
    pub fn step(&mut self, matching: &Matching) {
        let source = |origin: &crate::Origin| self.sources[origin.source? as usize];
        self.sources = matching.origins.iter().map(source).collect();
    }

    /// The origin of one instruction of the current stage.
    pub fn source(&self, instruction: u32) -> Option<u32> {
        self.sources[instruction as usize]
    }

    /// The origins of an instruction of the current stage, `program`, and of what it fuses; sorted.
    pub fn sources(&self, program: &Program<'_>, instruction: u32) -> Vec<u32> {
        let members = fused_members(program, instruction);
        let mut sources: Vec<u32> =
            std::iter::once(instruction).chain(members).filter_map(|id| self.source(id)).collect();
        sources.sort_unstable();
        sources.dedup();
        sources
    }
}

/// The instructions in the computation of a fusion, a call or an asynchronous op, parameters aside. Empty for other
/// instructions.
pub fn fused_members(program: &Program<'_>, instruction: u32) -> Vec<u32> {
    let mut members = Vec::new();
    let mut seen = Vec::new();
    let mut open = vec![(instruction, 0)];
    while let Some((id, depth)) = open.pop() {
        if !is_transparent(program.instruction(id).opcode) || depth > MAX_DEPTH {
            continue;
        }
        for &callee in program.callees(id) {
            if seen.contains(&callee) {
                continue;
            }
            seen.push(callee);
            for member in program.computation(callee).instructions.clone() {
                cancel::tick();
                if !crate::links::is_parameter(program.instruction(member)) {
                    members.push(member);
                    open.push((member, depth + 1));
                }
            }
        }
    }
    members
}

/// Per computation, the outermost fusion that contains its instructions; `None` outside of fusions.
pub fn outermost_fusions(program: &Program<'_>) -> Vec<Option<u32>> {
    let mut callers: Vec<Option<u32>> = vec![None; program.computations.len()];
    for id in 0..program.instructions.len() as u32 {
        cancel::tick();
        for &callee in program.callees(id) {
            callers[callee as usize].get_or_insert(id);
        }
    }
    let outermost = |computation: usize| {
        let caller = |id: &u32| callers[program.instruction(*id).computation as usize];
        // A call of a computation by itself is no module, but the text may have one.
        let around = std::iter::successors(callers[computation], caller).take(MAX_CALLERS);
        around.filter(|&id| program.instruction(id).opcode == Some(Opcode::Fusion)).last()
    };
    (0..callers.len()).map(outermost).collect()
}
