//! The flags of a compile, and what they say about its dump.

use std::sync::Arc;

use compile::{ArtefactKind, Flag, all_flags, changed_flags, flag_value};

use crate::File;
use crate::compiles::{DumpedCompile, DumpedStage, dumped_text, stage_links, stage_of};

/// XLA's flags in one compile.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CompileFlags {
    /// Those that differ from XLA's defaults; `None` if the folder has no `debug_options` of the compile.
    pub changed: Option<Vec<Flag>>,
    /// All of them, from the configuration of the module; empty if the folder has none.
    pub all: Vec<Flag>,
}

/// The flags of a compile.
#[salsa::tracked(returns(clone))]
pub fn compile_flags(db: &dyn salsa::Database, compile: DumpedCompile) -> Arc<CompileFlags> {
    let read = |kind| {
        let file = compile.artefacts_of(db, kind).next()?;
        dumped_text(db, file).ok()
    };
    Arc::new(CompileFlags {
        changed: read(ArtefactKind::DebugOptions).map(|text| changed_flags(&text)),
        all: read(ArtefactKind::Config).map(|text| all_flags(&text)).unwrap_or_default(),
    })
}

/// Whether a flag is `true` in the compile that a file is a stage of. `false` for other files: no flag of which this is asked is
/// on by default.
pub(crate) fn has_flag(db: &dyn salsa::Database, file: Option<File>, name: &str) -> bool {
    let compile = file.and_then(|file| stage_of(db, file)).and_then(|stage| stage.compile(db));
    let Some(compile) = compile else { return false };
    let flags = compile_flags(db, compile);
    let value = flags.changed.as_deref().and_then(|changed| flag_value(changed, name));
    value.or_else(|| flag_value(&flags.all, name)) == Some("true")
}

#[salsa::tracked(returns(copy))]
fn is_filtered(db: &dyn salsa::Database, compile: DumpedCompile) -> bool {
    let flags = compile_flags(db, compile);
    let known = flags.changed.as_deref().unwrap_or(&flags.all);
    compile.description(db).is_filtered(known)
}

/// The stage before `stage`, if passes that the dump does not show may have changed the module between the two. What `stage`
/// introduced is then not known to be the work of its pass.
pub fn gap_before(db: &dyn salsa::Database, stage: DumpedStage) -> Option<DumpedStage> {
    let compile = stage.compile(db)?;
    let before = stage_links(db, stage).before()?;
    let is_filtered = is_filtered(db, compile);
    compile.description(db).has_gap(before.index(db), stage.index(db), is_filtered).then_some(before)
}
