//! What an op costs: arithmetic and bytes of memory, exactly counted from shapes.
//!
//! Source of the rules: XLA `service/hlo_cost_analysis.cc`. As there, a multiply-add counts as two operations, functions
//! like `exponential` are counted separately, and loops count as one iteration because the text does not say how many there
//! are. Rules that differ say so.

use syntax::hlo::{AttributeKey, Opcode};

use crate::graph::Op;
use crate::op_table::op_info;
use crate::shape::Shape;

/// Of one op, or summed over a computation.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Cost {
    /// Arithmetic operations on elements, in FLOP; on integers too.
    pub flops: u64,
    /// Transcendental functions of one element each.
    pub transcendentals: u64,
    /// Bytes read from operands and written to the result.
    pub bytes: u64,
    /// Ops that the numbers leave out: custom calls, unknown shapes, numbers beyond 64 bits.
    pub unknown: u64,
}

impl Cost {
    /// An op without known costs.
    pub const UNKNOWN: Cost = Cost { flops: 0, transcendentals: 0, bytes: 0, unknown: 1 };

    /// Both together; a number beyond 64 bits stays at the largest one and is counted as unknown.
    #[must_use]
    pub fn plus(self, other: Cost) -> Cost {
        let mut overflows = 0;
        let mut add = |a: u64, b: u64| {
            a.checked_add(b).unwrap_or_else(|| {
                overflows = 1;
                u64::MAX
            })
        };
        let flops = add(self.flops, other.flops);
        let transcendentals = add(self.transcendentals, other.transcendentals);
        let bytes = add(self.bytes, other.bytes);
        let unknown = self.unknown.saturating_add(other.unknown).saturating_add(overflows);
        Cost { flops, transcendentals, bytes, unknown }
    }

    /// `times` executions.
    #[must_use]
    pub fn times(self, times: u64) -> Cost {
        let mut overflows = 0;
        let mut multiply = |a: u64| {
            a.checked_mul(times).unwrap_or_else(|| {
                overflows = 1;
                u64::MAX
            })
        };
        let flops = multiply(self.flops);
        let transcendentals = multiply(self.transcendentals);
        let bytes = multiply(self.bytes);
        Cost { flops, transcendentals, bytes, unknown: self.unknown.saturating_add(overflows) }
    }

    /// The larger of each number: of the branches of a conditional one is taken.
    #[must_use]
    pub fn max(self, other: Cost) -> Cost {
        Cost {
            flops: self.flops.max(other.flops),
            transcendentals: self.transcendentals.max(other.transcendentals),
            bytes: self.bytes.max(other.bytes),
            unknown: self.unknown.max(other.unknown),
        }
    }
}

/// How the computations that an op calls add to its cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CalledCost {
    /// It calls nothing, or nothing that counts.
    Nothing,
    /// Their arithmetic, so many times; their bytes are not in memory.
    Arithmetic(u64),
    /// The same of `select=` and `scatter=`, each with a number of its own.
    SelectAndScatter { select: u64, scatter: u64 },
    /// All of it, once each: a call, one iteration of a loop.
    Everything,
    /// The dearest one.
    OneOf,
    /// The number of executions does not fit 64 bits, or a shape is missing.
    Unknown,
}

/// The cost of the op itself, without the computations it calls.
pub fn op_cost(op: &Op) -> Cost {
    let bytes = bytes_accessed(op);
    let arithmetic = arithmetic(op);
    let (Some(bytes), Some((flops, transcendentals))) = (bytes, arithmetic) else {
        return Cost {
            flops: arithmetic.map_or(0, |a| a.0),
            transcendentals: arithmetic.map_or(0, |a| a.1),
            bytes: bytes.unwrap_or(0),
            unknown: 1,
        };
    };
    let unknown = u64::from(op.opcode == Opcode::CustomCall);
    Cost { flops, transcendentals, bytes, unknown }
}

/// How the arithmetic of an op is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Flops {
    Nothing,
    PerElement,
    /// A transcendental function of each element.
    Transcendental,
    Dot,
    Convolution,
    /// One for each element of each array of the result.
    Reduction,
    Random,
    Sort,
    Fft,
    TriangularSolve,
    Cholesky,
}

/// Which bytes an op touches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Traffic {
    /// Operands are read once, the result is written once.
    OperandsAndResult,
    /// It hands pointers on; or what it calls, or the other half of an asynchronous pair, counts.
    Nothing,
    /// A table of pointers is written.
    Pointers,
    Result,
    /// Of a triangular matrix one half.
    Cholesky,
    TriangularSolve,
    /// As much is read as written.
    TwiceResult,
    /// The same, and the indices are read; of several XLA counts the first.
    TwiceResultAndIndices,
    /// In place: the rest of the operand is not touched.
    DynamicUpdateSlice,
    Scatter,
}

/// How often an op executes what it calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Callees {
    /// It calls nothing, or that is in the op's own count: the comparison of `sort`, the sum of a collective.
    Nothing,
    /// A call, or one iteration of a loop: its bytes count, too.
    Everything,
    OneOf,
    Once,
    PerElement,
    Reduce,
    ReduceWindow,
    Scatter,
    SelectAndScatter,
}

/// How often the op executes what it calls.
pub fn called_cost(op: &Op) -> CalledCost {
    let times = match op_info(op.opcode).callees {
        Callees::Nothing => return CalledCost::Nothing,
        Callees::Everything => return CalledCost::Everything,
        Callees::OneOf => return CalledCost::OneOf,
        Callees::Once => Some(1),
        Callees::PerElement => elements(&op.shape),
        // All inputs of a variadic reduce have the size of the first.
        Callees::Reduce => {
            operand_elements(op, 0).zip(first_elements(&op.shape)).map(|(i, o)| i.saturating_sub(o))
        }
        Callees::ReduceWindow => {
            let window = window_elements(op);
            first_elements(&op.shape)
                .zip(window)
                .and_then(|(out, window)| out.checked_mul(window.saturating_sub(1)))
        }
        Callees::Scatter => op.operand_shapes.last().and_then(elements),
        Callees::SelectAndScatter => {
            let source = operand_elements(op, 1);
            let select =
                source.zip(window_elements(op)).and_then(|(n, w)| n.checked_mul(w.saturating_sub(1)));
            return match source.zip(select) {
                Some((scatter, select)) => CalledCost::SelectAndScatter { select, scatter },
                None => CalledCost::Unknown,
            };
        }
    };
    times.map_or(CalledCost::Unknown, CalledCost::Arithmetic)
}

/// FLOP and transcendentals; nothing where 64 bits do not hold them or a size is not known.
fn arithmetic(op: &Op) -> Option<(u64, u64)> {
    Some(match op_info(op.opcode).flops {
        Flops::Nothing => (0, 0),
        Flops::PerElement => (elements(&op.shape)?, 0),
        Flops::Transcendental => (0, elements(&op.shape)?),
        Flops::Dot => (dot_flops(op)?, 0),
        Flops::Convolution => (convolution_flops(op)?, 0),
        Flops::Reduction => (tree_elements(&op.shape)?, 0),
        Flops::Random => (0, tree_elements(&op.shape)?),
        Flops::Sort => {
            let elements = operand_elements(op, 0)?;
            (elements.checked_mul(u64::from(ceil_log2(elements)))?, 0)
        }
        Flops::Fft => {
            // Four multiply-adds per complex product.
            let lengths = op.attributes.ints(AttributeKey::FftLength).iter();
            let size = |&d: &i64| u64::try_from(d).ok().filter(|&d| d > 0);
            let log = lengths.map(size).try_fold(1u64, |n, d| n.checked_mul(u64::from(d?.ilog2())))?;
            (elements(&op.shape)?.checked_mul(8)?.checked_mul(log)?, 0)
        }
        Flops::TriangularSolve => {
            let side = last_dim(op, 0)?;
            (operand_elements(op, 1)?.checked_mul(side)?.checked_mul(2)?, 0)
        }
        Flops::Cholesky => (operand_elements(op, 0)?.checked_mul(last_dim(op, 0)?)? / 3, 0),
    })
}

/// Two per multiply-add: the result's elements times the contracted sizes.
fn dot_flops(op: &Op) -> Option<u64> {
    let lhs = op.operand_shapes.first()?.dims();
    let contracted = op.attributes.ints(AttributeKey::LhsContractingDims).iter();
    let width = contracted.map(|&d| lhs.get(usize::try_from(d).ok()?).copied()).try_fold(1u64, product)?;
    elements(&op.shape)?.checked_mul(width)?.checked_mul(2)
}

/// Two per multiply-add, of those alone that read the input and neither its padding nor the holes of its dilation.
fn convolution_flops(op: &Op) -> Option<u64> {
    let dims = op.attributes.convolution_dims()?;
    let input = op.operand_shapes.first()?.dims();
    let kernel = op.operand_shapes.get(1)?.dims();
    let output = op.shape.dims();
    let mut positions = 1u64;
    for (i, window) in op.attributes.window().iter().enumerate() {
        let size = *input.get(*dims.input_spatial.get(i)?)?;
        let out = *output.get(*dims.output_spatial.get(i)?)?;
        positions = positions.checked_mul(valid_positions(window, size, out)?)?;
    }
    let groups = |key| op.attributes.int(key).and_then(|n| u64::try_from(n).ok()).unwrap_or(1).max(1);
    // The kernel's input features are those of one group already.
    let features = u64::try_from(*kernel.get(dims.kernel_input_feature)?).ok()?;
    let out = u64::try_from(*output.get(dims.output_feature)?).ok()?;
    let batch = u64::try_from(*input.get(dims.input_batch)?).ok()? / groups(AttributeKey::BatchGroupCount);
    positions.checked_mul(features)?.checked_mul(out)?.checked_mul(batch)?.checked_mul(2)
}

/// Pairs of output position and window position of one dimension that meet an element of the input. Counted per window
/// position, in closed form over the outputs where nothing is dilated.
fn valid_positions(window: &crate::WindowDim, input: i64, output: i64) -> Option<u64> {
    let (stride, base) = (window.stride.max(1), window.base_dilation.max(1));
    if window.size <= 0 || input <= 0 || output <= 0 {
        return Some(0);
    }
    // The dilated input ends with its last element.
    let extent = (input - 1).checked_mul(base)?.checked_add(1)?;
    // Nobody convolves like this; a text may say so all the same.
    if window.size > 1 << 16 || (base > 1 && window.size.checked_mul(output)? > 1 << 20) {
        return None;
    }
    let mut valid = 0u64;
    for k in 0..window.size {
        // Output o reads place o * stride + first of the dilated input.
        let first = k.checked_mul(window.window_dilation)?.checked_sub(window.pad_low)?;
        let from = if first >= 0 { 0 } else { first.checked_neg()?.checked_add(stride - 1)? / stride };
        let last = extent.checked_sub(1)?.checked_sub(first)?;
        let behind = if last < 0 { 0 } else { (last / stride).checked_add(1)?.min(output) };
        let count = match base {
            1 => behind.checked_sub(from)?.max(0),
            _ => (from..behind).filter(|o| (o * stride + first).rem_euclid(base) == 0).count() as i64,
        };
        valid = valid.checked_add(count.unsigned_abs())?;
    }
    Some(valid)
}

fn bytes_accessed(op: &Op) -> Option<u64> {
    let result = || op.shape.bytes();
    let operand = |i: usize| op.operand_shapes.get(i).map_or(Some(0), Shape::bytes);
    let operands = |range: std::ops::Range<usize>| {
        range.into_iter().try_fold(0u64, |sum, i| sum.checked_add(operand(i)?))
    };
    let count = op.operand_shapes.len();
    match op_info(op.opcode).traffic {
        Traffic::OperandsAndResult => operands(0..count)?.checked_add(result()?),
        Traffic::Nothing => Some(0),
        Traffic::Pointers => u64::try_from(count).ok()?.checked_mul(8),
        Traffic::Result => result(),
        Traffic::Cholesky => (operand(0)? / 2).checked_add(result()? / 2),
        Traffic::TriangularSolve => (operand(0)? / 2).checked_add(operand(1)?)?.checked_add(result()?),
        Traffic::TwiceResult => result()?.checked_mul(2),
        Traffic::TwiceResultAndIndices => result()?.checked_mul(2)?.checked_add(operand(1)?),
        Traffic::DynamicUpdateSlice => operand(1)?.checked_mul(2)?.checked_add(operand(2)?),
        Traffic::Scatter => {
            // Reads the updated elements, the indices and the updates, and writes the updated elements.
            let inputs = count.saturating_sub(1) / 2;
            let updates = operands(inputs + 1..count.max(inputs + 1))?;
            updates.checked_mul(3)?.checked_add(operand(inputs)?)
        }
    }
}

fn product(n: u64, size: Option<i64>) -> Option<u64> {
    n.checked_mul(u64::try_from(size?).ok()?)
}

fn elements(shape: &Shape) -> Option<u64> {
    shape.as_array()?.elements().map(i64::unsigned_abs)
}

/// Of an array, or of the first array of a tuple.
fn first_elements(shape: &Shape) -> Option<u64> {
    shape.tuple_elements().map_or_else(|| elements(shape), |all| elements(all.first()?))
}

/// Of all arrays.
fn tree_elements(shape: &Shape) -> Option<u64> {
    match shape {
        Shape::Tuple(all) => all.iter().try_fold(0u64, |n, e| n.checked_add(tree_elements(e)?)),
        Shape::Array(_) | Shape::Buffer(_) => elements(shape),
        Shape::Token | Shape::Opaque => Some(0),
    }
}

fn operand_elements(op: &Op, operand: usize) -> Option<u64> {
    elements(op.operand_shapes.get(operand)?)
}

fn last_dim(op: &Op, operand: usize) -> Option<u64> {
    u64::try_from(*op.operand_shapes.get(operand)?.dims().last()?).ok()
}

fn window_elements(op: &Op) -> Option<u64> {
    op.attributes.window().iter().map(|w| Some(w.size)).try_fold(1u64, product)
}

fn ceil_log2(n: u64) -> u32 {
    if n <= 1 { 0 } else { (n - 1).ilog2() + 1 }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use syntax::hlo::PieceState;

    use super::*;

    /// FLOP, transcendentals, bytes of the last instruction, and how it counts what it calls.
    fn check(lines: &str, flops: u64, transcendentals: u64, bytes: u64, called: CalledCost) {
        let text: Arc<str> = format!(
            "\
HloModule m

f {{
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b)
}}

ENTRY e {{
{lines}
}}
"
        )
        .into();
        let parse = syntax::hlo::parse(&text, PieceState::HEADER);
        assert_eq!(parse.errors, [], "{lines}");
        let block = crate::lower(text, Arc::new(parse));
        let last = block.parse.instructions.len() as u32 - 1;
        let op = block.op(last, |_| None).expect("the op is whole");
        let cost = op_cost(&op);
        assert_eq!(
            (cost.flops, cost.transcendentals, cost.bytes),
            (flops, transcendentals, bytes),
            "{lines}"
        );
        assert_eq!(called_cost(&op), called, "{lines}");
    }

    #[test]
    fn arithmetic_is_counted_by_elements() {
        use CalledCost::Nothing;
        let p = "  p = f32[8,16] parameter(0)\n";
        check(&format!("{p}  q = f32[8,16] add(p, p)"), 128, 0, 1536, Nothing);
        check(&format!("{p}  q = f32[8,16] exponential(p)"), 0, 128, 1024, Nothing);
        check(&format!("{p}  q = f32[16,8] transpose(p), dimensions={{1,0}}"), 0, 0, 1024, Nothing);
        check(&format!("{p}  q = f32[2,2] slice(p), slice={{[0:2],[0:2]}}"), 0, 0, 32, Nothing);
        check(&format!("{p}  q = (f32[8,16]) tuple(p)"), 0, 0, 8, Nothing);
    }

    #[test]
    fn contractions_count_two_per_multiply_add() {
        check(
            "  p = f32[8,16] parameter(0)\n  w = f32[16,4] parameter(1)\n  q = f32[8,4] dot(p, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}",
            2 * 8 * 4 * 16,
            0,
            4 * (128 + 64 + 32),
            CalledCost::Nothing,
        );
        // Ten outputs read three places each; the first and the last read padding once.
        check(
            "  x = f32[1,10,2] parameter(0)\n  w = f32[3,2,4] parameter(1)\n  c = f32[1,10,4] convolution(x, w), window={size=3 pad=1_1}, dim_labels=b0f_0io->b0f",
            2 * 28 * 2 * 4,
            0,
            4 * (20 + 24 + 40),
            CalledCost::Nothing,
        );
    }

    #[test]
    fn reductions_apply_their_computation_once_per_element_that_goes_away() {
        let p = "  p = f32[8,16] parameter(0)\n  z = f32[] constant(0)\n";
        check(
            &format!("{p}  q = f32[8] reduce(p, z), dimensions={{1}}, to_apply=f"),
            0,
            0,
            4 * (128 + 1 + 8),
            CalledCost::Arithmetic(120),
        );
        check(
            &format!("{p}  q = f32[8,15] reduce-window(p, z), window={{size=1x2}}, to_apply=f"),
            0,
            0,
            4 * (128 + 1 + 120),
            CalledCost::Arithmetic(120),
        );
    }

    /// The closed form against counting every pair.
    #[test]
    fn valid_positions_are_those_that_meet_an_element() {
        for (size, stride, pad_low, base, dilation, input) in
            cases([1, 3], [1, 2], [-1, 0, 2], [1, 2], [1, 3], [1, 5])
        {
            let window = crate::WindowDim {
                size,
                stride,
                pad_low,
                pad_high: 1,
                base_dilation: base,
                window_dilation: dilation,
                is_reversed: false,
            };
            let output = 7;
            let mut expect = 0;
            for o in 0..output {
                for k in 0..size {
                    let at = o * stride + k * dilation - pad_low;
                    expect += u64::from(at >= 0 && at % base == 0 && at / base < input);
                }
            }
            assert_eq!(valid_positions(&window, input, output), Some(expect), "{window:?} {input}");
        }
    }

    type Case = (i64, i64, i64, i64, i64, i64);

    fn cases(a: [i64; 2], b: [i64; 2], c: [i64; 3], d: [i64; 2], e: [i64; 2], f: [i64; 2]) -> Vec<Case> {
        let mut out = Vec::new();
        for (a, b) in a.iter().flat_map(|a| b.iter().map(move |b| (a, b))) {
            for (c, d) in c.iter().flat_map(|c| d.iter().map(move |d| (c, d))) {
                for (e, f) in e.iter().flat_map(|e| f.iter().map(move |f| (e, f))) {
                    out.push((*a, *b, *c, *d, *e, *f));
                }
            }
        }
        out
    }

    #[test]
    fn sums_beyond_64_bits_are_unknown() {
        let huge = Cost { flops: u64::MAX, ..Cost::default() };
        assert_eq!(huge.plus(huge).unknown, 1);
        assert_eq!(huge.times(2).unknown, 1);
        assert_eq!(huge.times(1), huge);
    }
}
