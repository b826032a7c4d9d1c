//! Atomic updates of elements: one instruction if the device has it for the type, else a compare-and-swap
//! loop on the word. Source: `AtomicRMWOp` of `codegen/emitters/transforms/lower_tensors.cc`.

use indexing_map::Expr;
use ir::ElementTypeExt;
use ptx::{Comparison, Modifier, Name, Type, setp};
use syntax::hlo::{ElementType, Opcode};

use super::features::Bf16;
use super::frame::Frame;
use super::lower::{Lowering, Pending};
use super::machine::{Address, Class, Kind, Operand, Reg};
use super::value::{ArrayPlace, Val};
use crate::kernel::{Function, Kernel, OpKind, Region, ValueId};

/// The kind of update of an element.
enum Change {
    /// The element is replaced by a number.
    Set(ValueId),
    /// The element is combined with a number that does not depend on it.
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

/// The update by a function on numbers, if that is one op or one of its arguments.
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

impl<'k> Lowering<'k> {
    /// Updates the element at a place by the body. In an unrolled loop, the update is deferred to the end, as
    /// stores are.
    pub(super) fn update(
        &mut self,
        frame: &mut Frame<'k>,
        place: ArrayPlace,
        element: ElementType,
        at: &[Expr],
        body: &'k Region,
    ) {
        let ArrayPlace::Param(param) = place else { return };
        let change = change(body, self.kernel);
        let bits = element.bits().unwrap_or(8);
        if bits > 64 {
            let origin = self.code.origin.unwrap_or(0);
            let reason = format!("words of {bits} bits are not exchanged");
            return self.missing.push((origin, reason));
        }
        let is_whole = bits >= 32 && !element.is_complex();
        // A plain store is atomic if it has 32 bits, or 64 bits as an integer.
        if let Change::Set(value) = change
            && is_whole
            && (bits == 32 || !element.is_floating())
        {
            let value = frame.value(value);
            return self.set(place, element, at, &value);
        }
        if let Change::By(opcode, value) = change {
            let value = frame.value(value).num();
            if let Some((update, ty)) = self.atomic(opcode, element) {
                let (address, _) = self.address(place, element, at);
                let class = Class::of_bits(bits);
                let value = match value {
                    Operand::Int(_) if bits < 32 => self.scalars().in_register(value, class),
                    other => other,
                };
                return self.deferring(|lowering| lowering.combined(update, ty, address, value));
            }
            if opcode == Opcode::Maximum && element == ElementType::F32 {
                let (address, _) = self.address(place, element, at);
                return self.deferring(|lowering| lowering.scoped(|scope| scope.larger(address, value)));
            }
        }
        let word = self.word(param, place, element, at);
        let is_set = matches!(change, Change::Set(_));
        self.deferring(|lowering| {
            lowering.scoped(|scope| scope.exchanged(frame, &word, element, body, is_set));
        });
    }

    /// Runs `write`, and defers its instructions while a loop is unrolled.
    fn deferring(&mut self, write: impl FnOnce(&mut Self)) {
        let outer = std::mem::take(&mut self.code.insts);
        write(self);
        let own = std::mem::replace(&mut self.code.insts, outer);
        match &mut self.pending {
            Some(pending) => pending.push(Pending::Code(own)),
            None => {
                self.code.forget_loads();
                self.code.insts.extend(own);
            }
        }
    }

    /// A store that other threads see only as a whole.
    fn set(&mut self, place: ArrayPlace, element: ElementType, at: &[Expr], value: &Val) {
        let (address, bits) = self.address(place, element, at);
        let ty = Type::b(bits);
        let from = match value.num() {
            Operand::F32(pattern) => Operand::Int(i64::from(pattern as i32)),
            Operand::F64(pattern) => Operand::Int(pattern as i64),
            other => other,
        };
        self.deferring(|lowering| {
            lowering.code.push(Kind::Atomic { update: None, ty, address, from: vec![from] }, Vec::new());
        });
    }

    /// The atomic instruction. Integers of 32 and 64 bits are added and compared, floats are added.
    fn atomic(&self, opcode: Opcode, element: ElementType) -> Option<(Modifier, Type)> {
        use ElementType::{Bf16 as B16, F16, F32, F64, S32, S64, U32, U64};
        Some(match (opcode, element) {
            (Opcode::Add, F32) => (Modifier::Add, Type::F32),
            (Opcode::Add, F64) => (Modifier::Add, Type::F64),
            (Opcode::Add, F16) => (Modifier::Add, Type::F16),
            (Opcode::Add, B16) if self.features.bf16 == Bf16::Full => (Modifier::Add, Type::Bf16),
            (Opcode::Add, S32 | U32) => (Modifier::Add, Type::U32),
            (Opcode::Add, S64 | U64) => (Modifier::Add, Type::U64),
            (Opcode::Maximum | Opcode::Minimum, S32 | U32 | S64 | U64) => {
                let update = if opcode == Opcode::Maximum { Modifier::Max } else { Modifier::Min };
                (update, Type::integer(element.is_signed_integer(), element.bits()?))
            }
            _ => return None,
        })
    }

    /// The maximum of two `f32` by integer comparisons: among negative numbers, the order of the bits is
    /// reversed.
    fn larger(&mut self, address: Address, value: Operand) {
        let end = self.code.label();
        let old = self.code.load(address, 32, false);
        let pred = |e: &mut Self, opcode, a: Operand, b: Operand| -> Reg { e.code.pure(opcode, [a, b]) };
        let value = self.scalars().in_register(value, Class::B32);
        let is_done = pred(self, setp(Comparison::Nan, Type::F32), old.into(), old.into());
        self.code.branch(end, Some((is_done, true)));
        let is_nan = pred(self, setp(Comparison::Nan, Type::F32), value, value);
        let nan = Operand::Int(0x7FC0_0000);
        let new = self.code.pure(Name::Selp.of(Type::B32), [nan, value, is_nan.into()]);
        let is_done = pred(self, setp(Comparison::Ge, Type::F32), old.into(), new.into());
        self.code.branch(end, Some((is_done, true)));
        let negative = self.code.label();
        let is_negative = pred(self, setp(Comparison::Lt, Type::S32), new.into(), Operand::Int(0));
        self.code.branch(negative, Some((is_negative, true)));
        self.combined(Modifier::Max, Type::S32, address, new.into());
        self.code.branch(end, None);
        self.code.place(negative);
        self.combined(Modifier::Min, Type::U32, address, new.into());
        self.code.place(end);
    }

    /// An atomic instruction; its result is not used.
    fn combined(&mut self, update: Modifier, ty: Type, address: Address, value: Operand) {
        let old = self.code.reg(Class::of_type(ty));
        self.code.push(Kind::Atomic { update: Some(update), ty, address, from: vec![value] }, vec![old]);
    }
}
