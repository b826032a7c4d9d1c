//! Passes that only name and annotate instructions.

use passes::Module;

use crate::{module, print, run};

/// The lines of a module after a pass that contain `of`.
#[track_caller]
fn lines(text: &str, pass: &str, of: &str) -> Vec<String> {
    let mut module: Module = module(text);
    run(&mut module, pass).expect("the pass is supported");
    let text = print(&module);
    text.lines().filter(|line| line.contains(of)).map(|line| line.trim().to_owned()).collect()
}

const FUSION: &str = "HloModule m
sum { a = f32[] parameter(0) b = f32[] parameter(1) ROOT s = f32[] add(a, b) }
fused_computation {
  x = f32[64,64] parameter(0)
  y = f32[64,64] tanh(x)
  zero = f32[] constant(0)
  r = f32[64] reduce(y, zero), dimensions={1}, to_apply=sum
  ROOT t = (f32[64], f32[64,64]) tuple(r, y)
}
ENTRY e {
  a = f32[64,64] parameter(0)
  ROOT fusion.1 = (f32[64], f32[64,64]) fusion(a), kind=kInput, calls=fused_computation
}
";

#[test]
fn fusions_are_named_after_their_heroes() {
    assert_eq!(
        lines(FUSION, "rename_fusions", "fused_"),
        [
            "%fused_reduce_tanh (x: f32[64,64]) -> (f32[64], f32[64,64]) {",
            "ROOT %input_reduce_tanh_fusion = (f32[64]{0}, f32[64,64]{1,0}) fusion(%a.1), kind=kInput, calls=%fused_reduce_tanh",
        ]
    );
}

#[test]
fn what_fusing_may_copy_gets_a_suffix() {
    let text = "HloModule m
ENTRY e {
  a = f32[2] parameter(0)
  b = f32[2] negate(a)
  c = f32[2] custom-call(b), custom_call_target=\"f\"
  ROOT d.3 = f32[2] add(b, c)
}
";
    assert_eq!(
        lines(text, "rename-instructions", " = "),
        [
            "%a = f32[2]{0} parameter(0)",
            "%b.1 = f32[2]{0} negate(%a)",
            "%c = f32[2]{0} custom-call(%b.1), custom_call_target=\"f\"",
            "ROOT %d.3.0 = f32[2]{0} add(%b.1, %c)",
        ]
    );
}

#[test]
fn constants_get_names_without_dots() {
    let text = "HloModule m
ENTRY e {
  c.1 = f32[] constant(1)
  c_1 = f32[] negate(c.1)
  d-e.f = f32[] constant(2)
  ROOT r = f32[] add(c_1, d-e.f)
}
";
    assert_eq!(
        lines(text, "sanitize-constant-names", "constant("),
        ["%c_0 = f32[] constant(1)", "%d_e_f = f32[] constant(2)"]
    );
}

const SCHEDULED: &str = "HloModule m, is_scheduled=true
product { x = f32[32,32] parameter(0) y = f32[32,32] parameter(1) ROOT d = f32[32,32] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0} }
next { x = f32[32,32] parameter(0) y = f32[1024] parameter(1) z = f32[1024] bitcast(x) ROOT s = f32[1024] add(y, z) }
ENTRY e {
  a = f32[32,32] parameter(0)
  b = f32[1024] parameter(1), metadata={op_name=\"b\"}
  gemm = f32[32,32] fusion(a, a), kind=kCustom, calls=product, backend_config={\"fusion_backend_config\":{\"kind\":\"__triton_gemm\"}}
  c = f32[32,32] bitcast(gemm)
  ROOT f = f32[1024] fusion(c, b), kind=kLoop, calls=next, frontend_attributes={k=\"v\"}
}
";

#[test]
fn scheduled_instructions_keep_their_names_in_metadata() {
    assert_eq!(
        lines(SCHEDULED, "scheduling-instruction-annotator", "f32[1024]{0} "),
        [
            "%y.1 = f32[1024]{0} parameter(1), metadata={scheduling_name=\"y.1\"}",
            "%z = f32[1024]{0} bitcast(%x.1), metadata={scheduling_name=\"z\"}",
            "ROOT %s = f32[1024]{0} add(%y.1, %z), metadata={scheduling_name=\"s\"}",
            "%b = f32[1024]{0} parameter(1), metadata={op_name=\"b\" scheduling_name=\"b\"}",
            "ROOT %f = f32[1024]{0} fusion(%c, %b), kind=kLoop, calls=%next, frontend_attributes={k=\"v\"}, metadata={scheduling_name=\"f\"}",
        ]
    );
}

#[test]
fn products_start_the_fusion_behind_them() {
    let found = lines(SCHEDULED, "pdl-launch-annotation", "xla.");
    let [product, next] = &found[..] else { panic!("{found:#?}") };
    assert!(product.contains("frontend_attributes={xla.pdl_launch=\"true\"}"), "{product}");
    assert!(next.contains("frontend_attributes={k=\"v\",xla.no_invariant_operands=\"0\"}"), "{next}");
}

#[test]
fn modules_without_a_schedule_are_refused() {
    for pass in ["pdl-launch-annotation", "scheduling-instruction-annotator"] {
        assert!(run(&mut module(FUSION), pass).is_err(), "{pass}");
    }
}

#[test]
fn loops_and_slices_get_notes() {
    let text = "HloModule m
condition { p = (f32[4,2], s32[]) parameter(0) n = s32[] constant(6) i = s32[] get-tuple-element(p), index=1 ROOT c = pred[] compare(n, i), direction=GE }
body {
  p = (f32[4,2], s32[]) parameter(0)
  x = f32[4,2] get-tuple-element(p), index=0
  i = s32[] get-tuple-element(p), index=1
  zero = s32[] constant(0)
  last = s32[] constant(3)
  at = s32[] subtract(last, i)
  row = f32[1,2] dynamic-slice(x, at, zero), dynamic_slice_sizes={1,2}
  across = f32[4,1] dynamic-slice(x, zero, i), dynamic_slice_sizes={4,1}
  two = s32[] constant(2)
  j = s32[] add(two, i)
  ROOT t = (f32[4,2], s32[]) tuple(x, j)
}
ENTRY e {
  x = f32[4,2] parameter(0)
  one = s32[] constant(1)
  t = (f32[4,2], s32[]) tuple(x, one)
  w = (f32[4,2], s32[]) while(t), condition=condition, body=body
  ROOT i = s32[] get-tuple-element(w), index=1
}
";
    let notes = lines(text, "while-loop-trip-count-annotator", "known_trip_count");
    let config = "backend_config={\"dynamic_variables\":[],\"known_induction_variable\":{\"tuple_index\":\"1\"},\
                  \"known_init_step\":{\"init\":\"1\",\"step\":\"2\"},\"known_trip_count\":{\"n\":\"3\"}}";
    assert!(notes.len() == 1 && notes[0].ends_with(config), "{notes:?}");
    // The value behind the loop is a constant.
    assert_eq!(
        lines(text, "while-loop-trip-count-annotator", "ROOT %constant"),
        ["ROOT %constant = s32[] constant(7)"]
    );
    let notes = lines(text, "dynamic-slice-annotator", "dynamic_slice_config");
    let linear = "\"linear\":{\"byte_offset\":\"16\",\"byte_stride\":\"-16\"}";
    assert!(notes.len() == 1 && notes[0].starts_with("%row ") && notes[0].contains(linear), "{notes:?}");
}

#[test]
fn loops_that_are_not_counted_are_refused() {
    let text = "HloModule m
condition { p = (s32[]) parameter(0) n = s32[] constant(6) i = s32[] get-tuple-element(p), index=0 ROOT c = pred[] compare(i, n), direction=LT }
body { p = (s32[]) parameter(0) i = s32[] get-tuple-element(p), index=0 j = s32[] multiply(i, i) ROOT t = (s32[]) tuple(j) }
ENTRY e { i = s32[] constant(2) t = (s32[]) tuple(i) ROOT w = (s32[]) while(t), condition=condition, body=body }
";
    let why = run(&mut module(text), "while-loop-trip-count-annotator").unwrap_err().to_string();
    assert!(why.starts_with("%w does not count by a constant"), "{why}");
}

#[test]
fn triangular_solves_are_calls_of_the_library() {
    let text = "HloModule m
ENTRY e {
  a = f32[3,4,4] parameter(0)
  b = f32[3,4,2] parameter(1)
  ROOT s = f32[3,4,2] triangular-solve(a, b), left_side=true, lower=true, transpose_a=NO_TRANSPOSE
}
";
    assert_eq!(
        lines(text, "triangular-solve-rewriter", "triangular-solve"),
        [
            "%triangular-solve = (f32[3,4,2]{2,1,0}, s8[48]{0}) custom-call(%a, %b), \
             custom_call_target=\"__cublas$triangularSolve\", backend_config={\"left_side\":true,\"lower\":true,\
             \"transpose_a\":\"NO_TRANSPOSE\",\"unit_diagonal\":false}",
            "ROOT %get-tuple-element = f32[3,4,2]{2,1,0} get-tuple-element(%triangular-solve), index=0",
        ]
    );
}
