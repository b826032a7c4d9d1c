//! Elements of arrays: addresses, loads, stores.

use indexing_map::{BinaryOp, Expr, Interval};
use ir::{ArrayShape, ElementTypeExt};
use ptx::{Comparison, Modifier, Name, Type, cvt, setp};
use syntax::hlo::ElementType;

use super::element::packed;
use super::index::{alignment, split_constant};
use super::lower::{Lowering, Pending, Scope};
use super::machine::{Address, Class, Kind, Operand, Reg, Space};
use super::value::{ArrayPlace, Val};
use crate::kernel::SharedArray;

/// The maximum number of summands of an index for which LLVM proves alignment; beyond it, LLVM joins no
/// loads.
const MAX_SUMMANDS: usize = 4;

impl Lowering<'_> {
    /// The position of the element in memory order.
    pub(super) fn linear(&mut self, shape: &ArrayShape, at: &[Expr]) -> Expr {
        // The array of the IR may be flattened when that of the kernel is not.
        if let ([index], true) = (at, shape.dims.len() > 1) {
            return index.clone();
        }
        let mut linear = Expr::ZERO;
        let mut stride = 1i64;
        for dim in shape.minor_to_major() {
            if let Some(index) = at.get(dim) {
                linear = linear + index.clone() * stride;
            }
            stride = stride.saturating_mul(shape.dims.get(dim).copied().unwrap_or(1));
        }
        linear
    }

    pub(super) fn linear_shared(&self, array: &SharedArray, at: &[Expr]) -> Expr {
        let mut linear = Expr::ZERO;
        let mut stride = 1i64;
        for (index, &size) in at.iter().zip(&array.dims).rev() {
            linear = linear + index.clone() * stride;
            stride = stride.saturating_mul(size);
        }
        linear
    }

    /// The address of an element, and its width in bits.
    pub(super) fn address(&mut self, place: ArrayPlace, element: ElementType, at: &[Expr]) -> (Address, u32) {
        let bits = element.bits().unwrap_or(8).max(8);
        let bytes = i64::from(bits / 8);
        let (linear, elements) = match place {
            ArrayPlace::Param(param) => {
                let shape = self.kernel.params[param].shape.clone();
                (self.linear(&shape, at), shape.elements().unwrap_or(i64::MAX))
            }
            ArrayPlace::Table(number) => {
                let shape = self.kernel.tables[number as usize].shape.clone();
                (self.linear(&shape, at), shape.elements().unwrap_or(i64::MAX))
            }
            ArrayPlace::Shared(number) => {
                let array = self.shared[number as usize].clone();
                (self.linear_shared(&array, at), array.dims.iter().product())
            }
        };
        let linear = self.indices.here(&linear);
        let (rest, constant) = split_constant(&linear);
        let offset = constant.saturating_mul(bytes);
        let align = alignment(&rest).saturating_mul(bytes);
        let align = 1i64 << align.trailing_zeros().min(8);
        match place {
            ArrayPlace::Param(param) => {
                let base = self.pointer(param);
                if let (1, Some(odd)) = (constant, self.odd_of_pair(&rest)) {
                    let bytes_here =
                        self.code.pure(Name::Mul.with(Modifier::Wide, Type::U32), [odd, Operand::Int(bytes)]);
                    let base =
                        self.code.pure(Name::Add.of(Type::S64), [base.into(), bytes_here.into()]).into();
                    return (Address { space: Space::Global(param), base, offset: 0, align: bytes }, bits);
                }
                let is_parted = self.scope.is_parted && !self.is_beside(param, at, &rest);
                let align = if is_parted { bytes } else { align };
                let align = align.min(i64::from(self.kernel.params[param].align));
                let base = self.moved(base, &rest, bytes, elements);
                (Address { space: Space::Global(param), base, offset, align }, bits)
            }
            ArrayPlace::Table(number) => {
                let base = self.code.pure(Name::Mov.of(Type::B64), [Operand::Table(number)]);
                let base = self.moved(base, &rest, bytes, elements);
                (Address { space: Space::Table(number), base, offset, align: align.min(bytes) }, bits)
            }
            ArrayPlace::Shared(number) => {
                let base = Operand::Shared(number);
                let base = match rest {
                    Expr::Const(0) => base,
                    _ => {
                        let index = self.indices.compute_as(&mut self.code, &rest, 32);
                        let start = self.code.pure(Name::Mov.of(Type::B32), [base]);
                        let bytes = Operand::Int(bytes);
                        self.code
                            .pure(Name::Mad.with(Modifier::Lo, Type::S32), [index, bytes, start.into()])
                            .into()
                    }
                };
                (Address { space: Space::Shared(number), base, offset, align: align.min(16) }, bits)
            }
        }
    }

    /// With several transposes that read slices of an array, the elements of all but the first slice have an
    /// offset in the row. LLVM adds it last to the same address, so it sees them as neighbours; it also does
    /// so for elements whose index is a sum of parts without common bits.
    fn is_beside(&mut self, param: usize, at: &[Expr], rest: &Expr) -> bool {
        let Some(vector) = self.scope.tile_vector else { return false };
        let minor = self.kernel.params[param].shape.minor_to_major().first().copied();
        let Some(inner) = minor.and_then(|dim| at.get(dim)) else { return false };
        let inner = self.indices.here(inner);
        split_constant(&inner).1 >= vector || at.len() == 1 && self.indices.is_disjoint(rest)
    }

    /// The same for a load.
    fn load_address(&mut self, place: ArrayPlace, element: ElementType, at: &[Expr]) -> (Address, u32) {
        let is_deep = match place {
            ArrayPlace::Param(param) => {
                let shape = self.kernel.params[param].shape.clone();
                let linear = self.linear(&shape, at);
                self.indices.summands(&linear) > MAX_SUMMANDS || self.falls_unevenly(&shape, &linear)
            }
            ArrayPlace::Table(_) | ArrayPlace::Shared(_) => false,
        };
        let scope = Scope { is_parted: self.scope.is_parted || is_deep, ..self.scope };
        self.within(scope, |lowering| lowering.address(place, element, at))
    }

    /// Whether the index decreases from the end of an array whose size is not a power of two. LLVM then
    /// cannot prove that the elements are aligned; otherwise the parts of the difference have no common bits.
    fn falls_unevenly(&mut self, shape: &ArrayShape, linear: &Expr) -> bool {
        let is_even = shape.elements().is_some_and(|count| count > 0 && count & (count - 1) == 0);
        let here = self.indices.here(linear);
        let mut rest = vec![&here];
        while let Some(expr) = rest.pop() {
            match expr.as_binary() {
                Some((BinaryOp::Add, left, right)) => rest.extend([left, right]),
                _ if expr.as_scaled().is_some_and(|(_, by)| by < 0) => return !is_even,
                _ => {}
            }
        }
        false
    }

    /// The second element of a pair whose first one is at `x` without its lowest bit. Its index is `x` with
    /// the lowest bit set, which LLVM no longer recognises as a neighbour of the first. Source: LLVM's
    /// instruction combination.
    fn odd_of_pair(&mut self, first: &Expr) -> Option<Operand> {
        let (half, 2) = first.as_scaled()? else { return None };
        let (x, 2) = half.as_op_const(BinaryOp::FloorDiv)? else { return None };
        let range = self.indices.range(x);
        let is_small = Interval::new(0, i64::from(i32::MAX)).contains_interval(range);
        let x = is_small.then(|| self.indices.compute_as(&mut self.code, x, 32))?;
        Some(self.code.pure(Name::Or.of(Type::B32), [x, Operand::Int(1)]).into())
    }

    /// A pointer advanced by this many elements.
    pub(super) fn moved(&mut self, pointer: Reg, index: &Expr, bytes: i64, elements: i64) -> Operand {
        if *index == Expr::ZERO {
            return pointer.into();
        }
        let range = self.indices.range(index);
        let code = &mut self.code;
        let is_small = Interval::new(0, i64::from(u32::MAX >> 1)).contains_interval(range);
        let _ = elements;
        let distance = if is_small {
            let index = self.indices.compute_as(code, index, 32);
            if bytes == 1 {
                code.pure(cvt(Type::U64, Type::U32), [index])
            } else {
                code.pure(Name::Mul.with(Modifier::Wide, Type::U32), [index, Operand::Int(bytes)])
            }
        } else {
            let index = self.indices.compute_as(code, index, 64);
            code.pure(Name::Mul.with(Modifier::Lo, Type::S64), [index, Operand::Int(bytes)])
        };
        self.code.pure(Name::Add.of(Type::S64), [pointer.into(), distance.into()]).into()
    }

    /// The address of an argument in global memory.
    pub(super) fn pointer(&mut self, param: usize) -> Reg {
        if let Some(reg) = self.pointers[param] {
            return reg;
        }
        let reg = self.code.reg(Class::B64);
        self.pointers[param] = Some(reg);
        reg
    }

    pub(super) fn load(&mut self, place: ArrayPlace, element: ElementType, at: &[Expr]) -> Val {
        let is_invariant = match place {
            ArrayPlace::Param(param) => !self.is_written(param),
            ArrayPlace::Table(_) => true,
            ArrayPlace::Shared(_) => false,
        };
        if let Some(bits) = packed(element) {
            return self.load_packed(place, element, bits, at, is_invariant);
        }
        if element.is_complex() {
            let (address, bits) = self.load_address(place, element, at);
            let half = bits / 2;
            let re = self.code.load(address, half, is_invariant);
            let next = Address { offset: address.offset + i64::from(half / 8), ..address };
            let im = self.code.load(next, half, is_invariant);
            return Val::Complex(re.into(), im.into());
        }
        let (address, bits) = self.load_address(place, element, at);
        if self.is_in_halves(place, element) {
            let low = self.code.load(address, bits / 2, is_invariant);
            let next = Address { offset: address.offset + i64::from(bits / 16), ..address };
            let high = self.code.load(next, bits / 2, is_invariant);
            let whole = self.code.reg(Class::of_bits(bits));
            self.code.push(Kind::Pack { from: vec![low.into(), high.into()] }, vec![whole]);
            return Val::Num(whole.into());
        }
        let reg = self.code.load(address, bits, is_invariant);
        match element {
            ElementType::Pred => Val::Pred(
                self.code.pure(setp(Comparison::Ne, Type::B16), [reg.into(), Operand::Int(0)]).into(),
            ),
            // Eight bits, sign-extended to a 16-bit register.
            ElementType::S8 => Val::Num(self.code.pure(cvt(Type::S16, Type::S8), [reg.into()]).into()),
            _ => Val::Num(reg.into()),
        }
    }

    pub(super) fn store(&mut self, place: ArrayPlace, element: ElementType, at: &[Expr], value: &Val) {
        if let (Some(bits), Val::Num(number)) = (packed(element), *value) {
            return self.store_packed(place, bits, at, number);
        }
        let (address, bits) = self.address(place, element, at);
        match *value {
            Val::Complex(re, im) => {
                let half = bits / 2;
                self.stored(address, half, re);
                let next = Address { offset: address.offset + i64::from(half / 8), ..address };
                self.stored(next, half, im);
            }
            Val::Pred(pred) => {
                let from = [Operand::Int(1), Operand::Int(0), pred];
                let byte = match pred {
                    Operand::Int(_) => pred,
                    _ => self.code.pure(Name::Selp.of(Type::B16), from).into(),
                };
                self.stored(address, 8, byte);
            }
            Val::Num(number) if self.is_in_halves(place, element) => {
                let whole = self.scalars().in_register(number, Class::of_bits(bits));
                let half = Class::of_bits(bits / 2);
                let halves = [self.code.reg(half), self.code.reg(half)];
                if let Operand::Reg(from) = whole {
                    self.code.push(Kind::Unpack { from }, halves.to_vec());
                }
                self.stored(address, bits / 2, halves[0].into());
                let next = Address { offset: address.offset + i64::from(bits / 16), ..address };
                self.stored(next, bits / 2, halves[1].into());
            }
            Val::Num(number) => self.stored(address, bits, number),
            Val::Tensor(_) | Val::Vector(_) => {}
        }
    }

    /// Whether 64-bit integers go to shared memory in halves. There they have the alignment of 32-bit
    /// integers, because MLIR's default data layout says so. The code of sorts does not come from MLIR.
    fn is_in_halves(&self, place: ArrayPlace, element: ElementType) -> bool {
        matches!(place, ArrayPlace::Shared(_))
            && matches!(element, ElementType::S64 | ElementType::U64)
            && self.kernel.waits
    }

    /// Emits a store, or defers it until the iterations of the enclosing loop end.
    pub(super) fn stored(&mut self, address: Address, bits: u32, from: Operand) {
        match &mut self.pending {
            Some(pending) => pending.push(Pending::Store(address, bits, from)),
            None => self.code.store(address, bits, from),
        }
    }

    /// Whether the memory of an operand is written by this kernel, or from elsewhere while it runs.
    fn is_written(&self, param: usize) -> bool {
        let params = &self.kernel.params;
        params[param].is_result()
            || params[param].is_changing
            || params.iter().any(|other| other.aliases == Some(param))
    }
}
