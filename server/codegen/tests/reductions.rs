//! Runs kernels of reductions on the processor and compares them with the interpreter.

mod agreeing;
mod written;

use agreeing::agrees_calling;

fn combining(element: &str, root: &str) -> String {
    format!(
        "\
f {{
  a = {element}[] parameter(0)
  b = {element}[] parameter(1)
  ROOT r = {element}[] {root}
}}"
    )
}

/// Reduces an array of these sizes along `reduced` to `result`; returns the PTX per device.
#[track_caller]
fn reduced(element: &str, sizes: &str, reduced: &str, result: &str) -> Vec<String> {
    let combined = if element == "pred" { "or(a, b)" } else { "add(a, b)" };
    let result = format!("{element}[{result}]");
    let instructions = format!("  ROOT r = {result} reduce(p0, p1), dimensions={{{reduced}}}, to_apply=f");
    let params = [format!("{element}[{sizes}]"), format!("{element}[]")];
    let params: Vec<&str> = params.iter().map(String::as_str).collect();
    agrees_calling(&combining(element, combined), &params, &instructions, &result)
}

#[track_caller]
fn count(text: &str, what: &str, expect: usize) {
    assert_eq!(text.matches(what).count(), expect, "{what}\n{text}");
}

const ELEMENTS: [&str; 15] = [
    "f32", "f64", "f16", "bf16", "s32", "s64", "u8", "s8", "u16", "pred", "c64", "c128", "f8e4m3fn",
    "f8e5m2", "s4",
];

/// One warp per row: five shuffles. Several warps per row exchange their results in shared memory.
#[test]
fn rows() {
    for element in ELEMENTS {
        reduced(element, "9,100", "1", "9");
        reduced(element, "3,1000", "1", "3");
    }
    let texts = reduced("f32", "40,512", "1", "40");
    count(&texts[0], "shfl.sync.down", 5);
    count(&texts[0], "bar.sync", 0);
    count(&texts[0], "ld.global.nc.v2.b32", 8);
    let texts = reduced("f32", "3,5000", "1", "3");
    count(&texts[0], "shfl.sync.down", 10);
    count(&texts[0], "bar.sync", 1);
    reduced("f32", "5,7,64", "0,2", "7");
    reduced("f32", "8,9,1000", "0,2", "9");
    reduced("f32", "16384", "0", "");
    reduced("f32", "1,1000", "1", "1");
}

/// Short rows share a warp, and are reduced within it.
#[test]
fn several_rows_of_a_warp() {
    for element in ELEMENTS {
        reduced(element, "1000,16", "1", "1000");
    }
    let texts = reduced("f32", "1000,4", "1", "1000");
    count(&texts[0], "shfl.sync.down", 2);
    reduced("f32", "4096,64", "1", "4096");
    reduced("f32", "3,1000,8", "0,2", "1000");
    // Whole warps only: otherwise the last one shuffles from beyond its last thread, as XLA's does.
    reduced("f32", "64,2", "1", "64");
}

/// A tile goes through shared memory and is read transposed. Long columns keep a loop, the last iteration of
/// which is guarded if the number of rows is not a multiple.
#[test]
fn columns() {
    for element in ELEMENTS {
        reduced(element, "3,70,50", "1", "3,50");
        reduced(element, "64,128", "0", "128");
    }
    let texts = reduced("f32", "65,128", "0", "128");
    count(&texts[0], "bar.sync", 1);
    count(&texts[0], "ld.global.nc.v2.b32", 3);
    let texts = reduced("f32", "2048,64", "0", "64");
    assert!(texts[0].contains("bra"), "a loop is left\n{}", texts[0]);
    reduced("f32", "4095,34", "0", "34");
    reduced("f32", "1000,33", "0", "33");
    reduced("f16", "4000,36", "0", "36");
}

#[test]
fn small_columns() {
    for element in ELEMENTS {
        reduced(element, "3,256,4", "1", "3,4");
    }
    reduced("f32", "2,1000,8", "1", "2,8");
    reduced("f32", "7,300,16", "1", "7,16");
    reduced("f32", "4000,32", "0", "32");
    reduced("f32", "128,2", "0", "2");
}

/// Threads enumerate results in the memory order of the operand.
#[test]
fn layouts() {
    let add = combining("f32", "add(a, b)");
    let of = |operand: &str, dims: &str, result: &str| {
        let instructions = format!("  ROOT r = {result} reduce(p0, p1), dimensions={{{dims}}}, to_apply=f");
        agrees_calling(&add, &[operand, "f32[]"], &instructions, result);
    };
    of("f32[32,64,96]{1,0,2}", "1", "f32[32,96]{1,0}");
    of("f32[32,64,96]{0,1,2}", "1", "f32[32,96]{0,1}");
    of("f32[64,40]{0,1}", "0", "f32[40]{0}");
    of("f32[40,64,8]{0,2,1}", "1", "f32[40,8]{1,0}");
}

/// The prologue is computed where it is read, the epilogue by the one thread that has the result.
#[test]
fn prologues_and_epilogues() {
    let add = combining("f32", "add(a, b)");
    for (sizes, dim, result, mean) in [
        ("24,512", 1, "24", 512),
        ("1000,16", 1, "1000", 16),
        ("256,96", 0, "96", 256),
        ("512,8", 0, "8", 512),
    ] {
        let instructions = format!(
            "  z = f32[] constant(0)\n  c = f32[{sizes}] convert(p0)\n  e = f32[{sizes}] exponential(c)
  s = f32[{result}] reduce(e, z), dimensions={{{dim}}}, to_apply=f\n  n = f32[] constant({mean})
  b = f32[{result}] broadcast(n), dimensions={{}}\n  m = f32[{result}] divide(s, b)\n  ROOT r = bf16[{result}] convert(m)"
        );
        agrees_calling(&add, &[&format!("f16[{sizes}]")], &instructions, &format!("bf16[{result}]"));
    }
}

/// Several reductions of one array read it together; other results are written where it is read; roots that
/// share nothing have blocks of their own.
#[test]
fn several_results() {
    let add = combining("f32", "add(a, b)");
    for (sizes, dim, result) in
        [("24,512", 1, "24"), ("1000,16", 1, "1000"), ("256,96", 0, "96"), ("512,8", 0, "8")]
    {
        let (array, reduced) = (format!("f32[{sizes}]"), format!("f32[{result}]"));
        let instructions = format!(
            "  z = f32[] constant(0)\n  s = {reduced} reduce(p0, z), dimensions={{{dim}}}, to_apply=f
  q = {array} multiply(p0, p0)\n  t = {reduced} reduce(q, z), dimensions={{{dim}}}, to_apply=f
  n = {array} negate(q)\n  ROOT r = ({reduced}, {reduced}, {array}) tuple(s, t, n)"
        );
        agrees_calling(&add, &[&array], &instructions, &format!("({reduced}, {reduced}, {array})"));
        let instructions = format!(
            "  z = f32[] constant(0)\n  s = {reduced} reduce(p0, z), dimensions={{{dim}}}, to_apply=f
  n = {array} negate(p1)\n  ROOT r = ({reduced}, {array}) tuple(s, n)"
        );
        let texts = agrees_calling(&add, &[&array, &array], &instructions, &format!("({reduced}, {array})"));
        assert!(texts[0].contains("%ctaid.z"), "{}", texts[0]);
    }
}

/// The index of the largest element: one reduction with two results.
#[test]
fn several_values_at_once() {
    let largest = "\
f {
  v = f32[] parameter(0)
  i = s32[] parameter(1)
  w = f32[] parameter(2)
  j = s32[] parameter(3)
  c = pred[] compare(v, w), direction=GE
  m = f32[] select(c, v, w)
  k = s32[] select(c, i, j)
  ROOT t = (f32[], s32[]) tuple(m, k)
}";
    for (sizes, dim, result) in
        [("24,512", 1, "24"), ("1000,16", 1, "1000"), ("256,96", 0, "96"), ("512,8", 0, "8")]
    {
        let instructions = format!(
            "  i = s32[{sizes}] iota(), iota_dimension={dim}\n  n = f32[] constant(-inf)\n  z = s32[] constant(0)
  ROOT r = (f32[{result}], s32[{result}]) reduce(p0, i, n, z), dimensions={{{dim}}}, to_apply=f"
        );
        let result = format!("(f32[{result}], s32[{result}])");
        agrees_calling(largest, &[&format!("f32[{sizes}]")], &instructions, &result);
    }
}

/// An op that no rule implements is a comment in the text, and the rest is emitted.
#[test]
fn a_reducer_that_is_not_written() {
    let hlo = r#"HloModule m

f {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] custom-call(a, b), custom_call_target="g"
}

fused {
  p0 = f32[24,512] parameter(0)
  z = f32[] constant(0)
  ROOT r = f32[24] reduce(p0, z), dimensions={1}, to_apply=f
}

ENTRY e {
  p0 = f32[24,512] parameter(0)
  ROOT f = f32[24] fusion(p0), kind=kInput, calls=fused
}
"#;
    let kernel = written::written(hlo, "f", "h100-sxm").expect("a kernel");
    assert_eq!(kernel.missing.len(), 1, "{:?}", kernel.missing);
    assert!(kernel.ptx.contains("// incomplete: r: custom-call"), "{}", kernel.ptx);
    count(&kernel.ptx, "st.global", 1);
}
