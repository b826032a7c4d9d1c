//! Estimates that are kept from other runs change no result.

use generators::hlo::random_graph;
use passes::{Module, Options, optimize};
use random::Rng;

use crate::{module, options, print};

/// Two layers that normalise an array, and one product between them.
const LAYERS: &str = "\
HloModule layers

sum {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b)
}

ENTRY e {
  p = f32[64,512] parameter(0)
  zero = f32[] constant(0)
  e0 = f32[64,512] exponential(p)
  t0 = f32[64] reduce(e0, zero), dimensions={1}, to_apply=sum
  b0 = f32[64,512] broadcast(t0), dimensions={0}
  d0 = f32[64,512] divide(e0, b0)
  m = f32[64,512] multiply(d0, p)
  e1 = f32[64,512] exponential(m)
  t1 = f32[64] reduce(e1, zero), dimensions={1}, to_apply=sum
  b1 = f32[64,512] broadcast(t1), dimensions={0}
  d1 = f32[64,512] divide(e1, b1)
  w = f32[512,64] transpose(d1), dimensions={1,0}
  ROOT r = (f32[512,64], f32[64,512]) tuple(w, d1)
}
";

/// The module after all passes, or why they stop.
fn after(module: &Module, passes: &[&str], options: &Options) -> String {
    let mut module = module.clone();
    match optimize(&mut module, passes, options) {
        Ok(_) => print(&module),
        Err(stop) => stop.to_string(),
    }
}

#[test]
fn a_text_that_is_edited_has_the_result_of_the_first_run() {
    let kept = options("");
    let (mut compared, mut fused) = (0, 0);
    let edits = [
        ("exponential(m)", "negate(m)"),
        ("multiply(d0, p)", "add(p, d0)"),
        ("multiply(d0, p)", "multiply(d0, d0)"),
        ("512", "640"),
        ("dimensions={1,0}", "dimensions={1,0}, metadata={op_name=\"other\"}"),
        ("divide(e1, b1)", "divide(e1, b0)"),
    ];
    let texts = [("", "")].into_iter().chain(edits).map(|(from, to)| LAYERS.replace(from, to));
    for text in texts.clone().chain(texts) {
        let module = module(&text);
        let expect = after(&module, &["pipeline"], &options(""));
        assert_eq!(after(&module, &["pipeline"], &kept), expect, "{text}");
        compared += 1;
        fused += usize::from(expect.contains("__triton"));
    }
    assert!(compared == 14 && fused > 0, "{fused} of {compared} have fusions for Triton");
}

#[test]
fn random_modules_share_estimates() {
    let kept = options("fusion");
    let mut changed = 0;
    for case in 0..generators::cases(400) {
        let generated = random_graph(&mut Rng::new(generators::seed(case)));
        let before = module(&generated.text);
        for pass in ["priority-fusion", "multi_output_fusion"] {
            let expect = after(&before, &[pass], &options("fusion"));
            assert_eq!(after(&before, &[pass], &kept), expect, "{pass}\n{}", generated.text);
            changed += usize::from(expect != print(&before));
        }
    }
    assert!(changed > 100, "{changed} modules are fused");
}
