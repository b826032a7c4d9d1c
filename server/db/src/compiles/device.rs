//! The device that a compile targets.

use compile::ArtefactKind;

use crate::compiles::{DumpedCompile, dumped_text};

/// The device of a compile, from its `gpu_target_config.pbtxt`. `None` without that file, or if it describes no device.
#[salsa::tracked(returns(copy))]
pub fn compile_device(db: &dyn salsa::Database, compile: DumpedCompile) -> Option<&'static gpu::Device> {
    let artefacts = compile.description(db).artefacts.iter().zip(compile.artefacts(db));
    let targets = artefacts.filter(|(artefact, _)| artefact.kind == ArtefactKind::GpuTarget);
    targets.filter_map(|(_, &file)| compile::target_device(&dumped_text(db, file).ok()?)).next()
}
