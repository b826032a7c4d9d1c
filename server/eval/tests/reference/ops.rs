//! Results of single ops.

use crate::{check, check_op, evaluate};

const CALLED: &str = "add {
  x = f32[] parameter(0)
  y = f32[] parameter(1)
  ROOT s = f32[] add(x, y)
}
larger {
  v = f32[] parameter(0)
  i = s32[] parameter(1)
  w = f32[] parameter(2)
  j = s32[] parameter(3)
  g = pred[] compare(v, w), direction=GE
  m = f32[] select(g, v, w)
  k = s32[] select(g, i, j)
  ROOT t = (f32[], s32[]) tuple(m, k)
}
ge {
  p = f32[] parameter(0)
  q = f32[] parameter(1)
  ROOT g = pred[] compare(p, q), direction=GE
}
lt {
  p = s32[] parameter(0)
  q = s32[] parameter(1)
  ROOT g = pred[] compare(p, q), direction=LT
}
lt2 {
  p = s32[] parameter(0)
  q = s32[] parameter(1)
  s = f32[] parameter(2)
  t = f32[] parameter(3)
  ROOT g = pred[] compare(p, q), direction=LT
}
";

#[track_caller]
fn check_called(entry: &str, inputs: &[&str], expect: &str) {
    check(&format!("{CALLED}e {{\n{entry}\n}}\n"), inputs, expect);
}

#[test]
fn whole_numbers_wrap_and_divide_by_zero() {
    let two = |op: &str, ty: &str, a: &str, b: &str, expect: &str| {
        check_op(&format!("{ty}[3]"), op, &[(&format!("{ty}[3]"), a), (&format!("{ty}[3]"), b)], expect);
    };
    two("add(a, b)", "s8", "{127, 1, -128}", "{1, 2, -1}", "[-128, 3, 127]");
    two("divide(a, b)", "s32", "{7, -7, -2147483648}", "{0, 2, -1}", "[-1, -3, -2147483648]");
    two("divide(a, b)", "u8", "{7, 9, 1}", "{0, 2, 3}", "[255, 4, 0]");
    two("remainder(a, b)", "s32", "{7, -7, -2147483648}", "{0, 2, -1}", "[7, -1, 0]");
    two("shift-left(a, b)", "u8", "{1, 1, 255}", "{7, 8, 4}", "[128, 0, 240]");
    two("shift-right-arithmetic(a, b)", "s8", "{-128, -128, 64}", "{7, 8, 200}", "[-1, -1, 0]");
    two("shift-right-logical(a, b)", "s8", "{-128, -128, 64}", "{7, 8, 6}", "[1, 0, 1]");
    two("power(a, b)", "s32", "{3, -1, 2}", "{4, -3, -1}", "[81, -1, 0]");
    two("multiply(a, b)", "u4", "{15, 3, 2}", "{15, 3, 9}", "[1, 9, 2]");
    two("subtract(a, b)", "s4", "{-8, 7, 0}", "{1, -1, -8}", "[7, -8, -8]");
    check_op("u32[2]", "count-leading-zeros(a)", &[("u32[2]", "{0, 1}")], "[32, 31]");
    check_op("s16[2]", "abs(a)", &[("s16[2]", "{-32768, -3}")], "[-32768, 3]");
    check_op(
        "pred[2]",
        "compare(a, b), direction=LT",
        &[("u64[2]", "{1, 18446744073709551615}"), ("u64[2]", "{2, 1}")],
        "[1, 0]",
    );
}

#[test]
fn numbers_are_rounded_after_every_op() {
    check_op(
        "bf16[2]",
        "add(a, b)",
        &[("bf16[2]", "{256, 1}"), ("bf16[2]", "{1, 0.0078125}")],
        "[256.0, 1.0078125]",
    );
    check_op("f16[1]", "multiply(a, b)", &[("f16[1]", "{256}"), ("f16[1]", "{256}")], "[inf]");
    check_op("f32[2]", "maximum(a, b)", &[("f32[2]", "{nan, -0}"), ("f32[2]", "{1, 0}")], "[NaN, 0.0]");
    check_op("f32[2]", "minimum(a, b)", &[("f32[2]", "{1, -0}"), ("f32[2]", "{nan, 0}")], "[NaN, -0.0]");
    check_op(
        "f32[3]",
        "clamp(a, b, c)",
        &[("f32[]", "0"), ("f32[3]", "{-1, 0.5, nan}"), ("f32[]", "1")],
        "[0.0, 0.5, NaN]",
    );
    check_op("f32[3]", "sign(a)", &[("f32[3]", "{-2, 0, nan}")], "[-1.0, 0.0, NaN]");
    check_op("f32[2]", "round-nearest-even(a)", &[("f32[2]", "{0.5, 1.5}")], "[0.0, 2.0]");
    check_op(
        "f32[1]",
        "reduce-precision(a), exponent_bits=5, mantissa_bits=10",
        &[("f32[1]", "{70000}")],
        "[inf]",
    );
    check_op("pred[2]", "is-finite(a)", &[("f32[2]", "{inf, 1}")], "[0, 1]");
}

#[test]
fn conversions() {
    check_op("s8[4]", "convert(a)", &[("f32[4]", "{200, -200, nan, -1.9}")], "[127, -128, 0, -1]");
    check_op("u8[3]", "convert(a)", &[("s32[3]", "{256, -1, 7}")], "[0, 255, 7]");
    check_op("pred[3]", "convert(a)", &[("f32[3]", "{0, nan, 0.1}")], "[0, 1, 1]");
    check_op("f8e4m3fn[3]", "convert(a)", &[("f32[3]", "{449, 1000, 0.9}")], "[448.0, NaN, 0.875]");
    check_op(
        "f32[2]",
        "convert(a)",
        &[("s64[2]", "{16777217, 9007199254740993}")],
        "[16777216.0, 9007199254740992.0]",
    );
    check_op("s32[1]", "bitcast-convert(a)", &[("f32[1]", "{1}")], "[1065353216]");
    check_op("u8[1,4]", "bitcast-convert(a)", &[("u32[1]", "{67305985}")], "[1, 2, 3, 4]");
    check_op("u32[1]", "bitcast-convert(a)", &[("u8[1,4]", "{{1, 2, 3, 4}}")], "[67305985]");
    check_op("c64[1]", "multiply(a, b)", &[("c64[1]", "{(1, 2)}"), ("c64[1]", "{(3, 4)}")], "[[-5.0, 10.0]]");
}

#[test]
fn wrong_answers_of_the_past() {
    check_op(
        "c64[2]",
        "convert(a)",
        &[("u64[2]", "{18446744073709551615, 5}")],
        "[[1.8446744073709552e19, 0.0], [5.0, 0.0]]",
    );
    let reduced = |ty: &str, a: &str, bits: (u32, u32), expect: &str| {
        let op = format!("reduce-precision(a), exponent_bits={}, mantissa_bits={}", bits.0, bits.1);
        check_op(&format!("{ty}[2]"), &op, &[(&format!("{ty}[2]"), a)], expect);
    };
    reduced("f64", "{1e-308, 5e-324}", (11, 32), "[1.000000000197206e-308, 0.0]");
    // The nearest number with 8 bits is below the smallest normal one; with 3 it is that one.
    reduced("f32", "{0.0156093752, 0.01561}", (4, 8), "[0.0, 0.015625]");
    reduced("f32", "{0.0156093752, 0.01561}", (4, 3), "[0.015625, 0.015625]");
    check_op("c64[1]", "sqrt(a)", &[("c64[1]", "{(1e10, 2.6117)}")], "[[100000.0, 1.3058500371698756e-5]]");
    check_op(
        "c64[1]",
        "divide(a, b)",
        &[("c64[1]", "{(-1.7, 0.63)}"), ("c64[1]", "{(-inf, 1.17)}")],
        "[[0.0, -0.0]]",
    );
}

#[test]
fn sizes_that_are_set() {
    let parameters = [("s32[4]", "{1, 2, 3, 4}"), ("s32[]", "3")];
    let set = "  a = s32[4] parameter(0)\n  n = s32[] parameter(1)\n  d = s32[<=4] set-dimension-size(a, n), dimensions={0}\n";
    let inputs = parameters.map(|(_, literal)| literal);
    let of = |root: &str, expect: &str| check(&format!("e {{\n{set}  {root}\n}}\n"), &inputs, expect);
    of("ROOT r = s32[] get-dimension-size(d), dimensions={0}", "[3]");
    of("ROOT r = s32[] get-dimension-size(a), dimensions={0}", "[4]");
    let through = "x = s32[<=4] negate(d)\n  y = s32[2,<=4] broadcast(x), dimensions={1}\n  ";
    of(&format!("{through}ROOT r = s32[] get-dimension-size(y), dimensions={{1}}"), "[3]");
    let why = |text: &str, inputs: &[&str]| evaluate(text, inputs).unwrap_err();
    let text = format!(
        "\
HloModule m
e {{
{set}  ROOT r = s32[<=4] reverse(d), dimensions={{0}}
}}
"
    );
    assert_eq!(why(&text, &inputs), "reverse of dimensions whose size is not static is not evaluated [r]");
    let text = "\
HloModule m
e {
  d = s32[<=4] parameter(0)
  ROOT r = s32[] get-dimension-size(d), dimensions={0}
}
";
    assert_eq!(why(text, &[]), "the size of dimension 0 of d is not known [r]");
}

#[test]
fn data_moves() {
    let a = ("s32[2,3]", "{{1, 2, 3}, {4, 5, 6}}");
    check_op("s32[3,2]", "transpose(a), dimensions={1,0}", &[a], "[1, 4, 2, 5, 3, 6]");
    check_op("s32[2,3]", "reverse(a), dimensions={1}", &[a], "[3, 2, 1, 6, 5, 4]");
    check_op("s32[2,1]", "slice(a), slice={[0:2], [1:3:2]}", &[a], "[2, 5]");
    check_op("s32[2,2,3]", "broadcast(a), dimensions={1,2}", &[a], "[1, 2, 3, 4, 5, 6, 1, 2, 3, 4, 5, 6]");
    check_op(
        "s32[3,3]",
        "concatenate(a, b), dimensions={0}",
        &[a, ("s32[1,3]", "{{7, 8, 9}}")],
        "[1, 2, 3, 4, 5, 6, 7, 8, 9]",
    );
    check_op(
        "s32[6]",
        "pad(a, b), padding=1_-1_1",
        &[("s32[4]", "{1, 2, 3, 4}"), ("s32[]", "0")],
        "[0, 1, 0, 2, 0, 3]",
    );
    check_op(
        "s32[3,2]{0,1}",
        "bitcast(a)",
        &[("s32[2,3]{1,0}", "{{1, 2, 3}, {4, 5, 6}}")],
        "[1, 4, 2, 5, 3, 6]",
    );
    check_op("s32[2,3]", "iota(), iota_dimension=1", &[], "[0, 1, 2, 0, 1, 2]");
    check_op(
        "s32[1,2]",
        "dynamic-slice(a, b, c), dynamic_slice_sizes={1,2}",
        &[a, ("s32[]", "-4"), ("s32[]", "9")],
        "[2, 3]",
    );
    check_op(
        "s32[4]",
        "dynamic-update-slice(a, b, c)",
        &[("s32[4]", "{1, 2, 3, 4}"), ("s32[2]", "{8, 9}"), ("s32[]", "3")],
        "[1, 2, 8, 9]",
    );
    check_op(
        "s32[2,3]",
        "gather(a, b), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1,3}",
        &[a, ("s32[2]", "{5, -1}")],
        "[4, 5, 6, 1, 2, 3]",
    );
}

#[test]
fn reductions_and_windows() {
    check_called(
        "  a = f32[2,3] parameter(0)\n  z = f32[] constant(10)\n  ROOT r = f32[2] reduce(a, z), dimensions={1}, to_apply=add",
        &["{{1, 2, 3}, {4, 5, 6}}"],
        "[16.0, 25.0]",
    );
    check_called(
        "  a = f32[5] parameter(0)\n  i = s32[5] iota(), iota_dimension=0\n  z = f32[] constant(-inf)\n  k = s32[] constant(0)\n  ROOT r = (f32[], s32[]) reduce(a, i, z, k), dimensions={0}, to_apply=larger",
        &["{1, 7, 3, 7, 2}"],
        "[7.0] [1]",
    );
    check_called(
        "  a = f32[4] parameter(0)\n  z = f32[] constant(0)\n  ROOT r = f32[4] reduce-window(a, z), window={size=3 pad=1_1}, to_apply=add",
        &["{1, 2, 3, 4}"],
        "[3.0, 6.0, 9.0, 7.0]",
    );
    check_called(
        "  a = f32[4] parameter(0)\n  b = f32[2] parameter(1)\n  z = f32[] constant(1)\n  ROOT r = f32[4] select-and-scatter(a, b, z), window={size=2 stride=2}, select=ge, scatter=add",
        &["{1, 2, 4, 3}", "{10, 20}"],
        "[1.0, 11.0, 21.0, 1.0]",
    );
    check_op(
        "f32[2,2]",
        "dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}",
        &[("f32[2,2]", "{{1, 2}, {3, 4}}"), ("f32[2,2]", "{{5, 6}, {7, 8}}")],
        "[19.0, 22.0, 43.0, 50.0]",
    );
    check_op(
        "f32[1,3,1]",
        "convolution(a, b), window={size=2 pad=0_1}, dim_labels=b0f_0io->b0f",
        &[("f32[1,3,1]", "{{{1}, {2}, {3}}}"), ("f32[2,1,1]", "{{{10}}, {{1}}}")],
        "[12.0, 23.0, 30.0]",
    );
}

#[test]
fn scatters_and_sorts() {
    check_called(
        "  a = f32[3] parameter(0)\n  i = s32[4,1] parameter(1)\n  u = f32[4] parameter(2)\n  ROOT r = f32[3] scatter(a, i, u), update_window_dims={}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=add",
        &["{1, 2, 3}", "{{0}, {2}, {0}, {9}}", "{10, 20, 30, 40}"],
        "[41.0, 2.0, 23.0]",
    );
    check_called(
        "  a = s32[2,4] parameter(0)\n  ROOT r = s32[2,4] sort(a), dimensions={1}, to_apply=lt",
        &["{{3, 1, 2, 0}, {5, 5, 4, 9}}"],
        "[0, 1, 2, 3, 4, 5, 5, 9]",
    );
    check_called(
        "  a = s32[7] parameter(0)\n  b = f32[7] parameter(1)\n  ROOT r = (s32[7], f32[7]) sort(a, b), dimensions={0}, is_stable=true, to_apply=lt2",
        &["{2, 1, 2, 1, 0, 2, 1}", "{1, 2, 3, 4, 5, 6, 7}"],
        "[0, 1, 1, 1, 2, 2, 2] [5.0, 2.0, 4.0, 7.0, 1.0, 3.0, 6.0]",
    );
}

#[test]
fn loops_and_branches() {
    check(
        "\
goes { s = (s32[], s32[]) parameter(0)
 i = s32[] get-tuple-element(s), index=0
 n = s32[] constant(5)
 ROOT l = pred[] compare(i, n), direction=LT
}
turn { s = (s32[], s32[]) parameter(0)
 i = s32[] get-tuple-element(s), index=0
 v = s32[] get-tuple-element(s), index=1
 one = s32[] constant(1)
 j = s32[] add(i, one)
 w = s32[] multiply(v, j)
 ROOT t = (s32[], s32[]) tuple(j, w)
}
e { z = s32[] constant(0)
 o = s32[] parameter(0)
 t = (s32[], s32[]) tuple(z, o)
 ROOT w = (s32[], s32[]) while(t), condition=goes, body=turn
}",
        &["1"],
        "[5] [120]",
    );
    check(
        "\
f { x = s32[] parameter(0)
 ROOT n = s32[] negate(x)
}
g { x = s32[] parameter(0)
 ROOT n = s32[] add(x, x)
}
e { b = s32[] parameter(0)
 x = s32[] parameter(1)
 ROOT c = s32[] conditional(b, x, x), branch_computations={f, g}
}",
        &["7", "21"],
        "[42]",
    );
}

#[test]
fn what_is_open_is_said() {
    // The sum of three numbers depends on the order by at most a few ulps.
    let text = format!(
        "\
HloModule m
{CALLED}e {{
  a = f32[3] parameter(0)
  z = f32[] constant(0)
  ROOT r = f32[] reduce(a, z), dimensions={{0}}, to_apply=add
}}
"
    );
    let sum = &evaluate(&text, &["{1, 2, 4}"]).unwrap()[0];
    assert!(sum.error_at(0) > 0.0 && sum.error_at(0) < 2e-6, "{}", sum.error_at(0));
    let open = &evaluate(&text, &["{3e38, 3e38, -3e38}"]).unwrap()[0];
    assert!(open.is_open(0));
    let why = evaluate(
        r#"HloModule m
e {
  a = f32[2] parameter(0)
  ROOT r = f32[2] custom-call(a), custom_call_target="x"
}
"#,
        &["{1, 2}"],
    );
    assert_eq!(why.unwrap_err(), "custom-call is not evaluated [r]");
    let huge = evaluate("HloModule m\ne {\n  ROOT r = f32[100000,100000] iota(), iota_dimension=0\n}\n", &[]);
    assert_eq!(
        huge.unwrap_err(),
        "f32[100000,100000] has too many elements to hold: 10000000000, at most 16777216"
    );
}

/// XLA omits `left_side` where it is false.
#[test]
fn triangular_solve_without_left_side_has_the_matrix_on_the_right() {
    let parameters = [("f32[2,2]", "{{2, 0}, {1, 4}}"), ("f32[2,2]", "{{3, 4}, {5, 8}}")];
    let solve = |more: &str| format!("triangular-solve(a, b), lower=true, transpose_a=NO_TRANSPOSE{more}");
    check_op("f32[2,2]", &solve(""), &parameters, "[1.0, 1.0, 1.5, 2.0]");
    check_op("f32[2,2]", &solve(", left_side=true"), &parameters, "[1.5, 2.0, 0.875, 1.5]");
}

/// A module whose reducer returns values of another type is an error of the verifier. Its evaluation says so, too.
#[test]
fn reducers_of_another_type_are_refused() {
    let module = "HloModule m

less {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = pred[] compare(a, b), direction=LT
}

ENTRY e {
  p = f32[5] parameter(0)
  z = f32[] constant(0)
  ROOT r = f32[] reduce(p, z), dimensions={0}, to_apply=less
}";
    let why = evaluate(module, &["{1, 2, 3, 4, 5}"]).unwrap_err();
    assert_eq!(why, "the reducer's results do not have the types of its operands [r]");
}
