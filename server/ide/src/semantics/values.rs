//! Values, maps and conversion.

use eval::{Arguments, Form};

use crate::code_actions::convert::Target;
use crate::convert::Conversion;
use crate::evaluate::{Evaluated, EvaluationQuery};
use crate::evaluation_parameters::EvaluationParameter;
use crate::file_context::FileContext;
use crate::indexing_queries::{IndexingQuery, IndexingReply, QueryError};

/// Values, maps and conversion.
pub(crate) trait Values {
    /// The value of a computation, a function, or one of their instructions.
    fn evaluate(
        &self,
        context: &FileContext<'_>,
        query: &EvaluationQuery,
        arguments: &Arguments,
        form: Form,
    ) -> Evaluated;

    /// The value of the instruction at `offset`.
    fn evaluate_at(&self, _: &FileContext<'_>, _: usize, _: &Arguments, _: Form) -> Option<Evaluated> {
        None
    }

    /// Whether [`Self::evaluate_at`] may have an answer. Cheap.
    fn has_value(&self, _: &FileContext<'_>, _: usize) -> bool {
        false
    }

    /// The parameters that the value at `offset` depends on.
    fn evaluation_parameters(&self, _: &FileContext<'_>, _: usize) -> Vec<EvaluationParameter> {
        Vec::new()
    }

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
