//! The ops of StableHLO and MHLO beside the instructions of HLO: one row per op, read in both directions.
//!
//! Source: `stablehlo/dialect/StablehloOps.td` for names and forms of attributes, `xla/hlo/translate` for the twins.

use std::sync::OnceLock;

use ir::{AttributeKey, Opcode};
use rustc_hash::FxHashMap;

use crate::op_attributes::*;
use crate::op_row::*;

use AttributeKey as K;
use Need::{Always, HloAlways, Sometimes, Unless};
use Opcode as O;
use Special as S;

const fn row(
    name: &'static str,
    opcode: Opcode,
    pretty: Pretty,
    attributes: &'static [AttributeRow],
) -> OpRow {
    OpRow { name, opcode, dialect: Dialect::Stablehlo, how: How::Row, pretty, attributes, regions: &[] }
}

const fn same(name: &'static str, opcode: Opcode) -> OpRow {
    row(name, opcode, Pretty::Same, &[])
}

/// A function that may be computed with a stated accuracy.
const fn function(name: &'static str, opcode: Opcode) -> OpRow {
    row(name, opcode, Pretty::Same, ACCURACY)
}

const fn functional(name: &'static str, opcode: Opcode, attributes: &'static [AttributeRow]) -> OpRow {
    row(name, opcode, Pretty::Functional, attributes)
}

const fn generic(name: &'static str, opcode: Opcode, attributes: &'static [AttributeRow]) -> OpRow {
    row(name, opcode, Pretty::No, attributes)
}

const fn mhlo(name: &'static str, opcode: Opcode, attributes: &'static [AttributeRow]) -> OpRow {
    OpRow { dialect: Dialect::Mhlo, ..row(name, opcode, Pretty::No, attributes) }
}

const fn special(
    name: &'static str,
    opcode: Opcode,
    special: Special,
    attributes: &'static [AttributeRow],
) -> OpRow {
    OpRow { how: How::Special(special), ..row(name, opcode, Pretty::No, attributes) }
}

/// Of an op that is read, while for its opcode another one is written.
const fn read_only(row: OpRow) -> OpRow {
    OpRow { how: How::ReadOnly, ..row }
}

const fn with(row: OpRow, regions: &'static [AttributeKey]) -> OpRow {
    OpRow { regions, ..row }
}

pub(crate) const OPS: &[OpRow] = &[
    // Functions of each element.
    same("abs", O::Abs),
    function("cbrt", O::Cbrt),
    same("ceil", O::Ceil),
    same("convert", O::Convert),
    same("count_leading_zeros", O::CountLeadingZeros),
    function("cosine", O::Cosine),
    function("exponential", O::Exponential),
    function("exponential_minus_one", O::ExponentialMinusOne),
    same("floor", O::Floor),
    same("imag", O::Imag),
    same("is_finite", O::IsFinite),
    function("log", O::Log),
    function("log_plus_one", O::LogPlusOne),
    function("logistic", O::Logistic),
    same("negate", O::Negate),
    same("not", O::Not),
    same("popcnt", O::Popcnt),
    same("real", O::Real),
    same("round_nearest_afz", O::RoundNearestAfz),
    same("round_nearest_even", O::RoundNearestEven),
    function("rsqrt", O::Rsqrt),
    same("sign", O::Sign),
    function("sine", O::Sine),
    function("sqrt", O::Sqrt),
    function("tan", O::Tan),
    function("tanh", O::Tanh),
    same("add", O::Add),
    same("and", O::And),
    same("atan2", O::Atan2),
    same("complex", O::Complex),
    same("divide", O::Divide),
    same("maximum", O::Maximum),
    same("minimum", O::Minimum),
    same("multiply", O::Multiply),
    same("or", O::Or),
    same("power", O::Power),
    same("remainder", O::Remainder),
    same("shift_left", O::ShiftLeft),
    same("shift_right_arithmetic", O::ShiftRightArithmetic),
    same("shift_right_logical", O::ShiftRightLogical),
    same("subtract", O::Subtract),
    same("xor", O::Xor),
    same("clamp", O::Clamp),
    row("select", O::Select, Pretty::Select, &[]),
    row(
        "compare",
        O::Compare,
        Pretty::Compare,
        &[
            at("comparison_direction", "", K::Direction, Form::Word("comparison_direction"), Always),
            at("compare_type", "", K::Type, Form::Word("comparison_type"), Sometimes),
        ],
    ),
    row(
        "reduce_precision",
        O::ReducePrecision,
        Pretty::ReducePrecision,
        &[at("exponent_bits", "format", K::ExponentBits, Form::Float2, Always)],
    ),
    mhlo("acos", O::Acos, &[]),
    mhlo("acosh", O::Acosh, &[]),
    mhlo("asin", O::Asin, &[]),
    mhlo("asinh", O::Asinh, &[]),
    mhlo("atanh", O::Atanh, &[]),
    mhlo("cosh", O::Cosh, &[]),
    mhlo("erf", O::Erf, &[]),
    mhlo("mulhi", O::Mulhi, &[]),
    mhlo("sinh", O::Sinh, &[]),
    mhlo("stochastic_convert", O::StochasticConvert, &[]),
    mhlo("copy", O::Copy, &[]),
    // Data movement.
    special("constant", O::Constant, S::Constant, &[]),
    row("iota", O::Iota, Pretty::Iota, IOTA),
    OpRow {
        how: How::Special(S::BroadcastInDim),
        ..functional("broadcast_in_dim", O::Broadcast, BROADCAST_DIMENSIONS)
    },
    special(
        "broadcast",
        O::Broadcast,
        S::Broadcast,
        &[at("broadcast_sizes", "sizes", K::Dimensions, Form::Ints, Always)],
    ),
    functional("reshape", O::Reshape, &[]),
    functional("bitcast_convert", O::BitcastConvert, &[]),
    mhlo("bitcast", O::Bitcast, &[]),
    functional("transpose", O::Transpose, &[at("permutation", "dims", K::Dimensions, Form::Ints, Always)]),
    row("reverse", O::Reverse, Pretty::Same, DIMENSIONS),
    row("slice", O::Slice, Pretty::Slice, &[at("start_indices", "", K::Slice, Form::Slice, Always)]),
    functional(
        "dynamic_slice",
        O::DynamicSlice,
        &[at("slice_sizes", "sizes", K::DynamicSliceSizes, Form::Ints, Always)],
    ),
    functional("dynamic_update_slice", O::DynamicUpdateSlice, &[]),
    functional("pad", O::Pad, &[at("edge_padding_low", "low", K::Padding, Form::Padding, Always)]),
    functional("concatenate", O::Concatenate, DIMENSION),
    functional("get_dimension_size", O::GetDimensionSize, DIMENSION),
    functional("set_dimension_size", O::SetDimensionSize, DIMENSION),
    generic("gather", O::Gather, GATHER),
    with(
        generic(
            "scatter",
            O::Scatter,
            &[
                at("scatter_dimension_numbers", "", K::UpdateWindowDims, Form::ScatterNumbers, Always),
                SORTED,
                at("unique_indices", "", K::UniqueIndices, Form::Bool, Unless(0)),
            ],
        ),
        &[K::ToApply],
    ),
    special("dynamic_broadcast_in_dim", O::Broadcast, S::Dynamic, BROADCAST_DIMENSIONS),
    special("dynamic_reshape", O::Reshape, S::Dynamic, &[]),
    special("dynamic_iota", O::Iota, S::Dynamic, IOTA),
    special("real_dynamic_slice", O::Slice, S::Dynamic, &[]),
    special("dynamic_pad", O::Pad, S::Dynamic, &[]),
    special("dynamic_gather", O::Gather, S::Dynamic, GATHER),
    special("dynamic_conv", O::Convolution, S::Dynamic, CONVOLUTION),
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
    with(generic("map", O::Map, &[at("dimensions", "", K::Dimensions, Form::Ints, Always)]), &[K::ToApply]),
    mhlo(
        "topk",
        O::Topk,
        &[at("k", "k", K::K, Form::Int, Always), at("largest", "largest", K::Largest, Form::Bool, Always)],
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
    // Devices.
    with(generic("all_reduce", O::AllReduce, &[GROUPS, CHANNEL, GLOBAL_IDS]), &[K::ToApply]),
    generic(
        "all_gather",
        O::AllGather,
        &[at("all_gather_dim", "", K::Dimensions, Form::OneInt, Always), GROUPS, CHANNEL, GLOBAL_IDS],
    ),
    with(
        generic(
            "reduce_scatter",
            O::ReduceScatter,
            &[at("scatter_dimension", "", K::Dimensions, Form::OneInt, Always), GROUPS, CHANNEL, GLOBAL_IDS],
        ),
        &[K::ToApply],
    ),
    OpRow { how: How::Special(S::CrossReplicaSum), ..generic("cross-replica-sum", O::AllReduce, &[GROUPS]) },
    special("all_to_all", O::AllToAll, S::AllToAll, &[GROUPS, CHANNEL]),
    generic(
        "collective_permute",
        O::CollectivePermute,
        &[at("source_target_pairs", "", K::SourceTargetPairs, Form::Pairs, Always), CHANNEL],
    ),
    generic("collective_broadcast", O::CollectiveBroadcast, &[GROUPS, CHANNEL]),
    row("replica_id", O::ReplicaId, Pretty::Same, &[]),
    row("partition_id", O::PartitionId, Pretty::Same, &[]),
    special(
        "infeed",
        O::Infeed,
        S::Infeed,
        &[at("infeed_config", "", K::InfeedConfig, Form::Text, Sometimes)],
    ),
    special(
        "outfeed",
        O::Outfeed,
        S::Outfeed,
        &[at("outfeed_config", "", K::OutfeedConfig, Form::Text, Sometimes)],
    ),
    special("send", O::Send, S::Send, &[CHANNEL, HOST]),
    special("recv", O::Recv, S::Recv, &[CHANNEL, HOST]),
    row("after_all", O::AfterAll, Pretty::Same, &[]),
    special("create_token", O::AfterAll, S::CreateToken, &[]),
    // Several values, and control.
    special("tuple", O::Tuple, S::Tuple, &[]),
    special("get_tuple_element", O::GetTupleElement, S::GetTupleElement, &[]),
    special("optimization_barrier", O::OptBarrier, S::OptimizationBarrier, &[]),
    special("while", O::While, S::While, &[]),
    special("if", O::Conditional, S::If, &[]),
    special("case", O::Conditional, S::Case, &[]),
    special("custom_call", O::CustomCall, S::CustomCall, &[]),
    special("call", O::Call, S::Call, &[]),
    special("composite", O::Call, S::Composite, &[]),
    with(
        mhlo("fusion", O::Fusion, &[at("fusion_kind", "", K::Kind, Form::Word("fusion_kind"), Always)]),
        &[K::Calls],
    ),
    mhlo("add_dependency", O::AddDependency, &[]),
    OpRow { dialect: Dialect::Mhlo, ..special("async_start", O::AsyncStart, S::AsyncStart, &[]) },
    OpRow { dialect: Dialect::Mhlo, ..special("async_update", O::AsyncUpdate, S::AsyncDone, &[]) },
    OpRow { dialect: Dialect::Mhlo, ..special("async_done", O::AsyncDone, S::AsyncDone, &[]) },
    // MHLO wrote it like this.
    read_only(mhlo(
        "xla_rng_get_and_update_state",
        O::RngGetAndUpdateState,
        &[at("delta", "", K::Delta, Form::Int, Always)],
    )),
];

/// The row of an op by its name without dialect.
pub(crate) fn row_of(name: &str) -> Option<&'static OpRow> {
    static BY_NAME: OnceLock<FxHashMap<&'static str, &'static OpRow>> = OnceLock::new();
    let rows = BY_NAME.get_or_init(|| OPS.iter().map(|row| (row.name, row)).collect());
    rows.get(name).copied()
}

/// The op that is written for an opcode: the first of the table that is not only read.
pub(crate) fn op_of(opcode: Opcode) -> Option<&'static OpRow> {
    static BY_OPCODE: OnceLock<FxHashMap<Opcode, &'static OpRow>> = OnceLock::new();
    let rows = BY_OPCODE.get_or_init(|| {
        let mut rows = FxHashMap::default();
        for row in OPS.iter().filter(|row| !matches!(row.how, How::ReadOnly | How::Special(S::Dynamic))) {
            rows.entry(row.opcode).or_insert(row);
        }
        rows
    });
    rows.get(&opcode).copied()
}

/// The name of an op without its dialect, where that is one of those whose ops are HLO's.
pub(crate) fn mnemonic(name: &str) -> Option<&str> {
    ["stablehlo.", "mhlo."].iter().find_map(|dialect| name.strip_prefix(dialect))
}

/// The opcode of the instruction that an op becomes, by its full name; nothing where it becomes none, or several.
pub fn opcode_of(name: &str) -> Option<Opcode> {
    mnemonic(name).and_then(row_of).map(|row| row.opcode)
}
