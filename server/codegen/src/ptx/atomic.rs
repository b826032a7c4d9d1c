//! Elements in memory that several threads change: one instruction where the device has it for the type, else the word is
//! exchanged until nobody else was faster. Source: `AtomicRMWOp` of `codegen/emitters/transforms/lower_tensors.cc`.

use indexing_map::Expr;
use ir::ElementTypeExt;
use syntax::hlo::{ElementType, Opcode};

use super::index::split_constant;
use super::lower::{Bf16, Frame, Lowering, Pending};
use super::machine::{Address, Class, Kind, Operand, Reg, Space};
use super::memory::Place;
use super::packed::packed;
use super::value::Val;
use crate::kernel::{Function, Kernel, OpKind, Region, ValueId};

/// How an element changes.
enum Change {
    /// It becomes a number, whatever it was.
    Set(ValueId),
    /// By this and a number that does not depend on it.
    By(Opcode, ValueId),
    Other,
}

fn change(body: &Region, kernel: &Kernel) -> Change {
    let (&[old], &[new]) = (body.args.as_slice(), body.yields.as_slice()) else { return Change::Other };
    match body.ops.as_slice() {
        [] if new != old => Change::Set(new),
        [op] if op.results == [new] => match &op.kind {
            OpKind::Compute { opcode, operands, .. } => by(*opcode, operands, old),
            OpKind::Call { function, args, .. } => match kernel.functions.get(*function) {
                Some(called) => what_is_called_for(called, args, old),
                None => Change::Other,
            },
            _ => Change::Other,
        },
        _ => Change::Other,
    }
}

fn by(opcode: Opcode, operands: &[ValueId], old: ValueId) -> Change {
    match *operands {
        [a, b] if a == old && b != old => Change::By(opcode, b),
        [a, b] if b == old && a != old => Change::By(opcode, a),
        _ => Change::Other,
    }
}

/// What a function on numbers makes of its arguments, if that is one op or one of them.
fn what_is_called_for(called: &Function, args: &[ValueId], old: ValueId) -> Change {
    let given = |value: ValueId| {
        let number = called.args.iter().position(|&arg| arg == value)?;
        args.get(number).copied()
    };
    let &[result] = called.body.yields.as_slice() else { return Change::Other };
    match called.body.ops.as_slice() {
        [] => match given(result) {
            Some(value) if value != old => Change::Set(value),
            _ => Change::Other,
        },
        [op] if op.results == [result] => match &op.kind {
            OpKind::Compute { opcode, operands, .. } => {
                match operands.iter().map(|&operand| given(operand)).collect::<Option<Vec<ValueId>>>() {
                    Some(operands) => by(*opcode, &operands, old),
                    None => Change::Other,
                }
            }
            _ => Change::Other,
        },
        _ => Change::Other,
    }
}

/// A bit field of a word in memory.
struct Word {
    address: Address,
    bits: u32,
    /// Bits below the element, where the word is more than that.
    shift: Option<Operand>,
}

impl<'k> Lowering<'k> {
    /// What the body makes of the element at a place. It lands behind the rounds of the loop around, as stores do.
    pub(super) fn update(
        &mut self,
        frame: &mut Frame<'k>,
        place: Place,
        element: ElementType,
        at: &[Expr],
        body: &'k Region,
    ) {
        let Place::Param(param) = place else { return };
        let change = change(body, self.kernel);
        let bits = element.bits().unwrap_or(8);
        if bits > 64 {
            let origin = self.code.origin.unwrap_or(0);
            let reason = format!("words of {bits} bits are not exchanged");
            return self.missing.push((origin, reason));
        }
        let is_whole = bits >= 32 && !element.is_complex();
        // A store alone is whole where it has 32 bits, and as an integer of 64.
        if let Change::Set(value) = change
            && is_whole
            && (bits == 32 || !element.is_floating())
        {
            let value = frame.value(value);
            return self.set(place, element, at, &value);
        }
        if let Change::By(opcode, value) = change {
            let value = frame.value(value).num();
            if let Some(name) = self.atomic(opcode, element) {
                let (address, _) = self.address(place, element, at);
                let class = Class::of_bits(bits);
                let value = match value {
                    Operand::Int(_) if bits < 32 => self.in_register(value, class),
                    other => other,
                };
                let old = self.code.reg(class);
                let outer = std::mem::take(&mut self.code.insts);
                self.code.push(Kind::Atomic { name, address, from: vec![value] }, vec![old]);
                return self.deferred(outer);
            }
            if opcode == Opcode::Maximum && element == ElementType::F32 {
                let (address, _) = self.address(place, element, at);
                let outer = std::mem::take(&mut self.code.insts);
                self.enter();
                self.larger(address, value);
                self.leave();
                return self.deferred(outer);
            }
        }
        let word = self.word(param, place, element, at);
        let outer = std::mem::take(&mut self.code.insts);
        self.enter();
        self.exchanged(frame, &word, element, body, matches!(change, Change::Set(_)));
        self.leave();
        self.deferred(outer);
    }

    /// What stands in the list is kept for later, where the rounds of a loop are written; `outer` was there before.
    fn deferred(&mut self, outer: Vec<super::machine::Inst>) {
        let own = std::mem::replace(&mut self.code.insts, outer);
        match &mut self.pending {
            Some(pending) => pending.push(Pending::Code(own)),
            None => {
                self.code.forget_loads();
                self.code.insts.extend(own);
            }
        }
    }

    /// A store that no other thread sees a half of.
    fn set(&mut self, place: Place, element: ElementType, at: &[Expr], value: &Val) {
        let (address, bits) = self.address(place, element, at);
        let name = if bits == 32 { "b32" } else { "b64" };
        let from = match value.num() {
            Operand::F32(pattern) => Operand::Int(i64::from(pattern as i32)),
            Operand::F64(pattern) => Operand::Int(pattern as i64),
            other => other,
        };
        let outer = std::mem::take(&mut self.code.insts);
        self.code.push(Kind::Atomic { name, address, from: vec![from] }, Vec::new());
        self.deferred(outer);
    }

    /// The instruction for it. Whole numbers of 32 and 64 bits are added and compared, floats added.
    fn atomic(&self, opcode: Opcode, element: ElementType) -> Option<&'static str> {
        use ElementType::{Bf16 as B16, F16, F32, F64, S32, S64, U32, U64};
        Some(match (opcode, element) {
            (Opcode::Add, F32) => "add.f32",
            (Opcode::Add, F64) => "add.f64",
            (Opcode::Add, F16) => "add.noftz.f16",
            (Opcode::Add, B16) if self.bf16 == Bf16::Full => "add.noftz.bf16",
            (Opcode::Add, S32 | U32) => "add.u32",
            (Opcode::Add, S64 | U64) => "add.u64",
            (Opcode::Maximum, S32) => "max.s32",
            (Opcode::Maximum, U32) => "max.u32",
            (Opcode::Maximum, S64) => "max.s64",
            (Opcode::Maximum, U64) => "max.u64",
            (Opcode::Minimum, S32) => "min.s32",
            (Opcode::Minimum, U32) => "min.u32",
            (Opcode::Minimum, S64) => "min.s64",
            (Opcode::Minimum, U64) => "min.u64",
            _ => return None,
        })
    }

    /// The larger one of two `f32`, by comparisons of whole numbers: those with the sign are the smaller the larger they look.
    fn larger(&mut self, address: Address, value: Operand) {
        let end = self.code.label();
        let old = self.code.load(address, 32, false);
        let pred = |e: &mut Self, name: &'static str, a: Operand, b: Operand| -> Reg {
            e.code.pure(name, Class::Pred, [a, b])
        };
        let value = self.in_register(value, Class::B32);
        let is_done = pred(self, "setp.nan.f32", old.into(), old.into());
        self.code.branch(end, Some((is_done, true)));
        let is_nan = pred(self, "setp.nan.f32", value, value);
        let nan = Operand::Int(0x7FC0_0000);
        let new = self.code.pure("selp.b32", Class::B32, [nan, value, is_nan.into()]);
        let is_done = pred(self, "setp.ge.f32", old.into(), new.into());
        self.code.branch(end, Some((is_done, true)));
        let negative = self.code.label();
        let is_negative = pred(self, "setp.lt.s32", new.into(), Operand::Int(0));
        self.code.branch(negative, Some((is_negative, true)));
        let mut atomic = |name| {
            let old = self.code.reg(Class::B32);
            self.code.push(Kind::Atomic { name, address, from: vec![new.into()] }, vec![old]);
        };
        atomic("max.s32");
        self.code.branch(end, None);
        self.code.place(negative);
        let old = self.code.reg(Class::B32);
        self.code.push(Kind::Atomic { name: "min.u32", address, from: vec![new.into()] }, vec![old]);
        self.code.place(end);
    }

    /// The word that an element is in.
    fn word(&mut self, param: usize, place: Place, element: ElementType, at: &[Expr]) -> Word {
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
                byte = self.code.pure("add.s64", Class::B64, [byte, Operand::Int(constant)]).into();
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
            byte = self.code.pure("add.s64", Class::B64, [byte, Operand::Int(address.offset)]).into();
        }
        self.word_around(space, byte, Operand::Int(0), bits)
    }

    /// The word of 32 bits around the element `inside` bits above the address of its first byte.
    fn word_around(&mut self, space: Space, byte: Operand, inside: Operand, bits: u32) -> Word {
        let base = self.code.pure("and.b64", Class::B64, [byte, Operand::Int(-4)]).into();
        let low = self.code.pure("cvt.u32.u64", Class::B32, [byte]);
        let number = self.code.pure("and.b32", Class::B32, [low.into(), Operand::Int(3)]);
        let mut shift = self.code.pure("shl.b32", Class::B32, [number.into(), Operand::Int(3)]);
        if inside != Operand::Int(0) {
            shift = self.code.pure("add.s32", Class::B32, [shift.into(), inside]);
        }
        Word { address: Address { space, base, offset: 0, align: 4 }, bits, shift: Some(shift.into()) }
    }

    /// The loop around the exchange.
    fn exchanged(
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
            let ones = self.code.pure("mov.b32", Class::B32, [Operand::Int((1 << bits) - 1)]);
            let mask = self.code.pure("shl.b32", Class::B32, [ones.into(), shift]);
            self.code.pure("not.b32", Class::B32, [mask.into()])
        });
        // A number that does not depend on the element is brought to its place once.
        let mut ready = is_set.then(|| {
            let value = frame.value(body.yields[0]);
            self.in_place(element, value, bits, shift)
        });
        let old = self.code.reg(class);
        self.code.push(Kind::Load { address, bits: width, is_invariant: false }, vec![old]);
        let top = self.code.label();
        self.code.place(top);
        self.enter();
        let new = ready.take().unwrap_or_else(|| {
            let value = self.out_of_word(element, old, bits, shift);
            frame.give(&body.args, &[value]);
            let new = self.region(frame, body);
            let new = new.first().copied().unwrap_or(value);
            self.in_place(element, new, bits, shift)
        });
        let new = match kept {
            None => new,
            Some(kept) => {
                let others = self.code.pure("and.b32", Class::B32, [old.into(), kept.into()]);
                self.code.pure("or.b32", Class::B32, [others.into(), new]).into()
            }
        };
        let (found, differs) = (self.code.reg(class), self.code.reg(Class::Pred));
        let exchange = Kind::Exchange { address, bits: width, expected: old.into(), new };
        self.code.push(exchange, vec![found]);
        let name = if width == 64 { "setp.ne.b64" } else { "setp.ne.b32" };
        self.code.push(Kind::Pure { name: name.into(), from: vec![found.into(), old.into()] }, vec![differs]);
        self.code.set(old, found.into());
        self.code.branch(top, Some((differs, true)));
        self.leave();
    }

    /// The element in a word.
    fn out_of_word(&mut self, element: ElementType, word: Reg, bits: u32, shift: Option<Operand>) -> Val {
        if element.is_complex() {
            let parts = [self.code.reg(Class::B32), self.code.reg(Class::B32)];
            self.code.push(Kind::Unpack { from: word }, parts.to_vec());
            return Val::Complex(parts[0].into(), parts[1].into());
        }
        let Some(shift) = shift else { return Val::Num(word.into()) };
        let down = self.code.pure("shr.u32", Class::B32, [word.into(), shift]);
        let half = self.code.pure("cvt.u16.u32", Class::B16, [down.into()]);
        let code = &mut self.code;
        let unused = Operand::Int(i64::from(16 - bits.min(16)));
        match element {
            ElementType::Pred => {
                let bit = code.pure("and.b16", Class::B16, [half.into(), Operand::Int(1)]);
                Val::Pred(code.pure("setp.ne.b16", Class::Pred, [bit.into(), Operand::Int(0)]).into())
            }
            _ if bits >= 16 => Val::Num(half.into()),
            _ if element.is_signed_integer() => {
                let up = code.pure("shl.b16", Class::B16, [half.into(), unused]);
                Val::Num(code.pure("shr.s16", Class::B16, [up.into(), unused]).into())
            }
            _ => {
                let mask = Operand::Int((1 << bits) - 1);
                Val::Num(code.pure("and.b16", Class::B16, [half.into(), mask]).into())
            }
        }
    }

    /// The element where it stands in its word, zero around it.
    fn in_place(&mut self, element: ElementType, value: Val, bits: u32, shift: Option<Operand>) -> Operand {
        if let Val::Complex(re, im) = value {
            let parts = [re, im].map(|part| self.in_register(part, Class::B32));
            let word = self.code.reg(Class::B64);
            self.code.push(Kind::Pack { from: parts.to_vec() }, vec![word]);
            return word.into();
        }
        let Some(shift) = shift else {
            return self.in_register(value.num(), Class::of_bits(bits));
        };
        let wide = match (element, value.num()) {
            (_, Operand::Int(value)) => {
                let value = value & ((1 << bits) - 1);
                self.code.pure("mov.b32", Class::B32, [Operand::Int(value)])
            }
            (ElementType::Pred, pred) => {
                self.code.pure("selp.b32", Class::B32, [Operand::Int(1), Operand::Int(0), pred])
            }
            (_, half) => {
                let wide = self.code.pure("cvt.u32.u16", Class::B32, [half]);
                match bits {
                    16 => wide,
                    _ => {
                        let ones = Operand::Int((1 << bits) - 1);
                        self.code.pure("and.b32", Class::B32, [wide.into(), ones])
                    }
                }
            }
        };
        self.code.pure("shl.b32", Class::B32, [wide.into(), shift]).into()
    }
}
