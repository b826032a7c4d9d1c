//! Attributes: their meaning and the form of their values.

use AttributeKey as Key;
use ir::{AttributeKey, Opcode};

/// One attribute.
#[derive(Debug, Clone, Copy)]
pub(crate) struct AttributeReference {
    pub(crate) key: AttributeKey,
    pub(crate) summary: &'static str,
    pub(crate) detail: &'static str,
    pub(crate) form: Form,
}

/// The form of an attribute's value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    Bool,
    /// An integer, with an example.
    Int(&'static str),
    /// `{1,2}`: an example of the text between the braces.
    Ints(&'static str),
    /// One of these keywords.
    Words(&'static [&'static str]),
    /// `{high,default}`: some of these keywords in braces.
    WordList(&'static [&'static str]),
    /// `"…"`; these are known values, others are valid too.
    Text(&'static [&'static str]),
    Computation,
    Computations,
    /// `{a, b}`: names of instructions.
    Instructions,
    /// Any other form, with an example.
    Other(&'static str),
}

impl Form {
    /// A sample value of this form.
    pub(crate) fn example(self) -> String {
        match self {
            Form::Bool => "true".to_owned(),
            Form::Int(example) | Form::Other(example) => example.to_owned(),
            Form::Ints(example) => format!("{{{example}}}"),
            Form::Words(words) => words.first().copied().unwrap_or_default().to_owned(),
            Form::WordList(words) => format!("{{{}}}", words.first().copied().unwrap_or_default()),
            Form::Text(known) => format!("\"{}\"", known.first().copied().unwrap_or_default()),
            Form::Computation => "%computation".to_owned(),
            Form::Computations => "{%first, %second}".to_owned(),
            Form::Instructions => "{%instruction}".to_owned(),
        }
    }

    /// The keywords that this opcode accepts here.
    pub(crate) fn words(self, opcode: Opcode) -> &'static [&'static str] {
        match self {
            Form::Bool => &["true", "false"],
            Form::Words(words) if words == DOT_ALGORITHMS && opcode == Opcode::RngBitGenerator => {
                RNG_ALGORITHMS
            }
            Form::Words(words) | Form::WordList(words) | Form::Text(words) => words,
            _ => &[],
        }
    }
}

const RNG_ALGORITHMS: &[&str] = &["rng_default", "rng_philox", "rng_three_fry"];

/// Source: `xla_data.proto`, PrecisionConfig.Algorithm.
const DOT_ALGORITHMS: &[&str] = &[
    "dot_any_f8_any_f8_f32",
    "dot_any_f8_any_f8_f32_fast_accum",
    "dot_f16_f16_f16",
    "dot_f16_f16_f32",
    "dot_bf16_bf16_bf16",
    "dot_bf16_bf16_f32",
    "dot_bf16_bf16_f32_x3",
    "dot_bf16_bf16_f32_x6",
    "dot_bf16_bf16_f32_x9",
    "dot_tf32_tf32_f32",
    "dot_tf32_tf32_f32_x3",
    "dot_f32_f32_f32",
    "dot_f64_f64_f64",
    "unset",
];

/// Targets that are common in dumps of XLA and JAX.
const CALL_TARGETS: &[&str] = &[
    "Sharding",
    "SPMDFullToShardShape",
    "SPMDShardToFullShape",
    "TopK",
    "AllocateBuffer",
    "X64Combine",
    "X64SplitHigh",
    "X64SplitLow",
    "MoveToHost",
    "MoveToDevice",
    "annotate_device_placement",
    "PadToStatic",
    "SliceToDynamic",
    "Qr",
    "Eigh",
    "LuDecomposition",
    "LayoutConstraint",
    "tpu_custom_call",
    "mosaic_gpu",
    "xla_ffi_python_gpu_callback",
    "xla_python_gpu_callback",
    "xla_python_cpu_callback",
    "__gpu$xla.gpu.triton",
    "__cublas$gemm",
    "__cublas$lt$matmul",
    "__cublas$lt$matmul$f8",
    "__cudnn$convForward",
    "__cudnn$convBackwardInput",
    "__cudnn$convBackwardFilter",
    "__cudnn$convBiasActivationForward",
    "__cudnn$fmhaSoftmax",
    "__cudnn$fmhaSoftmaxBackward",
    "__cudnn$norm",
    "cu_threefry2x32",
    "cusolver_getrf_ffi",
    "cusolver_geqrf_ffi",
    "cusolver_syevd_ffi",
    "lapack_sgetrf_ffi",
    "lapack_ssyevd_ffi",
    "blas_strsm",
];

const fn row(
    key: AttributeKey,
    form: Form,
    summary: &'static str,
    detail: &'static str,
) -> AttributeReference {
    AttributeReference { key, summary, detail, form }
}

#[rustfmt::skip] // One row, one line.
pub(super) const ROWS: &[AttributeReference] = &[
    row(Key::Algorithm, Form::Words(DOT_ALGORITHMS), "How it is computed: types of inputs and sum, or a generator.", "Of a dot: lhs, rhs and accumulation type; `_x3` and the like say how many products of a narrower type make one."),
    row(Key::ApiVersion, Form::Words(&["API_VERSION_TYPED_FFI", "API_VERSION_STATUS_RETURNING_UNIFIED", "API_VERSION_STATUS_RETURNING", "API_VERSION_ORIGINAL"]), "The calling convention of a custom call.", ""),
    row(Key::AsyncExecutionThread, Form::Text(&["parallel", "host", "sparsecore"]), "The thread that runs an asynchronous computation.", "Without it, the main one."),
    row(Key::BackendConfig, Form::Other("{}"), "What the compiler's backend notes for itself: JSON or a string.", "Not part of the meaning; tilings, trip counts and algorithms stand here."),
    row(Key::BatchGroupCount, Form::Int("1"), "Number of groups that the batch dimension of the input is cut into.", "Each group is convolved with its own part of the output features."),
    row(Key::BlockScalingConfig, Form::Other("{}"), "Which operands hold the scales of blocks of lhs and rhs.", ""),
    row(Key::Body, Form::Computation, "The computation that a while loop repeats: from state to state.", ""),
    row(Key::BranchComputations, Form::Computations, "The branches of a conditional with an index, from 0.", ""),
    row(Key::CalledComputations, Form::Computations, "The computations that a custom call is given.", ""),
    row(Key::Calls, Form::Computation, "The computation of a fusion or of an asynchronous op.", ""),
    row(Key::ChannelId, Form::Int("1"), "Number by which the parts of a communication find each other.", "With it, a collective's groups count partitions or all devices, not replicas alone."),
    row(Key::CollapsedSliceDims, Form::Ints("0"), "Dimensions of a gather's slice that the result leaves out; they have size 1.", ""),
    row(Key::Condition, Form::Computation, "The computation that says whether a while loop goes on: from state to `pred[]`.", ""),
    row(Key::ConstrainLayout, Form::Bool, "Whether the layouts written here are fixed.", "For collectives between modules that are compiled apart."),
    row(Key::ControlPredecessors, Form::Instructions, "Instructions that must run before this one.", "They give it no data."),
    row(Key::ConvolutionKind, Form::Words(&["fprop", "dgrad", "wgrad", "unset"]), "Forward, gradient of the input, or gradient of the kernel.", ""),
    row(Key::CrossProgramPrefetchIndex, Form::Int("0"), "Number of a prefetch that an earlier program begins.", ""),
    row(Key::CustomCallHasSideEffect, Form::Bool, "Whether the call does more than compute its result.", "If so it is neither removed nor merged with another."),
    row(Key::CustomCallTarget, Form::Text(CALL_TARGETS), "The name under which the called code is registered.", ""),
    row(Key::Delta, Form::Int("1"), "By how much the global random state moves on.", ""),
    row(Key::DimLabels, Form::Words(&["b01f_01io->b01f", "bf01_oi01->bf01", "b0f_0io->b0f", "bf0_oi0->bf0", "b012f_012io->b012f", "bf012_oi012->bf012", "bf_io->bf", "f01b_i01o->01bf"]), "Which dimension is what: input_kernel->output.", "One letter per dimension: b batch, f feature, i and o the kernel's input and output features, digits spatial."),
    row(Key::Dimensions, Form::Ints("0"), "Dimension numbers, from 0 for the outermost.", "Broadcast: where each operand dimension goes. Transpose: where each result dimension comes from. Reduce: those that go away. Others: the one they work along."),
    row(Key::Direction, Form::Words(&["EQ", "NE", "LT", "LE", "GT", "GE"]), "How the two operands are compared.", ""),
    row(Key::Distribution, Form::Words(&["rng_uniform", "rng_normal"]), "The distribution of random numbers.", "Uniform between the operands, or normal with mean and deviation."),
    row(Key::Domain, Form::Other("{kind=\"sharding\", entry={replicated}, exit={replicated}}"), "The shardings on both sides of a domain border.", ""),
    row(Key::DynamicSliceSizes, Form::Ints("1"), "Size of the slice in each dimension, in elements.", ""),
    row(Key::Epsilon, Form::Other("0.001"), "Added to the variance, so that nothing is divided by zero.", ""),
    row(Key::ExponentBits, Form::Int("8"), "Bits of the exponent to round to.", ""),
    row(Key::FalseComputation, Form::Computation, "The branch taken when the predicate is false.", ""),
    row(Key::FeatureGroupCount, Form::Int("1"), "Number of groups that features are cut into.", "As many as input features: a depthwise convolution."),
    row(Key::FeatureIndex, Form::Int("1"), "The dimension of features.", ""),
    row(Key::FftLength, Form::Ints("8"), "Lengths of the transformed dimensions in elements; 1 to 3.", "Of the real side where the types differ."),
    row(Key::FftType, Form::Words(&["FFT", "IFFT", "RFFT", "IRFFT"]), "Forward or inverse; R from or to real numbers.", ""),
    row(Key::FrontendAttributes, Form::Other("{key=\"value\"}"), "Notes of the framework, by key.", "XLA hands them on; some passes look for their own."),
    row(Key::HasDynamicRoot, Form::Bool, "Whether the device that sends to the others, or receives from them, is known at run time only.", ""),
    row(Key::Index, Form::Int("0"), "Number of the tuple's element, from 0.", ""),
    row(Key::IndexVectorDim, Form::Int("1"), "The dimension of the indices that holds one index vector.", "If it is the rank of the indices, each scalar is a vector of one."),
    row(Key::IndicesAreSorted, Form::Bool, "A promise that the index vectors ascend.", "If it is broken, the result is undefined."),
    row(Key::InfeedConfig, Form::Text(&[""]), "Bytes for the backend's infeed.", ""),
    row(Key::InferredDimension, Form::Int("-1"), "The dimension of a dynamic reshape whose size follows from the others.", ""),
    row(Key::InputBatchingDims, Form::Ints("0"), "Batch dimensions of a scatter's inputs.", "They run with `scatter_indices_batching_dims`, one to one."),
    row(Key::InsertedWindowDims, Form::Ints("0"), "Input dimensions of a scatter that its updates leave out; of size 1 there.", ""),
    row(Key::IotaDimension, Form::Int("0"), "The dimension along which an iota counts.", ""),
    row(Key::IsAssociative, Form::Bool, "A promise that the scanned computation may be regrouped.", ""),
    row(Key::IsComposite, Form::Bool, "Whether the call represents an op of a higher level.", "Name and version are in the frontend attributes."),
    row(Key::IsHostTransfer, Form::Bool, "Whether the other side is the host.", ""),
    row(Key::IsReverse, Form::Bool, "Whether a scan runs from the end.", ""),
    row(Key::IsStable, Form::Bool, "Whether equal elements keep their order.", ""),
    row(Key::K, Form::Int("1"), "How many elements topk keeps.", ""),
    row(Key::Kind, Form::Words(&["kLoop", "kInput", "kOutput", "kCustom"]), "How a fusion becomes a kernel.", "kLoop: one thread per output elements. kInput: around a reduction or scatter. kOutput: after a dot or convolution. kCustom: as the backend config says, often Triton."),
    row(Key::Largest, Form::Bool, "Whether topk keeps the largest; else the smallest.", ""),
    row(Key::LeftSide, Form::Bool, "Whether the triangular matrix stands left of the unknown.", ""),
    row(Key::LhsBatchDims, Form::Ints("0"), "Dimensions of lhs that run through rhs and result alike.", "Paired in order with `rhs_batch_dims`."),
    row(Key::LhsContractingDims, Form::Ints("1"), "Dimensions of lhs that are summed over.", "Paired in order with `rhs_contracting_dims`."),
    row(Key::LhsRaggedDims, Form::Ints("0"), "The dimension of lhs that the group sizes cut.", ""),
    row(Key::Literal, Form::Other("f32[] 0"), "A literal that a custom call is given.", ""),
    row(Key::Lower, Form::Bool, "Whether the lower triangle is meant.", ""),
    row(Key::MantissaBits, Form::Int("7"), "Bits of the mantissa to round to.", ""),
    row(Key::Metadata, Form::Other("{op_name=\"\" source_file=\"\" source_line=1}"), "Where the instruction comes from: framework op and source line.", ""),
    row(Key::Mode, Form::Words(&["flattened_id", "cross_replica", "cross_partition", "cross_replica_and_partition"]), "What the numbers of the replica groups count.", ""),
    row(Key::NumCarries, Form::Int("1"), "How many of a scan's operands are carried on.", ""),
    row(Key::OffsetDims, Form::Ints("0"), "Dimensions of a gather's result that walk through the slice.", ""),
    row(Key::OperandBatchingDims, Form::Ints("0"), "Batch dimensions of a gather's operand.", "They run with `start_indices_batching_dims`, one to one."),
    row(Key::OperandLayoutConstraints, Form::Other("{f32[8]{0}}"), "A shape with layout per operand of a custom call.", ""),
    row(Key::OperandPrecision, Form::WordList(&["default", "high", "highest", "packed_nibble"]), "Precision per operand.", "On TPU: one, three or six bfloat16 passes. On GPU `default` may allow TF32."),
    row(Key::Origin, Form::Other("{{\"name\"}}"), "The value of the original program that this one is.", ""),
    row(Key::Order, Form::Words(&["TOTAL", "PARTIAL"]), "Whether NaN and both zeros have a place in the order.", "TOTAL: -NaN < -∞ < … < -0 < 0 < … < ∞ < NaN. Without it floating-point numbers compare as `PARTIAL`."),
    row(Key::OutfeedConfig, Form::Text(&[""]), "Bytes for the backend's outfeed.", ""),
    row(Key::OutfeedShape, Form::Other("f32[8]{0}"), "The shape, with layout, that goes to the outfeed.", ""),
    row(Key::OutputToOperandAliasing, Form::Other("{{}: (0, {})}"), "Which outputs share the buffer of which operand.", "`{output index}: (operand, {index in it})`."),
    row(Key::Padding, Form::Other("0_0"), "low_high or low_high_interior per dimension, joined by `x`, in elements.", "Negative low and high cut off; interior stands between elements."),
    row(Key::PaddingType, Form::Words(&["PADDING_VALID", "PADDING_SAME"]), "Padding of a dynamic convolution.", ""),
    row(Key::ParameterReplication, Form::Other("{true}"), "Per leaf of the parameter, whether all replicas get the same.", ""),
    row(Key::ReplicaGroups, Form::Other("{{0,1}}"), "The groups of devices that work together.", "`{{0,1},{2,3}}`, or `[2,2]<=[4]`: 2 groups of 2 of the numbers 0 to 3. `{}` is one group of all."),
    row(Key::ResultAccuracy, Form::Other("{mode=highest}"), "How exact the result must be: `mode` or `tolerance`.", ""),
    row(Key::RhsBatchDims, Form::Ints("0"), "Dimensions of rhs that run through lhs and result alike.", "Paired in order with `lhs_batch_dims`."),
    row(Key::RhsContractingDims, Form::Ints("0"), "Dimensions of rhs that are summed over.", "Paired in order with `lhs_contracting_dims`."),
    row(Key::RhsGroupDims, Form::Ints("0"), "The dimension of rhs that selects the group's matrix.", ""),
    row(Key::Scatter, Form::Computation, "The computation that combines scattered elements.", ""),
    row(Key::ScatterDimsToOperandDims, Form::Ints("0"), "Which input dimension each entry of an index vector moves.", ""),
    row(Key::ScatterIndicesBatchingDims, Form::Ints("0"), "Batch dimensions of a scatter's indices.", "They run with `input_batching_dims`, one to one."),
    row(Key::Schedule, Form::Words(&["SCHEDULE_NONE", "SCHEDULE_LATEST", "SCHEDULE_EARLIEST"]), "When the scheduler places a custom call.", ""),
    row(Key::Select, Form::Computation, "The computation that picks one element of a window: two scalars to `pred[]`.", ""),
    row(Key::Sharding, Form::Other("{replicated}"), "How the array is cut over devices.", "`{devices=[2,1]<=[2]}`: tiles per dimension, then the devices in order. `{replicated}`: all have all. `{maximal device=0}`: one has it."),
    row(Key::Shifts, Form::Ints("1"), "By how many places each dimension of a shuffle rotates.", ""),
    row(Key::Slice, Form::Other("{[0:1]}"), "start:limit or start:limit:stride per dimension, in elements.", "limit is exclusive."),
    row(Key::SliceSizes, Form::Ints("1"), "Size of the slice that one index vector reads, per operand dimension.", ""),
    row(Key::SourceTargetPairs, Form::Other("{{0,1},{1,0}}"), "From which device to which; no target twice.", ""),
    row(Key::SparsityConfig, Form::Other("{lhs={sparsity=2x4 dimension=1 stride=1}}"), "Structured sparsity of the operands: n of m elements.", ""),
    row(Key::StartIndexMap, Form::Ints("0"), "Which operand dimension each entry of an index vector moves.", ""),
    row(Key::StartIndicesBatchingDims, Form::Ints("0"), "Batch dimensions of a gather's indices.", "They run with `operand_batching_dims`, one to one."),
    row(Key::Statistics, Form::Other("{visualizing_index=0,stat=0}"), "Numbers noted by tools.", ""),
    row(Key::ToApply, Form::Computation, "The computation that is applied.", "Of a reduction: from accumulators and elements to accumulators."),
    row(Key::TransposeA, Form::Words(&["NO_TRANSPOSE", "TRANSPOSE", "ADJOINT"]), "What is done to the triangular matrix first.", "ADJOINT also conjugates."),
    row(Key::TrueComputation, Form::Computation, "The branch taken when the predicate is true.", ""),
    row(Key::Type, Form::Words(&["FLOAT", "TOTALORDER", "SIGNED", "UNSIGNED"]), "As what the operands are compared.", "TOTALORDER: -NaN < -∞ < … < -0 < 0 < … < ∞ < NaN."),
    row(Key::UniqueIndices, Form::Bool, "A promise that no place is written twice.", "If it is broken, the result is undefined."),
    row(Key::UnitDiagonal, Form::Bool, "Whether the diagonal counts as ones and is not read.", ""),
    row(Key::UpdateWindowDims, Form::Ints("0"), "Dimensions of the updates that walk through the window.", ""),
    row(Key::UseGlobalDeviceIds, Form::Bool, "Whether groups hold global ids: replica · partitions + partition.", ""),
    row(Key::Window, Form::Other("{size=1}"), "Per spatial dimension: size, stride, pad, dilation, reversal, joined by `x`.", "`{size=3x3 stride=2x2 pad=1_1x1_1 lhs_dilate=1x1 rhs_dilate=1x1 rhs_reversal=0x0}`, in elements; low_high for pad. `lhs_dilate` spaces the input, `rhs_dilate` the window."),
];
