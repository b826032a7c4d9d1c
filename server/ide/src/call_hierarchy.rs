//! The callers and callees of a computation.

use std::collections::BTreeMap;

use crate::TextRange;
use crate::locate::FileContext;
use crate::occurrences::{Symbol, occurrence_at};

/// A computation in the hierarchy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallItem {
    pub name: String,
    /// Its result shape, and whether it is the entry.
    pub detail: String,
    pub is_entry: bool,
    pub range: TextRange,
    pub selection_range: TextRange,
}

/// A caller or callee with the calling instructions, all in the caller.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call {
    pub item: CallItem,
    /// The names of the called computation.
    pub from: Vec<TextRange>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallDirection {
    Incoming,
    Outgoing,
}

/// The computation named at `offset`, or else the enclosing one, so that the hierarchy works anywhere in a
/// body.
pub(crate) fn prepare_call_hierarchy(context: &FileContext<'_>, offset: usize) -> Option<CallItem> {
    let named = match occurrence_at(context, offset)?.symbol {
        Symbol::Computation(index) => index,
        Symbol::Instruction(at) => context.enclosing_computation(at)?,
    };
    item(context, named)
}

/// The calls of the computation whose name is at `offset`, in text order.
pub(crate) fn calls(context: &FileContext<'_>, offset: usize, direction: CallDirection) -> Vec<Call> {
    let Some(Symbol::Computation(index)) = occurrence_at(context, offset).map(|o| o.symbol) else {
        return Vec::new();
    };
    let graph = db::call_graph(context.db, context.view.file);
    let sites = match direction {
        CallDirection::Incoming => graph.incoming(index),
        CallDirection::Outgoing => graph.outgoing(index),
    };
    let mut grouped: BTreeMap<usize, Vec<TextRange>> = BTreeMap::new();
    for of_piece in sites.chunk_by(|a, b| a.piece == b.piece) {
        let piece = of_piece[0].piece;
        let spans: Vec<_> = context.block(piece).callees().map(|(_, span)| span).collect();
        for site in of_piece {
            let other = match direction {
                CallDirection::Incoming => site.caller,
                CallDirection::Outgoing => site.callee,
            };
            if let Some(&span) = spans.get(site.nth as usize) {
                grouped.entry(other).or_default().push(context.range(piece, span));
            }
        }
    }
    let calls =
        grouped.into_iter().filter_map(|(other, from)| Some(Call { item: item(context, other)?, from }));
    calls.collect()
}

fn item(context: &FileContext<'_>, index: usize) -> Option<CallItem> {
    let module = context.module();
    let computation = module.computations.get(index)?;
    let first = *computation.segments.first()?;
    let range = context.computation_range(index)?;
    let name = context.range(first.piece, context.computation(first).name);
    let shape = context.result_of(index).and_then(|root| context.shape(root)).map(ToString::to_string);
    Some(CallItem {
        name: computation.name.to_string(),
        detail: shape.unwrap_or_default(),
        is_entry: module.is_entry(index),
        selection_range: if name.is_empty() { range.start..range.start } else { name },
        range,
    })
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::CallDirection;
    use crate::fixture::open;

    const TEXT: &str = "HloModule m

add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b)
}

f {
  p = f32[8] parameter(0)
  z = f32[] constant(0)
  ROOT r = f32[] reduce(p, z), dimensions={0}, to_apply=add
}

ENTRY e {
  x = f32[8] parameter(0)
  g = f32[] fusion(x), kind=kInput, calls=f
  h = f32[] fusion(x), kind=kInput, calls=f
  ROOT t = f32[] call(g, h), to_apply=add
}
";

    fn check(cursor: &str, expect: Expect) {
        let (analysis, file, offset) = open(&TEXT.replace(&cursor.replace("$0", ""), cursor));
        let text = analysis.rope(file).to_string();
        let prepared = analysis.prepare_call_hierarchy(file, offset).expect("nobody cancels");
        let Some(item) = prepared else { return expect.assert_eq("nothing") };
        let mut shown = format!("{} -> {}\n", item.name, item.detail);
        for (word, direction) in [("by", CallDirection::Incoming), ("to", CallDirection::Outgoing)] {
            let calls = analysis.calls(file, item.selection_range.start, direction).expect("nobody cancels");
            for call in calls {
                assert!(call.from.iter().all(|r| !text[r.clone()].is_empty()));
                shown += &format!("{word} {} {} times\n", call.item.name, call.from.len());
            }
        }
        expect.assert_eq(&shown);
    }

    #[test]
    fn calls_go_both_ways() {
        check(
            "$0f {",
            expect![[r#"
                f -> f32[]
                by e 2 times
                to add 1 times
            "#]],
        );
        check(
            "to_apply=ad$0d\n}\n\nENTRY",
            expect![[r#"
                add -> f32[]
                by f 1 times
                by e 1 times
            "#]],
        );
        check(
            "$0x = f32",
            expect![[r#"
                e -> f32[]
                to add 1 times
                to f 2 times
            "#]],
        );
        check("Hlo$0Module", expect!["nothing"]);
    }
}
