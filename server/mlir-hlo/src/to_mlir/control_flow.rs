//! Loops, branches and sums.

use ir::{AttributeKey as K, OpId, Shape};

use super::attributes::Written;
use super::function::{FunctionWriter, Scope};
use super::locations::location;
use super::statement::{Regions, Results, Statement, signature};
use super::values::{from_leaves, leaves, results};
use crate::lists::joined;
use crate::not_in_stablehlo::{NotInStablehlo, Outcome};
use crate::op_row::{OpRow, Pretty};
use crate::op_table::op_of;
use crate::types::mlir_type;

impl FunctionWriter<'_> {
    /// The loop carries the leaves of its tuple.
    pub(super) fn while_loop(&mut self, scope: &mut Scope<'_>, id: OpId) -> Outcome {
        let graph = scope.graph;
        let op = &graph.ops[id as usize];
        let (_, of) = scope.operand(id, 0)?;
        let shape = &graph.ops[of as usize].shape;
        let (operands, types) = self.leaf_operands(scope, id)?;
        let computation =
            |key: K| op.attributes.computation(key).map(str::to_owned).ok_or("it names no computation");
        let (condition, body) = (computation(K::Condition)?, computation(K::Body)?);
        let mut written = Written::default();
        self.note(scope, id, &mut written, &[K::Condition, K::Body]);
        let (list, names) = self.result_list(&graph.names[id as usize], types.len());
        let carried: Vec<String> = types.iter().map(|_| format!("%{}", self.names.take("carried"))).collect();
        let bound: Vec<_> =
            carried.iter().zip(&operands).map(|(name, from)| format!("{name} = {from}")).collect();
        let attributes = match written.dictionary() {
            empty if empty.is_empty() => empty,
            some => format!(" attributes{some}"),
        };
        self.line(&format!("{list}stablehlo.while({}) : {}{attributes}", bound.join(", "), types.join(", ")));
        self.line("cond {");
        self.loop_region(&condition, shape, &carried)?;
        self.line("} do {");
        self.loop_region(&body, shape, &carried)?;
        let place = location(op, &self.program.frames);
        self.line(&format!("}}{place}"));
        scope.values.insert(id, from_leaves(&op.shape, &mut names.into_iter()));
        Ok(())
    }

    fn loop_region(&mut self, name: &str, shape: &Shape, carried: &[String]) -> Outcome {
        self.indent += 1;
        let parameter = from_leaves(shape, &mut carried.iter().cloned());
        let (graph, root) = self.inlined(name, &[parameter])?;
        let shape = &graph.ops[graph.root as usize].shape;
        let returned = self.leaf_names(&root, shape)?;
        self.terminate("stablehlo.return", &returned, &leaves(shape))?;
        self.indent -= 1;
        Ok(())
    }

    /// Branches read what is outside of them.
    pub(super) fn conditional(&mut self, scope: &mut Scope<'_>, id: OpId) -> Outcome {
        let graph = scope.graph;
        let op = &graph.ops[id as usize];
        let mut branches: Vec<&str> =
            op.attributes.computations(K::BranchComputations).iter().map(String::as_str).collect();
        for key in [K::TrueComputation, K::FalseComputation] {
            branches.extend(op.attributes.computation(key));
        }
        let (value, of) = scope.operand(id, 0)?;
        let (value, shape) = (value.clone(), &graph.ops[of as usize].shape);
        let index = self.whole(&value, shape)?;
        let kind = if shape.element() == Some(ir::ElementType::Pred) { "if" } else { "case" };
        let answers = Self::types_of(&leaves(&op.shape))?;
        let mut written = Written::default();
        let known = [K::BranchComputations, K::TrueComputation, K::FalseComputation];
        self.note(scope, id, &mut written, &known);
        let (list, names) = self.result_list(&graph.names[id as usize], answers.len());
        self.line(&format!("{list}\"stablehlo.{kind}\"({index}) ({{"));
        for (nth, branch) in branches.iter().enumerate() {
            if nth > 0 {
                self.line("}, {");
            }
            self.indent += 1;
            let (argument, _) = scope.operand(id, nth + 1)?;
            let (inner, root) = self.inlined(branch, std::slice::from_ref(&argument.clone()))?;
            let shape = &inner.ops[inner.root as usize].shape;
            let returned = self.leaf_names(&root, shape)?;
            self.terminate("stablehlo.return", &returned, &leaves(shape))?;
            self.indent -= 1;
        }
        let place = location(op, &self.program.frames);
        let ty = mlir_type(shape)?;
        self.line(&format!("}}){} : {}{place}", written.dictionary(), signature(&[ty], &answers)));
        scope.values.insert(id, from_leaves(&op.shape, &mut names.into_iter()));
        Ok(())
    }

    /// Carried values come last among operands and results.
    pub(super) fn scan(&mut self, scope: &mut Scope<'_>, id: OpId, row: &OpRow) -> Outcome {
        let graph = scope.graph;
        let op = &graph.ops[id as usize];
        let (operands, types) = self.operands(scope, id)?;
        let answers = Self::types_of(&results(&op.shape))?;
        if answers.len() < 2 {
            return Err(NotInStablehlo::OtherUse("MHLO scans what answers several arrays"));
        }
        let carried = usize::try_from(op.attributes.int(K::NumCarries).unwrap_or(0)).ok();
        let mut written = Written::of(row, op)?;
        for (name, all) in [("operandSegmentSizes", &types), ("resultSegmentSizes", &answers)] {
            let sizes = carried.and_then(|carried| Some((all.len().checked_sub(carried)?, carried)));
            let (scanned, carried) = sizes.ok_or("num_carries is not how many arrays it carries")?;
            written.property(name, format!("array<i32: {scanned}, {carried}>"));
        }
        self.note(scope, id, &mut written, &[K::ToApply, K::NumCarries]);
        let (name, regions, results) = (row.full_name(), Regions::of_row(row, op)?, Results::Elements);
        self.generic(scope, id, Statement { name, operands, types, written, regions, results })
    }

    /// In short form where one op sums up.
    pub(super) fn reduce(&mut self, scope: &mut Scope<'_>, id: OpId, row: &'static OpRow) -> Outcome {
        let graph = scope.graph;
        let op = &graph.ops[id as usize];
        let applied = op.attributes.computation(K::ToApply).and_then(|name| self.applied(name));
        let (Some(applied), Some(_)) = (applied, op.shape.as_array()) else {
            return self.row(scope, id, row);
        };
        let (operands, types) = self.operands(scope, id)?;
        let [array, init] = operands.as_slice() else { return self.row(scope, id, row) };
        let mut written = Written::of(row, op)?;
        self.note(scope, id, &mut written, &[K::ToApply]);
        let dimensions = joined(op.attributes.ints(K::Dimensions), ", ");
        let text = format!(
            "stablehlo.reduce({array} init: {init}) applies {applied} across dimensions = [{dimensions}]{} : {}",
            written.dictionary(),
            signature(&types, &[mlir_type(&op.shape)?])
        );
        self.define(scope, id, Results::Elements, &text);
        Ok(())
    }

    /// The op that a computation of two parameters consists of.
    fn applied(&self, name: &str) -> Option<String> {
        let graph = self.program.graphs.get(name)?;
        let root = &graph.ops[graph.root as usize];
        let numbers: Vec<_> =
            graph.operands[graph.root as usize].iter().map(|&of| graph.ops[of as usize].parameter).collect();
        let row = op_of(root.opcode).filter(|row| row.pretty == Pretty::Same && row.attributes.is_empty())?;
        let is_plain = root.attributes.keys().all(|key| key == K::Metadata);
        (graph.ops.len() == 3 && numbers == [Some(0), Some(1)] && is_plain).then(|| row.full_name())
    }
}
