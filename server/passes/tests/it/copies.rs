//! Copy insertion: random programs with loops, conditionals and updates in place, run with the buffers that their values get.

mod buffers;
mod programs;

use passes::Module;
use random::Rng;

use crate::compare::compare;
use crate::{module, print, run};

fn with_copies(text: &str) -> Module {
    let mut module = module(text);
    run(&mut module, "copy-insertion").expect("it is supported");
    module
}

#[test]
fn no_value_is_overwritten_before_its_last_use() {
    let (mut conflicts, mut copies) = (0, 0);
    for case in 0..generators::cases(300) {
        let text = programs::random(&mut Rng::new(generators::seed(case)));
        conflicts += usize::from(buffers::run(&scheduled(module(&text))).is_err());
        let mut after = module(&text);
        // More dependencies leave fewer copies.
        if case % 2 == 0 {
            run(&mut after, "loop-schedule-linearizer").expect("it is supported");
        }
        run(&mut after, "copy-insertion").expect("it is supported");
        copies += print(&after).matches(" copy(").count();
        let after = scheduled(after);
        if let Err(why) = buffers::run(&after) {
            panic!("{why}:\n{text}\nbecame\n{after}");
        }
    }
    assert!(conflicts > 50 && copies > 100, "{conflicts} programs with conflicts, {copies} copies");
}

#[test]
fn copies_keep_the_values() {
    let mut compared = 0;
    for case in 0..generators::cases(100) {
        let text = programs::random(&mut Rng::new(generators::seed(case)));
        let steps = [
            "adding_copies_to_resolve_interference",
            "removing_unnecessary_copies",
            "adding_special-case_copies",
        ];
        let mut after = module(&text);
        let before = print(&after);
        for pass in steps {
            run(&mut after, pass).expect("it is supported");
            compared += compare(&before, &print(&after), 7, &[])
                .unwrap_or_else(|why| panic!("{pass}: {why}\n{text}"));
        }
        compared += compare(&before, &print(&with_copies(&text)), 7, &[])
            .unwrap_or_else(|why| panic!("{why}\n{text}"));
    }
    assert!(compared > 1000, "{compared} elements");
}

fn scheduled(mut module: Module) -> String {
    run(&mut module, "schedule").expect("it is supported");
    print(&module)
}

/// What copy insertion says of a module.
fn changes(text: &str) -> Vec<String> {
    let applied = run(&mut module(text), "copy-insertion").expect("it is supported");
    let all = applied.iter().flat_map(|applied| &applied.changes);
    all.map(|change| format!("%{}: {}", change.instruction, change.what)).collect()
}

#[test]
fn a_value_that_is_read_after_its_update_is_copied() {
    let text = "HloModule m

ENTRY e {
  p = f32[8] parameter(0)
  u = f32[2] parameter(1)
  at = s32[] constant(3)
  old = f32[8] negate(p)
  new = f32[8] dynamic-update-slice(old, u, at)
  late = f32[8] add(old, new)
  ROOT r = (f32[8], f32[8]) tuple(new, late)
}
";
    assert_eq!(
        changes(text),
        ["%old: copied as %copy because %new overwrites it while %late still reads it"]
    );
}

#[test]
fn a_value_that_is_dead_after_its_update_is_not_copied() {
    let text = "HloModule m

ENTRY e {
  p = f32[8] parameter(0)
  u = f32[2] parameter(1)
  at = s32[] constant(3)
  old = f32[8] negate(p)
  ROOT new = f32[8] dynamic-update-slice(old, u, at)
}
";
    assert_eq!(changes(text), [""; 0]);
    assert_eq!(print(&with_copies(text)), print(&module(text)));
}

#[test]
fn parameters_and_constants_that_are_written_are_copied() {
    let text = "HloModule m

ENTRY e {
  p = f32[8] parameter(0)
  u = f32[2] parameter(1)
  at = s32[] constant(3)
  ROOT new = f32[8] dynamic-update-slice(p, u, at)
}
";
    assert_eq!(
        changes(text),
        ["%p: copied as %copy.1 because nothing may write a parameter that is not donated"]
    );
    let donated = text.replace("HloModule m", "HloModule m, input_output_alias={ {}: (0, {}, may-alias) }");
    assert_eq!(changes(&donated), [""; 0]);
}

#[test]
fn what_a_loop_exchanges_is_copied_where_its_body_starts_and_ends() {
    let text = "HloModule m

more {
  s = (s32[], f32[8], f32[8]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  end = s32[] constant(4)
  ROOT less = pred[] compare(i, end), direction=LT
}

swap {
  s = (s32[], f32[8], f32[8]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  a = f32[8] get-tuple-element(s), index=1
  b = f32[8] get-tuple-element(s), index=2
  one = s32[] constant(1)
  next = s32[] add(i, one)
  ROOT r = (s32[], f32[8], f32[8]) tuple(next, b, a)
}

ENTRY e {
  p = f32[8] parameter(0)
  zero = s32[] constant(0)
  x = f32[8] negate(p)
  y = f32[8] exponential(p)
  init = (s32[], f32[8], f32[8]) tuple(zero, x, y)
  ROOT loop = (s32[], f32[8], f32[8]) while(init), condition=more, body=swap
}
";
    let found = changes(text);
    assert_eq!(found.len(), 5, "{found:#?}");
    assert!(found.iter().any(|change| change.starts_with("%zero: copied") && change.ends_with("constant")));
    assert!(found.iter().all(|change| change.contains(" because ")), "{found:#?}");
}

#[test]
fn what_reads_the_state_runs_before_what_replaces_it() {
    let text = "HloModule m

more {
  s = (s32[], f32[8]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  end = s32[] constant(4)
  ROOT less = pred[] compare(i, end), direction=LT
}

body {
  s = (s32[], f32[8]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  a = f32[8] get-tuple-element(s), index=1
  two = f32[2] constant({1, 2})
  updated = f32[8] dynamic-update-slice(a, two, i)
  one = s32[] constant(1)
  next = s32[] add(i, one)
  ROOT r = (s32[], f32[8]) tuple(next, updated)
}

ENTRY e {
  p = f32[8] parameter(0)
  zero = s32[] constant(0)
  x = f32[8] negate(p)
  init = (s32[], f32[8]) tuple(zero, x)
  ROOT loop = (s32[], f32[8]) while(init), condition=more, body=body
}
";
    let mut linear = module(text);
    let applied = run(&mut linear, "loop-schedule-linearizer").expect("it is supported");
    let [change] = &applied[0].changes[..] else { panic!("{applied:?}") };
    assert_eq!(
        (&*change.instruction, &*change.what),
        ("next", "runs after %updated, which reads what it replaces")
    );
    let text = print(&linear);
    assert!(text.contains("control-predecessors={%updated}"), "{text}");
    // Without a dependency the counter needs copies in the body.
    assert_eq!(changes(&text).len(), 1);
}
