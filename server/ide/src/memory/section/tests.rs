use expect_test::expect;

use crate::fixture::{lenses, open};
use crate::hover::HoverConfig;

const MODULE: &str = "HloModule m, is_scheduled=true

%body {
  %state = (s32[], f32[4096]{0}) parameter(0)
  %i = s32[] get-tuple-element(%state), index=0
  %x = f32[4096]{0} get-tuple-element(%state), index=1
  %one = s32[] constant(1)
  %next = s32[] add(%i, %one)
  %turned = f32[4096]{0} reverse(%x), dimensions={0}
  %doubled = f32[4096]{0} concatenate(%turned), dimensions={0}
  ROOT %t = (s32[], f32[4096]{0}) tuple(%next, %doubled)
}

%condition {
  %state.1 = (s32[], f32[4096]{0}) parameter(0)
  %i.1 = s32[] get-tuple-element(%state.1), index=0
  %limit = s32[] constant(8)
  ROOT %less = pred[] compare(%i.1, %limit), direction=LT
}

ENTRY %e {
  %p = f32[256]{0} parameter(0)
  %zero = s32[] constant(0)
  %wide = f32[4096]{0} broadcast(%p), dimensions={}
  %init = (s32[], f32[4096]{0}) tuple(%zero, %wide)
  %loop = (s32[], f32[4096]{0}) while(%init), condition=%condition, body=%body
  %y = f32[4096]{0} get-tuple-element(%loop), index=1
  %back = f32[4096]{0} reverse(%y), dimensions={0}, metadata={op_name=\"f/back\" source_file=\"/src/a.py\" source_line=7}
  ROOT %r = f32[256]{0} slice(%back), slice={[0:256]}
}
";

/// The lines about memory in the hover of an instruction.
fn memory_of(text: &str, name: &str) -> Vec<String> {
    let (analysis, file, _) = open(text);
    let offset = text.find(&format!("  %{name} = ")).or_else(|| text.find(&format!("ROOT %{name} = ")));
    let offset = offset.unwrap_or_else(|| panic!("no {name}")) + 6;
    let hover = analysis.hover_with(file, offset, &HoverConfig::default()).expect("nobody cancels");
    let plain = hover.expect("there is a hover").text.for_client(false);
    let about = plain.lines().map(str::trim).filter(|line| line.contains("memory"));
    about.map(str::to_owned).collect()
}

#[test]
fn a_result_has_its_place_and_its_time() {
    let shown =
        ["p", "wide", "doubled", "less", "back", "r"].map(|name| memory_of(MODULE, name).join("\n") + "\n");
    expect![[r#"
        - memory: 1.02 kB in a parameter at offset 0 · alive 0–20 of 20, since the caller owns it · alive at the peak
        - memory: 16.4 kB in temporaries at offset 16640 · alive 2–4 of 20, until %state.1 uses it · shares its buffer with %state.1{1}, %state{1}, %doubled, %loop{1}
        - memory: 16.4 kB in temporaries at offset 16640 · alive 14–16 of 20, until %loop uses it · shares its buffer with %wide, %state.1{1}, %state{1}, %loop{1}
        - memory: 1 B in an output at offset 0 · alive 7–8 of 20, until %state uses it · shares its buffer with %r
        - memory: 16.4 kB in temporaries at offset 256 · alive 18–19 of 20, until %r uses it · shares its buffer with %turned
        - memory: 1.02 kB in an output at offset 0 · alive 19–20 of 20, since it is a result of the module · shares its buffer with %less
    "#]].assert_eq(&shown.concat());
    // They are in the memory of their tuples.
    assert_eq!(memory_of(MODULE, "y"), [""; 0]);
    assert_eq!(memory_of(MODULE, "x"), [""; 0]);
}

#[test]
fn only_schedules_have_a_time() {
    let unscheduled = MODULE.replace(", is_scheduled=true", "");
    assert_eq!(memory_of(&unscheduled, "back"), [""; 0]);
    assert!(lenses(&unscheduled).iter().all(|lens| !lens.title.contains("peak")));
}

#[test]
fn lenses_have_the_peak_of_each_computation_that_runs_as_steps() {
    let lens = |lens: crate::CodeLens| format!("{}: {}\n", &MODULE[lens.range], lens.title);
    let shown: String = lenses(MODULE).into_iter().map(lens).collect();
    expect![[r#"
        body: 1 caller · 8 instructions · 1 FLOP · 65.6 kB · peak 33.8 kB at %turned: 1.02 kB parameters, 4 B constants, 32.8 kB temporaries
        condition: 1 caller · 4 instructions · 1 FLOP · 9 B · peak 17.4 kB at %less: 1.02 kB parameters, 8 B constants, 1 B outputs, 16.4 kB temporaries
        e: 8 instructions · 2 FLOP · 118 kB · peak 33.8 kB of 35.1 kB at %turned: 1.02 kB parameters, 4 B constants, 32.8 kB temporaries, 256 B fragmentation
    "#]].assert_eq(&shown);
}
