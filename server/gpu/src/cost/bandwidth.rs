//! The part of the bandwidth that a kernel's reads use, by XLA's heuristic.

use ir::{AttributeKey, ElementTypeExt, Op, OpId, Opcode, Shape, is_elementwise};

use crate::device::Device;
use crate::fused::Fused;
use crate::heroes::Kind;

/// XLA's heuristic for whether the reads of a kernel are coalesced: one verdict for all operands. They are
/// not if an op other than the kernel's hero transposes. Source: `IsReadCoalescedHeuristic`,
/// `service/gpu/model/coalescing_analysis.cc`. [`crate::traffic`] counts the actual requests.
pub fn has_coalesced_reads(fused: &Fused, kind: Kind) -> bool {
    kind == Kind::Transpose
        || !fused.ops().any(|(id, op)| transposes_minor(op) && !is_of_broadcast(fused, fused.operands(id)[0]))
}

/// The useful part of the bandwidth: one element of each unit that memory moves, if reads are not coalesced.
/// Source: `GetCoalescingUtilizationRate`.
pub(crate) fn read_efficiency(shape: &Shape, is_coalesced: bool, device: &Device) -> f64 {
    if is_coalesced {
        return 1.0;
    }
    let bits = shape.element().and_then(|element| element.bits());
    let bytes = bits.map_or(4, |bits| bits.div_ceil(8));
    f64::from(bytes) / device.dram_transaction_bytes() as f64
}

/// Whether the op is a broadcast or an iota, or one followed by elementwise ops and bitcasts only.
fn is_of_broadcast(fused: &Fused, mut id: OpId) -> bool {
    loop {
        let opcode = fused.op(id).opcode;
        if matches!(opcode, Opcode::Broadcast | Opcode::Iota) {
            return true;
        }
        let [only] = *fused.operands(id) else { return false };
        if opcode != Opcode::Bitcast && !is_elementwise(opcode) {
            return false;
        }
        id = only;
    }
}

/// Whether the fastest dimension differs between result and operand. Source: `TransposesMinorDimension`, as
/// above.
pub(crate) fn transposes_minor(op: &Op) -> bool {
    let Some(operand) = op.operand_shapes.first() else { return false };
    let (Some(from), Some(to)) = (fastest(operand), fastest(&op.shape)) else { return false };
    match op.opcode {
        Opcode::Copy => from != to,
        Opcode::Transpose => {
            let dims = op.attributes.ints(AttributeKey::Dimensions);
            dims.get(to).is_some_and(|&dim| usize::try_from(dim) != Ok(from))
        }
        _ => false,
    }
}

/// The most minor dimension with more than one element.
fn fastest(shape: &Shape) -> Option<usize> {
    let array = shape.as_array()?;
    array.minor_to_major().into_iter().find(|&dim| array.dims[dim] != 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;

    #[track_caller]
    fn check(lines: &str, expect: bool) {
        let analysis = fixture::analysis(lines, "h100-sxm").unwrap();
        assert_eq!(has_coalesced_reads(&analysis.fused, analysis.kind), expect, "{lines}");
    }

    #[test]
    fn transposes_that_no_kernel_is_built_around() {
        let moved = "p = f32[40,50] parameter(0)\n t = f32[50,40] transpose(p), dimensions={1,0}
            ROOT r = f32[50,40] reverse(t), dimensions={0}";
        check(moved, false);
        check("p = f32[40,50] parameter(0)\n ROOT t = f32[50,40] transpose(p), dimensions={1,0}", true);
        let of_broadcast = "\
p = f32[] parameter(0)
 b = f32[40,50] broadcast(p), dimensions={}
            n = f32[40,50] negate(b)
 t = f32[50,40] transpose(n), dimensions={1,0}
            ROOT r = f32[50,40] reverse(t), dimensions={0}";
        check(of_broadcast, true);
        // The fastest dimension stays.
        let other = "p = f32[4,5,8] parameter(0)
 t = f32[5,4,8] transpose(p), dimensions={1,0,2}
            ROOT r = f32[4,5,8] reshape(t)";
        check(other, true);
        let of_iota = "x = f32[100,64,32] iota(), iota_dimension=1
 t = f32[32,100,64] transpose(x), dimensions={2,0,1}
            ROOT s = f32[32,100,1] slice(t), slice={[0:32:1],[0:100:1],[0:1:1]}";
        check(of_iota, true);
        check(&of_iota.replace("iota(), iota_dimension=1", "parameter(0)"), false);
    }

    #[test]
    fn one_element_of_a_transaction() {
        let h100 = Device::find("h100-sxm").unwrap();
        let shape = Shape::array(ir::ElementType::Bf16, &[8]);
        assert_eq!(read_efficiency(&shape, false, h100), 1.0 / 32.0);
        assert_eq!(read_efficiency(&shape, true, h100), 1.0);
    }
}
