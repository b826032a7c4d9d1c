//! The result shape of every opcode, from operand shapes, attributes and called computations.
//!
//! Used where the text leaves the shape out, and to hold a written one against. Messages say what was expected and what
//! is there. Layouts are not inferred; dynamic dimensions where they simply stay. Source of the rules: XLA
//! `service/shape_inference.cc`, and `hlo_verifier.cc` for the ops that have none there.
//!
//! Architecture Invariant: no panic and no wrap, whatever the operands and attributes: sizes are checked, an unbounded
//! dimension stays unbounded.

mod algebra;
mod calls;
mod collectives;
mod contractions;
mod elementwise;
mod given;
mod indexed;
mod moves;
mod problem;
mod windows;

use syntax::hlo::{ElementType, Opcode};

use crate::attributes::Attributes;
use crate::op_table::is_elementwise;
use crate::shape::Shape;
pub use elementwise::has_result_of;
pub(crate) use elementwise::{binary_expects, unary_expects, unary_type};
pub use given::{Called, Given};
use given::{Inferred, array, ensure};
pub use problem::{CalleePart, Problem, Reason as ShapeReason};

/// The shape where the text gives none, and nothing is known of called computations.
pub(crate) fn infer_shape(opcode: Opcode, operands: &[&Shape], attributes: &Attributes) -> Inferred {
    // A reducer's result types are those of the inputs then, and a scalar may stand beside an array.
    result_shape(
        opcode,
        &Given { operands, attributes: attributes.view(), declared: None, called: &|_| None },
    )
}

/// The shape of `opcode`'s result. `Err` says what was expected and what is there.
pub fn result_shape(opcode: Opcode, given: &Given<'_>) -> Result<Shape, ShapeReason> {
    use Opcode::*;
    match opcode {
        Add | And | Atan2 | Compare | Complex | Divide | Maximum | Minimum | Mulhi | Multiply | Or
        | Power | Remainder | ShiftLeft | ShiftRightArithmetic | ShiftRightLogical | StochasticConvert
        | Subtract | Xor => elementwise::binary(opcode, given),
        Clamp => elementwise::clamp(given),
        Select => elementwise::select(given),
        Convert => elementwise::convert(given),
        BitcastConvert => elementwise::bitcast_convert(given),
        Map => elementwise::map(given),
        Rng => elementwise::rng(given),
        Iota => elementwise::iota(given),
        opcode if is_elementwise(opcode) => elementwise::unary(opcode, given),

        Broadcast => moves::broadcast(given),
        Reshape => moves::reshape(given),
        DynamicReshape => moves::dynamic_reshape(given),
        Bitcast => moves::bitcast(given),
        Transpose => moves::transpose(given),
        Reverse => moves::reverse(given),
        Slice => moves::slice(given),
        DynamicSlice => moves::dynamic_slice(given),
        DynamicUpdateSlice => moves::dynamic_update_slice(given),
        Concatenate => moves::concatenate(given),
        Pad => moves::pad(given),
        GetDimensionSize => moves::get_dimension_size(given),
        SetDimensionSize => moves::set_dimension_size(given),
        Sort => moves::sort(given),
        Topk => moves::topk(given),
        Gather => indexed::gather(given),
        Scatter => indexed::scatter(given),

        Reduce => windows::reduce(given),
        ReduceWindow => windows::reduce_window(given),
        SelectAndScatter => windows::select_and_scatter(given),
        Scan => windows::scan(given),
        Dot => contractions::dot(given),
        ScaledDot => contractions::scaled_dot(given),
        RaggedDot => contractions::ragged_dot(given),
        Convolution => contractions::convolution(given),

        Fft => algebra::fft(given),
        Cholesky => algebra::cholesky(given),
        TriangularSolve => algebra::triangular_solve(given),
        BatchNormTraining | BatchNormInference | BatchNormGrad => algebra::batch_norm(opcode, given),

        AllGather | AllGatherStart => collectives::all_gather(opcode, given),
        AllReduce | AllReduceStart => collectives::all_reduce(given),
        ReduceScatter => collectives::reduce_scatter(opcode, given),
        AllToAll => collectives::all_to_all(given),
        RaggedAllToAll => collectives::ragged_all_to_all(given),
        CollectivePermute | CollectivePermuteStart => collectives::permute(opcode, given),
        CollectiveBroadcast => collectives::broadcast(given),
        CollectiveReduce => collectives::reduce(given),

        Tuple => calls::tuple(given),
        GetTupleElement => calls::get_tuple_element(given),
        AllReduceDone | OptBarrier | Domain | Shuffle => calls::first(given),
        AddDependency => {
            let token = given.operand(1)?;
            ensure(*token == Shape::Token, problem::operand(1), || {
                format!("expected operand 1 to be a token, but it is {token}")
            })?;
            calls::first(given)
        }
        AfterAll => Ok(Shape::Token),
        AllGatherDone | CollectivePermuteDone => calls::done(given, 1),
        CopyStart => calls::copy_start(given),
        CopyDone => calls::done(given, 0),
        Send | SendDone | Recv | RecvDone | Infeed | Outfeed => calls::transfer(opcode, given),
        Fusion | Call => calls::call(opcode, given),
        While => calls::while_loop(given),
        Conditional => calls::conditional(given),
        RngBitGenerator => calls::rng_bit_generator(given),
        RngGetAndUpdateState => Ok(array(ElementType::U64, vec![2])),
        PartitionId | ReplicaId => Ok(array(ElementType::U32, Vec::new())),
        Parameter | Constant | CustomCall | AsyncStart | AsyncUpdate | AsyncDone => written(given),
        opcode => {
            let message = format!("the shape of {opcode} does not follow from its operands");
            Err(Problem::at(problem::SHAPE, message))
        }
    }
}

/// Nothing to hold the declared shape against.
fn written(given: &Given<'_>) -> Inferred {
    Ok(given.declared()?.clone())
}

/// Ops whose floating operands must share one type unless mixed precision is allowed.
/// Source: `ShapeVerifier::CheckShape`, and the ops that never come there.
pub(crate) fn is_never_mixed(opcode: Opcode) -> bool {
    use Opcode::*;
    !matches!(
        opcode,
        Call | Conditional
            | Constant
            | Convolution
            | Dot
            | RaggedDot
            | ScaledDot
            | AllReduce
            | AllReduceStart
            | AllReduceDone
            | AllGather
            | AllGatherStart
            | AllGatherDone
            | AsyncStart
            | AsyncUpdate
            | AsyncDone
            | CollectivePermute
            | CollectivePermuteStart
            | CollectivePermuteDone
            | CollectiveReduce
            | CopyStart
            | CopyDone
            | CustomCall
            | Domain
            | Fusion
            | GetTupleElement
            | OptBarrier
            | Infeed
            | Outfeed
            | Parameter
            | Recv
            | RecvDone
            | ReducePrecision
            | Send
            | SendDone
            | Sort
            | Tuple
            | While
            | ReduceWindow
            | Rng
            | RngBitGenerator
            | RngGetAndUpdateState
            | Iota
            | Bitcast
            | Broadcast
            | Reshape
            | DynamicReshape
            | Scan
    )
}
