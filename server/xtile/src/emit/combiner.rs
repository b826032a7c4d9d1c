//! The computation that combines two values of a reduction.

use codegen::Constant;
use gpu::post_order;
use ir::{Graph, Opcode, is_elementwise};
use syntax::hlo::ElementType;

use super::{Emission, checked_element};
use crate::Reason;
use crate::program::{Block, Type, ValueId};

impl Emission<'_> {
    /// The combiner as a block of two tiles without dimensions.
    pub(super) fn combiner(&mut self, element: ElementType, graph: &Graph) -> Result<Block, Reason> {
        let arguments: Vec<ValueId> =
            (0..2).map(|_| self.new_value(Type::Tile(element, Vec::new()))).collect();
        self.open(arguments.clone());
        let result = self.combined(graph, &arguments);
        let block = self.close(result.iter().copied().collect());
        result.map(|_| block)
    }

    /// The combiner of two values in the open block.
    pub(super) fn combined(&mut self, graph: &Graph, arguments: &[ValueId]) -> Result<ValueId, Reason> {
        let values = self.scope(graph, arguments)?;
        values.get(graph.root as usize).copied().flatten().ok_or_else(|| "a combiner without a result".into())
    }

    /// The values of the ops of a computation on arrays without dimensions. A tuple has none. Source: `EmitScope`.
    pub(super) fn scope(
        &mut self,
        graph: &Graph,
        arguments: &[ValueId],
    ) -> Result<Vec<Option<ValueId>>, Reason> {
        let mut values: Vec<Option<ValueId>> = vec![None; graph.ops.len()];
        for id in post_order(graph) {
            let op = &graph.ops[id as usize];
            let unsupported = || format!("Unsupported operation {}", op.opcode);
            let value = match op.opcode {
                Opcode::Parameter => {
                    let number = op.parameter.ok_or_else(unsupported)? as usize;
                    *arguments.get(number).ok_or_else(unsupported)?
                }
                Opcode::Constant => {
                    let element = checked_element(op.shape.element().ok_or_else(unsupported)?)?;
                    let text = op.literal.as_deref().unwrap_or_default();
                    let constant = Constant::parse(element, text).ok_or_else(unsupported)?;
                    self.constant_of(constant, Type::Tile(element, Vec::new()))
                }
                Opcode::Tuple if id == graph.root => continue,
                Opcode::ReducePrecision => {
                    return Err(
                        "Failed to verify Triton module for fusion: a reduced precision in a combiner".into(),
                    );
                }
                opcode if is_elementwise(opcode) => {
                    let operands: Option<Vec<ValueId>> =
                        graph.operands[id as usize].iter().map(|&of| values[of as usize]).collect();
                    let operands = operands.ok_or_else(unsupported)?;
                    let text = format!("%{} = {} {opcode}(…)", graph.names[id as usize], op.shape);
                    self.elementwise_op(op, &operands, &text)?
                }
                _ => return Err(unsupported().into()),
            };
            values[id as usize] = Some(value);
        }
        Ok(values)
    }
}
