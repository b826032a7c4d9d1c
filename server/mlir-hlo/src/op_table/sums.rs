//! Sums and products, and what is made of whole rows and columns.

use ir::{AttributeKey as K, Opcode as O};

use super::rows::*;
use crate::op_attributes::*;
use crate::op_row::Need::{Always, HloAlways, Unless};
use crate::op_row::*;
use Special as S;

pub(super) const OPS: &[OpRow] = &[
    // Sums and products.
    OpRow {
        how: How::Special(S::Reduce),
        ..with(
            generic("reduce", O::Reduce, &[at("dimensions", "", K::Dimensions, Form::Ints, Always)]),
            &[K::ToApply],
        )
    },
    with(generic("reduce_window", O::ReduceWindow, WINDOW), &[K::ToApply]),
    with(generic("select_and_scatter", O::SelectAndScatter, WINDOW), &[K::Select, K::Scatter]),
    functional("dot_general", O::Dot, DOT),
    special("dot", O::Dot, S::Dot, &[PRECISION]),
    special("einsum", O::Dot, S::Einsum, &[PRECISION]),
    special("unary_einsum", O::Reduce, S::Einsum, &[]),
    generic("convolution", O::Convolution, CONVOLUTION),
    mhlo(
        "ragged_dot",
        O::RaggedDot,
        &[
            at("ragged_dot_dimension_numbers", "", K::LhsContractingDims, Form::RaggedNumbers, Always),
            PRECISION,
        ],
    ),
    // Rows and columns.
    with(
        generic(
            "sort",
            O::Sort,
            &[
                at("dimension", "", K::Dimensions, Form::OneInt, Always),
                at("is_stable", "", K::IsStable, Form::Bool, Unless(0)),
            ],
        ),
        &[K::ToApply],
    ),
    OpRow {
        how: How::Special(S::Scan),
        ..with(
            mhlo(
                "scan",
                O::Scan,
                &[
                    at("dimension", "", K::Dimensions, Form::OneInt, Always),
                    at("is_reverse", "", K::IsReverse, Form::Bool, Unless(0)),
                    at("is_associative", "", K::IsAssociative, Form::Bool, Unless(0)),
                ],
            ),
            &[K::ToApply],
        )
    },
    with(generic("map", O::Map, &[at("dimensions", "", K::Dimensions, Form::Ints, Always)]), &[K::ToApply]),
    mhlo(
        "topk",
        O::Topk,
        &[at("k", "k", K::K, Form::Int, Always), at("largest", "largest", K::Largest, Form::Bool, HloAlways)],
    ),
    functional(
        "fft",
        O::Fft,
        &[
            at("fft_type", "type", K::FftType, Form::Word("fft_type"), Always),
            at("fft_length", "length", K::FftLength, Form::Ints, Always),
        ],
    ),
    row("cholesky", O::Cholesky, Pretty::Same, &[at("lower", "lower", K::Lower, Form::Bool, HloAlways)]),
    generic(
        "triangular_solve",
        O::TriangularSolve,
        &[
            at("left_side", "", K::LeftSide, Form::Bool, Always),
            at("lower", "", K::Lower, Form::Bool, Always),
            at("unit_diagonal", "", K::UnitDiagonal, Form::Bool, Always),
            at("transpose_a", "", K::TransposeA, Form::Word("transpose"), Always),
        ],
    ),
    generic("batch_norm_inference", O::BatchNormInference, BATCH_NORM),
    generic("batch_norm_training", O::BatchNormTraining, BATCH_NORM),
    generic("batch_norm_grad", O::BatchNormGrad, BATCH_NORM),
    generic(
        "rng",
        O::Rng,
        &[at(
            "rng_distribution",
            "distribution",
            K::Distribution,
            Form::LowerWord("rng_distribution", "rng_"),
            Always,
        )],
    ),
    functional(
        "rng_bit_generator",
        O::RngBitGenerator,
        &[at("rng_algorithm", "algorithm", K::Algorithm, Form::LowerWord("rng_algorithm", "rng_"), Always)],
    ),
    mhlo(
        "xla.rng_get_and_update_state",
        O::RngGetAndUpdateState,
        &[at("delta", "", K::Delta, Form::Int, Always)],
    ),
];
