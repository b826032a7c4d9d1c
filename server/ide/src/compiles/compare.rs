//! "Compare with previous pass".

use std::sync::Arc;

use comparison::Comparison;
use db::Database;
use db::compiles::{DumpedStage, dumped_text, stage_links, stage_program};

/// A stage and the one before it as texts for a diff.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ComparedStages {
    /// `algsimp (stage 31 of 88)`
    pub title: String,
    /// Relative to the folder.
    pub paths: [Arc<str>; 2],
    /// Before and after.
    pub texts: [String; 2],
    /// Why the texts are those of the files. Otherwise only what the pass changed differs in them.
    pub problem: Option<String>,
}

/// `None` for a first stage. `with` is an earlier stage; by default the last one before that can be read.
pub(crate) fn compare_stages(
    db: &Database,
    stage: DumpedStage,
    with: Option<DumpedStage>,
) -> Option<ComparedStages> {
    let before = with.or_else(|| stage_links(db, stage).before()).or_else(|| stage.before(db))?;
    let stages = [before, stage];
    let paths = stages.map(|stage| stage.file(db).path(db).clone());
    let number = format!("stage {} of {}", stage.index(db) + 1, stage.compile(db)?.stages(db).len());
    let title = format!("{} ({number})", stage.description(db)?.title());
    let problem = match (stage_program(db, before), stage_program(db, stage)) {
        (Ok(before), Ok(after)) => match comparison::compare(before.text(), after.text()) {
            Ok(Comparison { before, after, .. }) => {
                return Some(ComparedStages { title, paths, texts: [before, after], problem: None });
            }
            // Both were read as modules.
            Err(_) => "the stages are no modules".to_owned(),
        },
        (Err(problem), _) => format!("{} is no module: {}", paths[0], problem.message),
        (_, Err(problem)) => format!("{} is no module: {}", paths[1], problem.message),
    };
    let text =
        |stage: DumpedStage| dumped_text(db, stage.file(db)).map_or_else(|why| why, |text| text.to_string());
    let problem = Some(format!("{problem}; the files are shown as they are"));
    Some(ComparedStages { title, paths, texts: stages.map(text), problem })
}
