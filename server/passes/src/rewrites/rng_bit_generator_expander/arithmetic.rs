//! Arithmetic of unsigned integers in a computation. Scalars are broadcast where they meet arrays, as XLA's builder does it.

use ir::{AttributeValue, ElementType, Shape};
use syntax::hlo::{AttributeKey, Opcode};

use crate::dimensions::with_element;
use crate::module::{ComputationId, InstructionId, Module, NewOp};

/// Adds instructions to a computation.
pub(super) struct Arithmetic<'a> {
    pub(super) module: &'a mut Module,
    pub(super) computation: ComputationId,
}

impl Arithmetic<'_> {
    fn add(&mut self, new: NewOp) -> InstructionId {
        self.module.add(self.computation, new)
    }

    fn shape(&self, id: InstructionId) -> Shape {
        self.module[id].shape().clone()
    }

    pub(super) fn constant(&mut self, element: ElementType, value: u64) -> InstructionId {
        self.add(NewOp::constant(Shape::array(element, &[]), value.to_string()))
    }

    /// An op of two numbers, or arrays of them.
    pub(super) fn binary(
        &mut self,
        opcode: Opcode,
        left: InstructionId,
        right: InstructionId,
    ) -> InstructionId {
        let (left, right) = self.of_one_shape(left, right);
        let shape = self.shape(left);
        self.add(NewOp::new(opcode, shape, &[left, right]))
    }

    /// An op with a scalar constant of the same type.
    pub(super) fn with(&mut self, opcode: Opcode, left: InstructionId, right: u64) -> InstructionId {
        let element = self.module[left].shape().element().unwrap_or(ElementType::U64);
        let right = self.constant(element, right);
        self.binary(opcode, left, right)
    }

    pub(super) fn is_less(&mut self, left: InstructionId, right: InstructionId) -> InstructionId {
        let (left, right) = self.of_one_shape(left, right);
        let shape = with_element(self.module[left].shape(), ElementType::Pred);
        let direction = AttributeValue::Word("LT".to_owned());
        self.add(NewOp::new(Opcode::Compare, shape, &[left, right]).with(AttributeKey::Direction, direction))
    }

    fn of_one_shape(&mut self, left: InstructionId, right: InstructionId) -> (InstructionId, InstructionId) {
        let (left_dims, right_dims) = (self.module[left].dims().to_vec(), self.module[right].dims().to_vec());
        match (left_dims.is_empty(), right_dims.is_empty()) {
            (true, false) => (self.broadcast(left, &right_dims), right),
            (false, true) => (left, self.broadcast(right, &left_dims)),
            _ => (left, right),
        }
    }

    /// A scalar as an array of these sizes.
    pub(super) fn broadcast(&mut self, scalar: InstructionId, dims: &[i64]) -> InstructionId {
        let shape = self.array(scalar, dims);
        self.add(NewOp::new(Opcode::Broadcast, shape, &[scalar]).dimensions(&[]))
    }

    pub(super) fn select(
        &mut self,
        condition: InstructionId,
        left: InstructionId,
        right: InstructionId,
    ) -> InstructionId {
        let shape = self.shape(left);
        self.add(NewOp::new(Opcode::Select, shape, &[condition, left, right]))
    }

    pub(super) fn convert(&mut self, value: InstructionId, element: ElementType) -> InstructionId {
        let shape = with_element(self.module[value].shape(), element);
        self.add(NewOp::new(Opcode::Convert, shape, &[value]))
    }

    /// A bitcast to the same type, which XLA's builder writes too.
    pub(super) fn same_bits(&mut self, value: InstructionId) -> InstructionId {
        let shape = self.shape(value);
        self.add(NewOp::new(Opcode::BitcastConvert, shape, &[value]))
    }

    pub(super) fn reshape(&mut self, value: InstructionId, dims: &[i64]) -> InstructionId {
        let shape = self.array(value, dims);
        self.add(NewOp::new(Opcode::Reshape, shape, &[value]))
    }

    pub(super) fn reverse(&mut self, list: InstructionId) -> InstructionId {
        let shape = self.shape(list);
        self.add(NewOp::new(Opcode::Reverse, shape, &[list]).dimensions(&[0]))
    }

    /// Elements of a list.
    pub(super) fn slice(&mut self, list: InstructionId, start: i64, limit: i64) -> InstructionId {
        self.front(list, &[limit - start], &[[start, limit, 1]])
    }

    /// The front of an array of any rank.
    pub(super) fn front_of(&mut self, value: InstructionId, dims: &[i64]) -> InstructionId {
        let slices: Vec<[i64; 3]> = dims.iter().map(|&size| [0, size, 1]).collect();
        self.front(value, dims, &slices)
    }

    fn front(&mut self, value: InstructionId, dims: &[i64], slices: &[[i64; 3]]) -> InstructionId {
        let shape = self.array(value, dims);
        self.add(NewOp::new(Opcode::Slice, shape, &[value]).with(AttributeKey::Slice, slices.to_vec()))
    }

    pub(super) fn iota(&mut self, element: ElementType, dims: &[i64], dim: i64) -> InstructionId {
        let shape = Shape::array(element, dims);
        self.add(NewOp::new(Opcode::Iota, shape, &[]).with(AttributeKey::IotaDimension, dim))
    }

    /// `None` if there is nothing to concatenate, or its size overflows.
    pub(super) fn concatenate(&mut self, values: &[InstructionId], dim: usize) -> Option<InstructionId> {
        let mut dims = self.module[*values.first()?].dims().to_vec();
        let mut sizes = values.iter().map(|&value| self.module[value].dims().get(dim).copied());
        *dims.get_mut(dim)? = sizes.try_fold(0i64, |sum, size| sum.checked_add(size?))?;
        let shape = self.array(values[0], &dims);
        Some(self.add(NewOp::new(Opcode::Concatenate, shape, values).dimensions(&[dim as i64])))
    }

    /// An array of the element type of a value.
    fn array(&self, like: InstructionId, dims: &[i64]) -> Shape {
        Shape::array(self.module[like].shape().element().unwrap_or(ElementType::U64), dims)
    }

    /// The low and the high half of a number of 64 bits. Source: `Uint64ToUint32s`.
    pub(super) fn halves(&mut self, value: InstructionId) -> [InstructionId; 2] {
        let width = self.constant(ElementType::U64, 32);
        let low = self.convert(value, ElementType::U32);
        let high = self.binary(Opcode::ShiftRightLogical, value, width);
        [low, self.convert(high, ElementType::U32)]
    }

    /// The number of 64 bits of these halves. Source: `Uint32sToUint64`.
    pub(super) fn whole(&mut self, [low, high]: [InstructionId; 2]) -> InstructionId {
        let (low, high) = (self.convert(low, ElementType::U64), self.convert(high, ElementType::U64));
        let high = self.with(Opcode::ShiftLeft, high, 32);
        self.binary(Opcode::Or, low, high)
    }
}
