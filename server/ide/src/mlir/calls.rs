//! The calls between functions, found by the uses of their symbols in other functions.

use mlir::OpId;
use syntax::Span;

use crate::TextRange;
use crate::call_hierarchy::{CallDirection, CallItem, Calls};
use crate::file_context::FileContext;
use crate::mlir::Mlir;
use crate::mlir::context::OpRef;
use crate::mlir::names::definitions;
use crate::semantics::Names;
use crate::symbol::{Function, Occurrence, Symbol};
use crate::units::shorten;

/// The largest number of characters of a function's signature.
const DETAIL_LIMIT: usize = 120;

impl Calls for Mlir {
    fn function_named(&self, context: &FileContext<'_>, symbol: &Symbol) -> Option<Function> {
        let Symbol::Global { .. } = symbol else { return None };
        definitions(context, symbol).into_iter().find_map(|Occurrence { piece, span, .. }| {
            let read = context.mlir_piece(piece);
            let id = read.parse.op_at(span.start as usize)?;
            let is_function = mlir::is_function_like(read.parse.name(id, &read.text));
            is_function.then_some(Function { piece, id })
        })
    }

    fn function_around(&self, context: &FileContext<'_>, offset: usize) -> Option<Function> {
        let at = context.op_at(offset)?;
        around_op(context, at.piece, at.id)
    }

    fn call_item(&self, context: &FileContext<'_>, function: Function) -> Option<CallItem> {
        let name = name_of(context, function)?;
        let read = context.mlir_piece(function.piece);
        let op = read.parse.op(function.id);
        let signature = Span { start: name.end, end: op.head.end.max(name.end) };
        let signature = signature.of(&read.text).trim().trim_end_matches('{').trim();
        Some(CallItem {
            name: format!("@{}", db::symbol_name(name.of(&read.text))),
            detail: shorten(signature.split_whitespace().collect::<Vec<_>>().join(" "), DETAIL_LIMIT),
            is_entry: false,
            range: context.whole_op(OpRef { piece: function.piece, id: function.id }),
            selection_range: context.range(function.piece, name),
        })
    }

    fn calls(
        &self,
        context: &FileContext<'_>,
        function: Function,
        direction: CallDirection,
    ) -> Vec<(Function, TextRange)> {
        let mut found = Vec::new();
        match direction {
            CallDirection::Incoming => {
                let Some(name) = name_of(context, function) else { return found };
                let part = context.part_at(function.piece, name.start);
                let name = db::symbol_name(name.of(&context.mlir_piece(function.piece).text)).to_owned();
                for Occurrence { piece, span, .. } in Mlir
                    .occurrences(context, &Symbol::Global { part, name })
                    .into_iter()
                    .filter(|o| !o.is_definition())
                {
                    let caller = context.mlir_piece(piece).parse.op_at(span.start as usize);
                    if let Some(caller) = caller.and_then(|op| around_op(context, piece, op)) {
                        found.push((caller, context.range(piece, span)));
                    }
                }
            }
            CallDirection::Outgoing => {
                let parts = std::iter::once((function.piece, function.id))
                    .chain(context.other_pieces(function.piece, function.id));
                for (piece, id) in parts {
                    let read = context.mlir_piece(piece);
                    let body = read.parse.op(id).span;
                    let first = read.parse.symbols.partition_point(|s| s.span.start < body.start);
                    let inside = read.parse.symbols[first..].iter().take_while(|s| s.span.end <= body.end);
                    for mention in inside.filter(|s| !s.is_definition && !s.is_nested) {
                        let name = db::symbol_name(mention.span.of(&read.text)).to_owned();
                        let part = context.part_at(piece, mention.span.start);
                        if let Some(callee) = self.function_named(context, &Symbol::Global { part, name }) {
                            found.push((callee, context.range(piece, mention.span)));
                        }
                    }
                }
            }
        }
        found
    }
}

/// The innermost named function that contains an op, in the piece where it starts.
fn around_op(context: &FileContext<'_>, piece: usize, op: OpId) -> Option<Function> {
    let path = context.mlir_piece(piece).parse.path_to(op).into_iter().rev();
    let mut starts = path.filter_map(|id| Some(context.start_of(OpRef { piece, id })?.0));
    starts.find_map(|at| {
        let read = context.mlir_piece(at.piece);
        let function = Function { piece: at.piece, id: at.id };
        let is_function = mlir::is_function_like(read.parse.name(at.id, &read.text));
        (is_function && name_of(context, function).is_some()).then_some(function)
    })
}

/// The symbol that a function defines.
fn name_of(context: &FileContext<'_>, function: Function) -> Option<Span> {
    let parse = &context.mlir_piece(function.piece).parse;
    let first = parse.symbols.partition_point(|s| s.span.start < parse.op(function.id).span.start);
    let mut names = parse.symbols[first..].iter().take_while(|s| s.op <= function.id);
    names.find(|s| s.op == function.id && s.is_definition).map(|symbol| symbol.span)
}
