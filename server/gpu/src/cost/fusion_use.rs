//! How often a fusion computes each of its ops.

use indexing::Callees;
use ir::{Graph, OpId, Opcode, is_elementwise};

use super::instruction_cost::{InstructionCost, elements};
use crate::device::Device;
use crate::fused::Fused;

/// The maximum total length of all lists of use roots; a larger fusion is not counted. Elementwise chains
/// have one each.
const MAX_USE_ROOTS: usize = 1 << 20;

/// XLA's account of a fusion: ops are computed where they are used, and an op used at several indices once
/// per use.
/// Source: `GpuHloCostAnalysis::FusionCalculateUtilizations`, `service/gpu/model/gpu_hlo_cost_analysis.cc`.
#[derive(Debug, Clone)]
pub struct FusionUse {
    /// The sum over all ops, each counted as often as it is computed.
    pub flops: f64,
    /// The number of copies of ops in the code of the kernel.
    pub ir_size: f64,
    /// Per op of the graph: elements computed per element of the op.
    pub utilisation: Vec<f64>,
    /// Per op: the ops at whose index it is computed. One past the last op represents a root of several
    /// results.
    use_roots: Vec<Vec<OpId>>,
    /// Per op and for that root: how often it is computed as a use root.
    root_utilisation: Vec<f64>,
    /// Per op: the number of its copies in the code.
    pub copies: Vec<f64>,
    /// As [`InstructionCost::bytes_written`].
    pub bytes_written: f64,
}

impl FusionUse {
    /// Counts a fusion. `None` if a number does not fit, or if the fusion has more than [`MAX_USE_ROOTS`]
    /// entries.
    pub fn of(fused: &Fused, device: &Device, callees: &Callees<'_>) -> Option<FusionUse> {
        let graph = &fused.graph;
        let count = graph.ops.len();
        let mut all = FusionUse {
            flops: 0.0,
            ir_size: 0.0,
            utilisation: vec![0.0; count],
            use_roots: vec![Vec::new(); count],
            root_utilisation: vec![0.0; count + 1],
            copies: vec![0.0; count],
            bytes_written: 0.0,
        };
        let mut root_copies = vec![0.0; count + 1];
        let top = match fused.roots[..] {
            [only] => only,
            _ => count as OpId,
        };
        all.root_utilisation[top as usize] = 1.0;
        root_copies[top as usize] = 1.0;
        for &root in &fused.roots {
            all.use_roots[root as usize].push(top);
        }
        let mut entries = 0;
        for id in fused.users_first() {
            let at = id as usize;
            let roots = std::mem::take(&mut all.use_roots[at]);
            entries += roots.len();
            if entries > MAX_USE_ROOTS {
                return None;
            }
            let of_roots = roots.iter().map(|&root| all.root_utilisation[root as usize]);
            let often = of_roots.fold(0.0, |sum, often| single(sum + often));
            let copies: f64 = roots.iter().map(|&root| root_copies[root as usize]).sum();
            let op = &graph.ops[at];
            let cost = InstructionCost::of(op, device, callees)?;
            all.utilisation[at] = often;
            all.copies[at] = copies;
            all.flops = single(all.flops + single(often * cost.flops));
            all.ir_size += copies;
            for (i, &operand) in graph.operands[at].iter().enumerate() {
                let of_operand = &mut all.use_roots[operand as usize];
                if keeps_index(graph, id) {
                    for &root in &roots {
                        insert(of_operand, root);
                    }
                    continue;
                }
                insert(of_operand, operand);
                let size = elements(&graph.ops[operand as usize].shape)?;
                let part = cost.utilisation.get(i).copied().unwrap_or(1.0);
                // A partly read element counts as a whole one.
                let read = single(single(often * single(part)) * size).ceil();
                let read = if size > 0.0 { single(read / size) } else { 0.0 };
                let sum = &mut all.root_utilisation[operand as usize];
                *sum = single(*sum + read);
                root_copies[operand as usize] += copies;
            }
            all.use_roots[at] = roots;
        }
        all.bytes_written = bytes_written(fused)?;
        Some(all)
    }

    /// How often the common parts of two ops are computed at the same index. Source:
    /// `CommonElementwiseUtilization`.
    pub fn common(&self, a: OpId, b: OpId) -> f64 {
        let (a, b) = (&self.use_roots[a as usize], &self.use_roots[b as usize]);
        a.iter().filter(|root| b.contains(root)).map(|&root| self.root_utilisation[root as usize]).sum()
    }
}

/// Rounds as XLA does, which keeps these numbers as `f32`.
fn single(number: f64) -> f64 {
    f64::from(number as f32)
}

fn insert(roots: &mut Vec<OpId>, root: OpId) {
    if !roots.contains(&root) {
        roots.push(root);
    }
}

/// Whether the op reads its operands at its own index.
fn keeps_index(graph: &Graph, id: OpId) -> bool {
    let op = &graph.ops[id as usize];
    match op.opcode {
        Opcode::Tuple | Opcode::GetTupleElement => true,
        Opcode::Bitcast => op.operand_shapes.first().is_some_and(|from| from.dims() == op.shape.dims()),
        opcode => is_elementwise(opcode),
    }
}

/// Bytes of the results; a result that is updated in place counts only the update.
fn bytes_written(fused: &Fused) -> Option<f64> {
    let mut written = 0.0;
    for (position, &root) in fused.roots.iter().enumerate() {
        let op = fused.op(root);
        let shape = match op.opcode {
            Opcode::DynamicUpdateSlice => op.operand_shapes.get(1)?,
            _ => &op.shape,
        };
        let leaves = op.shape.tuple_elements().map_or(1, <[_]>::len).max(1);
        let copies = fused.outputs.iter().filter(|&&output| output == position).count() / leaves;
        written += shape.bytes()? as f64 * copies.max(1) as f64;
    }
    Some(written)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;

    /// Expects flops, copies in the code, and how often `p` is read.
    #[track_caller]
    fn check(lines: &str, flops: f64, ir_size: f64, p: f64) -> FusionUse {
        let analysis = fixture::analysis(lines, "h100-sxm").unwrap();
        let all = FusionUse::of(&analysis.fused, analysis.device, &fixture::callees()).unwrap();
        let read = all.utilisation[analysis.fused.graph.find("p").unwrap() as usize];
        assert_eq!((all.flops, all.ir_size, read), (flops, ir_size, p));
        all
    }

    #[test]
    fn a_diamond_is_computed_once() {
        let text = "p = f32[64] parameter(0)\n a = f32[64] negate(p)\n b = f32[64] floor(a)
            ROOT r = f32[64] multiply(a, b)";
        check(text, 3.0 * 3.0 * 64.0, 4.0, 1.0);
    }

    #[test]
    fn at_other_indices_it_is_computed_again() {
        let text = "\
p = f32[64] parameter(0)
 a = f32[64] negate(p)
 b = f32[64] reverse(a), dimensions={0}
            ROOT r = f32[64] multiply(a, b)";
        let all = check(text, 3.0 * 64.0 + 2.0 * 3.0 * 64.0, 6.0, 2.0);
        assert_eq!(all.common(0, 3), 1.0);
    }

    #[test]
    fn updates_in_place() {
        let text = "p = f32[8,64] parameter(0)\n u = f32[1,64] parameter(1)\n i = s32[] parameter(2)
            ROOT r = f32[8,64] dynamic-update-slice(p, u, i, i)";
        let all = check(text, 0.0, 5.0, 0.0);
        assert_eq!(all.bytes_written, 256.0);
    }
}
