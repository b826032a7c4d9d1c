//! Whether it saves memory traffic to fuse an instruction with a dot.
//!
//! Source: XLA `service/gpu/triton_tiling_propagation.cc`.

use ir::is_elementwise;
use syntax::hlo::Opcode;

use crate::module::{InstructionId, Module};

/// A fusion may read and write so many bytes more.
const TOLERANCE: i64 = 1024;

/// Whether fusing an instruction as an input of a dot saves traffic. Source: `IsInputWorthFusing`.
pub(super) fn is_input_worth_fusing(module: &Module, id: InstructionId) -> bool {
    let Some(saved) = input_minus_output(module, id) else { return false };
    if saved <= TOLERANCE {
        return true;
    }
    if module[id].users().len() > 1 {
        return false;
    }
    let is_slice = module[id].opcode() == Opcode::Slice;
    if is_slice && module[id].operands().iter().all(|&operand| is_given(module, operand)) {
        return true;
    }
    if is_slice && is_slice_of_shared(module, id) {
        return true;
    }
    module[id].opcode() != Opcode::Multiply
        && (module[id].operands().iter())
            .all(|&operand| is_given(module, operand) && module[operand].users().len() == 1)
}

/// Whether fusing the user of a dot saves traffic. Source: `IsOutputWorthFusing`.
pub(super) fn is_output_worth_fusing(module: &Module, id: InstructionId) -> bool {
    let saved = input_minus_output(module, id);
    saved.is_some_and(|saved| has_no_user_to_fuse_with(module, id) || saved >= -TOLERANCE)
}

/// Whether the user of a dot computes element by element, and all that it reads beside operand `at` is given: parameters, or scalars and
/// parameters that are broadcast. Observed in XLA's output; XLA's rule for older fusions is in
/// `GetPropagatedDimOrdersAndRequirementsIfProfitablyFusible`.
pub(super) fn is_plain_user(module: &Module, id: InstructionId, at: usize) -> bool {
    let opcode = module[id].opcode();
    if !is_elementwise(opcode) && !matches!(opcode, Opcode::Bitcast | Opcode::Reshape) {
        return false;
    }
    let others = module[id].operands().iter().enumerate().filter(|(other, _)| *other != at);
    others.into_iter().all(|(_, &operand)| {
        let is_given = |of: InstructionId| module[of].dims().is_empty() || is_effective_parameter(module, of);
        match module[operand].opcode() {
            Opcode::Broadcast => is_given(module.operand(operand, 0)),
            _ => is_effective_parameter(module, operand),
        }
    })
}

/// Source: `hlo_query::IsEffectiveParameter`.
fn is_effective_parameter(module: &Module, mut id: InstructionId) -> bool {
    while matches!(module[id].opcode(), Opcode::Bitcast | Opcode::GetTupleElement) {
        id = module.operand(id, 0);
    }
    module[id].opcode() == Opcode::Parameter
}

/// Whether an instruction computes two values element by element, one of which is the same for whole rows.
/// Source: `IsBinaryElementwiseOfBroadcastParamOrConst`, `gemm_fusion.cc`.
pub(super) fn is_binary_of_broadcast(module: &Module, id: InstructionId) -> bool {
    let is_broadcast = |&operand: &InstructionId| {
        module[operand].opcode() == Opcode::Broadcast && is_given(module, module.operand(operand, 0))
    };
    is_elementwise(module[id].opcode())
        && module[id].operands().len() == 2
        && module[id].operands().iter().any(is_broadcast)
}

fn is_given(module: &Module, id: InstructionId) -> bool {
    matches!(module[id].opcode(), Opcode::Parameter | Opcode::Constant)
}

/// How many bytes an instruction reads more than it writes; `None` for tuples.
fn input_minus_output(module: &Module, id: InstructionId) -> Option<i64> {
    let bytes = |id: InstructionId| {
        module[id].shape().as_array()?;
        i64::try_from(module[id].shape().bytes()?).ok()
    };
    let read = module[id].operands().iter().try_fold(0i64, |sum, &operand| sum.checked_add(bytes(operand)?));
    read?.checked_sub(bytes(id)?)
}

fn has_no_user_to_fuse_with(module: &Module, id: InstructionId) -> bool {
    let is_result = |user: InstructionId| module.is_root(user) && module[user].opcode() == Opcode::Tuple;
    module.is_root(id) || matches!(module[id].users(), &[user] if is_result(user))
}

/// Whether a slice is of a value that is cheap to compute again, and that others read too.
fn is_slice_of_shared(module: &Module, slice: InstructionId) -> bool {
    let mut of = module.operand(slice, 0);
    while matches!(module[of].opcode(), Opcode::Bitcast | Opcode::Transpose | Opcode::Reshape)
        && module[of].users().len() == 1
    {
        of = module.operand(of, 0);
    }
    let users = module[of].users();
    let is_slice = |&user: &InstructionId| module[user].opcode() == Opcode::Slice;
    let has_same_size = |&user: &InstructionId| module[user].dims() == module[slice].dims();
    let is_cheap = is_given(module, of) || is_elementwise(module[of].opcode()) || users.iter().all(is_slice);
    users.len() > 1 && !users.iter().all(|user| is_slice(user) && has_same_size(user)) && is_cheap
}
