//! All uses of a name.

use crate::TextRange;
use crate::file_context::FileContext;
use crate::symbol::{Role, Symbol};

/// The kind of a reference.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReferenceKind {
    /// The definition, or the declaration in the header of its computation.
    Write,
    Read,
    /// An operand that is passed for a parameter at a call of its computation, and so names the same value.
    Argument,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reference {
    /// The name, without `%`.
    pub range: TextRange,
    pub kind: ReferenceKind,
}

/// In text order.
pub(crate) fn references(context: &FileContext<'_>, offset: usize, with_definition: bool) -> Vec<Reference> {
    let semantics = context.semantics();
    let Some(name) = semantics.name_at(context, offset) else { return Vec::new() };
    let mut found = highlights_of(context, &name.symbol);
    found.retain(|r| with_definition || r.kind != ReferenceKind::Write);
    let passed = semantics.passed_for(context, &name.symbol).into_iter();
    found.extend(passed.map(|range| Reference { range, kind: ReferenceKind::Argument }));
    found.sort_by_key(|r| r.range.start);
    found.dedup();
    found
}

/// All occurrences of the same name in the file.
pub(crate) fn document_highlight(context: &FileContext<'_>, offset: usize) -> Vec<Reference> {
    let name = context.semantics().name_at(context, offset);
    name.map_or_else(Vec::new, |name| highlights_of(context, &name.symbol))
}

fn highlights_of(context: &FileContext<'_>, symbol: &Symbol) -> Vec<Reference> {
    let found = context.semantics().occurrences(context, symbol).into_iter().filter_map(|o| {
        let kind = match o.role {
            Role::Definition | Role::Header => ReferenceKind::Write,
            Role::Use | Role::ControlPredecessor => ReferenceKind::Read,
            // This is a string, not a use.
            Role::SchedulingName => return None,
        };
        Some(Reference { range: context.range(o.piece, o.span), kind })
    });
    found.collect()
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::ReferenceKind;
    use crate::fixture::{open, open_mlir};
    use crate::{Analysis, FileId};

    /// Each reference as its line with the name in brackets: `[=` for a definition, `[>` for an argument.
    fn check(text: &str, expect: Expect) {
        check_in(open(text), expect);
    }

    fn check_in((analysis, file, offset): (Analysis, FileId, usize), expect: Expect) {
        let text = analysis.text(file).to_string();
        let shown: Vec<String> = analysis
            .references(file, offset, true)
            .expect("nobody cancels")
            .into_iter()
            .map(|r| {
                let line = text[..r.range.start].rfind('\n').map_or(0, |n| n + 1);
                let end = r.range.end + text[r.range.end..].find('\n').unwrap_or_default();
                let mark = match r.kind {
                    ReferenceKind::Write => "=",
                    ReferenceKind::Read => "",
                    ReferenceKind::Argument => ">",
                };
                let (before, name, behind) =
                    (&text[line..r.range.start], &text[r.range.clone()], &text[r.range.end..end]);
                format!("{}[{mark}{name}]{behind}\n", before.trim_start())
            })
            .collect();
        expect.assert_eq(&shown.concat());
        let highlights = analysis.document_highlight(file, offset).expect("nobody cancels");
        assert!(highlights.iter().all(|h| h.kind != ReferenceKind::Argument));
        assert_eq!(highlights.len(), shown.iter().filter(|s| !s.contains("[>")).count());
    }

    #[test]
    fn instructions_are_used_by_operands_and_control_edges() {
        check(
            "\
HloModule m

ENTRY e {
  p = f32[8] parameter(0)
  n = f32[8] negate($0p)
  q = f32[8] add(p, %p), control-predecessors={p, n}
  ROOT t = f32[8] negate(pq)
}
",
            expect![[r#"
                [=p] = f32[8] parameter(0)
                n = f32[8] negate([p])
                q = f32[8] add([p], %p), control-predecessors={p, n}
                q = f32[8] add(p, %[p]), control-predecessors={p, n}
                q = f32[8] add(p, %p), control-predecessors={[p], n}
            "#]],
        );
    }

    #[test]
    fn names_of_another_computation_are_others() {
        check(
            "\
HloModule m

f (a: f32[], b: f32[]) -> f32[] {
  $0a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b)
}

ENTRY e {
  a = f32[8] parameter(0)
  z = f32[] constant(0)
  r = f32[] reduce(a, z), dimensions={0}, to_apply=f
  ROOT c = f32[] call(r, z), to_apply=f
}
",
            expect![[r#"
                f ([=a]: f32[], b: f32[]) -> f32[] {
                [=a] = f32[] parameter(0)
                ROOT s = f32[] add([a], b)
                r = f32[] reduce(a, [>z]), dimensions={0}, to_apply=f
                ROOT c = f32[] call([>r], z), to_apply=f
            "#]],
        );
    }

    #[test]
    fn computations_are_used_where_they_are_called() {
        check(
            "\
HloModule m

%f {
  ROOT a = f32[] parameter(0)
}

ENTRY e {
  p = pred[] parameter(0)
  z = f32[] constant(0)
  c = f32[] conditional(p, z, z), branch_computations={%f, $0f}
  ROOT d = f32[] call(c), to_apply=f
}
",
            expect![[r#"
                %[=f] {
                c = f32[] conditional(p, z, z), branch_computations={%[f], f}
                c = f32[] conditional(p, z, z), branch_computations={%f, [f]}
                ROOT d = f32[] call(c), to_apply=[f]
            "#]],
        );
    }

    #[test]
    fn what_has_no_name_has_no_references() {
        check("HloModule m\n\nENTRY e {\n  ROOT p = f32[8] para$0meter(0)\n}\n", expect![""]);
    }

    #[test]
    fn values_of_mlir_are_used_in_their_function() {
        check_in(
            open_mlir(
                "\
func.func @f(%a: f32) {
  %0:2 = x.y %a : f32, f32
  x.z {
    x.w %0#1, $0%0#0 : f32
  }
}
func.func @g(%0: f32) {
  x.w %0 : f32
}
",
            ),
            expect![[r#"
                [=%0]:2 = x.y %a : f32, f32
                x.w [%0]#1, %0#0 : f32
                x.w %0#1, [%0]#0 : f32
            "#]],
        );
    }

    #[test]
    fn symbols_of_mlir_are_used_in_their_part() {
        check_in(
            open_mlir(
                "\
func.func private @g() -> ()
func.func @f() {
  call $0@g() : () -> ()
}
// -----
func.func private @g() -> ()
",
            ),
            expect![[r#"
                func.func private [=@g]() -> ()
                call [@g]() : () -> ()
            "#]],
        );
        check_in(
            open_mlir("\"func.func\"() <{sym_name = \"$0g\"}> ({}) : () -> ()\nx.y {f = @g}\n"),
            expect![[r#"
                "func.func"() <{sym_name = "[=g]"}> ({}) : () -> ()
                x.y {f = [@g]}
            "#]],
        );
    }
}
