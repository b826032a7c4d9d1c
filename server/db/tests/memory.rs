//! Small modules whose memory can be followed by hand, and properties of random ones.

mod memory_modules;

use std::fmt::Write;

use memory::{AllocationKind, Category, Memory};
use memory_modules::{planned, planned_or_not, random_module};
use random::Rng;

/// `name{}: bytes live start-end in allocation`, a line per value that is no table of pointers.
fn values(memory: &Memory) -> String {
    let mut text = String::new();
    for value in memory.values.iter().filter(|value| !value.is_tuple) {
        let at = value.allocation.map_or("nowhere".to_owned(), |n| {
            let allocation = &memory.allocations[n as usize];
            match allocation.kind {
                AllocationKind::Parameter { number, .. } => format!("parameter {number}"),
                kind => format!("{kind:?}").to_lowercase(),
            }
        });
        writeln!(text, "{}: {} B, {}-{}, {at}", value.name, value.size, value.live.start, value.live.end)
            .expect("text is written");
    }
    text
}

#[track_caller]
fn check(text: &str, expected: &str) {
    let expected: Vec<&str> = expected.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    assert_eq!(values(&planned(text)).lines().collect::<Vec<_>>(), expected);
}

#[test]
fn an_elementwise_op_takes_over_the_memory_of_its_operand() {
    let text = "
HloModule m, is_scheduled=true

ENTRY e {
  p = f32[256]{0} parameter(0)
  a = f32[256]{0} negate(p)
  b = f32[256]{0} exponential(a)
  c = f32[512]{0} concatenate(b, b), dimensions={0}
  ROOT d = f32[512]{0} negate(c)
}
";
    check(
        text,
        "
        p{}: 1024 B, 0-5, parameter 0
        a{}: 1024 B, 1-2, result
        b{}: 1024 B, 2-3, temporary
        c{}: 2048 B, 3-4, result
        d{}: 2048 B, 4-5, result
        ",
    );
    let memory = planned(text);
    // The result's memory is free while `a` is alive, but not for `b`: a concatenation reads it while it writes `c` there.
    assert_eq!(memory.total, 1024 + 2048 + 1024);
    assert_eq!((memory.peak.at, memory.positions()), (4, 5));
}

#[test]
fn an_update_in_place_is_in_the_memory_of_what_it_updates() {
    check(
        "
HloModule m, is_scheduled=true, input_output_alias={ {}: (0, {}, may-alias) }

ENTRY e {
  cache = f32[64,8]{1,0} parameter(0)
  row = f32[1,8]{1,0} parameter(1)
  i = s32[] parameter(2)
  zero = s32[] constant(0)
  ROOT new = f32[64,8]{1,0} dynamic-update-slice(cache, row, i, zero)
}
",
        "
        cache{}: 2048 B, 0-4, parameter 0
        row{}: 32 B, 0-5, parameter 1
        i{}: 4 B, 0-5, parameter 2
        zero{}: 4 B, 3-4, constant
        new{}: 2048 B, 4-5, parameter 0
        ",
    );
}

#[test]
fn what_a_loop_passes_on_unchanged_is_one_value() {
    check(
        "
HloModule m, is_scheduled=true

condition {
  c = (s32[], f32[256]{0}, f32[256]{0}) parameter(0)
  n = s32[] get-tuple-element(c), index=0
  limit = s32[] constant(8)
  ROOT less = pred[] compare(n, limit), direction=LT
}

body {
  b = (s32[], f32[256]{0}, f32[256]{0}) parameter(0)
  n = s32[] get-tuple-element(b), index=0
  sum = f32[256]{0} get-tuple-element(b), index=1
  weight = f32[256]{0} get-tuple-element(b), index=2
  one = s32[] constant(1)
  next = s32[] add(n, one)
  more = f32[256]{0} add(sum, weight)
  ROOT t = (s32[], f32[256]{0}, f32[256]{0}) tuple(next, more, weight)
}

ENTRY e {
  p = f32[256]{0} parameter(0)
  zero = s32[] constant(0)
  start = s32[] copy(zero)
  init = f32[256]{0} copy(p)
  first = (s32[], f32[256]{0}, f32[256]{0}) tuple(start, init, p)
  loop = (s32[], f32[256]{0}, f32[256]{0}) while(first), condition=condition, body=body
  ROOT result = f32[256]{0} get-tuple-element(loop), index=1
}
",
        "
        limit{}: 4 B, 7-8, constant
        less{}: 1 B, 8-9, temporary
        one{}: 4 B, 13-14, constant
        next{}: 4 B, 14-17, temporary
        more{}: 1024 B, 15-17, result
        zero{}: 4 B, 1-2, constant
        start{}: 4 B, 2-5, temporary
        p{}: 1024 B, 0-19, parameter 0
        init{}: 1024 B, 3-5, result
        c{0}: 4 B, 5-9, temporary
        c{1}: 1024 B, 5-9, result
        b{0}: 4 B, 9-14, temporary
        b{1}: 1024 B, 9-15, result
        loop{0}: 4 B, 17-17, temporary
        loop{1}: 1024 B, 17-19, result
        ",
    );
}

#[test]
fn the_scalars_of_a_reducer_are_thread_local() {
    let memory = planned(
        "
HloModule m, is_scheduled=true

sum {
  x = f32[] parameter(0)
  y = f32[] parameter(1)
  ROOT z = f32[] add(x, y)
}

ENTRY e {
  p = f32[256]{0} parameter(0)
  zero = f32[] constant(0)
  ROOT r = f32[] reduce(p, zero), dimensions={0}, to_apply=sum
}
",
    );
    let local = memory.allocations.iter().filter(|a| a.kind == AllocationKind::ThreadLocal);
    assert_eq!(local.map(|a| a.size).collect::<Vec<_>>(), [4, 4, 4]);
}

#[test]
fn sizes_that_are_not_known_are_told() {
    let memory = planned("HloModule m\n\nENTRY e {\n  ROOT p = f32[?] parameter(0)\n}\n");
    assert_eq!(memory.problems, ["%p{}: its size is not known, or 64 bits do not hold it; it counts as 0"]);
    assert!(planned_or_not("HloModule m\n").is_none());
}

/// Two values that are alive at the same time never overlap in memory, unless they are the same buffer, or one is computed
/// from the other at the moment at which it ends. The whole is never smaller than what is alive at one time.
#[test]
fn what_is_alive_together_is_apart() {
    for seed in 0..300 {
        let text = random_module(&mut Rng::new(seed));
        let memory = planned(&text);
        for (number, allocation) in memory.allocations.iter().enumerate() {
            for (i, &(a, from)) in allocation.values.iter().enumerate() {
                let one = &memory.values[a as usize];
                assert_eq!(one.allocation, Some(number as u32));
                assert!(from + one.size <= allocation.size, "{}\n{text}", one.name);
                for &(b, other_from) in &allocation.values[i + 1..] {
                    let other = &memory.values[b as usize];
                    let overlaps = from < other_from + other.size && other_from < from + one.size;
                    let touches = one.live.end == other.live.start || other.live.end == one.live.start;
                    if overlaps && one.live.overlaps(other.live) {
                        assert!(touches && from == other_from, "{} and {}\n{text}", one.name, other.name);
                    }
                }
            }
        }
        let most = (0..=memory.positions()).map(|time| {
            let strictly = memory.values.iter().filter(|v| {
                v.live.start <= time
                    && (time < v.live.end || v.live.start == v.live.end && v.live.start == time)
            });
            strictly.map(|value| value.bytes).sum::<u64>()
        });
        let most: Vec<u64> = most.collect();
        let usage = &memory.usage;
        assert_eq!(usage.in_use.len(), most.len());
        for (time, &alive) in most.iter().enumerate() {
            let in_use = memory::sum(&usage.in_use[time]);
            assert!(alive <= in_use && in_use <= memory.total, "at {time}: {alive}, {in_use}\n{text}");
        }
        let at_peak = memory::sum(&usage.at_peak());
        assert_eq!(Some(at_peak), usage.in_use.iter().map(memory::sum).max());
        assert_eq!(memory::sum(&usage.allocated), memory.total);
        let temporaries = Category::Temporary as usize;
        let used = usage.allocated[temporaries] - usage.fragmentation;
        assert_eq!(Some(used), usage.in_use.iter().map(|bytes| bytes[temporaries]).max(), "{text}");
    }
}

/// Without a schedule, what frees most memory runs first: one large array at a time.
#[test]
fn a_module_without_a_schedule_runs_in_the_order_of_the_list_scheduler() {
    let scheduled = "
HloModule m, is_scheduled=true

sum {
  x = f32[] parameter(0)
  y = f32[] parameter(1)
  ROOT z = f32[] add(x, y)
}

ENTRY e {
  p = f32[256]{0} parameter(0)
  zero = f32[] constant(0)
  a = f32[256,64]{1,0} broadcast(p), dimensions={0}
  b = f32[256,64]{1,0} broadcast(p), dimensions={0}
  c = f32[256,64]{1,0} broadcast(p), dimensions={0}
  sum_of_a = f32[256]{0} reduce(a, zero), dimensions={1}, to_apply=sum
  sum_of_b = f32[256]{0} reduce(b, zero), dimensions={1}, to_apply=sum
  sum_of_c = f32[256]{0} reduce(c, zero), dimensions={1}, to_apply=sum
  ROOT t = (f32[256]{0}, f32[256]{0}, f32[256]{0}) tuple(sum_of_a, sum_of_b, sum_of_c)
}
";
    let unscheduled = planned(&scheduled.replace(", is_scheduled=true", ""));
    let scheduled = planned(scheduled);
    let large = 4 * 256 * 64;
    assert_eq!(scheduled.total - unscheduled.total, 2 * large);
    let position = |name: &str| unscheduled.steps.iter().position(|step| &*step.name == name);
    // Of equal ones, what was ready last runs first.
    assert!(position("c") < position("sum_of_c") && position("sum_of_c") < position("b"));
    assert!(position("b") < position("sum_of_b") && position("sum_of_b") < position("a"));
}

#[test]
fn what_waits_for_another_instruction_runs_behind_it() {
    let text = "
HloModule m

ENTRY e {
  p = f32[256]{0} parameter(0)
  small = f32[64]{0} slice(p), slice={[0:64]}, control-predecessors={p}
  large = f32[1024]{0} pad(p, small), padding=0_768
  other = f32[64]{0} slice(p), slice={[64:128]}, control-predecessors={large}
  ROOT t = (f32[64]{0}, f32[1024]{0}, f32[64]{0}) tuple(small, large, other)
}
";
    let names = |text: &str| {
        let memory = planned(text);
        memory.steps.iter().map(|step| step.name.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(names(text), ["p", "small", "large", "other", "t"]);
    let without = names(&text.replace(", control-predecessors={large}", ""));
    assert_eq!(without, ["p", "small", "other", "large", "t"]);
}

/// Whatever the order, operands run before their users, and each instruction once.
#[test]
fn operands_run_before_their_users() {
    for seed in 0..100 {
        let text = random_module(&mut Rng::new(seed)).replace(", is_scheduled=true", "");
        let memory = planned(&text);
        let position = |name: &str| memory.steps.iter().position(|step| &*step.name == name);
        let entry = text.lines().skip_while(|line| !line.starts_with("ENTRY"));
        let lines = entry.filter_map(|line| line.trim().trim_start_matches("ROOT ").split_once(" = "));
        let mut count = 0;
        for (name, rest) in lines {
            count += 1;
            let own = position(name).unwrap_or_else(|| panic!("{name} has no position\n{text}"));
            let operands = rest.split('(').next_back().and_then(|list| list.split(')').next()).unwrap_or("");
            for operand in operands.split(", ").map(|operand| operand.split('#').next().unwrap_or(operand)) {
                assert!(position(operand).is_none_or(|at| at < own), "{operand} and {name}\n{text}");
            }
        }
        assert_eq!(memory.steps.len(), count, "{text}");
    }
}

/// An edit of a name changes nothing but the name.
#[test]
fn names_do_not_matter() {
    for seed in 0..50 {
        let text = random_module(&mut Rng::new(seed));
        let [before, after] = [planned(&text), planned(&text.replace("v1", "longer_name_of_v1"))];
        assert_eq!(before.total, after.total);
        assert_eq!(before.peak, after.peak);
        assert_eq!(before.allocations, after.allocations);
    }
}
