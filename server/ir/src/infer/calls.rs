//! Tuples, control flow, and ops that pass values on. Source: `hlo_verifier.cc` (`HandleTuple`, `HandleWhile`, …).

use syntax::hlo::{AttributeKey, ElementType, Opcode};

use super::given::{Called, Given, Inferred, Reason, array, ensure};
use crate::shape::Shape;

pub(super) fn tuple(given: &Given<'_>) -> Inferred {
    Ok(Shape::Tuple(given.operands.iter().map(|&shape| shape.clone()).collect()))
}

pub(super) fn get_tuple_element(given: &Given<'_>) -> Inferred {
    given.count(1)?;
    let operand = given.operand(0)?;
    let index = given.attributes.int(AttributeKey::Index).ok_or_else(|| Reason::from("expected an index"))?;
    let element = operand.element_at(&[index]);
    element.cloned().ok_or_else(|| {
        format!("expected a tuple with an element {index}, but the operand is {operand}").into()
    })
}

/// Operand 0 as it is.
pub(super) fn first(given: &Given<'_>) -> Inferred {
    Ok(given.operand(0)?.clone())
}

fn check_parameters(called: &Called, operands: &[&Shape], what: &str) -> Inferred<()> {
    let (actual, expected) = (called.parameters.len(), operands.len());
    ensure(actual == expected, || {
        format!("expected {what} to have {expected} parameters, but it has {actual}")
    })?;
    for (i, (parameter, operand)) in called.parameters.iter().zip(operands).enumerate() {
        let holds = parameter.is_compatible(operand);
        ensure(holds, || format!("expected parameter {i} of {what} to be {operand}, but it is {parameter}"))?;
    }
    Ok(())
}

/// The called computation's result; without the computation what is declared.
pub(super) fn call(opcode: Opcode, given: &Given<'_>) -> Inferred {
    let key = if opcode == Opcode::Fusion { AttributeKey::Calls } else { AttributeKey::ToApply };
    let Some(called) = given.computation(key) else { return Ok(given.declared()?.clone()) };
    check_parameters(&called, given.operands, key.name())?;
    Ok(called.result)
}

pub(super) fn while_loop(given: &Given<'_>) -> Inferred {
    given.count(1)?;
    let state = given.operand(0)?;
    if let Some(condition) = given.computation(AttributeKey::Condition) {
        check_parameters(&condition, given.operands, "the condition")?;
        let is_pred = condition.result.is_compatible(&array(ElementType::Pred, Vec::new()));
        ensure(is_pred, || {
            format!("expected the condition to return pred[], but it returns {}", condition.result)
        })?;
    }
    if let Some(body) = given.computation(AttributeKey::Body) {
        check_parameters(&body, given.operands, "the body")?;
        let holds = body.result.is_compatible(state);
        ensure(holds, || format!("expected the body to return {state}, but it returns {}", body.result))?;
    }
    Ok(state.clone())
}

/// One operand and one computation per branch, behind a scalar that decides.
pub(super) fn conditional(given: &Given<'_>) -> Inferred {
    let decision = given.array(0)?;
    let is_pred = decision.element == ElementType::Pred;
    let holds = decision.rank() == 0 && (is_pred || decision.element == ElementType::S32);
    ensure(holds, || format!("expected a decision of type pred[] or s32[], but it is {decision}"))?;
    let listed = given.attributes.computations(AttributeKey::BranchComputations);
    let named = [AttributeKey::TrueComputation, AttributeKey::FalseComputation];
    let names: Vec<&str> = match listed.is_empty() {
        true => named.iter().filter_map(|&key| given.attributes.computation(key)).collect(),
        false => listed.iter().map(String::as_str).collect(),
    };
    let (branches, operands) = (names.len(), given.operands.len());
    ensure(branches + 1 == operands, || {
        format!("expected an operand per branch, {branches}, but there are {}", operands.saturating_sub(1))
    })?;
    ensure(!is_pred || branches == 2, || {
        format!("expected two branches for a pred, but there are {branches}")
    })?;
    let mut result: Option<Shape> = None;
    for (i, name) in names.iter().enumerate() {
        let Some(called) = (given.called)(name) else { continue };
        check_parameters(&called, &given.operands[i + 1..=i + 1], &format!("branch {i}"))?;
        if let Some(expected) = &result {
            let holds = expected.is_compatible(&called.result);
            ensure(holds, || {
                format!("expected branch {i} to return {expected}, but it returns {}", called.result)
            })?;
        }
        result.get_or_insert(called.result);
    }
    match result {
        Some(result) => Ok(result),
        None => Ok(given.declared()?.clone()),
    }
}

/// The state goes on, and the bits are whatever is declared.
pub(super) fn rng_bit_generator(given: &Given<'_>) -> Inferred {
    given.count(1)?;
    let (state, declared) = (given.operand(0)?, given.declared()?);
    if let Some(elements) = declared.tuple_elements() {
        let holds = elements.len() == 2 && elements[0].is_compatible(state);
        ensure(holds, || format!("expected a tuple of {state} and the bits, but the shape is {declared}"))?;
    }
    Ok(declared.clone())
}

/// `(x, x, context)`.
pub(super) fn copy_start(given: &Given<'_>) -> Inferred {
    given.count(1)?;
    let operand = given.operand(0)?;
    Ok(Shape::Tuple([operand.clone(), operand.clone(), array(ElementType::U32, Vec::new())].into()))
}

/// Element `index` of a start's result.
pub(super) fn done(given: &Given<'_>, index: i64) -> Inferred {
    given.count(1)?;
    let start = given.operand(0)?;
    let element = start.element_at(&[index]);
    element
        .cloned()
        .ok_or_else(|| format!("expected the result of a start, but the operand is {start}").into())
}

/// `(x, u32[], token[])`, and what becomes of it.
pub(super) fn transfer(opcode: Opcode, given: &Given<'_>) -> Inferred {
    let context = array(ElementType::U32, Vec::new());
    match opcode {
        Opcode::Send => {
            given.count(2)?;
            Ok(Shape::Tuple([given.operand(0)?.clone(), context, Shape::Token].into()))
        }
        Opcode::SendDone | Opcode::Outfeed => Ok(Shape::Token),
        Opcode::RecvDone => {
            let received = done(given, 0)?;
            Ok(Shape::Tuple([received, Shape::Token].into()))
        }
        _ => {
            let holds = given.declared()?.tuple_elements().is_some_and(|e| e.last() == Some(&Shape::Token));
            ensure(holds, || {
                format!("expected a tuple that ends with a token, but the shape is {:?}", given.declared)
            })?;
            Ok(given.declared()?.clone())
        }
    }
}
