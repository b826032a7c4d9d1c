//! Rules for `maximum`, `minimum` and `clamp`. Source: `HandleMaximum`, `HandleMinimum`, `HandleClamp`.

use eval::Kind;
use ir::Opcode;

use super::rewriter::{Id, Rewriter};

/// `maximum` and `minimum`.
pub(super) fn extreme(r: &mut Rewriter<'_, '_>, id: Id) {
    let (lhs, rhs) = (r.operand(id, 0), r.operand(id, 1));
    let opcode = r.opcode(id);
    let is_maximum = opcode == Opcode::Maximum;
    if lhs == rhs {
        r.replace(id, lhs, "compares a value with itself");
        return;
    }
    if r.is_integral(id) || r.is_float(id) && r.options.minmax_propagates_nan {
        for (a, b) in [(lhs, rhs), (rhs, lhs)] {
            if r.element(b) == r.element(id) && r.is_all_extreme(a, !is_maximum) {
                r.replace(id, b, "compares with the limit of the type");
                return;
            }
        }
    }
    let rule = "compares with the same value twice";
    if r.operands_of(lhs, opcode).is_some_and(|(a, b)| a == rhs || b == rhs) {
        r.replace(id, lhs, rule);
        return;
    }
    if let Some((a, b)) = r.operands_of(rhs, opcode) {
        if a == lhs {
            r.replace(id, rhs, rule);
            return;
        }
        if b == lhs {
            r.replace_operand(id, 1, a, rule);
            return;
        }
    }
    if to_clamp(r, id, lhs, rhs, is_maximum) {
        return;
    }
    if is_maximum {
        for (limit, clamp) in [(lhs, rhs), (rhs, lhs)] {
            if r.is(clamp, Opcode::Clamp)
                && r.operands(clamp).first() == Some(&limit)
                && r.replace_if_same(id, clamp, "is above the lower limit anyway")
            {
                return;
            }
        }
        let inner = r.opcode(lhs);
        if inner == r.opcode(rhs)
            && matches!(inner, Opcode::Cbrt | Opcode::Erf | Opcode::Logistic | Opcode::Tanh)
        {
            let greatest = r.binary(Opcode::Maximum, r.operand(lhs, 0), r.operand(rhs, 0));
            let new = r.plain(inner, r.shape(id).clone(), &[greatest], id);
            r.replace(id, new, "compares the arguments of a function that grows");
        }
    }
}

/// `max(low, min(x, high))` and `min(high, max(x, low))`, of constants with low < high.
fn to_clamp(r: &mut Rewriter<'_, '_>, id: Id, lhs: Id, rhs: Id, is_maximum: bool) -> bool {
    let inner_opcode = if is_maximum { Opcode::Minimum } else { Opcode::Maximum };
    let find = |(outer, inner): (Id, Id)| {
        r.broadcast_single_constant(outer)?;
        let (a, b) = r.operands_of(inner, inner_opcode)?;
        let mut orders = [(a, b), (b, a)].into_iter();
        let (x, limit) = orders.find(|&(_, limit)| r.broadcast_single_constant(limit).is_some())?;
        Some(if is_maximum { (outer, x, limit) } else { (limit, x, outer) })
    };
    let Some((low, x, high)) = [(lhs, rhs), (rhs, lhs)].into_iter().find_map(find) else { return false };
    let number = |limit| {
        let constant = r.broadcast_single_constant(limit)?;
        match r.kind(constant)? {
            Kind::Unsigned(_) => r.integer(constant).map(|value| i128::from(value as u64)).map(Limit::Int),
            Kind::Signed(_) => r.integer(constant).map(|value| Limit::Int(value.into())),
            _ => r.number(constant).map(Limit::Real),
        }
    };
    let is_below = match (number(low), number(high)) {
        (Some(Limit::Int(low)), Some(Limit::Int(high))) => low < high,
        (Some(Limit::Real(low)), Some(Limit::Real(high))) => low < high,
        _ => false,
    };
    if !is_below {
        return false;
    }
    let new = r.plain(Opcode::Clamp, r.shape(x).clone(), &[low, x, high], id);
    r.replace(id, new, "is a clamp")
}

enum Limit {
    Int(i128),
    Real(f64),
}

pub(super) fn clamp(r: &mut Rewriter<'_, '_>, id: Id) {
    let &[low, x, high] = r.operands(id) else { return };
    if let &[inner_low, _, inner_high] = r.operands(x)
        && r.is(x, Opcode::Clamp)
        && (inner_low, inner_high) == (low, high)
    {
        r.replace_if_same(id, x, "clamps to the same limits twice");
    }
}
