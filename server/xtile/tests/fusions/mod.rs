//! The program of the only fusion of a module.

use gpu::{Device, Fused, FusionAnalysis};
use indexing::Callees;
use ir::{AttributeKey, graphs_of_text};
use xtile::Program;

/// The program of the entry's root, a fusion for Triton; or the reason why there is none.
pub fn program_of(module: &str) -> Result<Program, String> {
    with_fusion(module, |name, analysis, callees| xtile::emit(name, analysis, callees))
        .and_then(|program| program.map_err(|why| why.to_string()))
}

/// What `of` returns of the entry's root: its name, its analysis on an H100 and the computations that it calls.
pub fn with_fusion<T>(
    module: &str,
    of: impl FnOnce(&str, &FusionAnalysis, &Callees<'_>) -> T,
) -> Result<T, String> {
    let graphs = graphs_of_text(module);
    let callee = |name: &str| graphs.iter().find(|(known, _)| known == name).map(|(_, graph)| graph.clone());
    let (_, entry) = graphs.last().expect("the module has an entry");
    let fusion = &entry.ops[entry.root as usize];
    let called = fusion.attributes.computation(AttributeKey::Calls).and_then(callee).expect("it calls one");
    let mut fused = Fused::of_fusion(fusion, &called, &callee).map_err(|why| why.to_string())?;
    fused.has_several_results_flag = module.contains(xtile::SEVERAL_RESULTS_FLAG);
    let device = Device::find("h100-sxm").map_err(|_| "no such device".to_owned())?;
    let analysis = FusionAnalysis::new(fused, device).map_err(|why| why.to_string())?;
    let name = &entry.names[entry.root as usize];
    Ok(of(name, &analysis, &callee))
}

/// The text of a program, whose lines have an origin or none, and whose accesses are lines with that argument.
pub fn text_of(program: &Program) -> String {
    let text = xtile::text(program);
    assert_eq!(text.text.lines().count(), text.lines.len(), "each line has an origin or none");
    for &(line, argument) in &text.accesses {
        let line = text.text.lines().nth(line).expect("it is in the text");
        assert!(line.contains(&format!("%arg{argument}[")), "{line}");
    }
    text.text
}
