//! What XLA refuses of results, scans and packed floats, in its words.

mod fusions;

use fusions::{program_of, text_of};

/// The module of a fusion with these tiles of its results, in JSON.
fn module(result: &str, operands: &[&str], computations: &str, body: &str, tiles: &str) -> String {
    let parameters: String =
        operands.iter().enumerate().map(|(n, shape)| format!("  p{n} = {shape} parameter({n})\n")).collect();
    let names: Vec<String> = (0..operands.len()).map(|n| format!("p{n}")).collect();
    format!(
        "HloModule m\n{computations}\n%fused {{\n{parameters}{body}\n}}\n\nENTRY %e {{\n{parameters}  ROOT tiles = {result} \
         fusion({}), kind=kCustom, calls=%fused, backend_config={{\"fusion_backend_config\":{{\"kind\":\"__triton\",\
         \"block_level_fusion_config\":{{\"num_warps\":\"4\",\"output_tiles\":[{tiles}]}}}}}}\n}}\n",
        names.join(", "),
    )
}

#[track_caller]
fn check(module: &str, expect: &str) {
    assert_eq!(program_of(module).map(|_| ()), Err(expect.to_owned()));
}

/// XLA emits a fusion that differs only in what is refused of the others.
#[track_caller]
fn emits(module: &str, part: &str) {
    let text = text_of(&program_of(module).expect("a program"));
    assert!(text.contains(part), "{text}");
}

const MULTIPLE: &str = "TilingSpace does not support fusions with multiple roots.";

fn with_flag(module: &str) -> String {
    format!("// {}\n{module}", xtile::SEVERAL_RESULTS_FLAG)
}

/// XLA emits several results of one shape only where a flag asks for it.
#[test]
fn results() {
    let shape = "f32[40,70]";
    let both = "  n = f32[40,70] negate(p0)\n  e = f32[40,70] exponential(p0)\n  \
                ROOT t = (f32[40,70], f32[40,70]) tuple(e, n)";
    let of = |tiles: &str| module("(f32[40,70], f32[40,70])", &[shape], "", both, tiles);
    let alike = of("{\"sizes\":[\"8\",\"32\"]},{\"sizes\":[\"8\",\"32\"]}");
    check(&alike, &format!("{MULTIPLE} XLA emits them with {}", xtile::SEVERAL_RESULTS_FLAG));
    emits(&with_flag(&alike), "into %arg2[");
    check(
        &with_flag(&of("{\"sizes\":[\"8\",\"32\"]},{\"sizes\":[\"16\",\"32\"]}")),
        "Same-shape multi-output fusions must have identical tile sizes for all outputs. Received different tile \
         sizes for root 0 [8, 32] and root 1 [16, 32].",
    );
    check(
        &with_flag(&of("{\"sizes\":[\"8\",\"32\"]}")),
        "XLA ends without a message: the tiles of 1 of 2 results",
    );
    let layouts = "  n = f32[40,70]{1,0} negate(p0)\n  e = f32[40,70]{0,1} exponential(p0)\n  \
                   ROOT t = (f32[40,70]{0,1}, f32[40,70]{1,0}) tuple(e, n)";
    let tiles = "{\"sizes\":[\"8\",\"32\"]},{\"sizes\":[\"8\",\"32\"]}";
    let other = module("(f32[40,70]{0,1}, f32[40,70]{1,0})", &["f32[40,70]{1,0}"], "", layouts, tiles);
    check(&with_flag(&other), MULTIPLE);
}

#[test]
fn scans() {
    let scanned = |combiner: &str, end: &str, result: &str| {
        let computation = format!(
            "%combine {{\n  x = f32[64] parameter(0)\n  c = f32[64] parameter(1)\n  s = f32[64] {combiner}(x, c)\n  \
             ROOT t = (f32[64], f32[64]) tuple(s, s)\n}}\n"
        );
        let body = format!(
            "  z = f32[] constant(0)\n  i = f32[64] broadcast(z), dimensions={{}}\n  \
             s = (f32[64,128], f32[64]) scan(p0, i), dimensions={{1}}, num_carries=1, to_apply=%combine, \
             is_associative=true\n{end}"
        );
        module(result, &["f32[64,128]"], &computation, &body, "{\"sizes\":[\"4\"]}")
    };
    let sums = "  ROOT g = f32[64,128] get-tuple-element(s), index=0";
    let shape = "f32[64,128]";
    emits(&scanned("add", sums, shape), "xtile.scan(");
    check(
        &scanned("multiply", sums, shape),
        "Only additive scan operations are currently supported in Triton emission.",
    );
    let used = "  g = f32[64,128] get-tuple-element(s), index=0\n  ROOT n = f32[64,128] negate(g)";
    check(&scanned("add", used, shape), "Epilogue fusion for scan is not supported yet.");
    let last = "  ROOT g = f32[64] get-tuple-element(s), index=1";
    check(
        &scanned("add", last, "f32[64]"),
        "Only extracting scan output (tuple index 0) is currently supported.",
    );
}

#[test]
fn packed_floats() {
    let shape = "f4e2m1fn[128,128]";
    let tile = "{\"sizes\":[\"16\",\"128\"]}";
    check(
        &module("f32[128,128]", &[shape], "", "  ROOT c = f32[128,128] convert(p0)", tile),
        "f4e2m1fn storage value has unsupported Triton user: %p0 = f4e2m1fn[128,128] parameter() -> \
         %c = f32[128,128] convert(%p0)",
    );
    check(
        &module(shape, &[shape], "", "  ROOT c = f4e2m1fn[128,128] copy(p0)", tile),
        "f4e2m1fn storage value must feed scaled-dot operand 0 or 1: %c = f4e2m1fn[128,128] copy(%p0)",
    );
    let dot = |start: i64| {
        let end = start + 256;
        format!(
            "  b = f4e2m1fn[128,256] slice(p0), slice={{[0:128],[{start}:{end}]}}\n  ROOT d = f32[128,96] \
             scaled-dot(b, p1, p2, p3), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}, \
             backend_config={{\"sizes\":[\"128\"]}}"
        )
    };
    let operands = ["f4e2m1fn[128,300]", "f4e2m1fn[256,96]{0,1}", "f8e8m0fnu[128,8]", "f8e8m0fnu[8,96]"];
    let sliced = |start| module("f32[128,96]", &operands, "", &dot(start), "{\"sizes\":[\"32\",\"32\"]}");
    emits(&sliced(32), "arith.divsi");
    let why = program_of(&sliced(33)).map(|_| ()).unwrap_err();
    let expect = "Packed storage requires offset in dimension 1 to be divisible by 2 for shape f4e2m1fn[128,300], got ";
    assert!(why.starts_with(expect), "{why}");
}

#[test]
fn configurations() {
    let tiles = |sizes: &str, shape: &str| {
        let body = format!("  ROOT n = {shape} negate(p0)");
        module(shape, &[shape], "", &body, sizes)
    };
    let none = tiles("", "f32[40,70]")
        .replace(",\"block_level_fusion_config\":{\"num_warps\":\"4\",\"output_tiles\":[]}", "");
    assert!(!none.contains("num_warps"));
    check(&none, "Block level fusion config is required for Triton fusions: %tiles");
    check(
        &tiles("{\"sizes\":[\"8\"]}", "f32[40,70]"),
        "Number of parallel dimensions in the tiling space (2) does not match the number of output tile sizes in the \
         block level fusion config (1).",
    );
    check(
        &tiles("{\"sizes\":[\"4096\",\"1024\"]}", "f32[4096,4096]"),
        "Triton constraints violated during codegen: Instruction p0 has a padded tile size product that exceeds the \
         maximum allowed tensor size of 1048576 elements.",
    );
    check(
        &tiles("{\"sizes\":[\"1\",\"1\"]}", "f32[65536,65536]"),
        "Triton constraints violated during codegen: Number of blocks 65536*65536 exceeds the device grid X limit of \
         2147483647.",
    );
    // Sizes that are no power of two are rounded up.
    emits(&tiles("{\"sizes\":[\"3\",\"7\"]}", "f32[40,70]"), "[4, 8]");
}
