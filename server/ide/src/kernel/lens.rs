//! The lens above each kernel: its time and a short summary: `≈ 4.1 µs`, `loop · 24576 × 128 threads · 12.6
//! MB`.

use db::KernelId;
use gpu::{Emitter, Launch};

use crate::file_context::FileContext;
use crate::hlo::locate::InstructionRef;
use crate::kernel::figures::KernelFigures;
use crate::units::bytes;

/// Characters of a line of lenses: the time, the command and the details, which editors separate by ` | `.
const LINE: usize = 60;
/// The text that a client puts between time and details.
const SHOW: &str = " | Show kernel | ";

/// The contents of a kernel's lens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct KernelLens {
    pub(crate) time: Option<String>,
    pub(crate) details: String,
}

/// `None` if the instruction is not launched as a kernel, or has no shape.
pub(crate) fn kernel_lens(context: &FileContext<'_>, at: InstructionRef) -> Option<KernelLens> {
    if !context.is_launched(at) {
        return None;
    }
    lens_of_kernel(context, context.kernel_id(at)?)
}

/// The lens of a kernel, for HLO and StableHLO launches.
pub(crate) fn lens_of_kernel<'a>(context: &FileContext<'a>, id: KernelId<'a>) -> Option<KernelLens> {
    let analysis = match context.kernel(id)? {
        Ok(analysis) => analysis,
        Err(reason) => return Some(KernelLens { time: None, details: format!("no kernel: {reason}") }),
    };
    let figures = KernelFigures::of(context, id);
    let time = figures.as_ref().map(KernelFigures::time);
    let of_time = time.as_ref().map_or(0, |time| time.chars().count());
    let room = LINE.saturating_sub(SHOW.len() + of_time);
    let mut details = match &analysis.emitter {
        Emitter::Elsewhere(elsewhere) => elsewhere.by.title().to_owned(),
        emitter => emitter.name().to_owned(),
    };
    // Details that do not fit are in the hover only.
    let mut add = |texts: &[String]| {
        let fits = |text: &&String| details.chars().count() + text.chars().count() + 3 <= room;
        if let Some(text) = texts.iter().find(fits) {
            details += &format!(" · {text}");
        }
    };
    match &analysis.emitter {
        Emitter::Sort(sort) if sort.steps.len() > 1 => add(&[format!("{} kernels", sort.steps.len())]),
        _ => {}
    }
    if let Some(launch) = analysis.launch().or_else(|| analysis.stated_launch()) {
        let [grid, block] = [launch.grid, launch.block].map(sizes);
        add(&[format!("{grid} × {block} threads"), format!("{grid} × {block}")]);
    }
    if let Some(moved) = figures.map(|figures| figures.traffic()) {
        let last = moved.rsplit(", ").next().unwrap_or(&moved).to_owned();
        add(&[moved, last]);
    }
    Some(KernelLens { time, details })
}

/// `grid 24576 × 128 threads`
pub(crate) fn launched(launch: &Launch) -> String {
    let threads = launch.threads_per_block();
    let unit = if threads == 1 { "thread" } else { "threads" };
    let shared = match launch.shared_bytes {
        0 => String::new(),
        n => format!(", {} shared", bytes(n.unsigned_abs())),
    };
    format!("grid {} × {} {unit}{shared}", sizes(launch.grid), sizes(launch.block))
}

/// `8×4`: the sizes of a grid or a block without trailing ones.
pub(crate) fn sizes(sizes: [i64; 3]) -> String {
    let last = sizes.iter().rposition(|&n| n != 1).unwrap_or(0);
    sizes[..=last].iter().map(i64::to_string).collect::<Vec<_>>().join("×")
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use crate::fixture::{lenses, open};

    fn check(text: &str, expect: Expect) {
        let mut shown = String::new();
        for lens in lenses(text) {
            if lens.is_kernel {
                let time = lens.time.map_or_else(String::new, |time| format!("{time} | Show kernel | "));
                let line = format!("{time}{}", lens.title);
                assert!(line.chars().count() <= super::LINE || line.starts_with("no kernel"), "{line}");
                shown += &format!("{}: {line}\n", &text[lens.range]);
            }
        }
        expect.assert_eq(&shown);
    }

    pub(crate) const MODULE: &str = "HloModule m

sum {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b)
}

fused {
  p = f32[512,512] parameter(0)
  e = f32[512,512] exponential(p)
  t = f32[512,512] transpose(e), dimensions={1,0}
  ROOT r = f32[512,512] add(e, t)
}

fused.1 {
  p = f32[512,512] parameter(0)
  z = f32[] constant(0)
  r = f32[512] reduce(p, z), dimensions={1}, to_apply=sum
  ROOT n = f32[512] negate(r)
}

fused.2 {
  p = f32[512,512] parameter(0)
  ROOT e = f32[512,512] exponential(p)
}

ENTRY e {
  p = f32[512,512] parameter(0)
  f = f32[512,512] fusion(p), kind=kLoop, calls=fused
  g = f32[512] fusion(f), kind=kInput, calls=fused.1
  h = f32[512,512] fusion(f), kind=kCustom, calls=fused.2, backend_config={\"fusion_backend_config\":{\"kind\":\"__triton\",\"block_level_fusion_config\":{\"num_warps\":\"4\",\"output_tiles\":[{\"sizes\":[\"1\",\"128\"]}]}}}
  t = f32[512,512] transpose(h), dimensions={1,0}
  x = (f32[2], s32[2]) fusion(), kind=kLoop, calls=nobody
  ROOT c = (f32[512], f32[512,512]) tuple(g, t)
}
";

    #[test]
    fn kernels_say_how_they_run() {
        check(
            MODULE,
            expect![[r#"
                f: ≥ 0.8 µs | Show kernel | transpose · 256 × 128 threads
                g: ≈ 0.3 µs | Show kernel | reduction-row · 64 × 256 threads
                h: ≈ 0.6 µs | Show kernel | Triton · 2048 × 128 threads
                t: ≈ 0.6 µs | Show kernel | transpose · 256 × 128 threads
                x: no kernel: the fusion calls an unknown computation
            "#]],
        );
    }

    #[test]
    fn before_optimization_nothing_is_a_kernel() {
        check(
            "\
HloModule m

ENTRY e {
  p = f32[8] parameter(0)
  ROOT r = f32[8] negate(p)
}
",
            expect![""],
        );
    }

    #[test]
    fn a_fusion_of_another_computation_makes_no_kernels_of_this_one() {
        check(
            "\
HloModule m

f {
  p = f32[8] parameter(0)
  ROOT n = f32[8] negate(p)
}

g {
  q = f32[8] parameter(0)
  ROOT a = f32[8] abs(q)
}

ENTRY e {
  x = f32[8] parameter(0)
  k = f32[8] fusion(x), kind=kLoop, calls=f
  c = f32[8] call(k), to_apply=g
  ROOT r = f32[8] sine(c)
}
",
            expect![[r#"
                k: ≈ 0.001 µs | Show kernel | loop · 1 × 8 threads · 64 B
                r: ≈ 0.2 µs | Show kernel | loop · 1 × 8 threads · 64 B
            "#]],
        );
    }

    /// A LAPACK call also marks a module as compiled for the CPU.
    #[test]
    fn modules_that_call_lapack_have_no_kernels() {
        let call = "f32[512] custom-call(f), custom_call_target=\"lapack_sgetrf_ffi\"";
        check(&MODULE.replace("f32[512] fusion(f), kind=kInput, calls=fused.1", call), expect![""]);
    }

    /// The same fusions with and without the mark of XLA's CPU compiler on one of them.
    #[test]
    fn modules_of_a_cpu_have_no_kernels() {
        let text = MODULE.replace(
            "kind=kLoop, calls=fused\n",
            "kind=kLoop, calls=fused, backend_config={\"outer_dimension_partitions\":[\"2\"]}\n",
        );
        check(&text, expect![""]);
        let (analysis, file, _) = open(&text);
        let heaviest = analysis.heaviest_kernels(file, 9).expect("nobody cancels");
        assert!(heaviest.kernels.is_empty());
        assert_eq!(heaviest.why_none, crate::kernel::heaviest::ON_CPU);
        let of_entry =
            lenses(&text).into_iter().filter(|lens| lens.title.starts_with("compiled for a CPU: "));
        assert_eq!(of_entry.count(), 1);
        let config = crate::CoalescingConfig::default();
        assert!(analysis.coalescing_warnings(file, &config, 9).expect("nobody cancels").shown.is_empty());
        let at = text.find("g = f32").expect("it is there");
        let hover = analysis.hover(file, at).expect("nobody cancels").expect("a popup").markdown();
        let reason = "**no GPU kernel:** XLA's CPU backend writes this kernel\n";
        assert!(hover.contains(reason) && !hover.contains("**thread"), "{hover}");
        let query = crate::FusionQuery { instruction: "g".to_owned(), computation: None };
        let document =
            analysis.kernel_document(file, &query, crate::KernelLanguage::Ptx).expect("nobody cancels");
        let document = document.expect("it is in the module");
        assert!(document.code().is_none());
        assert_eq!(document.head[1], "no kernel of XLA's emitters: XLA's CPU backend writes this kernel");
        assert!(!document.body.contains("time: "), "{}", document.body);
    }
}
