//! `dynamic-slice-annotator`: notes the offsets of slices that grow by the same number of bytes in each iteration of a loop.
//!
//! Source: XLA `backends/gpu/transforms/dynamic_slice_annotator.cc`, `dynamic_slice_analysis.cc`.

use ir::{ArrayShape, AttributeValue, ElementTypeExt as _};
use rustc_hash::FxHashMap;
use syntax::hlo::{AttributeKey, Opcode};

use super::annotations::with_field;
use super::loops::{self, Range};
use crate::driver::{Run, Stop};
use crate::module::{ComputationId, InstructionId, Module};

/// The most iterations of a loop that are compared.
const MAX_TRIPS: i64 = 1 << 16;

pub(super) fn run(run: &mut Run<'_>) -> Result<(), Stop> {
    let loops = loops_by_body(run.module);
    for computation in run.module.computation_post_order() {
        for id in run.module.instructions(computation) {
            cancel::tick();
            if !matches!(run.module[id].opcode(), Opcode::DynamicSlice | Opcode::DynamicUpdateSlice) {
                continue;
            }
            let Some((offset, stride)) = offsets(run.module, &loops, id)? else { continue };
            run.changed(id, format!("starts at byte {offset}, then {stride} further in each iteration"));
            let plain = "{\"device_type\":\"DEVICE_TYPE_INVALID\",\"force_earliest_schedule\":false,\
                         \"operation_queue_id\":\"0\",\"reification_cost\":[]}";
            let old = run.module[id].attributes().text(AttributeKey::BackendConfig).unwrap_or(plain);
            let linear = format!("{{\"byte_offset\":\"{offset}\",\"byte_stride\":\"{stride}\"}}");
            let config = format!(
                "\"dynamic_slice_config\":{{\"byte_offset\":\"0\",\"byte_stride\":\"0\",\"linear\":{linear},\
                 \"loop_index\":\"0\"}}"
            );
            let config = AttributeValue::Text(with_field(old, &config, ","));
            run.module.attributes_mut(id).set(AttributeKey::BackendConfig, config);
        }
    }
    Ok(())
}

/// The variable of the only loop that has the computation as its body, and its values.
fn loops_by_body(module: &Module) -> FxHashMap<ComputationId, Option<(i64, Range)>> {
    let mut found = FxHashMap::default();
    for computation in module.computations() {
        for id in module.instructions(computation) {
            let Some((_, body)) = loops::computations(module, id) else { continue };
            let known = loops::variable(module, id)
                .and_then(|variable| Some((variable, loops::range(module, id, variable)?)));
            found.entry(body).and_modify(|loops| *loops = None).or_insert(known);
        }
    }
    found
}

/// The first offset of a slice in bytes, and how much it grows in each iteration. `None` where it is not linear.
fn offsets(
    module: &Module,
    loops: &FxHashMap<ComputationId, Option<(i64, Range)>>,
    id: InstructionId,
) -> Result<Option<(i64, i64)>, Stop> {
    let is_slice = module[id].opcode() == Opcode::DynamicSlice;
    let operands = module[id].operands();
    let (first, part) = if is_slice { (1, id) } else { (2, operands[1]) };
    let whole = module[operands[0]].shape().as_array();
    let (Some(whole), Some(part)) = (whole, module[part].shape().as_array()) else { return Ok(None) };
    let Some(strides) = strides(whole).filter(|_| is_contiguous(whole, part)) else { return Ok(None) };
    let moving: Vec<(InstructionId, i64)> = (operands.iter().skip(first).zip(strides))
        .enumerate()
        .filter(|(dim, _)| part.dims.get(*dim) != whole.dims.get(*dim))
        .map(|(_, (&offset, stride))| (offset, stride))
        .collect();
    let unsupported = |why: &str| Err(Stop::Unsupported(format!("%{}: {why}", module[id].name())));
    if moving.iter().all(|(offset, _)| module[*offset].opcode() == Opcode::Constant) {
        return unsupported("notes on slices at constant offsets are not implemented");
    }
    let range = match loops.get(&module[id].parent()) {
        Some(Some(range)) => *range,
        Some(None) => return Ok(None),
        None if is_called(module, module[id].parent()) => {
            return unsupported("notes on slices in computations that a loop calls are not implemented");
        }
        None => return Ok(None),
    };
    let (variable, Range { init, step, trips }) = range;
    if trips > MAX_TRIPS {
        return unsupported("its loop runs too often");
    }
    let at = |iteration: i64| {
        let value = step.wrapping_mul(iteration).wrapping_add(init);
        moving.iter().try_fold(0i64, |sum, &(offset, stride)| {
            let offset = evaluate(module, offset, variable, value)?;
            Some(sum.wrapping_add(offset.wrapping_mul(stride)))
        })
    };
    let Some(start) = at(0) else { return Ok(None) };
    let stride = if trips > 1 { at(1).map_or(0, |next| next.wrapping_sub(start)) } else { 0 };
    let is_linear = (2..trips).all(|iteration| {
        cancel::tick();
        at(iteration) == Some(stride.wrapping_mul(iteration).wrapping_add(start))
    });
    Ok(is_linear.then_some((start, stride)))
}

fn is_called(module: &Module, computation: ComputationId) -> bool {
    module.callers().get(&computation).is_some_and(|callers| !callers.is_empty())
}

/// Whether the elements of a part follow each other in memory. Source: `IsContiguousSlice`.
fn is_contiguous(whole: &ArrayShape, part: &ArrayShape) -> bool {
    let mut is_cut = false;
    whole.minor_to_major().into_iter().all(|dim| {
        let (whole, part) = (whole.dims.get(dim), part.dims.get(dim));
        let is_one = !is_cut || part == Some(&1);
        is_cut |= part < whole;
        is_one
    })
}

/// How many bytes lie between neighbours, per dimension.
fn strides(array: &ArrayShape) -> Option<Vec<i64>> {
    let bits = i64::from(array.element.bits()?).max(8);
    let mut strides = vec![0; array.rank()];
    let mut next = bits / 8;
    for dim in array.minor_to_major() {
        *strides.get_mut(dim)? = next;
        next = next.checked_mul(*array.dims.get(dim)?)?;
    }
    (bits % 8 == 0).then_some(strides)
}

/// An offset where the loop's variable has this value; `None` where it depends on something else.
fn evaluate(module: &Module, id: InstructionId, variable: i64, value: i64) -> Option<i64> {
    if let Some(index) = loops::index_of(module, id) {
        return (index == variable).then_some(value);
    }
    if let Some(constant) = loops::integer(module, id) {
        return Some(constant);
    }
    let kind = eval::Kind::of(module[id].shape().element()?)?;
    let operand = |at: usize| {
        let operand = *module[id].operands().get(at)?;
        recursion::grow(|| evaluate(module, operand, variable, value))
    };
    let result = match module[id].opcode() {
        Opcode::Add => operand(0)?.wrapping_add(operand(1)?),
        Opcode::Subtract => operand(0)?.wrapping_sub(operand(1)?),
        Opcode::Multiply => operand(0)?.wrapping_mul(operand(1)?),
        Opcode::Negate => operand(0)?.wrapping_neg(),
        Opcode::Maximum => operand(0)?.max(operand(1)?),
        Opcode::Minimum => operand(0)?.min(operand(1)?),
        Opcode::Clamp => operand(1)?.max(operand(0)?).min(operand(2)?),
        Opcode::Convert | Opcode::Copy | Opcode::Bitcast | Opcode::Reshape => operand(0)?,
        Opcode::Select => operand(if operand(0)? != 0 { 1 } else { 2 })?,
        Opcode::Compare => {
            let direction = module[id].attributes().text(AttributeKey::Direction)?;
            i64::from(eval::holds(direction, &operand(0)?, &operand(1)?).ok()?)
        }
        _ => return None,
    };
    kind.is_integral().then(|| kind.wrap(result))
}
