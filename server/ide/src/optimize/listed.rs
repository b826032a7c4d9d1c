//! The passes and pipelines that can be run, for users to choose from.

/// A pass or a pipeline.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ListedPass {
    /// As XLA's dumps have it.
    pub name: &'static str,
    pub is_pipeline: bool,
    /// What it does; empty if that is not known.
    pub sentence: &'static str,
}

/// All of them, pipelines first.
pub fn listed_passes() -> Vec<ListedPass> {
    let sentence = |name| passes::pass(name).or_else(|| passes::pipeline(name));
    let listed = |name: &'static str, is_pipeline| {
        let own = match name {
            super::planned::FUSION => {
                Some("Fuses instructions into kernels, as XLA does after its simplifications.")
            }
            super::planned::WHOLE => {
                Some("Everything that XLA does from the module before optimization to its kernels.")
            }
            name => sentence(name),
        };
        ListedPass { name, is_pipeline, sentence: own.unwrap_or_default() }
    };
    let pipelines = passes::pipelines().map(|name| listed(name, true));
    pipelines.chain(passes::PASSES.iter().map(|pass| listed(pass.name, false))).collect()
}
