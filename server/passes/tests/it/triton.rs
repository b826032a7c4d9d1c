//! Passes that make fusions for Triton, and what follows them up to scheduling.

use passes::{Module, optimize};

use crate::compare::compare;
use crate::{module, options, print};

/// The module after passes, which keep its values.
#[track_caller]
fn after(text: &str, names: &[&str], pipeline: &str) -> String {
    let mut module: Module = module(text);
    optimize(&mut module, names, &options(pipeline)).expect("the passes are supported");
    let after = print(&module);
    let compared = compare(text, &after, 7, &[]);
    assert!(compared.as_ref().is_ok_and(|&count| count > 0), "{compared:?}\n{text}\nbecame\n{after}");
    after
}

#[track_caller]
fn check(text: &str, names: &[&str], lines: &[&str]) {
    let after = after(text, names, "hlo_normalization");
    for line in lines {
        assert!(after.contains(line), "no {line} in\n{after}");
    }
}

const PRODUCT: &str = "HloModule m
ENTRY e {
  x = bf16[64,32] parameter(0)
  w = f32[16,32] parameter(1)
  b = f32[16] parameter(2)
  y = f32[64,32] convert(x)
  d = f32[64,16] dot(y, w), lhs_contracting_dims={1}, rhs_contracting_dims={1}
  c = f32[64,16] broadcast(b), dimensions={1}
  s = f32[64,16] add(d, c)
  ROOT r = f32[64,16] copy(s)
}
";

#[test]
fn dots_are_fused_with_what_surrounds_them() {
    check(
        PRODUCT,
        &["triton-gemm-rewriter"],
        &[
            "%gemm_fusion_d = f32[64,16]{1,0} fusion(%b, %w, %x), kind=kCustom",
            "\"kind\":\"__triton_gemm\"",
            "convert(%param_2)",
            "broadcast(%param_0), dimensions={1}",
        ],
    );
}

#[test]
fn pads_and_transposed_batches_are_not_fused() {
    let text = "HloModule m
ENTRY e {
  x = f32[2,16,4,32] parameter(0)
  w = f32[8,30,16] parameter(1)
  zero = f32[] constant(0)
  p = f32[8,32,16] pad(w, zero), padding=0_0x0_2x0_0
  t = f32[2,4,16,32] transpose(x), dimensions={0,2,1,3}
  l = f32[8,16,32] reshape(t)
  ROOT d = f32[8,16,16] dot(l, p), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_contracting_dims={1}
}
";
    check(text, &["triton-gemm-rewriter"], &["%t = f32[2,4,16,32]", "%p = f32[8,32,16]", "fusion(%p, %"]);
}

#[test]
fn fused_dots_have_the_computed_operand_on_the_left() {
    let text = "HloModule m
ENTRY e {
  x = f32[64,32] parameter(0)
  w = f32[128,32] parameter(1)
  n = f32[128,32] negate(w)
  ROOT d = f32[64,128] dot(x, n), lhs_contracting_dims={1}, rhs_contracting_dims={1}
}
";
    check(
        text,
        &["triton-gemm-rewriter", "gemm-fusion-swap-operands"],
        &["f32[128,64]{0,1} dot(", "ROOT %bitcast = f32[64,128]{1,0} bitcast("],
    );
}

#[test]
fn long_dots_are_split() {
    let text = "HloModule m
ENTRY e {
  x = f32[16,4096] parameter(0)
  w = f32[4096,8] parameter(1)
  ROOT d = f32[16,8] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
}
";
    check(
        text,
        &["splitk-rewriter"],
        &["lhs_batch_dims={1}", "rhs_batch_dims={0}", "ROOT %reduce = f32[16,8]{1,0}"],
    );
}

#[test]
fn fused_dots_get_tiles() {
    check(
        PRODUCT,
        &["triton-gemm-rewriter", "config-assigner", "convert_triton_gemm_config"],
        &[
            "backend_config={\"sizes\":[\"16\"]}",
            "\"kind\":\"__triton_nested_gemm_fusion\"",
            "\"num_warps\":\"2\",\"output_tiles\":[{\"sizes\":[\"16\",\"8\"]}]",
        ],
    );
}

const SOFTMAX: &str = "HloModule m
sum { a = f32[] parameter(0) b = f32[] parameter(1) ROOT s = f32[] add(a, b) }
ENTRY e {
  x = f32[512,2048] parameter(0)
  zero = f32[] constant(0)
  r = f32[512] reduce(x, zero), dimensions={1}, to_apply=sum
  b = f32[512,2048] broadcast(r), dimensions={0}
  ROOT d = f32[512,2048] subtract(x, b)
}
";

#[test]
fn normalisations_are_one_fusion() {
    check(
        SOFTMAX,
        &["triton-softmax-rewriter"],
        &["ROOT %triton_softmax = f32[512,2048]{1,0} fusion(%x), kind=kCustom", "\"kind\":\"__triton\""],
    );
    // The rows are columns of what is broadcast.
    let other = SOFTMAX.replace("2048", "512").replace("dimensions={0}", "dimensions={1}");
    let mut module = module(&other);
    let applied = optimize(&mut module, &["triton-softmax-rewriter"], &options("hlo_normalization"));
    assert!(applied.is_ok_and(|applied| applied[0].changes.is_empty()));
}

#[test]
fn what_is_not_fused_is_wrapped() {
    let text = "HloModule m
ENTRY e {
  x = f32[32,64] parameter(0)
  t = f32[64,32] transpose(x), dimensions={1,0}
  c = f32[64,32] copy(t)
  ROOT n = f32[64,32] negate(c)
}
";
    check(
        text,
        &["fusion-wrapper"],
        &[
            "%wrapped_transpose = f32[64,32]{1,0} fusion(%x), kind=kInput",
            "%c = f32[64,32]{1,0} copy(",
            "ROOT %wrapped_negate = f32[64,32]{1,0} fusion(%c), kind=kLoop",
        ],
    );
}

#[test]
fn slow_transposes_are_left_to_triton() {
    let text = "HloModule m
fused { p = f32[16,32,64] parameter(0) ROOT t = f32[64,32,16] transpose(p), dimensions={2,1,0} }
ENTRY e {
  x = f32[16,32,64] parameter(0)
  ROOT f = f32[64,32,16] fusion(x), kind=kLoop, calls=fused
}
";
    check(text, &["fusion-block-level-rewriter"], &["kind=kCustom", "\"kind\":\"__triton\""]);
}

#[test]
fn fusions_write_the_copies_of_their_results() {
    let text = "HloModule m
fused { p = f32[8] parameter(0) ROOT n = f32[8] negate(p) }
ENTRY e {
  x = f32[8] parameter(0)
  f = f32[8] fusion(x), kind=kLoop, calls=fused
  c = f32[8] copy(f)
  ROOT t = (f32[8], f32[8]) tuple(f, c)
}
";
    check(
        text,
        &["copy_fusion"],
        &[
            "%f = (f32[8]{0}, f32[8]{0}) fusion(%x), kind=kLoop",
            "ROOT %t = (f32[8]{0}, f32[8]{0}) tuple(%get-tuple-element, %get-tuple-element.1)",
        ],
    );
}

#[test]
fn copies_of_slices_run_beside_other_kernels() {
    let text = "HloModule m
fused {
  p = f32[4,8] parameter(0)
  i = s32[] parameter(1)
  zero = s32[] constant(0)
  s = f32[1,8] dynamic-slice(p, i, zero), dynamic_slice_sizes={1,8}, backend_config={\"dynamic_slice_config\":{\"byte_offset\":\"0\"}}
  ROOT b = f32[8] bitcast(s)
}
ENTRY e {
  x = f32[4,8] parameter(0)
  i = s32[] parameter(1)
  ROOT f = f32[8] fusion(x, i), kind=kLoop, calls=fused
}
";
    let mut module = module(text);
    let pass = "dynamic-slice-copy-fusion-async-wrapper";
    optimize(&mut module, &[pass], &options("pre-scheduling-passes")).expect("the pass is supported");
    let after = print(&module);
    assert!(
        after.contains("%fusion-start = ((f32[4,8]{1,0}, s32[]), f32[8]{0}, u32[]) async-start(%x, %i"),
        "{after}"
    );
    assert!(after.contains("ROOT %fusion-done = f32[8]{0} async-done(%fusion-start)"), "{after}");
}

/// A model of one layer, from the module that JAX hands over to kernels.
#[test]
fn the_pipeline_ends_in_kernels() {
    let after = after(PRODUCT, &["pipeline"], "");
    assert!(after.contains("__triton_nested_gemm_fusion"), "{after}");
    assert!(!after.contains(" convert(%x)"), "{after}");
}

#[test]
fn the_pipeline_names_the_pass_that_stops_it() {
    let text = "HloModule m
ENTRY e { x = f32[8] parameter(0) ROOT l = f32[8] logistic(x) }
";
    let why = optimize(&mut module(text), &["pipeline"], &options("")).unwrap_err().to_string();
    assert!(why.starts_with("logistic-expander stops: the pass rewrites logistic functions"), "{why}");
}
