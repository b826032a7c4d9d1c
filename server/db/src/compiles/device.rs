//! The device that a compile targets.

use compile::ArtefactKind;

use crate::File;
use crate::compiles::{DumpedCompile, compile_of, dumped_text};
use crate::kernels::Target;

/// The device of a compile, from its `gpu_target_config.pbtxt`. `None` without that file, or if it describes no device.
#[salsa::tracked(returns(copy))]
pub fn compile_device(db: &dyn salsa::Database, compile: DumpedCompile) -> Option<&'static gpu::Device> {
    let artefacts = compile.description(db).artefacts.iter().zip(compile.artefacts(db));
    let targets = artefacts.filter(|(artefact, _)| artefact.kind == ArtefactKind::GpuTarget);
    targets.filter_map(|(_, &file)| gpu::Device::described(&dumped_text(db, file).ok()?)).next()
}

/// The device that the kernels of a file are for: that of its compile, or else that of the settings.
pub(crate) fn device_of(db: &dyn salsa::Database, file: Option<File>) -> &'static gpu::Device {
    let dumped = file.and_then(|file| compile_device(db, compile_of(db, file)?));
    dumped.unwrap_or_else(|| Target::get(db).device(db))
}
