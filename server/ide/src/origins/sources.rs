//! The source lines of one instruction, for scripts: its own, those of what it comes from, and of the ops of StableHLO.

use db::Database;
use db::compiles::{first_stage, sources, stablehlo_links, stablehlo_sources};
use syntax::hlo::{AttributeKey, Parse, PieceState, parse, source_metadata};

use crate::SourceFrame;
use crate::origins::located::Located;
use crate::source_location::SourceLocation;

/// Further instructions that one comes from are not described.
const MAX_ORIGINS: usize = 1000;

/// The source lines that led to an instruction.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct InstructionSources {
    pub own: OriginSource,
    /// Of the instructions of the first stage that it comes from.
    pub origins: Vec<OriginSource>,
    /// How many more these are.
    pub omitted: usize,
}

/// What metadata says of an instruction.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OriginSource {
    pub name: String,
    pub op_name: Option<String>,
    /// The calls that led to it, innermost first.
    pub frames: Vec<SourceFrame>,
    /// Why there are not more frames.
    pub problem: Option<String>,
    /// The ops of StableHLO that it was: several if their locations do not tell them apart. Of instructions of the first stage.
    pub stablehlo: Vec<StableHloSource>,
}

/// An op in the module of StableHLO.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StableHloSource {
    /// Relative to the folder.
    pub path: String,
    /// From 1.
    pub line: u32,
    /// `stablehlo.add`
    pub op: String,
    /// The calls that led to it, innermost first.
    pub frames: Vec<SourceFrame>,
}

/// `None` if a stage changed.
pub(super) fn instruction_sources(db: &Database, at: &Located) -> Option<InstructionSources> {
    let own = described(at, &parse(at.program.text(), PieceState::HEADER));
    let first = first_stage(db, at.stage)?;
    let located = Located::new(db, first, 0)?;
    let read = parse(located.program.text(), PieceState::HEADER);
    let links = stablehlo_links(db, first);
    let found = sources(db, at.stage, at.program.program(), at.instruction);
    let omitted = found.len().saturating_sub(MAX_ORIGINS);
    let found: Vec<_> = found.into_iter().take(MAX_ORIGINS).collect();
    let ops_of = |id| links.iter().flat_map(move |links| links.ops_of(id)).cloned();
    let all: Vec<_> = found.iter().flat_map(|&id| ops_of(id)).collect();
    // The module is parsed for this: once for all of them.
    let places = links.as_ref().filter(|_| !all.is_empty());
    let places = places.map(|links| (links, stablehlo_sources(db, links.file, &all)));
    let mut stablehlo = places.into_iter().flat_map(|(links, places)| {
        let path = links.file.path(db).to_string();
        places.into_iter().map(move |place| (path.clone(), SourceLocation::from(place).frames))
    });
    let origins = found.iter().map(|&id| {
        crate::analysis::check_cancelled(db);
        let mut origin = described(&located.at(id), &read);
        origin.stablehlo = (ops_of(id).zip(&mut stablehlo))
            .map(|(op, (path, frames))| StableHloSource { path, line: op.line + 1, op: op.name, frames })
            .collect();
        origin
    });
    Some(InstructionSources { own, origins: origins.collect(), omitted })
}

fn described(at: &Located, read: &Parse) -> OriginSource {
    let (program, text) = (at.program.program(), at.program.text());
    let attributes = read.instructions.get(at.instruction as usize).map(|it| read.attributes_of(it));
    let is_metadata = |key: Option<AttributeKey>| key == Some(AttributeKey::Metadata);
    let metadata = attributes.unwrap_or_default().iter().find(|attribute| is_metadata(attribute.key));
    let header = read.header.as_ref().map(|header| (header, text));
    let source = metadata.map(|it| source_metadata(it.value_span.of(text), header)).unwrap_or_default();
    let SourceLocation { op_name, frames, problem } = source.into();
    let name = program.unique_name(at.instruction);
    OriginSource { name, op_name, frames, problem, stablehlo: Vec::new() }
}
