//! The accesses of kernels where LLVM decides them: small fusions are run and compared with the interpreter,
//! and their loads and stores are counted. On the first device, for which XLA's own kernels were compiled.

mod agreeing;
mod written;

use std::collections::BTreeMap;

use agreeing::agrees_calling;

/// Accesses to global memory by width, for `ld` or `st`.
fn counted(text: &str, kind: &str) -> Vec<(String, usize)> {
    let mut found: BTreeMap<String, usize> = BTreeMap::new();
    for line in text.lines() {
        let name = line.split_whitespace().next().unwrap_or_default();
        if let Some(width) = name.strip_prefix(kind).and_then(|rest| rest.strip_prefix(".global")) {
            *found.entry(width.trim_start_matches(".nc").trim_start_matches('.').to_owned()).or_default() +=
                1;
        }
    }
    found.into_iter().collect()
}

/// Loads and stores of the kernel of these instructions.
#[track_caller]
fn accesses(called: &str, params: &[&str], body: &str, result: &str) -> [Vec<(String, usize)>; 2] {
    let texts = agrees_calling(called, params, body, result);
    ["ld", "st"].map(|kind| counted(&texts[0], kind))
}

fn widths(list: &[(&str, usize)]) -> Vec<(String, usize)> {
    list.iter().map(|&(width, count)| (width.to_owned(), count)).collect()
}

/// The words of 2/π, and the coefficients of an `f64`, are in tables.
#[test]
fn sine_and_cosine_read_tables() {
    for op in ["sine", "cosine"] {
        let of = |element: &str| {
            accesses(
                "",
                &[&format!("{element}[55]")],
                &format!("  ROOT r = {element}[55] {op}(p0)"),
                &format!("{element}[55]"),
            )
        };
        assert_eq!(of("f32")[0], widths(&[("b32", 2)]));
        assert_eq!(of("f16")[0], widths(&[("b16", 1), ("b32", 1)]));
        assert_eq!(of("f64")[0], widths(&[("b64", 2), ("v2.b64", 3)]));
    }
    // The slow path between two elements does not prevent joining their loads.
    let [loads, stores] =
        accesses("", &["f32[1024,1024]"], "  ROOT r = f32[1024,1024] cosine(p0)", "f32[1024,1024]");
    assert_eq!(loads, widths(&[("b32", 4), ("v4.b32", 1)]));
    assert_eq!(stores, widths(&[("v4.b32", 1)]));
}

/// Two elements of a thread are not computed as a pair, but rounded as one.
#[test]
fn an_only_pair() {
    let shape = |element: &str| format!("{element}[405506]");
    let stores = |element: &str, to: &str, body: &str| {
        let (from, to) = (shape(element), shape(to));
        accesses("", &[&from, &from], body, &to)[1].clone()
    };
    assert_eq!(stores("bf16", "bf16", "  ROOT r = bf16[405506] add(p0, p1)"), widths(&[("v2.b16", 1)]));
    assert_eq!(stores("f16", "f16", "  ROOT r = f16[405506] maximum(p0, p1)"), widths(&[("v2.b16", 1)]));
    assert_eq!(stores("pred", "pred", "  ROOT r = pred[405506] and(p0, p1)"), widths(&[("v2.b8", 1)]));
    let rounded = "  s = f16[405506] add(p0, p1)\n  ROOT r = bf16[405506] convert(s)";
    assert_eq!(stores("f16", "bf16", rounded), widths(&[("b32", 1)]));
}

/// 16-bit numbers that the device computes natively are not packed; those that are rounded are.
#[test]
fn steps_of_sixteen_bits() {
    let stores = |op: &str, element: &str| {
        let shape = format!("{element}[512,1024]");
        accesses("", &[&shape], &format!("  ROOT r = {shape} {op}(p0)"), &shape)[1].clone()
    };
    for element in ["f16", "bf16"] {
        for op in ["floor", "ceil", "sign"] {
            assert_eq!(stores(op, element), widths(&[("v4.b16", 1)]), "{op} {element}");
        }
        for op in ["rsqrt", "abs", "logistic"] {
            assert_eq!(stores(op, element), widths(&[("v2.b32", 1)]), "{op} {element}");
        }
    }
}

/// A product that starts with 0 stays 0 for every read value.
#[test]
fn absorbed_operands_are_not_read() {
    let product = |element: &str, op: &str| {
        format!(
            "\
op {{
  a = {element}[] parameter(0)
  b = {element}[] parameter(1)
  ROOT c = {element}[] {op}(a, b)
}}"
        )
    };
    for (element, op, start, reads) in [
        ("s32", "multiply", "0", false),
        ("s8", "multiply", "0", false),
        ("u16", "minimum", "0", false),
        ("s32", "multiply", "1", true),
        ("f32", "multiply", "0", true),
        ("s32", "minimum", "0", true),
    ] {
        for (shape, dim, result) in [("171,90", 1, "171"), ("372,64", 0, "64"), ("64,3", 1, "64")] {
            let body = format!(
                "  z = {element}[] constant({start})\n  ROOT r = {element}[{result}] reduce(p0, z), dimensions={{{dim}}}, to_apply=op"
            );
            let (from, to) = (format!("{element}[{shape}]"), format!("{element}[{result}]"));
            let [loads, _] = accesses(&product(element, op), &[&from], &body, &to);
            assert_eq!(!loads.is_empty(), reads, "{element} {op} {start} {shape}");
        }
    }
}

/// Decreasing indices are aligned only if the array has a power of two elements.
#[test]
fn reversed_elements() {
    let loads = |shape: &str| {
        accesses("", &[shape], &format!("  ROOT r = {shape} reverse(p0), dimensions={{0,1}}"), shape)[0]
            .clone()
    };
    assert_eq!(loads("f32[1024,512]"), widths(&[("v4.b32", 1)]));
    assert_eq!(loads("f32[1000,516]"), widths(&[("b32", 4)]));
}

/// Only the last iteration is guarded, so it is a branch of its own that reads loop-invariant operands again,
/// unless there is no condition before the loop.
#[test]
fn the_last_round_reads_invariant_operands_again() {
    let add = "\
f {
  a = s32[] parameter(0)
  b = s32[] parameter(1)
  ROOT s = s32[] add(a, b)
}";
    let loads = |rows: i64, columns: i64| {
        let array = format!("s32[{rows},{columns}]");
        let row = format!("s32[{columns}]");
        let body = format!(
            "  z = s32[] constant(0)\n  w = {array} broadcast(p1), dimensions={{1}}\n  v = {array} add(p0, w)
  ROOT r = {row} reduce(v, z), dimensions={{0}}, to_apply=f"
        );
        let [loads, _] = accesses(add, &[&array, &row], &body, &row);
        loads
    };
    assert_eq!(loads(94, 127), widths(&[("b32", 5)]));
    assert_eq!(loads(96, 127), widths(&[("b32", 4)]));
    assert_eq!(loads(130, 24), widths(&[("b32", 7)]));
    assert_eq!(loads(94, 64), widths(&[("v2.b32", 4)]));
}

/// Of four adjacent elements, the first two are known to be in the same row, the last two are not. XLA writes
/// their index with a constant that it does not drop, and reads each.
#[test]
fn an_index_is_read_as_often_as_xla_writes_it() {
    let body = "  b = f64[68,33,2,127] broadcast(p0), dimensions={0,1,3}\n  w = f64[68,33,2,127] broadcast(p1), dimensions={1}
  ROOT r = f64[68,33,2,127] subtract(b, w)";
    let [loads, stores] = accesses("", &["f64[68,33,127]", "f64[33]"], body, "f64[68,33,2,127]");
    assert_eq!(loads, widths(&[("b64", 7)]));
    assert_eq!(stores, widths(&[("b64", 4)]));
}

/// The number of rows of a tile that are stored in pairs. LLVM must know that the position of the first
/// element is even.
#[test]
fn rows_of_a_transpose_that_are_joined() {
    let pairs = |rows: i64, columns: i64| {
        let of = |rows, columns| format!("bf16[{rows},{columns}]");
        let result = of(columns, rows);
        let body = format!("  ROOT r = {result} transpose(p0), dimensions={{1,0}}");
        let [_, stores] = accesses("", &[&of(rows, columns)], &body, &result);
        stores.iter().find(|(width, _)| width == "v2.b16").map_or(0, |(_, count)| *count)
    };
    // The reads are in a branch, and the row distance is not a power of two.
    assert_eq!([pairs(100, 100), pairs(192, 200)], [0, 0]);
    assert_eq!(pairs(128, 100), 2);
    // The reads are not in a branch.
    assert_eq!([pairs(100, 128), pairs(192, 192)], [2, 2]);
    // Each row has its own condition.
    assert_eq!([pairs(192, 115), pairs(128, 123)], [1, 1]);
}

/// XLA's unroll factor of a loop within an element is a divisor of the number of iterations. If that is 1,
/// LLVM unrolls by as many as are short enough, and exits the loop in the middle. Loop-invariant ops do not
/// count.
#[test]
fn rounds_of_a_loop_within_an_element() {
    let add = |element: &str| {
        format!(
            "\
f {{
  a = {element}[] parameter(0)
  b = {element}[] parameter(1)
  ROOT s = {element}[] add(a, b)
}}"
        )
    };
    let loads = |called: &str, params: &[&str], body: &str, result: &str| {
        let [loads, _] = accesses(called, params, body, result);
        loads
    };
    // 31 iterations with an exponential: unrolled by two. One read is before the loop.
    let softmax = "  z = f32[] constant(0)\n  w = f32[96,31] broadcast(p1), dimensions={0}\n  d = f32[96,31] subtract(p0, w)
  e = f32[96,31] exponential(d)\n  ROOT r = f32[96] reduce(e, z), dimensions={1}, to_apply=f";
    let found = loads(&add("f32"), &["f32[96,31]", "f32[96]"], softmax, "f32[96]");
    assert_eq!(found, widths(&[("b32", 3)]));
    // 24 iterations, which XLA unrolls by twelve.
    let short = softmax.replace("96,31", "42,24").replace("f32[96]", "f32[42]");
    let found = loads(&add("f32"), &["f32[42,24]", "f32[42]"], &short, "f32[42]");
    assert_eq!(found, widths(&[("b32", 1), ("v4.b32", 3)]));
    // 103 short iterations: unrolled by eight.
    let columns = "  z = f16[] constant(0)\n  w = f16[103,650] broadcast(p1), dimensions={1}\n  v = f16[103,650] add(p0, w)
  s = f16[650] reduce(v, z), dimensions={0}, to_apply=f\n  ROOT r = f16[650] add(s, p2)";
    let found = loads(&add("f16"), &["f16[103,650]", "f16[650]", "f16[650]"], columns, "f16[650]");
    assert_eq!(found, widths(&[("b16", 10)]));
    // Of two loops, the outer one is fully unrolled if it has at most four iterations, or if both are short;
    // else partially.
    for (outer, factor) in [(3, 3), (5, 5), (7, 1), (12, 4)] {
        let body = "  z = f64[] constant(0)\n  ROOT r = f64[94] reduce(p0, z), dimensions={0,2}, to_apply=f";
        let found = loads(&add("f64"), &[&format!("f64[{outer},94,25]")], body, "f64[94]");
        assert_eq!(found, widths(&[("b64", 25 * factor)]), "{outer}");
    }
    // A product of two numbers has their type, and so has the sum: 300 iterations, unrolled by 75.
    let dot = "  ROOT r = f16[1,1] dot(p0, p1), lhs_contracting_dims={1}, rhs_contracting_dims={0}";
    let found = loads("", &["f16[1,300]", "f16[300,1]"], dot, "f16[1,1]");
    assert_eq!(found, widths(&[("b16", 150)]));
}
