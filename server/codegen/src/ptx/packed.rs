//! Elements of fewer than eight bits: several share a byte, the first one in its lowest bits.

use indexing_map::Expr;
use ir::{ElementTypeExt, OpId};
use ptx::{Comparison, Name, Opcode, Type, cvt, setp};
use rustc_hash::FxHashMap;
use syntax::hlo::ElementType;

use super::code::Code;
use super::index::{alignment, split_constant};
use super::lower::Lowering;
use super::machine::{Address, Class, Inst, Kind, Operand, Reg, Space};
use super::value::{ArrayPlace, Val};
use super::words::inst;

impl Lowering<'_> {
    /// The position of the element in memory order, the register with the start of the array, and its memory
    /// space.
    fn packed_place(&mut self, place: ArrayPlace, at: &[Expr]) -> (Expr, Reg, Space) {
        let linear = match place {
            ArrayPlace::Param(param) => {
                let shape = self.kernel.params[param].shape.clone();
                self.linear(&shape, at)
            }
            ArrayPlace::Table(number) => {
                let shape = self.kernel.tables[number as usize].shape.clone();
                self.linear(&shape, at)
            }
            ArrayPlace::Shared(number) => {
                let array = self.shared[number as usize].clone();
                self.linear_shared(&array, at)
            }
        };
        let linear = self.indices.here(&linear);
        let mut start = |symbol| self.code.pure(Name::Mov.of(Type::B64), [symbol]);
        match place {
            ArrayPlace::Param(param) => (linear, self.pointer(param), Space::Global(param)),
            ArrayPlace::Table(number) => (linear, start(Operand::Table(number)), Space::Table(number)),
            ArrayPlace::Shared(number) => (linear, start(Operand::Shared(number)), Space::Shared(number)),
        }
    }

    /// Loads the byte, shifts it and masks the element.
    pub(super) fn load_packed(
        &mut self,
        place: ArrayPlace,
        element: ElementType,
        bits: u32,
        at: &[Expr],
        is_invariant: bool,
    ) -> Val {
        let per_byte = i64::from(8 / bits);
        let (linear, pointer, space) = self.packed_place(place, at);
        let (rest, constant) = split_constant(&linear);
        let load = |e: &mut Self, index: Expr, offset: i64| -> Operand {
            let align = alignment(&index).min(16);
            let align = if matches!(space, Space::Table(_)) || e.scope.is_parted { 1 } else { align };
            let base = e.moved(pointer, &index, 1, i64::MAX);
            e.code.load(Address { space, base, offset, align }, 8, is_invariant).into()
        };
        let (byte, shift) = if alignment(&rest) % per_byte == 0 && !self.scope.wraps {
            let index = self.indices.simplify(&rest.floor_div(per_byte));
            let byte = load(self, index, constant.div_euclid(per_byte));
            (byte, Operand::Int(constant.rem_euclid(per_byte) * i64::from(bits)))
        } else {
            // Cannot prove that the elements share a byte.
            let byte = load(self, linear.clone().floor_div(per_byte), 0);
            (byte, self.bit_shift(&linear, per_byte, bits))
        };
        let down = match shift {
            Operand::Int(0) => byte,
            _ => self.code.pure(Name::Shr.of(Type::U16), [byte, shift]).into(),
        };
        if element.is_signed_integer() {
            let unused = Operand::Int(i64::from(16 - bits));
            let up = self.code.pure(Name::Shl.of(Type::B16), [down, unused]);
            return Val::Num(self.code.pure(Name::Shr.of(Type::S16), [up.into(), unused]).into());
        }
        let mask = Operand::Int((1 << bits) - 1);
        Val::Num(self.code.pure(Name::And.of(Type::B16), [down, mask]).into())
    }

    /// The number of bits of its byte below the element.
    pub(super) fn bit_shift(&mut self, linear: &Expr, per_byte: i64, bits: u32) -> Operand {
        let shift = linear.clone().modulo(per_byte) * i64::from(bits);
        let shift = self.indices.simplify(&shift);
        self.indices.compute_as(&mut self.code, &shift, 32)
    }

    /// Stores an element. If its position in the byte is known, [`super::join`] joins neighbours to whole
    /// bytes; offset and alignment of the store are counted in elements.
    pub(super) fn store_packed(&mut self, place: ArrayPlace, bits: u32, at: &[Expr], value: Operand) {
        let per_byte = i64::from(8 / bits);
        let (linear, pointer, space) = self.packed_place(place, at);
        let (rest, constant) = split_constant(&linear);
        let known = alignment(&rest) % per_byte == 0 && !self.scope.wraps;
        let (index, offset) = if known { (rest.clone(), constant) } else { (linear.clone(), 0) };
        let index = self.indices.simplify(&index.floor_div(per_byte));
        let base = self.moved(pointer, &index, 1, i64::MAX);
        if known {
            let limit = match place {
                ArrayPlace::Param(param) if !self.scope.is_parted => {
                    i64::from(self.kernel.params[param].align)
                }
                _ => 1,
            };
            let limit = limit * per_byte;
            let align = alignment(&rest).min(1 << 10).min(limit);
            return self.stored(Address { space, base, offset, align }, bits, value);
        }
        let shift = self.bit_shift(&linear, per_byte, bits);
        self.code.forget_changing_loads();
        let origin = self.code.origin;
        let merged = merged(&mut self.code, space, base, shift, bits, value, origin);
        self.code.insts.extend(merged);
    }
}

/// Changes a few bits of the byte at `base`, `shift` bits up, while other threads change the others, by a
/// compare-and-swap loop on its 32-bit word.
fn merged(
    code: &mut Code,
    space: Space,
    base: Operand,
    shift: Operand,
    bits: u32,
    value: Operand,
    origin: Option<OpId>,
) -> Vec<Inst> {
    let mut insts = Vec::new();
    let push = |insts: &mut Vec<Inst>, kind: Kind, to: Vec<Reg>| insts.push(inst(kind, to, origin));
    let mut pure = |insts: &mut Vec<Inst>, opcode: Opcode, from: Vec<Operand>| -> Operand {
        let to = code.reg(Class::of_result(&opcode));
        insts.push(inst(Kind::Pure { opcode, from }, vec![to], origin));
        to.into()
    };
    let ones = Operand::Int((1 << bits) - 1);
    let word = pure(&mut insts, Name::And.of(Type::B64), vec![base, Operand::Int(-4)]);
    let low = pure(&mut insts, cvt(Type::U32, Type::U64), vec![base]);
    let byte = pure(&mut insts, Name::And.of(Type::B32), vec![low, Operand::Int(3)]);
    let mut place = pure(&mut insts, Name::Shl.of(Type::B32), vec![byte, Operand::Int(3)]);
    if shift != Operand::Int(0) {
        place = pure(&mut insts, Name::Add.of(Type::S32), vec![place, shift]);
    }
    let value = match value {
        Operand::Int(value) => {
            let value = Operand::Int(value & ((1 << bits) - 1));
            pure(&mut insts, Name::Mov.of(Type::B32), vec![value])
        }
        other => {
            let wide = pure(&mut insts, cvt(Type::U32, Type::U16), vec![other]);
            pure(&mut insts, Name::And.of(Type::B32), vec![wide, ones])
        }
    };
    let set = pure(&mut insts, Name::Shl.of(Type::B32), vec![value, place]);
    let mask = pure(&mut insts, Name::Mov.of(Type::B32), vec![ones]);
    let mask = pure(&mut insts, Name::Shl.of(Type::B32), vec![mask, place]);
    let kept = pure(&mut insts, Name::Not.of(Type::B32), vec![mask]);
    let address = Address { space, base: word, offset: 0, align: 4 };
    let (old, found, differs) = (code.reg(Class::B32), code.reg(Class::B32), code.reg(Class::Pred));
    let top = code.label();
    push(&mut insts, Kind::Load { address, bits: 32, is_invariant: false }, vec![old]);
    push(&mut insts, Kind::Label(top), Vec::new());
    let mut pure = |insts: &mut Vec<Inst>, opcode: Opcode, from: Vec<Operand>| -> Operand {
        let to = code.reg(Class::B32);
        insts.push(inst(Kind::Pure { opcode, from }, vec![to], origin));
        to.into()
    };
    let others = pure(&mut insts, Name::And.of(Type::B32), vec![old.into(), kept]);
    let new = pure(&mut insts, Name::Or.of(Type::B32), vec![others, set]);
    push(&mut insts, Kind::Exchange { address, bits: 32, expected: old.into(), new }, vec![found]);
    let test = Kind::Pure { opcode: setp(Comparison::Ne, Type::B32), from: vec![found.into(), old.into()] };
    push(&mut insts, test, vec![differs]);
    push(&mut insts, Kind::Move { from: found.into() }, vec![old]);
    push(&mut insts, Kind::Branch { target: top, guard: Some((differs, true)) }, Vec::new());
    insts
}

/// A 16-bit register with adjacent elements.
fn packed_half(code: &mut Code, parts: &[Operand], bits: u32, origin: Option<OpId>) -> (Reg, Vec<Inst>) {
    let mut insts = Vec::new();
    let mut pure = |code: &mut Code, opcode: Opcode, from: Vec<Operand>| -> Reg {
        let to = code.reg(Class::B16);
        insts.push(Inst { kind: Kind::Pure { opcode, from }, to: vec![to], origin });
        to
    };
    let ones = (1i64 << bits) - 1;
    let mut sum: Option<Reg> = None;
    for (n, &part) in parts.iter().enumerate() {
        let place = n as i64 * i64::from(bits);
        let cut = match part {
            Operand::Int(value) => {
                pure(code, Name::Mov.of(Type::B16), vec![Operand::Int((value & ones) << place)])
            }
            _ => {
                let cut = pure(code, Name::And.of(Type::B16), vec![part, Operand::Int(ones)]);
                if place == 0 {
                    cut
                } else {
                    pure(code, Name::Shl.of(Type::B16), vec![cut.into(), Operand::Int(place)])
                }
            }
        };
        sum = Some(match sum {
            None => cut,
            Some(before) => pure(code, Name::Or.of(Type::B16), vec![before.into(), cut.into()]),
        });
    }
    let reg = sum.unwrap_or_else(|| pure(code, Name::Mov.of(Type::B16), vec![Operand::Int(0)]));
    (reg, insts)
}

/// Stores whole bytes of smaller elements; elements that do not fill a byte are merged into it.
pub(super) fn store_packed(
    code: &mut Code,
    insts: &[Inst],
    run: &[usize],
    bits: u32,
    replaced: &mut FxHashMap<usize, Vec<Inst>>,
) {
    let latest = run.iter().copied().max().unwrap_or(0);
    let parts: Vec<(Address, Operand)> = run
        .iter()
        .filter_map(|&n| match &insts[n].kind {
            Kind::Store { address, from, .. } => Some((*address, *from.first()?)),
            _ => None,
        })
        .collect();
    let Some(&(address, _)) = parts.first() else { return };
    let origin = insts[latest].origin;
    let per_byte = i64::from(8 / bits);
    let total = parts.len() as u32 * bits;
    let mut new = Vec::new();
    if total < 8 {
        for (address, value) in parts {
            let mut byte = address.base;
            let offset = address.offset.div_euclid(per_byte);
            if offset != 0 {
                let moved = code.reg(Class::B64);
                let from = vec![byte, Operand::Int(offset)];
                new.push(inst(Kind::Pure { opcode: Name::Add.of(Type::S64), from }, vec![moved], origin));
                byte = moved.into();
            }
            let shift = Operand::Int(address.offset.rem_euclid(per_byte) * i64::from(bits));
            new.extend(merged(code, address.space, byte, shift, bits, value, origin));
        }
    } else {
        let values: Vec<Operand> = parts.into_iter().map(|(_, value)| value).collect();
        let halves: Vec<Reg> = values
            .chunks(16 / bits as usize)
            .map(|chunk| {
                let (half, insts) = packed_half(code, chunk, bits, origin);
                new.extend(insts);
                half
            })
            .collect();
        let mut from: Vec<Operand> = halves.iter().map(|&half| half.into()).collect();
        if total >= 32 {
            let words: Vec<Reg> = halves.chunks(2).map(|_| code.reg(Class::B32)).collect();
            for (word, pair) in words.iter().zip(halves.chunks(2)) {
                let from = pair.iter().map(|&half| half.into()).collect();
                new.push(inst(Kind::Pack { from }, vec![*word], origin));
            }
            from = words.into_iter().map(Operand::from).collect();
        }
        let address = Address { offset: address.offset.div_euclid(per_byte), ..address };
        new.push(inst(Kind::Store { address, bits: total.min(32), from }, Vec::new(), origin));
    }
    for &n in run {
        replaced.insert(n, Vec::new());
    }
    replaced.insert(latest, new);
}
