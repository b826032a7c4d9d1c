//! The table of opcodes: how many operands each takes, and which attributes.
//!
//! Source: XLA `hlo/parser/hlo_parser.cc` (CreateInstruction), `hlo/ir/hlo_opcode.h`.

use syntax::hlo::{AttributeKey, Opcode};

/// How many operands an opcode takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Arity {
    Exactly(usize),
    AtLeast(usize),
    /// Inputs and as many init values.
    Even,
    /// Operands, indices, as many updates as operands.
    Odd,
    Any,
}

impl Arity {
    pub fn accepts(self, count: usize) -> bool {
        match self {
            Arity::Exactly(n) => count == n,
            Arity::AtLeast(n) => count >= n,
            Arity::Even => count >= 2 && count.is_multiple_of(2),
            Arity::Odd => count >= 3 && !count.is_multiple_of(2),
            Arity::Any => true,
        }
    }
}

impl std::fmt::Display for Arity {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Arity::Exactly(1) => f.write_str("1 operand"),
            Arity::Exactly(n) => write!(f, "{n} operands"),
            Arity::AtLeast(n) => write!(f, "at least {n} operands"),
            Arity::Even => f.write_str("an even number of operands: inputs, then init values"),
            Arity::Odd => f.write_str("an odd number of operands: n inputs, indices, n updates"),
            Arity::Any => f.write_str("any number of operands"),
        }
    }
}

/// One row of the table.
#[derive(Debug, Clone, Copy)]
pub struct OpInfo {
    pub arity: Arity,
    pub required: &'static [AttributeKey],
    /// Beside the required ones and those that every opcode takes.
    pub optional: &'static [AttributeKey],
}

impl OpInfo {
    pub fn allows(&self, key: AttributeKey) -> bool {
        self.required.contains(&key) || self.optional.contains(&key) || COMMON_ATTRIBUTES.contains(&key)
    }
}

/// Attributes that every opcode takes.
pub const COMMON_ATTRIBUTES: &[AttributeKey] = &[
    AttributeKey::Sharding,
    AttributeKey::FrontendAttributes,
    AttributeKey::Statistics,
    AttributeKey::ParameterReplication,
    AttributeKey::ControlPredecessors,
    AttributeKey::Origin,
    AttributeKey::Metadata,
    AttributeKey::BackendConfig,
];

/// Of a dot, scaled or not.
const DOT_ATTRIBUTES: &[AttributeKey] = &[
    AttributeKey::LhsContractingDims,
    AttributeKey::RhsContractingDims,
    AttributeKey::LhsBatchDims,
    AttributeKey::RhsBatchDims,
    AttributeKey::OperandPrecision,
    AttributeKey::Algorithm,
];

const fn row(arity: Arity, required: &'static [AttributeKey], optional: &'static [AttributeKey]) -> OpInfo {
    OpInfo { arity, required, optional }
}

/// What `opcode` takes.
pub fn op_info(opcode: Opcode) -> OpInfo {
    use Arity::{Any, AtLeast, Even, Exactly, Odd};
    use AttributeKey::*;
    match opcode {
        Opcode::Acos
        | Opcode::Acosh
        | Opcode::Asin
        | Opcode::Asinh
        | Opcode::Atanh
        | Opcode::Cbrt
        | Opcode::Cosine
        | Opcode::Cosh
        | Opcode::Erf
        | Opcode::Exp2
        | Opcode::Exponential
        | Opcode::ExponentialMinusOne
        | Opcode::Log
        | Opcode::Log2
        | Opcode::LogPlusOne
        | Opcode::Logistic
        | Opcode::Rsqrt
        | Opcode::Sine
        | Opcode::Sinh
        | Opcode::Sqrt
        | Opcode::Tan
        | Opcode::Tanh => row(Exactly(1), &[], &[ResultAccuracy]),

        Opcode::Abs
        | Opcode::Ceil
        | Opcode::CountLeadingZeros
        | Opcode::Floor
        | Opcode::Imag
        | Opcode::IsFinite
        | Opcode::Negate
        | Opcode::Not
        | Opcode::Popcnt
        | Opcode::Real
        | Opcode::RoundNearestAfz
        | Opcode::RoundNearestEven
        | Opcode::Sign
        | Opcode::Bitcast
        | Opcode::BitcastConvert
        | Opcode::Convert
        | Opcode::Copy
        | Opcode::CopyDone
        | Opcode::OptBarrier
        | Opcode::AllGatherDone
        | Opcode::AllReduceDone
        | Opcode::CollectivePermuteDone => row(Exactly(1), &[], &[]),

        Opcode::Add
        | Opcode::And
        | Opcode::Atan2
        | Opcode::Complex
        | Opcode::Divide
        | Opcode::Maximum
        | Opcode::Minimum
        | Opcode::Mulhi
        | Opcode::Multiply
        | Opcode::Or
        | Opcode::Power
        | Opcode::Remainder
        | Opcode::ShiftLeft
        | Opcode::ShiftRightArithmetic
        | Opcode::ShiftRightLogical
        | Opcode::Subtract
        | Opcode::Xor
        | Opcode::StochasticConvert
        | Opcode::AddDependency => row(Exactly(2), &[], &[]),

        Opcode::Clamp | Opcode::Select => row(Exactly(3), &[], &[]),
        Opcode::AfterAll | Opcode::Tuple => row(Any, &[], &[]),
        Opcode::PartitionId | Opcode::ReplicaId | Opcode::Parameter | Opcode::Constant => {
            row(Exactly(0), &[], &[])
        }
        Opcode::DynamicReshape | Opcode::DynamicUpdateSlice => row(AtLeast(1), &[], &[]),

        Opcode::AllGather | Opcode::AllGatherStart => {
            row(AtLeast(1), &[Dimensions], &[ReplicaGroups, ChannelId, ConstrainLayout, UseGlobalDeviceIds])
        }
        Opcode::AllReduce | Opcode::AllReduceStart => {
            row(Any, &[ToApply], &[ReplicaGroups, ChannelId, ConstrainLayout, UseGlobalDeviceIds, Mode])
        }
        Opcode::ReduceScatter => row(
            Any,
            &[ToApply, Dimensions],
            &[ReplicaGroups, ChannelId, ConstrainLayout, UseGlobalDeviceIds, Mode],
        ),
        Opcode::AllToAll => row(Any, &[], &[Dimensions, ReplicaGroups, ChannelId, ConstrainLayout]),
        Opcode::RaggedAllToAll => row(Any, &[], &[Dimensions, ReplicaGroups, ChannelId]),
        Opcode::CollectiveBroadcast => row(Any, &[], &[ReplicaGroups, ChannelId, HasDynamicRoot]),
        Opcode::CollectiveReduce => row(
            AtLeast(1),
            &[ToApply],
            &[ReplicaGroups, ChannelId, ConstrainLayout, UseGlobalDeviceIds, HasDynamicRoot],
        ),
        Opcode::CollectivePermute | Opcode::CollectivePermuteStart => {
            row(Any, &[SourceTargetPairs], &[ChannelId, SliceSizes])
        }
        Opcode::AsyncStart | Opcode::AsyncUpdate | Opcode::AsyncDone => {
            row(Any, &[], &[Calls, AsyncExecutionThread, OutputToOperandAliasing])
        }
        Opcode::BatchNormTraining => row(Exactly(3), &[Epsilon, FeatureIndex], &[]),
        Opcode::BatchNormInference | Opcode::BatchNormGrad => row(Exactly(5), &[Epsilon, FeatureIndex], &[]),
        Opcode::Broadcast => row(Exactly(1), &[], &[Dimensions]),
        Opcode::Call => row(Any, &[ToApply], &[IsComposite]),
        Opcode::Cholesky => row(Exactly(1), &[], &[Lower]),
        Opcode::Compare => row(Exactly(2), &[Direction], &[Order, Type]),
        Opcode::Concatenate => row(Any, &[Dimensions], &[]),
        Opcode::Conditional => row(AtLeast(1), &[], &[BranchComputations, TrueComputation, FalseComputation]),
        Opcode::Convolution => row(
            AtLeast(2),
            &[DimLabels],
            &[
                Window,
                FeatureGroupCount,
                BatchGroupCount,
                ConvolutionKind,
                OperandPrecision,
                Algorithm,
                SparsityConfig,
                BlockScalingConfig,
            ],
        ),
        Opcode::CopyStart => row(Exactly(1), &[], &[CrossProgramPrefetchIndex]),
        Opcode::CustomCall => row(
            Any,
            &[CustomCallTarget],
            &[
                Window,
                DimLabels,
                FeatureGroupCount,
                BatchGroupCount,
                OperandLayoutConstraints,
                CustomCallHasSideEffect,
                ToApply,
                CalledComputations,
                OutputToOperandAliasing,
                PaddingType,
                Literal,
                OperandPrecision,
                Schedule,
                ApiVersion,
            ],
        ),
        Opcode::Domain => row(Exactly(1), &[Domain], &[]),
        // What describes the sparsity or the scales of an operand is an operand of its own.
        Opcode::Dot => row(
            AtLeast(2),
            &[],
            &[
                LhsContractingDims,
                RhsContractingDims,
                LhsBatchDims,
                RhsBatchDims,
                OperandPrecision,
                Algorithm,
                SparsityConfig,
                BlockScalingConfig,
            ],
        ),
        Opcode::RaggedDot => row(
            Exactly(3),
            &[],
            &[
                LhsContractingDims,
                RhsContractingDims,
                LhsBatchDims,
                RhsBatchDims,
                LhsRaggedDims,
                RhsGroupDims,
                OperandPrecision,
            ],
        ),
        Opcode::ScaledDot => row(Exactly(4), &[], DOT_ATTRIBUTES),
        Opcode::DynamicSlice => row(AtLeast(1), &[DynamicSliceSizes], &[]),
        Opcode::Fft => row(Exactly(1), &[FftType, FftLength], &[]),
        Opcode::Fusion => row(Any, &[Kind, Calls], &[OutputToOperandAliasing]),
        Opcode::Gather => row(
            Exactly(2),
            &[OffsetDims, CollapsedSliceDims, StartIndexMap, IndexVectorDim, SliceSizes],
            &[IndicesAreSorted, OperandBatchingDims, StartIndicesBatchingDims],
        ),
        Opcode::GetDimensionSize => row(Exactly(1), &[Dimensions], &[]),
        Opcode::SetDimensionSize => row(Exactly(2), &[Dimensions], &[]),
        Opcode::GetTupleElement => row(Exactly(1), &[Index], &[]),
        Opcode::Infeed => row(Exactly(1), &[], &[InfeedConfig]),
        Opcode::Outfeed => row(Exactly(2), &[], &[OutfeedConfig, OutfeedShape]),
        Opcode::Iota => row(Exactly(0), &[IotaDimension], &[]),
        Opcode::Map => row(Any, &[ToApply], &[Dimensions]),
        Opcode::Pad => row(Exactly(2), &[Padding], &[]),
        Opcode::Reduce => row(Even, &[Dimensions, ToApply], &[]),
        Opcode::ReducePrecision => row(Exactly(1), &[ExponentBits, MantissaBits], &[]),
        Opcode::ReduceWindow => row(Even, &[ToApply], &[Window]),
        Opcode::Recv => row(Exactly(1), &[], &[ChannelId, IsHostTransfer]),
        Opcode::RecvDone => row(Exactly(1), &[], &[ChannelId, IsHostTransfer]),
        Opcode::Send => row(Exactly(2), &[], &[ChannelId, IsHostTransfer]),
        Opcode::SendDone => row(Exactly(1), &[], &[ChannelId, IsHostTransfer]),
        Opcode::Reshape => row(Exactly(1), &[], &[InferredDimension]),
        Opcode::Reverse => row(Exactly(1), &[Dimensions], &[]),
        Opcode::Rng => row(Any, &[Distribution], &[]),
        Opcode::RngBitGenerator => row(Exactly(1), &[Algorithm], &[]),
        Opcode::RngGetAndUpdateState => row(Exactly(0), &[Delta], &[]),
        Opcode::Scan => row(Any, &[Dimensions, ToApply, NumCarries], &[IsReverse, IsAssociative]),
        Opcode::Scatter => row(
            Odd,
            &[UpdateWindowDims, InsertedWindowDims, ScatterDimsToOperandDims, IndexVectorDim, ToApply],
            &[IndicesAreSorted, UniqueIndices, InputBatchingDims, ScatterIndicesBatchingDims],
        ),
        Opcode::SelectAndScatter => row(Exactly(3), &[Select, Scatter], &[Window]),
        Opcode::Shuffle => row(Exactly(1), &[Dimensions, Mode], &[Shifts]),
        Opcode::Slice => row(Exactly(1), &[Slice], &[]),
        Opcode::Sort => row(AtLeast(1), &[Dimensions, ToApply], &[IsStable]),
        Opcode::Topk => row(Exactly(1), &[K], &[Largest, IsStable]),
        Opcode::Transpose => row(Exactly(1), &[Dimensions], &[]),
        Opcode::TriangularSolve => row(Exactly(2), &[], &[LeftSide, Lower, UnitDiagonal, TransposeA]),
        Opcode::While => row(Exactly(1), &[Condition, Body], &[]),
    }
}

/// Ops whose output element i depends on element i of each operand, by opcode alone.
/// Source: `HloInstruction::IsOpElementwise`.
pub fn is_elementwise(opcode: Opcode) -> bool {
    use Opcode::*;
    matches!(
        opcode,
        Abs | Acos
            | Acosh
            | Asin
            | Asinh
            | Atanh
            | Cbrt
            | Ceil
            | CountLeadingZeros
            | Cosine
            | Cosh
            | Erf
            | Exp2
            | Exponential
            | ExponentialMinusOne
            | Floor
            | Imag
            | IsFinite
            | Log
            | Log2
            | LogPlusOne
            | Logistic
            | Negate
            | Not
            | Popcnt
            | Real
            | RoundNearestAfz
            | RoundNearestEven
            | Rsqrt
            | Sign
            | Sine
            | Sinh
            | Sqrt
            | Tan
            | Tanh
            | BitcastConvert
            | Convert
            | Copy
            | ReducePrecision
            | Add
            | And
            | Atan2
            | Complex
            | Compare
            | Divide
            | Maximum
            | Minimum
            | Mulhi
            | Multiply
            | Or
            | Power
            | Remainder
            | ShiftLeft
            | ShiftRightArithmetic
            | ShiftRightLogical
            | Subtract
            | Xor
            | StochasticConvert
            | Clamp
            | Select
    )
}
