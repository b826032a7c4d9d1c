//! What each pass does, on a small kernel.

use std::sync::Arc;

use expect_test::{Expect, expect};
use gpu::{Device, Fused, FusionAnalysis};
use ir::{AttributeKey, Graph};
use syntax::hlo::{PieceState, parse};

use super::{PIPELINE, mlir_after};
use crate::kernel::Kernel;

/// The kernel of the fusion `f` of these instructions.
fn kernel(params: &[&str], instructions: &str, result: &str) -> Kernel {
    let declared: String =
        params.iter().enumerate().map(|(n, shape)| format!("  p{n} = {shape} parameter({n})\n")).collect();
    let names: Vec<String> = (0..params.len()).map(|n| format!("p{n}")).collect();
    let text = format!(
        "HloModule m\n\nadd {{\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  ROOT s = f32[] add(a, b)\n}}\n\n\
         fused {{\n{declared}{instructions}\n}}\n\n\
         ENTRY e {{\n{declared}  ROOT f = {result} fusion({}), kind=kLoop, calls=fused\n}}\n",
        names.join(", ")
    );
    let text: Arc<str> = Arc::from(text);
    let parsed = Arc::new(parse(&text, PieceState::HEADER));
    let block = ir::lower(text.clone(), parsed.clone());
    let named = parsed.computations.iter().enumerate().filter_map(|(i, computation)| {
        let graph = Graph::build(&[(&block, i as u32)])?;
        Some((computation.name.of(&text).to_owned(), Arc::new(graph)))
    });
    let graphs: Vec<(String, Arc<Graph>)> = named.collect();
    let callee = |name: &str| graphs.iter().find(|(n, _)| n == name).map(|(_, graph)| graph.clone());
    let entry = callee("e").expect("an entry");
    let fusion = &entry.ops[entry.find("f").expect("a fusion") as usize];
    assert_eq!(fusion.attributes.computation(AttributeKey::Calls), Some("fused"));
    let fused = Fused::of_fusion(fusion, &callee("fused").expect("it is there"), &callee).expect("a fusion");
    let analysis = FusionAnalysis::new(fused, Device::find("h100-sxm").expect("it is known")).expect("shapes");
    let source = crate::Source { name: "f", computation: "fused", analysis: &analysis, callees: &callee };
    crate::emit(&source).expect("a kernel")
}

/// The functions of the kernel, without what every kernel has.
fn body(kernel: &Kernel) -> String {
    let text = crate::mlir(kernel).text;
    let lines = text.lines().filter(|line| line.starts_with("    "));
    let lines = lines.filter(|line| !line.contains("= gpu.") && !line.contains("arith.constant"));
    lines.map(|line| format!("{}\n", &line[4..])).collect()
}

/// `flag` names the pass; those before it have run. What it makes of the kernel is shown behind `=>`.
#[track_caller]
fn check(flag: &str, params: &[&str], instructions: &str, result: &str, expect: Expect) {
    let mut kernel = kernel(params, instructions, result);
    for pass in PIPELINE {
        let before = body(&kernel);
        pass.run(&mut kernel);
        if pass.flag == flag && before != body(&kernel) {
            expect.assert_eq(&format!("{before}=>\n{}", body(&kernel)));
            return;
        }
    }
    panic!("{flag} changes nothing");
}

#[test]
fn functions_that_are_called_once_are_inlined() {
    check("inline", &["f32[64]"], "  ROOT r = f32[64] negate(p0)", "f32[64]", expect![[""]]);
}

#[test]
fn functions_that_are_called_twice_stay() {
    let instructions = "  e = f32[6,5] exponential(p0)\n  s = f32[6] reduce(e, p1), dimensions={1}, to_apply=add
  b = f32[6,5] broadcast(s), dimensions={0}\n  ROOT r = f32[6,5] divide(e, b)";
    check("inline", &["f32[6,5]", "f32[]"], instructions, "f32[6,5]", expect![[""]]);
}

#[test]
fn the_round_that_asks_is_peeled() {
    let instructions = "  ROOT t = f32[64,40] transpose(p0), dimensions={1,0}";
    check("xla-gpu-peel-loops", &["f32[40,64]"], instructions, "f32[64,40]", expect![[""]]);
}

#[test]
fn a_map_becomes_loops() {
    let instructions = "  ROOT r = f32[1000,2048] negate(p0)";
    check("xla-lower-xla-loops-to-scf", &["f32[1000,2048]"], instructions, "f32[1000,2048]", expect![[""]]);
}

#[test]
fn arrays_become_flat() {
    let instructions = "  ROOT r = f32[8,30]{0,1} negate(p0)";
    check("xla-flatten-tensors", &["f32[8,30]{0,1}"], instructions, "f32[8,30]{0,1}", expect![[""]]);
}

#[test]
fn what_no_round_changes_leaves_the_loop() {
    let instructions = "  b = f32[6,500] broadcast(p1), dimensions={0}\n  m = f32[6,500] multiply(p0, b)
  s = f32[6] reduce(m, p2), dimensions={1}, to_apply=add\n  c = f32[6,3] broadcast(s), dimensions={0}
  ROOT r = f32[6,3] negate(c)";
    let params = ["f32[6,500]", "f32[6]", "f32[]"];
    check("loop-invariant-code-motion", &params, instructions, "f32[6,3]", expect![[""]]);
}

#[test]
fn a_condition_leaves_the_loop() {
    let instructions = "  ROOT t = f32[64,40] transpose(p0), dimensions={1,0}";
    check("xla-unswitch-loops", &["f32[40,64]"], instructions, "f32[64,40]", expect![[""]]);
}

#[test]
fn rounds_are_written_out() {
    let instructions = "  s = f32[6] reduce(p0, p1), dimensions={1}, to_apply=add\n  c = f32[6,3] broadcast(s), dimensions={0}
  ROOT r = f32[6,3] negate(c)";
    check("xla-gpu-optimize-loops", &["f32[6,3]", "f32[]"], instructions, "f32[6,3]", expect![[""]]);
}

#[test]
fn passes_have_two_names() {
    let kernel = kernel(&["f32[64]"], "  ROOT r = f32[64] negate(p0)", "f32[64]");
    let of = |asked: &str| mlir_after(&kernel, asked).map(|text| text.text);
    assert_eq!(of("inline"), of("InlinerPass"));
    assert_eq!(of("Inliner"), of("inline"));
    assert_eq!(of("no such pass"), None);
    let all = mlir_after(&kernel, "all").expect("all of them");
    assert_eq!(all.text.lines().count(), all.lines.len());
    let heads: Vec<&str> = all.text.lines().filter(|line| line.starts_with("// -----//")).collect();
    assert_eq!(heads.len(), PIPELINE.len());
    assert_eq!(heads[4], "// -----// IR Dump After InlinerPass (inline) //----- //");
    let read: Vec<&str> = all.text.lines().collect();
    assert!(!all.accesses.is_empty());
    assert!(all.accesses.iter().all(|(line, _)| read[*line].contains("tensor.extract")));
}
