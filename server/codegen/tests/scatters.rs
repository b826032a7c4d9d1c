//! Runs kernels of scatters on the processor and compares them with the interpreter.

mod agreeing;
mod written;

use agreeing::agrees_calling;

fn called(element: &str, root: &str) -> String {
    format!(
        "\
f {{
  a = {element}[] parameter(0)
  b = {element}[] parameter(1)
  ROOT r = {root}
}}"
    )
}

/// A scatter of rows into `[50,8]`; returns the PTX per device.
#[track_caller]
fn rows(element: &str, combined: &str, indices: &str, rows: u32, more: &str) -> Vec<String> {
    let called = called(element, &format!("{element}[] {combined}"));
    let (operand, updates) = (format!("{element}[50,8]"), format!("{element}[{rows},1,8]"));
    let instructions = format!(
        "  ROOT r = {operand} scatter(p0, p1, p2), update_window_dims={{1,2}}, inserted_window_dims={{}}, \
         scatter_dims_to_operand_dims={{0}}, index_vector_dim=1, to_apply=f{more}"
    );
    let indices = format!("{indices}[{rows},1]");
    agrees_calling(&called, &[&operand, &indices, &updates], &instructions, &operand)
}

/// One instruction if there is one for the type, else a loop.
#[test]
fn equal_indices_are_combined() {
    let has = |texts: &[String], what: [&str; 3]| {
        for (text, what) in texts.iter().zip(what) {
            assert!(text.contains(what), "{what}\n{text}");
        }
    };
    has(&rows("f32", "add(a, b)", "s32", 40, ""), ["atom.relaxed.sys.global.add.f32"; 3]);
    has(&rows("f64", "add(b, a)", "s32", 40, ""), ["global.add.f64"; 3]);
    has(&rows("f16", "add(a, b)", "s32", 40, ""), ["global.add.noftz.f16"; 3]);
    has(
        &rows("bf16", "add(a, b)", "s32", 40, ""),
        ["global.add.noftz.bf16", "global.cas.b32", "global.add.noftz.bf16"],
    );
    has(&rows("s32", "add(a, b)", "s32", 40, ""), ["global.add.u32"; 3]);
    has(&rows("u64", "maximum(a, b)", "s32", 40, ""), ["global.max.u64"; 3]);
    has(&rows("s64", "minimum(a, b)", "s32", 40, ""), ["global.min.s64"; 3]);
    has(&rows("f32", "maximum(a, b)", "s32", 40, ""), ["global.min.u32"; 3]);
    has(&rows("f32", "minimum(a, b)", "s32", 40, ""), ["global.cas.b32"; 3]);
    has(&rows("f64", "maximum(a, b)", "s32", 40, ""), ["global.cas.b64"; 3]);
    has(&rows("s32", "multiply(a, b)", "s32", 40, ""), ["global.cas.b32"; 3]);
    has(&rows("s64", "and(a, b)", "s32", 40, ""), ["global.cas.b64"; 3]);
    has(&rows("s16", "add(a, b)", "s32", 40, ""), ["global.cas.b32"; 3]);
    has(&rows("s8", "maximum(a, b)", "s32", 40, ""), ["global.cas.b32"; 3]);
    has(&rows("u8", "add(a, b)", "s32", 40, ""), ["global.cas.b32"; 3]);
    has(&rows("s4", "add(a, b)", "s32", 40, ""), ["global.cas.b32"; 3]);
    has(&rows("pred", "or(a, b)", "s32", 40, ""), ["global.cas.b32"; 3]);
    has(&rows("c64", "add(a, b)", "s32", 40, ""), ["global.cas.b64"; 3]);
    has(&rows("f16", "maximum(a, b)", "s32", 40, ""), ["global.cas.b32"; 3]);
}

/// A scatter into `[50,8]` of rows at different indices.
#[track_caller]
fn different(element: &str, combined: &str, more: &str) -> Vec<String> {
    let called = match combined {
        // The root is the parameter itself.
        "" => format!("f {{\n  a = {element}[] parameter(0)\n  ROOT b = {element}[] parameter(1)\n}}"),
        combined => called(element, &format!("{element}[] {combined}")),
    };
    let operand = format!("{element}[50,8]");
    let instructions = format!(
        "  i = s32[40,1] iota(), iota_dimension=0\n  n = s32[40,1] negate(i)\n  j = s32[40,1] abs(n)
  ROOT r = {operand} scatter(p0, j, p1), update_window_dims={{1,2}}, inserted_window_dims={{}}, \
         scatter_dims_to_operand_dims={{0}}, index_vector_dim=1, to_apply=f{more}"
    );
    agrees_calling(&called, &[&operand, &format!("{element}[40,1,8]")], &instructions, &operand)
}

/// No thread sees half of an element.
#[test]
fn elements_are_replaced() {
    for (element, how) in [
        ("f32", "st.relaxed.sys.global.b32"),
        ("s64", "st.relaxed.sys.global.b64"),
        ("f64", "global.cas.b64"),
        ("bf16", "global.cas.b32"),
        ("s8", "global.cas.b32"),
        ("pred", "global.cas.b32"),
        ("c64", "global.cas.b64"),
    ] {
        for text in different(element, "", "") {
            assert!(text.contains(how), "{text}");
        }
    }
}

#[test]
fn indices_of_every_type() {
    for indices in ["s8", "u8", "s16", "u16", "u32", "s64", "u64"] {
        rows("f32", "add(a, b)", indices, 40, "");
    }
}

/// No other thread changes the same element.
#[test]
fn unique_indices() {
    for element in ["f32", "bf16", "s8", "s4", "c64"] {
        for text in different(element, "add(a, b)", ", unique_indices=true") {
            assert!(text.contains("st.global") && !text.contains("global.add"), "{text}");
        }
    }
    agrees_calling(
        "\
f {
  a = f32[] parameter(0)
  b = s32[] parameter(1)
  c = f32[] parameter(2)
  d = s32[] parameter(3)
  e = f32[] add(a, c)
  ROOT r = (f32[], s32[]) tuple(e, d)
}",
        &["f32[50,5]", "s32[50,5]", "f32[24,1,3]", "s32[24,1,3]"],
        "  i = s32[24,1] iota(), iota_dimension=0
  ROOT r = (f32[50,5], s32[50,5]) scatter(p0, p1, i, p2, p3), update_window_dims={1,2}, inserted_window_dims={}, \
         scatter_dims_to_operand_dims={0}, index_vector_dim=1, unique_indices=true, to_apply=f",
        "(f32[50,5], s32[50,5])",
    );
}

/// A warp processes several rows; the last warp has fewer.
#[test]
fn sorted_indices_are_summed_first() {
    let sorted = ", indices_are_sorted=true";
    for (element, combined) in [("f32", "add(a, b)"), ("s32", "add(a, b)"), ("bf16", "maximum(a, b)")] {
        for indices in ["s32", "s64"] {
            for count in [2048, 2049, 4100] {
                rows(element, combined, indices, count, sorted);
            }
        }
    }
    // More elements than a warp has lanes, and not a multiple of them.
    agrees_calling(
        &called("f32", "f32[] add(a, b)"),
        &["f32[7,90]", "s32[1100,2]", "f32[1100,1,70]"],
        "  ROOT r = f32[7,90] scatter(p0, p1, p2), update_window_dims={1,2}, inserted_window_dims={}, \
         scatter_dims_to_operand_dims={1,0}, index_vector_dim=1, indices_are_sorted=true, to_apply=f",
        "f32[7,90]",
    );
}

#[test]
fn windows_and_what_is_computed_before() {
    agrees_calling(
        &called("f32", "f32[] add(a, b)"),
        &["f32[30,20,4]", "s32[9,2]", "bf16[9,3,5,4]"],
        "  m = s32[] constant(15)\n  b = s32[9,2] broadcast(m), dimensions={}
  n = s32[9,2] and(p1, b)\n  u = f32[9,3,5,4] convert(p2)
  ROOT r = f32[30,20,4] scatter(p0, n, u), update_window_dims={1,2,3}, inserted_window_dims={}, \
         scatter_dims_to_operand_dims={1,0}, index_vector_dim=1, to_apply=f",
        "f32[30,20,4]",
    );
}
