//! One op as instructions of HLO, called as in the computation of its function.

use mlir::OpId;

use crate::environment::{Environment, Slice};
use crate::to_hlo::{Writer, pack_index};

/// A module of HLO whose entry is an op: a parameter for each operand, and what the op becomes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Instruction {
    pub text: String,
    /// The instructions of the op, in the order of the text.
    pub names: Vec<Box<str>>,
}

/// Operands beyond this many are not worth a module.
const MAX_OPERANDS: usize = 4096;

/// The op, or the reason why HLO does not have it.
pub fn instruction(slice: Slice<'_>, environment: &Environment, id: OpId) -> Result<Instruction, String> {
    let (parse, text) = (slice.parse, slice.text);
    let mut writer = Writer::alone(slice, environment);
    for (n, operand) in parse.operands_of(id).enumerate() {
        let name = operand.span.of(text);
        if n == MAX_OPERANDS {
            return Err("it has too many operands".to_owned());
        }
        let value = operand.value.ok_or_else(|| format!("the type of {name} is not known"))?;
        let index = pack_index(name);
        let shape = writer.shape_of(value, index)?;
        if !writer.body().values.contains_key(&(value, index)) {
            let parameter = writer.body().parameter("operand", shape, "", id);
            writer.body().values.insert((value, index), parameter);
        }
    }
    let parameters = writer.body().lines.len();
    writer.try_op(id)?;
    let lines = std::mem::take(&mut writer.body().lines);
    let callees: String = writer.finished.iter().map(|c| format!("{}\n", c.text)).collect();
    let mut module = format!("HloModule m\n\n{callees}ENTRY entry.of.op {{\n");
    for (nth, line) in lines.iter().enumerate() {
        let root = if nth + 1 == lines.len() { "ROOT " } else { "" };
        module += &format!("  {root}{} = {}\n", line.name, line.text);
    }
    module += "}\n";
    let names = lines[parameters..].iter().map(|line| (&*line.name).into()).collect();
    Ok(Instruction { text: module, names })
}
