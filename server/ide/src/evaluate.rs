//! The value of an instruction or a computation, by the reference interpreter.

use std::collections::HashMap;
use std::sync::Arc;

use eval::{Arguments, Evaluation, Form, Target};
use ir::Graph;

use crate::evaluation_parameters::{EvaluationParameter, parameters_of};
use crate::file_context::FileContext;
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

/// The value that is asked for.
pub(crate) struct Wanted<'a> {
    /// The name without `%`; the computation's if no instruction was named.
    pub(crate) name: String,
    /// The value, or why it is not evaluated.
    pub(crate) value: Result<Value<'a>, QueryError>,
}

/// The value of an instruction of a graph.
pub(crate) struct Value<'a> {
    pub(crate) computation: String,
    /// `None`: the computation's root.
    pub(crate) instruction: Option<String>,
    /// The number of devices that run the module.
    pub(crate) devices: i64,
    /// The computation's graph.
    pub(crate) graph: Option<Arc<Graph>>,
    /// The graphs of the computations that it may call, and its own, by name.
    pub(crate) graphs: Box<dyn Fn() -> HashMap<String, Arc<Graph>> + 'a>,
}

/// The values of a text.
pub(crate) trait Values {
    /// The value of a computation, a function, or one of their instructions.
    fn value_named<'a>(&self, context: &'a FileContext<'_>, query: &EvaluationQuery) -> Wanted<'a>;

    /// The value of what is at `offset`.
    fn value_at<'a>(&self, _: &'a FileContext<'_>, _offset: usize) -> Option<Wanted<'a>> {
        None
    }

    /// Whether [`Self::value_at`] may have an answer. Cheap.
    fn has_value(&self, _: &FileContext<'_>, _offset: usize) -> bool {
        false
    }
}

/// The value of what `query` names, given values of the computation's parameters.
pub(crate) fn evaluate(
    context: &FileContext<'_>,
    query: &EvaluationQuery,
    arguments: &Arguments,
    form: Form,
) -> Evaluated {
    context.semantics().value_named(context, query).evaluate(arguments, form)
}

/// The value of the instruction at `offset`; `None` if there is none.
pub(crate) fn evaluate_at(
    context: &FileContext<'_>,
    offset: usize,
    arguments: &Arguments,
    form: Form,
) -> Option<Evaluated> {
    Some(context.semantics().value_at(context, offset)?.evaluate(arguments, form))
}

/// The parameters that the value at `offset` depends on, by number.
pub(crate) fn evaluation_parameters(context: &FileContext<'_>, offset: usize) -> Vec<EvaluationParameter> {
    let wanted = context.semantics().value_at(context, offset);
    let Some(value) = wanted.and_then(|wanted| wanted.value.ok()) else { return Vec::new() };
    let Some(graph) = &value.graph else { return Vec::new() };
    let op = match &value.instruction {
        Some(name) => graph.find(name),
        None => Some(graph.root),
    };
    op.map_or_else(Vec::new, |op| parameters_of(graph, op))
}

impl Wanted<'_> {
    fn evaluate(self, arguments: &Arguments, form: Form) -> Evaluated {
        Evaluated { name: self.name, answer: self.value.and_then(|value| value.evaluate(arguments, form)) }
    }
}

impl Value<'_> {
    fn evaluate(&self, arguments: &Arguments, form: Form) -> Result<Evaluation, QueryError> {
        let op = match &self.instruction {
            Some(name) => {
                let found = self.graph.as_ref().and_then(|graph| graph.find(name));
                Some(found.ok_or_else(|| QueryError(format!("no instruction named {name}")))?)
            }
            None => None,
        };
        let mut graphs = (self.graphs)();
        // Two modules of a file may have computations of the same name.
        graphs.extend(self.graph.iter().map(|graph| (self.computation.clone(), graph.clone())));
        let target = Target { graphs: &graphs, computation: &self.computation, op, devices: self.devices };
        eval::evaluate(target, arguments, form).map_err(|why| QueryError(why.into_owned()))
    }
}
