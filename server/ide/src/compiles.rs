//! Compiles of dump folders: what is in them, what each pass changed, and the same instruction in another stage.

mod changes;
mod compare;
mod costs;
mod details;
mod history;
mod hover;
mod listing;
mod place;
mod report;
mod step;

pub use changes::StageSummary;
pub use compare::ComparedStages;
pub use costs::StageCosts;
pub use details::{ChangedFlag, CompileDetails, ListedThunk, ThunkLaunch};
pub use history::{InstructionHistory, InstructionStage};
pub use listing::{CompileSummary, DumpSummary, ListedStage, Pipeline, StageRole};
pub use place::StagePlace;
pub use report::{CompileReport, ReportedChanges, ReportedThunk};
pub use step::{StageStep, StepDirection};

pub(crate) use changes::stage_summary;
pub(crate) use compare::compare_stages;
pub(crate) use costs::{KnownCosts, stage_costs};
pub(crate) use details::compile_details;
pub(crate) use history::{history_of, instruction_history};
pub(crate) use hover::stage_hover;
pub(crate) use listing::{compile_pipelines, dump_summary};
pub(crate) use report::compile_report;
pub(crate) use step::step_stage;
