//! Folds: ops whose result is a constant or one of the values that are there.
//! Source: `fold` of `mlir/lib/Dialect/Arith/IR/ArithOps.cpp`, of the `tensor` dialect and of Triton's ops.

use codegen::Constant;
use ir::ElementTypeExt;
use syntax::hlo::ElementType;

use super::rewrite::{Rewrite, Rewriter};
use crate::program::{Arithmetic, Cast, Kind, Op, Predicate, Triton, Type, ValueId};

pub(super) fn fold(rewriter: &mut Rewriter<'_>, op: &Op) -> Option<Rewrite> {
    let result = op.result()?;
    let value = match (&op.kind, &op.operands[..]) {
        (Kind::Arithmetic(arithmetic), &[a, b]) if *rewriter.ty(result) == Type::Index => {
            index_binary(rewriter, *arithmetic, a, b)
        }
        (Kind::Arithmetic(arithmetic), &[a, b]) => binary(rewriter, *arithmetic, a, b, result),
        (Kind::Arithmetic(Arithmetic::Negate), &[a]) => {
            if let Some((Kind::Arithmetic(Arithmetic::Negate), &[source])) = rewriter.definition(a) {
                return Some(Rewrite::Value(source));
            }
            let constant = rewriter.constant(a)?;
            let negated = Constant::of_float(constant.element, -constant.as_float()?);
            constant_like(rewriter, negated, result)
        }
        (Kind::Cast(cast), &[a]) => converted(rewriter, *cast, a, result),
        (Kind::Unsigned, &[a]) if rewriter.ty(a) == rewriter.ty(result) => Some(a),
        (Kind::IndexCast, &[a]) => index(rewriter, a, result),
        (Kind::Select, &[condition, a, b]) => match rewriter.constant(condition) {
            _ if a == b => Some(a),
            Some(condition) => Some(if condition.bits != 0 { a } else { b }),
            None => None,
        },
        (Kind::ToElement, &[a]) => match rewriter.definition(a)? {
            (Kind::FromElement, &[number]) => Some(number),
            (Kind::Constant(constant), _) => constant_like(rewriter, *constant, result),
            _ => None,
        },
        (Kind::FromElement | Kind::Triton(Triton::Splat), &[a]) => {
            let constant = rewriter.constant(a)?;
            constant_like(rewriter, constant, result)
        }
        (Kind::Triton(Triton::Range { end: 1 }), _) => {
            constant_like(rewriter, Constant::zero(ElementType::S32), result)
        }
        (Kind::Triton(triton), &[a]) => moved(rewriter, triton, a, result),
        (Kind::Mask { bounds }, &[a, _]) => (rewriter.ty(a).sizes() == bounds).then_some(a),
        _ => None,
    };
    value.map(Rewrite::Value)
}

fn constant_like(rewriter: &mut Rewriter<'_>, constant: Constant, result: ValueId) -> Option<ValueId> {
    let ty = rewriter.ty(result).clone();
    Some(rewriter.push_constant(constant, ty))
}

/// Ops that move elements.
fn moved(rewriter: &mut Rewriter<'_>, triton: &Triton, a: ValueId, result: ValueId) -> Option<ValueId> {
    let is_same = rewriter.ty(a) == rewriter.ty(result);
    let is_move = match triton {
        Triton::Broadcast | Triton::Reshape if is_same => return Some(a),
        Triton::Transpose { order } => {
            if order.iter().copied().eq(0..order.len()) {
                return Some(a);
            }
            if let (Kind::Triton(Triton::Transpose { order: inner }), &[source]) = rewriter.definition(a)? {
                let order = order.iter().map(|&dim| inner.get(dim).copied()).collect::<Option<_>>()?;
                let ty = rewriter.ty(result).clone();
                return Some(rewriter.push(Kind::Triton(Triton::Transpose { order }), vec![source], ty));
            }
            true
        }
        Triton::Broadcast | Triton::Reshape | Triton::ExpandDims { .. } => true,
        _ => false,
    };
    let constant = rewriter.constant(a).filter(|_| is_move)?;
    constant_like(rewriter, constant, result)
}

fn index(rewriter: &mut Rewriter<'_>, a: ValueId, result: ValueId) -> Option<ValueId> {
    let ty = rewriter.ty(result).clone();
    if let Some((Kind::IndexCast, &[source])) = rewriter.definition(a) {
        return (*rewriter.ty(source) == ty).then_some(source);
    }
    if let Some(value) = rewriter.index_constant(a) {
        return Some(rewriter.number(value, ty));
    }
    let value = rewriter.constant(a)?.as_int();
    (ty == Type::Index).then(|| rewriter.push(Kind::IndexConstant(value), Vec::new(), ty))
}

/// Arithmetic on indices.
fn index_binary(rewriter: &mut Rewriter<'_>, op: Arithmetic, a: ValueId, b: ValueId) -> Option<ValueId> {
    let (a, b) = (rewriter.index_constant(a)?, rewriter.index_constant(b)?);
    let value = match op {
        Arithmetic::Add => a.checked_add(b)?,
        Arithmetic::Subtract => a.checked_sub(b)?,
        Arithmetic::Multiply => a.checked_mul(b)?,
        Arithmetic::Divide => a.checked_div(b)?,
        _ => return None,
    };
    Some(rewriter.push(Kind::IndexConstant(value), Vec::new(), Type::Index))
}

fn binary(
    rewriter: &mut Rewriter<'_>,
    op: Arithmetic,
    a: ValueId,
    b: ValueId,
    result: ValueId,
) -> Option<ValueId> {
    let (left, right) = (rewriter.constant(a), rewriter.constant(b));
    if let (Some(left), Some(right)) = (left, right) {
        let constant = computed(op, left, right)?;
        return constant_like(rewriter, constant, result);
    }
    let is_float = rewriter.is_float(a);
    if left.is_some()
        && let Some(swapped) = swapped(op, is_float)
    {
        let ty = rewriter.ty(result).clone();
        return Some(rewriter.push(Kind::Arithmetic(swapped), vec![b, a], ty));
    }
    if a == b && !is_float {
        match op {
            Arithmetic::And | Arithmetic::Or | Arithmetic::Maximum | Arithmetic::Minimum => return Some(a),
            Arithmetic::Subtract | Arithmetic::Xor => {
                return constant_like(rewriter, Constant::zero(rewriter.element(a)), result);
            }
            _ => {}
        }
    }
    if a == b && matches!(op, Arithmetic::Maximum | Arithmetic::Minimum) {
        return Some(a);
    }
    let right = right?;
    match is_float {
        true => float_identity(op, right).then_some(a),
        false => match op {
            Arithmetic::CheckedRemainder | Arithmetic::CheckedRemainderUnsigned if right.bits == 1 => {
                constant_like(rewriter, Constant::zero(right.element), result)
            }
            _ => integer_identity(op, right, a, b),
        },
    }
}

/// The same with its operands swapped. MLIR swaps no comparisons of floats.
fn swapped(op: Arithmetic, is_float: bool) -> Option<Arithmetic> {
    use Arithmetic::*;
    Some(match op {
        Add | Multiply | Minimum | Maximum | MinimumUnsigned | MaximumUnsigned | And | Or | Xor => op,
        Compare(predicate) if !is_float => Compare(match predicate {
            Predicate::Equal | Predicate::NotEqual | Predicate::Unordered => predicate,
            Predicate::Less => Predicate::Greater,
            Predicate::AtMost => Predicate::AtLeast,
            Predicate::Greater => Predicate::Less,
            Predicate::AtLeast => Predicate::AtMost,
            Predicate::LessUnsigned => Predicate::GreaterUnsigned,
            Predicate::AtMostUnsigned => Predicate::AtLeastUnsigned,
            Predicate::GreaterUnsigned => Predicate::LessUnsigned,
            Predicate::AtLeastUnsigned => Predicate::AtMostUnsigned,
        }),
        _ => return None,
    })
}

/// Whether the float on the right changes nothing.
fn float_identity(op: Arithmetic, right: Constant) -> bool {
    let Some(right) = right.as_float() else { return false };
    match op {
        Arithmetic::Add => right == 0.0 && right.is_sign_negative(),
        Arithmetic::Subtract => right == 0.0 && right.is_sign_positive(),
        Arithmetic::Multiply | Arithmetic::Divide => right == 1.0,
        Arithmetic::Maximum => right == f64::NEG_INFINITY,
        Arithmetic::Minimum => right == f64::INFINITY,
        _ => false,
    }
}

/// The operand that the result is, where the right one is a constant.
fn integer_identity(op: Arithmetic, right: Constant, a: ValueId, b: ValueId) -> Option<ValueId> {
    use Arithmetic::*;
    let ones = Constant::of_int(right.element, -1).bits;
    let is_pred = right.element == ElementType::Pred;
    let (is_zero, is_one) = (right.bits == 0, right.bits == 1);
    let bits = right.element.bits().unwrap_or(64).clamp(1, 64);
    let (least, most) = (i64::MIN >> (64 - bits), i64::MAX >> (64 - bits));
    let (is_least, is_most) = (right.as_int() == least, right.as_int() == most);
    let is_ones = if is_pred { is_one } else { right.bits == ones };
    match op {
        Add | Subtract | Or | Xor if is_zero => Some(a),
        Multiply | And if is_zero => Some(b),
        Multiply | Divide | CheckedDivide | CheckedDivideUnsigned if is_one => Some(a),
        Maximum if is_least => Some(a),
        Maximum if is_most => Some(b),
        Minimum if is_most => Some(a),
        Minimum if is_least => Some(b),
        MaximumUnsigned if is_zero => Some(a),
        MaximumUnsigned if is_ones => Some(b),
        MinimumUnsigned if is_ones => Some(a),
        MinimumUnsigned if is_zero => Some(b),
        And if is_ones => Some(a),
        Or if is_ones => Some(b),
        Compare(Predicate::NotEqual) if is_pred && is_zero => Some(a),
        Compare(Predicate::Equal) if is_pred && is_one => Some(a),
        _ => None,
    }
}

fn computed(op: Arithmetic, a: Constant, b: Constant) -> Option<Constant> {
    let truth = |holds: bool| Some(Constant { element: ElementType::Pred, bits: u128::from(holds) });
    if let (Some(x), Some(y)) = (float(a), float(b)) {
        let of = |value: f64| Some(Constant::of_float(a.element, value));
        return match op {
            Arithmetic::Add => of(x + y),
            Arithmetic::Subtract => of(x - y),
            Arithmetic::Multiply => of(x * y),
            Arithmetic::Divide => of(x / y),
            Arithmetic::Compare(predicate) => truth(match predicate {
                Predicate::Equal => x == y,
                Predicate::NotEqual => x != y,
                Predicate::Less => x < y,
                Predicate::AtMost => x <= y,
                Predicate::Greater => x > y,
                Predicate::AtLeast => x >= y,
                Predicate::Unordered => x.is_nan() || y.is_nan(),
                _ => return None,
            }),
            _ => None,
        };
    }
    let (x, y) = (a.as_int(), b.as_int());
    let of = |value: i64| Some(Constant::of_int(a.element, value));
    match op {
        Arithmetic::Add => of(x.wrapping_add(y)),
        Arithmetic::Subtract => of(x.wrapping_sub(y)),
        Arithmetic::Multiply => of(x.wrapping_mul(y)),
        Arithmetic::Divide | Arithmetic::CheckedDivide => of(x.checked_div(y)?),
        Arithmetic::CheckedRemainder => of(x.checked_rem(y)?),
        Arithmetic::Minimum => of(x.min(y)),
        Arithmetic::Maximum => of(x.max(y)),
        Arithmetic::And => of(x & y),
        Arithmetic::Or => of(x | y),
        Arithmetic::Xor => of(x ^ y),
        Arithmetic::Compare(predicate) => truth(match predicate {
            Predicate::Equal => a.bits == b.bits,
            Predicate::NotEqual => a.bits != b.bits,
            Predicate::Less => x < y,
            Predicate::AtMost => x <= y,
            Predicate::Greater => x > y,
            Predicate::AtLeast => x >= y,
            Predicate::LessUnsigned => a.bits < b.bits,
            Predicate::AtMostUnsigned => a.bits <= b.bits,
            Predicate::GreaterUnsigned => a.bits > b.bits,
            Predicate::AtLeastUnsigned => a.bits >= b.bits,
            Predicate::Unordered => return None,
        }),
        _ => None,
    }
}

fn float(constant: Constant) -> Option<f64> {
    constant.element.is_floating().then(|| constant.as_float())?
}

fn converted(rewriter: &mut Rewriter<'_>, cast: Cast, a: ValueId, result: ValueId) -> Option<ValueId> {
    let to = rewriter.ty(result).element()?;
    // Between signed and unsigned integers of the same size; of scales, which are bytes by now.
    if matches!(cast, Cast::Truncate | Cast::Bits) && rewriter.element(a) == to {
        return Some(a);
    }
    let constant = rewriter.constant(a)?;
    let folded = match cast {
        Cast::ExtendFloat => Constant::of_float(to, constant.as_float()?),
        Cast::TruncateFloat => {
            let value = constant.as_float()?;
            Some(Constant::of_float(to, value)).filter(|short| short.as_float() == Some(value))?
        }
        Cast::SignedToFloat => Constant::of_float(to, constant.as_int() as f64),
        Cast::UnsignedToFloat => Constant::of_float(to, constant.bits as f64),
        Cast::ExtendSigned | Cast::Truncate => Constant::of_int(to, constant.as_int()),
        Cast::ExtendUnsigned => Constant { element: to, bits: constant.bits },
        Cast::FloatToSigned | Cast::FloatToUnsigned | Cast::Bits => return None,
    };
    constant_like(rewriter, folded, result)
}
