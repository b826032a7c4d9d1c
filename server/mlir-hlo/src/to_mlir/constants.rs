//! Constants, and what HLO has no constant for.

use ir::OpId;

use super::attributes::Written;
use super::function::{FunctionWriter, Scope};
use super::statement::Results;
use crate::literals::dense_of_literal;
use crate::not_in_stablehlo::Outcome;
use crate::types::mlir_type;

impl FunctionWriter<'_> {
    /// The sizes of a shape, as a constant.
    pub(super) fn sizes(&mut self, dims: &[i64]) -> String {
        let name = format!("%{}", self.names.take("sizes"));
        let list: Vec<_> = dims.iter().map(i64::to_string).collect();
        let list = if dims.is_empty() { String::new() } else { format!("[{}]", list.join(", ")) };
        self.line(&format!("{name} = stablehlo.constant dense<{list}> : tensor<{}xi64>", dims.len()));
        name
    }

    pub(super) fn constant(&mut self, scope: &mut Scope<'_>, id: OpId) -> Outcome {
        let op = &scope.graph.ops[id as usize];
        let array = op.shape.as_array().ok_or("it is no array")?;
        let literal = op.literal.as_deref().unwrap_or_default();
        let ty = mlir_type(&op.shape)?;
        let dense = dense_of_literal(literal, array).unwrap_or_else(|reason| {
            self.report(&scope.graph.names[id as usize], reason.to_string());
            "dense_resource<__elided__>".to_owned()
        });
        let mut written = Written::default();
        self.note(scope, id, &mut written, &[]);
        let text = format!("stablehlo.constant{} {dense} : {ty}", written.dictionary());
        self.define(scope, id, Results::Elements, &text);
        Ok(())
    }
}
