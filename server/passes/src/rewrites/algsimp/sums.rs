//! Rules for `add`, `subtract` and `negate`. Source: `HandleAdd`, `HandleSubtract`, `HandleNegate`.

use ir::{AttributeKey, Opcode};

use super::rewriter::{Id, Rewriter};

pub(super) fn add(r: &mut Rewriter<'_, '_>, id: Id) {
    let (lhs, rhs) = (r.operand(id, 0), r.operand(id, 1));
    if r.is_all(rhs, 0.0) && r.replace_if_same(id, lhs, "adds zero")
        || r.is_all(lhs, 0.0) && r.replace_if_same(id, rhs, "adds zero")
    {
        return;
    }
    let shape = r.shape(id).clone();
    if r.is_constant(lhs) && !r.is_constant(rhs) {
        let swapped = r.plain(Opcode::Add, shape, &[rhs, lhs], id);
        r.replace(id, swapped, "puts the constant last");
        return;
    }
    if reassociate(r, id, lhs, rhs)
        || cancel(r, id, lhs, rhs)
        || update_slice(r, id)
        || factor(r, id, lhs, rhs)
    {
        return;
    }
    if !r.options.is_layout_sensitive {
        add_to_scatter(r, id, lhs, rhs);
    }
}

/// Two constants, as they are or broadcast from scalars.
pub(super) fn two_constants(r: &Rewriter<'_, '_>, a: Id, b: Id) -> Option<(Id, Id)> {
    if r.is_constant(a) && r.is_constant(b) {
        return Some((a, b));
    }
    Some((r.broadcast_scalar_constant(a)?, r.broadcast_scalar_constant(b)?))
}

/// An operation on two constants, broadcast to the shape of `id` where they are scalars and it is none.
pub(super) fn fold(r: &mut Rewriter<'_, '_>, opcode: Opcode, a: Id, b: Id, id: Id) -> Id {
    let folded = r.binary(opcode, a, b);
    match r.is_scalar(folded) && !r.is_scalar(id) {
        true => r.broadcast(r.shape(id).clone(), folded, &[], id),
        false => folded,
    }
}

/// `(a + c1) + c2` and `(c1 - a) + c2`, of integers.
fn reassociate(r: &mut Rewriter<'_, '_>, id: Id, lhs: Id, rhs: Id) -> bool {
    if !r.is_integral(id) {
        return false;
    }
    let shape = r.shape(id).clone();
    if let Some((a, c1)) = r.operands_of(lhs, Opcode::Add)
        && !r.is_constant(a)
        && let Some((c1, c2)) = two_constants(r, c1, rhs)
    {
        let sum = fold(r, Opcode::Add, c1, c2, id);
        let new = r.plain(Opcode::Add, shape, &[a, sum], id);
        return r.replace(id, new, "adds both constants first");
    }
    if let Some((c1, a)) = r.operands_of(lhs, Opcode::Subtract)
        && !r.is_constant(a)
        && let Some((c1, c2)) = two_constants(r, c1, rhs)
    {
        let sum = fold(r, Opcode::Add, c1, c2, id);
        let new = r.plain(Opcode::Subtract, shape, &[sum, a], id);
        return r.replace(id, new, "adds both constants first");
    }
    false
}

/// `a + (b - a)`.
fn cancel(r: &mut Rewriter<'_, '_>, id: Id, lhs: Id, rhs: Id) -> bool {
    let difference = [(lhs, rhs), (rhs, lhs)]
        .into_iter()
        .find_map(|(x, minus)| Some((x, r.operands_of(minus, Opcode::Subtract)?)));
    let Some((x, (y, x2))) = difference else { return false };
    x == x2 && r.is_integral(id) && r.replace_if_same(id, y, "adds what was subtracted")
}

/// `a + update(0, part)`: only the part is added.
fn update_slice(r: &mut Rewriter<'_, '_>, id: Id) -> bool {
    let (a, b) = (r.operand(id, 0), r.operand(id, 1));
    let is_update = |update: Id| {
        r.is(update, Opcode::DynamicUpdateSlice)
            && r.broadcast_single_constant(r.operand(update, 0)).is_some()
            && r.is_all(r.operand(update, 0), 0.0)
    };
    let Some((whole, update)) = [(a, b), (b, a)].into_iter().find(|&(_, update)| is_update(update)) else {
        return false;
    };
    let (part, starts) = (r.operand(update, 1), r.operands(update)[2..].to_vec());
    let part_shape = r.shape(part).clone();
    let sizes = ir::Attributes::default().with(AttributeKey::DynamicSliceSizes, part_shape.dims().to_vec());
    let operands: Vec<_> = [whole].into_iter().chain(starts.iter().copied()).collect();
    let old = r.make(Opcode::DynamicSlice, part_shape.clone(), &operands, sizes, whole);
    let sum = r.plain(Opcode::Add, part_shape, &[old, part], update);
    let operands: Vec<_> = [whole, sum].into_iter().chain(starts).collect();
    let new = r.plain(Opcode::DynamicUpdateSlice, r.shape(whole).clone(), &operands, id);
    r.replace(id, new, "adds only the part that is not zero")
}

/// `a * c + b * c`: for integers, and where c is a power of two.
fn factor(r: &mut Rewriter<'_, '_>, id: Id, lhs: Id, rhs: Id) -> bool {
    let (Some(of_lhs), Some(of_rhs)) =
        (r.operands_of(lhs, Opcode::Multiply), r.operands_of(rhs, Opcode::Multiply))
    else {
        return false;
    };
    let other = |(x, y): (Id, Id), c: Id| match (x == c, y == c) {
        (true, _) => Some(y),
        (_, true) => Some(x),
        _ => None,
    };
    let found = [(of_lhs.0, of_lhs.1), (of_lhs.1, of_lhs.0)]
        .into_iter()
        .find_map(|(a, c)| Some((a, other(of_rhs, c)?, c)));
    let Some((a, b, c)) = found else { return false };
    if !(r.has_one_user(lhs) && r.has_one_user(rhs) && (r.is_integral(id) || r.is_power_of_two_constant(c))) {
        return false;
    }
    let shape = r.shape(id).clone();
    let sum = r.plain(Opcode::Add, shape.clone(), &[a, b], lhs);
    let new = r.plain(Opcode::Multiply, shape, &[sum, c], id);
    r.replace(id, new, "multiplies the sum by the common factor")
}

/// Adds what is added to a scatter to its operand. Two scatters are left alone.
fn add_to_scatter(r: &mut Rewriter<'_, '_>, id: Id, lhs: Id, rhs: Id) -> bool {
    let is_scatter = |scatter: Id| {
        r.is(scatter, Opcode::Scatter)
            && r.operands(scatter).len() == 3
            && r.has_one_use(scatter)
            && r.combiner(scatter) == Some(Opcode::Add)
    };
    let (scatter, other) = match (is_scatter(lhs), is_scatter(rhs)) {
        (true, false) => (lhs, rhs),
        (false, true) => (rhs, lhs),
        _ => return false,
    };
    let operand = r.operand(scatter, 0);
    let sum = match scatter == lhs {
        true => r.binary(Opcode::Add, operand, other),
        false => r.binary(Opcode::Add, other, operand),
    };
    let rule = "adds to the operand of the scatter";
    r.replace_operand(scatter, 0, sum, rule);
    r.replace(id, scatter, rule)
}

pub(super) fn subtract(r: &mut Rewriter<'_, '_>, id: Id) {
    let (lhs, rhs) = (r.operand(id, 0), r.operand(id, 1));
    let is_integral = r.is_integral(id);
    if is_integral && lhs == rhs {
        let zero = r.scalar_like(id, 0.0);
        r.replace(id, zero, "subtracts a value from itself");
        return;
    }
    if r.is_all(rhs, 0.0) && r.replace_if_same(id, lhs, "subtracts zero") {
        return;
    }
    let shape = r.shape(id).clone();
    let constant = match r.is_constant(rhs) {
        true => Some(rhs),
        false => r.operand_of(rhs, Opcode::Broadcast).filter(|&operand| r.is_constant(operand)),
    };
    if let Some(constant) = constant.filter(|_| !r.is_constant(lhs)) {
        let mut negative = r.plain(Opcode::Negate, r.shape(constant).clone(), &[constant], constant);
        if r.is(rhs, Opcode::Broadcast) {
            negative = r.copy_of(rhs, r.shape(rhs).clone(), &[negative]);
        }
        let new = r.plain(Opcode::Add, shape, &[lhs, negative], id);
        r.replace(id, new, "adds the negative of the constant");
        return;
    }
    if !is_integral {
        return;
    }
    if let Some((a, b)) = r.operands_of(rhs, Opcode::Subtract)
        && a == lhs
        && r.replace_if_same(id, b, "subtracts the rest")
    {
        return;
    }
    if let Some((a, b)) = r.operands_of(rhs, Opcode::Add)
        && (a == lhs || b == lhs)
    {
        let other = if a == lhs { b } else { a };
        let new = r.plain(Opcode::Negate, shape, &[other], id);
        r.replace(id, new, "subtracts a value from itself");
        return;
    }
    if let Some((a, b)) = r.operands_of(lhs, Opcode::Add)
        && (a == rhs || b == rhs)
    {
        r.replace_if_same(id, if b == rhs { a } else { b }, "subtracts what was added");
    }
}

pub(super) fn negate(r: &mut Rewriter<'_, '_>, id: Id) {
    let operand = r.operand(id, 0);
    if let Some(inner) = r.operand_of(operand, r.opcode(id)) {
        r.replace_if_same(id, inner, "is done twice");
    }
}
