//! The callers and callees of a computation or a function.

use std::collections::BTreeMap;

use crate::TextRange;
use crate::file_context::FileContext;
use crate::symbol::{Function, Symbol};

/// A computation in the hierarchy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallItem {
    pub name: String,
    /// The result shape of a computation, the signature of a function.
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

/// Which function calls which.
pub(crate) trait Calls {
    /// The function that a symbol names.
    fn function_named(&self, _: &FileContext<'_>, _: &Symbol) -> Option<Function> {
        None
    }

    /// The function that encloses `offset`.
    fn function_around(&self, _: &FileContext<'_>, _: usize) -> Option<Function> {
        None
    }

    /// The function as an item of a call hierarchy.
    fn call_item(&self, _: &FileContext<'_>, _: Function) -> Option<CallItem> {
        None
    }

    /// The callers or callees of a function, each with the name of the called function at the call, in text
    /// order.
    fn calls(&self, _: &FileContext<'_>, _: Function, _: CallDirection) -> Vec<(Function, TextRange)> {
        Vec::new()
    }
}

/// The computation or function named at `offset`, or else the enclosing one, so that the hierarchy works
/// inside a body.
pub(crate) fn prepare_call_hierarchy(context: &FileContext<'_>, offset: usize) -> Option<CallItem> {
    let semantics = context.semantics();
    let function = function_named(context, offset).or_else(|| semantics.function_around(context, offset));
    semantics.call_item(context, function?)
}

/// The calls of the computation or function whose name is at `offset`, in text order.
pub(crate) fn calls(context: &FileContext<'_>, offset: usize, direction: CallDirection) -> Vec<Call> {
    let semantics = context.semantics();
    let Some(function) = function_named(context, offset) else { return Vec::new() };
    let mut grouped: BTreeMap<Function, Vec<TextRange>> = BTreeMap::new();
    for (other, from) in semantics.calls(context, function, direction) {
        let ranges = grouped.entry(other).or_default();
        if ranges.last() != Some(&from) {
            ranges.push(from);
        }
    }
    let call = |(other, from)| Some(Call { item: semantics.call_item(context, other)?, from });
    grouped.into_iter().filter_map(call).collect()
}

fn function_named(context: &FileContext<'_>, offset: usize) -> Option<Function> {
    let semantics = context.semantics();
    semantics.function_named(context, &semantics.name_at(context, offset)?.symbol)
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::CallDirection;
    use crate::fixture::{open, open_mlir};
    use crate::{Analysis, FileId};

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
        check_in(open(&TEXT.replace(&cursor.replace("$0", ""), cursor)), expect);
    }

    fn check_in((analysis, file, offset): (Analysis, FileId, usize), expect: Expect) {
        let text = analysis.text(file).to_string();
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

    const MLIR: &str = "sdy.mesh @mesh = <[\"x\"=2]>
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

    fn check_mlir(cursor: &str, expect: Expect) {
        check_in(open_mlir(&MLIR.replacen(&cursor.replace("$0", ""), cursor, 1)), expect);
    }

    #[test]
    fn calls_of_mlir_go_both_ways() {
        check_mlir(
            "func @$0f(%a",
            expect![[r#"
            @f -> (%a: f32) -> f32
            by @main 1 times
            to @g 2 times
        "#]],
        );
        check_mlir(
            "call @g$0(",
            expect![[r#"
            @g -> (f32) -> f32
            by @f 2 times
        "#]],
        );
        check_mlir(
            "%c $0{",
            expect![[r#"
            @main -> (%a: f32)
            by @main 1 times
            to @f 1 times
            to @main 1 times
        "#]],
        );
        check_mlir(
            "call @$0f()",
            expect![[r#"
            @f -> ()
            by @f 1 times
            to @f 1 times
        "#]],
        );
        check_mlir("sdy.mesh @me$0sh", expect!["nothing"]);
    }
}
