//! What goes between devices where one op is several instructions.

use mlir::OpId;

use super::Writer;
use super::annotations::known_attributes;
use super::attributes::attributes;
use crate::lists::braces;
use crate::op_row::OpRow;
use crate::op_table::row_of;
use crate::op_text::missing;
use crate::types::{array, element, extents};

impl Writer<'_> {
    pub(super) fn cross_replica_sum(&mut self, id: OpId, row: &'static OpRow) -> Result<(), String> {
        let operands = self.operands(id)?;
        let kind = element(operands.first().map_or("", |o| &o.shape)).to_owned();
        let groups = attributes(row, self.op_text(id), &[])?;
        let sum = row_of("add").ok_or("HLO has no sum")?;
        let computation = self.applied(id, sum, &kind)?;
        let behind = format!("{groups}, to_apply={computation}");
        self.emit(id, "all-reduce", &operands, &behind, &known_attributes(row))
    }

    /// HLO's all-to-all splits and joins along one dimension; where the op has two, what is split comes apart in front and is
    /// moved behind. Source: `xla/hlo/builder/xla_builder.cc` AllToAllArray.
    pub(super) fn all_to_all(&mut self, id: OpId, row: &'static OpRow) -> Result<(), String> {
        let op = self.op_text(id);
        let number = |name: &str| op.int(&[name]).ok_or_else(|| missing(name));
        let (split, joint) = (number("split_dimension")?, number("concat_dimension")?);
        let count = number("split_count")?;
        let operands = self.operands(id)?;
        let shapes: Vec<&str> = operands.iter().map(|o| &*o.shape).collect();
        let behind = format!("{}, dimensions={{{split}}}", attributes(row, op, &shapes)?);
        let mut known = known_attributes(row);
        known.extend(["split_dimension", "concat_dimension", "split_count"]);
        if split == joint {
            return self.emit(id, "all-to-all", &operands, &behind, &known);
        }
        let [operand] = operands.as_slice() else {
            return Err("several operands are split along one dimension and joined along another".to_owned());
        };
        let from = extents(&operand.shape);
        let at = usize::try_from(split).ok().filter(|&d| d < from.len() && count > 0 && from[d] % count == 0);
        let at = at.ok_or("its dimension cannot be split")?;
        let mut apart = from.clone();
        apart[at] /= count;
        apart.insert(at, count);
        let kind = element(&operand.shape).to_owned();
        let rest = format!("reshape({})", operand.name);
        let open = self.body().push("reshape", array(&kind, &apart), &rest, id);
        let all = format!("all-to-all({}){behind}", open.name);
        let exchanged = self.body().push("all-to-all", array(&kind, &apart), &all, id);
        let mut order = Vec::new();
        for dimension in 0..from.len() as i64 {
            if dimension == joint {
                order.push(split);
            }
            order.push(if dimension >= split { dimension + 1 } else { dimension });
        }
        let moved: Vec<i64> = order.iter().map(|&d| apart[d as usize]).collect();
        let rest = format!("transpose({}), dimensions={}", exchanged.name, braces(&order));
        let moved = self.body().push("transpose", array(&kind, &moved), &rest, id);
        self.emit(id, "reshape", &[moved], "", &known)
    }
}
