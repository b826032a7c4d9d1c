//! The number of elements per thread: the unroll factor, and the vector width of reductions.

use indexing_map::{ceil_div, gcd};
use ir::{ArrayShape, ElementTypeExt, OneElementPerThread, OpId, Opcode, op_info};

use crate::Reason;
use crate::device::{Device, Platform};
use crate::fused::Fused;
use crate::heroes::Kind;
use crate::launch::product;
use crate::transpose::Normalized;

/// XLA's default of `xla_gpu_experimental_max_unroll_factor`.
const BLACKWELL_MAX_UNROLL: i64 = 32;

/// The unroll factor for a kernel that covers `shape`: more than 1 only if the device stays full, and enough
/// for results narrower than a byte to own whole bytes.
/// Source: `ComputeLoopFusionConfig`, `service/gpu/gpu_fusible.cc`.
pub fn unroll_factor(fused: &Fused, kind: Kind, shape: &ArrayShape, device: &Device) -> Result<i64, Reason> {
    let elements = product(&shape.dims)?;
    let mut unroll = 1;
    if elements >= device.threads() && !may_prevent_vectorization(fused) {
        unroll = gcd(elements, max_unroll_factor(fused, kind, device)) as i64;
    }
    let output_bits = fused.smallest_output_bits().unwrap_or(8).max(1);
    Ok(unroll.max(ceil_div(8, output_bits).unwrap_or(1)))
}

/// Source: `MaxUnrollFactor`, as above.
fn max_unroll_factor(fused: &Fused, kind: Kind, device: &Device) -> i64 {
    const DEFAULT: i64 = 4;
    let is_simple = matches!(kind, Kind::Loop | Kind::Transpose | Kind::Concatenate)
        && fused.roots.len() == 1
        && fused.ops().all(|(_, op)| op.opcode != Opcode::Reduce);
    let has_wide_loads = match (device.platform, device.toolkit) {
        (Platform::Cuda { major, .. }, Some(toolkit)) => major >= 10 && toolkit >= (12, 9),
        _ => false,
    };
    let vector_bits = if has_wide_loads { 256 } else { 128 };
    let output_bits = fused.smallest_output_bits().unwrap_or(vector_bits);
    if !device.is_blackwell_or_later() || !is_simple || output_bits >= vector_bits / DEFAULT {
        return DEFAULT;
    }
    let widest = widest_bits(fused).max(8);
    let mut unroll = previous_power_of_two(BLACKWELL_MAX_UNROLL.min(vector_bits / widest).max(1));
    if fused.ops().any(|(_, op)| op.opcode == Opcode::Pad) {
        unroll = unroll.min(8);
    }
    for (id, op) in fused.ops().filter(|(_, op)| op.opcode == Opcode::Transpose) {
        let Some(normal) = fused.operands(id).first().and_then(|&o| Normalized::of(fused.op(o), op)) else {
            continue;
        };
        let minor = normal.output.last().copied().unwrap_or(1);
        while unroll > DEFAULT && minor < unroll {
            unroll /= 2;
        }
    }
    unroll.max(8)
}

/// Bits in memory of the widest element type of an operand or a result.
fn widest_bits(fused: &Fused) -> i64 {
    let parameters = fused.graph.ops.iter().filter(|op| op.opcode == Opcode::Parameter);
    let roots = (0..fused.roots.len()).map(|i| fused.root_shape(i));
    let shapes = parameters.map(|op| &op.shape).chain(roots);
    shapes.filter_map(|s| s.element()?.bits()).map(i64::from).max().unwrap_or(8)
}

fn previous_power_of_two(n: i64) -> i64 {
    1 << n.max(1).ilog2()
}

/// Whether the fusion has ops that need many registers per element. Source: `MayPreventVectorization`, as
/// above.
pub fn may_prevent_vectorization(fused: &Fused) -> bool {
    fused.ops().any(|(_, op)| match op_info(op.opcode).one_element_per_thread {
        OneElementPerThread::Never => false,
        OneElementPerThread::Always => true,
        OneElementPerThread::LargeWindow => {
            let window = op.attributes.window().iter();
            window.map(|dim| dim.size).fold(1i64, |n, size| n.saturating_mul(size)) > 8
        }
        OneElementPerThread::ManyOperands => op.operand_shapes.len() > 10,
        OneElementPerThread::ManyResults => {
            op.shape.tuple_elements().is_some_and(|elements| elements.len() > 1)
        }
    })
}

/// The vector width of a thread's reads in a reduction, for `minor` elements shared by `threads` threads.
/// Source: `GetVectorSizeForMlir`, `service/gpu/reduction_utils.cc`.
pub fn reduction_vector(fused: &Fused, heroes: &[OpId], minor: i64, threads: i64) -> i64 {
    let is_complex = heroes.iter().any(|&hero| {
        let shapes = &fused.op(hero).operand_shapes;
        shapes.iter().any(|shape| shape.element().is_some_and(|e| e.is_complex()))
    });
    let bits = fused.smallest_input_bits().unwrap_or(i64::MAX);
    if minor % 2 != 0 || threads.saturating_mul(2) > minor || is_complex || bits >= 64 {
        1
    } else if bits >= 32 || threads.saturating_mul(4) > minor || minor % 4 != 0 {
        2
    } else {
        4
    }
}
