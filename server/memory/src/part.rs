//! What the plan of a module's memory reads of one piece: no metadata, no offsets, no attribute that moves no byte.
//!
//! A piece whose part is equal after an edit leaves the plan as it is.

use std::ptr;

use ir::{Alias, AttributeKey, Block, Opcode, OperandRef, Shape};
use rustc_hash::FxHashMap;
use syntax::hlo::{InstructionId, OperandKind, ValueNode};

use crate::overwriting::adds_in_place;

/// Size: about 120 bytes per instruction.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Part {
    /// Those that its instructions have, each once.
    pub(crate) shapes: Vec<Shape>,
    /// Per computation of the piece.
    pub(crate) computations: Vec<Vec<PartInstruction>>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PartInstruction {
    pub(crate) name: Box<str>,
    pub(crate) opcode: Option<Opcode>,
    /// Index into [`Part::shapes`]; `None` where it is not known.
    pub(crate) shape: Option<u32>,
    pub(crate) operands: Vec<PartOperand>,
    /// The names of the computations that it calls, with the attribute that has each.
    pub(crate) callees: Vec<(AttributeKey, Box<str>)>,
    pub(crate) number: Option<u32>,
    pub(crate) aliasing: Vec<Alias>,
    pub(crate) adds_in_place: bool,
    /// The names of its control predecessors.
    pub(crate) after: Vec<Box<str>>,
    pub(crate) is_root: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PartOperand {
    pub(crate) from: From,
    /// The tuple elements that `%t#1` takes, one after the other.
    pub(crate) elements: Box<[i64]>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum From {
    /// The instruction of that number in the same computation of the piece.
    Here(u32),
    /// An instruction of a piece above.
    Above(Box<str>),
    /// Not defined above.
    Nowhere(Box<str>),
}

impl Part {
    pub fn of(block: &Block) -> Part {
        let mut part = Part::default();
        let mut known: FxHashMap<*const Shape, u32> = FxHashMap::default();
        for computation in &block.parse.computations {
            let first = computation.instructions.start;
            let instructions = computation.instructions.clone().map(|at| {
                cancel::tick();
                let shape = block.shape(at).map(|shape| {
                    *known.entry(ptr::from_ref(shape)).or_insert_with(|| {
                        part.shapes.push(shape.clone());
                        part.shapes.len() as u32 - 1
                    })
                });
                instruction(block, at, first, shape)
            });
            part.computations.push(instructions.collect());
        }
        part
    }
}

impl Part {
    /// Whether an instruction of a computation has control predecessors.
    pub(crate) fn has_control(&self, computation: u32) -> bool {
        let instructions = self.computations.get(computation as usize).into_iter().flatten();
        instructions.into_iter().any(|instruction| !instruction.after.is_empty())
    }
}

fn instruction(
    block: &Block,
    at: InstructionId,
    first: InstructionId,
    shape: Option<u32>,
) -> PartInstruction {
    let node = block.instruction(at);
    let operands = block.operands_of(at).map(|(operand, target)| PartOperand {
        from: match target {
            OperandRef::Local(id) if id >= first => From::Here(id - first),
            OperandRef::External(_) => From::Above(operand.name.of(&block.text).into()),
            OperandRef::Local(_) | OperandRef::Missing => {
                From::Nowhere(operand.name.of(&block.text).trim_start_matches('%').into())
            }
        },
        elements: match operand.kind {
            OperandKind::Element { start, len } => block.parse.ints(start, len).into(),
            _ => Box::default(),
        },
    });
    let mut callees = Vec::new();
    let mut aliasing = Vec::new();
    let mut after = Vec::new();
    let mut number = block.parameter_number(at);
    for attribute in block.parse.attributes_of(node) {
        let Some(key) = attribute.key else { continue };
        let names = match &attribute.value {
            ValueNode::Computation(span) => std::slice::from_ref(span),
            ValueNode::Computations { start, len } => block.parse.spans(*start, *len),
            ValueNode::Int(n) if key == AttributeKey::Index => {
                number = u32::try_from(*n).ok();
                continue;
            }
            ValueNode::Text if key == AttributeKey::OutputToOperandAliasing => {
                aliasing = Alias::list(attribute.value_span.of(&block.text));
                continue;
            }
            ValueNode::Names { start, len } => {
                if key == AttributeKey::ControlPredecessors {
                    let names = block.parse.spans(*start, *len).iter();
                    after.extend(names.map(|name| name.of(&block.text).trim_start_matches('%').into()));
                }
                continue;
            }
            _ => continue,
        };
        let names = names.iter().map(|name| name.of(&block.text).trim_start_matches('%'));
        callees.extend(names.map(|name| (key, name.into())));
    }
    PartInstruction {
        name: block.name(at).into(),
        opcode: node.opcode.map(planned_as),
        shape,
        operands: operands.collect(),
        callees,
        number,
        aliasing,
        adds_in_place: node.opcode == Some(Opcode::CustomCall) && is_added_in_place(block, at),
        after,
        is_root: node.is_root,
    }
}

/// One opcode stands for all arithmetic element by element: whichever it is, the memory is the same.
pub fn planned_as(opcode: Opcode) -> Opcode {
    match opcode {
        Opcode::Copy => opcode,
        _ if ir::is_elementwise(opcode) => Opcode::Add,
        _ => opcode,
    }
}

fn is_added_in_place(block: &Block, at: InstructionId) -> bool {
    let text = |key: AttributeKey| {
        let mut attributes = block.parse.attributes_of(block.instruction(at)).iter();
        attributes.find(|attribute| attribute.key == Some(key)).map_or("", |a| a.value_span.of(&block.text))
    };
    let target = text(AttributeKey::CustomCallTarget).trim_matches('"');
    adds_in_place(target, text(AttributeKey::BackendConfig))
}
