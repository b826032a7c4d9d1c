//! The comparison of a sort, as a function.

use ir::Graph;
use syntax::hlo::ElementType;

use crate::Reason;
use crate::emit::Emission;
use crate::emit::body::Body;
use crate::emit::elemental::element;
use crate::emit::reducer::inline;
use crate::kernel::{Function, Type};

/// The comparison as a function of the elements that it reads: two per operand.
pub(super) fn comparison(
    emission: &Emission<'_>,
    called: &str,
    operands: usize,
) -> Result<(Function, Vec<bool>), Reason> {
    let find = |name: &str| (emission.source.callees)(name);
    let graph = find(called).ok_or_else(|| format!("no computation named {called}"))?;
    let is_used = used(&graph);
    let mut body = Body::new(called, None);
    let mut args = vec![0; operands * 2];
    let mut is_read = vec![false; operands];
    for (id, op) in graph.ops.iter().enumerate() {
        let Some(number) = op.parameter.map(|n| n as usize) else { continue };
        if number >= args.len() {
            return Err(format!("{called} has more parameters than there are elements").into());
        }
        is_read[number / 2] |= is_used[id];
    }
    // For an operand that is read, both scalars are arguments; those of other operands are unused.
    for number in 0..args.len() {
        let id = graph.parameter(number as u32).ok_or_else(|| format!("{called} lacks a parameter"))?;
        let ty = Type::Scalar(element(&graph.ops[id as usize]));
        args[number] = if is_read[number / 2] { body.arg(ty) } else { body.value(ty) };
    }
    let results = inline(&mut body, called, &args, &find, 0)?;
    let types: Vec<ElementType> = results.iter().map(|&value| body.function.element(value)).collect();
    if types != [ElementType::Pred] {
        return Err(format!("{called} does not answer yes or no").into());
    }
    Ok((body.finish(results), is_read))
}

/// The ops that the root depends on.
fn used(graph: &Graph) -> Vec<bool> {
    let mut used = vec![false; graph.ops.len()];
    let mut open = vec![graph.root];
    while let Some(op) = open.pop() {
        let Some(slot) = used.get_mut(op as usize) else { continue };
        if !std::mem::replace(slot, true) {
            open.extend(&graph.operands[op as usize]);
        }
    }
    used
}
