use expect_test::{Expect, expect};

use crate::fixture::{apply_edits, open};
use crate::{Change, Wanted};

/// The titles at `$0`, with the lines that each action changes and what it says of them.
#[track_caller]
fn check(fixture: &str, expect: Expect) {
    let (analysis, file, offset) = open(fixture);
    let errors = analysis.diagnostics(file, 9).expect("nobody cancels").shown;
    assert!(errors.is_empty(), "the fixture is wrong: {errors:?}");
    let text = analysis.text(file).to_string();
    let titles = analysis.rewrite_actions(file, offset..offset, Wanted::Titles).expect("nobody cancels");
    let mut shown = String::new();
    for action in titles.iter().filter(|action| action.id.starts_with(super::LAYOUT_ACTION)) {
        shown += &format!("{}\n", action.title);
        let found = analysis.rewrite_actions(file, offset..offset, Wanted::Change(&action.id));
        let found = found.expect("nobody cancels");
        let [resolved] = found.as_slice() else { panic!("{} is {found:?}", action.id) };
        let Some(Change::Checked { edits, check, is_different, effect }) = &resolved.change else {
            panic!("{resolved:?}")
        };
        assert!(!is_different, "{check}");
        shown += &format!("  {effect}\n  {check}\n");
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

/// A kernel that reads its operand transposed, without the help of shared memory.
const REVERSED: &str = "\
%reversed {
  %p = f32[2048,2048]{1,0} parameter(0)
  %t = f32[2048,2048]{1,0} transpose(%p), dimensions={1,0}
  ROOT %r = f32[2048,2048]{1,0} reverse(%t), dimensions={0}
}
";

const SCALED: &str = "\
%scaled {
  %q = f32[2048,2048]{1,0} parameter(0)
  ROOT %n = f32[2048,2048]{1,0} exponential(%q)
}
";

#[test]
fn a_parameter_is_taken_in_another_layout() {
    check(
        &format!(
            "HloModule m, is_scheduled=true, entry_computation_layout={{(f32[2048,2048]{{1,0}})->f32[2048,2048]{{1,0}}}}

{REVERSED}
ENTRY %e {{
  %x = f32[2048,2048]{{1,0}} parameter(0)
  ROOT $0%f = f32[2048,2048]{{1,0}} fusion(%x), kind=kLoop, calls=%reversed
}}
"
        ),
        expect![[r#"
            Take %x as {0,1} from the caller: %f 85 µs → 10 µs; module 85 µs → 10 µs
              %f reads %x in 16 sectors per request instead of 32, 16.8 MB instead of 134 MB; free if the caller can pass the parameter so
              checked: all values are equal (0 elements compared)
            -HloModule m, is_scheduled=true, entry_computation_layout={(f32[2048,2048]{1,0})->f32[2048,2048]{1,0}}
            -  %p = f32[2048,2048]{1,0} parameter(0)
            -  %x = f32[2048,2048]{1,0} parameter(0)
            +HloModule m, is_scheduled=true, entry_computation_layout={(f32[2048,2048]{0,1})->f32[2048,2048]{1,0}}
            +  %p = f32[2048,2048]{0,1} parameter(0)
            +  %x = f32[2048,2048]{0,1} parameter(0)
            Copy %x to {0,1} for %f: %f 85 µs → 10 µs, copy of 16.8 MB 10 µs; module 85 µs → 20 µs
              %f reads %x in 16 sectors per request instead of 32, 16.8 MB instead of 134 MB
              checked: all values are equal (64 elements compared)
            -  %p = f32[2048,2048]{1,0} parameter(0)
            -  ROOT %f = f32[2048,2048]{1,0} fusion(%x), kind=kLoop, calls=%reversed
            +  %p = f32[2048,2048]{0,1} parameter(0)
            +  %transpose = f32[2048,2048]{1,0} transpose(%x), dimensions={1,0}
            +  %bitcast = f32[2048,2048]{0,1} bitcast(%transpose)
            +  ROOT %f = f32[2048,2048]{1,0} fusion(%bitcast), kind=kLoop, calls=%reversed
        "#]],
    );
}

#[test]
fn a_result_is_stored_in_another_layout() {
    check(
        &format!(
            "HloModule m, is_scheduled=true

{REVERSED}
{SCALED}
ENTRY %e {{
  %x = f32[2048,2048]{{1,0}} parameter(0)
  %w = f32[2048,2048]{{1,0}} fusion(%x), kind=kLoop, calls=%scaled
  ROOT %f = f32[2048,2048]{{1,0}} fusion($0%w), kind=kLoop, calls=%reversed
}}
"
        ),
        expect![[r#"
            Store %w as {0,1}: %f 85 µs → 10 µs; module 95 µs → 20 µs
              %f reads %w in 16 sectors per request instead of 32, 16.8 MB instead of 134 MB; %w 10 µs as before
              checked: all values are equal (64 elements compared)
            -  %p = f32[2048,2048]{1,0} parameter(0)
            -  ROOT %n = f32[2048,2048]{1,0} exponential(%q)
            -  %w = f32[2048,2048]{1,0} fusion(%x), kind=kLoop, calls=%scaled
            +  %p = f32[2048,2048]{0,1} parameter(0)
            +  %n = f32[2048,2048]{1,0} exponential(%q)
            +  %transpose = f32[2048,2048]{1,0} transpose(%n), dimensions={1,0}
            +  ROOT %bitcast = f32[2048,2048]{0,1} bitcast(%transpose)
            +  %w = f32[2048,2048]{0,1} fusion(%x), kind=kLoop, calls=%scaled
            Copy %w to {0,1} for %f: %f 85 µs → 10 µs, copy of 16.8 MB 10 µs; module 95 µs → 30 µs
              %f reads %w in 16 sectors per request instead of 32, 16.8 MB instead of 134 MB
              checked: all values are equal (64 elements compared)
            -  %p = f32[2048,2048]{1,0} parameter(0)
            -  ROOT %f = f32[2048,2048]{1,0} fusion(%w), kind=kLoop, calls=%reversed
            +  %p = f32[2048,2048]{0,1} parameter(0)
            +  %transpose = f32[2048,2048]{1,0} transpose(%w), dimensions={1,0}
            +  %bitcast = f32[2048,2048]{0,1} bitcast(%transpose)
            +  ROOT %f = f32[2048,2048]{1,0} fusion(%bitcast), kind=kLoop, calls=%reversed
        "#]],
    );
}

#[test]
fn other_readers_of_a_result_are_counted() {
    check(
        &format!(
            "HloModule m, is_scheduled=true

{REVERSED}
{SCALED}
%logarithm {{
  %a = f32[2048,2048]{{1,0}} parameter(0)
  ROOT %b = f32[2048,2048]{{1,0}} log(%a)
}}

ENTRY %e {{
  %x = f32[2048,2048]{{1,0}} parameter(0)
  %w = f32[2048,2048]{{1,0}} fusion(%x), kind=kLoop, calls=%scaled
  %f = f32[2048,2048]{{1,0}} fusion($0%w), kind=kLoop, calls=%reversed
  %g = f32[2048,2048]{{1,0}} fusion(%w), kind=kLoop, calls=%logarithm
  %i = f32[4194304]{{0}} bitcast(%w)
  ROOT %o = (f32[2048,2048]{{1,0}}, f32[2048,2048]{{1,0}}, f32[4194304]{{0}}) tuple(%f, %g, %i)
}}
"
        ),
        expect![[r#"
            Store %w as {0,1}: %f 85 µs → 10 µs, copy of 16.8 MB 10 µs; module 106 µs → 41 µs
              %f reads %w in 16 sectors per request instead of 32, 16.8 MB instead of 134 MB; %w 10 µs as before; %g 11 µs as before; %i read a copy of 16.8 MB 10 µs in the old layout
              checked: all values are equal (192 elements compared)
            -  %p = f32[2048,2048]{1,0} parameter(0)
            -  ROOT %n = f32[2048,2048]{1,0} exponential(%q)
            -  %a = f32[2048,2048]{1,0} parameter(0)
            -  ROOT %b = f32[2048,2048]{1,0} log(%a)
            -  %w = f32[2048,2048]{1,0} fusion(%x), kind=kLoop, calls=%scaled
            -  %i = f32[4194304]{0} bitcast(%w)
            +  %p = f32[2048,2048]{0,1} parameter(0)
            +  %n = f32[2048,2048]{1,0} exponential(%q)
            +  %transpose = f32[2048,2048]{1,0} transpose(%n), dimensions={1,0}
            +  ROOT %bitcast = f32[2048,2048]{0,1} bitcast(%transpose)
            +  %a = f32[2048,2048]{0,1} parameter(0)
            +  %bitcast.1 = f32[2048,2048]{1,0} bitcast(%a)
            +  %transpose.1 = f32[2048,2048]{1,0} transpose(%bitcast.1), dimensions={1,0}
            +  ROOT %b = f32[2048,2048]{1,0} log(%transpose.1)
            +  %w = f32[2048,2048]{0,1} fusion(%x), kind=kLoop, calls=%scaled
            +  %bitcast.2 = f32[2048,2048]{1,0} bitcast(%w)
            +  %transpose.2 = f32[2048,2048]{1,0} transpose(%bitcast.2), dimensions={1,0}
            +  %i = f32[4194304]{0} bitcast(%transpose.2)
            Copy %w to {0,1} for %f: %f 85 µs → 10 µs, copy of 16.8 MB 10 µs; module 106 µs → 41 µs
              %f reads %w in 16 sectors per request instead of 32, 16.8 MB instead of 134 MB
              checked: all values are equal (64 elements compared)
            -  %p = f32[2048,2048]{1,0} parameter(0)
            -  %f = f32[2048,2048]{1,0} fusion(%w), kind=kLoop, calls=%reversed
            +  %p = f32[2048,2048]{0,1} parameter(0)
            +  %transpose = f32[2048,2048]{1,0} transpose(%w), dimensions={1,0}
            +  %bitcast = f32[2048,2048]{0,1} bitcast(%transpose)
            +  %f = f32[2048,2048]{1,0} fusion(%bitcast), kind=kLoop, calls=%reversed
        "#]],
    );
}

#[test]
fn a_result_of_the_entry_is_copied_or_returned_so() {
    check(
        &format!(
            "HloModule m, is_scheduled=true, entry_computation_layout={{(f32[2048,2048]{{1,0}})->(f32[2048,2048]{{1,0}}, /*index=1*/f32[2048,2048]{{1,0}})}}

{REVERSED}
{SCALED}
ENTRY %e {{
  %x = f32[2048,2048]{{1,0}} parameter(0)
  %w = f32[2048,2048]{{1,0}} fusion(%x), kind=kLoop, calls=%scaled
  %f = f32[2048,2048]{{1,0}} fusion($0%w), kind=kLoop, calls=%reversed
  ROOT %o = (f32[2048,2048]{{1,0}}, f32[2048,2048]{{1,0}}) tuple(%f, %w)
}}
"
        ),
        expect![[r#"
            Store and return %w as {0,1}: %f 85 µs → 10 µs; module 95 µs → 20 µs
              %f reads %w in 16 sectors per request instead of 32, 16.8 MB instead of 134 MB; %w 10 µs as before; free if the caller can take the result so
              checked: all values are equal (128 elements compared)
            -HloModule m, is_scheduled=true, entry_computation_layout={(f32[2048,2048]{1,0})->(f32[2048,2048]{1,0}, /*index=1*/f32[2048,2048]{1,0})}
            -  %p = f32[2048,2048]{1,0} parameter(0)
            -  ROOT %n = f32[2048,2048]{1,0} exponential(%q)
            -  %w = f32[2048,2048]{1,0} fusion(%x), kind=kLoop, calls=%scaled
            -  ROOT %o = (f32[2048,2048]{1,0}, f32[2048,2048]{1,0}) tuple(%f, %w)
            +HloModule m, is_scheduled=true, entry_computation_layout={(f32[2048,2048]{1,0})->(f32[2048,2048]{1,0}, f32[2048,2048]{0,1})}
            +  %p = f32[2048,2048]{0,1} parameter(0)
            +  %n = f32[2048,2048]{1,0} exponential(%q)
            +  %transpose = f32[2048,2048]{1,0} transpose(%n), dimensions={1,0}
            +  ROOT %bitcast = f32[2048,2048]{0,1} bitcast(%transpose)
            +  %w = f32[2048,2048]{0,1} fusion(%x), kind=kLoop, calls=%scaled
            +  ROOT %o = (f32[2048,2048]{1,0}, f32[2048,2048]{0,1}) tuple(%f, %w)
            Store %w as {0,1}: %f 85 µs → 10 µs, copy of 16.8 MB 10 µs; module 95 µs → 30 µs
              %f reads %w in 16 sectors per request instead of 32, 16.8 MB instead of 134 MB; %w 10 µs as before; %o read a copy of 16.8 MB 10 µs in the old layout
              checked: all values are equal (128 elements compared)
            -  %p = f32[2048,2048]{1,0} parameter(0)
            -  ROOT %n = f32[2048,2048]{1,0} exponential(%q)
            -  %w = f32[2048,2048]{1,0} fusion(%x), kind=kLoop, calls=%scaled
            -  ROOT %o = (f32[2048,2048]{1,0}, f32[2048,2048]{1,0}) tuple(%f, %w)
            +  %p = f32[2048,2048]{0,1} parameter(0)
            +  %n = f32[2048,2048]{1,0} exponential(%q)
            +  %transpose = f32[2048,2048]{1,0} transpose(%n), dimensions={1,0}
            +  ROOT %bitcast = f32[2048,2048]{0,1} bitcast(%transpose)
            +  %w = f32[2048,2048]{0,1} fusion(%x), kind=kLoop, calls=%scaled
            +  %bitcast.1 = f32[2048,2048]{1,0} bitcast(%w)
            +  %transpose.1 = f32[2048,2048]{1,0} transpose(%bitcast.1), dimensions={1,0}
            +  ROOT %o = (f32[2048,2048]{1,0}, f32[2048,2048]{1,0}) tuple(%f, %transpose.1)
            Copy %w to {0,1} for %f: %f 85 µs → 10 µs, copy of 16.8 MB 10 µs; module 95 µs → 30 µs
              %f reads %w in 16 sectors per request instead of 32, 16.8 MB instead of 134 MB
              checked: all values are equal (64 elements compared)
            -  %p = f32[2048,2048]{1,0} parameter(0)
            -  %f = f32[2048,2048]{1,0} fusion(%w), kind=kLoop, calls=%reversed
            +  %p = f32[2048,2048]{0,1} parameter(0)
            +  %transpose = f32[2048,2048]{1,0} transpose(%w), dimensions={1,0}
            +  %bitcast = f32[2048,2048]{0,1} bitcast(%transpose)
            +  %f = f32[2048,2048]{1,0} fusion(%bitcast), kind=kLoop, calls=%reversed
        "#]],
    );
}

#[test]
fn a_copy_into_the_layout_is_not_needed_any_more() {
    check(
        &format!(
            "HloModule m, is_scheduled=true

{REVERSED}
{SCALED}
%square {{
  %a = f32[2048,2048]{{0,1}} parameter(0)
  ROOT %b = f32[2048,2048]{{0,1}} multiply(%a, %a)
}}

ENTRY %e {{
  %x = f32[2048,2048]{{1,0}} parameter(0)
  %w = f32[2048,2048]{{1,0}} fusion(%x), kind=kLoop, calls=%scaled
  %c = f32[2048,2048]{{0,1}} copy(%w)
  %g = f32[2048,2048]{{0,1}} fusion(%c), kind=kLoop, calls=%square
  %f = f32[2048,2048]{{1,0}} fusion($0%w), kind=kLoop, calls=%reversed
  ROOT %o = (f32[2048,2048]{{1,0}}, f32[2048,2048]{{0,1}}) tuple(%f, %g)
}}
"
        ),
        expect![[r#"
            Store %w as {0,1}: %f 85 µs → 10 µs; module 190 µs → 30 µs
              %f reads %w in 16 sectors per request instead of 32, 16.8 MB instead of 134 MB; %w 10 µs as before; %c is not needed any more (85 µs)
              checked: all values are equal (128 elements compared)
            -  %p = f32[2048,2048]{1,0} parameter(0)
            -  ROOT %n = f32[2048,2048]{1,0} exponential(%q)
            -  %w = f32[2048,2048]{1,0} fusion(%x), kind=kLoop, calls=%scaled
            -  %c = f32[2048,2048]{0,1} copy(%w)
            -  %g = f32[2048,2048]{0,1} fusion(%c), kind=kLoop, calls=%square
            +  %p = f32[2048,2048]{0,1} parameter(0)
            +  %n = f32[2048,2048]{1,0} exponential(%q)
            +  %transpose = f32[2048,2048]{1,0} transpose(%n), dimensions={1,0}
            +  ROOT %bitcast = f32[2048,2048]{0,1} bitcast(%transpose)
            +  %w = f32[2048,2048]{0,1} fusion(%x), kind=kLoop, calls=%scaled
            +  %g = f32[2048,2048]{0,1} fusion(%w), kind=kLoop, calls=%square
            Copy %w to {0,1} for %f: %f 85 µs → 10 µs, copy of 16.8 MB 10 µs; module 190 µs → 125 µs
              %f reads %w in 16 sectors per request instead of 32, 16.8 MB instead of 134 MB
              checked: all values are equal (64 elements compared)
            -  %p = f32[2048,2048]{1,0} parameter(0)
            -  %f = f32[2048,2048]{1,0} fusion(%w), kind=kLoop, calls=%reversed
            +  %p = f32[2048,2048]{0,1} parameter(0)
            +  %transpose = f32[2048,2048]{1,0} transpose(%w), dimensions={1,0}
            +  %bitcast = f32[2048,2048]{0,1} bitcast(%transpose)
            +  %f = f32[2048,2048]{1,0} fusion(%bitcast), kind=kLoop, calls=%reversed
        "#]],
    );
}

#[test]
fn an_element_of_a_tuple_is_stored_in_another_layout() {
    check(
        &format!(
            "HloModule m, is_scheduled=true

{REVERSED}
%both {{
  %q = f32[2048,2048]{{1,0}} parameter(0)
  %n = f32[2048,2048]{{1,0}} exponential(%q)
  %l = f32[2048,2048]{{1,0}} log(%q)
  ROOT %u = (f32[2048,2048]{{1,0}}, f32[2048,2048]{{1,0}}) tuple(%n, %l)
}}

ENTRY %e {{
  %x = f32[2048,2048]{{1,0}} parameter(0)
  %w = (f32[2048,2048]{{1,0}}, f32[2048,2048]{{1,0}}) fusion(%x), kind=kLoop, calls=%both
  %f = f32[2048,2048]{{1,0}} fusion($0%w#1), kind=kLoop, calls=%reversed
  ROOT %o = (f32[2048,2048]{{1,0}}, f32[2048,2048]{{1,0}}) tuple(%f, %w#0)
}}
"
        ),
        expect![[r#"
            Store %w#1 as {0,1}: %f 85 µs → 10 µs; module 101 µs → 28 µs
              %f reads %w#1 in 16 sectors per request instead of 32, 16.8 MB instead of 134 MB; %w 16 µs → 18 µs
              checked: all values are equal (128 elements compared)
            -  %p = f32[2048,2048]{1,0} parameter(0)
            -  ROOT %u = (f32[2048,2048]{1,0}, f32[2048,2048]{1,0}) tuple(%n, %l)
            -  %w = (f32[2048,2048]{1,0}, f32[2048,2048]{1,0}) fusion(%x), kind=kLoop, calls=%both
            +  %p = f32[2048,2048]{0,1} parameter(0)
            +  %transpose = f32[2048,2048]{1,0} transpose(%l), dimensions={1,0}
            +  %bitcast = f32[2048,2048]{0,1} bitcast(%transpose)
            +  ROOT %u = (f32[2048,2048]{1,0}, f32[2048,2048]{0,1}) tuple(%n, %bitcast)
            +  %w = (f32[2048,2048]{1,0}, f32[2048,2048]{0,1}) fusion(%x), kind=kLoop, calls=%both
            Copy %w#1 to {0,1} for %f: %f 85 µs → 10 µs, copy of 16.8 MB 10 µs; module 101 µs → 36 µs
              %f reads %w#1 in 16 sectors per request instead of 32, 16.8 MB instead of 134 MB
              checked: all values are equal (64 elements compared)
            -  %p = f32[2048,2048]{1,0} parameter(0)
            -  %f = f32[2048,2048]{1,0} fusion(%w#1), kind=kLoop, calls=%reversed
            +  %p = f32[2048,2048]{0,1} parameter(0)
            +  %transpose = f32[2048,2048]{1,0} transpose(%w#1), dimensions={1,0}
            +  %bitcast = f32[2048,2048]{0,1} bitcast(%transpose)
            +  %f = f32[2048,2048]{1,0} fusion(%bitcast), kind=kLoop, calls=%reversed
        "#]],
    );
}

#[test]
fn the_cause_inside_of_a_fusion_has_the_actions_too() {
    let text = format!(
        "HloModule m, is_scheduled=true\n\n{REVERSED}
ENTRY %e {{
  %x = f32[2048,2048]{{1,0}} parameter(0)
  ROOT %f = f32[2048,2048]{{1,0}} fusion(%x), kind=kLoop, calls=%reversed
}}
"
    );
    let ids = |at: &str| {
        let (analysis, file, offset) = open(&text.replacen(at, &format!("$0{at}"), 1));
        let found = analysis.rewrite_actions(file, offset..offset, Wanted::Titles).expect("nobody cancels");
        let found = found.into_iter().filter(|action| action.id.starts_with(super::LAYOUT_ACTION));
        found.map(|action| action.id).collect::<Vec<_>>()
    };
    assert_eq!(ids("%t = "), ids("%f = "));
    assert!(!ids("%t = ").is_empty());
    assert_eq!(ids("%r = "), Vec::<String>::new());
    assert_eq!(ids("%x = "), Vec::<String>::new());
}

#[test]
fn a_change_that_gains_nothing_says_so() {
    check(
        "HloModule m, input_output_alias={ {}: (1, {}, must-alias) }

%sum {
  %p = f64[2048,2048]{1,0} parameter(0)
  %q = f64[2048,2048]{0,1} parameter(1)
  ROOT %a = f64[2048,2048]{1,0} add(%p, %q)
}

ENTRY %e {
  %x = f64[2048,2048]{1,0} parameter(0)
  %y = f64[2048,2048]{0,1} parameter(1)
  ROOT %f = f64[2048,2048]{1,0} fusion(%x, $0%y), kind=kLoop, calls=%sum
}
",
        expect![[r#"
            Copy %y to {1,0} for %f: %f 42 µs → 30 µs, copy of 33.6 MB 20 µs; module 42 µs → 50 µs: no gain
              %f reads %y in 32 sectors per request instead of 32, 33.6 MB instead of 134 MB
              checked: all values are equal (64 elements compared)
            -  %q = f64[2048,2048]{0,1} parameter(1)
            -  ROOT %f = f64[2048,2048]{1,0} fusion(%x, %y), kind=kLoop, calls=%sum
            +  %q = f64[2048,2048]{1,0} parameter(1)
            +  %bitcast = f64[2048,2048]{1,0} bitcast(%y)
            +  %transpose = f64[2048,2048]{1,0} transpose(%bitcast), dimensions={1,0}
            +  ROOT %f = f64[2048,2048]{1,0} fusion(%x, %transpose), kind=kLoop, calls=%sum
        "#]],
    );
}

#[test]
fn where_no_layout_helps_there_is_no_action() {
    check(
        "HloModule m, is_scheduled=true

%sliced {
  %p = f32[16777216]{0} parameter(0)
  ROOT %s = f32[2097152]{0} slice(%p), slice={[0:16777216:8]}
}

ENTRY %e {
  %x = f32[16777216]{0} parameter(0)
  ROOT %f = f32[2097152]{0} fusion($0%x), kind=kLoop, calls=%sliced
}
",
        expect![[""]],
    );
}
