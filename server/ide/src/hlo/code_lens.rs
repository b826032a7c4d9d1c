//! Above each computation: its callers, instructions and cost. Above each kernel: its time and launch.

use crate::TextRange;
use crate::code_lens::{CodeLens, CodeLenses};
use crate::file_context::FileContext;
use crate::hlo::Hlo;
use crate::kernel::heaviest;
use crate::kernel::lens::{KernelLens, kernel_lens};
use crate::memory::lens_part;
use crate::semantics::Names;
use crate::symbol::Symbol;
use crate::units::{bytes, counted, scaled};

impl CodeLenses for Hlo {
    /// Names of computations, then of kernels, each in text order. Cheap: nothing is counted.
    fn code_lens_places(&self, context: &FileContext<'_>, kernels: bool, limit: usize) -> Vec<TextRange> {
        let firsts = context.module().computations.iter().filter_map(|c| c.segments.first());
        let names = firsts.map(|first| context.range(first.piece, context.computation(*first).name));
        let mut places: Vec<TextRange> = names.filter(|name| !name.is_empty()).take(limit).collect();
        for piece in 0..context.pieces() {
            if !kernels || places.len() >= limit {
                break;
            }
            let names = context
                .kernels_in(piece)
                .into_iter()
                .map(|at| context.range(piece, context.block(piece).instruction(at.id).name));
            places.extend(names.take(limit - places.len()));
        }
        places
    }

    fn code_lens(&self, context: &FileContext<'_>, offset: usize, memory: bool) -> Option<CodeLens> {
        if let Some(lens) = of_kernel(context, offset) {
            return Some(lens);
        }
        let named = Hlo.name_at(context, offset)?;
        let Symbol::Computation(index) = named.symbol else { return None };
        let callers = call_places(context, index);
        let cost = *db::computation_costs(context.db, context.view.file).get(index)?;
        let mut parts = Vec::new();
        if context.module().is_entry(index) && context.is_of_cpu() {
            parts.push(heaviest::ON_CPU.to_owned());
        }
        if !context.module().is_entry(index) || !callers.is_empty() {
            parts.push(counted(callers.len() as u64, "caller"));
        }
        parts.push(counted(cost.instructions as u64, "instruction"));
        let total = cost.total;
        // Totals with unknown parts are lower bounds.
        let at_least = if total.unknown > 0 { "≥ " } else { "" };
        if total.flops > 0 || total.transcendentals > 0 {
            parts.push(format!("{at_least}{}FLOP", scaled(total.flops)));
        }
        if total.transcendentals > 0 {
            parts.push(format!("{at_least}{} transcendentals", scaled(total.transcendentals).trim_end()));
        }
        // Values inside a fusion, or of per-element computations, are not in memory; only its inputs and outputs
        // are.
        let is_fused = only_fused(context, index);
        let moved = if is_fused {
            cost.boundary
        } else {
            Some(total.bytes).filter(|_| total.unknown == 0 || total.bytes > 0)
        };
        match moved {
            Some(count) if is_fused => parts.push(bytes(count)),
            Some(count) => parts.push(format!("{at_least}{}", bytes(count))),
            None => {}
        }
        parts.extend(memory.then(|| lens_part(context, index)).flatten());
        Some(CodeLens {
            range: context.range(named.at.piece, named.at.span),
            title: parts.join(" · "),
            time: None,
            callers,
            is_kernel: false,
        })
    }
}

fn of_kernel(context: &FileContext<'_>, offset: usize) -> Option<CodeLens> {
    let at = context.instruction_at(offset)?;
    let range = context.range(at.piece, context.block(at.piece).instruction(at.id).name);
    if range.start != offset {
        return None;
    }
    let KernelLens { time, details: title } = kernel_lens(context, at)?;
    Some(CodeLens { range, title, time, callers: Vec::new(), is_kernel: true })
}

fn call_places(context: &FileContext<'_>, index: usize) -> Vec<TextRange> {
    let found = Hlo.occurrences(context, &Symbol::Computation(index)).into_iter();
    let uses = found.filter(|o| o.role == crate::symbol::Role::Use);
    uses.map(|o| context.range(o.piece, o.span)).collect()
}

/// Whether only fusions call it.
fn only_fused(context: &FileContext<'_>, index: usize) -> bool {
    let calls = db::call_graph(context.db, context.view.file).incoming(index);
    let is_fusion = |call: &db::CallSite| {
        context.block(call.piece).instruction(call.instruction).opcode == Some(ir::Opcode::Fusion)
    };
    !calls.is_empty() && calls.iter().all(is_fusion)
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use crate::fixture::lenses;

    fn check(text: &str, expect: Expect) {
        let mut shown = String::new();
        for lens in lenses(text) {
            if lens.is_kernel {
                continue;
            }
            assert!(lens.callers.iter().all(|c| text[c.clone()] == text[lens.range.clone()]));
            shown += &format!("{}: {}\n", &text[lens.range], lens.title);
        }
        expect.assert_eq(&shown);
    }

    #[test]
    fn lenses_count_callers_instructions_and_cost() {
        check(
            "HloModule m

sum {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b)
}

fused {
  p = f32[8,16] parameter(0)
  z = f32[] constant(0)
  x = f32[8,16] exponential(p)
  ROOT r = f32[8] reduce(x, z), dimensions={1}, to_apply=sum
}

ENTRY e {
  p = f32[8,16] parameter(0)
  q = f32[8,16] add(p, p)
  f = f32[8] fusion(q), kind=kInput, calls=fused
  w = f32[8,2] parameter(1)
  d = f32[2] dot(f, w), lhs_contracting_dims={0}, rhs_contracting_dims={0}
  ROOT c = f32[2] custom-call(d), custom_call_target=\"x\"
}
",
            expect![[r#"
                sum: 1 caller · 3 instructions · 1 FLOP · 12 B
                fused: 1 caller · 4 instructions · 120 FLOP · 128 transcendentals · 544 B
                e: 6 instructions · ≥ 280 FLOP · ≥ 128 transcendentals · ≥ 2.2 kB
            "#]],
        );
    }

    #[test]
    fn circles_and_missing_computations_end() {
        check(
            "\
HloModule m

f {
  a = f32[] parameter(0)
  ROOT b = f32[] call(a), to_apply=f
}

ENTRY e {
  a = f32[] parameter(0)
  ROOT b = f32[] call(a), to_apply=nobody
}
",
            expect![[r#"
                f: 1 caller · 2 instructions
                e: 2 instructions
            "#]],
        );
    }
}
