//! Names across the pieces of functions that are cut; see [`mlir::FunctionPart`].

mod elsewhere;
mod exports;
mod findings;

use std::sync::Arc;

pub use elsewhere::Elsewhere;
pub use exports::ExportKind;
pub(crate) use exports::mlir_exports;
pub use findings::mlir_link_findings;
use ir::{ExportNames, NameTable};
use mlir::{Definition, FunctionPart, OpId, Parse, RegionId, ValueId, without_result};
use rustc_hash::FxHashMap;

use crate::mlir_queries::{MlirPiece, mlir_piece, mlir_read};
use crate::positions::position_of;
use crate::{File, Piece};

/// The names that a piece shows of its parts of functions that are cut. Apart from their types: equal after edits that change no
/// name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MlirShown {
    parts: Vec<ShownPart>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct ShownPart {
    is_continued: bool,
    is_open: bool,
    /// Values of the body, then arguments, then labels of blocks; all with their signs.
    names: ExportNames,
    values: u32,
    arguments: u32,
    /// Per value of the body the block that it is defined in, where an op defines it, as its number in the part.
    blocks: Box<[u32]>,
    /// Blocks that start here.
    starts: u32,
    /// Names that are operands if other pieces define them, and new ones if none does.
    maybe_operands: Box<[Box<str>]>,
}

/// No block: the value is not defined by an op.
const NO_BLOCK: u32 = u32::MAX;

#[salsa::tracked]
pub(crate) fn mlir_shown(db: &dyn salsa::Database, piece: Piece) -> Arc<MlirShown> {
    let read = mlir_read(db, piece);
    let (parse, text) = (&read.parse, &*read.text);
    let parts = read.parts.iter().map(|part| {
        let values = part.values.iter().chain(&part.arguments).map(|&v| parse.values[v as usize].name);
        let labels = part.blocks.iter().map(|&b| parse.blocks[b as usize].label).filter(|l| !l.is_empty());
        let number = |value: &ValueId| match parse.values[*value as usize].definition {
            Definition::Result(op) => block_number(parse, part, op).unwrap_or(NO_BLOCK),
            _ => NO_BLOCK,
        };
        ShownPart {
            is_continued: part.is_continued,
            is_open: part.is_open,
            names: ExportNames::of(values.chain(labels).map(|span| span.of(text))),
            values: part.values.len() as u32,
            arguments: part.arguments.len() as u32,
            blocks: part.values.iter().map(number).collect(),
            starts: (part.blocks.len() - usize::from(part.is_continued)) as u32,
            maybe_operands: part.maybe_operands.iter().map(|span| span.of(text).into()).collect(),
        }
    });
    Arc::new(MlirShown { parts: parts.collect() })
}

/// The number of the block of an op of the body: 0 goes on from above, or is the first of the function.
fn block_number(parse: &Parse, part: &FunctionPart, op: OpId) -> Option<u32> {
    let block = parse.op(op).block?;
    Some(part.blocks.binary_search(&block).ok()? as u32)
}

/// The definition of a name in a function that is cut: the piece, which of its parts, and which of that part's names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct GiantName {
    pub piece: u32,
    pub(crate) part: u32,
    pub(crate) nth: u32,
}

/// All names of functions that are cut.
///
/// Owner: the memo of [`mlir_giant_index`]. Invalidated when such a name changes, not by types. Size: 16 bytes per name; the
/// names stay with their pieces.
#[derive(Debug, Default)]
pub struct MlirGiantIndex {
    /// Per piece.
    shown: Vec<Arc<MlirShown>>,
    functions: Vec<Function>,
    /// Per piece and part the function.
    function_of: FxHashMap<(u32, u32), u32>,
    /// Names but for those of arguments, by the piece that shows them, which the body of their function has in a piece above.
    repeated: FxHashMap<u32, Vec<GiantName>>,
}

#[derive(Debug, Default)]
struct Function {
    /// Piece and part, the number of the first name, and how many blocks start above.
    parts: Vec<(u32, u32, u32, u32)>,
    names: u32,
    table: NameTable,
    /// Arguments: of two of one name the last is meant, and before them what the body defines.
    arguments: NameTable,
}

#[salsa::tracked(no_eq)]
pub fn mlir_giant_index(db: &dyn salsa::Database, file: File) -> Arc<MlirGiantIndex> {
    let shown = file.pieces(db).iter().map(|&piece| mlir_shown(db, piece).clone()).collect();
    Arc::new(MlirGiantIndex::build(shown))
}

impl MlirGiantIndex {
    fn build(shown: Vec<Arc<MlirShown>>) -> MlirGiantIndex {
        let mut index = MlirGiantIndex { shown, ..MlirGiantIndex::default() };
        let mut open: Option<u32> = None;
        for (at, shown) in index.shown.iter().enumerate() {
            for (nth, part) in shown.parts.iter().enumerate() {
                let function = match open.filter(|_| part.is_continued) {
                    Some(function) => function,
                    None => {
                        index.functions.push(Function::default());
                        index.functions.len() as u32 - 1
                    }
                };
                let (at, nth) = (at as u32, nth as u32);
                index.function_of.insert((at, nth), function);
                let function_of = &mut index.functions[function as usize];
                let before = function_of.parts.last().map_or(0, |&(piece, part, _, blocks)| {
                    blocks + index.shown[piece as usize].parts[part as usize].starts
                });
                // The first block goes on from above.
                function_of.parts.push((at, nth, function_of.names, before));
                function_of.names += part.names.len() as u32;
                open = part.is_open.then_some(function);
            }
        }
        let mut repeated: FxHashMap<u32, Vec<GiantName>> = FxHashMap::default();
        let mut functions = std::mem::take(&mut index.functions);
        for function in functions.iter_mut().filter(|f| f.parts.len() > 1) {
            let parts = std::mem::take(&mut function.parts);
            let mut table = NameTable::with_capacity(function.names as usize);
            let mut arguments = NameTable::default();
            let name_of = |n: u32| index.name_in(&parts, n);
            for &(piece, part, first, _) in &parts {
                let shown = &index.shown[piece as usize].parts[part as usize];
                for nth in 0..shown.names.len() as u32 {
                    let is_argument = (shown.values..shown.values + shown.arguments).contains(&nth);
                    if !is_argument {
                        // The first one is meant.
                        let before = table.insert(shown.names.get(nth as usize), first + nth, name_of).err();
                        if before.is_some_and(|before| Self::place(&parts, before).piece != piece) {
                            repeated.entry(piece).or_default().push(GiantName { piece, part, nth });
                        }
                    }
                }
                for nth in (shown.values..shown.values + shown.arguments).rev() {
                    _ = arguments.insert(shown.names.get(nth as usize), first + nth, name_of);
                }
            }
            (function.parts, function.table, function.arguments) = (parts, table, arguments);
        }
        index.functions = functions;
        index.repeated = repeated;
        index
    }

    fn place(parts: &[(u32, u32, u32, u32)], n: u32) -> GiantName {
        let (piece, part, first, _) = parts[parts.partition_point(|&(_, _, first, _)| first <= n).max(1) - 1];
        GiantName { piece, part, nth: n - first }
    }

    fn name_in(&self, parts: &[(u32, u32, u32, u32)], n: u32) -> &str {
        self.name(Self::place(parts, n))
    }

    /// With its sign.
    pub fn name(&self, at: GiantName) -> &str {
        self.shown[at.piece as usize].parts[at.part as usize].names.get(at.nth as usize)
    }

    /// What has a name in the function that a part of a piece belongs to.
    pub(crate) fn find(&self, piece: usize, part: usize, name: &str) -> Option<GiantName> {
        let function = self.function(piece, part)?;
        let name_of = |n: u32| self.name_in(&function.parts, n);
        let found = function.table.get(name, name_of).or_else(|| function.arguments.get(name, name_of))?;
        Some(Self::place(&function.parts, found))
    }

    fn function(&self, piece: usize, part: usize) -> Option<&Function> {
        let function = self.function_of.get(&(piece as u32, part as u32))?;
        self.functions.get(*function as usize)
    }

    /// The pieces of the function that a part of a piece belongs to, each with its part.
    pub fn pieces_of(&self, piece: usize, part: usize) -> Vec<(usize, usize)> {
        let parts = self.function(piece, part).map_or(&[][..], |f| &f.parts);
        parts.iter().map(|&(piece, part, ..)| (piece as usize, part as usize)).collect()
    }

    /// The pieces in which a name may be used, each with its part.
    pub fn pieces_with(&self, name: GiantName) -> Vec<(usize, usize)> {
        self.pieces_of(name.piece as usize, name.part as usize)
    }

    /// The number of a block in its function.
    fn block(&self, piece: usize, part: usize, number: u32) -> Option<u32> {
        let parts = &self.function(piece, part)?.parts;
        let at = parts.binary_search_by_key(&(piece as u32, part as u32), |&(p, q, ..)| (p, q)).ok()?;
        let (.., before) = parts[at];
        let is_continued = self.shown[piece].parts[part].is_continued;
        Some(before + number + u32::from(!is_continued))
    }

    /// Names that are of other pieces, whatever this piece has of them, each with the part of the piece. Sorted.
    pub(crate) fn foreign(&self, piece: usize) -> Vec<(usize, Box<str>)> {
        let Some(shown) = self.shown.get(piece) else { return Vec::new() };
        let mut foreign: Vec<(usize, Box<str>)> = Vec::new();
        for (nth, part) in shown.parts.iter().enumerate() {
            if self.function(piece, nth).is_none_or(|f| f.parts.len() < 2) {
                continue;
            }
            let is_elsewhere =
                |name: &&str| self.find(piece, nth, name).is_some_and(|found| found.piece as usize != piece);
            let arguments = (part.values..part.values + part.arguments).map(|n| part.names.get(n as usize));
            let maybe = part.maybe_operands.iter().map(|name| &**name);
            let names = arguments.chain(maybe).filter(is_elsewhere);
            foreign.extend(names.map(|name| (nth, Box::from(name))));
        }
        let repeated = self.repeated.get(&(piece as u32)).into_iter().flatten();
        foreign.extend(repeated.map(|&name| (name.part as usize, Box::from(self.name(name)))));
        foreign.sort_unstable();
        foreign.dedup();
        foreign
    }
}

/// Names of the piece that stand for what other pieces define, each with the part of the piece: mostly none. Sorted, and equal
/// after edits that change no such name.
#[salsa::tracked]
pub(crate) fn mlir_foreign(db: &dyn salsa::Database, piece: Piece) -> Arc<Vec<(usize, Box<str>)>> {
    let shown = mlir_shown(db, piece);
    if shown.parts.is_empty() {
        return Arc::default();
    }
    let Some((file, at)) = position_of(db, piece) else { return Arc::default() };
    Arc::new(mlir_giant_index(db, file).foreign(at))
}

/// The definitions of the names that a piece uses and does not define.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MlirLinks {
    /// Parallel to the external ones of [`Parse::uses`].
    uses: Vec<(u32, Option<GiantName>)>,
    /// Of [`Parse::successors`].
    successors: Vec<(u32, Option<GiantName>)>,
}

impl MlirLinks {
    /// The definition of a use, by its place in [`Parse::uses`].
    pub fn of_use(&self, at: usize) -> Option<GiantName> {
        let found = self.uses.binary_search_by_key(&(at as u32), |&(use_, _)| use_).ok()?;
        self.uses[found].1
    }

    pub fn of_successor(&self, at: usize) -> Option<GiantName> {
        let found = self.successors.binary_search_by_key(&(at as u32), |&(nth, _)| nth).ok()?;
        self.successors[found].1
    }

    /// The uses, by their place in [`Parse::uses`], that stand for a name of another piece, and which.
    pub(crate) fn uses(&self) -> impl Iterator<Item = (u32, GiantName)> + '_ {
        self.uses.iter().filter_map(|&(at, found)| Some((at, found?)))
    }

    /// Uses that stand for a name of another piece.
    pub fn uses_of(&self, name: GiantName) -> impl Iterator<Item = usize> + '_ {
        self.uses.iter().filter(move |(_, found)| *found == Some(name)).map(|&(at, _)| at as usize)
    }

    pub fn successors_of(&self, name: GiantName) -> impl Iterator<Item = usize> + '_ {
        self.successors.iter().filter(move |(_, found)| *found == Some(name)).map(|&(at, _)| at as usize)
    }
}

/// An edit that changes names computes it again, and changes it for the pieces that use those names.
#[salsa::tracked]
pub fn mlir_links(db: &dyn salsa::Database, piece: Piece) -> Arc<MlirLinks> {
    let read = mlir_piece(db, piece);
    if read.parts.is_empty() {
        return Arc::default();
    }
    let Some((file, at)) = position_of(db, piece) else { return Arc::default() };
    let index = mlir_giant_index(db, file);
    let find = |op: OpId, name: &str| index.find(at, read.part_around(op)?, without_result(name));
    let parse = &read.parse;
    let uses = parse.uses.iter().enumerate().filter(|(_, used)| used.is_external);
    let uses = uses.map(|(n, used)| (n as u32, find(used.op, used.span.of(&read.text))));
    let successors = parse.successors.iter().enumerate().filter(|(_, s)| s.is_external);
    let successors = successors.map(|(n, s)| (n as u32, find(s.op, s.span.of(&read.text))));
    Arc::new(MlirLinks { uses: uses.collect(), successors: successors.collect() })
}

/// `1` of `%a#1`, 0 of `%a`.
fn result_of(name: &str) -> usize {
    name[without_result(name).len()..].get(1..).and_then(|number| number.parse().ok()).unwrap_or(0)
}

impl MlirPiece {
    /// Which part of a function that is cut holds an op, or is it.
    pub fn part_around(&self, op: OpId) -> Option<usize> {
        let (body, _) = self.parse.in_cut_body(op)?;
        self.part_of(body)
    }

    fn part_of(&self, body: RegionId) -> Option<usize> {
        self.parts.iter().position(|part| part.body == body)
    }
}

/// The value or the block that has a name, in its piece.
pub fn mlir_definition(db: &dyn salsa::Database, file: File, name: GiantName) -> Option<GiantDefinition> {
    let read = mlir_piece(db, *file.pieces(db).get(name.piece as usize)?);
    let part = read.parts.get(name.part as usize)?;
    let nth = name.nth as usize;
    let mut values = part.values.iter().chain(&part.arguments);
    if let Some(&value) = values.nth(nth) {
        return Some(GiantDefinition::Value(value));
    }
    let labels = nth - part.values.len() - part.arguments.len();
    let has_label = |&&b: &&u32| !read.parse.blocks[b as usize].label.is_empty();
    Some(GiantDefinition::Block(*part.blocks.iter().filter(has_label).nth(labels)?))
}

/// The name by which other pieces know a value or a block, if they do.
pub fn mlir_giant_name(
    db: &dyn salsa::Database,
    file: File,
    piece: usize,
    definition: GiantDefinition,
) -> Option<GiantName> {
    let read = mlir_piece(db, *file.pieces(db).get(piece)?);
    read.parts.iter().enumerate().find_map(|(part, shown)| {
        let nth = match definition {
            GiantDefinition::Value(value) => {
                shown.values.iter().chain(&shown.arguments).position(|&v| v == value)?
            }
            GiantDefinition::Block(block) => {
                let has_label = |b: &&u32| !read.parse.blocks[**b as usize].label.is_empty();
                let labels = shown.blocks.iter().filter(has_label).position(|&b| b == block)?;
                shown.values.len() + shown.arguments.len() + labels
            }
        };
        Some(GiantName { piece: piece as u32, part: part as u32, nth: nth as u32 })
    })
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GiantDefinition {
    Value(ValueId),
    Block(mlir::BlockId),
}
