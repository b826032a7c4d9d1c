//! Values with several assignments: those that loops carry, and the results of branches.

use ir::ElementTypeExt;

use super::element::class_of;
use super::frame::Frame;
use super::lower::Lowering;
use super::machine::{Class, Operand, Reg};
use super::value::Val;
use crate::kernel::{Type, ValueId};

/// The registers of IR values. Tensors have none, because they stay in memory.
pub(super) struct Carried {
    registers: Vec<Vec<Reg>>,
    pub values: Vec<Val>,
}

impl Carried {
    /// The registers of vectors and of values with several numbers.
    pub fn vectors(&self) -> impl Iterator<Item = Reg> {
        let count = self.registers.iter().flatten().count();
        self.registers.iter().flatten().copied().filter(move |_| count > 1)
    }

    /// Sets the places of tensors to those of `values`, which are the same on every path.
    pub fn place(&mut self, values: &[Val]) {
        for (own, value) in self.values.iter_mut().zip(values) {
            if let (Val::Tensor(own), Val::Tensor(place)) = (own, value) {
                *own = *place;
            }
        }
    }
}

impl Lowering<'_> {
    /// New registers for values of the types of `ids`, initialised with `at_first`.
    pub(super) fn carry(&mut self, frame: &Frame<'_>, ids: &[ValueId], at_first: &[Val]) -> Carried {
        let carried = self.undefined(frame, ids, at_first);
        self.assign(&carried, at_first);
        carried
    }

    /// The same with uninitialised registers. `places` are the places of the tensors among them.
    pub(super) fn undefined(&mut self, frame: &Frame<'_>, ids: &[ValueId], places: &[Val]) -> Carried {
        let mut registers = Vec::new();
        let mut values = Vec::new();
        for (n, &id) in ids.iter().enumerate() {
            let kind = self.kind(frame, id);
            if let Val::Tensor(_) = kind {
                registers.push(Vec::new());
                values.push(places.get(n).copied().unwrap_or(kind));
                continue;
            }
            let own = self.registers_for(frame.function.ty(id));
            let operands: Vec<Operand> = own.iter().map(|&reg| reg.into()).collect();
            values.push(self.rebuilt(kind, &operands));
            registers.push(own);
        }
        Carried { registers, values }
    }

    /// Assigns all values in parallel: none is read from a register that was just written.
    pub(super) fn assign(&mut self, carried: &Carried, values: &[Val]) {
        let mut moves: Vec<(Reg, Operand)> = Vec::new();
        for (registers, &value) in carried.registers.iter().zip(values) {
            moves.extend(registers.iter().copied().zip(self.parts(value)));
        }
        moves.retain(|&(reg, from)| from != Operand::Reg(reg));
        for n in 0..moves.len() {
            let (_, from) = moves[n];
            let is_overwritten = moves[..n].iter().any(|&(reg, _)| from == Operand::Reg(reg));
            if let (true, Operand::Reg(reg)) = (is_overwritten, from) {
                let kept = self.code.reg(reg.class);
                self.code.set(kept, from);
                moves[n].1 = kept.into();
            }
        }
        for (reg, from) in moves {
            self.code.set(reg, from);
        }
    }

    /// An uninitialised value of the right kind.
    fn kind(&mut self, frame: &Frame<'_>, id: ValueId) -> Val {
        match frame.function.ty(id) {
            Type::Vector { element, size } => {
                let one = Val::constant(crate::constant::Constant::zero(*element));
                self.vector(vec![one; usize::try_from(*size).unwrap_or(0)])
            }
            _ => frame.kind(id),
        }
    }

    fn registers_for(&mut self, ty: &Type) -> Vec<Reg> {
        let (element, count) = match ty {
            Type::Scalar(element) => (*element, 1),
            Type::Vector { element, size } => (*element, *size),
            Type::Tensor(_) | Type::Shared(_) => return Vec::new(),
        };
        let (class, parts) = match element.is_complex() {
            true => (Class::of_bits(element.bits().unwrap_or(64) / 2), 2),
            false => (class_of(element), 1),
        };
        (0..count * parts).map(|_| self.code.reg(class)).collect()
    }

    /// The numbers of which a value consists.
    pub(super) fn parts(&self, value: Val) -> Vec<Operand> {
        match value {
            Val::Vector(number) => {
                let elements = &self.vectors[number as usize];
                elements.iter().flat_map(|element| element.operands()).collect()
            }
            other => other.operands(),
        }
    }

    /// A value of the same kind with other parts.
    fn rebuilt(&mut self, kind: Val, parts: &[Operand]) -> Val {
        let Val::Vector(number) = kind else { return kind.with_operands(parts) };
        let mut rest = parts;
        let elements = self.vectors[number as usize].clone().into_iter().map(|element| {
            let count = element.operands().len().min(rest.len());
            let (own, others) = rest.split_at(count);
            rest = others;
            element.with_operands(own)
        });
        let elements = elements.collect();
        self.vector(elements)
    }

    /// A vector of the elements, each in registers of its own.
    pub(super) fn vector(&mut self, elements: Vec<Val>) -> Val {
        self.vectors.push(elements);
        Val::Vector(self.vectors.len() as u32 - 1)
    }
}
