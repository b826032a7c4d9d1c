//! Rules for `multiply`, `divide` and `remainder`. Source: `HandleMultiply`, `HandleDivide`, `HandleRemainder`.

use eval::Kind;
use ir::{AttributeKey, ElementType, Opcode};

use super::rewriter::{Id, Rewriter};
use super::sums::{fold, two_constants};

pub(super) fn multiply(r: &mut Rewriter<'_, '_>, id: Id) {
    let (lhs, rhs) = (r.operand(id, 0), r.operand(id, 1));
    let is_integral = r.is_integral(id);
    for (a, b) in [(rhs, lhs), (lhs, rhs)] {
        if r.is_all(a, 1.0) && r.replace_if_same(id, b, "multiplies by one") {
            return;
        }
    }
    for zero in [lhs, rhs] {
        if is_integral && r.is_all(zero, 0.0) && r.replace_if_same(id, zero, "multiplies by zero") {
            return;
        }
    }
    let of_both =
        |r: &Rewriter<'_, '_>, opcode| Some((r.operand_of(lhs, opcode)?, r.operand_of(rhs, opcode)?));
    if let Some((a, b)) = of_both(r, Opcode::Negate) {
        r.replace_operand(id, 0, a, "multiplies two negatives");
        r.replace_operand(id, 1, b, "multiplies two negatives");
        return;
    }
    if let Some(a) = r.operand_of(lhs, Opcode::Abs).filter(|&a| lhs == rhs && !r.is_complex(a)) {
        r.replace_operand(id, 0, a, "squares an absolute value");
        r.replace_operand(id, 1, a, "squares an absolute value");
        return;
    }
    let shape = r.shape(id).clone();
    if select_by_factor(r, id, lhs, rhs) || is_integral && constants_together(r, id, lhs, rhs) {
        return;
    }
    if let Some((a, b)) = of_both(r, Opcode::Exponential) {
        let sum = r.plain(Opcode::Add, shape.clone(), &[a, b], id);
        let new = r.plain(Opcode::Exponential, shape, &[sum], id);
        r.replace(id, new, "adds the exponents");
        return;
    }
    if let Some((a, b)) = of_both(r, Opcode::Sqrt)
        && a == b
        && r.is_nonnegative(a)
    {
        r.replace(id, a, "squares a square root");
        return;
    }
    if let Some((a, b)) = of_both(r, Opcode::Rsqrt)
        && a == b
        && r.is_nonnegative(a)
    {
        let one = r.scalar_like(a, 1.0);
        let new = r.plain(Opcode::Divide, shape, &[one, a], id);
        r.replace(id, new, "squares a square root");
    }
}

/// `a * convert(pred)`.
fn select_by_factor(r: &mut Rewriter<'_, '_>, id: Id, lhs: Id, rhs: Id) -> bool {
    let of_pred = |x| r.operand_of(x, Opcode::Convert).filter(|&from| r.element(from) == ElementType::Pred);
    let found = [(lhs, rhs), (rhs, lhs)].into_iter().find_map(|(a, b)| Some((a, of_pred(b)?)));
    let Some((operand, pred)) = found else { return false };
    let shape = r.shape(id).clone();
    let scalar = r.scalar(r.element(id), 0.0, id);
    let zero = r.broadcast(shape.clone(), scalar, &[], id);
    let new = r.plain(Opcode::Select, shape, &[pred, operand, zero], id);
    r.replace(id, new, "selects the value or zero")
}

/// Brings the constants of nested products of integers together. XLA's dumps show that it leaves products of floats as they are.
fn constants_together(r: &mut Rewriter<'_, '_>, id: Id, lhs: Id, rhs: Id) -> bool {
    let shape = r.shape(id).clone();
    // The factor that is no constant, and the other one, which `is_wanted`.
    let split = |r: &Rewriter<'_, '_>, product, is_wanted: &dyn Fn(Id) -> bool| {
        let (a, b) = r.operands_of(product, Opcode::Multiply)?;
        [(a, b), (b, a)].into_iter().find(|&(x, c)| !r.is_constant(x) && is_wanted(c))
    };
    let by_constant = |r: &Rewriter<'_, '_>, product| split(r, product, &|c| r.is_constant(c));
    if let (Some((a, c1)), Some((b, c2))) = (by_constant(r, lhs), by_constant(r, rhs)) {
        let constant = fold(r, Opcode::Multiply, c1, c2, id);
        let product = r.plain(Opcode::Multiply, shape.clone(), &[a, b], id);
        let new = r.plain(Opcode::Multiply, shape, &[product, constant], id);
        return r.replace(id, new, "multiplies both constants first");
    }
    for (product, other) in [(lhs, rhs), (rhs, lhs)] {
        if let Some((a, c1)) = by_constant(r, product).filter(|_| r.is_constant(other)) {
            let constant = fold(r, Opcode::Multiply, c1, other, id);
            let new = r.plain(Opcode::Multiply, shape, &[a, constant], id);
            return r.replace(id, new, "multiplies both constants first");
        }
    }
    if scale_before_broadcast(r, id, lhs, rhs) {
        return true;
    }
    let Some((a, c1)) = r.operands_of(lhs, Opcode::Multiply) else { return false };
    let Some((c1, c2)) = two_constants(r, c1, rhs) else { return false };
    let constant = fold(r, Opcode::Multiply, c1, c2, id);
    let new = r.plain(Opcode::Multiply, shape, &[a, constant], id);
    r.replace(id, new, "multiplies both constants first")
}

/// `(a * c) * broadcast(b)`: b is smaller, so the scalar c is multiplied with it.
fn scale_before_broadcast(r: &mut Rewriter<'_, '_>, id: Id, lhs: Id, rhs: Id) -> bool {
    let constant_of = |r: &Rewriter<'_, '_>, x, through_broadcast: bool| match through_broadcast {
        true => r.operand_of(x, Opcode::Broadcast).filter(|&c| r.is_constant(c)),
        false => Some(x).filter(|&c| r.is_constant(c)),
    };
    let find = |r: &Rewriter<'_, '_>, through_broadcast| {
        [(lhs, rhs), (rhs, lhs)].into_iter().find_map(|(product, other)| {
            let (x, y) = r.operands_of(product, Opcode::Multiply)?;
            let mut orders = [(x, y), (y, x)].into_iter();
            let (a, c) = orders.find_map(|(a, c)| {
                Some((a, constant_of(r, c, through_broadcast)?)).filter(|_| !r.is_constant(a))
            })?;
            Some((a, c, other))
        })
    };
    let Some((a, constant, op)) = find(r, false).or_else(|| find(r, true)) else { return false };
    let Some(b) = r.operand_of(op, Opcode::Broadcast).filter(|&b| !r.is_constant(b)) else { return false };
    if !r.is_scalar(constant) {
        return false;
    }
    let (shape, small) = (r.shape(id).clone(), r.shape(b).clone());
    let factor = match r.is_scalar(b) {
        true => constant,
        false => r.broadcast(small.clone(), constant, &[], id),
    };
    let product = r.plain(Opcode::Multiply, small, &[b, factor], id);
    let dims = r.dimensions(op).to_vec();
    let large = r.broadcast(shape.clone(), product, &dims, id);
    let new = r.plain(Opcode::Multiply, shape, &[a, large], id);
    r.replace(id, new, "multiplies by the constant before the broadcast")
}

pub(super) fn divide(r: &mut Rewriter<'_, '_>, id: Id) {
    let (a, b) = (r.operand(id, 0), r.operand(id, 1));
    if r.is_all(b, 1.0) && r.replace_if_same(id, a, "divides by one")
        || shift(r, id, a, b)
        || by_function(r, id, a, b)
        || r.is_integral(id)
        || by_constant(r, id, a, b)
    {
        return;
    }
    let quotient = |r: &Rewriter<'_, '_>, x| r.operands_of(x, Opcode::Divide);
    let (new, rule) = match (quotient(r, a), quotient(r, b)) {
        (Some((a, b)), Some((c, d))) => {
            let (ad, bc) = (r.binary(Opcode::Multiply, a, d), r.binary(Opcode::Multiply, b, c));
            (r.binary(Opcode::Divide, ad, bc), "divides once")
        }
        (Some((a, c)), None) => {
            let bc = r.binary(Opcode::Multiply, c, b);
            (r.binary(Opcode::Divide, a, bc), "divides once")
        }
        (None, Some((b, c))) => {
            let ac = r.binary(Opcode::Multiply, a, c);
            (r.binary(Opcode::Divide, ac, b), "divides once")
        }
        (None, None) => {
            let Some(scalar) = r.operand_of(b, Opcode::Broadcast).filter(|&scalar| r.is_scalar(scalar))
            else {
                return;
            };
            let is_pred = |x| r.element(x) == ElementType::Pred;
            if !r.operand_of(a, Opcode::Convert).is_some_and(is_pred) {
                return;
            }
            let one = r.scalar_like(scalar, 1.0);
            let inverse = r.binary(Opcode::Divide, one, scalar);
            let large = r.broadcast(r.shape(id).clone(), inverse, &[], b);
            (r.binary(Opcode::Multiply, large, a), "multiplies by the inverse")
        }
    };
    r.replace(id, new, rule);
}

/// The exponent of the power of two that an integer divisor is.
fn log2_of_divisor(r: &Rewriter<'_, '_>, id: Id, divisor: Id) -> Option<u32> {
    if !r.is_integral(id) {
        return None;
    }
    let value = r.integer(r.single_constant_or_broadcast(divisor)?)?;
    let value = match r.kind(id)? {
        Kind::Signed(_) => u64::try_from(value).ok()?,
        _ => value as u64,
    };
    value.is_power_of_two().then(|| value.ilog2())
}

/// `a / 2^n` of integers. Of a negative number the shift would round down, so its absolute value is shifted.
fn shift(r: &mut Rewriter<'_, '_>, id: Id, a: Id, b: Id) -> bool {
    let Some(log2) = log2_of_divisor(r, id, b) else { return false };
    let shape = r.shape(id).clone();
    let rule = "shifts, because the divisor is a power of two";
    if !r.is_signed(id) {
        let amount = r.scalar_like(a, f64::from(log2));
        let new = r.plain(Opcode::ShiftRightLogical, shape, &[a, amount], id);
        return r.replace(id, new, rule);
    }
    let zero = r.scalar_like(a, 0.0);
    let (is_negative, absolute) = absolute(r, id, a, zero);
    let amount = r.scalar_like(absolute, f64::from(log2));
    let quotient = r.plain(Opcode::ShiftRightLogical, shape.clone(), &[absolute, amount], id);
    let negated = r.plain(Opcode::Negate, shape.clone(), &[quotient], id);
    let new = r.plain(Opcode::Select, shape, &[is_negative, negated, quotient], id);
    r.replace(id, new, rule)
}

/// Whether integers are negative, and their absolute values.
fn absolute(r: &mut Rewriter<'_, '_>, id: Id, a: Id, zero: Id) -> (Id, Id) {
    let shape = r.shape(a).clone();
    let is_negative = r.compare(a, zero, "LT", id);
    let negated = r.plain(Opcode::Negate, shape.clone(), &[a], id);
    (is_negative, r.plain(Opcode::Select, shape, &[is_negative, negated, a], id))
}

/// Divisions by an exponential, a power or a root, as products.
fn by_function(r: &mut Rewriter<'_, '_>, id: Id, a: Id, b: Id) -> bool {
    let shape = r.shape(id).clone();
    if let Some(exponent) = r.operand_of(b, Opcode::Exponential) {
        if let Some(of_a) = r.operand_of(a, Opcode::Exponential) {
            let difference = r.plain(Opcode::Subtract, shape.clone(), &[of_a, exponent], id);
            let new = r.plain(Opcode::Exponential, shape, &[difference], id);
            return r.replace(id, new, "subtracts the exponents");
        }
        let negated = r.plain(Opcode::Negate, shape.clone(), &[exponent], id);
        let inverse = r.plain(Opcode::Exponential, shape.clone(), &[negated], b);
        let new = r.plain(Opcode::Multiply, shape, &[a, inverse], id);
        return r.replace(id, new, "multiplies by the inverse");
    }
    if let Some((base, exponent)) = r.operands_of(b, Opcode::Power) {
        let negated = r.plain(Opcode::Negate, r.shape(exponent).clone(), &[exponent], b);
        let inverse = r.plain(Opcode::Power, r.shape(base).clone(), &[base, negated], b);
        let new = r.plain(Opcode::Multiply, shape, &[a, inverse], id);
        return r.replace(id, new, "multiplies by the inverse");
    }
    for (root, inverse) in [(Opcode::Sqrt, Opcode::Rsqrt), (Opcode::Rsqrt, Opcode::Sqrt)] {
        if let Some(x) = r.operand_of(b, root).filter(|_| r.has_one_use(b)) {
            let inverse = r.plain(inverse, shape.clone(), &[x], b);
            let new = r.plain(Opcode::Multiply, shape, &[a, inverse], id);
            return r.replace(id, new, "multiplies by the inverse");
        }
    }
    false
}

fn by_constant(r: &mut Rewriter<'_, '_>, id: Id, a: Id, b: Id) -> bool {
    if r.is_constant(a) {
        return false;
    }
    let constant = match r.is_constant(b) {
        true => Some(b),
        false => r.operand_of(b, Opcode::Broadcast).filter(|&c| r.is_constant(c)),
    };
    let Some(constant) = constant else { return false };
    let Some(literal) = r.inverted(constant) else { return true };
    let mut inverse = r.constant(literal, r.shape(constant).clone(), constant);
    if b != constant {
        inverse = r.copy_of(b, r.shape(b).clone(), &[inverse]);
    }
    let new = r.binary(Opcode::Multiply, a, inverse);
    r.replace(id, new, "multiplies by the inverse of the constant")
}

pub(super) fn remainder(r: &mut Rewriter<'_, '_>, id: Id) {
    let (a, b) = (r.operand(id, 0), r.operand(id, 1));
    if r.operands_of(a, Opcode::Remainder).is_some_and(|(_, divisor)| divisor == b) {
        r.replace(id, a, "is the same remainder");
        return;
    }
    if mask(r, id, a, b) {
        return;
    }
    let size_of_iota = |r: &Rewriter<'_, '_>, iota: Id| {
        let dim = r.attributes(iota).int(AttributeKey::IotaDimension)?;
        r.dims(iota).get(usize::try_from(dim).ok()?).copied().filter(|_| r.is(iota, Opcode::Iota))
    };
    let Some(divisor) = r.broadcast_single_constant(b) else { return };
    let Some(value) = r.integer(divisor) else { return };
    if let Some(size) = size_of_iota(r, a) {
        if value >= size {
            r.replace(id, a, "divides by more than the largest number");
        }
        return;
    }
    let Some((x, y)) = r.operands_of(a, Opcode::Add) else { return };
    let added = |(iota, addend)| {
        (r.broadcast_single_constant(addend) == Some(divisor)).then_some((iota, size_of_iota(r, iota)?))
    };
    let Some((iota, size)) = [(x, y), (y, x)].into_iter().find_map(added) else { return };
    let fits =
        value.checked_add(size).is_some_and(|sum| r.kind(iota).is_some_and(|kind| kind.wrap(sum) == sum));
    if fits {
        let new = r.plain(Opcode::Remainder, r.shape(id).clone(), &[iota, b], id);
        r.replace(id, new, "adds the divisor first");
    }
}

/// `a % 2^n` of integers.
fn mask(r: &mut Rewriter<'_, '_>, id: Id, a: Id, b: Id) -> bool {
    let Some(log2) = log2_of_divisor(r, id, b) else { return false };
    let shape = r.shape(id).clone();
    let rule = "masks, because the divisor is a power of two";
    let bits = ((1u64 << log2) - 1) as f64;
    if !r.is_signed(id) {
        let shape_of_b = r.shape(b).clone();
        let mask = r.number_of_shape(&shape_of_b, bits, id);
        let new = r.plain(Opcode::And, shape, &[a, mask], id);
        return r.replace(id, new, rule);
    }
    let scalar = r.scalar(r.element(a), 0.0, id);
    let zero = r.broadcast(r.shape(a).clone(), scalar, &[], id);
    let (is_negative, absolute) = absolute(r, id, a, zero);
    let amount = r.scalar_like(absolute, bits);
    let quotient = r.plain(Opcode::And, shape.clone(), &[absolute, amount], id);
    let negated = r.plain(Opcode::Negate, shape.clone(), &[quotient], id);
    let new = r.plain(Opcode::Select, shape, &[is_negative, negated, quotient], id);
    r.replace(id, new, rule)
}
