//! Ops that are several instructions, or another one than their name says: broadcasts, sums, dots.

use mlir::OpId;

use super::Writer;
use super::annotations::known_attributes;
use super::attributes::attributes;
use super::body::Operand;
use crate::lists::braces;
use crate::op_row::OpRow;
use crate::op_table::{mnemonic, row_of};
use crate::types::{array, dimensions as written, element};

impl Writer<'_> {
    pub(super) fn broadcast_in_dim(&mut self, id: OpId) -> Result<(), String> {
        let operands = self.operands(id)?;
        let dimensions = self.op_text(id).needed(&["broadcast_dimensions", "dims"])?;
        let operand = operands.first().ok_or("it has no operand")?.clone();
        self.broadcast_to(id, operand, &dimensions)
    }

    /// HLO's broadcast does not stretch a dimension of one element: that is dropped first.
    pub(super) fn broadcast_to(
        &mut self,
        id: OpId,
        operand: Operand,
        dimensions: &[i64],
    ) -> Result<(), String> {
        let results = self.results(id)?;
        let result = results.first().ok_or("it has no result")?;
        let known =
            ["broadcast_dimensions", "dims", "known_expanding_dimensions", "known_nonexpanding_dimensions"];
        let (operand, kept) = self.unstretched(id, operand, &written(result), dimensions)?;
        self.emit(id, "broadcast", &[operand], &format!(", dimensions={}", braces(&kept)), &known)
    }

    /// The operand without dimensions that are stretched, and where the others go.
    pub(super) fn unstretched(
        &mut self,
        id: OpId,
        operand: Operand,
        to: &[&str],
        dimensions: &[i64],
    ) -> Result<(Operand, Vec<i64>), String> {
        let from = written(&operand.shape);
        if from.len() != dimensions.len() {
            return Err("broadcast_dimensions are not as many as the operand's".to_owned());
        }
        let target = |d: i64| usize::try_from(d).ok().and_then(|d| to.get(d)).copied();
        let kept: Vec<usize> =
            (0..from.len()).filter(|&i| from[i] != "1" || target(dimensions[i]) == Some("1")).collect();
        let places = kept.iter().map(|&i| dimensions[i]).collect();
        if kept.len() == from.len() {
            return Ok((operand, places));
        }
        let small: Vec<&str> = kept.iter().map(|&i| from[i]).collect();
        let shape = array(element(&operand.shape), &small);
        let rest = format!("reshape({})", operand.name);
        Ok((self.body().push("reshape", shape, &rest, id), places))
    }

    /// The sizes are those of new dimensions in front.
    pub(super) fn broadcast(&mut self, id: OpId) -> Result<(), String> {
        let operands = self.operands(id)?;
        let operand = operands.first().ok_or("it has no operand")?;
        let sizes = self.op_text(id).needed(&["broadcast_sizes", "sizes"])?.len() as i64;
        let rank = written(&operand.shape).len() as i64;
        let dimensions: Vec<i64> = (sizes..sizes + rank).collect();
        let behind = format!(", dimensions={}", braces(&dimensions));
        self.emit(id, "broadcast", &operands, &behind, &["broadcast_sizes", "sizes"])
    }

    /// The last dimension of the left side and the first of the right one are contracted.
    pub(super) fn dot(&mut self, id: OpId, row: &'static OpRow) -> Result<(), String> {
        let operands = self.operands(id)?;
        let first = operands.first().ok_or("it has no operand")?;
        let last = written(&first.shape).len().max(1) - 1;
        let shapes: Vec<&str> = operands.iter().map(|o| &*o.shape).collect();
        let precision = attributes(row, self.op_text(id), &shapes)?;
        let behind = format!(", lhs_contracting_dims={{{last}}}, rhs_contracting_dims={{0}}{precision}");
        self.emit(id, "dot", &operands, &behind, &known_attributes(row))
    }

    pub(super) fn reduce(&mut self, id: OpId, row: &'static OpRow) -> Result<(), String> {
        let mut operands = self.operands(id)?;
        let op = self.op_text(id);
        let is_custom = op.is_custom();
        if is_custom {
            // `(%a init: %i), (%b init: %j)`: HLO has the arrays first.
            let (arrays, inits) = operands.iter().enumerate().partition::<Vec<_>, _>(|(at, _)| at % 2 == 0);
            operands = arrays.into_iter().chain(inits).map(|(_, o)| o.clone()).collect();
        }
        let shapes: Vec<&str> = operands.iter().map(|o| &*o.shape).collect();
        let behind = attributes(row, op, &shapes)?;
        let region = self.parse().regions_of(id).next();
        let computation = match region {
            None => {
                let applied =
                    op.body().split(" applies ").nth(1).and_then(|rest| rest.split_whitespace().next());
                let applied =
                    applied.and_then(mnemonic).and_then(row_of).ok_or("what it applies is no op of HLO")?;
                self.applied(id, applied, element(shapes.first().copied().unwrap_or_default()))?
            }
            Some(region) => {
                let block = self.entry_of(region)?;
                let mut arguments = self.binders(id);
                if arguments.is_empty() {
                    arguments = self.parse().blocks[block as usize].arguments.clone().collect();
                } else if is_custom {
                    // `(%x: T, %y: T) (%z: U, %w: U)`: what is summed up so far stands first for all of them.
                    let (left, right) =
                        arguments.iter().enumerate().partition::<Vec<_>, _>(|(at, _)| at % 2 == 0);
                    arguments = left.into_iter().chain(right).map(|(_, &value)| value).collect();
                }
                self.region_of(id, block, &arguments)?
            }
        };
        self.emit(
            id,
            "reduce",
            &operands,
            &format!("{behind}, to_apply={computation}"),
            &known_attributes(row),
        )
    }

    /// The computation of an op of two scalars.
    pub(super) fn applied(&mut self, id: OpId, row: &OpRow, element: &str) -> Result<String, String> {
        self.open_body()?;
        let scalar = format!("{element}[]");
        let body = self.body();
        let left = body.parameter("lhs", scalar.clone(), "", id);
        let right = body.parameter("rhs", scalar.clone(), "", id);
        let opcode = row.opcode.name();
        let root = body.push(opcode, scalar, &format!("{opcode}({}, {})", left.name, right.name), id);
        let name = self.region_name("region");
        self.finish_body(&name, &root);
        Ok(name)
    }
}
