//! What is known of values: constants, broadcasts of constants, and signs.

use eval::{Column, Kind, Values};
use ir::{AttributeKey, ElementType, Opcode, Shape};

use super::rewriter::{Id, Rewriter};

impl Rewriter<'_, '_> {
    /// The elements of a constant. `None` where the text leaves them out.
    pub(super) fn values(&self, id: Id) -> Option<Column> {
        if !self.is(id, Opcode::Constant) {
            return None;
        }
        eval::parse_literal(self.literal(id)?, self.shape(id)).ok()
    }

    /// The constant that an instruction is, or that it broadcasts.
    fn broadcast_constant(&self, mut id: Id) -> Option<Id> {
        while self.is(id, Opcode::Broadcast) {
            id = self.operand(id, 0);
        }
        self.is(id, Opcode::Constant).then_some(id)
    }

    /// Whether all elements are this number. -0 is not 0.
    ///
    /// Source: `IsAll`, `IsAllFloat`.
    pub(super) fn is_all(&self, id: Id, number: f64) -> bool {
        let Some(constant) = self.broadcast_constant(id) else { return false };
        let Some(column) = self.values(constant) else { return false };
        match &column.values {
            Values::Int(values) => values.iter().all(|&value| value as f64 == number),
            Values::Real(values) => values.iter().all(|&value| value.to_bits() == number.to_bits()),
            Values::Complex(values) => values.iter().all(|value| *value == [number, 0.0]),
        }
    }

    /// Whether all elements are the least number of their type, or the greatest.
    pub(super) fn is_all_extreme(&self, id: Id, is_greatest: bool) -> bool {
        let Some(constant) = self.broadcast_constant(id) else { return false };
        let (Some(column), Some(kind)) = (self.values(constant), self.kind(id)) else { return false };
        match (&column.values, kind) {
            (Values::Int(values), kind) => {
                let extreme = match (kind, is_greatest) {
                    (Kind::Unsigned(64), true) => -1,
                    (Kind::Unsigned(_) | Kind::Pred, true) => kind.wrap(-1),
                    (Kind::Unsigned(_) | Kind::Pred, false) => 0,
                    (_, true) => (1i64 << (kind.width() - 1)).wrapping_sub(1),
                    (_, false) => (-1i64) << (kind.width() - 1),
                };
                values.iter().all(|&value| value == extreme)
            }
            (Values::Real(values), _) => {
                let extreme = if is_greatest { f64::INFINITY } else { f64::NEG_INFINITY };
                values.iter().all(|&value| value == extreme)
            }
            (Values::Complex(_), _) => false,
        }
    }

    pub(super) fn kind(&self, id: Id) -> Option<Kind> {
        Kind::of(self.element(id))
    }

    /// Whether the elements are integers or truth values.
    pub(super) fn is_integral(&self, id: Id) -> bool {
        self.kind(id).is_some_and(|kind| kind.is_integral() && kind != Kind::Pred)
    }

    pub(super) fn is_float(&self, id: Id) -> bool {
        self.kind(id).is_some_and(Kind::is_float)
    }

    pub(super) fn is_signed(&self, id: Id) -> bool {
        matches!(self.kind(id), Some(Kind::Signed(_)))
    }

    pub(super) fn is_complex(&self, id: Id) -> bool {
        matches!(self.kind(id), Some(Kind::Complex { .. }))
    }

    /// A constant without dimensions.
    pub(super) fn is_scalar_constant(&self, id: Id) -> bool {
        self.is(id, Opcode::Constant) && self.is_scalar(id)
    }

    /// A constant of one element.
    pub(super) fn is_single_constant(&self, id: Id) -> bool {
        self.is(id, Opcode::Constant) && self.dims(id).iter().all(|&size| size == 1)
    }

    /// The constant without dimensions that an instruction broadcasts.
    pub(super) fn broadcast_scalar_constant(&self, id: Id) -> Option<Id> {
        let operand = self.operand_of(id, Opcode::Broadcast)?;
        self.is_scalar_constant(operand).then_some(operand)
    }

    /// The constant of one element that an instruction is or broadcasts.
    pub(super) fn single_constant_or_broadcast(&self, id: Id) -> Option<Id> {
        let constant = self.operand_of(id, Opcode::Broadcast).unwrap_or(id);
        self.is_single_constant(constant).then_some(constant)
    }

    /// The constant of one element that an instruction broadcasts.
    pub(super) fn broadcast_single_constant(&self, id: Id) -> Option<Id> {
        let constant = self.operand_of(id, Opcode::Broadcast)?;
        self.is_single_constant(constant).then_some(constant)
    }

    /// The number of a constant of one integer.
    pub(super) fn integer(&self, id: Id) -> Option<i64> {
        match (self.values(id)?.values, self.kind(id)?) {
            (Values::Int(values), Kind::Signed(_) | Kind::Unsigned(_)) => values.first().copied(),
            _ => None,
        }
    }

    /// The number of a constant of one real element.
    pub(super) fn number(&self, id: Id) -> Option<f64> {
        if !self.is_single_constant(id) {
            return None;
        }
        match self.values(id)?.values {
            Values::Int(values) => values.first().map(|&value| value as f64),
            Values::Real(values) => values.first().copied(),
            Values::Complex(_) => None,
        }
    }

    /// Whether the value is a constant of one element that is zero of either sign.
    pub(super) fn is_zero_constant(&self, id: Id) -> bool {
        self.number(id) == Some(0.0)
    }

    /// A floating-point constant, or a broadcast of one, that is a power of two of either sign.
    pub(super) fn is_power_of_two_constant(&self, id: Id) -> bool {
        let number = self.single_constant_or_broadcast(id).and_then(|constant| self.number(constant));
        number.is_some_and(|number| number.is_normal() && number.to_bits() << 12 == 0)
    }

    /// Whether no element is negative, -0 or NaN, as far as XLA knows.
    ///
    /// Source: `AlgebraicSimplifierVisitor::IsNonNegative`.
    pub(super) fn is_nonnegative(&self, id: Id) -> bool {
        self.is_nonnegative_within(id, 64)
    }

    fn is_nonnegative_within(&self, id: Id, depth: u32) -> bool {
        let Some(depth) = depth.checked_sub(1) else { return false };
        if self.operands(id).iter().any(|&operand| self.is_complex(operand)) {
            return false;
        }
        let of = |i: usize| self.is_nonnegative_within(self.operand(id, i), depth);
        match self.opcode(id) {
            Opcode::Multiply => self.operand(id, 0) == self.operand(id, 1) && !self.is_signed(id),
            Opcode::Exponential => true,
            Opcode::Iota => {
                let dim = self.attributes(id).int(AttributeKey::IotaDimension).unwrap_or(0);
                let size = self.dims(id).get(dim as usize).copied().unwrap_or(0);
                match self.kind(id) {
                    Some(Kind::Signed(bits @ 1..64)) => size as u64 <= 1 << (bits - 1),
                    _ => true,
                }
            }
            Opcode::Abs => !self.is_signed(id) || of(0),
            Opcode::Broadcast => of(0),
            Opcode::Constant => {
                self.number(id).is_some_and(|number| !number.is_nan() && !number.is_sign_negative())
            }
            Opcode::Minimum => of(0) && of(1),
            Opcode::Maximum => of(0) || of(1),
            Opcode::Power => !self.is_signed(id) && of(0),
            Opcode::Select => of(1) && of(2),
            _ => false,
        }
    }

    /// A constant of `number` without dimensions.
    pub(super) fn scalar(&mut self, element: ElementType, number: f64, like: Id) -> Id {
        let column = match Kind::of(element) {
            Some(kind) if kind.is_integral() => Column::int(kind, vec![kind.wrap(number as i64)]),
            Some(kind @ Kind::Complex { .. }) => Column::complex(kind, vec![[number, 0.0]]),
            Some(kind) => Column::real(kind, vec![kind.round(number)]),
            None => Column::real(Kind::F64, vec![number]),
        };
        self.constant(eval::print_literal(&column, &[]), Shape::array(element, &[]), like)
    }

    /// A constant of `number` in the shape of another value: broadcast unless that is a scalar.
    ///
    /// Source: `MakeScalarLike`.
    pub(super) fn scalar_like(&mut self, base: Id, number: f64) -> Id {
        let shape = self.shape(base).clone();
        self.number_of_shape(&shape, number, base)
    }

    pub(super) fn number_of_shape(&mut self, shape: &Shape, number: f64, like: Id) -> Id {
        let element = shape.element().unwrap_or(ElementType::Opaque);
        let scalar = self.scalar(element, number, like);
        match shape.dims() {
            [] => scalar,
            _ => self.broadcast(shape.clone(), scalar, &[], like),
        }
    }

    /// One over each element of a constant, as a literal. `None` for types without division, and for elements that the text
    /// leaves out.
    pub(super) fn inverted(&self, constant: Id) -> Option<String> {
        let column = self.values(constant)?;
        let kind = column.kind;
        let inverse = match column.values {
            Values::Real(values) => {
                Column::real(kind, values.into_iter().map(|value| kind.round(1.0 / value)).collect())
            }
            _ => return None,
        };
        Some(eval::print_literal(&inverse, self.dims(constant)))
    }
}
