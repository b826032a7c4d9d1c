//! A piece with the definitions of what it uses of other pieces: for what looks at an op and at what defines its operands.

mod definitions;

use std::sync::Arc;

use definitions::{MlirDefinition, mlir_definition_of};
pub(crate) use definitions::{has_operands, is_followed, mlir_definitions_behind};
use mlir::{Definition, Form, Op, OpId, Parse, PieceState, TypeRef, Value, ValueId};
use rustc_hash::{FxHashMap, FxHashSet};
use text::Span;

use crate::Piece;
use crate::mlir_giants::{Elsewhere, ExportKind, GiantName, mlir_links};
use crate::mlir_queries::{MlirPiece, mlir_piece};

/// A piece whose ops are those of [`crate::MlirPiece`], and after them the definitions that are imported: as they are written
/// where indices and extents follow from them, of others no more than their types.
#[derive(Debug)]
pub struct MlirImported {
    pub text: Arc<str>,
    pub parse: Arc<Parse>,
    /// Where imported definitions start in the text, in order, and what each is.
    places: Vec<(u32, GiantName)>,
    /// Imported definitions of which no more than the types is there, by their op.
    stubs: FxHashMap<OpId, GiantName>,
}

/// Definitions that a piece imports at most.
const MAX_IMPORTS: usize = 10_000;
/// Definitions that follow from each other, at most: an index is not looked into any deeper.
const MAX_DEPTH: usize = 64;

/// The piece itself where it uses nothing of others.
#[salsa::tracked(no_eq, lru = 32)]
pub fn mlir_imported(db: &dyn salsa::Database, piece: Piece) -> Arc<MlirImported> {
    Arc::new(MlirImported::of(db, piece, &FxHashSet::default()))
}

impl MlirImported {
    /// With the whole definitions of `wanted`.
    pub(crate) fn of(db: &dyn salsa::Database, piece: Piece, wanted: &FxHashSet<GiantName>) -> MlirImported {
        let read = mlir_piece(db, piece);
        let own = || MlirImported {
            text: read.text.clone(),
            parse: read.parse.clone(),
            places: Vec::new(),
            stubs: FxHashMap::default(),
        };
        let Some(elsewhere) = Elsewhere::of_what_is_used(db, piece) else { return own() };
        let open: Vec<(u32, GiantName)> = mlir_links(db, piece).uses().collect();
        if open.is_empty() && elsewhere.type_aliases("").is_empty() {
            return own();
        }
        let mut imports = Imports::new(&elsewhere, read, open);
        imports.follow(db, wanted);
        let definitions = imports.text.get(read.text.len()..).unwrap_or_default();
        let aliases: String =
            elsewhere.type_aliases(definitions).into_iter().map(|alias| alias + "\n").collect();
        if imports.text.is_empty() && aliases.is_empty() {
            return own();
        }
        imports.aliases(&aliases);
        imports.finish()
    }

    /// The import at an offset of the text.
    pub(crate) fn import_at(&self, at: u32) -> Option<GiantName> {
        let behind = self.places.partition_point(|&(start, _)| start <= at);
        Some(self.places[behind.checked_sub(1)?].1)
    }

    /// The original of an op of which only the types were imported.
    pub(crate) fn stub(&self, op: OpId) -> Option<GiantName> {
        self.stubs.get(&op).copied()
    }
}

/// What is imported, while it is gathered.
struct Imports<'a> {
    elsewhere: &'a Elsewhere<'a>,
    read: &'a MlirPiece,
    /// The text of the piece, then of the definitions; empty while there are none.
    text: String,
    parse: Parse,
    known: FxHashMap<GiantName, ValueId>,
    /// Uses, by their place in [`Parse::uses`], of names that are not there yet.
    open: Vec<(u32, GiantName)>,
    places: Vec<(u32, GiantName)>,
    stubs: FxHashMap<OpId, GiantName>,
}

impl<'a> Imports<'a> {
    fn new(elsewhere: &'a Elsewhere<'a>, read: &'a MlirPiece, open: Vec<(u32, GiantName)>) -> Imports<'a> {
        Imports {
            elsewhere,
            read,
            text: String::new(),
            parse: Parse::clone(&read.parse),
            known: FxHashMap::default(),
            open,
            places: Vec::new(),
            stubs: FxHashMap::default(),
        }
    }

    /// The offset of the next definition.
    fn start(&mut self) -> u32 {
        if self.text.is_empty() {
            self.text = format!("{}\n", self.read.text);
            // Names of aliases mean there what they mean in the pieces that the definitions are of.
            self.parse.splits.push(self.text.len() as u32);
        }
        self.text.len() as u32
    }

    /// Imports the definitions of the open uses, and what those definitions use, up to the limit.
    fn follow(&mut self, db: &dyn salsa::Database, wanted: &FxHashSet<GiantName>) {
        for depth in 0..=MAX_DEPTH {
            let open = std::mem::take(&mut self.open);
            if open.is_empty() {
                break;
            }
            for (at, name) in open {
                let value = match self.own(name).or_else(|| self.known.get(&name).copied()) {
                    Some(known) => Some(known),
                    None if self.known.len() >= MAX_IMPORTS => None,
                    None => {
                        let is_whole =
                            depth < MAX_DEPTH && (wanted.contains(&name) || self.elsewhere.is_followed(name));
                        let text = if self.text.is_empty() { &*self.read.text } else { &self.text };
                        let written = self.parse.uses[at as usize].span.of(text);
                        let whole = || mlir_definition_of(db, self.elsewhere.file(), name, written);
                        match is_whole.then(whole).flatten() {
                            Some(definition) => Some(self.whole(name, definition)),
                            None => self.stub(name, at),
                        }
                    }
                };
                let Some(value) = value else { continue };
                self.known.insert(name, value);
                self.parse.uses[at as usize].value = Some(value);
            }
        }
    }

    /// A value of the piece itself, which a definition of another piece uses.
    fn own(&self, name: GiantName) -> Option<ValueId> {
        self.elsewhere.own_value(name)
    }

    fn whole(&mut self, name: GiantName, definition: &MlirDefinition) -> ValueId {
        let start = self.start();
        self.places.push((start, name));
        self.text.push_str(&definition.text);
        self.text.push('\n');
        let first_use = self.parse.uses.len() as u32;
        let place = |span: Span| Span { start: span.start + start, end: span.end + start };
        let values = self.parse.copy(&definition.parse, 0, true, &place);
        self.open.extend(definition.operands.iter().map(|&(at, name)| (first_use + at, name)));
        values[&definition.value]
    }

    /// A definition that says no more than the types. `at` is a use of it.
    fn stub(&mut self, name: GiantName, at: u32) -> Option<ValueId> {
        let (types, count) = self.elsewhere.types(name)?;
        let start = self.start();
        let written = self.parse.uses[at as usize].span.of(&self.text);
        let written = written.split('#').next().unwrap_or_default().to_owned();
        self.places.push((start, name));
        self.text.push_str(&written);
        let name_span = Span { start, end: self.text.len() as u32 };
        let first_type = self.parse.types.len() as u32;
        for ty in &types {
            self.text.push_str(" : ");
            let start = self.text.len() as u32;
            self.text.push_str(ty);
            self.parse.types.push(TypeRef::Written(Span { start, end: self.text.len() as u32 }));
        }
        let types = first_type..self.parse.types.len() as u32;
        let (op, value) = (self.parse.ops.len() as OpId, self.parse.values.len() as ValueId);
        let is_result = self.elsewhere.kind(name) != Some(ExportKind::Argument);
        self.parse.values.push(Value {
            name: name_span,
            definition: if is_result { Definition::Result(op) } else { Definition::Binder(op) },
            count,
            types: types.clone(),
        });
        let results = if is_result { value..value + 1 } else { value..value };
        let span = Span { start, end: self.text.len() as u32 };
        self.parse.ops.push(unnamed(op, span, results, types));
        self.text.push('\n');
        self.stubs.insert(op, name);
        Some(value)
    }

    /// Definitions of aliases, which come after the rest.
    fn aliases(&mut self, aliases: &str) {
        if aliases.is_empty() {
            return;
        }
        let start = self.start();
        let read = mlir::parse(aliases, PieceState::default());
        self.text.push_str(aliases);
        let place = |span: Span| Span { start: span.start + start, end: span.end + start };
        for id in read.top_ops() {
            let new = self.parse.ops.len() as OpId;
            self.parse.copy(&read, id, true, &place);
            let defined = read.aliases.iter().filter(|a| a.is_definition && a.op == id);
            self.parse.aliases.extend(defined.map(|a| mlir::AliasMention {
                span: place(a.span),
                op: new,
                ..*a
            }));
        }
    }

    fn finish(mut self) -> MlirImported {
        // What a name is bound to is used where it is bound.
        let by_place: FxHashMap<Span, ValueId> = self
            .parse
            .uses
            .iter()
            .filter(|used| used.is_external)
            .filter_map(|used| Some((used.span, used.value?)))
            .collect();
        for ty in &mut self.parse.types {
            if let TypeRef::Elsewhere(span) = *ty
                && let Some(&value) = by_place.get(&span)
            {
                let index = span.of(&self.text).split_once('#').and_then(|(_, index)| index.parse().ok());
                *ty = TypeRef::SameAs(value, index.unwrap_or(0));
            }
        }
        MlirImported {
            text: self.text.into(),
            parse: Arc::new(self.parse),
            places: self.places,
            stubs: self.stubs,
        }
    }
}

/// An unregistered op of this number.
fn unnamed(id: OpId, span: Span, results: std::ops::Range<ValueId>, types: std::ops::Range<u32>) -> Op {
    Op {
        span,
        name: Span::default(),
        form: Form::Generic,
        block: None,
        behind: id + 1,
        results,
        uses: 0..0,
        first_region: None,
        attributes: 0..0,
        operand_types: 0..0,
        result_types: types,
        head: span,
        location: Span::default(),
        is_isolated: false,
    }
}
