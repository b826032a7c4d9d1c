//! Runs transposes of elements below 32 bits, which go through shared memory in words, and compares them with
//! the interpreter.

mod agreeing;
mod written;

use agreeing::{agrees, agrees_calling};

#[test]
fn every_width() {
    for element in ["bf16", "s16", "s8", "pred", "s4"] {
        // Full tiles, and those at the edges.
        for (rows, columns) in [(128, 128), (200, 136), (264, 80)] {
            agrees(
                &[&format!("{element}[{rows},{columns}]")],
                &format!("  ROOT r = {element}[{columns},{rows}] transpose(p0), dimensions={{1,0}}"),
                &format!("{element}[{columns},{rows}]"),
            );
        }
    }
}

#[test]
fn dimensions_around_and_between() {
    agrees(&["bf16[3,66,70]"], "  ROOT r = bf16[3,70,66] transpose(p0), dimensions={0,2,1}", "bf16[3,70,66]");
    agrees(&["s8[48,3,40]"], "  ROOT r = s8[40,3,48] transpose(p0), dimensions={2,1,0}", "s8[40,3,48]");
    agrees(
        &["s8[48,2,3,40]"],
        "  ROOT r = s8[40,3,2,48] transpose(p0), dimensions={3,2,1,0}",
        "s8[40,3,2,48]",
    );
}

#[test]
fn what_is_computed_around() {
    agrees(
        &["f32[96,100]", "bf16[96]"],
        "  n = bf16[96,100] convert(p0)\n  t = bf16[100,96] transpose(n), dimensions={1,0}
  b = bf16[100,96] broadcast(p1), dimensions={1}\n  ROOT r = bf16[100,96] subtract(t, b)",
        "bf16[100,96]",
    );
    agrees(
        &["bf16[96,100]"],
        "  t = bf16[100,96] transpose(p0), dimensions={1,0}\n  n = bf16[96,100] negate(p0)
  c = f32[100,96] convert(t)\n  ROOT r = (bf16[100,96], bf16[96,100], f32[100,96]) tuple(t, n, c)",
        "(bf16[100,96], bf16[96,100], f32[100,96])",
    );
}

/// Several slices of one array: those after the first are read in pairs.
#[test]
fn several_slices_of_an_array() {
    let bias = "  c = bf16[192] convert(p1)\n  b = bf16[128,192] broadcast(c), dimensions={1}\n  a = bf16[128,192] add(p0, b)\n";
    let parts: String = (0..3)
        .map(|n| {
            format!(
                "  part{n} = bf16[128,64] slice(a), slice={{[0:128], [{}:{}]}}\n  t{n} = bf16[64,128] transpose(part{n}), dimensions={{1,0}}\n",
                64 * n,
                64 * n + 64
            )
        })
        .collect();
    let result = "(bf16[64,128], bf16[64,128], bf16[64,128])";
    let texts = agrees_calling(
        "",
        &["bf16[128,192]", "f32[192]"],
        &format!("{bias}{parts}  ROOT r = {result} tuple(t0, t1, t2)"),
        result,
    );
    for text in texts {
        assert!(text.contains("ld.global.nc.v2.b16"), "{text}");
        assert!(text.contains("ld.global.nc.b16"), "{text}");
    }
}

/// A device with registers for two 32-bit numbers moves pairs in them.
#[test]
fn pairs_that_are_only_moved() {
    let result = "f32[96,64,2]";
    let texts = agrees_calling(
        "",
        &["f32[64,96,2]"],
        "  ROOT r = f32[96,64,2] transpose(p0), dimensions={1,0,2}",
        result,
    );
    let [hopper, ampere, blackwell] = texts.as_slice() else { panic!("three devices") };
    for text in [hopper, ampere] {
        assert!(text.contains("ld.global.nc.v2.b32") && text.contains("st.global.v2.b32"), "{text}");
    }
    assert!(blackwell.contains("ld.global.nc.b64") && blackwell.contains("st.global.b64"), "{blackwell}");
}
