use expect_test::{Expect, expect};

use crate::fixture::{apply_edits, open};
use crate::{Change, CodeActionKind, Wanted};

/// Lists the actions at `$0` with the lines that each changes.
#[track_caller]
fn check(fixture: &str, expect: Expect) {
    let (analysis, file, offset) = open(fixture);
    let text = analysis.text(file).to_string();
    let titles = analysis.rewrite_actions(file, offset..offset, Wanted::Titles).expect("nobody cancels");
    let mut shown = String::new();
    for action in titles {
        assert_eq!((action.kind, &action.change), (CodeActionKind::RefactorRewrite, &None));
        shown += &format!("{}\n", action.title);
        let found = analysis.rewrite_actions(file, offset..offset, Wanted::Change(&action.id));
        let found = found.expect("nobody cancels");
        let [resolved] = found.as_slice() else { panic!("{} is {found:?}", action.id) };
        let Some(Change::Edits(edits) | Change::Checked { edits, .. }) = &resolved.change else {
            panic!("{resolved:?}")
        };
        let after = apply_edits(&text, edits);
        for line in text.lines().filter(|line| !after.contains(line)) {
            shown += &format!("-{line}\n");
        }
        for line in after.lines().filter(|line| !text.contains(line)) {
            shown += &format!("+{line}\n");
        }
    }
    expect.assert_eq(&shown);
}

const MODULE: &str = "HloModule m

// What sums.
%sum {
  %a = f32[] parameter(0)
  %b = f32[] parameter(1)
  ROOT %s = f32[] add(%a, %b)
}

ENTRY %e {
  %p = f32[64,32] parameter(0)
  %one = f32[] constant(1)
  %ones = f32[64,32] broadcast(%one), dimensions={}
  %n = f32[64,32]   negate( %p )  // the first
  %m = f32[64,32] negate(%p)      // the second
  %x = f32[64,32] multiply(%n, %ones)
  %unused = f32[64,32] abs(%x)
  %y = f32[64,32] add(%x, %m),   metadata={op_name=\"y\"}
  %t = f32[32,64] transpose(%y), dimensions={1,0}
  %u = f32[64,32] transpose(%t), dimensions={1,0}
  ROOT %r = f32[64,32] subtract(%u, %u)
}
";

fn at(name: &str) -> String {
    MODULE.replacen(&format!("  {name} = "), &format!("  $0{name} = "), 1)
}

#[test]
fn a_pass_is_applied_at_one_instruction() {
    check(
        &at("%x"),
        expect![[r#"
            algsimp: %x multiplies by one (0.069 µs as before)
            -  %one = f32[] constant(1)
            -  %ones = f32[64,32] broadcast(%one), dimensions={}
            -  %x = f32[64,32] multiply(%n, %ones)
            -  %unused = f32[64,32] abs(%x)
            -  %y = f32[64,32] add(%x, %m),   metadata={op_name="y"}
            +  %unused = f32[64,32] abs(%n)
            +  %y = f32[64,32] add(%n, %m),   metadata={op_name="y"}
            algsimp: everywhere in %e (0.069 µs → 0.011 µs)
            -  %one = f32[] constant(1)
            -  %ones = f32[64,32] broadcast(%one), dimensions={}
            -  %x = f32[64,32] multiply(%n, %ones)
            -  %unused = f32[64,32] abs(%x)
            -  %y = f32[64,32] add(%x, %m),   metadata={op_name="y"}
            -  %t = f32[32,64] transpose(%y), dimensions={1,0}
            -  %u = f32[64,32] transpose(%t), dimensions={1,0}
            -  ROOT %r = f32[64,32] subtract(%u, %u)
            +  %unused = f32[64,32] abs(%n)
            +  %y = f32[64,32] add(%n, %m),   metadata={op_name="y"}
            +  %transpose = f32[64,32] transpose(%y), dimensions={0,1}
            +  ROOT %r = f32[64,32] subtract(%transpose, %transpose)
        "#]],
    );
    check(
        &at("%m"),
        expect![[r#"
            cse: %m merged into %n, which is equal (0.069 µs as before)
            -  %m = f32[64,32] negate(%p)      // the second
            -  %y = f32[64,32] add(%x, %m),   metadata={op_name="y"}
            +  %y = f32[64,32] add(%x, %n),   metadata={op_name="y"}
        "#]],
    );
    check(
        &at("%unused"),
        expect![[r#"
            dce: %unused removed: nothing uses it (0.069 µs as before)
            -  %unused = f32[64,32] abs(%x)
            dce: everywhere in %e (0.069 µs as before)
            -  %unused = f32[64,32] abs(%x)
        "#]],
    );
    check(
        &at("%u"),
        expect![[r#"
            algsimp: %u transposes twice (0.069 µs → 0.011 µs)
            -  %t = f32[32,64] transpose(%y), dimensions={1,0}
            -  %u = f32[64,32] transpose(%t), dimensions={1,0}
            -  ROOT %r = f32[64,32] subtract(%u, %u)
            +  %transpose = f32[64,32] transpose(%y), dimensions={0,1}
            +  ROOT %r = f32[64,32] subtract(%transpose, %transpose)
            algsimp: everywhere in %e (0.069 µs → 0.011 µs)
            -  %one = f32[] constant(1)
            -  %ones = f32[64,32] broadcast(%one), dimensions={}
            -  %x = f32[64,32] multiply(%n, %ones)
            -  %unused = f32[64,32] abs(%x)
            -  %y = f32[64,32] add(%x, %m),   metadata={op_name="y"}
            -  %t = f32[32,64] transpose(%y), dimensions={1,0}
            -  %u = f32[64,32] transpose(%t), dimensions={1,0}
            -  ROOT %r = f32[64,32] subtract(%u, %u)
            +  %unused = f32[64,32] abs(%n)
            +  %y = f32[64,32] add(%n, %m),   metadata={op_name="y"}
            +  %transpose = f32[64,32] transpose(%y), dimensions={0,1}
            +  ROOT %r = f32[64,32] subtract(%transpose, %transpose)
        "#]],
    );
    check(&at("%p"), expect![[""]]);
    check(
        &at("ROOT %r"),
        expect![[r#"
            dce: everywhere in %e (0.069 µs as before)
            -  %unused = f32[64,32] abs(%x)
            reshape-mover: %r moved in front of %u (0.069 µs as before)
            -  ROOT %r = f32[64,32] subtract(%u, %u)
            +  %transpose = f32[32,64]{0,1} transpose(%u), dimensions={1,0}
            +  %transpose.1 = f32[32,64]{0,1} transpose(%u), dimensions={1,0}
            +  %r.1 = f32[32,64] subtract(%transpose, %transpose.1)
            +  ROOT %transpose.2 = f32[64,32] transpose(%r.1), dimensions={1,0}
        "#]],
    );
}

#[test]
fn lines_may_hold_several_instructions() {
    check(
        "HloModule m
ENTRY e { p = f32[8] parameter(0) zero = f32[] constant(0) z = f32[8] broadcast(zero), dimensions={} $0a = f32[8] add(p, z) ROOT r = f32[8] abs(a) }
",
        expect![[r#"
            algsimp: %a adds zero (0.003 µs → 0.001 µs)
            -ENTRY e { p = f32[8] parameter(0) zero = f32[] constant(0) z = f32[8] broadcast(zero), dimensions={} a = f32[8] add(p, z) ROOT r = f32[8] abs(a) }
            +ENTRY e { p = f32[8] parameter(0) ROOT r = f32[8] abs(p) }
        "#]],
    );
}

#[test]
fn the_root_may_move() {
    check(
        "HloModule m
ENTRY e {
  p = f32[4,8] parameter(0)
  n = f32[4,8] negate(p)
  $0ROOT t = f32[4,8] reshape(n)
}
",
        expect![[r#"
            algsimp: %t keeps the shape (0.002 µs as before)
            -  n = f32[4,8] negate(p)
            -  ROOT t = f32[4,8] reshape(n)
            +  ROOT n = f32[4,8] negate(p)
            dynamic-dimension-simplifier: %t replaced by %n (0.002 µs as before)
            -  n = f32[4,8] negate(p)
            -  ROOT t = f32[4,8] reshape(n)
            +  ROOT n = f32[4,8] negate(p)
            +  t = f32[4,8] reshape(n)
        "#]],
    );
}

#[test]
fn modules_with_errors_or_a_schedule_are_left_alone() {
    for text in [
        at("%x").replace("negate(%p)", "negate(%q)"),
        at("%x").replace("HloModule m", "HloModule m, is_scheduled=true"),
    ] {
        check(&text, expect![[""]]);
    }
}
