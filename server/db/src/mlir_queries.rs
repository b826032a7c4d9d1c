//! The same for MLIR text: a piece is parsed on its own, and what others may know of it are its symbols and aliases.

use std::sync::Arc;

use mlir::{Finding, Form, Parse, PieceState};
use rustc_hash::FxHashMap;

use crate::{File, Piece};

/// A piece of MLIR text, read.
#[derive(Debug)]
pub struct MlirPiece {
    pub text: Arc<str>,
    pub parse: Parse,
    /// About names and types inside of functions.
    pub findings: Vec<Finding>,
}

/// What the other pieces may know of this one, part by part: a part ends at `// -----`. Holds no offsets.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MlirSignature {
    pub parts: Vec<MlirPart>,
    /// Ops, without definitions of aliases.
    pub ops: usize,
    /// Symbols that are defined with a body, or declared: functions.
    pub functions: usize,
    /// The symbol of the first module.
    pub module: String,
    closed_above: u8,
    open_below: u8,
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
    /// Braces of modules that are not closed in their part: the piece, and which of its open ones.
    pub unclosed: Vec<(usize, usize)>,
    pub name: String,
    pub ops: usize,
    pub functions: usize,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct PartNames {
    symbols: FxHashMap<String, Vec<usize>>,
    aliases: FxHashMap<String, Vec<usize>>,
    pieces: std::ops::Range<usize>,
}

/// The piece, parsed and checked. Depends on its text alone.
#[salsa::tracked(no_eq)]
pub fn mlir_piece(db: &dyn salsa::Database, piece: Piece) -> Arc<MlirPiece> {
    let text = piece.text(db).clone();
    let parse = mlir::parse(&text, PieceState { depth: piece.state(db) });
    let findings = mlir::check(&parse, &text);
    Arc::new(MlirPiece { text, parse, findings })
}

/// Equal after edits that define no symbol and no alias, and open and close no module.
#[salsa::tracked]
pub fn mlir_signature(db: &dyn salsa::Database, piece: Piece) -> Arc<MlirSignature> {
    let MlirPiece { text, parse, .. } = &**mlir_piece(db, piece);
    let mut signature = MlirSignature {
        parts: vec![MlirPart::default(); parse.splits.len() + 1],
        closed_above: parse.closed_above.len().min(u8::MAX.into()) as u8,
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
    let is_op = |op: &&mlir::Op| matches!(op.form, Form::Custom | Form::Generic) && !op.name.is_empty();
    signature.ops = parse.ops.iter().filter(is_op).count();
    Arc::new(signature)
}

/// A symbol without `@` and quotes.
pub fn symbol_name(written: &str) -> &str {
    written.trim_start_matches('@').trim_matches('"')
}

#[salsa::tracked]
pub fn mlir_module(db: &dyn salsa::Database, file: File) -> Arc<MlirModule> {
    let mut module = MlirModule { parts: vec![PartNames::default()], ..MlirModule::default() };
    let mut open: Vec<(usize, usize)> = Vec::new();
    for (at, &piece) in file.pieces(db).iter().enumerate() {
        let signature = mlir_signature(db, piece);
        module.first_parts.push(module.parts.len() - 1);
        module.ops += signature.ops;
        module.functions += signature.functions;
        if module.name.is_empty() {
            module.name.clone_from(&signature.module);
        }
        open.truncate(open.len().saturating_sub(signature.closed_above.into()));
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
        open.extend((0..signature.open_below.into()).map(|nth| (at, nth)));
    }
    module.unclosed.append(&mut open);
    Arc::new(module)
}

impl MlirModule {
    /// The part of the text that holds an offset of a piece, whose parse this is.
    pub fn part_at(&self, piece: usize, parse: &Parse, offset: u32) -> usize {
        self.first_parts.get(piece).copied().unwrap_or(0)
            + parse.splits.partition_point(|&split| split <= offset)
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

    pub fn part_count(&self) -> usize {
        self.parts.len()
    }
}
