//! Rules for `and`, `or`, `xor`, `compare` and `select`. Source: `HandleAnd`, `HandleOr`, `HandleXor`, `HandleCompare`,
//! `HandleSelect`.

use ir::{AttributeKey, Attributes, ElementType, Opcode};

use super::rewriter::{Id, Rewriter};

fn is_pred(r: &Rewriter<'_, '_>, id: Id) -> bool {
    r.element(id) == ElementType::Pred
}

pub(super) fn and(r: &mut Rewriter<'_, '_>, id: Id) {
    let (lhs, rhs) = (r.operand(id, 0), r.operand(id, 1));
    let pairs = [(rhs, lhs), (lhs, rhs)];
    if is_pred(r, lhs) {
        for (a, b) in pairs {
            if r.is_all(a, 1.0) && r.replace_if_same(id, b, "is joined with true") {
                return;
            }
        }
    }
    for (a, _) in pairs {
        if r.is_all(a, 0.0) && r.replace_if_same(id, a, "is joined with zero") {
            return;
        }
    }
    // x < c1 and x < c2.
    let bound = |r: &Rewriter<'_, '_>, compare: Id| {
        let (a, b) = r.operands_of(compare, Opcode::Compare)?;
        let (value, constant) = match r.attributes(compare).text(AttributeKey::Direction)? {
            "LT" => (a, b),
            "GT" => (b, a),
            _ => return None,
        };
        let is_bound = r.is_single_constant(constant) && r.element(constant) == ElementType::S32;
        Some((value, r.integer(constant).filter(|_| is_bound)?))
    };
    if let (Some((a, low)), Some((b, high))) = (bound(r, lhs), bound(r, rhs))
        && a == b
    {
        let limit = r.scalar_like(a, low.min(high) as f64);
        let new = r.compare(a, limit, "LT", lhs);
        r.replace(id, new, "compares with the smaller bound");
    }
}

pub(super) fn or(r: &mut Rewriter<'_, '_>, id: Id) {
    let (lhs, rhs) = (r.operand(id, 0), r.operand(id, 1));
    if is_pred(r, lhs) {
        for a in [rhs, lhs] {
            if r.is_all(a, 1.0) && r.replace_if_same(id, a, "is joined with true") {
                return;
            }
        }
    }
    for (a, b) in [(rhs, lhs), (lhs, rhs)] {
        if r.is_all(a, 0.0) && r.replace_if_same(id, b, "is joined with zero") {
            return;
        }
    }
}

pub(super) fn xor(r: &mut Rewriter<'_, '_>, id: Id) {
    let (lhs, rhs) = (r.operand(id, 0), r.operand(id, 1));
    let is_same = lhs == rhs
        || r.opcode(lhs) == r.opcode(rhs)
            && !ir::op_info(r.opcode(lhs)).has_side_effect
            && !matches!(r.opcode(lhs), Opcode::Parameter | Opcode::Rng | Opcode::CustomCall)
            && r.operands(lhs) == r.operands(rhs)
            && r.shape(lhs) == r.shape(rhs)
            && r.attributes(lhs) == r.attributes(rhs)
            && r.literal(lhs) == r.literal(rhs);
    if is_same {
        let zero = r.scalar_like(id, 0.0);
        r.replace(id, zero, "is joined with itself");
        return;
    }
    for (a, b) in [(rhs, lhs), (lhs, rhs)] {
        if r.is_all(a, 0.0) && r.replace_if_same(id, b, "is joined with zero") {
            return;
        }
    }
}

pub(super) fn compare(r: &mut Rewriter<'_, '_>, id: Id) {
    let (lhs, rhs) = (r.operand(id, 0), r.operand(id, 1));
    let Some(direction) = r.attributes(id).text(AttributeKey::Direction).map(str::to_owned) else { return };
    let direction = direction.as_str();
    if let Some(result) = known_comparison(r, direction, lhs, rhs) {
        let constant = r.scalar_like(id, f64::from(u8::from(result)));
        r.replace(id, constant, if result { "is always true" } else { "is always false" });
        return;
    }
    if is_pred(r, lhs) && is_pred(r, rhs) {
        let same = match direction {
            "NE" => 0.0,
            "EQ" => 1.0,
            _ => f64::NAN,
        };
        for (a, b) in [(rhs, lhs), (lhs, rhs)] {
            if r.is_all(a, same) {
                r.replace(id, b, "compares a truth value with a constant");
                return;
            }
        }
    }
    if direction == "NE"
        && r.is_all(rhs, 0.0)
        && let &[pred, on_true, on_false] = r.operands(lhs)
        && r.is(lhs, Opcode::Select)
        && r.is(pred, Opcode::Compare)
        && r.attributes(pred).text(AttributeKey::Direction) == Some("GE")
        && r.is_all(on_true, 1.0)
        && r.is_all(on_false, 0.0)
        && r.is_same_shape(r.shape(id), r.shape(pred))
    {
        r.replace(id, pred, "tests a converted truth value");
        return;
    }
    if direction != "GT" {
        return;
    }
    let rule = "compares with the other number alone";
    if let Some((a, b)) = r.operands_of(lhs, Opcode::Maximum) {
        if rhs == a || rhs == b {
            r.replace_operand(id, 0, if rhs == a { b } else { a }, rule);
        }
    } else if let Some((a, b)) = r.operands_of(rhs, Opcode::Minimum)
        && (lhs == a || lhs == b)
    {
        r.replace_operand(id, 1, if lhs == a { b } else { a }, rule);
    }
}

/// The result of a comparison that is the same for all values.
fn known_comparison(r: &Rewriter<'_, '_>, direction: &str, lhs: Id, rhs: Id) -> Option<bool> {
    let is_unsigned = matches!(r.kind(lhs), Some(eval::Kind::Unsigned(_) | eval::Kind::Pred));
    let is_not_below = |value, zero| r.is_all(zero, 0.0) && (is_unsigned || r.is_nonnegative(value));
    match direction {
        "LT" if is_not_below(lhs, rhs) => return Some(false),
        "GT" if is_not_below(rhs, lhs) => return Some(false),
        "GE" if is_not_below(lhs, rhs) => return Some(true),
        "LE" if is_not_below(rhs, lhs) => return Some(true),
        _ => {}
    }
    match direction {
        "GT" | "LT" | "NE" if lhs == rhs && r.is_integral(lhs) => Some(false),
        "EQ" | "GE" | "LE" if lhs == rhs && r.is_integral(lhs) => Some(true),
        _ => None,
    }
}

pub(super) fn select(r: &mut Rewriter<'_, '_>, id: Id) {
    let &[pred, on_true, on_false] = r.operands(id) else { return };
    if on_true == on_false && r.replace_if_same(id, on_true, "selects between equal values")
        || r.is_all(pred, 1.0) && r.replace_if_same(id, on_true, "always selects the same value")
        || r.is_all(pred, 0.0) && r.replace_if_same(id, on_false, "always selects the same value")
    {
        return;
    }
    let shape = r.shape(id).clone();
    if let Some(inner) = r.operand_of(pred, Opcode::Not) {
        let new = r.plain(Opcode::Select, shape, &[inner, on_false, on_true], id);
        r.replace(id, new, "selects by the opposite");
        return;
    }
    if is_pred(r, id) && select_truth(r, id, pred, on_true, on_false) {
        return;
    }
    update_selected(r, id, pred, on_true, on_false);
}

/// `select(a, true, false)`, and selections by a comparison of the values themselves.
fn select_truth(r: &mut Rewriter<'_, '_>, id: Id, pred: Id, on_true: Id, on_false: Id) -> bool {
    let shape = r.shape(id).clone();
    let rule = "selects truth values";
    if r.is_all(on_true, 1.0) && r.is_all(on_false, 0.0) {
        return r.replace(id, pred, rule);
    }
    if r.is_all(on_true, 0.0) && r.is_all(on_false, 1.0) {
        let new = r.plain(Opcode::Not, r.shape(pred).clone(), &[pred], id);
        return r.replace(id, new, rule);
    }
    if r.operands_of(pred, Opcode::Compare) != Some((on_true, on_false)) {
        return false;
    }
    let new = match r.attributes(pred).text(AttributeKey::Direction) {
        Some("GT" | "GE") => r.plain(Opcode::Or, shape, &[on_true, on_false], id),
        Some("LT" | "LE") => r.plain(Opcode::And, shape, &[on_true, on_false], id),
        Some("EQ") => on_false,
        Some("NE") => on_true,
        _ => return false,
    };
    r.replace(id, new, rule)
}

/// `select(p, xs, update(xs, x, i))`: selects what is written.
fn update_selected(r: &mut Rewriter<'_, '_>, id: Id, pred: Id, on_true: Id, on_false: Id) -> bool {
    let updates = |r: &Rewriter<'_, '_>, update: Id, other: Id| {
        r.is(update, Opcode::DynamicUpdateSlice) && r.has_one_use(update) && r.operand(update, 0) == other
    };
    let (update, xs) = match (updates(r, on_false, on_true), updates(r, on_true, on_false)) {
        (true, _) => (on_false, on_true),
        (_, true) => (on_true, on_false),
        _ => return false,
    };
    let (x, starts) = (r.operand(update, 1), r.operands(update)[2..].to_vec());
    let part = r.shape(x).clone();
    let sizes = Attributes::default().with(AttributeKey::DynamicSliceSizes, part.dims().to_vec());
    let slice = |r: &mut Rewriter<'_, '_>, whole: Id, shape| {
        let operands: Vec<_> = [whole].into_iter().chain(starts.iter().copied()).collect();
        r.make(Opcode::DynamicSlice, shape, &operands, sizes.clone(), id)
    };
    let pred = match r.is_scalar(pred) {
        true => pred,
        false => slice(r, pred, crate::dimensions::with_element(&part, r.element(pred))),
    };
    let old = slice(r, xs, part.clone());
    let (a, b) = if update == on_false { (old, x) } else { (x, old) };
    let selected = r.plain(Opcode::Select, part, &[pred, a, b], id);
    let operands: Vec<_> = [xs, selected].into_iter().chain(starts.iter().copied()).collect();
    let new = r.plain(Opcode::DynamicUpdateSlice, r.shape(id).clone(), &operands, id);
    r.replace(id, new, "selects only what is written")
}
