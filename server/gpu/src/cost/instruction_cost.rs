//! The cost of one instruction by XLA's cost analysis.

use std::cell::Cell;

use indexing::Callees;
use ir::{AttributeKey, CalledCost, KernelFlops, KernelTraffic, Op, Shape, op_info};

use super::op_profile::flops_per_element;
use crate::device::Device;

/// The maximum depth of nested calls that is followed.
const MAX_DEPTH: u32 = 8;

/// The maximum number of instructions of called computations that is counted for one instruction. If
/// computations call others many times, the number grows exponentially with the depth.
const MAX_CALLED: u32 = 1 << 14;

/// The remaining depth and number of instructions for following calls.
#[derive(Clone, Copy)]
struct Left<'a> {
    depth: u32,
    instructions: &'a Cell<u32>,
}

/// Arithmetic, reads and writes of one instruction. Numbers are floats as in XLA: they are estimates, and
/// large ones may be rounded.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct InstructionCost {
    /// In units of XLA's tables: [`flops_per_element`].
    pub flops: f64,
    /// Per operand: the average number of times that each of its elements is read.
    pub utilisation: Vec<f64>,
    /// Per operand: bytes read, counted once per read.
    pub bytes_read: Vec<f64>,
    pub bytes_written: f64,
}

impl InstructionCost {
    /// The cost of any instruction but a fusion. `None` if a size does not fit 64 bits.
    /// Source: XLA `service/hlo_cost_analysis.cc`, `service/gpu/model/gpu_hlo_cost_analysis.cc`.
    pub fn of(op: &Op, device: &Device, callees: &Callees<'_>) -> Option<InstructionCost> {
        let left = Left { depth: MAX_DEPTH, instructions: &Cell::new(MAX_CALLED) };
        let flops = flops(op, device, callees, left)?;
        let sizes: Vec<f64> = op.operand_shapes.iter().map(bytes).collect::<Option<_>>()?;
        let mut cost = InstructionCost {
            flops,
            utilisation: vec![1.0; sizes.len()],
            bytes_read: sizes,
            bytes_written: bytes(&op.shape)?,
        };
        cost.correct(op)?;
        Some(cost)
    }

    /// Adjusts the counts of ops that do not read every operand once.
    fn correct(&mut self, op: &Op) -> Option<()> {
        let out = elements(&op.shape)?;
        let of_operand = |operand: usize| op.operand_shapes.get(operand).and_then(elements);
        let ratio = |operand: usize| {
            let all = of_operand(operand)?;
            Some(if all > 0.0 { out / all } else { 0.0 })
        };
        let mut reads = |operand: usize, utilisation: f64, bytes: f64| {
            if let Some(at) = self.utilisation.get_mut(operand) {
                (*at, self.bytes_read[operand]) = (utilisation, bytes);
            }
        };
        match op_info(op.opcode).kernel_traffic {
            KernelTraffic::Whole => {}
            KernelTraffic::Nothing => {
                self.bytes_read.fill(0.0);
                self.bytes_written = 0.0;
            }
            KernelTraffic::ResultOfFirst => reads(0, ratio(0)?, bytes(&op.shape)?),
            KernelTraffic::DynamicUpdateSlice => {
                reads(0, 0.0, 0.0);
                self.bytes_written = op.operand_shapes.get(1).and_then(bytes)?;
            }
            KernelTraffic::Scatter => {
                let inputs = op.operand_shapes.len().saturating_sub(1) / 2;
                let mut written = 0.0;
                for i in 0..inputs {
                    let update = op.operand_shapes.get(inputs + 1 + i).and_then(bytes)?;
                    reads(i, 1.0, update);
                    written += update;
                }
                self.bytes_written = written;
            }
            KernelTraffic::Reduction => {
                let inputs = op.operand_shapes.len() / 2;
                for i in inputs..op.operand_shapes.len() {
                    reads(i, out, out * op.operand_shapes.get(i).and_then(bytes)?);
                }
            }
            KernelTraffic::Window => {
                let window: f64 = op.attributes.window().iter().map(|w| w.size.max(0) as f64).product();
                let size = op.operand_shapes.first().and_then(bytes)?;
                let often = ratio(0)? * window;
                reads(0, often, often * size);
            }
        }
        Some(())
    }
}

/// Arithmetic of the op and of the computations that it calls.
fn flops(op: &Op, device: &Device, callees: &Callees<'_>, left: Left<'_>) -> Option<f64> {
    let out = elements(&op.shape)?;
    Some(match op_info(op.opcode).kernel_flops {
        KernelFlops::Copy | KernelFlops::Fusion => 0.0,
        KernelFlops::PerElement => out * flops_per_element(op, device),
        KernelFlops::Concatenation => {
            let dim = op.attributes.ints(AttributeKey::Dimensions).first().copied().unwrap_or(0);
            let width = usize::try_from(dim).ok().and_then(|d| op.operand_shapes.first()?.dims().get(d));
            // A warp that spans the boundary of two operands computes both sides.
            let is_uneven = dim != 0 && width.is_some_and(|width| width % 32 != 0);
            out * if is_uneven { 400.0 } else { 6.0 }
        }
        KernelFlops::Reduction | KernelFlops::AsOutside => {
            let own = ir::op_cost(op).flops as f64;
            let called = |key, times: u64| {
                let name = op.attributes.computation(key);
                times as f64 * name.map_or(0.0, |name| flops_of_callee(name, device, callees, left))
            };
            match ir::called_cost(op) {
                CalledCost::Arithmetic(times) => own + called(AttributeKey::ToApply, times),
                CalledCost::SelectAndScatter { select, scatter } => {
                    own + called(AttributeKey::Select, select) + called(AttributeKey::Scatter, scatter)
                }
                CalledCost::Unknown => return None,
                CalledCost::Nothing | CalledCost::Everything | CalledCost::OneOf => own,
            }
        }
    })
}

/// The arithmetic of one execution of a computation on scalars. A missing computation counts as one addition,
/// and so do calls beyond the limits.
pub(super) fn called_flops(name: &str, device: &Device, callees: &Callees<'_>) -> f64 {
    flops_of_callee(name, device, callees, Left { depth: MAX_DEPTH, instructions: &Cell::new(MAX_CALLED) })
}

fn flops_of_callee(name: &str, device: &Device, callees: &Callees<'_>, left: Left<'_>) -> f64 {
    const ADDITION: f64 = 7.0;
    let Some(depth) = left.depth.checked_sub(1) else { return ADDITION };
    let Some(graph) = callees(name) else { return ADDITION };
    let count = u32::try_from(graph.ops.len()).unwrap_or(u32::MAX);
    let Some(instructions) = left.instructions.get().checked_sub(count) else { return ADDITION };
    left.instructions.set(instructions);
    graph.ops.iter().filter_map(|op| flops(op, device, callees, Left { depth, ..left })).sum()
}

/// Bytes of all arrays in the shape.
pub(super) fn bytes(shape: &Shape) -> Option<f64> {
    shape.bytes().map(|bytes| bytes as f64)
}

/// Elements of an array, or of the first array of a tuple.
pub(super) fn elements(shape: &Shape) -> Option<f64> {
    match shape {
        Shape::Tuple(all) => all.first().map_or(Some(0.0), elements),
        Shape::Array(array) => array.elements().map(|n| n as f64),
        Shape::Buffer(_) | Shape::Token | Shape::Opaque => Some(0.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;

    /// Flops, utilisation per operand, bytes written.
    #[track_caller]
    fn check(lines: &str, flops: f64, utilisation: &[f64], written: f64) {
        let analysis = fixture::analysis(lines, "h100-sxm").unwrap();
        let op = analysis.fused.op(analysis.fused.roots[0]);
        let cost = InstructionCost::of(op, analysis.device, &fixture::callees()).unwrap();
        assert_eq!((cost.flops, &cost.utilisation[..], cost.bytes_written), (flops, utilisation, written));
    }

    #[test]
    fn what_is_read_and_written() {
        let p = "p = f32[8,64] parameter(0)\n i = s32[] parameter(1)\n z = f32[] constant(0)\n";
        check(&format!("{p} ROOT r = f32[8,64] add(p, p)"), 7.0 * 512.0, &[1.0, 1.0], 2048.0);
        check(&format!("{p} ROOT r = f32[4,64] slice(p), slice={{[0:4],[0:64]}}"), 0.0, &[0.5], 1024.0);
        check(&format!("{p} ROOT r = f32[3,8,64] broadcast(p), dimensions={{1,2}}"), 0.0, &[3.0], 6144.0);
        let update = "u = f32[1,64] parameter(2)\n ROOT r = f32[8,64] dynamic-update-slice(p, u, i, i)";
        check(&format!("{p} {update}"), 0.0, &[0.0, 1.0, 1.0, 1.0], 256.0);
        let reduce = "ROOT r = f32[8] reduce(p, z), dimensions={1}, to_apply=add";
        check(&format!("{p} {reduce}"), 7.0 * 504.0, &[1.0, 8.0], 32.0);
    }

    #[test]
    fn seams_of_concatenations() {
        let text = |dim: u8, shape: &str| {
            format!(
                "p = f32[8,33] parameter(0)\n ROOT r = f32[{shape}] concatenate(p, p), dimensions={{{dim}}}"
            )
        };
        check(&text(0, "16,33"), 6.0 * 528.0, &[1.0, 1.0], 2112.0);
        check(&text(1, "8,66"), 400.0 * 528.0, &[1.0, 1.0], 2112.0);
    }
}
