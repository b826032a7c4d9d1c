//! One instruction, as the op that does the same.

use ir::{AttributeKey, Op, OpId, Opcode, Phase, Shape, op_info};

use super::annotations::annotations;
use super::asynchronous::exchange_of;
use super::attributes::Written;
use super::function::{FunctionWriter, Scope};
use super::statement::{Regions, Results, Statement, signature};
use super::values::{MlirValue, from_results, results};
use crate::not_in_stablehlo::{NotInStablehlo, Outcome};
use crate::op_row::{How, OpRow, Pretty, Special};
use crate::op_table::op_of;
use crate::types::mlir_type;

impl FunctionWriter<'_> {
    pub(super) fn instruction(&mut self, scope: &mut Scope<'_>, id: OpId) -> Outcome {
        let opcode = scope.graph.ops[id as usize].opcode;
        if let Some((opcode, is_start)) = exchange_of(opcode) {
            return match op_of(opcode) {
                Some(_) if is_start => self.started_alone(scope, id, opcode),
                Some(row) => self.ended_alone(scope, id, row, opcode),
                None => Err(NotInStablehlo::NoSuchOp),
            };
        }
        let row = op_of(opcode).or_else(|| match op_info(opcode).phase {
            // StableHLO has one op for both halves of a transfer.
            Phase::Done { start } => op_of(start),
            _ => None,
        });
        let row = row.ok_or(NotInStablehlo::NoSuchOp)?;
        match row.how {
            How::Row => self.row(scope, id, row),
            How::Special(special) => self.special(scope, id, row, special),
            How::ReadOnly => Err(NotInStablehlo::NoSuchOp),
        }
    }

    fn special(&mut self, scope: &mut Scope<'_>, id: OpId, row: &'static OpRow, special: Special) -> Outcome {
        match special {
            Special::BroadcastInDim => self.row(scope, id, row),
            Special::Constant => self.constant(scope, id),
            Special::Tuple => {
                self.note_moved(scope, id);
                let elements = (0..scope.operand_count(id))
                    .map(|at| scope.operand(id, at).map(|(value, _)| value.clone()))
                    .collect::<Result<_, _>>()?;
                scope.values.insert(id, MlirValue::Tuple(elements));
                Ok(())
            }
            Special::GetTupleElement => {
                self.note_moved(scope, id);
                self.get_tuple_element(scope, id)
            }
            Special::Reduce => self.reduce(scope, id, row),
            Special::While => self.while_loop(scope, id),
            Special::If | Special::Case => self.conditional(scope, id),
            Special::Call | Special::Composite => self.call(scope, id),
            Special::CustomCall => self.custom_call(scope, id),
            Special::OptimizationBarrier => self.optimization_barrier(scope, id, row),
            Special::AllToAll => self.all_to_all(scope, id, row),
            Special::AsyncStart | Special::AsyncDone => self.asynchronous(scope, id, row),
            Special::Scan => self.scan(scope, id, row),
            Special::Infeed | Special::Outfeed => self.row_of_leaves(scope, id, row, id),
            Special::Send | Special::Recv => self.transfer(scope, id, row),
            Special::Broadcast
            | Special::CreateToken
            | Special::CrossReplicaSum
            | Special::Dot
            | Special::Dynamic(_)
            | Special::Einsum
            | Special::TorchIndexSelect => Err(NotInStablehlo::NoSuchOp),
        }
    }

    pub(super) fn row(&mut self, scope: &mut Scope<'_>, id: OpId, row: &OpRow) -> Outcome {
        let graph = scope.graph;
        let op = &graph.ops[id as usize];
        let (mut operands, mut types) = self.operands(scope, id)?;
        if op.opcode == Opcode::Rng {
            let sizes = self.sizes(op.shape.dims());
            operands.push(sizes);
            types.push(format!("tensor<{}xi64>", op.shape.dims().len()));
        }
        if matches!(op.opcode, Opcode::DynamicSlice | Opcode::DynamicUpdateSlice) {
            let first = if op.opcode == Opcode::DynamicSlice { 1 } else { 2 };
            self.one_by_one(op, first, &mut operands, &mut types)?;
        }
        let mut written = Written::of(row, op)?;
        self.note(scope, id, &mut written, row.regions);
        if row.regions.is_empty() && row.pretty != Pretty::No {
            let results = Self::types_of(&results(&op.shape))?;
            let text = super::pretty::pretty(row, &operands, &written, &types, &results);
            self.define(scope, id, Results::Elements, &text);
            return Ok(());
        }
        let (name, regions) = (row.full_name(), Regions::of_row(row, op)?);
        let results = Results::Elements;
        self.generic(scope, id, Statement { name, operands, types, written, regions, results })
    }

    /// Writes an op that takes and returns the leaves of tuples. Its operands and its own attributes are those of
    /// `from`: the instruction itself, or the one that starts it.
    pub(super) fn row_of_leaves(
        &mut self,
        scope: &mut Scope<'_>,
        id: OpId,
        row: &OpRow,
        from: OpId,
    ) -> Outcome {
        let (operands, types) = self.leaf_operands(scope, from)?;
        let mut written = Written::of(row, &scope.graph.ops[from as usize])?;
        self.note(scope, id, &mut written, &[]);
        let (name, regions, results) = (row.full_name(), Regions::default(), Results::Leaves);
        self.generic(scope, id, Statement { name, operands, types, written, regions, results })
    }

    /// Places that are one array of them, as HLO allows: StableHLO has each as an operand.
    fn one_by_one(
        &mut self,
        op: &Op,
        first: usize,
        operands: &mut Vec<String>,
        types: &mut Vec<String>,
    ) -> Outcome {
        let Some(Shape::Array(array)) = op.operand_shapes.get(first).filter(|s| s.dims().len() == 1) else {
            return Ok(());
        };
        let rank = op.operand_shapes.first().map_or(0, |s| s.dims().len());
        if usize::try_from(array.dims[0]).ok() != Some(rank) {
            return Err("its places are not as many as the dimensions of its operand".into());
        }
        let (places, from) = (operands.remove(first), types.remove(first));
        let one = mlir_type(&Shape::array(array.element, &[1]))?;
        let scalar = mlir_type(&Shape::array(array.element, &[]))?;
        for at in 0..array.dims[0] {
            let (part, place) = (self.names.take("part"), self.names.take("place"));
            self.line(&format!("%{part} = stablehlo.slice {places} [{at}:{}] : ({from}) -> {one}", at + 1));
            self.line(&format!("%{place} = stablehlo.reshape %{part} : ({one}) -> {scalar}"));
            operands.push(format!("%{place}"));
            types.push(scalar.clone());
        }
        Ok(())
    }

    /// Adds the attributes that any instruction may have, and reports those without a counterpart.
    pub(super) fn note(
        &mut self,
        scope: &Scope<'_>,
        id: OpId,
        written: &mut Written,
        known: &[AttributeKey],
    ) {
        let op = &scope.graph.ops[id as usize];
        let unsaid = annotations(op, written, known);
        for key in unsaid {
            self.report(&scope.graph.names[id as usize], format!("attribute {}", key.name()));
        }
    }

    /// Reports the sharding of a tuple or of an element, which are not ops. The function has that of the root.
    fn note_moved(&mut self, scope: &Scope<'_>, id: OpId) {
        let graph = scope.graph;
        if id != graph.root && graph.ops[id as usize].attributes.text(AttributeKey::Sharding).is_some() {
            self.report(&graph.names[id as usize], "attribute sharding".to_owned());
        }
    }

    fn get_tuple_element(&mut self, scope: &mut Scope<'_>, id: OpId) -> Outcome {
        let (value, of) = scope.operand(id, 0)?;
        let graph = scope.graph;
        let shape = &graph.ops[of as usize].shape;
        // Of `%t#1` the name says which.
        let suffix = || graph.names[id as usize].rsplit_once('_').and_then(|(_, n)| n.parse().ok());
        let index = graph.ops[id as usize]
            .attributes
            .int(AttributeKey::Index)
            .or_else(suffix)
            .ok_or(NotInStablehlo::missing("index"))?;
        let index = usize::try_from(index).map_err(|_| NotInStablehlo::missing("index"))?;
        let element = self.element(value, shape, index)?;
        scope.values.insert(id, element);
        Ok(())
    }

    /// Writes a custom call of the opcode's name where there is no op.
    pub(super) fn placeholder(&mut self, scope: &mut Scope<'_>, id: OpId, reason: &str) {
        let graph = scope.graph;
        let op = &graph.ops[id as usize];
        let name = &graph.names[id as usize];
        self.report(name, format!("{}: {reason}", op.opcode.name()));
        let (mut operands, mut types) = (Vec::new(), Vec::new());
        for at in 0..scope.operand_count(id) {
            let Ok((value, of)) = scope.operand(id, at) else { continue };
            let shape = &graph.ops[of as usize].shape;
            let (Ok(whole), Ok(ty)) = (self.whole(value, shape), mlir_type(shape)) else { continue };
            operands.push(whole);
            types.push(ty);
        }
        let Ok(results) = Self::types_of(&results(&op.shape)) else { return };
        self.line(&format!("// not said in StableHLO: {}", reason.replace('\n', " ")));
        let (list, names) = self.result_list(name, results.len());
        self.line(&format!(
            "{list}stablehlo.custom_call @hlo.{}({}) {{has_side_effect = true}} : {}",
            op.opcode.name().replace('-', "_"),
            operands.join(", "),
            signature(&types, &results)
        ));
        scope.values.insert(id, from_results(&op.shape, names));
    }
}
