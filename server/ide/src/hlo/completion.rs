//! Completions at the cursor: opcodes, operands, attributes and their values, computations, shapes.
//!
//! Reads the statement at the cursor as currently typed, and the surrounding block as last parsed; in a very
//! large computation only the blocks just above.

mod attributes;
mod computations;
mod opcodes;
pub(crate) mod operands;
mod shapes;

use ir::Opcode;
use syntax::hlo::CursorPlace;

use crate::completion::{Completion, CompletionItem, CompletionKind, Completions};
use crate::file_context::FileContext;
use crate::hlo::scope::Scope;
use crate::hlo::{Hlo, reference};
use crate::rich_text::RichText;

impl Completions for Hlo {
    fn completion(&self, context: &FileContext<'_>, offset: usize) -> Completion {
        let scope = Scope::new(context, offset);
        let mut out = Completion::default();
        match scope.cursor.place {
            CursorPlace::TopLevel => out.items = keywords(&scope, &["HloModule", "ENTRY"]),
            CursorPlace::Name if scope.prefix().is_empty() || "ROOT".starts_with(scope.prefix()) => {
                out.items = keywords(&scope, &["ROOT"]);
            }
            CursorPlace::Shape => {
                out.items = shapes::items(&scope);
                out.items.extend(opcodes::items(&scope, |opcode: Opcode| opcode.shape_is_inferable(), "9"));
            }
            CursorPlace::Opcode => out.items = opcodes::items(&scope, |_| true, "0"),
            CursorPlace::Operand(index) => operands::items(&scope, index, &mut out),
            CursorPlace::Attribute { needs_comma } => out.items = attributes::names(&scope, needs_comma),
            CursorPlace::Value { key, depth, in_string } => {
                attributes::values(&scope, key, depth, in_string, &mut out);
            }
            CursorPlace::Name | CursorPlace::Nothing => {}
        }
        out
    }
}

/// The documentation of an item: `opcode/add`, `attribute/dimensions`, `type/f32`.
pub fn completion_documentation(key: &str) -> Option<RichText> {
    match key.split_once('/')? {
        ("opcode", name) => Some(reference::opcode(Opcode::from_name(name)?)),
        ("attribute", name) => Some(reference::attribute(ir::AttributeKey::from_name(name)?)?.text()),
        ("type", name) => reference::element_type(ir::ElementType::from_name(name)?),
        _ => None,
    }
}

fn keywords(scope: &Scope<'_>, words: &[&str]) -> Vec<CompletionItem> {
    words
        .iter()
        .map(|word| CompletionItem {
            insert: format!("{word} "),
            ..scope.item(word, CompletionKind::Keyword)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use crate::fixture::{in_entry, open};

    /// The first items in display order: label, detail, inserted text.
    fn check(lines: &str, count: usize, expect: Expect) {
        check_text(&in_entry(lines), count, expect);
    }

    fn check_text(text: &str, count: usize, expect: Expect) {
        let (analysis, file, offset) = open(text);
        let mut items = analysis.completion(file, offset).expect("nobody cancels").items;
        items.sort_by(|a, b| a.sort.cmp(&b.sort));
        let shown: Vec<_> = items
            .iter()
            .take(count)
            .map(|i| {
                let insert = i.snippet.as_ref().unwrap_or(&i.insert);
                format!("{} · {} · {}\n", i.label, i.detail, insert.escape_debug())
            })
            .collect();
        let rest = items.len().saturating_sub(count);
        let more = if rest > 0 { "…\n" } else { "" };
        expect.assert_eq(&format!("{}{more}", shown.concat()));
    }

    const PARAMETERS: &str = "  p = f32[8,16]{1,0} parameter(0)\n  q = f32[16,8]{1,0} parameter(1)\n  z = f32[] constant(0)\n  i = s32[] parameter(2)\n";

    #[test]
    fn opcodes_bring_their_operands_and_attributes() {
        check(
            &format!("{PARAMETERS}  t = f32[16,8]{{1,0}} transp$0"),
            1,
            expect![[r#"
            transpose · The dimensions in another order. · transpose(${1:operand}), dimensions={${2:0}}$0
            …
        "#]],
        );
    }

    #[test]
    fn opcodes_that_fit_the_shape_come_first_and_common_ones_among_them() {
        let first = |shape: &str, typed: &str, expected: &str| {
            let text = in_entry(&format!("{PARAMETERS}  t = {shape} {typed}$0"));
            let (analysis, file, offset) = open(&text);
            let items = analysis.completion(file, offset).expect("nobody cancels").items;
            let first = items.into_iter().filter(|item| crate::completion::matches(typed, &item.label));
            assert_eq!(first.min_by(|a, b| a.sort.cmp(&b.sort)).expect("an item").label, expected);
        };
        first("f32[8]", "mul", "multiply");
        first("s32[8]", "mul", "multiply");
        first("s32[8]", "mulh", "mulhi");
        first("pred[8]", "com", "compare");
        first("c64[8]", "com", "complex");
        first("f32[8]", "a", "add");
        first("pred[8]", "a", "add");
        first("f32[8]", "re", "reduce");
    }

    #[test]
    fn operands_that_fit_come_first_and_the_nearest_of_them() {
        check(
            &format!("{PARAMETERS}  n = f32[8,16]{{1,0}} negate(p)\n  a = f32[8,16]{{1,0}} add($0"),
            6,
            expect![[r#"
                n · f32[8,16]{1,0} · n
                p · f32[8,16]{1,0} · p
                i · s32[] · i
                z · f32[] · z
                q · f32[16,8]{1,0} · q
            "#]],
        );
        check(
            &format!("{PARAMETERS}  a = f32[16,8] transpose($0)"),
            1,
            expect![[r#"
            q · f32[16,8]{1,0} · q
            …
        "#]],
        );
        check(
            &format!("{PARAMETERS}  a = f32[8] reduce(p, $0), dimensions={{1}}, to_apply=%sum"),
            2,
            expect![[r#"
                z · f32[] · z
                i · s32[] · i
                …
            "#]],
        );
        check(
            &format!("{PARAMETERS}  a = f32[1,16] dynamic-slice(p, $0"),
            1,
            expect![[r#"
            i · s32[] · i
            …
        "#]],
        );
    }

    #[test]
    fn attributes_are_those_of_the_opcode_that_are_missing() {
        check(
            &format!("{PARAMETERS}  a = f32[8] reduce(p, z), dimensions={{1}}, $0"),
            2,
            expect![[r#"
            to_apply · The computation that is applied. · to_apply=${1:computation}$0
            backend_config · What the compiler's backend notes for itself: JSON or a string. · backend_config={${1:}}$0
            …
        "#]],
        );
        check(
            &format!("{PARAMETERS}  a = f32[8,8] dot(p, q)$0"),
            2,
            expect![[r#"
            algorithm · How it is computed: types of inputs and sum, or a generator. · , algorithm=${1:dot_any_f8_any_f8_f32}$0
            block_scaling_config · Which operands hold the scales of blocks of lhs and rhs. · , block_scaling_config={${1:}}$0
            …
        "#]],
        );
    }

    #[test]
    fn values_are_words_or_computations() {
        check(
            &format!("{PARAMETERS}  a = pred[8,16] compare(p, p), direction=$0"),
            9,
            expect![[r#"
            EQ ·  · EQ
            NE ·  · NE
            LT ·  · LT
            LE ·  · LE
            GT ·  · GT
            GE ·  · GE
        "#]],
        );
        check(
            &format!("{PARAMETERS}  a = f32[8] reduce(p, z), dimensions={{1}}, to_apply=$0"),
            9,
            expect![[r#"
                sum · (f32[], f32[]) -> f32[] · sum
            "#]],
        );
        check(
            &format!("{PARAMETERS}  a = f32[8,16] custom-call(p), custom_call_target=\"Shar$0\""),
            1,
            expect![[r#"
                Sharding ·  · Sharding
                …
            "#]],
        );
        check(
            &format!("{PARAMETERS}  a = f32[8,8] dot(p, q), operand_precision={{$0"),
            9,
            expect![[r#"
            default ·  · default
            high ·  · high
            highest ·  · highest
            packed_nibble ·  · packed_nibble
        "#]],
        );
        check(
            &format!("{PARAMETERS}  a = f32[8,8] negate(p), control-predecessors={{$0"),
            2,
            expect![[r#"
            i · s32[] · i
            z · f32[] · z
            …
        "#]],
        );
    }

    #[test]
    fn the_shape_follows_from_what_is_typed_behind_it() {
        check(
            &format!(
                "{PARAMETERS}  a = $0 dot(p, q), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}"
            ),
            3,
            expect![[r#"
                f32[8,8] · follows from the operands · f32[8,8] 
                s32[] · used above · s32[] 
                f32[] · used above · f32[] 
                …
            "#]],
        );
        check(
            &format!("{PARAMETERS}  a = f$0"),
            2,
            expect![[r#"
            s32[] · used above · s32[] 
            f32[] · used above · f32[] 
            …
        "#]],
        );
    }

    #[test]
    fn the_way_names_are_printed_is_kept() {
        check(
            "  %p = f32[8]{0} parameter(0)\n  %n = f32[8]{0} negate(f32[8]{0} %p)\n  %a = f32[8]{0} add($0",
            1,
            expect![[r#"
                n · f32[8]{0} · f32[8]{0} %n
                …
            "#]],
        );
        check(
            "  %p = f32[8]{0} parameter(0)\n  %a = f32[8]{0} add(f32[8]{0} %$0",
            1,
            expect![[r#"
            p · f32[8]{0} · %p
        "#]],
        );
    }

    #[test]
    fn every_prefix_of_a_module_is_answered() {
        let text = in_entry(&format!(
            "{PARAMETERS}  ROOT r = (f32[8]{{0}}, /*index=1*/s32[]) fusion(p, z), kind=kLoop, calls=%sum, metadata={{op_name=\"a\"}}"
        ));
        for end in 0..text.len() {
            let (analysis, file, _) = open(&text[..end]);
            analysis.completion(file, end).expect("nobody cancels");
        }
    }
}
