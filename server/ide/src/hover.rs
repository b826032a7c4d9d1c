//! What hovers of both languages share.

use crate::Hover;
use crate::file_context::FileContext;

mod maps;

use std::time::Duration;

pub(crate) use maps::{access_blocks, beside_blocks, concatenated, differs, utilisation_text};

/// Settings of the hover of an instruction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HoverConfig {
    /// Name a map's variables by their role, such as `batch`, `m`, `n`, `k` of a dot, where the op defines
    /// one; otherwise `d0`, `s0`, `rt0`.
    pub readable_variables: bool,
    /// How long to match the stages of a compile before the hover says how far it got. `None`: until all are matched.
    pub patience: Option<Duration>,
    /// Show where results are in the memory of a scheduled module, which plans the memory of all of it.
    pub memory: bool,
}

impl Default for HoverConfig {
    fn default() -> Self {
        HoverConfig { readable_variables: true, patience: None, memory: true }
    }
}

/// The hovers of a text.
pub(crate) trait Hovers {
    /// The hover at `offset`.
    fn hover(&self, _: &FileContext<'_>, _: usize, _: &HoverConfig) -> Option<Hover> {
        None
    }
}
