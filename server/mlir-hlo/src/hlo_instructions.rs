//! One op as instructions of HLO, with the names that they have in the computation of its function.

use ir::Attributes;
use mlir::OpId;
use mlir_ops::Source;

use crate::environment::{Environment, Slice};
use crate::not_in_hlo::NotInHlo;
use crate::to_hlo::{HloComputation, Writer, pack_index};

/// A computation of one op: a parameter for each operand, and what the op becomes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HloInstructions {
    pub computation: HloComputation,
    /// The number of parameters before the instructions of the op.
    pub parameters: usize,
    /// The computations of its regions.
    pub callees: Vec<HloComputation>,
}

/// Ops with more operands than this are not converted alone.
const MAX_OPERANDS: usize = 4096;

/// The op, or the reason why HLO does not have it.
pub fn hlo_instructions(
    slice: Slice<'_>,
    environment: &Environment,
    id: OpId,
) -> Result<HloInstructions, NotInHlo> {
    let (parse, text) = (slice.parse, slice.text);
    let source = Source::new(parse, text, environment);
    let mut writer = Writer::alone(&source, environment);
    for (n, operand) in parse.operands_of(id).enumerate() {
        let name = operand.span.of(text);
        if n == MAX_OPERANDS {
            return Err("it has too many operands".into());
        }
        let value = operand.value.ok_or_else(|| NotInHlo::unknown_type(name))?;
        let index = pack_index(name);
        let shape = writer.shape_of(value, index)?;
        if !writer.body().values.contains_key(&(value, index)) {
            let parameter = writer.body().parameter("operand", shape, Attributes::default(), id);
            writer.body().values.insert((value, index), parameter);
        }
    }
    let parameters = writer.body().len();
    writer.try_op(id)?;
    let last = writer.body().last().ok_or("it has no instruction")?;
    let computation = std::mem::take(writer.body()).finish("entry.of.op", &last);
    Ok(HloInstructions { computation, parameters, callees: writer.finished })
}
