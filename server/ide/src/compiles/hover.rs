//! The part of a module's hover about its compile.

use db::compiles::stage_of;

use crate::compiles::{changes::stage_summary, listing::sentence};
use crate::file_context::FileContext;
use crate::rich_text::{RichText, code, parts};

/// Which stage the file is, what the pass before it does, and what it changed. Empty for a file in no dump folder.
pub(crate) fn stage_hover(context: &FileContext<'_>) -> RichText {
    let mut text = RichText::default();
    let stage = stage_of(context.db, context.view.file);
    let Some((stage, compile)) = stage.and_then(|stage| Some((stage, stage.compile(context.db)?))) else {
        return text;
    };
    let Some(described) = stage.description(context.db) else { return text };
    let count = compile.stages(context.db).len();
    let mut line =
        parts![format!("stage {} of {count}: ", stage.index(context.db) + 1), code(described.title())];
    if !described.pipeline.is_empty() && described.title() != format!("start of {}", described.pipeline) {
        line.push(" in ");
        line.push(code(described.pipeline.clone()));
    }
    text.space();
    text.line(line);
    if let Some(sentence) = sentence(described) {
        text.paragraph(sentence);
    }
    text.paragraph(stage_summary(context.db, stage).text);
    text
}
