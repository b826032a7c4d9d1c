use expect_test::{Expect, expect};

use crate::fixture::{apply_edits, open};
use crate::{Change, Wanted};

const MODULE: &str = "HloModule m, is_scheduled=true

%sum {
  %a = f32[] parameter(0)
  %b = f32[] parameter(1)
  ROOT %s = f32[] add(%a, %b)
}

%scaled {
  %p = f32[512,1024] parameter(0)
  %two = f32[] constant(2)
  %twos = f32[512,1024] broadcast(%two), dimensions={}
  %half = f32[512,1024] multiply(%p, %twos)
  ROOT %e = f32[512,1024] exponential(%half)
}

%summed {
  %q = f32[512,1024] parameter(0)
  %zero = f32[] constant(0)
  ROOT %r = f32[512] reduce(%q, %zero), dimensions={1}, to_apply=%sum
}

ENTRY %main {
  %x = f32[512,1024] parameter(0)
  %first = f32[512,1024] fusion(%x), kind=kLoop, calls=%scaled, metadata={op_name=\"exp\"}  // stays
  %second = f32[512] fusion(%first), kind=kInput, calls=%summed
  ROOT %last = f32[512] negate(%second)
}
";

/// The titles at a place, and the text after the first action whose title starts so.
#[track_caller]
fn check(place: &str, title: &str, expect: Expect) {
    let (analysis, file, offset) = open(&MODULE.replacen(place, &format!("$0{place}"), 1));
    let found = analysis.rewrite_actions(file, offset..offset, Wanted::Titles).expect("nobody cancels");
    let mut shown: String = found.iter().map(|action| format!("{}\n", action.title)).collect();
    let action = found.iter().find(|action| action.title.starts_with(title));
    let action = action.unwrap_or_else(|| panic!("no {title} in {shown}"));
    let found = analysis.rewrite_actions(file, offset..offset, Wanted::Change(&action.id));
    let found = found.expect("nobody cancels");
    let Some(Change::Edits(edits) | Change::Checked { edits, .. }) =
        found.into_iter().next().and_then(|found| found.change)
    else {
        panic!("{title} has no edits");
    };
    let after = apply_edits(MODULE, &edits);
    for line in MODULE.lines().filter(|line| !after.contains(line)) {
        shown += &format!("-{line}\n");
    }
    for line in after.lines().filter(|line| !MODULE.contains(line)) {
        shown += &format!("+{line}\n");
    }
    expect.assert_eq(&shown);
}

#[test]
fn a_producer_is_fused_into_its_user() {
    check(
        "%first = ",
        "Fuse %first into %second",
        expect![[r#"
            Fuse %first into %second: 1.9 µs → 0.8 µs
            Unfuse %first: 1.9 µs → 4.5 µs
            -%scaled {
            -  %p = f32[512,1024] parameter(0)
            -  %two = f32[] constant(2)
            -  %twos = f32[512,1024] broadcast(%two), dimensions={}
            -  %half = f32[512,1024] multiply(%p, %twos)
            -  ROOT %e = f32[512,1024] exponential(%half)
            -%summed {
            -  %q = f32[512,1024] parameter(0)
            -  %zero = f32[] constant(0)
            -  ROOT %r = f32[512] reduce(%q, %zero), dimensions={1}, to_apply=%sum
            -  %first = f32[512,1024] fusion(%x), kind=kLoop, calls=%scaled, metadata={op_name="exp"}  // stays
            -  %second = f32[512] fusion(%first), kind=kInput, calls=%summed
            -  ROOT %last = f32[512] negate(%second)
            +%fused_computation {
            +  %param_0 = f32[512,1024] parameter(0)
            +  %two.1 = f32[] constant(2)
            +  %twos.1 = f32[512,1024] broadcast(%two.1), dimensions={}
            +  %half.1 = f32[512,1024] multiply(%param_0, %twos.1)
            +  %e.1 = f32[512,1024] exponential(%half.1)
            +  %zero.1 = f32[] constant(0)
            +  ROOT %r.1 = f32[512] reduce(%e.1, %zero.1), dimensions={1}, to_apply=%sum
            +  %second.1 = f32[512] fusion(%x), kind=kInput, calls=%fused_computation
            +  ROOT %last = f32[512] negate(%second.1)
        "#]],
    );
}

#[test]
fn an_instruction_is_fused_with_its_producer() {
    check(
        "%last = ",
        "Fuse %second into %last",
        expect![[r#"
            Fuse %second into %last: 1.9 µs − 0.008 µs
            -%summed {
            -  %q = f32[512,1024] parameter(0)
            -  %zero = f32[] constant(0)
            -  ROOT %r = f32[512] reduce(%q, %zero), dimensions={1}, to_apply=%sum
            -  %second = f32[512] fusion(%first), kind=kInput, calls=%summed
            -  ROOT %last = f32[512] negate(%second)
            +%fused_computation {
            +  %param_0 = f32[512,1024] parameter(0)
            +  %zero.1 = f32[] constant(0)
            +  %r.1 = f32[512] reduce(%param_0, %zero.1), dimensions={1}, to_apply=%sum
            +  ROOT %last.1 = f32[512] negate(%r.1)
            +  ROOT %fusion = f32[512] fusion(%first), kind=kInput, calls=%fused_computation
        "#]],
    );
}

#[test]
fn a_fusion_is_taken_apart() {
    check(
        "%second = ",
        "Unfuse %second",
        expect![[r#"
            Fuse %second into %last: 1.9 µs − 0.008 µs
            Fuse %first into %second: 1.9 µs → 0.8 µs
            Unfuse %second: 1.9 µs as before
            -%summed {
            -  %q = f32[512,1024] parameter(0)
            -  %zero = f32[] constant(0)
            -  ROOT %r = f32[512] reduce(%q, %zero), dimensions={1}, to_apply=%sum
            -  %second = f32[512] fusion(%first), kind=kInput, calls=%summed
            -  ROOT %last = f32[512] negate(%second)
            +  %zero.1 = f32[] constant(0)
            +  %r.1 = f32[512] reduce(%first, %zero.1), dimensions={1}, to_apply=%sum
            +  ROOT %last = f32[512] negate(%r.1)
        "#]],
    );
}

#[test]
fn a_fusion_is_split() {
    check(
        "%half = ",
        "Split %first at %half",
        expect![[r#"
            Split %first at %half: 1.9 µs → 3.2 µs
            -%scaled {
            -  %p = f32[512,1024] parameter(0)
            -  %two = f32[] constant(2)
            -  %twos = f32[512,1024] broadcast(%two), dimensions={}
            -  %half = f32[512,1024] multiply(%p, %twos)
            -  ROOT %e = f32[512,1024] exponential(%half)
            -  %first = f32[512,1024] fusion(%x), kind=kLoop, calls=%scaled, metadata={op_name="exp"}  // stays
            -  %second = f32[512] fusion(%first), kind=kInput, calls=%summed
            +%fused_computation {
            +  %param_0 = f32[512,1024] parameter(0)
            +  %two.1 = f32[] constant(2)
            +  %twos.1 = f32[512,1024] broadcast(%two.1), dimensions={}
            +  ROOT %half.1 = f32[512,1024] multiply(%param_0, %twos.1)
            +%fused_computation.1 {
            +  %param_0.1 = f32[512,1024] parameter(0)
            +  ROOT %e.1 = f32[512,1024] exponential(%param_0.1)
            +  %fusion = f32[512,1024] fusion(%x), kind=kLoop, calls=%fused_computation
            +  %fusion.1 = f32[512,1024] fusion(%fusion), kind=kLoop, calls=%fused_computation.1
            +  %second = f32[512] fusion(%fusion.1), kind=kInput, calls=%summed
        "#]],
    );
}

#[test]
fn nothing_is_offered_before_fusion_or_for_parameters() {
    for (text, place) in [(MODULE.to_owned(), "%x = "), (MODULE.replace("fusion(", "custom("), "%first = ")] {
        let (analysis, file, offset) = open(&text.replacen(place, &format!("$0{place}"), 1));
        let found = analysis.rewrite_actions(file, offset..offset, Wanted::Titles).expect("nobody cancels");
        assert_eq!(found, []);
    }
}
