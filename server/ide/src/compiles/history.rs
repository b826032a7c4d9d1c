//! The passes that changed one instruction.

use db::Database;
use db::compiles::{DumpedStage, stage_links};
use matching::{Fate, Relation};
use syntax::Span;
use syntax::hlo::{AttributeKey, ValueNode};

use crate::compiles::listing::headline;
use crate::compiles::place::{ParsedStage, StagePlace};
use crate::units::shorten;

/// What the passes of a compile did to one instruction.
#[derive(Clone)]
pub struct InstructionHistory {
    /// Its name in the stage that was asked about.
    pub instruction: String,
    /// In the order of the compile; the first one is where it comes from.
    pub stages: Vec<InstructionStage>,
}

/// A stage in which an instruction differs from the stage before.
#[derive(Clone)]
pub struct InstructionStage {
    pub place: StagePlace,
    /// `stage 31 of 88: algsimp`
    pub title: String,
    /// What the pass did: `operand 0 is now %copy.3`.
    pub what: String,
}

/// Shapes and names are cut here.
const MAX_LENGTH: usize = 60;

/// `None` if no instruction is at `offset`, which is in the text of `stage`.
pub(crate) fn instruction_history(
    db: &Database,
    stage: DumpedStage,
    offset: usize,
) -> Option<InstructionHistory> {
    let here = ParsedStage::new(db, stage)?;
    let instruction = here.instruction_at(offset)?;
    Some(InstructionHistory {
        instruction: here.name(instruction).to_owned(),
        stages: history_of(db, stage, instruction),
    })
}

/// The passes that changed an instruction of a stage; empty if the stage is no module.
pub(crate) fn history_of(db: &Database, stage: DumpedStage, instruction: u32) -> Vec<InstructionStage> {
    let Some(here) = ParsedStage::new(db, stage) else { return Vec::new() };
    let mut stages = earlier(db, here, instruction);
    stages.reverse();
    stages.extend(later(db, stage, instruction));
    stages
}

/// From the stage that was asked about to the one that introduced the instruction, in this order.
fn earlier(db: &Database, here: ParsedStage, instruction: u32) -> Vec<InstructionStage> {
    let mut found = Vec::new();
    let (mut after, mut id) = (here, instruction);
    loop {
        let links = stage_links(db, after.stage);
        let entry = |after: &ParsedStage, what: String| {
            let title = headline(db, after.stage)?;
            Some(InstructionStage { place: after.place(db, Some(id)), title, what })
        };
        let origin = links.origin(id);
        let source = links.before().zip(origin.and_then(|origin| origin.source));
        let Some((before, source)) = source else {
            let is_first = links.before().is_none();
            let what = if is_first { "there from the start" } else { "introduced" };
            found.extend(entry(&after, what.to_owned()));
            return found;
        };
        let Some(before) = ParsedStage::new(db, before) else { return found };
        if !links.is_equal() {
            let relation = origin.map_or(Relation::Same, |origin| origin.relation);
            let changes = changes(db, &before, source, &after, id, relation);
            found.extend(changes.and_then(|what| entry(&after, what)));
        }
        (after, id) = (before, source);
    }
}

fn later(db: &Database, stage: DumpedStage, instruction: u32) -> Vec<InstructionStage> {
    let mut found = Vec::new();
    let Some(compile) = stage.compile(db) else { return found };
    let (mut before, mut id) = (stage, instruction);
    for &after in compile.stages(db).get(stage.index(db) + 1..).unwrap_or_default() {
        let links = stage_links(db, after);
        if links.problem().is_some() {
            continue;
        }
        if links.is_equal() {
            before = after;
            continue;
        }
        let stages = ParsedStage::new(db, before).zip(ParsedStage::new(db, after));
        let Some((earlier, now)) = stages else { return found };
        let (to, relation, end) = match links.fate(id) {
            Some(Fate::Kept(to)) => {
                (Some(to), links.origin(to).map_or(Relation::Same, |origin| origin.relation), None)
            }
            Some(Fate::Merged(to)) => {
                (Some(to), Relation::Same, Some(format!("merged with %{}", now.name(to))))
            }
            Some(Fate::Replaced(to)) => {
                (Some(to), Relation::Same, Some(format!("replaced by %{}", now.name(to))))
            }
            Some(Fate::Gone) | None => (None, Relation::Same, Some("removed".to_owned())),
        };
        let what = end.or_else(|| changes(db, &earlier, id, &now, to?, relation));
        if let Some((what, title)) = what.zip(headline(db, after)) {
            found.push(InstructionStage { place: now.place(db, to), title, what });
        }
        let Some(to) = to else { return found };
        (before, id) = (after, to);
    }
    found
}

/// What differs between an instruction and its counterpart in the next stage.
fn changes(
    db: &Database,
    before: &ParsedStage,
    source: u32,
    after: &ParsedStage,
    id: u32,
    relation: Relation,
) -> Option<String> {
    let name = shorten(before.name(source), MAX_LENGTH);
    let mut changes: Vec<String> = match relation {
        Relation::Moved => vec![format!("moved to %{}", computation(after, id))],
        Relation::Renamed => vec![format!("renamed from %{name}")],
        Relation::Cloned => vec![format!("copied from %{name}")],
        Relation::Split => vec![format!("part of what was %{name}")],
        Relation::Replaced => vec![format!("took the place of %{name}")],
        Relation::Same | Relation::New => Vec::new(),
    };
    let (one, other) = (Written::of(before, source)?, Written::of(after, id)?);
    if one.opcode != other.opcode {
        changes.push(format!("{} instead of {}", other.opcode, one.opcode));
    }
    if one.shape != other.shape {
        let [one, other] = [one.shape, other.shape].map(|shape| shorten(shape, MAX_LENGTH));
        changes.push(format!("{one} became {other}"));
    }
    changes.extend(operands(db, before, source, after, id));
    if one.attributes != other.attributes {
        changes.push("other attributes".to_owned());
    }
    (!changes.is_empty()).then(|| changes.join(", "))
}

fn computation(stage: &ParsedStage, id: u32) -> String {
    shorten(stage.program.program().computation_of(id).name, MAX_LENGTH)
}

/// The first operand that is not the one of before.
fn operands(
    db: &Database,
    before: &ParsedStage,
    source: u32,
    after: &ParsedStage,
    id: u32,
) -> Option<String> {
    let links = stage_links(db, after.stage);
    let (old, new) = (before.program.program().operands(source), after.program.program().operands(id));
    if old.len() != new.len() {
        return Some(format!("{} operands instead of {}", new.len(), old.len()));
    }
    let is_other = |(old, new): (&matching::Operand, &matching::Operand)| {
        links.origin(new.instruction).and_then(|origin| origin.source) != Some(old.instruction)
    };
    let at = old.iter().zip(new).position(is_other)?;
    let name = shorten(after.name(new[at].instruction), MAX_LENGTH);
    Some(format!("operand {at} is now %{name}"))
}

/// An instruction without names and metadata.
struct Written<'t> {
    opcode: &'t str,
    shape: &'t str,
    attributes: Vec<(&'t str, &'t str)>,
}

impl<'t> Written<'t> {
    fn of(stage: &'t ParsedStage, id: u32) -> Option<Written<'t>> {
        let text = stage.program.text();
        let of = |span: Span| span.of(text);
        let instruction = stage.parse.instructions.get(id as usize)?;
        let attributes = stage.parse.attributes_of(instruction).iter().filter(|attribute| {
            let is_name = matches!(
                attribute.value,
                ValueNode::Computation(_) | ValueNode::Computations { .. } | ValueNode::Inline(_)
            );
            let is_note = matches!(
                attribute.key,
                Some(
                    AttributeKey::Metadata
                        | AttributeKey::Origin
                        | AttributeKey::Statistics
                        | AttributeKey::ControlPredecessors
                )
            );
            !is_name && !is_note
        });
        let attributes =
            attributes.map(|attribute| (of(attribute.key_span), of(attribute.value_span))).collect();
        Some(Written { opcode: of(instruction.opcode_span), shape: of(instruction.shape_span), attributes })
    }
}
