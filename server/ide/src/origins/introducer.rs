//! Which pass made what a stage has new.

use db::Database;
use db::compiles::{DumpedStage, gap_before};

use crate::origins::located::stage_title;
use crate::rich_text::{Line, code, parts};

/// What ran between a stage and the one before it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Introducer {
    /// The pass that ran last before the stage: `layout-assignment`.
    pub pass: String,
    /// The stage from which on passes ran that were not dumped; `None` if `pass` ran alone.
    pub after: Option<String>,
    /// Its stage: `stage 30 of 88`.
    pub number: String,
}

impl Introducer {
    pub(crate) fn of(db: &Database, stage: DumpedStage) -> Introducer {
        let (pass, number) = stage_title(db, stage);
        let after = gap_before(db, stage).map(|before| stage_title(db, before).0);
        Introducer { pass, after, number }
    }

    /// ``by `layout-assignment` (stage 30 of 88)``, or ``between `flatten` and `cse` (dumped stages only)``
    pub(super) fn line(&self) -> Line {
        match &self.after {
            None => parts!["by ", code(self.pass.clone()), format!(" ({})", self.number)],
            Some(after) => parts![
                "between ",
                code(after.clone()),
                " and ",
                code(self.pass.clone()),
                " (dumped stages only)"
            ],
        }
    }

    /// `layout-assignment`, or `between flatten and cse (dumped stages only)`
    pub fn text(&self) -> String {
        match &self.after {
            None => self.pass.clone(),
            Some(after) => format!("between {after} and {} (dumped stages only)", self.pass),
        }
    }
}
