//! The hover of a module and its entry: how it runs, its size, and which buffers it reuses.

use ir::{ModuleSettings, Shape};
use syntax::Span;

use crate::Hover;
use crate::compiles::stage_hover;
use crate::file_context::FileContext;
use crate::hlo::locate::InstructionRef;
use crate::rich_text::{Inline, Line, RichText, code, parts, strong};
use crate::units::{bytes, counted, shorten};

/// The number of aliases, donated buffers and layouts listed.
const LIMIT: usize = 8;
/// The number of characters shown of a layout.
const SHAPE_LIMIT: usize = 100;

/// The hover of the `HloModule` line.
pub(super) fn module_header(context: &FileContext<'_>, piece: usize, local: usize) -> Option<Hover> {
    let block = context.block(piece);
    let header = block.parse.header.as_ref()?;
    let attributes = header.attributes.iter().map(|(key, value)| value.end.max(key.end));
    // Tables of names and locations may follow.
    let end = attributes.chain([header.name.end]).max()?;
    let line = Span { start: header.span.start, end };
    if !line.contains(local) {
        return None;
    }
    let module = context.module();
    let section =
        (0..module.sections()).rev().find(|&n| module.first_piece(n).is_some_and(|first| first <= piece))?;
    let settings = module.settings(section)?;
    let own = module.computations.iter().enumerate().filter(|(_, c)| c.section == section);
    let (mut computations, mut instructions, mut kernels) = (0, 0, 0);
    for (_, computation) in own {
        computations += 1;
        for &segment in &computation.segments {
            instructions += context.computation(segment).instructions.len() as u64;
            kernels += context.kernels_of(segment).len() as u64;
        }
    }
    let mut text = RichText::default();
    text.code("hlo", format!("HloModule {}", header.name.of(&block.text)));
    let counts = [counted(computations, "computation"), counted(instructions, "instruction")];
    text.line(facts(settings, counts, kernels));
    text.append(stage_hover(context));
    if settings.replica_count > 1 || settings.num_partitions > 1 {
        let replicas = counted(settings.replica_count.unsigned_abs(), "replica");
        let partitions = counted(settings.num_partitions.unsigned_abs(), "partition");
        text.space();
        text.line(format!("{replicas} × {partitions}"));
    }
    if let Some(entry) = module.entry_of(section) {
        let name = &module.computations[entry].name;
        text.space();
        text.line(parts!["entry ", code(format!("%{name}"))]);
        text.append(buffers(context, entry, settings));
    }
    let name = if header.name.is_empty() { line } else { header.name };
    let range = if header.name.contains(local) { name } else { line };
    Some(Hover { range: context.range(piece, range), text })
}

/// The part of an entry's hover below the signature.
pub(super) fn entry(context: &FileContext<'_>, index: usize, instructions: String) -> RichText {
    let module = context.module();
    let computation = &module.computations[index];
    let Some(settings) = module.settings(computation.section) else {
        return RichText::of_line(instructions);
    };
    let kernels: usize = computation.segments.iter().map(|&segment| context.kernels_of(segment).len()).sum();
    let mut text = RichText::of_line(facts(settings, [instructions], kernels as u64));
    text.append(buffers(context, index, settings));
    text
}

/// Whether the module is scheduled, and what it contains.
fn facts<const N: usize>(settings: &ModuleSettings, counts: [String; N], kernels: u64) -> Line {
    let schedule = match settings.is_scheduled {
        true => parts![strong("scheduled"), ": instructions run in this order"],
        false => parts![strong("not scheduled")],
    };
    let kernels = (kernels > 0).then(|| counted(kernels, "kernel"));
    let counts = counts.into_iter().chain(kernels).map(Line::from);
    Line::facts(std::iter::once(schedule).chain(counts))
}

/// Aliases, donated buffers, layouts.
fn buffers(context: &FileContext<'_>, entry: usize, settings: &ModuleSettings) -> RichText {
    let segments = &context.module().computations[entry].segments;
    let parameter = |number: i64| {
        let at = context.parameter_of(segments, u32::try_from(number).ok()?)?;
        Some((at, context.shape(at)?))
    };
    let mut text = RichText::default();
    if !settings.aliases.is_empty() {
        let size =
            total(settings.aliases.iter().map(|a| Some(part(parameter(a.parameter)?.1, &a.index)?.bytes())));
        let outputs = counted(settings.aliases.len() as u64, "output");
        text.space();
        text.line(format!("{outputs} in place of parameters{size}"));
        for alias in settings.aliases.iter().take(LIMIT) {
            let must = if alias.is_must { ", must-alias" } else { ", may-alias" };
            let from = name(context, parameter(alias.parameter).map(|(at, _)| at), alias.parameter);
            text.item(parts![
                "output ",
                code(path(&alias.output)),
                " is ",
                from,
                element(&alias.index),
                must
            ]);
        }
        more(settings.aliases.len(), &mut text);
    }
    if !settings.donors.is_empty() {
        let size =
            total(settings.donors.iter().map(|(n, index)| Some(part(parameter(*n)?.1, index)?.bytes())));
        let count = counted(settings.donors.len() as u64, "donated buffer");
        text.space();
        text.line(format!("{count}{size}"));
        for (number, index) in settings.donors.iter().take(LIMIT) {
            let from = name(context, parameter(*number).map(|(at, _)| at), *number);
            text.item(parts![from, element(index)]);
        }
        more(settings.donors.len(), &mut text);
    }
    if let Some((parameters, result)) = &settings.entry_layout {
        let shown = |shape: &Shape| code(shorten(shape, SHAPE_LIMIT));
        text.space();
        text.line("layouts of parameters and result");
        for (number, shape) in parameters.iter().enumerate().take(LIMIT) {
            text.item(parts![format!("parameter {number}: "), shown(shape)]);
        }
        more(parameters.len(), &mut text);
        text.item(parts!["result: ", shown(result)]);
    }
    text
}

fn more(count: usize, text: &mut RichText) {
    if let n @ 1.. = count.saturating_sub(LIMIT) {
        text.item(format!("… and {n} more"));
    }
}

/// `, 12.6 MB` in total, if every part is known.
fn total(mut parts: impl Iterator<Item = Option<Option<u64>>>) -> String {
    let sum = parts.try_fold(0u64, |sum, part| sum.checked_add(part??));
    sum.map_or_else(String::new, |sum| format!(", {}", bytes(sum)))
}

/// For example `{0,1}`.
fn path(index: &[i64]) -> String {
    format!("{{{}}}", index.iter().map(i64::to_string).collect::<Vec<_>>().join(","))
}

fn element(index: &[i64]) -> Line {
    if index.is_empty() { Line::default() } else { parts![", element ", code(path(index))] }
}

fn name(context: &FileContext<'_>, at: Option<InstructionRef>, number: i64) -> Inline {
    match at {
        Some(at) => code(format!("%{}", context.block(at.piece).name(at.id))),
        None => Inline::Words(format!("parameter {number}")),
    }
}

fn part<'s>(shape: &'s Shape, index: &[i64]) -> Option<&'s Shape> {
    index.iter().try_fold(shape, |shape, &n| shape.tuple_elements()?.get(usize::try_from(n).ok()?))
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use crate::fixture::open;

    fn check(at: &str, expect: Expect) {
        let text = "HloModule step, is_scheduled=true, input_output_alias={ {0}: (1, {}, must-alias) }, buffer_donor={ (0, {}) }, entry_computation_layout={(f32[8]{0}, f32[8]{0})->(f32[8]{0}, f32[8]{0})}, replica_count=2

%fused {
  q = f32[8] parameter(0)
  ROOT n = f32[8] negate(q)
}

ENTRY %main {
  x = f32[8] parameter(0)
  state = f32[8] parameter(1)
  f = f32[8] fusion(x), kind=kLoop, calls=%fused
  s = f32[8] add(state, f)
  ROOT r = (f32[8], f32[8]) tuple(s, f)
}
";
        let (analysis, file, offset) = open(&text.replacen(at, &format!("$0{at}"), 1));
        let hover = analysis.hover(file, offset).expect("nobody cancels").expect("a popup");
        expect.assert_eq(&hover.markdown());
    }

    #[test]
    fn a_module_says_how_it_runs() {
        for at in ["HloModule", "step"] {
            check(
                at,
                expect![[r#"
                ```hlo
                HloModule step
                ```
                **scheduled**: instructions run in this order · 2 computations · 7 instructions · 2 kernels

                2 replicas × 1 partition

                entry `%main`

                1 output in place of parameters, 32 B
                - output `{0}` is `%state`, must-alias

                1 donated buffer, 32 B
                - `%x`

                layouts of parameters and result
                - parameter 0: `f32[8]{0}`
                - parameter 1: `f32[8]{0}`
                - result: `(f32[8]{0}, f32[8]{0})`
            "#]],
            );
        }
    }

    #[test]
    fn an_entry_says_which_buffers_it_reuses() {
        for at in ["ENTRY", "%main"] {
            check(
                at,
                expect![[r#"
                ```hlo
                ENTRY %main (x: f32[8], state: f32[8]) -> (f32[8], f32[8])
                ```
                **scheduled**: instructions run in this order · 5 instructions · 2 kernels

                1 output in place of parameters, 32 B
                - output `{0}` is `%state`, must-alias

                1 donated buffer, 32 B
                - `%x`

                layouts of parameters and result
                - parameter 0: `f32[8]{0}`
                - parameter 1: `f32[8]{0}`
                - result: `(f32[8]{0}, f32[8]{0})`
            "#]],
            );
        }
    }
}
