//! Ops that move, select or create elements.

use syntax::hlo::AttributeKey::*;
use syntax::hlo::{ElementType, Opcode};

use super::Counterpart::Mhlo;
use super::Page::{StableHlo, Xla};
use super::rows::op;
use super::{Arity, Counterpart, OpInfo, Parameters};
use crate::cost::{Callees, Flops, Traffic};
use crate::infer::{ShapeRule, array, calls, elementwise, indexed, moves};

pub(super) const ROWS: &[OpInfo] = &[
    OpInfo {
        traffic: Traffic::Nothing,
        shape: ShapeRule::Of(moves::bitcast),
        mixes_precision: true,
        counterpart: Mhlo("bitcast"),
        detail: "Compilers insert it where a reshape or transpose moves nothing in memory.",
        ..op(
            Opcode::Bitcast,
            &["operand"],
            Xla("bitcast"),
            "The same bytes under another shape and layout: free.",
        )
    },
    OpInfo {
        optional: &[Dimensions],
        shape: ShapeRule::Of(moves::broadcast),
        mixes_precision: true,
        always_printed: &[Dimensions],
        usual: &[Dimensions],
        counterpart: Counterpart::Table,
        detail: "`dimensions[i]` is the result's dimension that runs with operand dimension i; all others repeat.",
        ..op(
            Opcode::Broadcast,
            &["operand"],
            Xla("broadcastindim"),
            "The operand repeated along new dimensions.",
        )
    },
    OpInfo {
        arity: Arity::Any,
        required: &[Dimensions],
        shape: ShapeRule::Of(moves::concatenate),
        counterpart: Counterpart::Table,
        detail: "They agree in all other dimensions.",
        ..op(
            Opcode::Concatenate,
            &["operands…"],
            Xla("concatenate"),
            "The operands one behind the other along one dimension.",
        )
    },
    OpInfo {
        traffic: Traffic::Nothing,
        mixes_precision: true,
        counterpart: Counterpart::Table,
        detail: "`constant({...})` is a literal that was too large to print: its values are lost.",
        ..op(Opcode::Constant, &[], Xla("constant"), "A literal.")
    },
    OpInfo {
        arity: Arity::AtLeast(1),
        shape: ShapeRule::Of(moves::dynamic_reshape),
        mixes_precision: true,
        without_map: "the sizes are runtime values",
        detail: "One scalar per dimension; the written sizes are bounds.",
        ..op(
            Opcode::DynamicReshape,
            &["operand", "sizes…"],
            Xla("dynamicreshape"),
            "A reshape whose dimension sizes are known at run time.",
        )
    },
    OpInfo {
        arity: Arity::AtLeast(1),
        required: &[DynamicSliceSizes],
        traffic: Traffic::TwiceResultAndIndices,
        shape: ShapeRule::Of(moves::dynamic_slice),
        counterpart: Counterpart::Table,
        detail: "One scalar start per dimension; starts are clamped so that the window stays inside.",
        ..op(
            Opcode::DynamicSlice,
            &["operand", "start indices…"],
            Xla("dynamicslice"),
            "A window of fixed size at a place known at run time.",
        )
    },
    OpInfo {
        arity: Arity::AtLeast(1),
        traffic: Traffic::DynamicUpdateSlice,
        shape: ShapeRule::Of(moves::dynamic_update_slice),
        counterpart: Counterpart::Table,
        detail: "Starts are clamped so that the update stays inside. Often done in place: then only the update is moved.",
        ..op(
            Opcode::DynamicUpdateSlice,
            &["operand", "update", "start indices…"],
            Xla("dynamicupdateslice"),
            "The operand with `update` written at a place known at run time.",
        )
    },
    OpInfo {
        required: &[OffsetDims, CollapsedSliceDims, StartIndexMap, IndexVectorDim, SliceSizes],
        optional: &[IndicesAreSorted, OperandBatchingDims, StartIndicesBatchingDims],
        traffic: Traffic::TwiceResultAndIndices,
        shape: ShapeRule::Of(indexed::gather),
        counterpart: Counterpart::Table,
        detail: "`slice_sizes` is what one index vector reads, `start_index_map` says which operand dimensions it moves, \
         `offset_dims` where the slice lies in the result. Indices are clamped.",
        ..op(
            Opcode::Gather,
            &["operand", "start indices"],
            Xla("gather"),
            "Slices of the operand at places that an array of indices names.",
        )
    },
    OpInfo {
        required: &[Dimensions],
        shape: ShapeRule::Of(moves::get_dimension_size),
        counterpart: Counterpart::Table,
        ..op(
            Opcode::GetDimensionSize,
            &["operand"],
            Xla("getdimensionsize"),
            "The size of one dimension at run time, as `s32[]`.",
        )
    },
    OpInfo {
        required: &[Index],
        traffic: Traffic::Nothing,
        shape: ShapeRule::Of(calls::get_tuple_element),
        mixes_precision: true,
        counterpart: Counterpart::Table,
        detail: "Reads and moves nothing.",
        ..op(Opcode::GetTupleElement, &["tuple"], Xla("gettupleelement"), "One element of a tuple.")
    },
    OpInfo {
        required: &[IotaDimension],
        traffic: Traffic::Result,
        shape: ShapeRule::Of(elementwise::iota),
        mixes_precision: true,
        counterpart: Counterpart::Table,
        ..op(Opcode::Iota, &[], Xla("iota"), "Each element is its own index along one dimension.")
    },
    OpInfo {
        required: &[Padding],
        shape: ShapeRule::Of(moves::pad),
        counterpart: Counterpart::Table,
        detail: "`padding=low_high_interior` per dimension, joined by `x`. Negative low and high cut off.",
        ..op(
            Opcode::Pad,
            &["operand", "padding value"],
            Xla("pad"),
            "The operand with a value around it and between its elements.",
        )
    },
    OpInfo {
        traffic: Traffic::Nothing,
        mixes_precision: true,
        detail: "Numbers count from 0, without a gap.",
        ..op(Opcode::Parameter, &[], Xla("parameter"), "An argument of the computation, by number.")
    },
    OpInfo {
        optional: &[InferredDimension],
        shape: ShapeRule::Of(moves::reshape),
        mixes_precision: true,
        counterpart: Counterpart::Table,
        detail: "The number of elements stays. Whether it costs a copy depends on the layouts.",
        ..op(
            Opcode::Reshape,
            &["operand"],
            Xla("reshape"),
            "The same elements in row-major order under other dimensions.",
        )
    },
    OpInfo {
        required: &[Dimensions, Mode],
        optional: &[Shifts],
        shape: ShapeRule::Of(calls::first),
        behind_dimensions: &[Mode],
        detail: "`mode=rotate` rotates each to the left: element `i` comes from `(i + shift) mod size`.",
        ..op(
            Opcode::Shuffle,
            &["operand"],
            Xla("rev_reverse"),
            "The operand with its elements in another order along some dimensions.",
        )
    },
    OpInfo {
        required: &[Dimensions],
        shape: ShapeRule::Of(moves::reverse),
        counterpart: Counterpart::Table,
        ..op(
            Opcode::Reverse,
            &["operand"],
            Xla("rev_reverse"),
            "The operand with some dimensions running backwards.",
        )
    },
    OpInfo {
        arity: Arity::Any,
        required: &[Distribution],
        flops: Flops::Random,
        shape: ShapeRule::Of(elementwise::rng),
        mixes_precision: true,
        has_side_effect: true,
        without_map: "random numbers do not follow the operands' indices",
        counterpart: Counterpart::Table,
        detail: "`rng_uniform` takes low and high, `rng_normal` mean and deviation, as scalars.",
        ..op(Opcode::Rng, &["parameters…"], Xla("rnguniform"), "Random numbers, different on each execution.")
    },
    OpInfo {
        required: &[Algorithm],
        flops: Flops::Random,
        shape: ShapeRule::Of(calls::rng_bit_generator),
        mixes_precision: true,
        without_map: "random numbers do not follow the operands' indices",
        counterpart: Counterpart::Table,
        detail: "The same state gives the same bits. The state is `u64[2]` for Philox and ThreeFry (`u64[3]` also for Philox).",
        ..op(
            Opcode::RngBitGenerator,
            &["state"],
            Xla("rngbitgenerator"),
            "The next state and random bits, from a state.",
        )
    },
    OpInfo {
        required: &[Delta],
        shape: ShapeRule::Of(|_| Ok(array(ElementType::U64, vec![2]))),
        mixes_precision: true,
        has_side_effect: true,
        without_map: "random numbers do not follow the operands' indices",
        counterpart: Counterpart::Table,
        detail: "Has a side effect: two of them are never the same.",
        ..op(
            Opcode::RngGetAndUpdateState,
            &[],
            StableHlo("rng_bit_generator"),
            "The global random state `u64[2]`, which moves on by `delta`.",
        )
    },
    OpInfo {
        arity: Arity::Odd,
        required: &[UpdateWindowDims, InsertedWindowDims, ScatterDimsToOperandDims, IndexVectorDim, ToApply],
        optional: &[IndicesAreSorted, UniqueIndices, InputBatchingDims, ScatterIndicesBatchingDims],
        traffic: Traffic::Scatter,
        callees: Callees::Scatter,
        shape: ShapeRule::Of(indexed::scatter),
        parameters: Parameters::Update,
        without_map: "scatter: output to operand depends on runtime indices",
        counterpart: Counterpart::Table,
        detail: "The reverse of `gather`: `to_apply` combines old and new. Updates out of bounds are skipped; the order is \
         not defined unless `unique_indices=true`.",
        ..op(
            Opcode::Scatter,
            &["inputs…", "indices", "updates…"],
            Xla("scatter"),
            "The inputs with updates combined into places that indices name.",
        )
    },
    OpInfo {
        required: &[Dimensions],
        shape: ShapeRule::Of(moves::set_dimension_size),
        counterpart: Counterpart::Table,
        detail: "The static size stays the bound; `size` is `s32[]`.",
        ..op(
            Opcode::SetDimensionSize,
            &["operand", "size"],
            Xla("setdimensionsize"),
            "The operand with the size of one dimension set at run time.",
        )
    },
    OpInfo {
        required: &[Slice],
        traffic: Traffic::TwiceResult,
        shape: ShapeRule::Of(moves::slice),
        counterpart: Counterpart::Table,
        detail: "`slice={[start:limit:stride], …}`, one entry per dimension; limit is exclusive.",
        ..op(Opcode::Slice, &["operand"], Xla("slice"), "A window at a place written in the text.")
    },
    OpInfo {
        arity: Arity::AtLeast(1),
        required: &[Dimensions, ToApply],
        optional: &[IsStable],
        flops: Flops::Sort,
        shape: ShapeRule::Of(moves::sort),
        parameters: Parameters::Comparison,
        mixes_precision: true,
        without_map: "where an element goes depends on the values",
        counterpart: Counterpart::Table,
        detail: "`to_apply` compares: it takes two scalars per operand (old, new) and answers whether the first comes before.",
        ..op(Opcode::Sort, &["operands…"], Xla("sort"), "The operands sorted along one dimension, together.")
    },
    OpInfo {
        required: &[K],
        optional: &[Largest, IsStable],
        shape: ShapeRule::Of(moves::topk),
        always_printed: &[Largest, IsStable],
        without_map: "where an element goes depends on the values",
        counterpart: Counterpart::Table,
        detail: "The result is a tuple of values and `s32` indices.",
        ..op(
            Opcode::Topk,
            &["operand"],
            Xla("topk"),
            "The k largest (or smallest) of the last dimension, and where they were.",
        )
    },
    OpInfo {
        required: &[Dimensions],
        shape: ShapeRule::Of(moves::transpose),
        counterpart: Counterpart::Table,
        detail: "Result dimension i is operand dimension `dimensions[i]`. With a matching layout it moves nothing.",
        ..op(Opcode::Transpose, &["operand"], Xla("transpose"), "The dimensions in another order.")
    },
    OpInfo {
        arity: Arity::Any,
        traffic: Traffic::Pointers,
        shape: ShapeRule::Of(calls::tuple),
        mixes_precision: true,
        without_map: "a tuple has a map per element, not one of its own",
        counterpart: Counterpart::Table,
        detail: "Holds pointers: no element is copied.",
        ..op(Opcode::Tuple, &["elements…"], Xla("tuple"), "A tuple of its operands.")
    },
];
