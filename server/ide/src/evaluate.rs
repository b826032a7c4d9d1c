//! The value of an instruction or a computation, by the reference interpreter.

use eval::{Arguments, Evaluation, Form, Target};

use crate::indexing_queries::QueryError;

/// The value of an instruction or a function.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Evaluated {
    /// The name without `%`; the computation's if no instruction was named.
    pub name: String,
    pub answer: Result<Evaluation, QueryError>,
}

/// The target of an evaluation without a cursor.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EvaluationQuery {
    /// Default: the entry, or the function that is the only one or is called `main`.
    pub computation: Option<String>,
    /// Default: the computation's root. It determines the computation if that is not given.
    pub instruction: Option<String>,
}

/// The value of an instruction of the target's computation, or of its root.
pub(crate) fn answer_of(
    target: Target<'_>,
    instruction: Option<&str>,
    arguments: &Arguments,
    form: Form,
) -> Result<Evaluation, QueryError> {
    let op = match instruction {
        Some(instruction) => {
            let found = target.graphs.get(target.computation).and_then(|graph| graph.find(instruction));
            Some(found.ok_or_else(|| QueryError(format!("no instruction named {instruction}")))?)
        }
        None => None,
    };
    eval::evaluate(Target { op, ..target }, arguments, form).map_err(|why| QueryError(why.into_owned()))
}
