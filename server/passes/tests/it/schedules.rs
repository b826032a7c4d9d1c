//! Orders in which modules run.

use crate::{module, print, run};

/// The instructions of the entry that are not parameters, in the order in which they run.
fn order(text: &str) -> Vec<String> {
    let mut module = module(text);
    run(&mut module, "schedule").expect("it is supported");
    let text = print(&module);
    assert!(text.contains("is_scheduled=true"), "{text}");
    let entry = text.split("ENTRY").nth(1).expect("an entry computation");
    let lines = entry.lines().filter(|line| line.contains(" = ") && !line.contains(" parameter("));
    let name = |line: &str| line.trim().trim_start_matches("ROOT ").split(' ').next().map(str::to_owned);
    lines.filter_map(name).collect()
}

#[test]
fn the_order_that_needs_least_memory_is_taken() {
    let text = "HloModule m

ENTRY e {
  p = f32[8] parameter(0)
  small = f32[16] pad(p, zero), padding=0_8
  zero = f32[] constant(0)
  large = f32[4096] pad(p, zero), padding=0_4088
  shrunk = f32[8] slice(large), slice={[0:8]}
  less = f32[8] slice(small), slice={[0:8]}
  ROOT sum = f32[8] add(less, shrunk)
}
";
    assert_eq!(order(text), ["%zero", "%large", "%shrunk", "%small", "%less", "%sum"]);
}

#[test]
fn asynchronous_operations_start_early_and_end_late() {
    let text = "HloModule m

wrapped {
  q = f32[8] parameter(0)
  ROOT copied = f32[8] copy(q)
}

ENTRY e {
  p = f32[8] parameter(0)
  one = f32[8] negate(p)
  two = f32[8] negate(one)
  three = f32[8] negate(two)
  start = ((f32[8]), f32[8]) async-start(p), calls=wrapped
  done = f32[8] async-done(start)
  ROOT sum = f32[8] add(three, done)
}
";
    assert_eq!(order(text), ["%start", "%one", "%two", "%three", "%done", "%sum"]);
}
