//! Compare-and-swap loops: an element in memory is read, changed and written back in its word until no other
//! thread wrote in between.

use indexing_map::Expr;
use ir::ElementTypeExt;
use ptx::{Comparison, Name, Type, cvt, setp};
use syntax::hlo::ElementType;

use super::element::packed;
use super::frame::Frame;
use super::index::split_constant;
use super::lower::Lowering;
use super::machine::{Address, Class, Kind, Operand, Reg, Space};
use super::value::{ArrayPlace, Val};
use crate::kernel::Region;

/// A bit field of a word in memory.
pub(super) struct Word {
    address: Address,
    bits: u32,
    /// The number of bits below the element, if the word is wider.
    shift: Option<Operand>,
}

impl<'k> Lowering<'k> {
    /// The word that contains an element.
    pub(super) fn word(
        &mut self,
        param: usize,
        place: ArrayPlace,
        element: ElementType,
        at: &[Expr],
    ) -> Word {
        let space = Space::Global(param);
        if let Some(bits) = packed(element) {
            let per_byte = i64::from(8 / bits);
            let shape = self.kernel.params[param].shape.clone();
            let linear = self.linear(&shape, at);
            let linear = self.indices.here(&linear);
            let index = self.indices.simplify(&linear.clone().floor_div(per_byte));
            let (rest, constant) = split_constant(&index);
            let pointer = self.pointer(param);
            let mut byte = self.moved(pointer, &rest, 1, i64::MAX);
            if constant != 0 {
                byte = self.code.pure(Name::Add.of(Type::S64), [byte, Operand::Int(constant)]).into();
            }
            let inside = self.bit_shift(&linear, per_byte, bits);
            return self.word_around(space, byte, inside, bits);
        }
        let (address, bits) = self.address(place, element, at);
        if bits >= 32 {
            return Word { address, bits, shift: None };
        }
        let mut byte = address.base;
        if address.offset != 0 {
            byte = self.code.pure(Name::Add.of(Type::S64), [byte, Operand::Int(address.offset)]).into();
        }
        self.word_around(space, byte, Operand::Int(0), bits)
    }

    /// The 32-bit word that contains the element `inside` bits above the address of its first byte.
    fn word_around(&mut self, space: Space, byte: Operand, inside: Operand, bits: u32) -> Word {
        let base = self.code.pure(Name::And.of(Type::B64), [byte, Operand::Int(-4)]).into();
        let low = self.code.pure(cvt(Type::U32, Type::U64), [byte]);
        let number = self.code.pure(Name::And.of(Type::B32), [low.into(), Operand::Int(3)]);
        let mut shift = self.code.pure(Name::Shl.of(Type::B32), [number.into(), Operand::Int(3)]);
        if inside != Operand::Int(0) {
            shift = self.code.pure(Name::Add.of(Type::S32), [shift.into(), inside]);
        }
        Word { address: Address { space, base, offset: 0, align: 4 }, bits, shift: Some(shift.into()) }
    }

    /// The compare-and-swap loop.
    pub(super) fn exchanged(
        &mut self,
        frame: &mut Frame<'k>,
        word: &Word,
        element: ElementType,
        body: &'k Region,
        is_set: bool,
    ) {
        let Word { address, bits, shift } = *word;
        let width = bits.max(32);
        let class = Class::of_bits(width);
        let kept = shift.map(|shift| {
            let ones = self.code.pure(Name::Mov.of(Type::B32), [Operand::Int((1 << bits) - 1)]);
            let mask = self.code.pure(Name::Shl.of(Type::B32), [ones.into(), shift]);
            self.code.pure(Name::Not.of(Type::B32), [mask.into()])
        });
        // A number that does not depend on the element is shifted only once.
        let ready = is_set.then(|| {
            let value = frame.value(body.yields[0]);
            self.in_place(element, value, bits, shift)
        });
        let old = self.code.reg(class);
        self.code.push(Kind::Load { address, bits: width, is_invariant: false }, vec![old]);
        let top = self.code.label();
        self.code.place(top);
        self.scoped(|scope| {
            let new = ready.unwrap_or_else(|| {
                let value = scope.out_of_word(element, old, bits, shift);
                frame.give(&body.args, &[value]);
                let new = scope.region(frame, body);
                let new = new.first().copied().unwrap_or(value);
                scope.in_place(element, new, bits, shift)
            });
            let new = match kept {
                None => new,
                Some(kept) => {
                    let others = scope.code.pure(Name::And.of(Type::B32), [old.into(), kept.into()]);
                    scope.code.pure(Name::Or.of(Type::B32), [others.into(), new]).into()
                }
            };
            let (found, differs) = (scope.code.reg(class), scope.code.reg(Class::Pred));
            let exchange = Kind::Exchange { address, bits: width, expected: old.into(), new };
            scope.code.push(exchange, vec![found]);
            let opcode = setp(Comparison::Ne, Type::b(width));
            scope.code.push(Kind::Pure { opcode, from: vec![found.into(), old.into()] }, vec![differs]);
            scope.code.set(old, found.into());
            scope.code.branch(top, Some((differs, true)));
        });
    }

    /// Extracts the element from a word.
    fn out_of_word(&mut self, element: ElementType, word: Reg, bits: u32, shift: Option<Operand>) -> Val {
        if element.is_complex() {
            let parts = [self.code.reg(Class::B32), self.code.reg(Class::B32)];
            self.code.push(Kind::Unpack { from: word }, parts.to_vec());
            return Val::Complex(parts[0].into(), parts[1].into());
        }
        let Some(shift) = shift else { return Val::Num(word.into()) };
        let down = self.code.pure(Name::Shr.of(Type::U32), [word.into(), shift]);
        let half = self.code.pure(cvt(Type::U16, Type::U32), [down.into()]);
        let code = &mut self.code;
        let unused = Operand::Int(i64::from(16 - bits.min(16)));
        match element {
            ElementType::Pred => {
                let bit = code.pure(Name::And.of(Type::B16), [half.into(), Operand::Int(1)]);
                Val::Pred(code.pure(setp(Comparison::Ne, Type::B16), [bit.into(), Operand::Int(0)]).into())
            }
            _ if bits >= 16 => Val::Num(half.into()),
            _ if element.is_signed_integer() => {
                let up = code.pure(Name::Shl.of(Type::B16), [half.into(), unused]);
                Val::Num(code.pure(Name::Shr.of(Type::S16), [up.into(), unused]).into())
            }
            _ => {
                let mask = Operand::Int((1 << bits) - 1);
                Val::Num(code.pure(Name::And.of(Type::B16), [half.into(), mask]).into())
            }
        }
    }

    /// The element shifted to its position in the word, with zeros around it.
    fn in_place(&mut self, element: ElementType, value: Val, bits: u32, shift: Option<Operand>) -> Operand {
        if let Val::Complex(re, im) = value {
            let parts = [re, im].map(|part| self.scalars().in_register(part, Class::B32));
            let word = self.code.reg(Class::B64);
            self.code.push(Kind::Pack { from: parts.to_vec() }, vec![word]);
            return word.into();
        }
        let Some(shift) = shift else {
            return self.scalars().in_register(value.num(), Class::of_bits(bits));
        };
        let wide = match (element, value.num()) {
            (_, Operand::Int(value)) => {
                let value = value & ((1 << bits) - 1);
                self.code.pure(Name::Mov.of(Type::B32), [Operand::Int(value)])
            }
            (ElementType::Pred, pred) => {
                self.code.pure(Name::Selp.of(Type::B32), [Operand::Int(1), Operand::Int(0), pred])
            }
            (_, half) => {
                let wide = self.code.pure(cvt(Type::U32, Type::U16), [half]);
                match bits {
                    16 => wide,
                    _ => {
                        let ones = Operand::Int((1 << bits) - 1);
                        self.code.pure(Name::And.of(Type::B32), [wide.into(), ones])
                    }
                }
            }
        };
        self.code.pure(Name::Shl.of(Type::B32), [wide.into(), shift]).into()
    }
}
