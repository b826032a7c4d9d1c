//! Calls of functions, and what functions return, against what they declare, in whatever pieces that is.

use std::sync::Arc;

use mlir::{Finding, OpId, TypeRef};
use text::Span;

use crate::Piece;
use crate::mlir_giants::mlir_giant_index;
use crate::mlir_queries::{mlir_module, mlir_piece, mlir_read, symbol_name};
use crate::positions::position_of;

/// What other pieces may know of the functions of one. Holds no offsets: equal after edits that change no signature.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct MlirFunction {
    /// Without `@`.
    name: String,
    /// Of the parts of the piece, between lines `// -----`.
    part: usize,
    arguments: Vec<String>,
    results: Vec<String>,
    /// Which of the parts of functions that are cut it is in this piece.
    cut: Option<usize>,
}

#[salsa::tracked]
pub(crate) fn mlir_functions(db: &dyn salsa::Database, piece: Piece) -> Arc<Vec<MlirFunction>> {
    let read = mlir_read(db, piece);
    let (parse, text) = (&*read.parse, &*read.text);
    let functions = parse.symbols.iter().filter(|s| s.is_definition).filter_map(|symbol| {
        let declared = mlir::function_type(parse, text, symbol.op)?;
        let words = |spans: &[Span]| spans.iter().map(|span| span.of(text).to_owned()).collect();
        Some(MlirFunction {
            name: symbol_name(symbol.span.of(text)).to_owned(),
            part: parse.splits.partition_point(|&split| split <= symbol.span.start),
            arguments: words(&declared.arguments),
            results: words(&declared.results),
            cut: read.parts.iter().position(|part| part.op == symbol.op),
        })
    });
    Arc::new(functions.collect())
}

/// Calls with other arguments or results than their function has, and returns of others than the function around declares. Of a
/// name that stands for several functions, in modules of their own, nothing is reported.
#[salsa::tracked]
pub fn mlir_call_findings(db: &dyn salsa::Database, piece: Piece) -> Arc<Vec<Finding>> {
    let read = mlir_piece(db, piece);
    let (parse, text) = (&*read.parse, &*read.text);
    let is_call = |op: OpId| parse.ops.get(op as usize).is_some() && mlir::is_call(parse.name(op, text));
    let is_path = |span: Span| text.get(span.end as usize..).is_some_and(|rest| rest.starts_with("::"));
    let calls = parse.symbols.iter().filter(|s| !s.is_definition && !s.is_nested && is_call(s.op));
    let calls: Vec<_> = calls.filter(|s| !is_path(s.span)).collect();
    let is_return = |id: &OpId| matches!(parse.name(*id, text), "return" | "func.return");
    let returns: Vec<_> = (0..parse.ops.len() as OpId).filter(is_return).collect();
    if calls.is_empty() && returns.is_empty() {
        return Arc::default();
    }
    let Some(file) = piece.file(db) else { return Arc::default() };
    let pieces = file.pieces(db);
    let at = std::cell::OnceCell::new();
    let at = || *at.get_or_init(|| position_of(db, piece).map_or(0, |(_, at)| at));
    let mut findings = Vec::new();
    for call in calls {
        let name = symbol_name(call.span.of(text));
        let module = mlir_module(db, file);
        let part = module.part_at(at(), parse, call.span.start);
        let &[there] = module.symbol(part, name) else { continue };
        let Some(&callee) = pieces.get(there) else { continue };
        let is_it = |f: &&MlirFunction| f.name == name && module.part_of(there, f.part) == part;
        if let Some(function) = mlir_functions(db, callee).iter().find(is_it) {
            check_call(parse, text, call.op, call.span, function, &mut findings);
        }
    }
    for id in returns {
        let Some(function) = parse.parent(id) else { continue };
        if !parse.is_continued(function) {
            if let Some(declared) = mlir::function_type(parse, text, function) {
                let results: Vec<_> = declared.results.iter().map(|span| span.of(text)).collect();
                findings.extend(mlir::check_returned(parse, text, id, &results));
            }
            continue;
        }
        let part = read.part_around(id);
        let first = part.and_then(|part| mlir_giant_index(db, file).pieces_of(at(), part).first().copied());
        let Some((there, cut)) = first else { continue };
        let Some(&start) = pieces.get(there) else { continue };
        if let Some(function) = mlir_functions(db, start).iter().find(|f| f.cut == Some(cut)) {
            let results: Vec<_> = function.results.iter().map(String::as_str).collect();
            findings.extend(mlir::check_returned(parse, text, id, &results));
        }
    }
    findings.sort_by_key(|f| (f.span.start, f.span.end));
    Arc::new(findings)
}

fn check_call(
    parse: &mlir::Parse,
    text: &str,
    id: OpId,
    symbol: Span,
    function: &MlirFunction,
    findings: &mut Vec<Finding>,
) {
    let op = parse.op(id);
    let name = &function.name;
    let mut push = |span, code, message| findings.push(Finding { span, code, message, related: None });
    let sides = [
        ("argument", "takes", "given", parse.types(&op.operand_types), &function.arguments),
        ("result", "has", "expected", parse.types(&op.result_types), &function.results),
    ];
    for (what, verb, here, written, declared) in sides {
        if written.len() != declared.len() {
            let plural = if declared.len() == 1 { "" } else { "s" };
            let (has, given) = (declared.len(), written.len());
            let is = if given == 1 { "is" } else { "are" };
            push(
                symbol,
                "call-count",
                format!("@{name} {verb} {has} {what}{plural}, and {given} {is} {here} here"),
            );
            continue;
        }
        for (nth, (ty, declared)) in written.iter().zip(declared).enumerate() {
            let TypeRef::Written(span) = ty else { continue };
            let written = span.of(text);
            if mlir::differ(written, declared) {
                push(*span, "call-type", format!("{what} {nth} of @{name} is a {declared}, not a {written}"));
            }
        }
    }
}
