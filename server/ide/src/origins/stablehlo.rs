//! The ops of StableHLO that an instruction comes from, where the folder has that module.

use std::sync::Arc;

use db::Database;
use db::compiles::{StableHloLinks, StableHloOp, first_stage, sources, stablehlo_links};

use crate::StagePlace;
use crate::origins::located::{Located, file_path};
use crate::rich_text::{Inline, code, file_link};

/// The ops of an instruction, each once.
pub(super) struct StableHlo {
    pub(super) links: Arc<StableHloLinks>,
    pub(super) ops: Vec<StableHloOp>,
}

impl StableHlo {
    /// `None` if no op is known. The compile is matched.
    pub(super) fn of(db: &Database, at: &Located) -> Option<StableHlo> {
        let links = stablehlo_links(db, first_stage(db, at.stage)?)?;
        let mut ops: Vec<StableHloOp> = Vec::new();
        for source in sources(db, at.stage, at.program.program(), at.instruction) {
            crate::analysis::check_cancelled(db);
            ops.extend(links.ops_of(source).cloned());
        }
        // A fusion may come from thousands of instructions.
        ops.sort_unstable_by_key(|op| op.span.start);
        ops.dedup();
        (!ops.is_empty()).then_some(StableHlo { links, ops })
    }

    /// The names of the ops as links to their lines.
    pub(super) fn names(&self, db: &Database, at: &Located) -> impl Iterator<Item = Inline> {
        let path = file_path(db, at.stage.compile(db), self.links.file);
        self.ops.iter().map(move |op| {
            let name = op.name.clone();
            file_link(name.clone(), &path, Some(op.line + 1)).unwrap_or_else(|| code(name))
        })
    }

    pub(super) fn places(&self, db: &Database, at: &Located) -> Vec<StagePlace> {
        let Some(compile) = at.stage.compile(db) else { return Vec::new() };
        let place = |op: &StableHloOp| StagePlace::in_file(db, compile, self.links.file, op.span.range());
        self.ops.iter().filter_map(place).collect()
    }
}
