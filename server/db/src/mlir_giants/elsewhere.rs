//! What a piece asks of the others of its file.

use std::borrow::Cow;

use mlir::{OpId, Outside, TypeRef, Use, ValueId, without_result};
use rustc_hash::FxHashSet;

use super::exports::{Export, ExportKind, MlirExports, mlir_exports};
use super::{GiantName, NO_BLOCK, block_number, mlir_giant_index, mlir_links, result_of};
use crate::mlir_queries::{MlirPiece, mlir_module, mlir_piece, mlir_read};
use crate::positions::position_of;
use crate::{File, Piece};

/// What a piece asks of the names that other pieces of its file define. Reads their exports and no more.
pub struct Elsewhere<'a> {
    db: &'a dyn salsa::Database,
    pub(super) file: File,
    piece: Piece,
    pub(super) at: usize,
    read: &'a MlirPiece,
}

impl<'a> Elsewhere<'a> {
    /// `None` where the piece belongs to no file.
    pub fn of(db: &'a dyn salsa::Database, piece: Piece) -> Option<Elsewhere<'a>> {
        let (file, at) = position_of(db, piece)?;
        Some(Elsewhere { db, file, piece, at, read: mlir_piece(db, piece) })
    }

    /// `None` also where the piece uses no name of other pieces, so that its findings do not depend on their number.
    pub(crate) fn of_what_is_used(db: &'a dyn salsa::Database, piece: Piece) -> Option<Elsewhere<'a>> {
        let MlirPiece { parse, text, .. } = &**mlir_piece(db, piece);
        let uses_values = parse.uses.iter().any(|used| used.is_external);
        let is_type = |alias: &mlir::AliasMention| alias.span.of(text).starts_with('!');
        let uses_types = parse.aliases.iter().any(|alias| !alias.is_definition && is_type(alias));
        if uses_values || uses_types { Elsewhere::of(db, piece) } else { None }
    }

    /// What a name (with the `#1` of a result of a pack) stands for that an op of the piece uses. Asks the links of the piece, which
    /// mostly are what they were where the index is not.
    pub(super) fn find(&self, name: &str, op: OpId) -> Option<GiantName> {
        let uses = self.read.parse.uses_of(op);
        let is_it = |used: &Use| {
            used.is_external && without_result(used.span.of(&self.read.text)) == without_result(name)
        };
        let nth = self.read.parse.op(op).uses.start as usize + uses.iter().position(is_it)?;
        mlir_links(self.db, self.piece).of_use(nth)
    }

    fn export(&self, name: GiantName) -> Option<(&'a MlirExports, &'a Export)> {
        let exports = mlir_exports(self.db, *self.file.pieces(self.db).get(name.piece as usize)?);
        Some((exports, exports.parts.get(name.part as usize)?.get(name.nth as usize)?))
    }

    /// The type of a value of another piece, by its name.
    pub fn type_of(&self, name: &str, op: OpId) -> Option<&'a str> {
        let (exports, export) = self.export(self.find(name, op)?)?;
        exports.types_of(export).nth(result_of(name))?
    }

    /// The type of what is used, wherever it is defined.
    pub fn type_of_use(&self, used: &Use) -> Option<Cow<'a, str>> {
        let (parse, text) = (&self.read.parse, &*self.read.text);
        let name = used.span.of(text);
        match used.value {
            Some(value) => self.type_of_value(value, result_of(name)),
            None if used.is_external => self.type_of(name, used.op).map(Cow::Borrowed),
            None => None,
        }
        .or_else(|| parse.type_of(used.value?, result_of(name), text))
    }

    /// The type of a result of a value of the piece, which may have it of a value of another one.
    pub fn type_of_value(&self, value: ValueId, index: usize) -> Option<Cow<'a, str>> {
        let (parse, text) = (&self.read.parse, &*self.read.text);
        let defined = parse.values.get(value as usize)?;
        let ty = *parse.types(&defined.types).get(index)?;
        match parse.followed(ty)? {
            // The span is a name in the op that binds another one to it.
            TypeRef::Elsewhere(span) => {
                let op = parse.op_at(span.start as usize)?;
                self.type_of(span.of(text), op).map(Cow::Borrowed)
            }
            _ => parse.type_text(ty, text),
        }
    }

    pub(crate) fn file(&self) -> File {
        self.file
    }

    /// The value of the piece itself that has a name.
    pub(crate) fn own_value(&self, name: GiantName) -> Option<ValueId> {
        let is_own = name.piece as usize == self.at;
        let part = self.read.parts.get(name.part as usize).filter(|_| is_own)?;
        part.values.iter().chain(&part.arguments).nth(name.nth as usize).copied()
    }

    /// Whether other pieces read what defines a name.
    pub(crate) fn is_followed(&self, name: GiantName) -> bool {
        self.export(name).is_some_and(|(_, export)| export.is_followed)
    }

    /// The types of a name of another piece, where all are known, and how many results it has.
    pub(crate) fn types(&self, name: GiantName) -> Option<(Vec<&'a str>, u32)> {
        let (exports, export) = self.export(name)?;
        Some((exports.types_of(export).collect::<Option<_>>()?, export.count))
    }

    /// Definitions in other pieces of the aliases of types that the piece uses, or that stand in `more`.
    pub(crate) fn type_aliases(&self, more: &str) -> Vec<String> {
        let (parse, text) = (&self.read.parse, &*self.read.text);
        let is_type = |name: &&str| name.starts_with('!');
        let own: FxHashSet<&str> =
            parse.aliases.iter().filter(|a| a.is_definition).map(|a| a.span.of(text)).collect();
        let used = parse.aliases.iter().filter(|a| !a.is_definition).map(|a| a.span.of(text));
        let is_letter = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '$' | '.' | '-');
        let in_more = more.match_indices('!').map(|(at, _)| {
            let len = more[at + 1..].find(|c| !is_letter(c)).unwrap_or(more.len() - at - 1);
            &more[at..at + 1 + len]
        });
        let mut wanted: Vec<&str> = used
            .chain(in_more)
            .filter(is_type)
            .filter(|name| !name.contains('.') && !own.contains(name))
            .collect();
        wanted.sort_unstable();
        wanted.dedup();
        wanted.into_iter().filter_map(|name| self.alias(name)).collect()
    }

    /// The definition of an alias in another piece of the part of the file in which the piece starts.
    fn alias(&self, name: &str) -> Option<String> {
        let module = mlir_module(self.db, self.file);
        let part = module.part_at(self.at, &self.read.parse, 0);
        let &piece = module.alias(part, name).first()?;
        let there = mlir_read(self.db, *self.file.pieces(self.db).get(piece)?);
        let (parse, text) = (&there.parse, &*there.text);
        let is_it = |a: &&mlir::AliasMention| {
            a.is_definition && a.span.of(text) == name && module.part_at(piece, parse, a.span.start) == part
        };
        let alias = parse.aliases.iter().find(is_it)?;
        Some(parse.op(alias.op).span.of(text).to_owned())
    }

    /// What defines a value of another piece.
    pub fn kind(&self, name: GiantName) -> Option<ExportKind> {
        Some(self.export(name)?.1.kind)
    }

    pub(super) fn outside(&self, name: &str, op: OpId) -> Option<Outside<'a>> {
        let found = self.find(name, op)?;
        let (exports, export) = self.export(found)?;
        let ty = exports.types_of(export).nth(result_of(name)).flatten().map(Cow::Borrowed);
        Some(Outside { count: export.count, ty, is_below: self.is_below(found, op).unwrap_or(false) })
    }

    /// Whether the definition in another piece comes after `op`, in the same block or one around it.
    fn is_below(&self, name: GiantName, op: OpId) -> Option<bool> {
        if name.piece as usize <= self.at {
            return Some(false);
        }
        let index = mlir_giant_index(self.db, self.file);
        let (body, around) = self.read.parse.in_cut_body(op)?;
        let part = self.read.part_of(body)?;
        let number = block_number(&self.read.parse, &self.read.parts[part], around)?;
        let here = index.block(self.at, part, number)?;
        let shown = &index.shown[name.piece as usize].parts[name.part as usize];
        let there = *shown.blocks.get(name.nth as usize).filter(|&&block| block != NO_BLOCK)?;
        Some(index.block(name.piece as usize, name.part as usize, there)? == here)
    }
}
