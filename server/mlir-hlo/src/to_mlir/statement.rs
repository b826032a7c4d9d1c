//! One op in the text: its results, its operands and attributes, its regions and its location.

use ir::{Arity, Op, OpId, Shape, op_info};

use super::attributes::Written;
use super::function::{FunctionWriter, Scope};
use super::locations::location;
use super::values::{MlirValue, from_leaves, from_results, leaves, results};
use crate::not_in_stablehlo::{NotInStablehlo, Outcome};
use crate::op_row::OpRow;
use crate::types::mlir_type;

/// The results of an op whose shape is a tuple.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Results {
    /// The elements of the tuple, which may be tuples again.
    Elements,
    /// The arrays and tokens in the tuple, however deep.
    Leaves,
}

/// An op in the generic form: `"name"(%a) <{…}> ({…}) {…} : (A) -> B`.
pub(super) struct Statement {
    pub name: String,
    pub operands: Vec<String>,
    /// The types of the operands.
    pub types: Vec<String>,
    pub written: Written,
    pub regions: Regions,
    pub results: Results,
}

/// The computations that become the regions of an op, in order, and the op that ends each.
#[derive(Debug, Default)]
pub(super) struct Regions {
    pub computations: Vec<String>,
    pub terminator: String,
}

impl Results {
    pub fn shapes(self, shape: &Shape) -> Vec<&Shape> {
        match self {
            Results::Elements => results(shape),
            Results::Leaves => leaves(shape),
        }
    }

    pub fn value(self, shape: &Shape, names: Vec<String>) -> MlirValue {
        match self {
            Results::Elements => from_results(shape, names),
            Results::Leaves => from_leaves(shape, &mut names.into_iter()),
        }
    }
}

impl Regions {
    /// The computations that the attributes of the row name.
    pub fn of_row(row: &OpRow, op: &Op) -> Result<Regions, NotInStablehlo> {
        let computation = |&key| op.attributes.computation(key).map(str::to_owned);
        let computations = row.regions.iter().map(computation).collect::<Option<_>>();
        Ok(Regions {
            computations: computations.ok_or("it names no computation")?,
            terminator: format!("{}.return", row.dialect.name()),
        })
    }
}

impl FunctionWriter<'_> {
    /// Writes `%name = text loc(…)`. The value of the instruction is the results.
    pub(super) fn define(&mut self, scope: &mut Scope<'_>, id: OpId, results: Results, text: &str) {
        let graph = scope.graph;
        let op = &graph.ops[id as usize];
        let count = results.shapes(&op.shape).len();
        let (list, names) = self.result_list(&graph.names[id as usize], count);
        self.line(&format!("{list}{text}{}", location(op, &self.program.frames)));
        scope.values.insert(id, results.value(&op.shape, names));
    }

    /// Writes an op in the generic form. The value of the instruction is its results.
    pub(super) fn generic(&mut self, scope: &mut Scope<'_>, id: OpId, statement: Statement) -> Outcome {
        let graph = scope.graph;
        let op = &graph.ops[id as usize];
        let Statement { name, operands, types, written, regions, results } = statement;
        let shapes = results.shapes(&op.shape);
        let signature = signature(&types, &Self::types_of(&shapes)?);
        let head = format!("\"{name}\"({}){}", operands.join(", "), written.properties());
        let end = format!("{} : {signature}", written.dictionary());
        if regions.computations.is_empty() {
            self.define(scope, id, results, &format!("{head}{end}"));
            return Ok(());
        }
        let (list, names) = self.result_list(&graph.names[id as usize], shapes.len());
        self.line(&format!("{list}{head} ({{"));
        for (nth, computation) in regions.computations.iter().enumerate() {
            if nth > 0 {
                self.line("}, {");
            }
            self.region(computation, &regions.terminator)?;
        }
        self.line(&format!("}}){end}{}", location(op, &self.program.frames)));
        scope.values.insert(id, results.value(&op.shape, names));
        Ok(())
    }

    /// Names and types of all operands.
    pub(super) fn operands(
        &mut self,
        scope: &Scope<'_>,
        id: OpId,
    ) -> Result<(Vec<String>, Vec<String>), NotInStablehlo> {
        let (mut names, mut types) = (Vec::new(), Vec::new());
        for at in 0..scope.operand_count(id) {
            let (value, of) = scope.operand(id, at)?;
            let shape = &scope.graph.ops[of as usize].shape;
            names.push(self.whole(value, shape)?);
            types.push(mlir_type(shape)?);
        }
        Ok((names, types))
    }

    /// Names and types of the leaves of all operands.
    pub(super) fn leaf_operands(
        &mut self,
        scope: &Scope<'_>,
        id: OpId,
    ) -> Result<(Vec<String>, Vec<String>), NotInStablehlo> {
        let (mut names, mut types) = (Vec::new(), Vec::new());
        let needed = match op_info(scope.graph.ops[id as usize].opcode).arity {
            Arity::Exactly(count) | Arity::AtLeast(count) => count,
            Arity::Even | Arity::Odd | Arity::Any => 0,
        };
        for at in 0..scope.operand_count(id).max(needed) {
            let (value, of) = scope.operand(id, at)?;
            let shape = &scope.graph.ops[of as usize].shape;
            names.extend(self.leaf_names(value, shape)?);
            types.extend(Self::types_of(&leaves(shape))?);
        }
        Ok((names, types))
    }

    pub(super) fn types_of(shapes: &[&Shape]) -> Result<Vec<String>, NotInStablehlo> {
        shapes.iter().map(|shape| mlir_type(shape)).collect()
    }
}

/// `(A, B) -> C`
pub(super) fn signature(types: &[String], results: &[String]) -> String {
    format!("({}) -> {}", types.join(", "), function_result(results))
}

/// `T`, or `(T, U)`.
pub(super) fn function_result(types: &[String]) -> String {
    match types {
        [only] => only.clone(),
        several => format!("({})", several.join(", ")),
    }
}
