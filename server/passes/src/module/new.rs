//! Instructions that are added to a module.

use std::sync::Arc;

use ir::{AttributeValue, Attributes, Op, Shape};
use smallvec::SmallVec;
use syntax::hlo::{AttributeKey, Opcode};

use super::{ComputationId, Instruction, InstructionId, Module};

/// An instruction to add.
#[derive(Debug, Clone)]
pub struct NewOp {
    pub opcode: Opcode,
    pub shape: Shape,
    pub operands: Vec<InstructionId>,
    pub attributes: Attributes,
    pub calls: Vec<(AttributeKey, Vec<ComputationId>)>,
    pub parameter: Option<u32>,
    pub literal: Option<String>,
}

impl NewOp {
    pub fn new(opcode: Opcode, shape: Shape, operands: &[InstructionId]) -> NewOp {
        NewOp {
            opcode,
            shape,
            operands: operands.to_vec(),
            attributes: Attributes::default(),
            calls: Vec::new(),
            parameter: None,
            literal: None,
        }
    }

    /// A constant, by its text.
    pub fn constant(shape: Shape, literal: impl Into<String>) -> NewOp {
        NewOp { literal: Some(literal.into()), ..NewOp::new(Opcode::Constant, shape, &[]) }
    }

    pub fn parameter(shape: Shape, number: u32) -> NewOp {
        NewOp { parameter: Some(number), ..NewOp::new(Opcode::Parameter, shape, &[]) }
    }

    /// A fusion of this kind, `kLoop`, that calls a computation.
    pub fn fusion(kind: &str, shape: Shape, operands: &[InstructionId], called: ComputationId) -> NewOp {
        NewOp::new(Opcode::Fusion, shape, operands)
            .with(AttributeKey::Kind, AttributeValue::Word(kind.to_owned()))
            .calling(AttributeKey::Calls, &[called])
    }

    /// With one more attribute.
    #[must_use]
    pub fn with(mut self, key: AttributeKey, value: impl Into<AttributeValue>) -> NewOp {
        self.attributes.set(key, value);
        self
    }

    /// With `dimensions={…}`.
    #[must_use]
    pub fn dimensions(self, dims: &[i64]) -> NewOp {
        self.with(AttributeKey::Dimensions, dims.to_vec())
    }

    /// With computations that it calls.
    #[must_use]
    pub fn calling(mut self, key: AttributeKey, called: &[ComputationId]) -> NewOp {
        self.calls.push((key, called.to_vec()));
        self
    }
}

impl Module {
    /// Adds an instruction at the end of a computation. Its name is the opcode, made unique.
    pub fn add(&mut self, computation: ComputationId, new: NewOp) -> InstructionId {
        let name = new.opcode.name();
        self.add_named(computation, new, name)
    }

    /// Adds an instruction at the end of a computation. `name` is made unique.
    pub fn add_named(&mut self, computation: ComputationId, new: NewOp, name: &str) -> InstructionId {
        let operand_shapes = new.operands.iter().map(|&id| self[id].shape().clone()).collect();
        let op = Op {
            opcode: new.opcode,
            shape: new.shape.without_default_layouts(),
            operand_shapes,
            attributes: new.attributes,
            parameter: new.parameter,
            literal: new.literal,
        };
        let calls = new.calls.into_iter().map(|(key, called)| (key, called.into())).collect();
        let id = self.push(computation, name, Arc::new(op));
        self.edit(id).calls = calls;
        self.set_operands(id, &new.operands);
        id
    }

    /// Adds the tuple of these values at the end of a computation.
    pub fn add_tuple(&mut self, computation: ComputationId, elements: &[InstructionId]) -> InstructionId {
        let shape = Shape::tuple(elements.iter().map(|&id| self[id].shape().clone()));
        self.add(computation, NewOp::new(Opcode::Tuple, shape, elements))
    }

    /// Adds element `index` of a tuple at the end of its computation; opaque where the tuple has no such element.
    pub fn add_element(&mut self, tuple: InstructionId, index: i64) -> InstructionId {
        let shape = self[tuple].shape().element_at(&[index]).cloned().unwrap_or(Shape::Opaque);
        let new = NewOp::new(Opcode::GetTupleElement, shape, &[tuple]).with(AttributeKey::Index, index);
        self.add(self[tuple].parent, new)
    }

    /// Adds a copy of an instruction with other operands, whose control dependencies stay with the old one. Fusions share their
    /// computation with the copy: give it one of its own.
    pub fn add_copy(
        &mut self,
        computation: ComputationId,
        of: InstructionId,
        operands: &[InstructionId],
    ) -> InstructionId {
        let Instruction { name, op, calls, verbatim, .. } = &self[of];
        let (name, op, calls, verbatim) = (name.clone(), op.clone(), calls.clone(), verbatim.clone());
        let copy = self.push(computation, &name, op);
        self.inherit_origins(copy, of);
        self.edit(copy).verbatim = verbatim;
        self.edit(copy).calls = calls;
        self.set_operands(copy, operands);
        copy
    }

    /// Adds a copy of an instruction of another module that calls nothing.
    pub(crate) fn add_copy_from(
        &mut self,
        computation: ComputationId,
        from: &Module,
        of: InstructionId,
        operands: &[InstructionId],
    ) -> InstructionId {
        let Instruction { name, op, verbatim, .. } = &from[of];
        let copy = self.push(computation, name, op.clone());
        self.edit(copy).verbatim.clone_from(verbatim);
        self.set_operands(copy, operands);
        copy
    }

    /// A module with an entry computation that has no instructions yet. Add some, and choose a root, before anything else is done
    /// with it.
    pub(crate) fn empty(name: &str) -> Module {
        let mut module = Module {
            header: super::Header { name: name.to_owned(), ..super::Header::default() },
            computations: Vec::new(),
            instructions: Vec::new(),
            read: 0,
            entry: ComputationId(0),
            instruction_names: ir::Uniquer::default(),
            computation_names: ir::Uniquer::default(),
            origins: Vec::new(),
            places: Vec::new(),
            guessed_users: Default::default(),
            known: Default::default(),
        };
        module.add_computation("entry");
        module
    }

    /// An instruction without operands, yet.
    fn push(&mut self, parent: ComputationId, name: &str, op: Arc<Op>) -> InstructionId {
        cancel::tick();
        let id = InstructionId(self.instructions.len() as u32);
        let changed = self.instruction_names.changed(name);
        self.origins.push(SmallVec::new());
        self.instructions.push(Instruction {
            name: changed.as_deref().unwrap_or(name).into(),
            parent,
            op,
            operands: SmallVec::new(),
            users: SmallVec::new(),
            control_predecessors: SmallVec::new(),
            control_successors: SmallVec::new(),
            calls: SmallVec::new(),
            verbatim: None,
            is_removed: false,
        });
        self.computations[parent.0 as usize].listed.push(id);
        self.restructured(parent);
        id
    }
}
