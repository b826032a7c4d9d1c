//! The sentences about what passes introduce.

use matching::{Blame, Program, Reasons, match_programs};

/// A stage: its entry computation, and other computations before it.
fn module(computations: &str, entry: &str) -> String {
    format!(
        "\
HloModule m

{computations}
ENTRY main {{
{entry}}}
"
    )
}

/// The sentence about an instruction of the last stage; empty if it has none.
fn sentence(stages: &[String], name: &str) -> String {
    let read = |text: &'static str| Program::read(text).unwrap_or_else(|error| panic!("{error:?}\n{text}"));
    let programs: Vec<Program<'static>> =
        stages.iter().map(|text| read(String::leak(text.clone()))).collect();
    let mut blame = Blame::new(&programs[0]);
    let mut reasons = Reasons::new(&programs[0]);
    for pair in programs.windows(2) {
        let matching = match_programs(&pair[0], &pair[1]);
        blame.step(&matching);
        reasons.step(&pair[0], &pair[1], &matching);
    }
    let last = programs.last().expect("there is one");
    let id = last.instructions.iter().position(|instruction| instruction.name == name).expect("it is there")
        as u32;
    reasons.sentence(id, blame.introduced(id), |stage| format!("pass-{stage}")).unwrap_or_default()
}

#[test]
fn copies_name_what_needs_the_layout_or_the_buffer() {
    let dot = |operand| {
        format!(
            "  p = f32[8,4]{{1,0}} parameter(0)
{operand}  ROOT d = f32[8,8]{{1,0}} dot(%x, p), \
             lhs_contracting_dims={{1}}, rhs_contracting_dims={{1}}
"
        )
    };
    let before = module("", &dot("").replace("%x", "p"));
    let after = module("", &dot("  copy.1 = f32[8,4]{0,1} copy(p)\n").replace("%x", "copy.1"));
    assert_eq!(
        sentence(&[before, after], "copy.1"),
        "it makes operand 0 of `%d` column-major: the module's parameter `%p` is row-major"
    );
    let tuple = |copy: &str, element: &str| {
        let entry = format!(
            "  p = f32[8]{{0}} parameter(0)
  e = f32[8]{{0}} exponential(p)
{copy}  n = f32[8]{{0}} negate(e)
  \
             ROOT t = (f32[8]{{0}}, f32[8]{{0}}) tuple({element}, n)
"
        );
        module("", &entry)
    };
    let copied = tuple("  copy.2 = f32[8]{0} copy(e)\n", "copy.2");
    assert_eq!(
        sentence(&[tuple("", "e"), copied], "copy.2"),
        "it gives element 0 of `%t` a buffer of its own: `%n` also uses `%e`"
    );
}

#[test]
fn transposes_that_replace_copies_keep_their_reason() {
    let stage = |middle: &str, operand: &str| {
        let entry = format!(
            "  p = f32[8,4]{{1,0}} parameter(0)
{middle}  ROOT d = f32[4,4] dot({operand}, p), \
             lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}
"
        );
        module("", &entry)
    };
    let stages = [
        stage("  t = f32[4,8]{1,0} transpose(p), dimensions={1,0}\n", "t"),
        stage(
            "  t = f32[4,8]{0,1} transpose(p), dimensions={1,0}
  copy.1 = f32[4,8]{1,0} copy(t)
",
            "copy.1",
        ),
        stage(
            "  b = f32[8,4]{1,0} bitcast(p)
  transpose.3 = f32[4,8]{1,0} transpose(b), dimensions={1,0}
",
            "transpose.3",
        ),
    ];
    assert_eq!(
        sentence(&stages[..2], "copy.1"),
        "it makes operand 0 of `%d` row-major: `%t` is column-major"
    );
    let transpose = sentence(&stages, "transpose.3");
    assert!(
        transpose.starts_with(
            "it permutes `%b` by {1,0}: operand 0 of `%d` has its dimensions as free, contracting"
        ),
        "{transpose}"
    );
}

#[test]
fn conversions_name_the_types() {
    let before = "  p = bf16[8] parameter(0)
  e = bf16[8] exponential(p)
  ROOT n = bf16[8] negate(e)
";
    let after = "  p = bf16[8] parameter(0)
  c.1 = f32[8] convert(p)
  e = f32[8] exponential(c.1)
  \
                 c.2 = bf16[8] convert(e)
  ROOT n = bf16[8] negate(c.2)
";
    let stages = [module("", before), module("", after)];
    assert_eq!(
        sentence(&stages, "c.1"),
        "it widens the module's parameter `%p` from bf16 to f32 for operand 0 of `%e`"
    );
    assert_eq!(
        sentence(&stages, "c.2"),
        "it returns `%e`, which the pass made f32, to bf16 for operand 0 of `%n`"
    );
    // Of the program itself.
    assert_eq!(sentence(&[stages[1].clone(), stages[1].clone()], "c.1"), "");
}

#[test]
fn bitcasts_paddings_and_collectives_name_their_users() {
    let before = "  p = f32[6,4] parameter(0)
  r = f32[24] reshape(p)
  ROOT n = f32[24] negate(r)
";
    let after = "  p = f32[6,4] parameter(0)
  b = f32[24] bitcast(p)
  ROOT n = f32[24] negate(b)
";
    assert_eq!(
        sentence(&[module("", before), module("", after)], "b"),
        "it reads the bytes of the module's parameter `%p`, `f32[6,4]`, as `f32[24]` for operand 0 of `%n`; it takes the \
         place of `%r` (`reshape`)"
    );
    let before = "  p = f32[6,4] parameter(0)
  ROOT n = f32[6,4] negate(p)
";
    let padded = "  p = f32[6,4] parameter(0)
  z = f32[] constant(0)
  w = f32[8,4] pad(p, z), padding=0_2x0_0
  \
                  m = f32[8,4] negate(w)
  ROOT n = f32[6,4] slice(m), slice={[0:6], [0:4]}
";
    assert_eq!(
        sentence(&[module("", before), module("", padded)], "w"),
        "it pads the module's parameter `%p` from [6,4] to [8,4] for operand 0 of `%m`"
    );
    let gathered = "  p = f32[6,4] parameter(0)
  g = f32[12,4] all-gather(p), dimensions={0}
  \
                    m = f32[12,4] negate(g)
  ROOT n = f32[6,4] slice(m), slice={[0:6], [0:4]}
";
    assert_eq!(
        sentence(&[module("", before), module("", gathered)], "g"),
        "it gathers the shards of `%p` for operand 0 of `%m`"
    );
}

#[test]
fn fusions_name_what_they_join_and_clones_keep_their_reason() {
    let body = "  p = bf16[8] parameter(0)
  c = f32[8] convert(p)
  e = f32[8] exponential(c)
  ROOT n = f32[8] negate(e)
";
    let computation = "\
f {
  q = bf16[8] parameter(0)
  c.1 = f32[8] convert(q)
  e.1 = f32[8] exponential(c.1)
  ROOT n.1 = f32[8] negate(e.1)
}
";
    let fused = "  p = bf16[8] parameter(0)
  ROOT fusion.1 = f32[8] fusion(p), kind=kLoop, calls=f
";
    let stages = [module("", body), module(computation, fused)];
    assert_eq!(sentence(&stages, "fusion.1"), "it joins `%e`, `%n` and `%c`");
    assert_eq!(sentence(&stages, "c.1"), "it comes from `%c` of `pass-0`");
    let renamed = module(
        &computation.replace("f {", "g {"),
        "  p = bf16[8] parameter(0)
  loop_fusion = f32[8] fusion(p), kind=kLoop, calls=g
  \
         ROOT z = f32[8] sine(loop_fusion)
",
    );
    assert_eq!(
        sentence(&[stages[0].clone(), stages[1].clone(), renamed], "loop_fusion"),
        "it comes from `%fusion.1` of `pass-1`, which joins `%e`, `%n` and `%c`"
    );
    let alone = "\
f {
  q = f32[8] parameter(0)
  ROOT n.1 = f32[8] negate(q)
}
";
    let before = "  p = f32[8] parameter(0)
  ROOT n = f32[8] negate(p)
";
    let after = "  p = f32[8] parameter(0)
  ROOT wrapped = f32[8] fusion(p), kind=kLoop, calls=f
";
    assert_eq!(
        sentence(&[module("", before), module(alone, after)], "wrapped"),
        "it holds `%n` alone, which becomes a kernel"
    );
}

#[test]
fn odd_modules_have_sentences() {
    // Without operands, of tuples, of itself in a circle of calls.
    let before = "  ROOT p = f32[8] parameter(0)\n";
    let after = "  p = f32[8] parameter(0)
  c = f32[] constant(1)
  t = (f32[8], f32[]) tuple(p, c)
  \
                 ROOT copy.1 = (f32[8], f32[]) copy(t)
";
    assert_eq!(
        sentence(&[module("", before), module("", after)], "copy.1"),
        "it gives the result of `%main` a buffer of its own: `%t` has no other use"
    );
    let circle = "\
f {
  q = f32[8] parameter(0)
  ROOT g = f32[8] fusion(q), kind=kLoop, calls=f
}
";
    let calls = "  p = f32[8] parameter(0)
  ROOT h = f32[8] fusion(p), kind=kLoop, calls=f
";
    let stages = [
        module(circle, calls),
        module(
            circle,
            &calls.replace(" h ", " k ").replace("parameter(0)\n", "parameter(0)\n  x = f32[8] negate(p)\n"),
        ),
    ];
    assert!(!sentence(&stages, "k").contains("  "));
}
