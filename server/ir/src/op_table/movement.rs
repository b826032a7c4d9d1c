//! Ops that move or select elements.

use syntax::hlo::AttributeKey::*;
use syntax::hlo::Opcode;

use super::Counterpart::Mhlo;
use super::Page::Xla;
use super::rows::op;
use super::{Arity, Counterpart, KernelFlops, KernelTraffic, OneElementPerThread, OpInfo, Parameters};
use crate::checks::{ParserRule, parser_rules};
use crate::cost::{Callees, Flops, Traffic};
use crate::infer::{ShapeRule, calls, indexed, moves};

pub(super) const ROWS: &[OpInfo] = &[
    OpInfo {
        traffic: Traffic::Nothing,
        shape: ShapeRule::Of(moves::bitcast),
        mixes_precision: true,
        counterpart: Mhlo("bitcast"),
        detail: "Compilers insert it where a reshape or transpose moves nothing in memory.",
        kernel_traffic: KernelTraffic::Nothing,
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
        detail: "`dimensions[i]` is the result's dimension that runs with operand dimension i; all others repeat.",
        kernel_traffic: KernelTraffic::ResultOfFirst,
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
        detail: "They agree in all other dimensions.",
        kernel_flops: KernelFlops::Concatenation,
        one_element_per_thread: OneElementPerThread::ManyOperands,
        ..op(
            Opcode::Concatenate,
            &["operands…"],
            Xla("concatenate"),
            "The operands one after the other along one dimension.",
        )
    },
    OpInfo {
        arity: Arity::AtLeast(1),
        shape: ShapeRule::Of(moves::dynamic_reshape),
        mixes_precision: true,
        without_map: "the sizes are runtime values",
        detail: "One scalar per dimension; the written sizes are bounds.",
        counterpart: Counterpart::None,
        parser_rule: ParserRule::OfShape(parser_rules::reshape),
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
        detail: "One scalar start per dimension; starts are clamped so that the window stays inside.",
        kernel_traffic: KernelTraffic::ResultOfFirst,
        parser_rule: ParserRule::OfOperands(parser_rules::starts),
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
        detail: "Starts are clamped so that the update stays inside. Often done in place: then only the update is moved.",
        kernel_traffic: KernelTraffic::DynamicUpdateSlice,
        parser_rule: ParserRule::OfOperands(parser_rules::starts),
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
        detail: "`slice_sizes` is what one index vector reads, `start_index_map` says which operand dimensions it moves, \
         `offset_dims` where the slice lies in the result. Indices are clamped.",
        kernel_traffic: KernelTraffic::ResultOfFirst,
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
        ..op(
            Opcode::GetDimensionSize,
            &["operand"],
            Xla("getdimensionsize"),
            "The size of one dimension at run time, as `s32[]`.",
        )
    },
    OpInfo {
        required: &[Padding],
        shape: ShapeRule::Of(moves::pad),
        detail: "`padding=low_high_interior` per dimension, joined by `x`. Negative low and high cut off.",
        ..op(
            Opcode::Pad,
            &["operand", "padding value"],
            Xla("pad"),
            "The operand with a value around it and between its elements.",
        )
    },
    OpInfo {
        optional: &[InferredDimension],
        shape: ShapeRule::Of(moves::reshape),
        mixes_precision: true,
        detail: "The number of elements stays. Whether it costs a copy depends on the layouts.",
        parser_rule: ParserRule::OfShape(parser_rules::reshape),
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
        after_dimensions: &[Mode],
        detail: "`mode=rotate` rotates each to the left: element `i` comes from `(i + shift) mod size`.",
        counterpart: Counterpart::None,
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
        ..op(
            Opcode::Reverse,
            &["operand"],
            Xla("rev_reverse"),
            "The operand with some dimensions running backwards.",
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
        detail: "The reverse of `gather`: `to_apply` combines old and new. Updates out of bounds are skipped; the order is \
         not defined unless `unique_indices=true`.",
        kernel_traffic: KernelTraffic::Scatter,
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
        detail: "`slice={[start:limit:stride], …}`, one entry per dimension; limit is exclusive.",
        kernel_traffic: KernelTraffic::ResultOfFirst,
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
        detail: "`to_apply` compares: it takes two scalars per operand (old, new) and answers whether the first comes before.",
        one_element_per_thread: OneElementPerThread::Always,
        ..op(Opcode::Sort, &["operands…"], Xla("sort"), "The operands sorted along one dimension, together.")
    },
    OpInfo {
        required: &[K],
        optional: &[Largest, IsStable],
        shape: ShapeRule::Of(moves::topk),
        always_printed: &[Largest, IsStable],
        without_map: "where an element goes depends on the values",
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
        detail: "Result dimension i is operand dimension `dimensions[i]`. With a matching layout it moves nothing.",
        ..op(Opcode::Transpose, &["operand"], Xla("transpose"), "The dimensions in another order.")
    },
];
