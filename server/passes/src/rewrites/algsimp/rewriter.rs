//! The computation that is simplified: what rules ask of it, and what they do to it.

use ir::{AttributeKey, Attributes, ElementType, Opcode, Shape};

use super::AlgsimpOptions;
use crate::dimensions::with_element;
use crate::driver::Run;
use crate::module::{ComputationId, InstructionId, Module, NewOp};

pub(super) type Id = InstructionId;

pub(super) struct Rewriter<'r, 'm> {
    run: &'r mut Run<'m>,
    computation: ComputationId,
    pub(super) options: AlgsimpOptions,
}

/// Reading.
impl<'r, 'm> Rewriter<'r, 'm> {
    pub(super) fn new(run: &'r mut Run<'m>, computation: ComputationId, options: AlgsimpOptions) -> Self {
        Rewriter { run, computation, options }
    }

    fn module(&self) -> &Module {
        self.run.module
    }

    pub(super) fn opcode(&self, id: Id) -> Opcode {
        self.module()[id].opcode()
    }

    pub(super) fn is(&self, id: Id, opcode: Opcode) -> bool {
        self.opcode(id) == opcode
    }

    pub(super) fn shape(&self, id: Id) -> &Shape {
        self.module()[id].shape()
    }

    pub(super) fn literal(&self, id: Id) -> Option<&str> {
        self.module()[id].literal()
    }

    /// The attributes without those that name computations.
    pub(super) fn attributes(&self, id: Id) -> &Attributes {
        self.module()[id].attributes()
    }

    /// The attribute `dimensions`.
    pub(super) fn dimensions(&self, id: Id) -> &[i64] {
        self.module()[id].dimensions()
    }

    pub(super) fn operands(&self, id: Id) -> &[Id] {
        self.module()[id].operands()
    }

    /// The instructions that use a value, each once.
    pub(super) fn users(&self, id: Id) -> &[Id] {
        self.module()[id].users()
    }

    /// Whether nothing uses the value, and it is not the result.
    pub(super) fn is_dead(&self, id: Id) -> bool {
        self.module().is_dead(id)
    }

    pub(super) fn is_removed(&self, id: Id) -> bool {
        self.module()[id].is_removed()
    }

    pub(super) fn has_control_predecessors(&self, id: Id) -> bool {
        !self.module()[id].control_predecessors().is_empty()
    }

    /// Whether all of the instruction is understood: shapes without unknown extents, of countable elements, and no unknown
    /// words.
    pub(super) fn is_supported(&self, id: Id) -> bool {
        let is_known = |id: Id| match self.shape(id) {
            Shape::Array(array) => array.elements().is_some() && self.shape(id).is_static(),
            shape => shape.is_static(),
        };
        let instruction = &self.module()[id];
        instruction.verbatim().is_none()
            && is_known(id)
            && instruction.operands().iter().all(|&id| is_known(id))
    }

    /// The computation that an attribute names.
    pub(super) fn callee(&self, id: Id, key: AttributeKey) -> Option<ComputationId> {
        self.module()[id].callee(key)
    }

    /// The computations of an attribute.
    pub(super) fn callees(&self, id: Id, key: AttributeKey) -> &[ComputationId] {
        self.module()[id].calls().find(|(own, _)| *own == key).map_or(&[], |(_, called)| called)
    }

    /// The root of the computation that `to_apply` names, and the numbers of the parameters that are its operands; `None`
    /// where others are.
    pub(super) fn applied(&self, id: Id) -> Option<(Id, Vec<u32>)> {
        let root = self.module().root(self.callee(id, AttributeKey::ToApply)?);
        let number = |&operand: &Id| self.module()[operand].parameter_number();
        let numbers = self.operands(root).iter().map(number).collect::<Option<_>>()?;
        Some((root, numbers))
    }

    pub(super) fn parameter_number(&self, id: Id) -> Option<u32> {
        self.module()[id].parameter_number()
    }

    /// The opcode of the one operation on two parameters that `to_apply` names.
    pub(super) fn combiner(&self, id: Id) -> Option<Opcode> {
        let (root, mut numbers) = self.applied(id)?;
        numbers.sort_unstable();
        (numbers == [0, 1]).then(|| self.opcode(root))
    }

    pub(super) fn dims(&self, id: Id) -> &[i64] {
        self.shape(id).dims()
    }

    pub(super) fn rank(&self, id: Id) -> usize {
        self.dims(id).len()
    }

    /// The type of the elements; `Opaque` for what is no array.
    pub(super) fn element(&self, id: Id) -> ElementType {
        self.shape(id).element().unwrap_or(ElementType::Opaque)
    }

    /// The number of elements of an array.
    pub(super) fn count(&self, id: Id) -> i64 {
        self.shape(id).as_array().and_then(|array| array.elements()).unwrap_or(i64::MAX)
    }

    pub(super) fn is_array(&self, id: Id) -> bool {
        matches!(self.shape(id), Shape::Array(_))
    }

    pub(super) fn is_scalar(&self, id: Id) -> bool {
        self.is_array(id) && self.rank(id) == 0
    }

    pub(super) fn is_constant(&self, id: Id) -> bool {
        self.is(id, Opcode::Constant)
    }

    pub(super) fn operand(&self, id: Id, i: usize) -> Id {
        self.operands(id)[i]
    }

    /// The operand of an instruction of this opcode that has one.
    pub(super) fn operand_of(&self, id: Id, opcode: Opcode) -> Option<Id> {
        match self.operands(id) {
            &[operand] if self.is(id, opcode) => Some(operand),
            _ => None,
        }
    }

    /// Both operands of an instruction of this opcode that has two.
    pub(super) fn operands_of(&self, id: Id, opcode: Opcode) -> Option<(Id, Id)> {
        match self.operands(id) {
            &[a, b] if self.is(id, opcode) => Some((a, b)),
            _ => None,
        }
    }

    pub(super) fn has_one_user(&self, id: Id) -> bool {
        self.users(id).len() == 1
    }

    /// Whether `user` has the value as one operand.
    pub(super) fn is_used_once_by(&self, user: Id, id: Id) -> bool {
        self.operands(user).iter().filter(|&&operand| operand == id).count() == 1
    }

    /// Whether the value is one operand of one instruction.
    pub(super) fn has_one_use(&self, id: Id) -> bool {
        matches!(self.users(id), &[user] if self.is_used_once_by(user, id))
    }

    /// Whether two shapes are the same for this run: layouts count once they are assigned.
    pub(super) fn is_same_shape(&self, a: &Shape, b: &Shape) -> bool {
        match self.options.is_layout_sensitive {
            true => a == b,
            false => a.is_compatible(b),
        }
    }

    /// Whether a reshape between the shapes moves nothing in memory. Never before layouts are assigned.
    pub(super) fn reshape_is_bitcast(&self, from: &Shape, to: &Shape) -> bool {
        self.options.is_layout_sensitive
            && from.element() == to.element()
            && gpu::reshape_is_bitcast(from, to)
    }
}

/// Making instructions. `like` is the instruction whose metadata the new one gets.
impl Rewriter<'_, '_> {
    pub(super) fn add(&mut self, new: NewOp, like: Id) -> Id {
        let metadata = self.attributes(like).get(AttributeKey::Metadata).cloned();
        let id = self.run.module.add(self.computation, new);
        if let Some(metadata) = metadata.filter(|_| self.attributes(id).get(AttributeKey::Metadata).is_none())
        {
            self.run.module.attributes_mut(id).set(AttributeKey::Metadata, metadata);
        }
        id
    }

    pub(super) fn make(
        &mut self,
        opcode: Opcode,
        shape: Shape,
        operands: &[Id],
        attributes: Attributes,
        like: Id,
    ) -> Id {
        self.add(NewOp { attributes, ..NewOp::new(opcode, shape, operands) }, like)
    }

    /// An instruction that calls what `like` calls.
    pub(super) fn make_calling(
        &mut self,
        opcode: Opcode,
        shape: Shape,
        operands: &[Id],
        attributes: Attributes,
        like: Id,
    ) -> Id {
        let calls = self.module()[like].calls().map(|(key, called)| (key, called.to_vec())).collect();
        self.add(NewOp { attributes, calls, ..NewOp::new(opcode, shape, operands) }, like)
    }

    pub(super) fn constant(&mut self, literal: String, shape: Shape, like: Id) -> Id {
        self.add(NewOp::constant(shape, literal), like)
    }

    /// An instruction without attributes.
    pub(super) fn plain(&mut self, opcode: Opcode, shape: Shape, operands: &[Id], like: Id) -> Id {
        self.add(NewOp::new(opcode, shape, operands), like)
    }

    /// An elementwise instruction of two operands, in the shape of the first one.
    pub(super) fn binary(&mut self, opcode: Opcode, a: Id, b: Id) -> Id {
        self.plain(opcode, self.shape(a).clone(), &[a, b], a)
    }

    pub(super) fn with_dimensions(
        &mut self,
        opcode: Opcode,
        shape: Shape,
        operand: Id,
        dims: &[i64],
        like: Id,
    ) -> Id {
        self.add(NewOp::new(opcode, shape, &[operand]).dimensions(dims), like)
    }

    pub(super) fn broadcast(&mut self, shape: Shape, operand: Id, dims: &[i64], like: Id) -> Id {
        self.with_dimensions(Opcode::Broadcast, shape, operand, dims, like)
    }

    pub(super) fn transpose(&mut self, shape: Shape, operand: Id, permutation: &[i64], like: Id) -> Id {
        self.with_dimensions(Opcode::Transpose, shape, operand, permutation, like)
    }

    pub(super) fn reshape(&mut self, shape: Shape, operand: Id, like: Id) -> Id {
        self.plain(Opcode::Reshape, shape, &[operand], like)
    }

    pub(super) fn bitcast(&mut self, shape: Shape, operand: Id, like: Id) -> Id {
        self.plain(Opcode::Bitcast, shape, &[operand], like)
    }

    pub(super) fn convert(&mut self, operand: Id, element: ElementType) -> Id {
        let shape = with_element(self.shape(operand), element);
        self.plain(Opcode::Convert, shape, &[operand], operand)
    }

    pub(super) fn iota(&mut self, shape: Shape, dim: i64, like: Id) -> Id {
        self.add(NewOp::new(Opcode::Iota, shape, &[]).with(AttributeKey::IotaDimension, dim), like)
    }

    /// `slices`: start, limit and stride per dimension.
    pub(super) fn slice(&mut self, shape: Shape, operand: Id, slices: Vec<[i64; 3]>, like: Id) -> Id {
        self.add(NewOp::new(Opcode::Slice, shape, &[operand]).with(AttributeKey::Slice, slices), like)
    }

    pub(super) fn compare(&mut self, a: Id, b: Id, direction: &str, like: Id) -> Id {
        let shape = with_element(self.shape(a), ElementType::Pred);
        let direction = ir::AttributeValue::Word(direction.to_owned());
        self.add(NewOp::new(Opcode::Compare, shape, &[a, b]).with(AttributeKey::Direction, direction), like)
    }

    /// The same instruction with other operands and another shape.
    pub(super) fn copy_of(&mut self, id: Id, shape: Shape, operands: &[Id]) -> Id {
        let copy = self.run.module.add_copy(self.computation, id, operands);
        self.run.module.set_shape(copy, shape);
        copy
    }
}

/// Replacing. `rule` says what is simplified, as a sentence about the instruction.
impl Rewriter<'_, '_> {
    /// Replaces an instruction, and removes it with the operands that nothing uses then. Does nothing where the types differ,
    /// or where control dependencies hold the instruction.
    pub(super) fn replace(&mut self, old: Id, new: Id, rule: &'static str) -> bool {
        let is_possible = old != new
            && self.shape(old).is_compatible(self.shape(new))
            && !self.module()[old].has_control_dependencies();
        if is_possible {
            self.run.changed(old, rule);
            self.run.module.replace(old, new);
        }
        is_possible
    }

    /// Replaces an instruction by a value of the same shape; `false` where the shapes differ, or order matters.
    pub(super) fn replace_if_same(&mut self, old: Id, new: Id, rule: &'static str) -> bool {
        self.is_same_shape(self.shape(old), self.shape(new)) && self.replace(old, new, rule)
    }

    /// Replaces all uses of a value without removing it.
    pub(super) fn replace_uses(&mut self, old: Id, new: Id, rule: &'static str) {
        self.run.changed(old, rule);
        self.run.module.replace_all_uses(old, new);
    }

    pub(super) fn replace_operand(&mut self, user: Id, i: usize, new: Id, rule: &'static str) {
        self.run.changed(user, rule);
        self.run.module.set_operand(user, i, new);
    }
}
