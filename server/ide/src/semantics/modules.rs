//! Maps and conversion.

use crate::code_actions::convert::Target;
use crate::convert::Conversion;
use crate::file_context::FileContext;
use crate::indexing_queries::{IndexingQuery, IndexingReply, QueryError};

/// Maps and conversion.
pub(crate) trait Modules {
    /// Maps of one instruction.
    fn indexing(&self, context: &FileContext<'_>, query: &IndexingQuery)
    -> Result<IndexingReply, QueryError>;

    /// The file in the other language.
    fn convert(&self, context: &FileContext<'_>) -> Conversion;

    /// What [`Self::convert`] gives; `None` if there is nothing to convert.
    fn converts_to(&self, _: &FileContext<'_>) -> Option<Target> {
        None
    }
}
