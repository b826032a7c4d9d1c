//! `rng-bit-generator-expander`: calls a computation that makes the random bits, by Philox or ThreeFry.
//!
//! Source: XLA `hlo/transforms/expanders/rng_bit_generator_expander.cc`.

mod arithmetic;
mod philox;
mod three_fry;

use ir::{ElementType, ElementTypeExt as _, Shape};
use rustc_hash::FxHashMap;
use syntax::hlo::{AttributeKey, Opcode};

use self::arithmetic::Arithmetic;
use super::every::{add, every, replace};
use crate::driver::{Run, Stop};
use crate::module::{ComputationId, InstructionId, NewOp};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Algorithm {
    Philox,
    ThreeFry,
}

/// Random bits, and the state behind the key from which the next are made.
struct Bits {
    values: InstructionId,
    state: InstructionId,
}

/// The computations by shape of the bits, shape of the state and algorithm.
type Known = FxHashMap<(Shape, Shape, Algorithm), ComputationId>;

pub(super) fn run(run: &mut Run<'_>) -> Result<(), Stop> {
    let mut known = Known::default();
    let mut unsupported = None;
    every(run, |run, id| {
        if run.module[id].opcode() == Opcode::RngBitGenerator
            && !run.module[id].has_control_dependencies()
            && expand(run, id, &mut known).is_none()
        {
            unsupported.get_or_insert_with(|| run.module[id].name().to_owned());
        }
    });
    match unsupported {
        Some(name) => Err(Stop::Unsupported(format!(
            "%{name} makes random bits of a type or by an algorithm that is not implemented"
        ))),
        None => Ok(()),
    }
}

fn expand(run: &mut Run<'_>, id: InstructionId, known: &mut Known) -> Option<()> {
    let &[state] = run.module[id].operands() else { return None };
    let (result, state_shape) = (run.module[id].shape().clone(), run.module[state].shape().clone());
    let values = result.tuple_elements()?.get(1)?.clone();
    let algorithm = match run.module[id].attributes().text(AttributeKey::Algorithm)? {
        // Of the GPU.
        "rng_default" | "rng_philox" => Algorithm::Philox,
        "rng_three_fry" => Algorithm::ThreeFry,
        _ => return None,
    };
    let is_state = state_shape.element() == Some(ElementType::U64)
        && matches!((algorithm, state_shape.dims()), (_, &[2]) | (Algorithm::Philox, &[3]));
    if !is_state {
        return None;
    }
    let key = (values.clone(), state_shape.clone(), algorithm);
    let computation = match known.get(&key) {
        Some(&computation) => computation,
        None => {
            let computation = generator(run, &values, &state_shape, algorithm)?;
            known.insert(key, computation);
            computation
        }
    };
    let shape = Shape::tuple([state_shape, values]);
    let call = NewOp::new(Opcode::Call, shape, &[state]).calling(AttributeKey::ToApply, &[computation]);
    let call = add(run, id, call);
    replace(run, id, call, "expanded into arithmetic");
    Some(())
}

/// The computation from the state to the next one and the bits.
/// Source: `RngBitGeneratorExpander::GetGeneratorComputation`.
fn generator(
    run: &mut Run<'_>,
    values: &Shape,
    state_shape: &Shape,
    algorithm: Algorithm,
) -> Option<ComputationId> {
    use ElementType::{U8, U16, U32, U64};
    let element = values.element()?;
    let elements = values.as_array().filter(|array| array.dynamic.is_empty())?.elements()?;
    // The generators count in steps of up to four.
    if !matches!(element, U8 | U16 | U32 | U64) || elements < 1 || elements.checked_mul(4).is_none() {
        return None;
    }
    let computation = run.module.add_computation("rng");
    let state = run.module.add_named(computation, NewOp::parameter(state_shape.clone(), 0), "state");
    let mut at = Arithmetic { module: run.module, computation };
    let first = at.slice(state, 0, 1);
    let key = at.reshape(first, &[]);
    let bits = match algorithm {
        Algorithm::Philox => philox::bits(&mut at, key, state, values.dims(), element)?,
        Algorithm::ThreeFry => three_fry::bits(&mut at, key, state, values.dims(), element)?,
    };
    let narrow = element.bits().is_some_and(|bits| bits < 32);
    let made = if narrow { at.convert(bits.values, element) } else { bits.values };
    let key = at.reshape(key, &[1]);
    let state = at.concatenate(&[key, bits.state], 0)?;
    let tuple = at.module.add_tuple(computation, &[state, made]);
    at.module.set_root(computation, tuple);
    Some(computation)
}

#[cfg(test)]
mod tests;
