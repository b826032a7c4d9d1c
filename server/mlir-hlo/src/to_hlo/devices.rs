//! What goes between devices where one op is several instructions.

use mlir::OpId;

use super::Writer;
use super::annotations::known_attributes;
use super::attributes::attributes;
use super::body::Operand;
use crate::lists::braces;
use crate::op_row::OpRow;
use crate::op_table::row_of;
use crate::op_text::missing;
use crate::types::{array, element, extents};

/// What is told of several operands: XLA's own export, of jaxlib 0.12.0.1, writes HLO's form of a tuple, drops the dimensions
/// and with them the shapes of the results, and refuses operands that differ.
const ONE_BY_ONE: &str = "each operand is exchanged alone: XLA's own export of several drops the dimensions, and exchanges \
                          operands for devices";

/// Which dimension is split into how many parts, and where the parts are joined.
#[derive(Clone, Copy)]
struct Exchange {
    split: i64,
    joint: i64,
    count: i64,
}

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
    /// moved behind. Each of several operands is exchanged alone. Source: `xla/hlo/builder/xla_builder.cc` AllToAllArray.
    ///
    /// MHLO's op that names no dimension gives each operand to one device, as HLO's does that answers a tuple.
    pub(super) fn all_to_all(&mut self, id: OpId, row: &'static OpRow) -> Result<(), String> {
        let op = self.op_text(id);
        let operands = self.operands(id)?;
        let shapes: Vec<&str> = operands.iter().map(|o| &*o.shape).collect();
        let groups = attributes(row, op, &shapes)?;
        let mut known = known_attributes(row);
        known.extend(["split_dimension", "concat_dimension", "split_count"]);
        let number = |name: &str| op.int(&[name]).ok_or_else(|| missing(name));
        let is_tuple = operands.len() > 1 && op.int(&["split_dimension"]).is_none();
        if is_tuple && op.parse.name(id, op.text).starts_with("mhlo.") {
            return self.emit(id, "all-to-all", &operands, &groups, &known);
        }
        let exchange = Exchange {
            split: number("split_dimension")?,
            joint: number("concat_dimension")?,
            count: number("split_count")?,
        };
        if let [operand] = operands.as_slice() {
            let (opcode, operand, behind) = self.exchanged(id, operand, exchange, &groups)?;
            return self.emit(id, opcode, &[operand], &behind, &known);
        }
        let results = self.results(id)?;
        if results.len() != operands.len() {
            return Err("its results are not as many as its operands".to_owned());
        }
        let (annotations, location) = self.annotations(id, &known);
        let values = self.parse().op(id).results.clone();
        let counted = values.flat_map(|v| (0..self.packed(v)).map(move |at| (v, at)));
        for ((operand, shape), value) in operands.iter().zip(results).zip(counted.collect::<Vec<_>>()) {
            let (opcode, operand, behind) = self.exchanged(id, operand, exchange, &groups)?;
            let rest = format!("{opcode}({}){behind}{annotations}{location}", operand.name);
            let exchanged = self.body().push(opcode, shape, &rest, id);
            self.body().values.insert(value, exchanged);
        }
        self.report(id, ONE_BY_ONE.to_owned());
        Ok(())
    }

    /// The instruction that ends an exchange of one operand: its opcode, its operand, its attributes.
    fn exchanged(
        &mut self,
        id: OpId,
        operand: &Operand,
        Exchange { split, joint, count }: Exchange,
        groups: &str,
    ) -> Result<(&'static str, Operand, String), String> {
        let behind = format!("{groups}, dimensions={{{split}}}");
        if split == joint {
            return Ok(("all-to-all", operand.clone(), behind));
        }
        let from = extents(&operand.shape)?;
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
        Ok(("reshape", self.body().push("transpose", array(&kind, &moved), &rest, id), String::new()))
    }
}
