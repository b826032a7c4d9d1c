//! Tuples, control flow, and ops that pass values on. Source: `hlo_verifier.cc` (`HandleTuple`, `HandleWhile`, …).

use syntax::hlo::{AttributeKey, ElementType, Opcode};

use super::given::{Called, Given, Inferred, array, ensure};
use super::problem::{
    COUNT, Problem, SHAPE, callee, callee_parameter, callee_root, operand, operand_type, value,
};
use crate::attributes::Callee;
use crate::shape::Shape;

pub(crate) fn tuple(given: &Given<'_>) -> Inferred {
    Ok(Shape::Tuple(given.operands.iter().map(|&shape| shape.clone()).collect()))
}

pub(crate) fn get_tuple_element(given: &Given<'_>) -> Inferred {
    given.count(1)?;
    let tuple = given.operand(0)?;
    let index = given.attributes.int(AttributeKey::Index);
    let index = index.ok_or_else(|| Problem::at(value(AttributeKey::Index), "expected an index"))?;
    let at = if tuple.tuple_elements().is_some() { value(AttributeKey::Index) } else { operand(0) };
    tuple.element_at(&[index]).cloned().ok_or_else(|| {
        Problem::at(at, format!("expected a tuple with an element {index}, but the operand is {tuple}"))
    })
}

/// Operand 0, after a token.
pub(crate) fn add_dependency(given: &Given<'_>) -> Inferred {
    let token = given.operand(1)?;
    ensure(*token == Shape::Token, operand(1), || {
        format!("expected operand 1 to be a token, but it is {token}")
    })?;
    first(given)
}

/// Operand 0 as it is.
pub(crate) fn first(given: &Given<'_>) -> Inferred {
    Ok(given.operand(0)?.clone())
}

/// Holds parameters against operands; `first` is the operand of parameter 0.
fn check_parameters(
    given: &Given<'_>,
    called: &Called,
    first: usize,
    count: usize,
    (key, n): (AttributeKey, usize),
    what: &str,
) -> Inferred<()> {
    let actual = called.parameters.len();
    ensure(actual == count, callee(key, n), || {
        format!("expected {what} to have {count} parameters, but it has {actual}")
    })?;
    for (i, parameter) in called.parameters.iter().enumerate() {
        let passed = given.operand(first + i)?;
        let mut at = callee_parameter(key, n, i);
        // The finding is at the one operand that does not fit its parameter.
        if count > 1 || first > 0 {
            at = at.on(operand(first + i));
        }
        ensure(parameter.is_compatible(passed), at, || {
            format!(
                "expected operand {} to be {parameter}, parameter {i} of {what}, but it is {passed}",
                first + i
            )
        })?;
    }
    Ok(())
}

/// The called computation's result; without the computation what is declared.
pub(crate) fn call(opcode: Opcode, given: &Given<'_>) -> Inferred {
    let is_fusion = opcode == Opcode::Fusion;
    let key = if is_fusion { AttributeKey::Calls } else { AttributeKey::ToApply };
    let Some(called) = given.computation(key) else { return Ok(given.declared()?.clone()) };
    // A fusion may ignore operands after its parameters.
    let operands = given.operands.len();
    let count = if is_fusion { called.parameters.len().min(operands) } else { operands };
    // A computation that returns something else, too, is the stranger itself.
    let is_other = given.declared.is_some_and(|declared| !called.result.is_compatible(declared));
    for (i, parameter) in called.parameters.iter().take(count).enumerate() {
        let place = callee_parameter(key, 0, i);
        let at = if is_other { place } else { place.on(operand(i)) };
        let passed = given.operand(i)?;
        ensure(parameter.is_compatible(passed), at, || {
            format!("expected operand {i} to be {parameter}, parameter {i} of {key}, but it is {passed}")
        })?;
    }
    let actual = called.parameters.len();
    ensure(actual == count, callee(key, 0), || {
        format!("expected {key} to have {operands} parameters, but it has {actual}")
    })?;
    Ok(called.result.clone())
}

pub(crate) fn while_loop(given: &Given<'_>) -> Inferred {
    use AttributeKey::{Body, Condition};
    given.count(1)?;
    let state = given.operand(0)?;
    let body = given.computation(Body);
    // A body that goes round on another state than what comes in: the operand is the stranger.
    if let Some(body) = &body
        && let [parameter] = body.parameters.as_slice()
        && body.result.is_compatible(parameter)
        && !parameter.is_compatible(state)
    {
        return Err(Problem::at(
            callee_parameter(Body, 0, 0).on(operand(0)),
            format!("expected operand 0 to be {parameter}, the parameter of the body, but it is {state}"),
        ));
    }
    if let Some(condition) = given.computation(Condition) {
        check_parameters(given, &condition, 0, 1, (Condition, 0), "the condition")?;
        let is_pred = condition.result.is_compatible(&array(ElementType::Pred, Vec::new()));
        ensure(is_pred, callee_root(Condition, 0), || {
            format!("expected the condition to return pred[], but it returns {}", condition.result)
        })?;
    }
    if let Some(body) = body {
        check_parameters(given, &body, 0, 1, (Body, 0), "the body")?;
        ensure(body.result.is_compatible(state), callee_root(Body, 0), || {
            format!("expected the body to return {state}, but it returns {}", body.result)
        })?;
    }
    Ok(state.clone())
}

/// One operand and one computation per branch, after a scalar that decides.
pub(crate) fn conditional(given: &Given<'_>) -> Inferred {
    use AttributeKey::{BranchComputations, FalseComputation, TrueComputation};
    let decision = given.array(0)?;
    let is_pred = decision.element == ElementType::Pred;
    let at = if decision.rank() == 0 { operand_type(0) } else { operand(0) };
    let holds = decision.rank() == 0 && (is_pred || decision.element == ElementType::S32);
    ensure(holds, at, || format!("expected a decision of type pred[] or s32[], but it is {decision}"))?;
    let listed = given.attributes.computations(BranchComputations);
    let mut branches: Vec<(Callee<'_>, (AttributeKey, usize))> =
        listed.iter().enumerate().map(|(i, name)| (Callee::Name(name), (BranchComputations, i))).collect();
    if branches.is_empty() {
        let named = [TrueComputation, FalseComputation].into_iter();
        branches.extend(named.filter_map(|key| Some((given.attributes.computation(key)?, (key, 0)))));
        ensure(is_pred || branches.is_empty(), operand_type(0), || {
            format!("expected a decision of type pred[] between true and false, but it is {decision}")
        })?;
    }
    let (count, operands) = (branches.len(), given.operands.len());
    ensure(count + 1 == operands, COUNT, || {
        format!("expected an operand per branch, {count}, but there are {}", operands.saturating_sub(1))
    })?;
    ensure(!is_pred || count == 2, value(BranchComputations), || {
        format!("expected two branches for a pred, but there are {count}")
    })?;
    let mut result: Option<Shape> = None;
    for (i, &(name, place)) in branches.iter().enumerate() {
        let Some(called) = (given.called)(name) else { continue };
        check_parameters(given, &called, i + 1, 1, place, &format!("branch {i}"))?;
        let expected = result.as_ref().or(given.declared.filter(|_| count > 1 && i > 0));
        if let Some(expected) = expected {
            ensure(expected.is_compatible(&called.result), callee_root(place.0, place.1), || {
                format!("expected branch {i} to return {expected}, but it returns {}", called.result)
            })?;
        }
        result.get_or_insert(called.result.clone());
    }
    match result {
        Some(result) => Ok(result),
        None => Ok(given.declared()?.clone()),
    }
}

/// The state goes on, and the bits are whatever is declared.
pub(crate) fn rng_bit_generator(given: &Given<'_>) -> Inferred {
    given.count(1)?;
    let (state, declared) = (given.operand(0)?, given.declared()?);
    if let Some(elements) = declared.tuple_elements() {
        let holds = elements.len() == 2 && elements[0].is_compatible(state);
        ensure(holds, SHAPE, || {
            format!("expected a tuple of {state} and the bits, but the shape is {declared}")
        })?;
    }
    Ok(declared.clone())
}

/// `(x, x, context)`.
pub(crate) fn copy_start(given: &Given<'_>) -> Inferred {
    given.count(1)?;
    let operand = given.operand(0)?;
    Ok(Shape::Tuple([operand.clone(), operand.clone(), array(ElementType::U32, Vec::new())].into()))
}

/// Element `index` of a start's result.
pub(crate) fn done(given: &Given<'_>, index: i64) -> Inferred {
    given.count(1)?;
    let start = given.operand(0)?;
    start.element_at(&[index]).cloned().ok_or_else(|| {
        Problem::at(operand(0), format!("expected the result of a start, but the operand is {start}"))
    })
}

/// `(data, u32[], token[])`
pub(crate) fn send(given: &Given<'_>) -> Inferred {
    given.count(2)?;
    Ok(in_flight(given.operand(0)?.clone()))
}

/// `(data, u32[], token[])`
pub(crate) fn recv(given: &Given<'_>) -> Inferred {
    token(given, 0)?;
    Ok(in_flight(transferred(given)?))
}

/// `(data, token[])`, of what was received.
pub(crate) fn recv_done(given: &Given<'_>) -> Inferred {
    Ok(with_token(done(given, 0)?))
}

/// `(data, token[])`
pub(crate) fn infeed(given: &Given<'_>) -> Inferred {
    token(given, 0)?;
    Ok(with_token(transferred(given)?))
}

pub(crate) fn outfeed(given: &Given<'_>) -> Inferred {
    token(given, 1)?;
    Ok(Shape::Token)
}

fn in_flight(data: Shape) -> Shape {
    Shape::Tuple([data, array(ElementType::U32, Vec::new()), Shape::Token].into())
}

fn with_token(data: Shape) -> Shape {
    Shape::Tuple([data, Shape::Token].into())
}

/// The data of `(data, …)` as it is declared.
fn transferred(given: &Given<'_>) -> Inferred {
    let declared = given.declared()?;
    declared.element_at(&[0]).cloned().ok_or_else(|| {
        Problem::at(SHAPE, format!("expected a tuple of the data and a token, but the shape is {declared}"))
    })
}

fn token(given: &Given<'_>, i: usize) -> Inferred<()> {
    let shape = given.operand(i)?;
    ensure(*shape == Shape::Token, operand(i), || {
        format!("expected operand {i} to be a token, but it is {shape}")
    })
}
