//! The ops of StableHLO from which the instructions of a compile come, where the folder has that module.
//!
//! XLA keeps the location of an op as the metadata of what it makes from it: the framework's name as `op_name`, the source lines as
//! `stack_frame_id`. Several ops may have one location; opcode and shape tell most of them apart.

use std::hash::BuildHasher as _;
use std::sync::Arc;

use compile::ArtefactKind;
use ir::Opcode;
use mlir::{OpId, Parse, SourcePlace, source_place};
use rustc_hash::{FxBuildHasher, FxHashMap};
use syntax::hlo::{AttributeKey, PieceState, SourceFrame, SourceMetadata, parse, source_metadata};
use text::Span;

use crate::compiles::{DumpedCompile, DumpedFile, DumpedStage, dumped_text, stage_program};

/// Larger modules are not read, in bytes.
const MAX_BYTES: usize = 64 << 20;
/// More ops of one name in one source line are not compared with instructions. Loops that a program unrolls repeat ops.
const MAX_ALIKE: usize = 256;
/// More ops that nothing tells apart are no answer.
const MAX_OPS: usize = 16;

/// An op in the file of a module.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StableHloOp {
    /// `stablehlo.add`
    pub name: String,
    /// Its name in the text.
    pub span: Span,
    /// From 0.
    pub line: u32,
}

/// The ops that the instructions of a stage come from.
///
/// Size: about 80 bytes per op, and 40 per instruction with a location.
#[derive(Debug, PartialEq, Eq)]
pub struct StableHloLinks {
    pub file: DumpedFile,
    ops: Vec<StableHloOp>,
    /// Indices into `ops` by instruction, numbered as in the program of the stage.
    of: FxHashMap<u32, Box<[u32]>>,
}

impl StableHloLinks {
    /// The ops of an instruction, in the order of their text: one, or those that its location and shape do not tell apart.
    pub fn ops_of(&self, instruction: u32) -> impl Iterator<Item = &StableHloOp> {
        let ops = self.of.get(&instruction).map(|ops| &**ops).unwrap_or_default();
        ops.iter().filter_map(|&op| self.ops.get(op as usize))
    }
}

/// The links of the first stage of a compile to the module in StableHLO. `None` if the folder has no such module with locations.
#[salsa::tracked(returns(clone))]
pub fn stablehlo_links(db: &dyn salsa::Database, first: DumpedStage) -> Option<Arc<StableHloLinks>> {
    let files = stablehlo_files(db, first.compile(db)?);
    let program = files.first().and_then(|_| stage_program(db, first).ok())?;
    let text = program.text();
    db.unwind_if_revision_cancelled();
    let hlo = parse(text, PieceState::HEADER);
    files.into_iter().find_map(|file| {
        let module = Module::read(db, file)?;
        let by_name = module.ops_by_line();
        let mut links = StableHloLinks { file, ops: Vec::new(), of: FxHashMap::default() };
        let mut known: FxHashMap<OpId, u32> = FxHashMap::default();
        let header = hlo.header.as_ref().map(|header| (header, text));
        for (id, instruction) in hlo.instructions.iter().enumerate() {
            cancel::tick();
            let attributes = hlo.attributes_of(instruction);
            let metadata = attributes.iter().find(|a| a.key == Some(AttributeKey::Metadata));
            let Some(metadata) = metadata.map(|it| source_metadata(it.value_span.of(text), header)) else {
                continue;
            };
            let named = by_name.get(&key(metadata.op_name.as_deref(), metadata.frames.first().map(line_of)));
            let described = program.program().instructions.get(id);
            let (Some(named), Some(described)) = (named, described) else { continue };
            let wanted =
                Wanted { metadata: &metadata, opcode: described.opcode, shape: described.shape_text };
            let ops = module.narrowed(named, &wanted).into_iter().map(|op| {
                *known.entry(op).or_insert_with(|| {
                    links.ops.push(module.described(op));
                    links.ops.len() as u32 - 1
                })
            });
            let ops: Box<[u32]> = ops.collect();
            if !ops.is_empty() {
                links.of.insert(id as u32, ops);
            }
        }
        (!links.of.is_empty()).then(|| Arc::new(links))
    })
}

/// The source places of ops of a module, from their locations; empty ones if the text has changed.
pub fn stablehlo_sources(
    db: &dyn salsa::Database,
    file: DumpedFile,
    ops: &[StableHloOp],
) -> Vec<SourcePlace> {
    let Some(module) = Module::read(db, file) else { return vec![SourcePlace::default(); ops.len()] };
    let by_start =
        |op: &StableHloOp| module.parse.ops.binary_search_by_key(&op.span.start, |it| it.name.start);
    let source = |op| by_start(op).map(|id| module.source(id as OpId)).unwrap_or_default();
    ops.iter().map(source).collect()
}

fn stablehlo_files(db: &dyn salsa::Database, compile: DumpedCompile) -> Vec<DumpedFile> {
    compile.artefacts_of(db, ArtefactKind::StableHlo).collect()
}

/// What an op of an instruction has to be like.
struct Wanted<'a> {
    metadata: &'a SourceMetadata,
    opcode: Option<Opcode>,
    /// With its layout.
    shape: &'a str,
}

/// A module in MLIR.
struct Module {
    text: Arc<str>,
    parse: Parse,
    /// Values of aliases by name.
    aliases: FxHashMap<String, Span>,
    /// Bytes before each line.
    lines: Vec<u32>,
}

impl Module {
    fn read(db: &dyn salsa::Database, file: DumpedFile) -> Option<Module> {
        let text = dumped_text(db, file).ok().filter(|text| text.len() <= MAX_BYTES)?;
        let parse = mlir::parse(&text, mlir::PieceState::default());
        let definitions = parse.aliases.iter().filter(|alias| alias.is_definition);
        let value = |alias: &mlir::AliasMention| {
            let span = parse.op(alias.op).span;
            let (_, value) = span.of(&text).split_once('=')?;
            Some((
                alias.span.of(&text).to_owned(),
                Span::new(span.end as usize - value.len(), span.end as usize),
            ))
        };
        let aliases = definitions.filter_map(value).collect();
        let lines = memchr::memchr_iter(b'\n', text.as_bytes()).map(|at| at as u32).collect();
        Some(Module { text, parse, aliases, lines })
    }

    /// The ops with a location, by the framework's name and the innermost line in it.
    fn ops_by_line(&self) -> FxHashMap<u64, Vec<(OpId, SourcePlace)>> {
        let mut found: FxHashMap<u64, Vec<(OpId, SourcePlace)>> = FxHashMap::default();
        for (id, op) in self.parse.ops.iter().enumerate() {
            cancel::tick();
            if op.location.is_empty()
                || mlir_hlo::opcode_of(self.parse.name(id as OpId, &self.text)).is_none()
            {
                continue;
            }
            let place = self.source(id as OpId);
            if !place.name.is_empty() {
                let innermost = place.frames.first().map(|frame| (frame.file.as_str(), frame.line));
                found.entry(key(Some(&place.name), innermost)).or_default().push((id as OpId, place));
            }
        }
        found
    }

    fn source(&self, op: OpId) -> SourcePlace {
        let alias = |name: &str| Some(self.aliases.get(name)?.of(&self.text).trim().to_owned());
        source_place(self.parse.op(op).location.of(&self.text), &alias)
    }

    /// Those of `named` with the lines, the opcode and the shape of an instruction, as far as some have them.
    fn narrowed(&self, named: &[(OpId, SourcePlace)], wanted: &Wanted<'_>) -> Vec<OpId> {
        let is_named =
            |(_, place): &&(OpId, SourcePlace)| Some(&place.name) == wanted.metadata.op_name.as_ref();
        let mut found: Vec<&(OpId, SourcePlace)> =
            named.iter().take(MAX_ALIKE + 1).filter(is_named).collect();
        if found.len() > MAX_ALIKE {
            return Vec::new();
        }
        keep_if_any(&mut found, |(_, place)| {
            let frames = place.frames.iter().map(|frame| (frame.file.as_str(), frame.line));
            frames.eq(wanted.metadata.frames.iter().map(line_of))
        });
        keep_if_any(&mut found, |(op, _)| {
            mlir_hlo::opcode_of(self.parse.name(*op, &self.text)) == wanted.opcode
        });
        keep_if_any(&mut found, |(op, _)| self.has_shape(*op, wanted.shape));
        found.truncate(if found.len() > MAX_OPS { 0 } else { MAX_OPS });
        found.into_iter().map(|(op, _)| *op).collect()
    }

    fn has_shape(&self, op: OpId, shape: &str) -> bool {
        let types = &self.parse.op(op).result_types;
        let [ty] = self.parse.types(types) else { return false };
        let ty = self.parse.type_text(*ty, &self.text);
        let written = ty.and_then(|ty| mlir_hlo::static_hlo_shape(&ty).ok());
        let without_layout = |shape: &str| shape.split('{').next().unwrap_or_default().to_owned();
        written.is_some_and(|written| without_layout(&written.to_string()) == without_layout(shape))
    }

    fn described(&self, op: OpId) -> StableHloOp {
        let span = self.parse.op(op).name;
        StableHloOp {
            name: self.parse.name(op, &self.text).to_owned(),
            span,
            line: self.lines.partition_point(|&end| end < span.start) as u32,
        }
    }
}

/// A hash of a framework's name and the innermost source line.
fn key(name: Option<&str>, line: Option<(&str, u64)>) -> u64 {
    FxBuildHasher.hash_one((name, line))
}

/// 0 for a line that is not known, as in MLIR.
fn line_of(frame: &SourceFrame) -> (&str, u64) {
    (&frame.path, frame.line.map_or(0, u64::from))
}

/// Keeps what is as wanted, unless nothing is.
fn keep_if_any<T>(found: &mut Vec<&T>, is_wanted: impl Fn(&T) -> bool) {
    if found.iter().any(|it| is_wanted(it)) {
        found.retain(|it| is_wanted(it));
    }
}
