//! The section of the hover.

use db::Database;
use db::compiles::{
    DumpedStage, Fated, descendants, fate_in, first_stage, introduced_for, last_stage, sources, stage_links,
};
use matching::outermost_fusions;

use crate::file_context::FileContext;
use crate::hlo::locate::InstructionRef;
use crate::hover::HoverConfig;
use crate::origins::located::{Located, stage_title};
use crate::origins::stablehlo::StableHlo;
use crate::origins::{Introducer, Progress, match_stages};
use crate::rich_text::{Inline, Line, RichText, parts, quoted};
use crate::units::counted;

/// The largest number of names in a line.
const MAX_NAMES: usize = 6;

/// Which pass introduced an instruction and why, where it comes from, and what became of it. Empty if its file is no stage of a
/// compile with several.
pub(crate) fn section(context: &FileContext<'_>, at: InstructionRef, config: &HoverConfig) -> RichText {
    let mut text = RichText::default();
    let db = context.db;
    let Some(located) = Located::of(context, at) else { return text };
    let Some(compile) = located.stage.compile(db).filter(|compile| compile.stages(db).len() > 1) else {
        return text;
    };
    text.space();
    text.divider();
    if let Err(Progress { done, total }) = match_stages(db, compile, config.patience) {
        text.line(format!("matching stages: {done} of {total} done; hover again for origins and blame"));
        return text;
    }
    let lines = [
        introduction(db, &located),
        origin(db, &located),
        stablehlo(db, &located),
        future(db, &located),
        certainty(db, &located),
    ];
    lines.into_iter().flatten().for_each(|line| text.item(line));
    text
}

/// ``introduced by `layout-assignment` (stage 30 of 88): it makes operand 0 of `%dot.4` row-major``
fn introduction(db: &Database, at: &Located) -> Option<Line> {
    let introduced = introduced_for(db, at.stage, at.instruction);
    stage_links(db, introduced.stage).before()?;
    let mut line = parts!["introduced ", Introducer::of(db, introduced.stage).line()];
    if let Some(reason) = introduced.reason {
        line.push(": ");
        line.push(Line::documentation(&reason));
    }
    Some(line)
}

/// ``before optimizations: `%dot.1`, `%add.2` ``
fn origin(db: &Database, at: &Located) -> Option<Line> {
    let first_stage = first_stage(db, at.stage).filter(|first| *first != at.stage)?;
    let found = sources(db, at.stage, at.program.program(), at.instruction);
    let (title, _) = stage_title(db, first_stage);
    let first = Located::new(db, first_stage, 0)?;
    if found.is_empty() {
        return Some(parts![quoted(title), ": nothing that it comes from"]);
    }
    let names = found.iter().map(|&source| first.at(source).link(db));
    Some(parts![quoted(title), ": ", listed(names.take(MAX_NAMES), found.len())])
}

/// ``StableHLO: `stablehlo.dot_general` ``
fn stablehlo(db: &Database, at: &Located) -> Option<Line> {
    let found = StableHlo::of(db, at)?;
    Some(parts!["StableHLO: ", listed(found.names(db, at).take(MAX_NAMES), found.ops.len())])
}

/// ``after optimizations: part of `%fusion.3` ``
fn future(db: &Database, at: &Located) -> Option<Line> {
    let last_stage = last_stage(db, at.stage).filter(|last| *last != at.stage)?;
    let (title, _) = stage_title(db, last_stage);
    let became = became(db, at, last_stage);
    if became.is_empty() {
        return Some(match fate_in(db, at.stage, at.instruction, last_stage) {
            Some(Fated::RemovedBy(stage)) => {
                parts![quoted(title), ": gone; removed ", Introducer::of(db, stage).line()]
            }
            _ => parts![quoted(title), ": gone"],
        });
    }
    let part = if became.iter().any(|(_, is_part)| *is_part) { ": part of " } else { ": " };
    let names = became.iter().map(|(located, _)| located.link(db));
    Some(parts![quoted(title), part, listed(names.take(MAX_NAMES), became.len())])
}

/// What an instruction is in a later stage: instructions, or the fusions that contain them. Whether they contain more than it.
pub(super) fn became(db: &Database, at: &Located, last: DumpedStage) -> Vec<(Located, bool)> {
    let mut ids = descendants(db, at.stage, at.instruction);
    if let (true, Some(Fated::Is(id))) = (ids.is_empty(), fate_in(db, at.stage, at.instruction, last)) {
        ids.push(id);
    }
    let Some(first) = ids.first().and_then(|&id| Located::new(db, last, id)) else { return Vec::new() };
    let program = first.program.program();
    let fusions = outermost_fusions(program);
    let mut found: Vec<(Located, bool)> = Vec::new();
    for id in ids.into_iter().take(64) {
        let fusion = fusions[program.instruction(id).computation as usize];
        let id = fusion.unwrap_or(id);
        if !found.iter().any(|(known, _)| known.instruction == id) {
            found.push((first.at(id), fusion.is_some()));
        }
    }
    found
}

/// A note if no stages between the first and the last are known.
fn certainty(db: &Database, at: &Located) -> Option<Line> {
    let stages = at.stage.compile(db)?.stages(db);
    let known = stages.iter().filter(|stage| stage_links(db, **stage).problem().is_none()).count();
    let unread = stages.len() - known;
    if known == 2 {
        return Some(
            "matched from two stages alone, which is less certain: the dump has none between".into(),
        );
    }
    (unread > 0).then(|| format!("{} cannot be read", counted(unread as u64, "stage")).into())
}

fn listed(names: impl Iterator<Item = Inline>, count: usize) -> Line {
    let mut line = Line::joined(names, ", ");
    if count > MAX_NAMES {
        line.push(format!(" and {} more", count - MAX_NAMES));
    }
    line
}
