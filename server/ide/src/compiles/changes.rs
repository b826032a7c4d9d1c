//! What a pass changed, in one line.

use db::Database;
use db::compiles::{DumpedStage, stage_changes, stage_links, stage_program};

use crate::units::counted;

/// What a stage changed of the one before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StageSummary {
    /// `+12 −3 instructions`; for the first stage their number.
    pub text: String,
    /// Whether its text differs from that of the stage before. True for the first stage.
    pub is_changed: bool,
    /// The line of the first instruction that is not as it was before, from 0; `None` for the first stage, and if instructions are
    /// gone alone.
    pub first_line: Option<u32>,
    /// Why the stage is no module.
    pub problem: Option<String>,
}

pub(crate) fn stage_summary(db: &Database, stage: DumpedStage) -> StageSummary {
    let links = stage_links(db, stage);
    if let Some(problem) = links.problem() {
        let text = "cannot be read".to_owned();
        return StageSummary {
            text,
            is_changed: true,
            first_line: None,
            problem: Some(problem.message.clone()),
        };
    }
    let changes = stage_changes(db, stage);
    let count = counted(u64::from(changes.instructions), "instruction");
    if links.before().is_none() {
        return StageSummary { text: count, is_changed: true, first_line: None, problem: None };
    }
    let added = changes.added + changes.cloned + changes.split + changes.replaced;
    let removed = changes.removed + changes.merged + changes.replaced;
    let also = [(changes.moved, "moved"), (changes.renamed, "renamed")];
    let mut parts: Vec<String> = Vec::new();
    if added + removed > 0 {
        let signs = [("+", added), ("−", removed)].map(|(sign, count)| match count {
            0 => String::new(),
            _ => format!("{sign}{count}"),
        });
        parts.push(format!("{} instructions", signs.join(" ").trim()));
    }
    parts.extend(also.iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("{count} {what}")));
    if parts.is_empty() {
        let what = if changes.is_text_changed { "attributes, operands or order" } else { "no change" };
        parts.push(what.to_owned());
    }
    StageSummary {
        text: parts.join(", "),
        is_changed: changes.is_text_changed,
        first_line: changes.first_changed.and_then(|id| Some(stage_program(db, stage).ok()?.line(id))),
        problem: None,
    }
}
