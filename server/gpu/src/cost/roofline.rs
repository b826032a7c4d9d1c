//! The least time that a kernel needs on a device: nothing is guessed, nothing is lost.

use indexing::{Callees, Rules, grouped, utilisation};
use ir::{CalledCost, ElementType, ElementTypeExt, Op, OpId, Opcode};

use super::instruction_cost::bytes;
use crate::device::{Device, Rate};
use crate::fused::Fused;
use crate::fusion_analysis::FusionAnalysis;

/// Fusions with more ops have their operands counted whole.
const MAX_MAPPED_OPS: usize = 512;

/// Bytes that must move and operations that must be done, against what the device does of each in a second.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Roofline {
    /// Distinct bytes of the operands that are read at least once.
    pub bytes_read: f64,
    pub bytes_written: f64,
    /// Operations as written: a multiply-add is two, a transcendental function one.
    pub flops: f64,
    /// All bytes at the full bandwidth of the memory, in microseconds.
    pub memory_us: f64,
    /// All operations at the full rate of the units for their element type, in microseconds.
    pub compute_us: f64,
}

impl Roofline {
    /// The longer of the two: the other one may hide behind it.
    pub fn exec_us(&self) -> f64 {
        self.memory_us.max(self.compute_us)
    }
}

/// Of a fusion, each op of which is computed once.
pub fn roofline(analysis: &FusionAnalysis, callees: &Callees<'_>) -> Roofline {
    let (fused, device) = (&analysis.fused, analysis.device);
    let mut sum = Roofline { bytes_read: bytes_read(fused), ..Roofline::default() };
    for &root in &fused.roots {
        let op = fused.op(root);
        let written = match op.opcode {
            Opcode::DynamicUpdateSlice => op.operand_shapes.get(1).unwrap_or(&op.shape),
            _ => &op.shape,
        };
        sum.bytes_written += bytes(written).unwrap_or(0.0);
    }
    for (_, op) in fused.ops() {
        let flops = operations(op, callees);
        sum.flops += flops;
        sum.compute_us += operations_us(op, flops, device);
    }
    sum.memory_us = (sum.bytes_read + sum.bytes_written) / device.memory_bandwidth as f64 * 1e6;
    sum
}

/// Of an instruction that is no fusion, from its shapes alone: a call of a library, a collective.
pub fn roofline_of(op: &Op, device: &Device) -> Roofline {
    let cost = ir::op_cost(op);
    let written = bytes(&op.shape).unwrap_or(0.0);
    let flops = (cost.flops + cost.transcendentals) as f64;
    let bytes_read = (cost.bytes as f64 - written).max(0.0);
    let memory_us = (bytes_read + written) / device.memory_bandwidth as f64 * 1e6;
    let compute_us = operations_us(op, flops, device);
    Roofline { bytes_read, bytes_written: written, flops, memory_us, compute_us }
}

/// Is it work for the matrix units?
pub(super) fn is_contraction(opcode: Opcode) -> bool {
    matches!(opcode, Opcode::Dot | Opcode::ScaledDot | Opcode::RaggedDot | Opcode::Convolution)
}

/// With what the op calls; that counts one operation each.
fn operations(op: &Op, callees: &Callees<'_>) -> f64 {
    let own = ir::op_cost(op);
    let own = own.flops as f64 + own.transcendentals as f64;
    let called = |key, times: u64| {
        let graph = op.attributes.computation(key).and_then(callees);
        let each = graph.map_or(1.0, |graph| {
            graph.ops.iter().map(|op| (ir::op_cost(op).flops + ir::op_cost(op).transcendentals) as f64).sum()
        });
        times as f64 * each
    };
    match ir::called_cost(op) {
        CalledCost::Arithmetic(times) => own + called(ir::AttributeKey::ToApply, times),
        CalledCost::SelectAndScatter { select, scatter } => {
            own + called(ir::AttributeKey::Select, select) + called(ir::AttributeKey::Scatter, scatter)
        }
        _ => own,
    }
}

/// At the rate of the matrix units for a contraction of that element type, else of the scalar ones.
fn operations_us(op: &Op, flops: f64, device: &Device) -> f64 {
    let of_operand = op.operand_shapes.first().and_then(|shape| shape.element());
    let element = of_operand.or_else(|| op.shape.element()).unwrap_or(ElementType::F32);
    let per_second = flops_per_second(element, is_contraction(op.opcode), device);
    flops / per_second * 1e6
}

/// Two for a fused multiply-add. A type without units of its own is computed as `f32`, integers as `s32`; where a device
/// states no units, every `f32` unit does one multiply-add a clock.
fn flops_per_second(element: ElementType, in_matrix_units: bool, device: &Device) -> f64 {
    let plain = device.fpus_per_core as f64 * device.clock_ghz;
    let per_core = device.units.and_then(|units| {
        let find =
            |rates: &'static [Rate], element| rates.iter().find(|rate| rate.elements.contains(&element));
        let per_clock = |rate: &Rate| rate.units as f64 * rate.operations as f64;
        let matrix = find(units.matrix, element).filter(|_| in_matrix_units).map(|rate| {
            let is_slow = element != ElementType::F64;
            per_clock(rate) * if is_slow { units.matrix_clock_ghz } else { device.clock_ghz }
        });
        let is_integer = element.is_signed_integer() || element.is_unsigned_integer();
        let stand_in = if is_integer { ElementType::S32 } else { ElementType::F32 };
        let scalar = || find(units.scalar, element).or_else(|| find(units.scalar, stand_in));
        matrix.or_else(|| Some(per_clock(scalar()?) * device.clock_ghz))
    });
    per_core.unwrap_or(plain) * device.cores as f64 * 2e9
}

/// Each element of an operand that is needed for any result, once.
fn bytes_read(fused: &Fused) -> f64 {
    let parameters: Vec<OpId> =
        (0..fused.graph.ops.len() as OpId).filter(|&id| !fused.is_inside(id)).collect();
    let whole = |id: OpId| bytes(&fused.op(id).shape).unwrap_or(0.0);
    // Several results read together; their maps would have to be united.
    let [root] = fused.roots[..] else { return parameters.iter().map(|&id| whole(id)).sum() };
    if fused.graph.ops.len() > MAX_MAPPED_OPS {
        return parameters.iter().map(|&id| whole(id)).sum();
    }
    let set: Vec<OpId> = fused.ops().map(|(id, _)| id).collect();
    let all = grouped(&fused.graph, root, 0, &set, Rules::Exact, &|_| None);
    let part = |id: OpId| {
        // What is updated in place is not read where it is not written.
        let op = fused.op(root);
        if op.opcode == Opcode::DynamicUpdateSlice
            && fused.operands(root).first() == Some(&id)
            && fused.users[id as usize].len() == 1
        {
            return 0.0;
        }
        let Some(accesses) = all.of(id) else { return 0.0 };
        let used = utilisation(accesses, &fused.op(id).shape).and_then(|used| used.bytes_read);
        used.map_or_else(|| whole(id), |bytes| bytes.upper as f64)
    };
    parameters.into_iter().map(part).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;

    /// Bytes read, bytes written, operations.
    #[track_caller]
    fn check(lines: &str, read: f64, written: f64, flops: f64) -> Roofline {
        let analysis = fixture::analysis(lines, "h100-sxm").unwrap();
        let got = roofline(&analysis, &fixture::callees());
        assert_eq!((got.bytes_read, got.bytes_written, got.flops), (read, written, flops));
        got
    }

    #[test]
    fn only_what_is_needed_is_read() {
        let text = "p = f32[64,64] parameter(0)\n s = f32[8,64] slice(p), slice={[0:8],[0:64]}
            ROOT n = f32[8,64] negate(s)";
        check(text, 2048.0, 2048.0, 512.0);
        let again = "p = f32[64] parameter(0)\n b = f32[9,64] broadcast(p), dimensions={1}
            ROOT n = f32[9,64] negate(b)";
        check(again, 256.0, 2304.0, 576.0);
    }

    #[test]
    fn matrix_units() {
        let text = "p = bf16[4096,4096] parameter(0)\n q = bf16[4096,4096] parameter(1)
            ROOT d = bf16[4096,4096] dot(p, q), lhs_contracting_dims={1}, rhs_contracting_dims={0}";
        let got = check(text, 2.0 * 33_554_432.0, 33_554_432.0, 2.0 * 4096.0f64.powi(3));
        // 989 TFLOP/s.
        assert!((got.compute_us - 138.9).abs() < 1.0, "{}", got.compute_us);
    }
}
