//! What goes between devices where one op is several instructions.

use ir::{AttributeKey as K, AttributeValue, Attributes, Opcode, Shape};
use mlir::OpId;

use super::Writer;
use super::annotations::known_attributes;
use super::attributes::attributes;
use super::body::Operand;
use crate::not_in_hlo::NotInHlo;
use crate::op_row::OpRow;
use crate::op_table::op_of;
use crate::op_text::missing;
use crate::types::{element, extents};

/// The reason given for several operands: XLA's own export, of jaxlib 0.12.0.1, writes HLO's form of a tuple, drops the dimensions
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
    pub(super) fn cross_replica_sum(&mut self, id: OpId, row: &'static OpRow) -> Result<(), NotInHlo> {
        let operands = self.operands(id)?;
        let kind = operands.first().map_or(ir::ElementType::Opaque, |o| element(&o.shape));
        let mut attributes = attributes(row, &self.op_text(id), &[])?;
        let sum = op_of(Opcode::Add).ok_or("HLO has no sum")?;
        let computation = self.applied(id, sum, kind)?;
        attributes.push(K::ToApply, AttributeValue::Computation(computation));
        self.emit(id, Opcode::AllReduce, &operands, attributes, &known_attributes(row))
    }

    /// HLO's all-to-all splits and joins along one dimension; where the op has two, the split dimension is taken apart first and is
    /// moved afterwards. Each of several operands is exchanged alone. Source: `xla/hlo/builder/xla_builder.cc` AllToAllArray.
    ///
    /// MHLO's op without dimensions gives each operand to one device, as HLO's op with a tuple does.
    pub(super) fn all_to_all(&mut self, id: OpId, row: &'static OpRow) -> Result<(), NotInHlo> {
        let op = &self.op_text(id);
        let operands = self.operands(id)?;
        let groups = attributes(row, op, &operands)?;
        let mut known = known_attributes(row);
        known.extend(["split_dimension", "concat_dimension", "split_count"]);
        let number = |name: &str| op.int(&[name]).ok_or_else(|| missing(name));
        let is_tuple = operands.len() > 1 && op.int(&["split_dimension"]).is_none();
        if is_tuple && op.name().starts_with("mhlo.") {
            return self.emit(id, Opcode::AllToAll, &operands, groups, &known);
        }
        let exchange = Exchange {
            split: number("split_dimension")?,
            joint: number("concat_dimension")?,
            count: number("split_count")?,
        };
        if let [operand] = operands.as_slice() {
            let (opcode, operand, attributes) = self.exchanged(id, operand, exchange, &groups)?;
            return self.emit(id, opcode, &[operand], attributes, &known);
        }
        let results = self.results(id)?;
        if results.len() != operands.len() {
            return Err("its results are not as many as its operands".into());
        }
        let mut said = Attributes::default();
        self.annotations(id, &known).add_to(&mut said);
        let values = self.parse().op(id).results.clone();
        let counted = values.flat_map(|v| (0..self.packed(v)).map(move |at| (v, at)));
        for ((operand, shape), value) in operands.iter().zip(results).zip(counted.collect::<Vec<_>>()) {
            let (opcode, operand, mut attributes) = self.exchanged(id, operand, exchange, &groups)?;
            attributes.extend(said.clone());
            let exchanged = self.instruction(id, opcode, shape, &[operand], attributes);
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
        groups: &Attributes,
    ) -> Result<(Opcode, Operand, Attributes), NotInHlo> {
        let attributes = groups.clone().with(K::Dimensions, vec![split]);
        if split == joint {
            return Ok((Opcode::AllToAll, operand.clone(), attributes));
        }
        let from = extents(&operand.shape)?.to_vec();
        let at = usize::try_from(split).ok().filter(|&d| d < from.len() && count > 0 && from[d] % count == 0);
        let at = at.ok_or("its dimension cannot be split")?;
        let mut apart = from.clone();
        apart[at] /= count;
        apart.insert(at, count);
        let kind = element(&operand.shape);
        let shape = Shape::array(kind, &apart);
        let open = self.instruction(
            id,
            Opcode::Reshape,
            shape.clone(),
            std::slice::from_ref(operand),
            Attributes::default(),
        );
        let exchanged = self.instruction(id, Opcode::AllToAll, shape, &[open], attributes);
        let mut order = Vec::new();
        for dimension in 0..from.len() as i64 {
            if dimension == joint {
                order.push(split);
            }
            order.push(if dimension >= split { dimension + 1 } else { dimension });
        }
        let moved: Vec<i64> = order.iter().map(|&d| apart[d as usize]).collect();
        let attributes = Attributes::default().with(K::Dimensions, order);
        Ok((
            Opcode::Reshape,
            self.instruction(id, Opcode::Transpose, Shape::array(kind, &moved), &[exchanged], attributes),
            Attributes::default(),
        ))
    }
}
