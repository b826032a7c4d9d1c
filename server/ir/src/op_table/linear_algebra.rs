//! Contractions, reductions, windows, decompositions.

use syntax::hlo::AttributeKey::{self, *};
use syntax::hlo::Opcode;

use super::Page::Xla;
use super::rows::op;
use super::{Arity, Counterpart, KernelFlops, KernelTraffic, OneElementPerThread, OpInfo, Parameters};
use crate::cost::{Callees, Flops, Traffic};
use crate::infer::{ShapeRule, algebra, contractions, windows};

/// The dimensions and the precision of a dot.
const DOT: &[AttributeKey] =
    &[LhsContractingDims, RhsContractingDims, LhsBatchDims, RhsBatchDims, OperandPrecision, Algorithm];

pub(super) const ROWS: &[OpInfo] = &[
    OpInfo {
        required: &[Epsilon, FeatureIndex],
        shape: ShapeRule::ByOpcode(algebra::batch_norm),
        without_map: "a batch norm is analysed after its expansion",
        detail: "For the operand, scale and offset. All but the first and last operand are vectors over the feature dimension.",
        ..op(
            Opcode::BatchNormGrad,
            &["operand", "scale", "mean", "variance", "grad output"],
            Xla("batchnormgrad"),
            "Gradients of a batch normalisation, as a tuple of three.",
        )
    },
    OpInfo {
        required: &[Epsilon, FeatureIndex],
        shape: ShapeRule::ByOpcode(algebra::batch_norm),
        without_map: "a batch norm is analysed after its expansion",
        detail: "scale · (operand - mean) / √(variance + epsilon) + offset, per feature.",
        ..op(
            Opcode::BatchNormInference,
            &["operand", "scale", "offset", "mean", "variance"],
            Xla("batchnorminference"),
            "The operand normalised with given mean and variance.",
        )
    },
    OpInfo {
        required: &[Epsilon, FeatureIndex],
        shape: ShapeRule::ByOpcode(algebra::batch_norm),
        without_map: "a batch norm is analysed after its expansion",
        detail: "A tuple: the normalised array, the means and the variances per feature.",
        ..op(
            Opcode::BatchNormTraining,
            &["operand", "scale", "offset"],
            Xla("batchnormtraining"),
            "The operand normalised with its own mean and variance.",
        )
    },
    OpInfo {
        optional: &[Lower],
        flops: Flops::Cholesky,
        traffic: Traffic::Cholesky,
        shape: ShapeRule::Of(algebra::cholesky),
        usual: &[Lower],
        without_map: "every output element depends on many inputs",
        detail: "L with operand = L·Lᴴ, or U with Uᴴ·U where `lower=false`; the other triangle of the result is undefined.",
        ..op(
            Opcode::Cholesky,
            &["operand"],
            Xla("cholesky"),
            "The triangular factor of positive definite matrices.",
        )
    },
    OpInfo {
        arity: Arity::AtLeast(2),
        required: &[DimLabels],
        optional: &[
            Window,
            FeatureGroupCount,
            BatchGroupCount,
            ConvolutionKind,
            OperandPrecision,
            Algorithm,
            SparsityConfig,
            BlockScalingConfig,
        ],
        flops: Flops::Convolution,
        shape: ShapeRule::Of(contractions::convolution),
        mixes_precision: true,
        usual: &[Window],
        detail: "`dim_labels` names the dimensions of input, kernel and output: b batch, f feature, i and o kernel features, \
         digits the spatial ones.",
        ..op(
            Opcode::Convolution,
            &["input", "kernel", "sparsity metadata…"],
            Xla("conv_convolution"),
            "A window of the input, weighted by the kernel, at each place.",
        )
    },
    OpInfo {
        arity: Arity::AtLeast(2),
        optional: &[
            LhsContractingDims,
            RhsContractingDims,
            LhsBatchDims,
            RhsBatchDims,
            OperandPrecision,
            Algorithm,
            SparsityConfig,
            BlockScalingConfig,
        ],
        flops: Flops::Dot,
        shape: ShapeRule::Of(contractions::dot),
        mixes_precision: true,
        always_printed: &[LhsContractingDims, RhsContractingDims],
        usual: &[LhsContractingDims, RhsContractingDims],
        detail: "Result dimensions: batch, then the rest of lhs, then the rest of rhs.",
        one_element_per_thread: OneElementPerThread::Always,
        ..op(
            Opcode::Dot,
            &["lhs", "rhs"],
            Xla("dotgeneral"),
            "Sums of products over the contracting dimensions.",
        )
    },
    OpInfo {
        required: &[FftType, FftLength],
        flops: Flops::Fft,
        shape: ShapeRule::Of(algebra::fft),
        without_map: "every output element depends on many inputs",
        detail: "`fft_length` has 1 to 3 lengths. RFFT keeps n/2 + 1 of the last; IRFFT is the way back.",
        ..op(Opcode::Fft, &["operand"], Xla("fft"), "Fourier transform of the innermost dimensions.")
    },
    OpInfo {
        optional: &[
            LhsContractingDims,
            RhsContractingDims,
            LhsBatchDims,
            RhsBatchDims,
            LhsRaggedDims,
            RhsGroupDims,
            OperandPrecision,
        ],
        shape: ShapeRule::Of(contractions::ragged_dot),
        mixes_precision: true,
        always_printed: &[LhsContractingDims, RhsContractingDims],
        usual: &[LhsContractingDims, RhsContractingDims],
        without_map: "the groups of a ragged dot are runtime values",
        detail: "`lhs_ragged_dims` is the dimension that `group sizes` cuts; `rhs_group_dims` selects the group's matrix.",
        ..op(
            Opcode::RaggedDot,
            &["lhs", "rhs", "group sizes"],
            Xla("raggeddot"),
            "A dot per group of rows, with groups of different sizes.",
        )
    },
    OpInfo {
        arity: Arity::Even,
        required: &[Dimensions, ToApply],
        callees: Callees::Reduce,
        shape: ShapeRule::Of(windows::reduce),
        parameters: Parameters::Reduction,
        detail: "`to_apply` takes accumulators, then elements; the order is not defined. n inputs make a tuple of n.",
        kernel_flops: KernelFlops::Reduction,
        kernel_traffic: KernelTraffic::Reduction,
        one_element_per_thread: OneElementPerThread::ManyResults,
        ..op(
            Opcode::Reduce,
            &["inputs…", "init values…"],
            Xla("reduce"),
            "Some dimensions folded away by a computation.",
        )
    },
    OpInfo {
        arity: Arity::Even,
        required: &[ToApply],
        optional: &[Window],
        callees: Callees::ReduceWindow,
        shape: ShapeRule::Of(windows::reduce_window),
        parameters: Parameters::Reduction,
        mixes_precision: true,
        usual: &[Window],
        detail: "Padding counts as the init value.",
        kernel_traffic: KernelTraffic::Window,
        one_element_per_thread: OneElementPerThread::LargeWindow,
        ..op(
            Opcode::ReduceWindow,
            &["inputs…", "init values…"],
            Xla("reducewindow"),
            "Each window folded to one element: pooling.",
        )
    },
    OpInfo {
        optional: DOT,
        flops: Flops::Dot,
        shape: ShapeRule::Of(contractions::scaled_dot),
        mixes_precision: true,
        always_printed: &[LhsContractingDims, RhsContractingDims],
        usual: &[LhsContractingDims, RhsContractingDims],
        detail: "Each scale holds for a block of its operand along the contracting dimension.",
        counterpart: Counterpart::None,
        ..op(
            Opcode::ScaledDot,
            &["lhs", "rhs", "lhs scale", "rhs scale"],
            Xla("scaleddot"),
            "A dot of block-scaled operands.",
        )
    },
    OpInfo {
        arity: Arity::Any,
        required: &[Dimensions, ToApply, NumCarries],
        optional: &[IsReverse, IsAssociative],
        shape: ShapeRule::Of(windows::scan),
        mixes_precision: true,
        detail: "Operands are inputs and initial carries; the result holds all outputs and the last carries.",
        ..op(
            Opcode::Scan,
            &["operands…"],
            Xla("scan"),
            "A computation run along one dimension with values carried on.",
        )
    },
    OpInfo {
        required: &[Select, Scatter],
        optional: &[Window],
        callees: Callees::SelectAndScatter,
        shape: ShapeRule::Of(windows::select_and_scatter),
        usual: &[Window],
        without_map: "select-and-scatter: output to operand depends on the values",
        detail: "The gradient of a pooling.",
        ..op(
            Opcode::SelectAndScatter,
            &["operand", "source", "init value"],
            Xla("selectandscatter"),
            "Source elements added where `select` picks in each window.",
        )
    },
    OpInfo {
        optional: &[LeftSide, Lower, UnitDiagonal, TransposeA],
        flops: Flops::TriangularSolve,
        traffic: Traffic::TriangularSolve,
        shape: ShapeRule::Of(algebra::triangular_solve),
        usual: &[LeftSide, Lower, TransposeA],
        without_map: "every output element depends on many inputs",
        detail: "Reads one triangle of a; `transpose_a` says what op is.",
        ..op(
            Opcode::TriangularSolve,
            &["a", "b"],
            Xla("triangularsolve"),
            "x of op(a)·x = b, or of x·op(a) = b where `left_side=false`.",
        )
    },
];
