//! Changes that would make an array coalesced. Each is checked by analysing the kernel again with the array
//! changed.

use std::sync::Arc;

use ir::{ArrayShape, Layout, Op, OpId, Opcode, Shape};

use super::accesses::Buffer;
use super::cause::Cause;
use super::code_access::Code;
use super::counts::Counts;
use super::kernel::BufferTraffic;
use crate::fused::Fused;
use crate::fusion_analysis::FusionAnalysis;

/// Arrays with more dimensions get no new layouts.
const MAX_RANK: usize = 6;

/// A change of the program, with the array's traffic before and after it. All arrays of the kernel together move
/// less than before.
#[derive(Debug, Clone, PartialEq)]
pub struct Remedy {
    pub change: RemedyChange,
    /// The counts in the worst case of the runtime variables, which are below the threshold too.
    pub counts: Counts,
    pub before: Counts,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RemedyChange {
    /// The array in this layout, minor to major.
    Layout(Vec<i64>),
    /// A separate transpose before this kernel.
    TransposeBefore(OpId),
}

impl FusionAnalysis {
    /// The change with which the array moves least, if the waste is then below `threshold`. Tries layouts
    /// with each dimension as the fastest and, if a transpose of the operand is the cause, the kernel without
    /// it.
    pub fn remedy(&self, buffer: Buffer, cause: Cause, threshold: f64, code: &Code<'_>) -> Option<Remedy> {
        let own = self.coalescing_of(code);
        let before = own.iter().find(|b| b.buffer == buffer)?.judged()?;
        let whole = sectors(&own);
        let mut best: Option<Remedy> = None;
        let mut consider = |change: RemedyChange, fused: Option<Fused>| {
            let altered = fused.and_then(|fused| FusionAnalysis::new(fused, self.device).ok());
            let Some(altered) = altered.map(|altered| altered.coalescing_of(code)) else { return };
            let counts = altered.iter().find(|b| b.buffer == buffer).and_then(|b| b.judged());
            let Some(counts) = counts else { return };
            let is_better = best.as_ref().is_none_or(|known| counts.sectors < known.counts.sectors);
            if counts.excess() < threshold && sectors(&altered) < whole && is_better {
                best = Some(Remedy { change, counts, before });
            }
        };
        for layout in self.layouts(buffer) {
            let fused = self.relaid(buffer, &layout);
            consider(RemedyChange::Layout(layout), fused);
        }
        if let (Buffer::Operand(number), Cause::Op(op)) = (buffer, cause) {
            consider(RemedyChange::TransposeBefore(op), self.without_transpose(number, op));
        }
        best
    }

    /// The array's layouts with another dimension as the fastest.
    fn layouts(&self, buffer: Buffer) -> Vec<Vec<i64>> {
        let Some(array) = self.op_of(buffer).and_then(|op| self.fused.op(op).shape.as_array()) else {
            return Vec::new();
        };
        let order = array.minor_to_major();
        if order.len() > MAX_RANK {
            return Vec::new();
        }
        let candidates = order.iter().skip(1).filter(|&&dim| array.dims[dim] > 1);
        let layout = |&minor: &usize| {
            let others = order.iter().filter(|&&dim| dim != minor);
            std::iter::once(&minor).chain(others).map(|&dim| dim as i64).collect()
        };
        candidates.map(layout).collect()
    }

    /// The op that an array is: a parameter, or one that computes a result.
    pub(super) fn op_of(&self, buffer: Buffer) -> Option<OpId> {
        match buffer {
            Buffer::Operand(number) => self.fused.graph.parameter(number),
            Buffer::Result(result) => {
                let root = *self.fused.outputs.get(result)?;
                Some(self.fused.roots[root])
            }
        }
    }

    /// The fusion with one array in another layout. `None` if a bitcast ties the layout to that of another
    /// array.
    fn relaid(&self, buffer: Buffer, minor_to_major: &[i64]) -> Option<Fused> {
        let op = self.op_of(buffer)?;
        let is_tied = |op: OpId| self.fused.op(op).opcode == Opcode::Bitcast;
        let users = &self.fused.users[op as usize];
        if is_tied(op) || users.iter().any(|&user| is_tied(user)) {
            return None;
        }
        let array = self.fused.op(op).shape.as_array()?;
        let known = array.layout.clone().unwrap_or_else(|| Layout::row_major(array.rank()));
        let layout = Layout { minor_to_major: minor_to_major.to_vec(), ..known };
        let shape = Shape::Array(Arc::new(ArrayShape { layout: Some(layout), ..array.clone() }));
        let mut fused = self.fused.clone();
        fused.reshape(op, shape);
        Some(fused)
    }

    /// The fusion with an operand that is already transposed; `None` if another op reads it.
    fn without_transpose(&self, operand: u32, transpose: OpId) -> Option<Fused> {
        let parameter = self.fused.graph.parameter(operand)?;
        let is_only_user = self.fused.users[parameter as usize] == [transpose];
        if self.fused.op(transpose).opcode != Opcode::Transpose || !is_only_user {
            return None;
        }
        let mut fused = self.fused.clone();
        let shape = self.fused.op(transpose).shape.clone();
        fused.reshape(parameter, shape.clone());
        // A copy of the same elements at the same positions.
        fused.graph.ops[transpose as usize] =
            Op { opcode: Opcode::Bitcast, operand_shapes: vec![shape.clone()], ..Op::leaf(shape) };
        Some(fused)
    }
}

/// The sectors of all arrays whose accesses are known.
fn sectors(buffers: &[BufferTraffic]) -> u64 {
    buffers.iter().filter_map(|b| b.judged()).fold(0, |sum, counts| sum.saturating_add(counts.sectors))
}

impl Fused {
    /// Changes the shape of an op, also as its users see it.
    fn reshape(&mut self, op: OpId, shape: Shape) {
        for &user in &self.users[op as usize] {
            for (i, &operand) in self.graph.operands[user as usize].iter().enumerate() {
                if operand == op
                    && let Some(slot) = self.graph.ops[user as usize].operand_shapes.get_mut(i)
                {
                    *slot = shape.clone();
                }
            }
        }
        self.graph.ops[op as usize].shape = shape;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;

    /// Checks cause and remedy of the first operand or result that is not coalesced.
    #[track_caller]
    fn check(instructions: &str, expect: &str) {
        let analysis = fixture::analysis(instructions, "h100-sxm").expect("a kernel");
        let found =
            analysis.coalescing().into_iter().find(|b| b.is_coalesced() == Some(false)).expect("waste");
        let access = &found.worst_access().expect("an access").access;
        let cause = analysis.cause(access, 2.0);
        let counts = found.best().expect("counts");
        let remedy = match analysis.remedy(found.buffer, cause, 2.0, &|_| Err("".into())) {
            Some(Remedy { change, counts, .. }) => format!("{change:?} {}", counts.sectors_per_request()),
            None => "no remedy".to_owned(),
        };
        let cause = match cause {
            Cause::Layout(op) => format!("layout of {}", analysis.fused.name(op)),
            Cause::Op(op) => analysis.fused.name(op).to_owned(),
            Cause::Tiles(op) => format!("tiles of {}", analysis.fused.name(op)),
        };
        let got = format!("{:?} {} by {cause}: {remedy}", found.buffer, counts.sectors_per_request());
        assert_eq!(got, expect);
    }

    #[test]
    fn layouts_that_differ() {
        check(
            "p = f32[512,512]{1,0} parameter(0)\n q = f32[512,512]{0,1} parameter(1)
             ROOT a = f32[512,512]{1,0} add(p, q)",
            "Operand(1) 32 by a: Layout([1, 0]) 4",
        );
    }

    #[test]
    fn a_transpose_in_a_loop() {
        check(
            "p = f32[512,512] parameter(0)\n t = f32[512,512] transpose(p), dimensions={1,0}
             ROOT r = f32[512,512] reverse(t), dimensions={0}",
            "Operand(0) 32 by t: Layout([0, 1]) 4",
        );
        // In another layout, one of the transposes would go through shared memory.
        check(
            "\
p = f32[512,512] parameter(0)
 n = f32[512,512] negate(p)
             t = f32[512,512] transpose(n), dimensions={1,0}
 s = f32[512,512] transpose(p), dimensions={1,0}
             ROOT a = f32[512,512] add(t, s)",
            "Operand(0) 32 by t: no remedy",
        );
    }

    #[test]
    fn a_stride_has_no_remedy_by_layout() {
        check(
            "p = f32[65536] parameter(0)\n ROOT s = f32[8192] slice(p), slice={[0:65536:8]}",
            "Operand(0) 32 by s: no remedy",
        );
    }
}
