//! The words of HLO text: element types, opcodes, attribute names. The crate `ir` defines their meaning.

/// The number of slots of a word table. A table has at most 255 words, each at its [`slot`] or after it.
const SLOTS: usize = 1024;

/// Hashes the length and the first, middle and last byte, which distinguish most words.
const fn slot(name: &[u8]) -> usize {
    let [first, .., last] = name else { return if name.is_empty() { 0 } else { name[0] as usize } };
    let middle = name[name.len() / 2];
    let mixed = (*first as usize) * 31 + (middle as usize) * 129 + (*last as usize) * 577 + name.len() * 37;
    mixed % SLOTS
}

/// For each slot, the number of its word plus one, or 0.
const fn table(names: &[&str]) -> [u8; SLOTS] {
    let mut table = [0; SLOTS];
    let mut i = 0;
    while i < names.len() {
        let mut at = slot(names[i].as_bytes());
        while table[at] != 0 {
            at = (at + 1) % SLOTS;
        }
        i += 1;
        table[at] = i as u8;
    }
    table
}

macro_rules! words {
    ($(#[$doc:meta])* $name:ident { $($variant:ident = $text:literal,)* }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u8)]
        pub enum $name {
            $($variant,)*
        }

        impl $name {
            pub const ALL: &[$name] = &[$($name::$variant,)*];

            /// The spelling in HLO text.
            pub fn name(self) -> &'static str {
                match self {
                    $($name::$variant => $text,)*
                }
            }

            pub fn from_name(name: &str) -> Option<$name> {
                const NAMES: &[&str] = &[$($text,)*];
                static TABLE: [u8; SLOTS] = table(NAMES);
                let mut at = slot(name.as_bytes());
                loop {
                    let found = usize::from(TABLE[at]).checked_sub(1)?;
                    if NAMES[found] == name {
                        return Some($name::ALL[found]);
                    }
                    at = (at + 1) % SLOTS;
                }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.name())
            }
        }
    };
}

words! {
    /// Element types of arrays, and the two shapes without elements (XLA `xla_data.proto`).
    ElementType {
        Pred = "pred",
        S1 = "s1",
        S2 = "s2",
        S4 = "s4",
        S8 = "s8",
        S16 = "s16",
        S32 = "s32",
        S64 = "s64",
        U1 = "u1",
        U2 = "u2",
        U4 = "u4",
        U8 = "u8",
        U16 = "u16",
        U32 = "u32",
        U64 = "u64",
        F4e2m1fn = "f4e2m1fn",
        F6e2m3fn = "f6e2m3fn",
        F6e3m2fn = "f6e3m2fn",
        F8e3m4 = "f8e3m4",
        F8e4m3 = "f8e4m3",
        F8e4m3b11fnuz = "f8e4m3b11fnuz",
        F8e4m3fn = "f8e4m3fn",
        F8e4m3fnuz = "f8e4m3fnuz",
        F8e5m2 = "f8e5m2",
        F8e5m2fnuz = "f8e5m2fnuz",
        F8e8m0fnu = "f8e8m0fnu",
        F16 = "f16",
        Bf16 = "bf16",
        F32 = "f32",
        F64 = "f64",
        C64 = "c64",
        C128 = "c128",
        Token = "token",
        Opaque = "opaque",
    }
}

words! {
    /// All opcodes of XLA (`hlo/ir/hlo_opcode.h`).
    Opcode {
        Abs = "abs",
        Acos = "acos",
        Acosh = "acosh",
        Add = "add",
        AddDependency = "add-dependency",
        AfterAll = "after-all",
        AllGather = "all-gather",
        AllGatherDone = "all-gather-done",
        AllGatherStart = "all-gather-start",
        AllReduce = "all-reduce",
        AllReduceDone = "all-reduce-done",
        AllReduceStart = "all-reduce-start",
        AllToAll = "all-to-all",
        And = "and",
        Asin = "asin",
        Asinh = "asinh",
        AsyncDone = "async-done",
        AsyncStart = "async-start",
        AsyncUpdate = "async-update",
        Atan2 = "atan2",
        Atanh = "atanh",
        BatchNormGrad = "batch-norm-grad",
        BatchNormInference = "batch-norm-inference",
        BatchNormTraining = "batch-norm-training",
        Bitcast = "bitcast",
        BitcastConvert = "bitcast-convert",
        Broadcast = "broadcast",
        Call = "call",
        Cbrt = "cbrt",
        Ceil = "ceil",
        Cholesky = "cholesky",
        Clamp = "clamp",
        CollectiveBroadcast = "collective-broadcast",
        CollectivePermute = "collective-permute",
        CollectivePermuteDone = "collective-permute-done",
        CollectivePermuteStart = "collective-permute-start",
        CollectiveReduce = "collective-reduce",
        Compare = "compare",
        Complex = "complex",
        Concatenate = "concatenate",
        Conditional = "conditional",
        Constant = "constant",
        Convert = "convert",
        Convolution = "convolution",
        Copy = "copy",
        CopyDone = "copy-done",
        CopyStart = "copy-start",
        Cosine = "cosine",
        Cosh = "cosh",
        CountLeadingZeros = "count-leading-zeros",
        CustomCall = "custom-call",
        Divide = "divide",
        Domain = "domain",
        Dot = "dot",
        DynamicReshape = "dynamic-reshape",
        DynamicSlice = "dynamic-slice",
        DynamicUpdateSlice = "dynamic-update-slice",
        Erf = "erf",
        Exp2 = "exp2",
        Exponential = "exponential",
        ExponentialMinusOne = "exponential-minus-one",
        Fft = "fft",
        Floor = "floor",
        Fusion = "fusion",
        Gather = "gather",
        GetDimensionSize = "get-dimension-size",
        GetTupleElement = "get-tuple-element",
        Imag = "imag",
        Infeed = "infeed",
        Iota = "iota",
        IsFinite = "is-finite",
        Log = "log",
        Log2 = "log2",
        LogPlusOne = "log-plus-one",
        Logistic = "logistic",
        Map = "map",
        Maximum = "maximum",
        Minimum = "minimum",
        Mulhi = "mulhi",
        Multiply = "multiply",
        Negate = "negate",
        Not = "not",
        OptBarrier = "opt-barrier",
        Or = "or",
        Outfeed = "outfeed",
        Pad = "pad",
        Parameter = "parameter",
        PartitionId = "partition-id",
        Popcnt = "popcnt",
        Power = "power",
        RaggedAllToAll = "ragged-all-to-all",
        RaggedDot = "ragged-dot",
        Real = "real",
        Recv = "recv",
        RecvDone = "recv-done",
        Reduce = "reduce",
        ReducePrecision = "reduce-precision",
        ReduceScatter = "reduce-scatter",
        ReduceWindow = "reduce-window",
        Remainder = "remainder",
        ReplicaId = "replica-id",
        Reshape = "reshape",
        Reverse = "reverse",
        Rng = "rng",
        RngBitGenerator = "rng-bit-generator",
        RngGetAndUpdateState = "rng-get-and-update-state",
        RoundNearestAfz = "round-nearest-afz",
        RoundNearestEven = "round-nearest-even",
        Rsqrt = "rsqrt",
        ScaledDot = "scaled-dot",
        Scan = "scan",
        Scatter = "scatter",
        Select = "select",
        SelectAndScatter = "select-and-scatter",
        Send = "send",
        SendDone = "send-done",
        SetDimensionSize = "set-dimension-size",
        ShiftLeft = "shift-left",
        ShiftRightArithmetic = "shift-right-arithmetic",
        ShiftRightLogical = "shift-right-logical",
        Shuffle = "shuffle",
        Sign = "sign",
        Sine = "sine",
        Sinh = "sinh",
        Slice = "slice",
        Sort = "sort",
        Sqrt = "sqrt",
        StochasticConvert = "stochastic-convert",
        Subtract = "subtract",
        Tan = "tan",
        Tanh = "tanh",
        Topk = "topk",
        Transpose = "transpose",
        TriangularSolve = "triangular-solve",
        Tuple = "tuple",
        While = "while",
        Xor = "xor",
    }
}

words! {
    /// Attribute names of instructions.
    AttributeKey {
        Algorithm = "algorithm",
        ApiVersion = "api_version",
        AsyncExecutionThread = "async_execution_thread",
        BackendConfig = "backend_config",
        BatchGroupCount = "batch_group_count",
        BlockScalingConfig = "block_scaling_config",
        Body = "body",
        BranchComputations = "branch_computations",
        CalledComputations = "called_computations",
        Calls = "calls",
        ChannelId = "channel_id",
        CollapsedSliceDims = "collapsed_slice_dims",
        Condition = "condition",
        ConstrainLayout = "constrain_layout",
        ControlPredecessors = "control-predecessors",
        ConvolutionKind = "convolution_kind",
        CrossProgramPrefetchIndex = "cross_program_prefetch_index",
        CustomCallHasSideEffect = "custom_call_has_side_effect",
        CustomCallTarget = "custom_call_target",
        Delta = "delta",
        DimLabels = "dim_labels",
        Dimensions = "dimensions",
        Direction = "direction",
        Distribution = "distribution",
        Domain = "domain",
        DynamicSliceSizes = "dynamic_slice_sizes",
        Epsilon = "epsilon",
        ExponentBits = "exponent_bits",
        FalseComputation = "false_computation",
        FeatureGroupCount = "feature_group_count",
        FeatureIndex = "feature_index",
        FftLength = "fft_length",
        FftType = "fft_type",
        FrontendAttributes = "frontend_attributes",
        HasDynamicRoot = "has_dynamic_root",
        Index = "index",
        IndexVectorDim = "index_vector_dim",
        IndicesAreSorted = "indices_are_sorted",
        InfeedConfig = "infeed_config",
        InferredDimension = "inferred_dimension",
        InputBatchingDims = "input_batching_dims",
        InsertedWindowDims = "inserted_window_dims",
        IotaDimension = "iota_dimension",
        IsAssociative = "is_associative",
        IsComposite = "is_composite",
        IsHostTransfer = "is_host_transfer",
        IsReverse = "is_reverse",
        IsStable = "is_stable",
        K = "k",
        Kind = "kind",
        Largest = "largest",
        LeftSide = "left_side",
        LhsBatchDims = "lhs_batch_dims",
        LhsContractingDims = "lhs_contracting_dims",
        LhsRaggedDims = "lhs_ragged_dims",
        Literal = "literal",
        Lower = "lower",
        MantissaBits = "mantissa_bits",
        Metadata = "metadata",
        Mode = "mode",
        NumCarries = "num_carries",
        OffsetDims = "offset_dims",
        OperandBatchingDims = "operand_batching_dims",
        OperandLayoutConstraints = "operand_layout_constraints",
        OperandPrecision = "operand_precision",
        Order = "order",
        Origin = "origin",
        OutfeedConfig = "outfeed_config",
        OutfeedShape = "outfeed_shape",
        OutputToOperandAliasing = "output_to_operand_aliasing",
        Padding = "padding",
        PaddingType = "padding_type",
        ParameterReplication = "parameter_replication",
        ReplicaGroups = "replica_groups",
        ResultAccuracy = "result_accuracy",
        RhsBatchDims = "rhs_batch_dims",
        RhsContractingDims = "rhs_contracting_dims",
        RhsGroupDims = "rhs_group_dims",
        Scatter = "scatter",
        ScatterDimsToOperandDims = "scatter_dims_to_operand_dims",
        ScatterIndicesBatchingDims = "scatter_indices_batching_dims",
        Schedule = "schedule",
        Select = "select",
        Sharding = "sharding",
        Shifts = "shifts",
        Slice = "slice",
        SliceSizes = "slice_sizes",
        SourceTargetPairs = "source_target_pairs",
        SparsityConfig = "sparsity_config",
        StartIndexMap = "start_index_map",
        StartIndicesBatchingDims = "start_indices_batching_dims",
        Statistics = "statistics",
        ToApply = "to_apply",
        TransposeA = "transpose_a",
        TrueComputation = "true_computation",
        Type = "type",
        UniqueIndices = "unique_indices",
        UnitDiagonal = "unit_diagonal",
        UpdateWindowDims = "update_window_dims",
        UseGlobalDeviceIds = "use_global_device_ids",
        Window = "window",
    }
}

impl Opcode {
    /// Whether the instruction may omit its result shape, because XLA infers it. Source: the parser's calls
    /// without shape inference, `hlo/parser/hlo_parser.cc`.
    pub fn shape_is_inferable(self) -> bool {
        use Opcode::*;
        !matches!(
            self,
            AsyncStart
                | AsyncUpdate
                | AsyncDone
                | AllGather
                | AllGatherStart
                | AllGatherDone
                | AllReduce
                | AllReduceStart
                | AllReduceDone
                | AllToAll
                | CollectiveBroadcast
                | CollectivePermute
                | CollectivePermuteStart
                | CollectivePermuteDone
                | CollectiveReduce
                | RaggedAllToAll
                | ReduceScatter
                | CopyStart
                | CopyDone
                | Recv
                | RecvDone
                | Send
                | SendDone
                | Slice
                | DynamicSlice
                | DynamicUpdateSlice
                | DynamicReshape
                | Reshape
                | Bitcast
                | BitcastConvert
                | Convert
                | StochasticConvert
                | ReducePrecision
                | Constant
                | Iota
                | Parameter
                | CustomCall
                | Fusion
                | Infeed
                | Outfeed
                | Rng
                | RngBitGenerator
                | RngGetAndUpdateState
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_reads_back() {
        assert_eq!(Opcode::ALL.len(), 137);
        for &opcode in Opcode::ALL {
            assert_eq!(Opcode::from_name(opcode.name()), Some(opcode));
        }
        for &element in ElementType::ALL {
            assert_eq!(ElementType::from_name(element.name()), Some(element));
        }
        for &key in AttributeKey::ALL {
            assert_eq!(AttributeKey::from_name(key.name()), Some(key));
        }
    }
}
