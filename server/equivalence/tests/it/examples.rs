//! Pairs of modules that a reader learns from.

use crate::compared;

/// The entry computation of a module, around which all else is the same.
fn entry(body: &str) -> String {
    format!(
        "HloModule m\n\nsum {{\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  ROOT s = f32[] add(a, b)\n}}\n\n\
         ENTRY e {{\n  p = f32[1000,512] parameter(0)\n  q = s32[] parameter(1)\n  zero = f32[] constant(0)\n{body}\n}}\n"
    )
}

#[track_caller]
fn check(before: &str, after: &str, expected: (usize, usize, usize)) {
    let verdict = compared(&entry(before), &entry(after));
    let found = (verdict.compared, verdict.open.len(), verdict.differences.len());
    assert_eq!(found, expected, "{verdict:#?}");
}

#[test]
fn what_is_the_same_term_is_not_evaluated() {
    let before = "  t = f32[512,1000] transpose(p), dimensions={1,0}\n  ROOT n = f32[512,1000] negate(t)";
    let after = "  other = f32[512,1000] transpose(p), dimensions={1,0}\n  same = f32[512,1000] copy(other)\n  \
                 ROOT last = f32[512,1000] negate(same)";
    check(before, after, (0, 0, 0));
}

#[test]
fn a_rewritten_instruction_is_compared() {
    let before =
        "  t = f32[1000,512] add(p, p)\n  ROOT n = f32[1000] reduce(t, zero), dimensions={1}, to_apply=sum";
    let after = "  two = f32[] constant(2)\n  twos = f32[1000,512] broadcast(two), dimensions={}\n  \
                 t = f32[1000,512] multiply(p, twos)\n  ROOT n = f32[1000] reduce(t, zero), dimensions={1}, to_apply=sum";
    check(before, after, (2, 0, 0));
    check(before, &after.replace("constant(2)", "constant(3)"), (0, 0, 1));
}

/// `%t` is another value, so `%n` is compared from `%p`.
#[test]
fn a_name_that_means_something_else_is_no_cut() {
    let before = "  t = f32[1000,512] negate(p)\n  ROOT n = f32[1000,512] multiply(t, t)";
    check(before, "  t = f32[1000,512] abs(p)\n  ROOT n = f32[1000,512] multiply(t, t)", (1, 0, 0));
    check(before, "  t = f32[1000,512] exponential(p)\n  ROOT n = f32[1000,512] multiply(t, t)", (0, 0, 1));
}

/// The cut at `%c` hides that it is never negative.
#[test]
fn what_is_known_of_a_cut_counts() {
    let before = "  c = f32[1000,512] abs(p)\n  u = f32[1000,512] negate(c)\n  ROOT n = f32[1000,512] abs(u)";
    let after = "  c = f32[1000,512] abs(p)\n  ROOT n = f32[1000,512] copy(c)";
    check(before, after, (1, 0, 0));
}

#[test]
fn fusions_are_compared_by_what_they_compute() {
    let text = |body: &str| {
        format!(
            "HloModule m\n\nf {{\n  x = f32[8] parameter(0)\n  ROOT z = f32[8] exponential(x)\n}}\n\n\
             ENTRY e {{\n  p = f32[8] parameter(0)\n  {body}\n}}\n"
        )
    };
    let fused = text("ROOT r = f32[8] fusion(p), kind=kLoop, calls=f");
    assert!(compared(&text("ROOT y = f32[8] exponential(p)"), &fused).is_equal());
    let different = compared(&text("ROOT y = f32[8] exponential-minus-one(p)"), &fused);
    assert_eq!(different.differences.len(), 1);
    let words = different.differences[0].to_string();
    assert!(words.starts_with("%y and %z.1 differ: element 0 of array 0 was "), "{words}");
}

fn loop_of(body: &str, start: &str) -> String {
    format!(
        "HloModule m\n\nbody {{\n  p = (s32[], f32[8]) parameter(0)\n  i = s32[] get-tuple-element(p), index=0\n  \
         x = f32[8] get-tuple-element(p), index=1\n  one = s32[] constant(1)\n  j = s32[] add(i, one)\n  {body}\n  \
         ROOT t = (s32[], f32[8]) tuple(j, y)\n}}\n\ncond {{\n  p = (s32[], f32[8]) parameter(0)\n  \
         i = s32[] get-tuple-element(p), index=0\n  n = s32[] constant(1000000000)\n  \
         ROOT c = pred[] compare(i, n), direction=LT\n}}\n\nENTRY e {{\n  a = f32[8] parameter(0)\n  \
         zero = s32[] constant({start})\n  t = (s32[], f32[8]) tuple(zero, a)\n  \
         ROOT w = (s32[], f32[8]) while(t), condition=cond, body=body\n}}\n"
    )
}

/// No round of the loop is computed.
#[test]
fn loops_are_equal_if_their_bodies_and_starts_are() {
    let before = loop_of("y = f32[8] add(x, x)", "0");
    let after = "two = f32[] constant(2)\n  twos = f32[8] broadcast(two), dimensions={}\n  y = f32[8] multiply(x, twos)";
    let equal = compared(&before, &loop_of(after, "0"));
    assert!(equal.is_equal() && equal.compared > 1, "{equal:#?}");
    assert_eq!(compared(&before, &loop_of(after, "1")).differences.len(), 1);
    let wrong = compared(&before, &loop_of(&after.replace("constant(2)", "constant(3)"), "0"));
    assert!(
        wrong.differences.is_empty() && wrong.open[0].reason.contains("differs for some values"),
        "{wrong:#?}"
    );
}

#[test]
fn what_is_not_evaluated_is_open() {
    let before = "  ROOT c = f32[4] custom-call(p), custom_call_target=\"one\"";
    check(before, "  ROOT c = f32[4] custom-call(p), custom_call_target=\"other\"", (0, 1, 0));
    // The same call is equal where its operand is.
    let both = "  c = f32[4] custom-call(x), custom_call_target=\"one\"\n  ROOT n = f32[4] negate(c)";
    check(
        &format!("  x = f32[1000,512] add(p, p)\n{both}"),
        &format!("  x = f32[1000,512] subtract(p, p)\n{both}"),
        (1, 0, 1),
    );
    check(before, "  ROOT c = f32[4] slice(p), slice={[0:4]}", (0, 1, 0));
    check(before, "  ROOT c = f32[5] custom-call(p), custom_call_target=\"one\"", (0, 1, 0));
}

/// Neither the operands nor the name decide what a library computes, or what is random.
#[test]
fn operands_do_not_decide_everything() {
    let call = |config: &str| {
        format!("  ROOT c = f32[4] custom-call(p), custom_call_target=\"one\", backend_config=\"{config}\"")
    };
    check(&call("a"), &call("a"), (0, 0, 0));
    check(&call("a"), &call("b"), (0, 1, 0));
    let random = |root: &str| {
        format!(
            "  one = f32[] constant(1)\n  r.1 = f32[4] rng(zero, one), distribution=rng_uniform\n  \
             r.2 = f32[4] rng(zero, one), distribution=rng_uniform\n  ROOT t = f32[4] subtract({root})"
        )
    };
    check(&random("r.1, r.2"), &random("r.1, r.2"), (0, 0, 0));
    check(&random("r.1, r.2"), &random("r.1, r.1"), (0, 0, 1));
}
