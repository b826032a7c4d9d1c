//! The same for MLIR text: a piece is parsed on its own, and what others may know of it are its symbols and aliases.

use std::sync::Arc;

use mlir::{Finding, Form, FunctionPart, Parse, PieceState};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::mlir_giants::mlir_foreign;
use crate::{File, Language, Piece};

/// A piece of MLIR text, read.
#[derive(Debug)]
pub struct MlirPiece {
    pub text: Arc<str>,
    pub parse: Arc<Parse>,
    /// Of functions that are cut.
    pub parts: Arc<Vec<FunctionPart>>,
    /// About names and types inside of functions. In those that are cut they count where no piece of it has errors.
    pub findings: Vec<Finding>,
}

/// A piece of MLIR text, with the names that the piece itself defines.
#[derive(Debug)]
pub(crate) struct MlirRead {
    pub(crate) text: Arc<str>,
    pub(crate) parse: Arc<Parse>,
    pub(crate) parts: Arc<Vec<FunctionPart>>,
}

/// What the other pieces may know of this one, part by part: a part ends at `// -----`. Holds no offsets.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MlirSignature {
    pub parts: Vec<MlirPart>,
    /// Symbols that are defined with a body, or declared: functions.
    pub functions: usize,
    /// The symbol of the first module.
    pub module: String,
    /// Regions of pieces above that end here, the innermost first: whether by a brace.
    closed_above: Vec<bool>,
    open_below: u8,
    /// Parts of functions that are cut.
    functions_cut: Vec<CutFunction>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct CutFunction {
    is_continued: bool,
    is_open: bool,
    has_errors: bool,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MlirPart {
    /// Without `@`.
    pub symbols: Vec<String>,
    /// With `#` or `!`.
    pub aliases: Vec<String>,
}

/// The names of a file, by the parts of its text that know nothing of each other.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MlirModule {
    parts: Vec<PartNames>,
    /// The part in which each piece starts.
    first_parts: Vec<usize>,
    /// Braces of modules and functions that are not closed in their part, and those that a function after them leaves open.
    pub unclosed: Vec<Unclosed>,
    pub name: String,
    pub functions: usize,
    /// Pieces and parts of functions that are cut and not read without errors.
    broken: FxHashSet<(usize, usize)>,
}

/// A region that is not closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Unclosed {
    pub piece: usize,
    /// Of [`Parse::open_below`].
    pub nth: usize,
    /// The next function starts before its end.
    pub is_left: bool,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct PartNames {
    symbols: FxHashMap<String, Vec<usize>>,
    aliases: FxHashMap<String, Vec<usize>>,
    pieces: std::ops::Range<usize>,
}

/// The piece, parsed. Depends on its text alone.
#[salsa::tracked(no_eq)]
pub(crate) fn mlir_read(db: &dyn salsa::Database, piece: Piece) -> Arc<MlirRead> {
    let text = piece.text(db).clone();
    let is_mlir = piece.file(db).is_none_or(|file| file.language(db) == Language::Mlir);
    let parse = || mlir::parse(if is_mlir { &text } else { "" }, PieceState::from_u8(piece.state(db)));
    let parse = piece.ahead(db).clone().unwrap_or_else(|| Arc::new(parse()));
    let parts = Arc::new(parse.function_parts());
    Arc::new(MlirRead { text, parse, parts })
}

/// The piece, parsed and checked. Depends on its text, and on whether names of a function that is cut are of other pieces.
#[salsa::tracked(no_eq)]
pub fn mlir_piece(db: &dyn salsa::Database, piece: Piece) -> Arc<MlirPiece> {
    let read = mlir_read(db, piece);
    let foreign = mlir_foreign(db, piece);
    let text = read.text.clone();
    let (mut parse, mut parts) = (read.parse.clone(), read.parts.clone());
    if !foreign.is_empty() {
        let names = foreign.iter().map(|(part, name)| (*part, &**name)).collect();
        parse = Arc::new(mlir::parse_among(&text, PieceState::from_u8(piece.state(db)), &names));
        parts = Arc::new(parse.function_parts());
    }
    let findings = mlir::check(&parse, &text);
    Arc::new(MlirPiece { text, parse, parts, findings })
}

/// Ops of a piece, without definitions of aliases.
#[salsa::tracked]
pub fn mlir_ops(db: &dyn salsa::Database, piece: Piece) -> usize {
    let is_op = |op: &&mlir::Op| matches!(op.form, Form::Custom | Form::Generic) && !op.name.is_empty();
    mlir_read(db, piece).parse.ops.iter().filter(is_op).count()
}

/// Equal after edits that define no symbol and no alias, and open and close no module.
#[salsa::tracked]
pub fn mlir_signature(db: &dyn salsa::Database, piece: Piece) -> Arc<MlirSignature> {
    let MlirRead { text, parse, parts } = &**mlir_read(db, piece);
    let mut signature = MlirSignature {
        parts: vec![MlirPart::default(); parse.splits.len() + 1],
        closed_above: parse.closed_above.iter().map(|closing| closing.is_closed).collect(),
        functions_cut: parts
            .iter()
            .map(|part| CutFunction {
                is_continued: part.is_continued,
                is_open: part.is_open,
                has_errors: mlir::has_errors(parse, text, part.op),
            })
            .collect(),
        open_below: parse.open_below.len().min(u8::MAX.into()) as u8,
        ..MlirSignature::default()
    };
    let part = |at: u32| parse.splits.partition_point(|&split| split <= at);
    for symbol in parse.symbols.iter().filter(|s| s.is_definition) {
        let name = symbol_name(symbol.span.of(text));
        let op = parse.name(symbol.op, text);
        if mlir::is_function_like(op) {
            signature.functions += 1;
        } else if signature.module.is_empty() && mlir::is_module_like(op) {
            signature.module = name.to_owned();
        }
        signature.parts[part(symbol.span.start)].symbols.push(name.to_owned());
    }
    for alias in parse.aliases.iter().filter(|a| a.is_definition) {
        signature.parts[part(alias.span.start)].aliases.push(alias.span.of(text).to_owned());
    }
    Arc::new(signature)
}

/// A symbol without `@` and quotes.
pub fn symbol_name(written: &str) -> &str {
    written.trim_start_matches('@').trim_matches('"')
}

#[salsa::tracked]
pub fn mlir_module(db: &dyn salsa::Database, file: File) -> Arc<MlirModule> {
    let mut module = MlirModule { parts: vec![PartNames::default()], ..MlirModule::default() };
    let mut open: Vec<Unclosed> = Vec::new();
    // Pieces and parts of the function that is open, and of all that have errors.
    let mut function: Vec<(usize, usize)> = Vec::new();
    let mut has_errors = false;
    for (at, &piece) in file.pieces(db).iter().enumerate() {
        let signature = mlir_signature(db, piece);
        module.first_parts.push(module.parts.len() - 1);
        module.functions += signature.functions;
        if module.name.is_empty() {
            module.name.clone_from(&signature.module);
        }
        for is_closed in &signature.closed_above {
            let region = open.pop();
            module.unclosed.extend(region.filter(|_| !is_closed).map(|r| Unclosed { is_left: true, ..r }));
        }
        for (nth, cut) in signature.functions_cut.iter().enumerate() {
            if !cut.is_continued {
                module.end_function(&mut function, has_errors);
                has_errors = false;
            }
            function.push((at, nth));
            // What is left open at the end of a part of the file, or where another function starts, is not read.
            let is_left = cut.is_continued && !cut.is_open && signature.closed_above.first() != Some(&true);
            has_errors |= cut.has_errors || is_left;
        }
        for (nth, part) in signature.parts.iter().enumerate() {
            if nth > 0 {
                module.unclosed.append(&mut open);
                module.parts.push(PartNames { pieces: at..at, ..PartNames::default() });
            }
            let names = module.parts.last_mut().expect("there is one from the start");
            names.pieces.end = at + 1;
            for symbol in &part.symbols {
                names.symbols.entry(symbol.clone()).or_default().push(at);
            }
            for alias in &part.aliases {
                names.aliases.entry(alias.clone()).or_default().push(at);
            }
        }
        let below = 0..signature.open_below.into();
        open.extend(below.map(|nth| Unclosed { piece: at, nth, is_left: false }));
    }
    // The last function is not closed.
    let last = file.pieces(db).last().map(|&piece| mlir_signature(db, piece));
    has_errors |= last.is_some_and(|last| last.functions_cut.last().is_some_and(|cut| cut.is_open));
    module.end_function(&mut function, has_errors);
    module.unclosed.append(&mut open);
    module.unclosed.sort_unstable();
    Arc::new(module)
}

impl MlirModule {
    fn end_function(&mut self, parts: &mut Vec<(usize, usize)>, has_errors: bool) {
        if has_errors {
            self.broken.extend(parts.iter().copied());
        }
        parts.clear();
    }

    /// Whether a function that is cut is not read without errors, one of whose parts this is.
    pub fn is_broken(&self, piece: usize, part: usize) -> bool {
        self.broken.contains(&(piece, part))
    }

    /// The part of the text that holds an offset of a piece, whose parse this is.
    pub fn part_at(&self, piece: usize, parse: &Parse, offset: u32) -> usize {
        self.part_of(piece, parse.splits.partition_point(|&split| split <= offset))
    }

    /// The part of the text that is the `nth` of a piece, from the one in which the piece starts.
    pub fn part_of(&self, piece: usize, nth: usize) -> usize {
        self.first_parts.get(piece).copied().unwrap_or(0) + nth
    }

    /// The pieces that define a symbol (without `@`) in a part.
    pub fn symbol(&self, part: usize, name: &str) -> &[usize] {
        self.parts.get(part).and_then(|p| p.symbols.get(name)).map_or(&[], Vec::as_slice)
    }

    /// The pieces that define an alias (with its sign) in a part.
    pub fn alias(&self, part: usize, name: &str) -> &[usize] {
        self.parts.get(part).and_then(|p| p.aliases.get(name)).map_or(&[], Vec::as_slice)
    }

    /// The pieces over which a part stretches.
    pub fn pieces_of(&self, part: usize) -> std::ops::Range<usize> {
        self.parts.get(part).map_or(0..0, |p| p.pieces.clone())
    }
}
