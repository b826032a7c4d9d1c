use expect_test::{Expect, expect};

use crate::fixture::{open, open_mlir};
use crate::{Analysis, FileId, HoverConfig, NotOptimized, OptimizeRequest, Preview};

const MODULE: &str = "HloModule m

sum {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b)
}

ENTRY main {
  x = f32[512,1024] parameter(0)
  y = f32[512,1024] parameter(1) // the other one
  zero = f32[] constant(0)
  e = f32[512,1024] exponential(x)
  again = f32[512,1024] exponential(x)
  m = f32[512,1024] multiply(e, y)
  n = f32[512,1024] add(m, again)
  unused = f32[512,1024] negate(n)
  r = f32[512] reduce(n, zero), dimensions={1}, to_apply=sum
  t = f32[1024,512] transpose(y), dimensions={1,0}
  ROOT out = (f32[512], f32[1024,512]) tuple(r, t)
}
";

const STABLEHLO: &str = "module @m {
  func.func public @main(%x: tensor<512x1024xf32>, %y: tensor<512x1024xf32>) -> tensor<512xf32> {
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %e = stablehlo.exponential %x : tensor<512x1024xf32>
    %m = stablehlo.multiply %e, %y : tensor<512x1024xf32>
    %r = stablehlo.reduce(%m init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<512x1024xf32>, tensor<f32>) -> tensor<512xf32>
    return %r : tensor<512xf32>
  }
}
";

fn preview(
    (analysis, file): &(Analysis, FileId),
    passes: &[&str],
) -> Result<std::sync::Arc<Preview>, NotOptimized> {
    analysis.preview(*file, &OptimizeRequest::of(passes)).expect("nobody cancels")
}

fn opened(text: &str) -> (Analysis, FileId) {
    let (analysis, file, _) = if text.starts_with("module") { open_mlir(text) } else { open(text) };
    (analysis, file)
}

/// The document, each line behind the names of its sources.
fn shown(text: &str, passes: &[&str]) -> String {
    let preview = preview(&opened(text), passes).expect("it has no errors");
    let (document, first) = preview.text(&[]);
    let lines = document.lines().enumerate().map(|(line, written)| {
        let sources = line.checked_sub(first).map(|line| preview.sources_of(line)).unwrap_or_default();
        let names: Vec<&str> = sources.iter().map(|source| source.name.as_str()).collect();
        format!("{} | {written}", names.join(" ")).trim().to_owned() + "\n"
    });
    lines.collect()
}

/// The lines of a preview that come from the instruction at the start of `mark`.
fn lines_of(text: &str, passes: &[&str], mark: &str) -> Vec<String> {
    let preview = preview(&opened(text), passes).expect("it has no errors");
    let runs = preview.lines_of(text.find(mark).expect("it is there") + 2);
    let lines: Vec<&str> = preview.body.lines().collect();
    runs.into_iter().flat_map(|run| &lines[run]).map(|line| line.trim().to_owned()).collect()
}

#[test]
fn a_preview_leads_to_the_text_and_back() {
    check_preview(
        MODULE,
        &["fusion-pipeline"],
        expect![[r#"
        | // after fusion-pipeline · h100-sxm
        | // 8 changes: priority-fusion 3 · cse 2 · dce 3
        |
        | HloModule m, entry_computation_layout={(f32[512,1024]{1,0}, f32[512,1024]{1,0})->(f32[512]{0}, f32[1024,512]{1,0})}
        |
        | %sum (a: f32[], b: f32[]) -> f32[] {
        %a |   %a = f32[] parameter(0)
        %b |   %b = f32[] parameter(1)
        %s |   ROOT %s = f32[] add(%a, %b)
        | }
        |
        | %fused_computation (param_0: f32[512,1024], param_1: f32[512,1024]) -> f32[512] {
        |   %param_0 = f32[512,1024]{1,0} parameter(0)
        %e %again |   %e.1 = f32[512,1024]{1,0} exponential(%param_0)
        |   %param_1 = f32[512,1024]{1,0} parameter(1)
        %m |   %m.1 = f32[512,1024]{1,0} multiply(%e.1, %param_1)
        %n |   %n.1 = f32[512,1024]{1,0} add(%m.1, %e.1)
        %zero |   %zero.1 = f32[] constant(0)
        %r |   ROOT %r.1 = f32[512]{0} reduce(%n.1, %zero.1), dimensions={1}, to_apply=%sum
        | }
        |
        | ENTRY %main (x: f32[512,1024], y: f32[512,1024]) -> (f32[512], f32[1024,512]) {
        %x |   %x = f32[512,1024]{1,0} parameter(0)
        %y |   %y = f32[512,1024]{1,0} parameter(1)
        %zero %e %again %m %n %r |   %fusion = f32[512]{0} fusion(%x, %y), kind=kInput, calls=%fused_computation
        %t |   %t = f32[1024,512]{1,0} transpose(%y), dimensions={1,0}
        %out |   ROOT %out = (f32[512]{0}, f32[1024,512]{1,0}) tuple(%fusion, %t)
        | }
    "#]],
    );
    check_preview(
        STABLEHLO,
        &["fusion-pipeline"],
        expect![[r#"
        | // after fusion-pipeline · h100-sxm
        | // 3 changes: priority-fusion 2 · dce 1
        |
        | HloModule m, entry_computation_layout={(f32[512,1024]{1,0}, f32[512,1024]{1,0})->f32[512]{0}}
        |
        | %region_1.main (lhs: f32[], rhs: f32[]) -> f32[] {
        %r |   %lhs = f32[] parameter(0)
        %r |   %rhs = f32[] parameter(1)
        %r |   ROOT %add = f32[] add(%lhs, %rhs)
        | }
        |
        | %fused_computation (param_0: f32[512,1024], param_1: f32[512,1024]) -> f32[512] {
        |   %param_1 = f32[512,1024]{1,0} parameter(1)
        %e |   %e.1 = f32[512,1024]{1,0} exponential(%param_1)
        |   %param_0 = f32[512,1024]{1,0} parameter(0)
        %m |   %m.1 = f32[512,1024]{1,0} multiply(%e.1, %param_0)
        %zero |   %zero.1 = f32[] constant(0)
        %r |   ROOT %r.1 = f32[512]{0} reduce(%m.1, %zero.1), dimensions={1}, to_apply=%region_1.main
        | }
        |
        | ENTRY %main (x: f32[512,1024], y: f32[512,1024]) -> f32[512] {
        func.func |   %y = f32[512,1024]{1,0} parameter(1)
        func.func |   %x = f32[512,1024]{1,0} parameter(0)
        %zero %e %m %r |   ROOT %fusion = f32[512]{0} fusion(%y, %x), kind=kInput, calls=%fused_computation
        | }
    "#]],
    );
    let lines = lines_of(MODULE, &["fusion-pipeline"], "  again = ");
    expect![[r#"
        [
            "%e.1 = f32[512,1024]{1,0} exponential(%param_0)",
            "%fusion = f32[512]{0} fusion(%x, %y), kind=kInput, calls=%fused_computation",
        ]
    "#]]
    .assert_debug_eq(&lines);
}

#[track_caller]
fn check_preview(text: &str, passes: &[&str], expect: Expect) {
    expect.assert_eq(&shown(text, passes));
}

#[test]
fn a_pass_that_is_not_written_stops_the_preview() {
    check_preview(
        "HloModule m
ENTRY e {
  a = f32[4,4] parameter(0)
  b = f32[4,4] add(a, a)
  c = f32[4,4] add(a, a)
  ROOT d = f32[4,4] cholesky(b), lower=true
}
",
        &["cse", "dce", "cholesky_expander", "cse"],
        expect![[r#"
            | // stopped at cholesky_expander: the pass rewrites Cholesky decompositions, like %d; that is not implemented
            | // below: the module before it, after 2 passes
            | // after cse, dce, cholesky_expander, cse · h100-sxm
            | // 1 change: cse 1
            |
            | HloModule m, entry_computation_layout={(f32[4,4]{1,0})->f32[4,4]{1,0}}
            |
            | ENTRY %e (a: f32[4,4]) -> f32[4,4] {
            %a |   %a = f32[4,4]{1,0} parameter(0)
            %b %c |   %c = f32[4,4]{1,0} add(%a, %a)
            %d |   ROOT %d = f32[4,4]{1,0} cholesky(%c), lower=true
            | }
        "#]],
    );
    let before = shown(MODULE, &["dce", "no-such-pass"]);
    assert!(before.starts_with("| // stopped at no-such-pass: unknown pass: no-such-pass\n"), "{before}");
}

#[test]
fn a_module_with_errors_names_the_first() {
    let broken = MODULE.replace("multiply(e, y)", "multiply(e, q)");
    let why = preview(&opened(&broken), &["dce"]).expect_err("it is refused");
    let NotOptimized::Invalid { message, offset } = &why else { panic!("{why:?}") };
    assert!(message.contains('q') && broken[*offset..].starts_with('q'), "{why}");
}

#[test]
fn an_op_that_lacks_an_operand_is_named() {
    let text = "module @m {\n  func.func public @main(%a: tensor<4x8xf32>) -> tensor<4x4xf32> {\n    \
                %0 = stablehlo.dot_general %a, contracting_dims = [1] x [0] : \
                (tensor<4x8xf32>, tensor<8x4xf32>) -> tensor<4x4xf32>\n    return %0 : tensor<4x4xf32>\n  }\n}\n";
    let why = preview(&opened(text), &["dce"]).expect_err("it is refused");
    let NotOptimized::NotConverted { what, offset: Some(offset) } = &why else { panic!("{why:?}") };
    assert_eq!(what, "dot takes at least 2 operands, but has 1");
    assert!(text[*offset..].starts_with("%0 = stablehlo.dot_general"), "{offset}");
}

#[test]
fn a_comparison_shows_only_what_passes_changed() {
    let preview = preview(&opened(MODULE), &["cse"]).expect("it has no errors");
    let [before, after] = preview.compared().expect("both are modules");
    let changed: Vec<&str> = before.lines().filter(|line| !after.contains(line)).collect();
    assert_eq!(changed.len(), 2, "{before}\n{after}");
}

#[test]
fn hints_and_lenses_name_the_kernels() {
    check_hints(
        MODULE,
        expect![[r#"
            main: after fusion: 7 → 2 kernels · ≈ 9.5 µs → 2.5 µs · 31.5 MB → 8.39 MB
            e = f32[512,1024] exponential(x) → kernel 1 of 2: reduction-row fusion with 4 others, ≈ 1.3 µs
            again = f32[512,1024] exponential(x) → kernel 1 of 2: reduction-row fusion with 4 others, ≈ 1.3 µs
            m = f32[512,1024] multiply(e, y) → kernel 1 of 2: reduction-row fusion with 4 others, ≈ 1.3 µs
            n = f32[512,1024] add(m, again) → kernel 1 of 2: reduction-row fusion with 4 others, ≈ 1.3 µs
            r = f32[512] reduce(n, zero) → kernel 1 of 2: reduction-row fusion with 4 others, ≈ 1.3 µs
            t = f32[1024,512] transpose(y) → kernel 2 of 2: transpose fusion, ≈ 1.3 µs
        "#]],
    );
    check_hints(
        STABLEHLO,
        expect![[r#"
        func.func: after fusion: 3 → 1 kernel · ≈ 3.8 µs → 1.3 µs · 12.6 MB → 4.2 MB
        %e = stablehlo.exponential %x : tensor<512x1024xf32> → kernel 1 of 1: reduction-row fusion with 2 others, ≈ 1.3 µs
        %m = stablehlo.multiply %e, %y : tensor<512x1024xf32> → kernel 1 of 1: reduction-row fusion with 2 others, ≈ 1.3 µs
        %r = stablehlo.reduce(%m init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<512x1024xf32>, tensor<f32>) -> tensor<512xf32> → kernel 1 of 1: reduction-row fusion with 2 others, ≈ 1.3 µs
    "#]],
    );
    check_hints(
        "HloModule m
f { p = f32[8] parameter(0) ROOT n = f32[8] negate(p) }
ENTRY e { x = f32[8] parameter(0) ROOT f.1 = f32[8] fusion(x), kind=kLoop, calls=f }
",
        expect![""],
    );
}

#[track_caller]
fn check_hints(text: &str, expect: Expect) {
    let (analysis, file) = opened(text);
    let mut found = String::new();
    if let Some(lens) = analysis.optimizer_lens(file).expect("nobody cancels") {
        assert_eq!(analysis.optimizer_lens_place(file), Ok(Some(lens.range.clone())));
        found += &format!("{}: {}\n", &text[lens.range], lens.title);
    }
    for hint in analysis.planned_kernel_hints(file, 0..text.len()).expect("nobody cancels") {
        let line = text[..hint.offset].rfind('\n').map_or(0, |n| n + 1);
        found += &format!("{} {}\n", text[line..hint.offset].trim_start(), hint.label);
    }
    expect.assert_eq(&found);
}

#[test]
fn a_hover_lists_the_other_instructions_of_the_kernel() {
    let (analysis, file) = opened(MODULE);
    let offset = MODULE.find("m = f32").expect("it is there");
    let mut hover =
        analysis.hover_with(file, offset, &HoverConfig::default()).expect("nobody cancels").expect("a hover");
    let before = hover.markdown();
    analysis.add_planned_kernel(file, offset, Some("/a/m.hlo"), &mut hover).expect("nobody cancels");
    let after = hover.markdown();
    expect![[r#"

        **after XLA:** kernel 1 of 2: reduction-row fusion with 4 others, ≈ 1.3 µs · 4.2 MB

        with [%e](file:///a/m.hlo#L13), [%again](file:///a/m.hlo#L14), [%n](file:///a/m.hlo#L16), [%r](file:///a/m.hlo#L18)


    "#]].assert_eq(after.strip_prefix(&before).unwrap_or(&after));
    let members = analysis.kernel_members(file, offset).expect("nobody cancels");
    let texts: Vec<&str> =
        members.iter().flat_map(|m| &m.members).map(|range| &MODULE[range.clone()]).collect();
    expect![[r#"
        [
            "e = f32[512,1024] exponential(x)",
            "again = f32[512,1024] exponential(x)",
            "m = f32[512,1024] multiply(e, y)",
            "n = f32[512,1024] add(m, again)",
            "r = f32[512] reduce(n, zero), dimensions={1}, to_apply=sum",
        ]
    "#]]
    .assert_debug_eq(&texts);
}
