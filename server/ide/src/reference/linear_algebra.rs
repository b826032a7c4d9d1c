//! Contractions, reductions, windows, decompositions.

use ir::Opcode;

use super::Page::{StableHlo, Xla};
use super::{OpReference, op};

pub(super) const ROWS: &[OpReference] = &[
    op(
        Opcode::BatchNormGrad,
        &["operand", "scale", "mean", "variance", "grad output"],
        Xla("batchnormgrad"),
        "Gradients of a batch normalisation, as a tuple of three.",
        "For the operand, scale and offset. All but the first and last operand are vectors over the feature dimension.",
    ),
    op(
        Opcode::BatchNormInference,
        &["operand", "scale", "offset", "mean", "variance"],
        Xla("batchnorminference"),
        "The operand normalised with given mean and variance.",
        "scale · (operand - mean) / √(variance + epsilon) + offset, per feature.",
    ),
    op(
        Opcode::BatchNormTraining,
        &["operand", "scale", "offset"],
        Xla("batchnormtraining"),
        "The operand normalised with its own mean and variance.",
        "A tuple: the normalised array, the means and the variances per feature.",
    ),
    op(
        Opcode::Cholesky,
        &["operand"],
        Xla("cholesky"),
        "The triangular factor of positive definite matrices.",
        "L with operand = L·Lᴴ, or U with Uᴴ·U where `lower=false`; the other triangle of the result is undefined.",
    ),
    op(
        Opcode::Convolution,
        &["input", "kernel", "sparsity metadata…"],
        Xla("conv_convolution"),
        "A window of the input, weighted by the kernel, at each place.",
        "`dim_labels` names the dimensions of input, kernel and output: b batch, f feature, i and o kernel features, \
         digits the spatial ones.",
    ),
    op(
        Opcode::Dot,
        &["lhs", "rhs"],
        Xla("dotgeneral"),
        "Sums of products over the contracting dimensions.",
        "Result dimensions: batch, then the rest of lhs, then the rest of rhs.",
    ),
    op(
        Opcode::Fft,
        &["operand"],
        Xla("fft"),
        "Fourier transform of the innermost dimensions.",
        "`fft_length` has 1 to 3 lengths. RFFT keeps n/2 + 1 of the last; IRFFT is the way back.",
    ),
    op(
        Opcode::RaggedDot,
        &["lhs", "rhs", "group sizes"],
        Xla("raggeddot"),
        "A dot per group of rows, with groups of different sizes.",
        "`lhs_ragged_dims` is the dimension that `group sizes` cuts; `rhs_group_dims` selects the group's matrix.",
    ),
    op(
        Opcode::Reduce,
        &["inputs…", "init values…"],
        Xla("reduce"),
        "Some dimensions folded away by a computation.",
        "`to_apply` takes accumulators, then elements; the order is not defined. n inputs make a tuple of n.",
    ),
    op(
        Opcode::ReduceWindow,
        &["inputs…", "init values…"],
        Xla("reducewindow"),
        "Each window folded to one element: pooling.",
        "Padding counts as the init value.",
    ),
    op(
        Opcode::ScaledDot,
        &["lhs", "rhs", "lhs scale", "rhs scale"],
        Xla("scaleddot"),
        "A dot of block-scaled operands.",
        "Each scale holds for a block of its operand along the contracting dimension.",
    ),
    op(
        Opcode::Scan,
        &["operands…"],
        Xla("scan"),
        "A computation run along one dimension with values carried on.",
        "Operands are inputs and initial carries; the result holds all outputs and the last carries.",
    ),
    op(
        Opcode::SelectAndScatter,
        &["operand", "source", "init value"],
        Xla("selectandscatter"),
        "Source elements added where `select` picks in each window.",
        "The gradient of a pooling.",
    ),
    op(
        Opcode::TriangularSolve,
        &["a", "b"],
        Xla("triangularsolve"),
        "x of op(a)·x = b, or of x·op(a) = b where `left_side=false`.",
        "Reads one triangle of a; `transpose_a` says what op is.",
    ),
    op(Opcode::PartitionId, &[], Xla("partitionid"), "Number of this partition, `u32[]`.", ""),
    op(Opcode::ReplicaId, &[], Xla("replicaid"), "Number of this replica, `u32[]`.", ""),
    op(
        Opcode::Domain,
        &["operand"],
        StableHlo("ops"),
        "The operand, at the border between two shardings.",
        "Moves nothing; passes remove it.",
    ),
];
