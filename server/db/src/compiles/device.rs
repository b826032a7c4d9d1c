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

/// The device that the kernels of a stage are for: that of its compile, or else that of the settings. A forced device is for all.
pub fn stage_device(db: &dyn salsa::Database, stage: DumpedStage) -> &'static gpu::Device {
    device(db, Some(stage))
}

/// The device that the kernels of a file are for, as [`stage_device`].
pub(crate) fn device_of(db: &dyn salsa::Database, file: Option<File>) -> &'static gpu::Device {
    device(db, file.and_then(|file| stage_of(db, file)))
}

fn device(db: &dyn salsa::Database, stage: Option<DumpedStage>) -> &'static gpu::Device {
    let target = Target::get(db);
    let compile = stage.filter(|_| !target.is_forced(db)).and_then(|stage| stage.compile(db));
    compile.and_then(|compile| compile_device(db, compile)).unwrap_or_else(|| target.device(db))
}
