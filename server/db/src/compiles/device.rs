//! The device that a compile targets.

use compile::ArtefactKind;

use crate::File;
use crate::compiles::{DumpedCompile, DumpedStage, dumped_text, stage_of};
use crate::kernels::Target;

/// The device of a compile, from its `gpu_target_config.pbtxt`. `None` without that file, or if it describes no device.
#[salsa::tracked(returns(copy))]
pub fn compile_device(db: &dyn salsa::Database, compile: DumpedCompile) -> Option<&'static gpu::Device> {
    let mut targets = compile.artefacts_of(db, ArtefactKind::GpuTarget);
    targets.find_map(|file| gpu::Device::described(&dumped_text(db, file).ok()?))
}

/// The device that the kernels of a stage are for: that of its compile, or else that of the settings.
pub fn stage_device(db: &dyn salsa::Database, stage: DumpedStage) -> &'static gpu::Device {
    let dumped = stage.compile(db).and_then(|compile| compile_device(db, compile));
    dumped.unwrap_or_else(|| Target::get(db).device(db))
}

/// The device that the kernels of a file are for: that of its compile, or else that of the settings.
pub(crate) fn device_of(db: &dyn salsa::Database, file: Option<File>) -> &'static gpu::Device {
    match file.and_then(|file| stage_of(db, file)) {
        Some(stage) => stage_device(db, stage),
        None => Target::get(db).device(db),
    }
}
