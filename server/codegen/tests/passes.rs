//! Passes over kernels: after every prefix of the pipeline, the kernel agrees with the interpreter, and its
//! MLIR is well formed.

#![allow(clippy::print_stdout, reason = "how many kernels agree")]

mod well_formed;
mod written;

use agreement::{Effort, Flavour, Kernel, check};
use codegen::passes::{PIPELINE, after_each};
use test_files::hlo::fusion_module;
use well_formed::check_mlir;
use written::{Written, written_of};

const CALLED: &str = "add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT sum = f32[] add(a, b)
}

less {
  l = f32[] parameter(0)
  r = f32[] parameter(1)
  ROOT c = pred[] compare(l, r), direction=LT
}";

/// Parameters, instructions, result: at least one fusion for every emitter, and for every op with regions.
const FUSIONS: &[(&str, &[&str], &str, &str)] = &[
    (
        "elementwise",
        &["f32[33,70]", "f32[70]", "f32[]"],
        "  b = f32[33,70] broadcast(p1), dimensions={1}\n  s = f32[33,70] broadcast(p2), dimensions={}
  c = pred[33,70] compare(p0, b), direction=LT\n  d = f32[33,70] subtract(p0, s)
  ROOT r = f32[33,70] select(c, d, b)",
        "f32[33,70]",
    ),
    (
        "several elements of a thread",
        &["bf16[1024,640]"],
        "  n = bf16[1024,640] negate(p0)\n  ROOT r = bf16[1024,640] add(n, p0)",
        "bf16[1024,640]",
    ),
    (
        "layouts and tables",
        &["f32[2,3]{0,1}"],
        "  c = f32[2,3]{0,1} constant({{1,2,3},{4,5,6}})\n  s = f32[2,3]{0,1} add(p0, c)
  ROOT r = f32[2,3]{1,0} copy(s)",
        "f32[2,3]{1,0}",
    ),
    (
        "a loop inside, twice",
        &["f32[6,50]", "f32[]"],
        "  e = f32[6,50] exponential(p0)\n  s = f32[6] reduce(e, p1), dimensions={1}, to_apply=add
  b = f32[6,50] broadcast(s), dimensions={0}\n  ROOT r = f32[6,50] divide(e, b)",
        "f32[6,50]",
    ),
    ("pad", &["f32[8,6]", "f32[]"], "  ROOT r = f32[12,17] pad(p0, p1), padding=2_2x-1_2_2", "f32[12,17]"),
    (
        "dot",
        &["f32[4,90]", "f32[90,3]"],
        "  ROOT r = f32[4,3] dot(p0, p1), lhs_contracting_dims={1}, rhs_contracting_dims={0}",
        "f32[4,3]",
    ),
    (
        "convolution",
        &["f32[1,8,2]", "f32[3,2,4]"],
        "  ROOT r = f32[1,8,4] convolution(p0, p1), window={size=3 pad=1_1}, dim_labels=b0f_0io->b0f",
        "f32[1,8,4]",
    ),
    (
        "gather",
        &["f32[20,16]", "s32[9,1]"],
        "  g = f32[9,16] gather(p0, p1), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, \
         index_vector_dim=1, slice_sizes={1,16}\n  n = f32[9,16] negate(g)\n  ROOT r = f32[9,16] multiply(n, g)",
        "f32[9,16]",
    ),
    (
        "concatenate",
        &["f32[300,7]", "f32[100,7]", "f32[200,7]"],
        "  ROOT r = f32[600,7] concatenate(p0, p1, p2), dimensions={0}",
        "f32[600,7]",
    ),
    (
        "dynamic-update-slice",
        &["f32[20,16]", "f32[3,16]", "s32[]", "s32[]"],
        "  n = f32[3,16] negate(p1)\n  ROOT r = f32[20,16] dynamic-update-slice(p0, n, p2, p3)",
        "f32[20,16]",
    ),
    (
        "transpose",
        &["f32[100,300]", "f32[300]"],
        "  t = f32[300,100] transpose(p0), dimensions={1,0}\n  b = f32[300,100] broadcast(p1), dimensions={0}
  ROOT r = f32[300,100] multiply(t, b)",
        "f32[300,100]",
    ),
    (
        "packed transpose",
        &["bf16[128,256]"],
        "  ROOT r = bf16[256,128] transpose(p0), dimensions={1,0}",
        "bf16[256,128]",
    ),
    (
        "rows",
        &["f32[40,1000]", "f32[]"],
        "  e = f32[40,1000] exponential(p0)\n  ROOT r = f32[40] reduce(e, p1), dimensions={1}, to_apply=add",
        "f32[40]",
    ),
    (
        "short rows",
        &["f32[400,8]", "f32[]"],
        "  ROOT r = f32[400] reduce(p0, p1), dimensions={1}, to_apply=add",
        "f32[400]",
    ),
    (
        "columns",
        &["f32[300,128]", "f32[]"],
        "  ROOT r = f32[128] reduce(p0, p1), dimensions={0}, to_apply=add",
        "f32[128]",
    ),
    (
        "two results",
        &["f32[40,50]"],
        "  t = f32[50,40] transpose(p0), dimensions={1,0}\n  n = f32[40,50] negate(p0)
  ROOT r = (f32[50,40], f32[40,50]) tuple(t, n)",
        "(f32[50,40], f32[40,50])",
    ),
    (
        "scatter",
        &["f32[50,8]", "s32[40,1]", "f32[40,1,8]"],
        "  ROOT r = f32[50,8] scatter(p0, p1, p2), update_window_dims={1,2}, inserted_window_dims={}, \
         scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=add",
        "f32[50,8]",
    ),
    ("sort", &["f32[3,700]"], "  ROOT r = f32[3,700] sort(p0), dimensions={1}, to_apply=less", "f32[3,700]"),
];

/// The kernel after the first `passes`, checked as text.
fn after(hlo: &str, fusion: &str, device: &str, passes: usize) -> Result<Written, String> {
    written_of(hlo, fusion, device, &|kernel| {
        let Some(last) = passes.checked_sub(1) else { return kernel };
        let (pass, kernel) = after_each(&kernel).nth(last).expect("so many passes");
        check_mlir(&codegen::mlir(&kernel).text, &format!("after {}", pass.name));
        kernel
    })
}

/// Whether the kernel agrees with the interpreter after every prefix of the pipeline, or why it is not run.
fn agrees(hlo: &str, fusion: &str, device: &str, effort: Effort) -> Result<bool, String> {
    let mut before = Vec::new();
    for passes in 0..=PIPELINE.len() {
        let Written { ptx, missing, grid, block, then } = after(hlo, fusion, device, passes)?;
        if !missing.is_empty() {
            return Err(missing.join("; "));
        }
        let mut kernels = vec![Kernel { ptx, grid, threads: block }];
        kernels.extend(then.into_iter().map(|w| Kernel { ptx: w.ptx, grid: w.grid, threads: w.block }));
        let texts: Vec<String> = kernels.iter().map(|kernel| kernel.ptx.clone()).collect();
        if texts == before {
            continue;
        }
        let last = passes.checked_sub(1).map_or("nothing", |last| PIPELINE[last].name);
        let outcome = check(hlo, &kernels, effort).map_err(|reason| reason.into_owned())?;
        if outcome.compared == 0 {
            return Err("nothing was compared".to_owned());
        }
        if passes == 0 && !outcome.wrong.is_empty() {
            return Err("it is wrong before any pass".to_owned());
        }
        if let Some(wrong) = outcome.wrong.first() {
            println!("{hlo}\nafter {passes} passes, {last}: {wrong}\n{}", texts.join("\n"));
            return Ok(false);
        }
        before = texts;
    }
    Ok(true)
}

#[test]
fn kernels_agree_after_every_pass() {
    let only = std::env::var("CODEGEN_ONLY").unwrap_or_default();
    for (name, params, instructions, result) in FUSIONS.iter().filter(|(name, ..)| name.contains(&only)) {
        let hlo = fusion_module(CALLED, params, instructions, result);
        let effort =
            Effort { seed: 3, flavour: Flavour::Plain, threads: 1 << 13, elements: 1 << 12, traces: false };
        assert_eq!(agrees(&hlo, "f", "h100-sxm", effort), Ok(true), "{name}");
    }
}

mod needs_shared {
    use super::*;

    #[test]
    #[ignore = "needs the shared data beside the checkout: cargo xtask test"]
    fn kernels_of_the_corpus_agree_after_every_pass() {
        let loaded = agreement::xla_kernels::load();
        let every = std::env::var("PASSES_EVERY").ok().and_then(|n| n.parse().ok()).unwrap_or(60);
        let effort =
            Effort { seed: 1, flavour: Flavour::Plain, threads: 1 << 12, elements: 1 << 9, traces: false };
        let (mut agreeing, mut not_run) = (0, Vec::new());
        let mut wrong = Vec::new();
        for pair in loaded.pairs.iter().step_by(every) {
            let device = pair.name.rsplit_once('@').map_or("h100-sxm", |(_, device)| device);
            match agrees(&pair.hlo, &pair.fusion, device, effort) {
                Ok(true) => agreeing += 1,
                Ok(false) => wrong.push(pair.name.clone()),
                Err(reason) => not_run.push(format!("{}: {reason}", pair.name)),
            }
        }
        println!(
            "{agreeing} kernels agree after every pass, {} wrong, {} not run",
            wrong.len(),
            not_run.len()
        );
        not_run.iter().take(5).for_each(|reason| println!("{reason}"));
        assert_eq!(wrong, Vec::<String>::new());
    }
}
