//! Test fixtures: texts of fused computations, and checks of their kernels.

use std::sync::Arc;

use indexing_map::IndexingMap;
use ir::{AttributeKey, Graph, Op, Opcode, Shape, graphs_of_text};

use crate::{Device, Emitter, Fused, FusionAnalysis, Reason};

/// The computations that reductions apply.
const CALLED: &str = "HloModule m
add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT sum = f32[] add(a, b)
}
";

/// The instruction `name` of a module: itself if it is a fusion, else a fusion around it.
pub(crate) fn fused(module: &str, name: &str) -> Result<Fused, Reason> {
    let graphs = graphs_of_text(module);
    let callee = |name: &str| graphs.iter().find(|(n, _)| n == name).map(|(_, graph)| graph.clone());
    let (graph, id) = graphs.iter().find_map(|(_, g)| Some((g, g.find(name)?))).expect(name);
    let op = &graph.ops[id as usize];
    match (op.opcode, op.attributes.computation(AttributeKey::Calls)) {
        (Opcode::Fusion, Some(called)) => Fused::of_fusion(op, &callee(called).expect(called), &callee),
        _ => Fused::wrapping(op, name),
    }
}

/// The attributes of an instruction.
pub(crate) fn attributes(text: &str) -> ir::Attributes {
    let module = format!(
        "\
HloModule m
ENTRY e {{
 p = f32[] parameter(0)
 ROOT f = f32[] fusion(p), {text}
}}
"
    );
    let (_, graph) = graphs_of_text(&module).pop().expect("an entry");
    graph.ops[graph.root as usize].attributes.clone()
}

/// The callees of [`analysis`]: `add`.
pub(crate) fn callees() -> impl Fn(&str) -> Option<Arc<Graph>> {
    let graphs = graphs_of_text(CALLED);
    move |name| graphs.iter().find(|(n, _)| n == name).map(|(_, graph)| graph.clone())
}

/// A fusion whose computation has these instructions.
pub(crate) fn analysis(instructions: &str, device: &str) -> Result<FusionAnalysis, Reason> {
    let graphs = graphs_of_text(&format!("{CALLED}fused {{\n{instructions}\n}}\n"));
    let (_, graph) = graphs.iter().find(|(name, _)| name == "fused").expect("the fused computation");
    let device = Device::find(device).expect(device);
    let fused = Fused::of_fusion(&Op::leaf(Shape::Token), graph, &|_| None)?;
    FusionAnalysis::new(fused, device)
}

/// Checks emitter, hero and launch: `"loop root 2x128"`, with `x2` before the threads for a second group of
/// blocks, and ` +4224` at the end for bytes of shared memory. Also checks by enumeration that the elements
/// written, and those that the hero reads of its operands, are covered once.
#[track_caller]
pub(crate) fn check(instructions: &str, device: &str, expect: &str) -> FusionAnalysis {
    let analysis = analysis(instructions, device).unwrap_or_else(|reason| panic!("no kernel: {reason}"));
    let launch = analysis.launch().expect("a launch");
    let mut got =
        format!("{} {} {}", analysis.emitter.name(), analysis.fused.name(analysis.hero()), launch.grid[0]);
    for n in launch.grid[1..].iter().filter(|&&n| n > 1) {
        got += &format!("x{n}");
    }
    got += &format!("x{}", launch.block[0]);
    if launch.shared_bytes > 0 {
        got += &format!(" +{}", launch.shared_bytes);
    }
    assert_eq!(got, expect);
    let results = analysis.fused.outputs.iter().map(|&root| match &analysis.emitter {
        Emitter::DynamicUpdateSlice(in_place) => &in_place.update,
        _ => analysis.fused.root_shape(root),
    });
    for (map, shape) in analysis.thread_to_output().iter().zip(results) {
        if let Some(map) = map {
            assert_covers_once(map, shape.dims());
        }
    }
    analysis
}

/// Checks that each defined map to an operand of the hero covers each element once.
#[track_caller]
pub(crate) fn check_reads_once(analysis: &FusionAnalysis) {
    let mut read = 0;
    for (hero, maps) in analysis.thread_to_input() {
        for (map, shape) in maps.iter().zip(&analysis.fused.op(hero).operand_shapes) {
            if !map.is_undefined() {
                assert_covers_once(map, shape.dims());
                read += 1;
            }
        }
    }
    assert!(read > 0, "nothing is read");
}

#[track_caller]
fn assert_covers_once(map: &IndexingMap, sizes: &[i64]) {
    let elements: i64 = sizes.iter().product();
    let mut seen = vec![false; elements as usize];
    for (point, index) in map.points(1 << 22).expect("few enough points") {
        let inside = index.len() == sizes.len() && index.iter().zip(sizes).all(|(i, n)| (0..*n).contains(i));
        assert!(inside, "{point:?} goes to {index:?}, outside {sizes:?}: {map}");
        let linear = index.iter().zip(sizes).fold(0, |linear, (i, n)| linear * n + i);
        assert!(!std::mem::replace(&mut seen[linear as usize], true), "{index:?} is there twice: {map}");
    }
    let missing = seen.iter().position(|seen| !seen);
    assert_eq!(missing, None, "element {missing:?} is missing: {map}");
}
