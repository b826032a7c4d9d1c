//! The lower bound of a kernel's time on a device, without heuristics and with perfect overlap.

use std::collections::BTreeMap;

use indexing::{Callees, Grouped, OperandIndexing, Rules, grouped, utilisation};
use ir::{CalledCost, ElementType, ElementTypeExt, Op, OpId, Opcode, Shape};

use super::instruction_cost::bytes;
use crate::device::{Device, Rate};
use crate::emitters::Emitter;
use crate::fusion_analysis::FusionAnalysis;

/// The maximum number of ops times results for which maps are computed; beyond it, operands are counted
/// whole.
const MAX_MAPPED_OPS: usize = 512;

/// Bytes that must move and operations that must be done, against the device's bandwidth and arithmetic
/// rates.
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
    /// The longer of the two, because they can overlap.
    pub fn exec_us(&self) -> f64 {
        self.memory_us.max(self.compute_us)
    }
}

/// The roofline of a fusion, each op of which is computed once.
pub fn roofline(analysis: &FusionAnalysis, callees: &Callees<'_>) -> Roofline {
    let (fused, device) = (&analysis.fused, analysis.device);
    let mut sum = Roofline { bytes_read: bytes_read(analysis), ..Roofline::default() };
    for (place, &root) in fused.roots.iter().enumerate() {
        let op = fused.op(root);
        let written = match op.opcode {
            Opcode::DynamicUpdateSlice if is_in_place(analysis, root) => {
                op.operand_shapes.get(1).unwrap_or(&op.shape)
            }
            _ => &op.shape,
        };
        // An array that is several results is written once per result; an op with several results is one root
        // with all of them.
        let times = match op.shape {
            Shape::Tuple(_) => 1,
            _ => fused.outputs.iter().filter(|&&output| output == place).count().max(1),
        };
        sum.bytes_written += times as f64 * bytes(written).unwrap_or(0.0);
    }
    for (_, op) in fused.ops() {
        let flops = operations(op, callees);
        sum.flops += flops;
        sum.compute_us += operations_us(op, flops, device);
    }
    sum.memory_us = (sum.bytes_read + sum.bytes_written) / device.memory_bandwidth as f64 * 1e6;
    sum
}

/// The roofline of an instruction that is not a fusion, such as a library call or a collective, from its
/// shapes alone.
pub fn roofline_of(op: &Op, device: &Device) -> Roofline {
    let cost = ir::op_cost(op);
    let written = bytes(&op.shape).unwrap_or(0.0);
    let flops = (cost.flops + cost.transcendentals) as f64;
    let bytes_read = (cost.bytes as f64 - written).max(0.0);
    let memory_us = (bytes_read + written) / device.memory_bandwidth as f64 * 1e6;
    let compute_us = operations_us(op, flops, device);
    Roofline { bytes_read, bytes_written: written, flops, memory_us, compute_us }
}

/// Whether the matrix units compute the op.
pub(super) fn is_contraction(opcode: Opcode) -> bool {
    matches!(opcode, Opcode::Dot | Opcode::ScaledDot | Opcode::RaggedDot | Opcode::Convolution)
}

/// Operations of the op and of its called computations, which count one operation each.
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

/// Microseconds at the rate of the matrix units for a contraction of that element type, else of the scalar
/// ones.
fn operations_us(op: &Op, flops: f64, device: &Device) -> f64 {
    let of_operand = op.operand_shapes.first().and_then(|shape| shape.element());
    let element = of_operand.or_else(|| op.shape.element()).unwrap_or(ElementType::F32);
    let per_second = flops_per_second(element, is_contraction(op.opcode), device);
    flops / per_second * 1e6
}

/// Operations per second, two for a fused multiply-add. A type without units of its own is computed as `f32`,
/// integers as `s32`.
fn flops_per_second(element: ElementType, in_matrix_units: bool, device: &Device) -> f64 {
    let is_integer = element.is_signed_integer() || element.is_unsigned_integer();
    let stand_in = if is_integer { ElementType::S32 } else { ElementType::F32 };
    let scalar = || {
        let rates = device.units?.scalar;
        let rate = rate_of(rates, element).or_else(|| rate_of(rates, stand_in))?;
        Some(per_second(rate, device.clock_ghz, device))
    };
    let matrix = matrix_units(element, device).filter(|_| in_matrix_units);
    matrix.or_else(scalar).unwrap_or_else(|| plain_flops_per_second(device))
}

/// Operations per second of the matrix units; of the `f32` units for a type that they do not know.
/// Source: `CalculatePeakMatrixOpsPerNs`, `service/gpu/model/gpu_performance_model_base.cc`.
pub(super) fn matrix_flops_per_second(element: ElementType, device: &Device) -> f64 {
    matrix_units(element, device).unwrap_or_else(|| plain_flops_per_second(device))
}

fn matrix_units(element: ElementType, device: &Device) -> Option<f64> {
    let units = device.units?;
    let clock_ghz = if element == ElementType::F64 { device.clock_ghz } else { units.matrix_clock_ghz };
    Some(per_second(rate_of(units.matrix, element)?, clock_ghz, device))
}

/// Every `f32` unit does one multiply-add per clock.
fn plain_flops_per_second(device: &Device) -> f64 {
    device.fpus_per_core as f64 * device.clock_ghz * device.cores as f64 * 2e9
}

fn rate_of(rates: &'static [Rate], element: ElementType) -> Option<&'static Rate> {
    rates.iter().find(|rate| rate.elements.contains(&element))
}

fn per_second(rate: &Rate, clock_ghz: f64, device: &Device) -> f64 {
    rate.units as f64 * rate.operations as f64 * clock_ghz * device.cores as f64 * 2e9
}

/// Bytes of the array elements that any result needs, each once. An array passed as several operands counts
/// once.
fn bytes_read(analysis: &FusionAnalysis) -> f64 {
    let fused = &analysis.fused;
    let mut arrays: BTreeMap<usize, Vec<OpId>> = BTreeMap::new();
    for (id, op) in fused.graph.ops.iter().enumerate().filter(|(_, op)| op.opcode == Opcode::Parameter) {
        let number = op.parameter.map_or(usize::MAX, |number| number as usize);
        let array = fused.same_as.get(number).copied().unwrap_or(number);
        arrays.entry(array).or_default().push(id as OpId);
    }
    let whole = |operands: &Vec<OpId>| bytes(&fused.op(operands[0]).shape).unwrap_or(0.0);
    if fused.graph.ops.len().saturating_mul(fused.roots.len()) > MAX_MAPPED_OPS {
        return arrays.values().map(whole).sum();
    }
    let set: Vec<OpId> = fused.ops().map(|(id, _)| id).collect();
    let maps = |&root: &OpId| grouped(&fused.graph, root, 0, &set, Rules::Exact, &|_| None);
    let maps: Vec<Grouped> = fused.roots.iter().map(maps).collect();
    let part = |operands: &Vec<OpId>| {
        // Results and operands that read the same elements share the reads.
        let mut accesses: Vec<OperandIndexing> = Vec::new();
        let read = operands.iter().filter(|&&operand| !is_updated_in_place(analysis, operand));
        for access in read.flat_map(|&operand| maps.iter().filter_map(move |m| m.of(operand))).flatten() {
            if accesses.iter().all(|known| known.map != access.map) {
                accesses.push(access.clone());
            }
        }
        if accesses.is_empty() {
            return 0.0;
        }
        let used = utilisation(&accesses, &fused.op(operands[0]).shape).and_then(|used| used.bytes_read);
        used.map_or_else(|| whole(operands), |bytes| bytes.upper as f64)
    };
    arrays.values().map(part).sum()
}

/// Whether a root updates this operand in place: the elements that are not written are not read.
fn is_updated_in_place(analysis: &FusionAnalysis, operand: OpId) -> bool {
    let fused = &analysis.fused;
    let updates =
        |&root: &OpId| is_in_place(analysis, root) && fused.operands(root).first() == Some(&operand);
    fused.roots.iter().any(updates)
}

/// Whether a dynamic-update-slice writes into an operand of the fusion that nothing else reads.
fn is_in_place(analysis: &FusionAnalysis, root: OpId) -> bool {
    let fused = &analysis.fused;
    matches!(analysis.emitter, Emitter::DynamicUpdateSlice(_))
        && fused.op(root).opcode == Opcode::DynamicUpdateSlice
        && fused
            .operands(root)
            .first()
            .is_some_and(|&operand| !fused.is_inside(operand) && fused.users[operand as usize].len() == 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;

    /// Expects bytes read, bytes written, operations.
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
