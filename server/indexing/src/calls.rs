//! Ops defined by a called computation: calls, conditionals, scans, async starts.

use std::sync::Arc;

use ir::{AttributeKey, Graph, Op, Opcode};

use crate::Rules;
use crate::checks::{self, scalar};
use crate::fusion::fusion;
use crate::inlined::Callees;
use crate::operand_indexing::{OpIndexing, OperandIndexing};
use crate::reduce::{is_elementwise_scan, scan_by_steps};
use crate::while_loop::while_loop;

/// The computation that defines an op, with its operands as parameters and its root as result.
pub(crate) fn transparent(op: &Op) -> Option<&str> {
    match op.opcode {
        Opcode::Fusion => op.attributes.computation(AttributeKey::Calls),
        Opcode::Call => op.attributes.computation(AttributeKey::ToApply),
        _ => None,
    }
}

/// The computations of a conditional, in the order of the operands after the first.
pub(crate) fn branches(op: &Op) -> Vec<&str> {
    let listed = op.attributes.computations(AttributeKey::BranchComputations);
    if !listed.is_empty() {
        return listed.iter().map(String::as_str).collect();
    }
    let of = |key| op.attributes.computation(key);
    of(AttributeKey::TrueComputation).into_iter().chain(of(AttributeKey::FalseComputation)).collect()
}

/// The maps by [`Rules::Exact`], through the called computations. `None` for other ops, and if a computation
/// is not available.
pub(crate) fn called(op: &Op, output_id: usize, callees: &Callees<'_>) -> Option<OpIndexing> {
    let count = op.operand_shapes.len();
    match op.opcode {
        Opcode::AsyncStart => {
            let callee = callees(op.attributes.computation(AttributeKey::Calls)?)?;
            let (first, result) = checks::element(&op.shape, 1)?;
            let output = output_id.checked_sub(first).filter(|&k| k < checks::leaf_count(result))?;
            Some(fusion(&callee, output, count, Rules::Exact, callees))
        }
        Opcode::Scan => {
            let body = callees(op.attributes.computation(AttributeKey::ToApply)?)?;
            scan_by_steps(op, output_id, !is_elementwise_scan(&body)).ok()
        }
        Opcode::Conditional => conditional(op, output_id, callees),
        Opcode::While => {
            callees(op.attributes.computation(AttributeKey::Body)?)?;
            Some(while_loop(op, output_id, callees))
        }
        _ => None,
    }
}

/// The accesses of each branch to its operand, and the access to the only element of the first operand.
fn conditional(op: &Op, output_id: usize, callees: &Callees<'_>) -> Option<OpIndexing> {
    let names = branches(op);
    if names.is_empty() || op.operand_shapes.len() != names.len() + 1 {
        return None;
    }
    let branches: Vec<Arc<Graph>> = names.into_iter().map(callees).collect::<Option<_>>()?;
    let output = checks::output(op, output_id).ok()?;
    let mut operands = vec![vec![OperandIndexing::from(scalar(output))]];
    for (i, branch) in branches.iter().enumerate() {
        let list = fusion(branch, output_id, 1, Rules::Exact, callees).operands.pop().unwrap_or_default();
        let note = |access: OperandIndexing| match access.note {
            Some(_) => access,
            None => access.with_note(format!("where branch {i} is taken")),
        };
        operands.push(list.into_iter().map(note).collect());
    }
    Some(OpIndexing { operands })
}
