//! The source files named in a text. The caller checks which of them exist: this module reads no files.

use rustc_hash::FxHashMap;

use crate::TextRange;
use crate::file_context::FileContext;
use crate::source_location::SourceFrame;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DocumentLink {
    pub range: TextRange,
    /// The unescaped path: absolute, or relative to a root that the program's author chose.
    pub path: String,
    /// Counted from 1.
    pub line: Option<u32>,
}

/// The innermost frames by the text that names their stack. Many instructions share one, and to look one up takes long:
/// tables are as long as the program's source.
pub(crate) type KnownLocations = FxHashMap<String, Option<SourceFrame>>;

/// The source files that a text names.
pub(crate) trait SourceFiles {
    /// The references of a piece, in text order.
    fn links_in(&self, _: &FileContext<'_>, _piece: usize, _: &mut KnownLocations) -> Vec<DocumentLink> {
        Vec::new()
    }
}

/// At most `limit` references to source files, in text order.
pub(crate) fn document_links(context: &FileContext<'_>, limit: usize) -> Vec<DocumentLink> {
    let mut known = KnownLocations::default();
    let mut links = Vec::new();
    for piece in 0..context.pieces() {
        crate::analysis::check_cancelled(context.db);
        links.extend(context.semantics().links_in(context, piece, &mut known));
        if links.len() >= limit {
            links.truncate(limit);
            break;
        }
    }
    links
}
