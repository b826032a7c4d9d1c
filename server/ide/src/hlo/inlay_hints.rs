//! Hints after the operands of instructions, the bytes in use there, and where a fused computation is split into functions.

use ir::{Opcode, SegmentRef};

use crate::file_context::FileContext;
use crate::hlo::Hlo;
use crate::hlo::locate::InstructionRef;
use crate::hlo::maps::LocalGraph;
use crate::inlay_hints::{DomainHints, InlayHints, InlayHintsConfig, LIMIT, domain_hint, hinted_maps};
use crate::kernel::functions::split_hints;
use crate::memory;
use crate::units::shorten;
use crate::{InlayHint, TextRange};

impl InlayHints for Hlo {
    /// Hints for the instructions of a piece that overlap `range`. They come before the attributes, so that long
    /// metadata does not push them off the screen.
    fn inlay_hints_in(
        &self,
        context: &FileContext<'_>,
        piece: usize,
        range: &TextRange,
        config: &InlayHintsConfig,
    ) -> Vec<InlayHint> {
        let mut hints = Vec::new();
        if config.splits {
            splits(context, piece, range, &mut hints);
        }
        if config.domains == DomainHints::Off && !config.memory {
            return hints;
        }
        for (id, instruction) in context.block(piece).parse.instructions.iter().enumerate() {
            let span = context.range(piece, instruction.span);
            if span.end < range.start || span.start > range.end || instruction.is_nested {
                continue;
            }
            cancel::check();
            let at = InstructionRef { piece, id: id as u32 };
            // After the closing parenthesis. A broken instruction may have none.
            let argument = context.range(piece, instruction.argument);
            let offset = if argument.end < span.start { span.end } else { (argument.end + 1).min(span.end) };
            if let Some(label) = domain(context, at, config.domains) {
                hints.push(InlayHint { offset, label, tooltip: None });
            }
            let in_use = config.memory.then(|| memory::hint(context, at)).flatten();
            hints.extend(in_use.map(|(label, tooltip)| InlayHint { offset, label, tooltip: Some(tooltip) }));
        }
        hints
    }
}

/// Hints at line ends: editors show them like comments, after everything else.
fn splits(context: &FileContext<'_>, piece: usize, range: &TextRange, hints: &mut Vec<InlayHint>) {
    let parse = &context.block(piece).parse;
    for (id, computation) in parse.computations.iter().enumerate() {
        let ids = computation.instructions.start as usize..computation.instructions.end as usize;
        let Some([first, .., last]) = parse.instructions.get(ids) else { continue };
        let (first, last) = (context.range(piece, first.span), context.range(piece, last.span));
        if first.start > range.end || last.end < range.start {
            continue;
        }
        let segment = SegmentRef { piece, computation: id as u32 };
        for (at, label, tooltip) in split_hints(context, segment) {
            let offset = context.range(piece, context.block(piece).instruction(at.id).span).end;
            if range.start <= offset && offset <= range.end {
                hints.push(InlayHint { offset, label: shorten(&label, LIMIT), tooltip: Some(tooltip) });
            }
        }
    }
}

/// `None` for instructions that read no operand by index: parameters, constants, tuples.
fn domain(context: &FileContext<'_>, at: InstructionRef, wanted: DomainHints) -> Option<String> {
    let instruction = context.block(at.piece).instruction(at.id);
    let opcode = instruction.opcode?;
    if wanted == DomainHints::Off
        || instruction.operands.1 == 0
        || matches!(opcode, Opcode::Tuple | Opcode::GetTupleElement)
    {
        return None;
    }
    let local = LocalGraph::of(context, at)?;
    let maps = hinted_maps(local.op(), |rules| local.maps(context, 0, rules));
    domain_hint(opcode, context.shape(at)?, &maps, wanted)
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::{DomainHints, InlayHintsConfig};
    use crate::fixture::{in_entry, open};

    fn check(lines: &str, domains: DomainHints, expect: Expect) {
        let (analysis, file, _) = open(&in_entry(lines));
        let text = analysis.text(file).to_string();
        let start = text.find("ENTRY").unwrap_or_default();
        let hints = analysis
            .inlay_hints(file, start..text.len(), &InlayHintsConfig { domains, splits: true, memory: false })
            .expect("nobody cancels");
        let shown: Vec<String> = hints
            .iter()
            .map(|hint| {
                let line = text[..hint.offset].rfind('\n').map_or(0, |n| n + 1);
                format!("{} «{}»\n", text[line..hint.offset].trim_start(), hint.label)
            })
            .collect();
        expect.assert_eq(&shown.concat());
    }

    #[test]
    fn each_part_of_what_is_put_together_has_a_domain() {
        check(
            "  a = f32[4,8] parameter(0)\n  b = f32[6,8] parameter(1)\n  ROOT c = f32[10,8] concatenate(a, b), dimensions={0}\n",
            DomainHints::All,
            expect![[r#"
                ROOT c = f32[10,8] concatenate(a, b) «⟨d0 ≤ 3, d1 ≤ 7 | 4 ≤ d0 ≤ 9, d1 ≤ 7⟩»
            "#]],
        );
    }

    #[test]
    fn ops_without_a_map_in_xla_have_a_domain_too() {
        check(
            "  p = f32[4,16] parameter(0)\n  s = f32[4,16] sort(p), dimensions={1}, to_apply=%less\n  t = (f32[4,3], s32[4,3]) topk(s), k=3, largest=true\n  g = f32[4,16] all-reduce(s), replica_groups={{0,1}}, to_apply=%sum\n  a = f32[4,16] all-to-all(s), replica_groups={{0,1}}, dimensions={0}\n  ROOT c = f32[4] custom-call(a), custom_call_target=\"f\"\n",
            DomainHints::All,
            expect![[r#"
                s = f32[4,16] sort(p) «⟨d0 ≤ 3, d1 ≤ 15, s0 ≤ 15⟩»
                t = (f32[4,3], s32[4,3]) topk(s) «⟨d0 ≤ 3, d1 ≤ 2, s0 ≤ 15⟩»
                g = f32[4,16] all-reduce(s) «⟨d0 ≤ 3, d1 ≤ 15⟩»
                a = f32[4,16] all-to-all(s) «⟨d0 ≤ 3, d1 ≤ 15, rt0 ≤ 1⟩»
            "#]],
        );
    }

    #[test]
    fn domains_stand_behind_the_operands() {
        let lines = "  p = f32[10,20]{1,0} parameter(0)\n  z = f32[] constant(0)\n  r = f32[10]{0} reduce(p, z), dimensions={1}, to_apply=%sum\n  ROOT t = f32[20,10]{1,0} transpose(p), dimensions={1,0}";
        check(
            lines,
            DomainHints::All,
            expect![[r#"
                r = f32[10]{0} reduce(p, z) «⟨d0 ≤ 9, s0 ≤ 19⟩»
                ROOT t = f32[20,10]{1,0} transpose(p) «⟨d0 ≤ 19, d1 ≤ 9⟩»
            "#]],
        );
        check(lines, DomainHints::Off, expect![""]);
        check(
            lines,
            DomainHints::Informative,
            expect![[r#"
                r = f32[10]{0} reduce(p, z) «⟨d0 ≤ 9, s0 ≤ 19⟩»
            "#]],
        );
    }

    #[test]
    fn constraints_belong_to_the_domain() {
        check(
            "  p = f32[4]{0} parameter(0)\n  z = f32[] constant(0)\n  ROOT q = f32[9]{0} pad(p, z), padding=1_1_1",
            DomainHints::All,
            expect![[r#"
                ROOT q = f32[9]{0} pad(p, z) «⟨1 ≤ d0 ≤ 7, (d0 + 1) mod 2 = 0⟩»
            "#]],
        );
    }

    #[test]
    fn hints_that_repeat_the_shape_are_left_out() {
        check(
            "  p = f32[10,20]{1,0} parameter(0)\n  z = f32[] constant(0)\n  n = f32[10,20]{1,0} negate(p)\n  b = f32[10,20]{1,0} broadcast(z), dimensions={}\n  s = f32[10,20]{1,0} add(n, b)\n  f = f32[200]{0} reshape(s)\n  u = f32[1,200]{1,0} reshape(f)\n  i = s32[] constant(3)\n  ROOT d = f32[1,5]{1,0} dynamic-slice(u, i, i), dynamic_slice_sizes={1,5}",
            DomainHints::Informative,
            expect![[r#"
                f = f32[200]{0} reshape(s) «⟨reads [d0 floordiv 20, d0 mod 20]⟩»
            "#]],
        );
    }
}
