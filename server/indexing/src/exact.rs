//! Maps by [`crate::Rules::Exact`] for ops that are unknown to XLA.

use ir::{Op, Opcode};

use crate::broadcast::{self, Rotation};
use crate::checks::Checked;
use crate::operand_indexing::OpIndexing;
use crate::{
    batch_norm, bitcast, collectives, custom_call, linear_algebra, pass_through, ragged_dot, reshape,
    scatter, select_and_scatter, sort, whole_operand,
};

/// Maps an output to the operands; `None` for an op whose rule is the same as XLA's. If even this rule is not
/// exact, the access is marked: [`crate::OperandIndexing::is_upper_bound`].
pub(crate) fn output_to_input(op: &Op, output_id: usize) -> Option<Checked<OpIndexing>> {
    Some(match op.opcode {
        Opcode::Sort => sort::sort(op, output_id),
        Opcode::Topk => sort::topk(op, output_id),
        Opcode::Scatter => scatter::scatter(op, output_id),
        Opcode::SelectAndScatter => select_and_scatter::select_and_scatter(op),
        Opcode::RaggedDot => ragged_dot::ragged_dot(op),
        Opcode::Bitcast => bitcast::bitcast_op(op),
        Opcode::DynamicReshape => reshape::dynamic_reshape(op),
        Opcode::Shuffle => broadcast::shuffle(op, Rotation::OutputToInput),
        Opcode::Fft => linear_algebra::fft(op),
        Opcode::Cholesky => linear_algebra::cholesky(op),
        Opcode::TriangularSolve => linear_algebra::triangular_solve(op),
        Opcode::BatchNormTraining | Opcode::BatchNormInference | Opcode::BatchNormGrad => {
            batch_norm::batch_norm(op, output_id)
        }
        Opcode::AllGather
        | Opcode::AllGatherStart
        | Opcode::AllReduce
        | Opcode::AllReduceStart
        | Opcode::AllToAll
        | Opcode::CollectiveBroadcast
        | Opcode::CollectivePermute
        | Opcode::CollectivePermuteStart
        | Opcode::CollectiveReduce
        | Opcode::RaggedAllToAll
        | Opcode::ReduceScatter => collectives::collective(op, output_id),
        Opcode::AddDependency
        | Opcode::AllGatherDone
        | Opcode::AllReduceDone
        | Opcode::AsyncDone
        | Opcode::AsyncUpdate
        | Opcode::CollectivePermuteDone
        | Opcode::CopyDone
        | Opcode::CopyStart
        | Opcode::Domain
        | Opcode::GetTupleElement
        | Opcode::OptBarrier
        | Opcode::RecvDone
        | Opcode::Send => pass_through::pass_through(op, output_id),
        Opcode::SetDimensionSize => pass_through::set_dimension_size(op),
        Opcode::GetDimensionSize => pass_through::dimension_size(op),
        Opcode::Tuple => pass_through::tuple(op, output_id),
        Opcode::AsyncStart => match pass_through::async_operand(op, output_id) {
            Some(answer) => answer,
            None => whole_operand::everything(op, output_id),
        },
        Opcode::CustomCall => custom_call::custom_call(op, output_id),
        Opcode::Rng | Opcode::RngBitGenerator => whole_operand::random(op, output_id),
        // `in_graph` has better maps, because they need the called computations.
        Opcode::Call | Opcode::Conditional | Opcode::Fusion | Opcode::While => {
            whole_operand::everything(op, output_id)
        }
        // XLA's rule.
        Opcode::Abs
        | Opcode::Acos
        | Opcode::Acosh
        | Opcode::Add
        | Opcode::AfterAll
        | Opcode::And
        | Opcode::Asin
        | Opcode::Asinh
        | Opcode::Atan2
        | Opcode::Atanh
        | Opcode::BitcastConvert
        | Opcode::Broadcast
        | Opcode::Cbrt
        | Opcode::Ceil
        | Opcode::Clamp
        | Opcode::Compare
        | Opcode::Complex
        | Opcode::Concatenate
        | Opcode::Constant
        | Opcode::Convert
        | Opcode::Convolution
        | Opcode::Copy
        | Opcode::Cosine
        | Opcode::Cosh
        | Opcode::CountLeadingZeros
        | Opcode::Divide
        | Opcode::Dot
        | Opcode::DynamicSlice
        | Opcode::DynamicUpdateSlice
        | Opcode::Erf
        | Opcode::Exp2
        | Opcode::Exponential
        | Opcode::ExponentialMinusOne
        | Opcode::Floor
        | Opcode::Gather
        | Opcode::Imag
        | Opcode::Infeed
        | Opcode::Iota
        | Opcode::IsFinite
        | Opcode::Log
        | Opcode::Log2
        | Opcode::LogPlusOne
        | Opcode::Logistic
        | Opcode::Map
        | Opcode::Maximum
        | Opcode::Minimum
        | Opcode::Mulhi
        | Opcode::Multiply
        | Opcode::Negate
        | Opcode::Not
        | Opcode::Or
        | Opcode::Outfeed
        | Opcode::Pad
        | Opcode::Parameter
        | Opcode::PartitionId
        | Opcode::Popcnt
        | Opcode::Power
        | Opcode::Real
        | Opcode::Recv
        | Opcode::Reduce
        | Opcode::ReducePrecision
        | Opcode::ReduceWindow
        | Opcode::Remainder
        | Opcode::ReplicaId
        | Opcode::Reshape
        | Opcode::Reverse
        | Opcode::RngGetAndUpdateState
        | Opcode::RoundNearestAfz
        | Opcode::RoundNearestEven
        | Opcode::Rsqrt
        | Opcode::ScaledDot
        | Opcode::Scan
        | Opcode::Select
        | Opcode::SendDone
        | Opcode::ShiftLeft
        | Opcode::ShiftRightArithmetic
        | Opcode::ShiftRightLogical
        | Opcode::Sign
        | Opcode::Sine
        | Opcode::Sinh
        | Opcode::Slice
        | Opcode::Sqrt
        | Opcode::StochasticConvert
        | Opcode::Subtract
        | Opcode::Tan
        | Opcode::Tanh
        | Opcode::Transpose
        | Opcode::Xor => return None,
    })
}
