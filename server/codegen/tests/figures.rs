//! Compares the requests and sectors counted from a kernel's code with those of running it, per array.

mod written;

use std::collections::BTreeMap;

use agreement::{Effort, Flavour, Kernel, check};
use gpu::Buffer;
use test_files::hlo::{ADD, fusion_module};
use written::{Emitted, emitted, written};

/// Per array: requests and sectors.
type Figures = BTreeMap<(usize, bool), (u64, u64)>;

/// The figures of the code, and of running it.
fn figures(hlo: &str, device: &str) -> (Figures, Figures) {
    let Emitted { analysis, kernel } = emitted(hlo, "f", device).expect("a kernel");
    let own = written(hlo, "f", device).expect("a kernel");
    let launches = [Kernel { ptx: own.ptx.clone(), grid: own.grid, threads: own.block }];
    let effort = Effort { seed: 1, flavour: Flavour::Plain, threads: 1 << 20, elements: 0, traces: true };
    let outcome = check(hlo, &launches, effort).expect(&own.ptx);
    let mut run = Figures::new();
    for traffic in &outcome.reports[0].traffic {
        let is_result = outcome.results.contains(&traffic.buffer);
        let entry = run.entry((traffic.buffer, is_result)).or_default();
        *entry = (entry.0 + traffic.requests, entry.1 + traffic.sectors);
    }
    let accesses = codegen::accesses(&kernel, analysis.device).expect("it is known");
    let mut counted = Figures::new();
    for buffer in analysis.coalescing_of(&|_| Ok(accesses.clone())) {
        let counts = buffer.best().expect("known");
        assert!(buffer.is_exact(), "{:?}\n{}", buffer.code, own.ptx);
        let key = match buffer.buffer {
            Buffer::Operand(number) => (number as usize, outcome.results.contains(&(number as usize))),
            Buffer::Result(number) => (outcome.results[number], true),
        };
        let entry: &mut (u64, u64) = counted.entry(key).or_default();
        *entry = (entry.0 + counts.requests, entry.1 + counts.sectors);
    }
    counted.retain(|_, figures| *figures != (0, 0));
    (counted, run)
}

#[track_caller]
fn agrees(params: &[&str], instructions: &str, result: &str) {
    let hlo = fusion_module(ADD, params, instructions, result);
    for device in ["h100-sxm", "a100-sxm-80", "b200"] {
        let (counted, run) = figures(&hlo, device);
        assert_eq!(counted, run, "{device}\n{instructions}\n{}", written(&hlo, "f", device).expect("it").ptx);
    }
}

/// Wide elements, narrow ones, and array ends that do not fill a vector.
#[test]
fn elementwise() {
    for element in ["f64", "s64", "f32", "bf16", "s8", "pred", "c64", "s4", "f8e4m3fn"] {
        for size in ["100000", "4096", "33,70", "3", "131072"] {
            // If several elements share a byte and a thread writes only some, they are written by
            // compare-and-swap loops.
            if element == "s4" && matches!(size, "3" | "33,70") {
                continue;
            }
            let shape = format!("{element}[{size}]");
            let op = if element == "pred" { "and" } else { "add" };
            if matches!(element, "s4" | "f8e4m3fn") {
                agrees(&[&shape], &format!("  ROOT r = {shape} reverse(p0), dimensions={{0}}"), &shape);
            } else {
                agrees(&[&shape, &shape], &format!("  ROOT r = {shape} {op}(p0, p1)"), &shape);
            }
        }
    }
    agrees(&["s64[100000]"], "  ROOT r = f32[100000] convert(p0)", "f32[100000]");
}

#[test]
fn moved_elements() {
    let cases: &[(&[&str], &str, &str)] = &[
        (&["f32[64,96]{0,1}"], "  ROOT r = f32[64,96] copy(p0)", "f32[64,96]"),
        (&["f32[600,6]{0,1}"], "  ROOT r = f32[600,6] copy(p0)", "f32[600,6]"),
        (
            &["f32[128,128]", "f32[128,128]"],
            "  t = f32[128,128] transpose(p0), dimensions={1,0}\n  a = f32[128,128] add(t, p1)
  s = f32[128,64] slice(a), slice={[0:128],[0:128:2]}\n  ROOT r = f32[128,64] negate(s)",
            "f32[128,64]",
        ),
        (&["f32[8,6]", "f32[]"], "  ROOT r = f32[12,17] pad(p0, p1), padding=2_2x-1_2_2", "f32[12,17]"),
        (&["f32[40,50]", "f32[]"], "  ROOT r = f32[43,60] pad(p0, p1), padding=1_2x4_6", "f32[43,60]"),
        (
            &["bf16[70,90]", "bf16[33,90]", "bf16[5,90]"],
            "  c = bf16[108,90] concatenate(p0, p1, p2), dimensions={0}\n  ROOT r = bf16[108,90] negate(c)",
            "bf16[108,90]",
        ),
        (
            &["f32[70,90]", "f32[70,33]"],
            "  c = f32[70,123] concatenate(p0, p1), dimensions={1}\n  ROOT r = f32[70,123] negate(c)",
            "f32[70,123]",
        ),
        (&["f32[100,70]"], "  ROOT r = f32[100,70] reverse(p0), dimensions={0,1}", "f32[100,70]"),
        (
            &["f32[100]", "f32[70]"],
            "  a = f32[70,100] broadcast(p0), dimensions={1}\n  b = f32[70,100] broadcast(p1), dimensions={0}
  ROOT r = f32[70,100] add(a, b)",
            "f32[70,100]",
        ),
    ];
    for (params, instructions, result) in cases {
        agrees(params, instructions, result);
    }
}

#[test]
fn transposes() {
    for element in ["f32", "bf16", "s8", "f64"] {
        for (dims, order, result) in [
            ("96,64", "1,0", "64,96"),
            ("70,90", "1,0", "90,70"),
            ("5,40,48", "2,1,0", "48,40,5"),
            ("3,70,65", "0,2,1", "3,65,70"),
        ] {
            agrees(
                &[&format!("{element}[{dims}]")],
                &format!("  ROOT r = {element}[{result}] transpose(p0), dimensions={{{order}}}"),
                &format!("{element}[{result}]"),
            );
        }
    }
}

/// Loop invariants are read once.
#[test]
fn reductions() {
    for (dims, reduced, result) in [
        ("40,300", "1", "40"),
        ("9,5000", "1", "9"),
        ("1000,16", "1", "1000"),
        ("300,40", "0", "40"),
        ("2048,512", "0", "512"),
        ("200,16", "0", "16"),
        ("5,70,64", "0,2", "70"),
    ] {
        agrees(
            &[&format!("f32[{dims}]"), "f32[]"],
            &format!("  ROOT r = f32[{result}] reduce(p0, p1), dimensions={{{reduced}}}, to_apply=add"),
            &format!("f32[{result}]"),
        );
    }
    agrees(
        &["f32[2048,512]", "f32[512]", "f32[]"],
        "  b = f32[2048,512] broadcast(p1), dimensions={1}\n  m = f32[2048,512] multiply(p0, b)
  ROOT r = f32[512] reduce(m, p2), dimensions={0}, to_apply=add",
        "f32[512]",
    );
}

/// The rows of a gather are known only at run time: in the worst case, every lane that may read another row
/// does.
#[test]
fn gathers() {
    for (rows, width, most) in [(512, 4, 8), (512, 1, 32), (64, 64, 4), (100, 6, 7)] {
        let hlo = fusion_module(
            ADD,
            &[&format!("f32[100000,{width}]"), &format!("s32[{rows},1]")],
            &format!(
                "  ROOT r = f32[{rows},1,{width}] gather(p0, p1), offset_dims={{1,2}}, collapsed_slice_dims={{}}, \
                 start_index_map={{0}}, index_vector_dim=1, slice_sizes={{1,{width}}}"
            ),
            &format!("f32[{rows},1,{width}]"),
        );
        let Emitted { analysis, kernel } = emitted(&hlo, "f", "h100-sxm").expect("a kernel");
        let accesses = codegen::accesses(&kernel, analysis.device).expect("it is known");
        let buffers = analysis.coalescing_of(&|_| Ok(accesses.clone()));
        let (best, worst) = (buffers[0].best().expect("known"), buffers[0].worst().expect("known"));
        assert!(!buffers[0].is_exact() || best == worst, "{best:?} {worst:?}");
        assert!(worst.sectors <= most * worst.requests, "{worst:?}");
        assert!(worst.sectors * 4 >= most * worst.requests * 3, "{rows} {width} {worst:?}");
        assert_eq!(worst.bytes_used, rows * width * 4, "each row is another one");
    }
}
