//! Functions without an instruction of their own.

use syntax::hlo::{ElementType, Opcode};

use super::super::lower::Lowering;
use super::super::machine::Operand;

impl Lowering<'_> {
    pub(super) fn math_f32(&mut self, _opcode: Opcode, _x: Operand) -> Option<Operand> {
        None
    }

    pub(super) fn math_f64(&mut self, _opcode: Opcode, _x: Operand) -> Option<Operand> {
        None
    }

    pub(super) fn math_binary(
        &mut self,
        _opcode: Opcode,
        _a: Operand,
        _b: Operand,
        _element: ElementType,
    ) -> Option<Operand> {
        None
    }
}
