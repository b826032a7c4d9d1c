//! The callers and callees of a function, found by the uses of its symbol in other functions.

use std::collections::BTreeMap;

use mlir::{OpId, Parse};
use syntax::Span;

use crate::TextRange;
use crate::call_hierarchy::{Call, CallDirection, CallItem};
use crate::locate::FileContext;
use crate::markdown::shorten;
use crate::mlir::context::OpRef;
use crate::mlir::occurrences::{Occurrence, Symbol, definitions, occurrence_at, occurrences};

/// The largest number of characters of a function's signature.
const DETAIL_LIMIT: usize = 120;

/// A function with the name that it defines.
#[derive(Clone, Copy)]
struct Function {
    at: OpRef,
    name: Span,
}

/// The function named at `offset`, or else the enclosing one.
pub(crate) fn prepare_call_hierarchy(context: &FileContext<'_>, offset: usize) -> Option<CallItem> {
    let named = occurrence_at(context, offset).and_then(|(_, symbol)| function_of(context, &symbol));
    let around = || {
        let at = context.op_at(offset)?;
        function_around(context, at.piece, at.id)
    };
    named.or_else(around).map(|function| item(context, function))
}

/// The calls of the function whose name is at `offset`, in text order.
pub(crate) fn calls(context: &FileContext<'_>, offset: usize, direction: CallDirection) -> Vec<Call> {
    let Some((_, symbol)) = occurrence_at(context, offset) else { return Vec::new() };
    let Some(function) = function_of(context, &symbol) else { return Vec::new() };
    let mut found: BTreeMap<(usize, OpId), (Function, Vec<TextRange>)> = BTreeMap::new();
    let mut note = |other: Function, from: TextRange| {
        let entry = found.entry((other.at.piece, other.at.id)).or_insert((other, Vec::new()));
        if entry.1.last() != Some(&from) {
            entry.1.push(from);
        }
    };
    match direction {
        CallDirection::Incoming => {
            for Occurrence { piece, span, is_definition } in occurrences(context, &symbol) {
                let parse = &context.mlir_piece(piece).parse;
                let caller = parse.op_at(span.start as usize).filter(|_| !is_definition);
                if let Some(caller) = caller.and_then(|op| function_around(context, piece, op)) {
                    note(caller, context.range(piece, span));
                }
            }
        }
        CallDirection::Outgoing => {
            let OpRef { piece, id } = function.at;
            let parts = std::iter::once((piece, id)).chain(context.other_pieces(piece, id));
            for (piece, id) in parts {
                let read = context.mlir_piece(piece);
                let body = read.parse.op(id).span;
                let first = read.parse.symbols.partition_point(|s| s.span.start < body.start);
                let inside = read.parse.symbols[first..].iter().take_while(|s| s.span.end <= body.end);
                for mention in inside.filter(|s| !s.is_definition && !s.is_nested) {
                    let name = db::symbol_name(mention.span.of(&read.text)).to_owned();
                    let part = context.part_at(piece, mention.span.start);
                    if let Some(callee) = function_of(context, &Symbol::Global { part, name }) {
                        note(callee, context.range(piece, mention.span));
                    }
                }
            }
        }
    }
    let call = |(other, from)| Call { item: item(context, other), from };
    found.into_values().map(call).collect()
}

/// The function that a symbol refers to, if any.
fn function_of(context: &FileContext<'_>, symbol: &Symbol) -> Option<Function> {
    let Symbol::Global { .. } = symbol else { return None };
    definitions(context, symbol).into_iter().find_map(|Occurrence { piece, span, .. }| {
        let read = context.mlir_piece(piece);
        let id = read.parse.op_at(span.start as usize)?;
        let is_function = mlir::is_function_like(read.parse.name(id, &read.text));
        is_function.then_some(Function { at: OpRef { piece, id }, name: span })
    })
}

/// The innermost function that contains an op, in the piece where it starts.
fn function_around(context: &FileContext<'_>, piece: usize, op: OpId) -> Option<Function> {
    let path = context.mlir_piece(piece).parse.path_to(op).into_iter().rev();
    path.filter_map(|id| Some(context.start_of(OpRef { piece, id })?.0)).find_map(|at| {
        let read = context.mlir_piece(at.piece);
        let parse: &Parse = &read.parse;
        if !mlir::is_function_like(parse.name(at.id, &read.text)) {
            return None;
        }
        let first = parse.symbols.partition_point(|s| s.span.start < parse.op(at.id).span.start);
        let name = parse.symbols[first..]
            .iter()
            .take_while(|s| s.op <= at.id)
            .find(|s| s.op == at.id && s.is_definition)?;
        Some(Function { at, name: name.span })
    })
}

fn item(context: &FileContext<'_>, function: Function) -> CallItem {
    let read = context.mlir_piece(function.at.piece);
    let op = read.parse.op(function.at.id);
    let signature = Span { start: function.name.end, end: op.head.end.max(function.name.end) };
    let signature = signature.of(&read.text).trim().trim_end_matches('{').trim();
    CallItem {
        name: format!("@{}", db::symbol_name(function.name.of(&read.text))),
        detail: shorten(&signature.split_whitespace().collect::<Vec<_>>().join(" "), DETAIL_LIMIT),
        is_entry: false,
        range: context.whole_op(function.at),
        selection_range: context.range(function.at.piece, function.name),
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use crate::CallDirection;
    use crate::fixture::open_mlir;

    const TEXT: &str = "sdy.mesh @mesh = <[\"x\"=2]>
func.func @f(%a: f32) -> f32 {
  %0 = call @g(%a) : (f32) -> f32
  %1 = func.call @g(%0) : (f32) -> f32
  x.y @mesh
  return %1 : f32
}
func.func private @g(f32) -> f32
func.func @main(%a: f32) {
  scf.if %c {
    %0 = call @f(%a) : (f32) -> f32
  }
  %1 = \"x.fold\"(%a) {combine = @main} : (f32) -> f32
}
// -----
func.func @f() {
  call @f() : () -> ()
}
";

    fn check(cursor: &str, expect: Expect) {
        let (analysis, file, offset) = open_mlir(&TEXT.replacen(&cursor.replace("$0", ""), cursor, 1));
        let text = analysis.rope(file).to_string();
        let prepared = analysis.prepare_call_hierarchy(file, offset).expect("nobody cancels");
        let Some(item) = prepared else { return expect.assert_eq("nothing") };
        let mut shown = format!("{} {}\n", item.name, item.detail);
        for (word, direction) in [("by", CallDirection::Incoming), ("to", CallDirection::Outgoing)] {
            let calls = analysis.calls(file, item.selection_range.start, direction).expect("nobody cancels");
            for call in calls {
                assert!(call.from.iter().all(|r| text[r.clone()].starts_with('@')));
                shown += &format!("{word} {} {} times\n", call.item.name, call.from.len());
            }
        }
        expect.assert_eq(&shown);
    }

    #[test]
    fn calls_go_both_ways() {
        check(
            "func @$0f(%a",
            expect![[r#"
            @f (%a: f32) -> f32
            by @main 1 times
            to @g 2 times
        "#]],
        );
        check(
            "call @g$0(",
            expect![[r#"
            @g (f32) -> f32
            by @f 2 times
        "#]],
        );
        check(
            "%c $0{",
            expect![[r#"
            @main (%a: f32)
            by @main 1 times
            to @f 1 times
            to @main 1 times
        "#]],
        );
        check(
            "call @$0f()",
            expect![[r#"
            @f ()
            by @f 1 times
            to @f 1 times
        "#]],
        );
        check("sdy.mesh @me$0sh", expect!["nothing"]);
    }
}
