//! The passes that introduced the instructions of a stage.

use db::Database;
use db::compiles::{DumpedStage, introduced_for, stage_links, stage_program};
use syntax::hlo::Opcode;

use crate::origins::Introducer;
use crate::origins::located::stage_title;

/// A stage and what its passes introduced.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlamedCompile {
    /// `jit_step: after optimizations (stage 8 of 8)`
    pub title: String,
    /// Those of the entry and of loops, in the order of the text; without parameters, constants and tuples.
    pub instructions: Vec<BlamedInstruction>,
    /// Why there are none, or which stages were left out.
    pub problems: Vec<String>,
}

/// An instruction, and the pass that introduced it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlamedInstruction {
    pub name: String,
    pub opcode: String,
    /// `None` for instructions of the first stage.
    pub introducer: Option<Introducer>,
    /// Of the stage, from 1.
    pub number: usize,
    /// The name of the stage.
    pub stage: String,
    /// A sentence, with names in back-ticks.
    pub reason: Option<String>,
}

pub(crate) fn blamed_compile(db: &Database, stage: DumpedStage) -> BlamedCompile {
    let compile = stage.compile(db);
    let (title, number) = stage_title(db, stage);
    let module = compile.map(|compile| compile.description(db).title()).unwrap_or_default();
    let mut blamed = BlamedCompile {
        title: format!("{module}: {title} ({number})"),
        instructions: Vec::new(),
        problems: Vec::new(),
    };
    for &stage in compile.map_or(&[][..], |compile| compile.stages(db)) {
        if let Some(problem) = stage_links(db, stage).problem() {
            blamed.problems.push(format!("{}: {}", stage.file(db).path(db), problem.message));
        }
    }
    let Ok(program) = stage_program(db, stage) else { return blamed };
    let program = program.program();
    let mut is_fused = vec![false; program.computations.len()];
    for id in 0..program.instructions.len() as u32 {
        let holds_values = matches!(
            program.instruction(id).opcode,
            Some(Opcode::While | Opcode::Conditional | Opcode::Call | Opcode::AsyncStart)
        );
        for &callee in program.callees(id).iter().filter(|_| !holds_values) {
            is_fused[callee as usize] = true;
        }
    }
    for (id, instruction) in program.instructions.iter().enumerate() {
        crate::analysis::check_cancelled(db);
        let is_value = matches!(
            instruction.opcode,
            Some(Opcode::Parameter | Opcode::Constant | Opcode::Tuple | Opcode::GetTupleElement)
        );
        if is_value || is_fused[instruction.computation as usize] {
            continue;
        }
        let introduced = introduced_for(db, stage, id as u32);
        let is_first = stage_links(db, introduced.stage).before().is_none();
        blamed.instructions.push(BlamedInstruction {
            name: program.unique_name(id as u32),
            opcode: instruction.opcode_text.to_owned(),
            introducer: (!is_first).then(|| Introducer::of(db, introduced.stage)),
            number: introduced.stage.index(db) + 1,
            stage: introduced.stage.description(db).map(compile::Stage::name).unwrap_or_default(),
            reason: introduced.reason,
        });
    }
    blamed
}
