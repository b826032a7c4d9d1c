//! The in-place dynamic-update-slice emitter: only the updated elements are computed and written into the
//! operand's buffer.

use indexing::IndexingMap;
use ir::{OpId, Opcode, Shape, is_elementwise};

use super::Context;
use crate::Reason;
use crate::launch::{Launch, product};
use crate::thread_map::work_items;
use crate::unroll::unroll_factor;

/// Source: `backends/gpu/codegen/emitters/in_place_dynamic_update_slice.cc`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DynamicUpdateSliceEmitter {
    pub launch: Launch,
    pub unroll: i64,
    /// The dynamic-update-slice of each root.
    pub updates: Vec<OpId>,
    /// The shape of every update.
    pub update: Shape,
}

impl DynamicUpdateSliceEmitter {
    /// `None` if a root is not an update that can be done in place. Assumes that the operand may be
    /// overwritten, which only the buffer assignment decides.
    pub(super) fn new(context: &Context<'_>) -> Result<Option<DynamicUpdateSliceEmitter>, Reason> {
        let fused = context.fused;
        let updates: Option<Vec<OpId>> = fused.roots.iter().map(|&root| update_of(context, root)).collect();
        let Some(updates) = updates else { return Ok(None) };
        let Some(update) = fused.op(updates[0]).operand_shapes.get(1).cloned() else { return Ok(None) };
        // An update of everything overwrites the whole operand, so that the result does not share its buffer.
        if fused.op(updates[0]).shape.dims() == update.dims() {
            return Ok(None);
        }
        let is_in_place = updates.iter().all(|&dus| {
            let shape = fused.op(dus).operand_shapes.get(1);
            shape.is_some_and(|shape| shape.dims() == update.dims()) && can_be_in_place(context, dus)
        });
        if !is_in_place {
            return Ok(None);
        }
        let array = update.as_array().ok_or("the update is no array")?;
        let unroll = unroll_factor(fused, context.kind, array, context.device)?;
        let launch = Launch::for_elements(product(&array.dims)?, unroll, context.device);
        Ok(Some(DynamicUpdateSliceEmitter { launch, unroll, updates, update }))
    }

    /// Maps threads to the elements of the update. They are written at an offset by the start indices, which
    /// are known only at run time; the rest of the result is in the buffer already.
    pub fn thread_to_update(&self) -> IndexingMap {
        self.update
            .as_array()
            .map_or_else(IndexingMap::undefined, |update| work_items(&self.launch, self.unroll, update))
    }

    /// Only the update is read by a map; the rest of the operand is not touched.
    pub(super) fn thread_to_input(&self, context: &Context<'_>, root: usize) -> Vec<IndexingMap> {
        let shapes = &context.fused.op(self.updates[root]).operand_shapes;
        let mut maps = vec![IndexingMap::undefined(); shapes.len()];
        if let Some(map) = maps.get_mut(1) {
            *map = self.thread_to_update();
        }
        maps
    }
}

/// The dynamic-update-slice that a root is, or is a bitcast of.
fn update_of(context: &Context<'_>, root: OpId) -> Option<OpId> {
    let fused = context.fused;
    let op = match fused.op(root).opcode {
        Opcode::Bitcast => *fused.operands(root).first()?,
        _ => root,
    };
    (fused.op(op).opcode == Opcode::DynamicUpdateSlice).then_some(op)
}

/// Whether one root alone uses the update, its operand is one of the fusion's, and others read that operand
/// only at the written elements.
/// Source: `CanEmitFusedDynamicUpdateSliceInPlaceForGpu`, `service/gpu/ir_emission_utils.cc`.
fn can_be_in_place(context: &Context<'_>, dus: OpId) -> bool {
    let fused = context.fused;
    let users = |id: OpId| {
        let users = fused.users[id as usize].iter().copied();
        users.filter(|&user| fused.op(user).opcode != Opcode::Tuple)
    };
    let is_root = fused.roots.contains(&dus);
    let only_user = users(dus).next();
    let is_used_once = match only_user {
        None => is_root,
        Some(user) => {
            !is_root
                && users(dus).count() == 1
                && fused.op(user).opcode == Opcode::Bitcast
                && users(user).next().is_none()
        }
    };
    let Some(&direct) = fused.operands(dus).first() else { return false };
    let operand = match fused.op(direct).opcode {
        Opcode::Bitcast => fused.operands(direct).first().copied().unwrap_or(direct),
        _ => direct,
    };
    if !is_used_once || fused.is_inside(operand) {
        return false;
    }
    let mut seen = vec![false; fused.graph.ops.len()];
    seen[dus as usize] = true;
    let mut stack = vec![operand];
    while let Some(at) = stack.pop() {
        for user in users(at) {
            if std::mem::replace(&mut seen[user as usize], true) {
                continue;
            }
            let op = fused.op(user);
            let is_same_slice = op.opcode == Opcode::DynamicSlice
                && fused.operands(user).first() == Some(&direct)
                && fused.op(dus).operand_shapes.get(1).is_some_and(|update| update.dims() == op.shape.dims());
            let is_harmless = if is_same_slice {
                let starts = |id: OpId, from: usize| fused.operands(id).get(from..);
                product(op.shape.dims()) == Ok(1) || starts(user, 1) == starts(dus, 2)
            } else {
                is_elementwise(op.opcode) || op.opcode == Opcode::Bitcast
            };
            if !is_harmless {
                return false;
            }
            stack.push(user);
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use crate::fixture::{check, check_reads_once};

    const UPDATE: &str = "p = f32[40,50] parameter(0)\n u = f32[3,50] parameter(1)\n i = s32[] parameter(2)
        z = s32[] constant(0)";

    #[test]
    fn only_the_update_is_computed() {
        let text = format!("{UPDATE}\n ROOT d = f32[40,50] dynamic-update-slice(p, u, i, z)");
        check_reads_once(&check(&text, "h100-sxm", "dynamic-update-slice d 2x128"));
    }

    #[test]
    fn behind_a_bitcast() {
        let text = format!(
            "{UPDATE}\n d = f32[40,50] dynamic-update-slice(p, u, i, z)\n ROOT b = f32[2000] bitcast(d)"
        );
        check(&text, "h100-sxm", "dynamic-update-slice d 2x128");
    }

    #[test]
    fn what_is_read_elsewhere_is_not_overwritten() {
        let text = format!(
            "\
{UPDATE}
 r = f32[40,50] reverse(p), dimensions={{0}}
 s = f32[3,50] slice(r), slice={{[0:3],[0:50]}}
            ROOT d = f32[40,50] dynamic-update-slice(p, s, i, z)"
        );
        check(&text, "h100-sxm", "loop d 16x128");
        let text = format!(
            "{UPDATE}\n n = f32[40,50] negate(p)\n ROOT d = f32[40,50] dynamic-update-slice(n, u, i, z)"
        );
        check(&text, "h100-sxm", "loop d 16x128");
    }
}
