//! Loops that carry constant numbers: a product that starts with 0 stays 0, and its other operand is not
//! read. LLVM finds these by propagating constants through loop-carried values. Integers only: 0 times a
//! float may be NaN.

use ir::{ElementTypeExt, Opcode};
use rustc_hash::FxHashMap;
use syntax::hlo::ElementType;

use super::frame::Frame;
use super::lower::Lowering;
use super::machine::Operand;
use super::value::Val;
use crate::constant::Constant;
use crate::kernel::{Function, Kernel, OpKind, Region, Type, ValueId};

/// The maximum number of ops examined in one loop.
const MAX_OPS: usize = 4096;
/// The maximum depth of nested functions and loops.
const MAX_DEPTH: u32 = 8;

impl<'k> Lowering<'k> {
    /// Whether a loop that carries `values` has no other effect, and carries the same constants in all
    /// iterations.
    pub(super) fn keeps_constants(&self, frame: &Frame<'k>, values: &[Val], body: &'k Region) -> bool {
        let function = frame.function;
        let carried = body.args.iter().zip(values).filter(|(_, value)| !matches!(value, Val::Tensor(_)));
        let given = carried.map(|(&arg, &value)| {
            let element = function.element(arg);
            Some((arg, self.constant_of(value, element)?))
        });
        let Some(given) = given.collect::<Option<Vec<_>>>().filter(|given| !given.is_empty()) else {
            return false;
        };
        let mut search = Search { kernel: self.kernel, left: MAX_OPS };
        let mut known: FxHashMap<ValueId, Constant> = given.iter().copied().collect();
        // Values computed before the loop are not known here, except for constants.
        for (value, held) in frame.values.iter().enumerate() {
            let value = value as ValueId;
            if let (Some(held @ Val::Num(Operand::Int(_))), Type::Scalar(element)) =
                (held, function.ty(value))
            {
                known.entry(value).or_insert_with_key(|_| Constant::of_int(*element, int(*held)));
            }
        }
        let yields = search.region(function, body, known, 0);
        let given: FxHashMap<ValueId, Constant> = given.into_iter().collect();
        let is_kept = |((arg, value), yielded): ((&ValueId, &ValueId), Option<Constant>)| match given.get(arg)
        {
            Some(&constant) => yielded == Some(constant),
            None => arg == value,
        };
        yields.is_some_and(|yields| body.args.iter().zip(&body.yields).zip(yields).all(is_kept))
    }

    /// The constant value of a number, or of all elements of a vector.
    fn constant_of(&self, value: Val, element: ElementType) -> Option<Constant> {
        if element.is_floating() || element.is_complex() {
            return None;
        }
        match value {
            Val::Num(Operand::Int(number)) | Val::Pred(Operand::Int(number)) => {
                Some(Constant::of_int(element, number))
            }
            Val::Vector(number) => {
                let mut elements = self.vectors.get(number as usize)?.iter();
                let first = self.constant_of(*elements.next()?, element)?;
                elements.all(|other| self.constant_of(*other, element) == Some(first)).then_some(first)
            }
            _ => None,
        }
    }
}

fn int(value: Val) -> i64 {
    match value.num() {
        Operand::Int(number) => number,
        _ => 0,
    }
}

struct Search<'k> {
    kernel: &'k Kernel,
    left: usize,
}

impl Search<'_> {
    /// The yields of a region, where they are constant. `None` if the region changes memory, or is too large.
    fn region(
        &mut self,
        function: &Function,
        region: &Region,
        mut known: FxHashMap<ValueId, Constant>,
        depth: u32,
    ) -> Option<Vec<Option<Constant>>> {
        if depth > MAX_DEPTH {
            return None;
        }
        for op in &region.ops {
            self.left = self.left.checked_sub(1)?;
            let results: Vec<Option<Constant>> = match &op.kind {
                OpKind::Constant(constant) => vec![Some(*constant)],
                OpKind::Compute { opcode, operands, .. } => {
                    let element = function.element(*op.results.first()?);
                    let constants = operands.iter().filter_map(|operand| known.get(operand));
                    let is_same = |operand: &ValueId| function.element(*operand) == element;
                    let absorbs = |constant: &&Constant| {
                        constant.element == element && is_absorbing(*opcode, **constant)
                    };
                    let absorbed = constants.into_iter().find(absorbs).copied();
                    vec![absorbed.filter(|_| operands.len() == 2 && operands.iter().all(is_same))]
                }
                OpKind::Call { function: number, args, .. } => {
                    let called = self.kernel.functions.get(*number)?;
                    let given = called.args.iter().zip(args);
                    let given = given.filter_map(|(&arg, value)| Some((arg, *known.get(value)?)));
                    self.region(called, &called.body, given.collect(), depth + 1)?
                }
                OpKind::If { then, otherwise, .. } => {
                    let then = self.region(function, then, known.clone(), depth + 1)?;
                    let otherwise = self.region(function, otherwise, known.clone(), depth + 1)?;
                    let both = then.into_iter().zip(otherwise);
                    both.map(|(a, b)| a.filter(|_| a == b)).collect()
                }
                OpKind::Splat { value } | OpKind::Extract { vector: value, .. } => {
                    vec![known.get(value).copied()]
                }
                OpKind::Insert { value, vector, .. } => {
                    vec![known.get(vector).filter(|old| known.get(value) == Some(old)).copied()]
                }
                OpKind::Loop { inits, body, .. } | OpKind::For { inits, body, .. } => {
                    let given: Vec<Option<Constant>> =
                        inits.iter().map(|init| known.get(init).copied()).collect();
                    let mut inside = known.clone();
                    inside.extend(
                        body.args.iter().zip(&given).filter_map(|(&arg, &value)| Some((arg, value?))),
                    );
                    let yields = self.region(function, body, inside, depth + 1)?;
                    // One result that changes may change the others in the next iteration.
                    let is_kept =
                        given.iter().zip(&yields).all(|(given, yielded)| given.is_some() && given == yielded);
                    given.into_iter().map(|value| value.filter(|_| is_kept)).collect()
                }
                OpKind::Read { .. }
                | OpKind::ReadIf { .. }
                | OpKind::Table(_)
                | OpKind::FromIndex { .. }
                | OpKind::ToIndex { .. }
                | OpKind::AsIndex { .. } => Vec::new(),
                _ => return None,
            };
            for (&result, constant) in op.results.iter().zip(results) {
                known.extend(constant.map(|constant| (result, constant)));
            }
        }
        Some(region.yields.iter().map(|value| known.get(value).copied()).collect())
    }
}

/// Whether the result is the constant for every value of the other operand.
fn is_absorbing(opcode: Opcode, constant: Constant) -> bool {
    let Constant { element, bits } = constant;
    if element.is_floating() || element.is_complex() {
        return false;
    }
    let width = element.bits().unwrap_or(64).clamp(1, 64);
    let ones = if element == ElementType::Pred { 1 } else { u128::from(u64::MAX >> (64 - width)) };
    let (least, greatest) = match element.is_signed_integer() {
        true => (1 << (width - 1), ones >> 1),
        false => (0, ones),
    };
    match opcode {
        Opcode::Multiply | Opcode::And => bits == 0,
        Opcode::Or => bits == ones,
        Opcode::Minimum => bits == least,
        Opcode::Maximum => bits == greatest,
        _ => false,
    }
}
