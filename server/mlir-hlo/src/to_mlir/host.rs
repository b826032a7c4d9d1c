//! Barriers, exchanges, and transfers between devices and to and from the host.

use ir::{AttributeKey as K, OpId};

use super::attributes::Written;
use super::function::{FunctionWriter, Scope};
use super::statement::{Regions, Results, Statement};
use super::values::MlirValue;
use crate::not_in_stablehlo::Outcome;
use crate::op_row::{Dialect, How, OpRow};

impl FunctionWriter<'_> {
    pub(super) fn optimization_barrier(&mut self, scope: &mut Scope<'_>, id: OpId, row: &OpRow) -> Outcome {
        let (operands, types) = self.leaf_operands(scope, id)?;
        let mut written = Written::default();
        self.note(scope, id, &mut written, &[]);
        let (name, results) = (row.full_name(), Results::Leaves);
        // The custom form has its attributes elsewhere, and no place for nothing.
        if types.is_empty() || !written.dictionary().is_empty() {
            let regions = Regions::default();
            return self.generic(scope, id, Statement { name, operands, types, written, regions, results });
        }
        let text = format!("{name} {} : {}", operands.join(", "), types.join(", "));
        self.define(scope, id, results, &text);
        Ok(())
    }

    pub(super) fn all_to_all(&mut self, scope: &mut Scope<'_>, id: OpId, row: &'static OpRow) -> Outcome {
        let op = &scope.graph.ops[id as usize];
        let [dimension] = op.attributes.ints(K::Dimensions) else {
            // Each operand goes to one device: MHLO's op has no dimensions.
            if scope.operand_count(id) < 2 {
                return Err("it gives its only operand to the only device".into());
            }
            let tuple = OpRow { dialect: Dialect::Mhlo, how: How::Row, ..*row };
            return self.row(scope, id, &tuple);
        };
        let groups = op.attributes.replica_groups().unwrap_or_default();
        let count = groups
            .first()
            .map(Vec::len)
            .filter(|&n| n > 0)
            .ok_or("how many devices there are is not known")?;
        let (operands, types) = self.operands(scope, id)?;
        let mut written = Written::default();
        written.property("split_dimension", format!("{dimension} : i64"));
        written.property("concat_dimension", format!("{dimension} : i64"));
        written.property("split_count", format!("{count} : i64"));
        written.add_row(row, op)?;
        self.note(scope, id, &mut written, &[K::Dimensions]);
        let (name, regions, results) = (row.full_name(), Regions::default(), Results::Elements);
        self.generic(scope, id, Statement { name, operands, types, written, regions, results })
    }

    /// Writes a transfer where it ends. Where it starts, nothing is written.
    pub(super) fn transfer(&mut self, scope: &mut Scope<'_>, id: OpId, row: &OpRow) -> Outcome {
        let graph = scope.graph;
        if graph.ops[id as usize].opcode == row.opcode {
            scope.values.insert(id, MlirValue::Tuple(Vec::new()));
            return Ok(());
        }
        let start = graph.operands[id as usize].first().copied();
        let start = start.filter(|&of| graph.ops[of as usize].opcode == row.opcode);
        self.row_of_leaves(scope, id, row, start.ok_or("nothing starts it")?)
    }
}
