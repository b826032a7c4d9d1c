//! `topk-rewriter`: recognises sorts of which only the first elements are used.
//!
//! Source: XLA `service/topk_rewriter.cc`, `TopkRewriter`.

use ir::{AttributeValue, ElementType, Shape};
use syntax::hlo::{AttributeKey, Opcode};

use super::every::add;
use crate::driver::{Run, Stop};
use crate::module::{ComputationId, InstructionId, Module, NewOp};

pub(super) fn run(run: &mut Run<'_>) -> Result<(), Stop> {
    for computation in run.module.computations() {
        for id in run.module.post_order(computation) {
            cancel::tick();
            if let Some(count) = first_elements(run.module, id) {
                rewrite(run, id, count)?;
            }
        }
    }
    Ok(())
}

/// How many of the first elements of a sort are used, if others are not.
fn first_elements(module: &Module, id: InstructionId) -> Option<i64> {
    let sort = &module[id];
    if sort.opcode() != Opcode::Sort || !matches!(sort.operands().len(), 1 | 2) {
        return None;
    }
    let data = &module[sort.operands()[0]];
    let dim = *sort.dimensions().first()?;
    let has_places = sort.operands().len() == 1 || are_places(module, sort.operands()[1], data.dims(), dim);
    let is_supported = matches!(data.shape().element(), Some(ElementType::F32 | ElementType::Bf16))
        && (dim == 0 || dim == data.dims().len() as i64 - 1);
    if !has_places || !is_supported || is_greater(module, sort.callee(AttributeKey::ToApply)?).is_none() {
        return None;
    }
    let mut count = None;
    for &user in sort.users() {
        let slice = match sort.operands().len() {
            1 => user,
            _ => *(module[user].users().first()).filter(|_| {
                module[user].opcode() == Opcode::GetTupleElement && module[user].users().len() == 1
            })?,
        };
        let slices = module[slice].attributes().triples(AttributeKey::Slice);
        if module[slice].opcode() != Opcode::Slice {
            return None;
        }
        for ((of, &[start, limit, stride]), &size) in (0..).zip(slices).zip(data.dims()) {
            if stride != 1 || of != dim && (start != 0 || limit != size) {
                return None;
            }
        }
        let limit = slices.get(dim as usize)?[1];
        if count.is_some_and(|count| count != limit) {
            return None;
        }
        count = Some(limit);
    }
    count
}

/// Whether a value has the places of all elements along a dimension. Source: `HasIota`.
fn are_places(module: &Module, id: InstructionId, dims: &[i64], dim: i64) -> bool {
    let is_iota = |id: InstructionId, dims: &[i64]| {
        module[id].opcode() == Opcode::Iota
            && module[id].shape().element() == Some(ElementType::S32)
            && module[id].dims() == dims
    };
    is_iota(id, dims)
        || module[id].opcode() == Opcode::Broadcast
            && dims.get(dim as usize).is_some_and(|&size| is_iota(module.operand(id, 0), &[size]))
}

/// How a comparator orders numbers, `TOTAL` or `PARTIAL`, if it finds the greater of the first two parameters. XLA knows
/// expanded total orders as well, which no pass makes before this one.
/// Source: `IsNanSafeGt`.
fn is_greater(module: &Module, comparator: ComputationId) -> Option<&'static str> {
    let root = &module[module.root(comparator)];
    let number = |at: usize| root.operands().get(at).and_then(|&id| module[id].parameter_number());
    let is_compare = root.opcode() == Opcode::Compare
        && root.attributes().text(AttributeKey::Direction) == Some("GT")
        && (number(0), number(1)) == (Some(0), Some(1));
    is_compare.then(|| if root.attributes().is_total_order() { "TOTAL" } else { "PARTIAL" })
}

fn rewrite(run: &mut Run<'_>, id: InstructionId, count: i64) -> Result<(), Stop> {
    let sort = run.module[id].clone();
    let data = sort.operands()[0];
    let Some(element) = run.module[data].shape().element() else { return Ok(()) };
    let (Some(comparator), Some(&dim)) = (sort.callee(AttributeKey::ToApply), sort.dimensions().first())
    else {
        return Ok(());
    };
    let dims = run.module[data].dims().to_vec();
    let size = dims[dim as usize];
    let batch = dims.iter().product::<i64>().checked_div(size).unwrap_or(0);
    run.changed(id, format!("calls a search for the {count} largest elements"));
    let has_batch = dims.len() >= 2;
    let mut input = data;
    let reshape = |run: &mut Run<'_>, value, element, dims: &[i64]| {
        add(run, id, NewOp::new(Opcode::Reshape, Shape::array(element, dims), &[value]))
    };
    let transpose = |run: &mut Run<'_>, value, element, dims: &[i64]| {
        add(run, id, NewOp::new(Opcode::Transpose, Shape::array(element, dims), &[value]).dimensions(&[1, 0]))
    };
    if dims.len() > 2 {
        let joined = if dim == 0 { [size, batch] } else { [batch, size] };
        input = reshape(run, input, element, &joined);
    }
    if has_batch && dim == 0 {
        input = transpose(run, input, element, &[batch, size]);
    }
    let found = if has_batch { vec![batch, count] } else { vec![count] };
    let shape = Shape::tuple([Shape::array(element, &found), Shape::array(ElementType::S32, &found)]);
    let is_stable = sort.attributes().bool(AttributeKey::IsStable) == Some(true);
    let order = is_greater(run.module, comparator).unwrap_or("PARTIAL");
    let config = format!("{{is_stable = {is_stable}, order = \"{order}\"}}");
    let call = NewOp::new(Opcode::CustomCall, shape, &[input])
        .with(AttributeKey::CustomCallTarget, AttributeValue::Quoted("TopK".to_owned()))
        .with(AttributeKey::BackendConfig, AttributeValue::Text(config))
        .calling(AttributeKey::CalledComputations, &[comparator]);
    let call = add(run, id, call);
    let mut results = Vec::new();
    for (index, element) in [(0, element), (1, ElementType::S32)] {
        let mut result = run.module.add_element(call, index);
        if has_batch && dim == 0 {
            result = transpose(run, result, element, &[count, batch]);
        }
        if dims.len() > 2 {
            let mut dims = dims.clone();
            dims[dim as usize] = count;
            result = reshape(run, result, element, &dims);
        }
        results.push(result);
    }
    for user in sort.users().to_vec() {
        let (slices, index) = match sort.operands().len() {
            1 => (vec![user], 0),
            _ => {
                let index = run.module[user].attributes().int(AttributeKey::Index).unwrap_or(0);
                (run.module[user].users().to_vec(), index)
            }
        };
        let Some(&result) = results.get(index as usize) else { continue };
        for slice in slices {
            match run.module[slice].dims() == run.module[result].dims() {
                true => run.module.replace_all_uses(slice, result),
                false => run.module.set_operand(slice, 0, result),
            }
        }
    }
    Ok(())
}
