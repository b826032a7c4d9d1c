//! The passes of the optimizer.

use equivalence::compare;
use generators::hlo::random_graph;
use gpu::Device;
use ir::PrintOptions;
use passes::{Module, Options, PASSES, Pass, optimize};
use random::Rng;

/// These take initial values of reductions for identities, which random ones are not.
const TAKE_INITIAL_VALUES: [&str; 3] =
    ["reduction-degenerate-dim-remover", "reduction-splitter", "tree-reduction-rewriter"];

pub fn run(bytes: &[u8]) -> bool {
    let generated = random_graph(&mut Rng::from_bytes(bytes));
    let before = Module::from_text(&generated.text).expect("it is valid");
    let is_tried = |pass: &&Pass| !TAKE_INITIAL_VALUES.contains(&pass.name);
    // Layouts are random here, and passes before the assignment of layouts do not keep them for a bitcast.
    if generated.text.contains(" bitcast(") {
        return false;
    }
    let mut compared = 0;
    for pass in PASSES.iter().filter(is_tried) {
        let Some(after) = after(&before, pass.name) else { continue };
        let verdict = compare(&before, &after);
        let text = || after.to_text(&PrintOptions::lossless()).unwrap_or_default();
        let (name, differences) = (pass.name, &verdict.differences);
        assert!(differences.is_empty(), "{name}: {differences:?}\n{}\n{}", generated.text, text());
        compared += usize::from(verdict.open.is_empty());
    }
    compared > 0
}

/// The module after a pass; `None` where the pass does not support it or changes nothing.
fn after(before: &Module, pass: &str) -> Option<Module> {
    let device = Device::find(gpu::DEFAULT_DEVICE).expect("it is known");
    let mut after = before.clone();
    let applied = optimize(&mut after, &[pass], &Options::new("simplification", device)).ok()?;
    applied.iter().any(|applied| !applied.changes.is_empty()).then_some(after)
}
