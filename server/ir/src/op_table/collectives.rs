//! Communication between devices and with the host.

use syntax::hlo::AttributeKey::*;
use syntax::hlo::Opcode;

use super::Page::{StableHlo, Xla};
use super::rows::op;
use super::{Arity, Counterpart, OpInfo, Parameters};
use crate::cost::{Flops, Traffic};
use crate::infer::{ShapeRule, calls, collectives};

pub(super) const ROWS: &[OpInfo] = &[
    OpInfo {
        arity: Arity::AtLeast(1),
        required: &[Dimensions],
        optional: &[ReplicaGroups, ChannelId, ConstrainLayout, UseGlobalDeviceIds],
        shape: ShapeRule::ByOpcode(collectives::all_gather),
        mixes_precision: true,
        always_printed: &[ReplicaGroups],
        behind_dimensions: &[UseGlobalDeviceIds],
        usual: &[ReplicaGroups],
        has_side_effect: true,
        is_collective: true,
        counterpart: Counterpart::Table,
        detail: "Every device gets all of it: the gathered dimension grows by the size of the group.",
        ..op(
            Opcode::AllGather,
            &["operands…"],
            Xla("allgather"),
            "The operands of a group's devices, one behind the other.",
        )
    },
    OpInfo {
        arity: Arity::AtLeast(1),
        required: &[Dimensions],
        optional: &[ReplicaGroups, ChannelId, ConstrainLayout, UseGlobalDeviceIds],
        shape: ShapeRule::ByOpcode(collectives::all_gather),
        mixes_precision: true,
        always_printed: &[ReplicaGroups],
        behind_dimensions: &[UseGlobalDeviceIds],
        usual: &[ReplicaGroups],
        has_side_effect: true,
        is_collective: true,
        without_map: "what other replicas hold is read",
        detail: "The result is a tuple of operands and results; `all-gather-done` waits.",
        ..op(Opcode::AllGatherStart, &["operands…"], Xla("allgather"), "Begins an all-gather.")
    },
    OpInfo {
        traffic: Traffic::Nothing,
        shape: ShapeRule::Of(|given| calls::done(given, 1)),
        mixes_precision: true,
        has_side_effect: true,
        without_map: "what other replicas hold is read",
        ..op(
            Opcode::AllGatherDone,
            &["start"],
            Xla("allgather"),
            "Waits for an all-gather and is its result.",
        )
    },
    OpInfo {
        arity: Arity::Any,
        required: &[ToApply],
        optional: &[ReplicaGroups, ChannelId, ConstrainLayout, UseGlobalDeviceIds, Mode],
        flops: Flops::Reduction,
        shape: ShapeRule::Of(collectives::all_reduce),
        parameters: Parameters::Combination,
        mixes_precision: true,
        always_printed: &[ReplicaGroups],
        usual: &[ReplicaGroups],
        has_side_effect: true,
        is_collective: true,
        counterpart: Counterpart::Table,
        detail: "Every device gets the whole result. `to_apply` combines two scalars.",
        ..op(
            Opcode::AllReduce,
            &["operands…"],
            Xla("allreduce"),
            "The operands of a group's devices, combined element by element.",
        )
    },
    OpInfo {
        arity: Arity::Any,
        required: &[ToApply],
        optional: &[ReplicaGroups, ChannelId, ConstrainLayout, UseGlobalDeviceIds, Mode],
        flops: Flops::Reduction,
        shape: ShapeRule::Of(collectives::all_reduce),
        parameters: Parameters::Combination,
        mixes_precision: true,
        always_printed: &[ReplicaGroups],
        usual: &[ReplicaGroups],
        has_side_effect: true,
        is_collective: true,
        without_map: "what other replicas hold is read",
        detail: "`all-reduce-done` waits for it.",
        ..op(Opcode::AllReduceStart, &["operands…"], Xla("allreduce"), "Begins an all-reduce.")
    },
    OpInfo {
        traffic: Traffic::Nothing,
        shape: ShapeRule::Of(calls::first),
        mixes_precision: true,
        has_side_effect: true,
        without_map: "what other replicas hold is read",
        ..op(
            Opcode::AllReduceDone,
            &["start"],
            Xla("allreduce"),
            "Waits for an all-reduce and is its result.",
        )
    },
    OpInfo {
        arity: Arity::Any,
        optional: &[Dimensions, ReplicaGroups, ChannelId, ConstrainLayout],
        shape: ShapeRule::Of(collectives::all_to_all),
        always_printed: &[ReplicaGroups],
        usual: &[ReplicaGroups],
        has_side_effect: true,
        is_collective: true,
        without_map: "what other replicas hold is read",
        counterpart: Counterpart::Table,
        detail: "With `dimensions` one operand is cut and joined along it; without, there is an operand per device.",
        ..op(
            Opcode::AllToAll,
            &["operands…"],
            Xla("alltoall"),
            "Part i of each device goes to device i of the group.",
        )
    },
    OpInfo {
        arity: Arity::Any,
        optional: &[ReplicaGroups, ChannelId, HasDynamicRoot],
        shape: ShapeRule::Of(collectives::broadcast),
        always_printed: &[ReplicaGroups, HasDynamicRoot],
        usual: &[ReplicaGroups],
        has_side_effect: true,
        is_collective: true,
        without_map: "what other replicas hold is read",
        counterpart: Counterpart::Table,
        detail: "It is the group's first device, or with `has_dynamic_root` what the last operand says, a number per operand in front.",
        ..op(
            Opcode::CollectiveBroadcast,
            &["operands…"],
            Xla("collectivebroadcast"),
            "The operands of one of a group's devices, on all of them.",
        )
    },
    OpInfo {
        arity: Arity::Any,
        required: &[SourceTargetPairs],
        optional: &[ChannelId, SliceSizes],
        shape: ShapeRule::ByOpcode(collectives::permute),
        mixes_precision: true,
        has_side_effect: true,
        is_collective: true,
        without_map: "what other replicas hold is read",
        counterpart: Counterpart::Table,
        detail: "A device that is no target gets zeros.",
        ..op(
            Opcode::CollectivePermute,
            &["operands…"],
            Xla("collectivepermute"),
            "Each source device's operand, on its target device.",
        )
    },
    OpInfo {
        arity: Arity::Any,
        required: &[SourceTargetPairs],
        optional: &[ChannelId, SliceSizes],
        shape: ShapeRule::ByOpcode(collectives::permute),
        mixes_precision: true,
        has_side_effect: true,
        is_collective: true,
        without_map: "what other replicas hold is read",
        detail: "`collective-permute-done` waits for it.",
        ..op(
            Opcode::CollectivePermuteStart,
            &["operands…"],
            Xla("collectivepermute"),
            "Begins a collective-permute.",
        )
    },
    OpInfo {
        traffic: Traffic::Nothing,
        shape: ShapeRule::Of(|given| calls::done(given, 1)),
        mixes_precision: true,
        has_side_effect: true,
        without_map: "what other replicas hold is read",
        ..op(
            Opcode::CollectivePermuteDone,
            &["start"],
            Xla("collectivepermute"),
            "Waits for a collective-permute and is its result.",
        )
    },
    OpInfo {
        arity: Arity::AtLeast(1),
        required: &[ToApply],
        optional: &[ReplicaGroups, ChannelId, ConstrainLayout, UseGlobalDeviceIds, HasDynamicRoot],
        flops: Flops::Reduction,
        shape: ShapeRule::Of(collectives::reduce),
        parameters: Parameters::Combination,
        mixes_precision: true,
        always_printed: &[ReplicaGroups, HasDynamicRoot],
        usual: &[ReplicaGroups],
        has_side_effect: true,
        is_collective: true,
        without_map: "what other replicas hold is read",
        counterpart: Counterpart::Table,
        detail: "The root is the group's first device, or with `has_dynamic_root` what the last operand says, a number per operand in \
         front. What the other devices get is not specified.",
        ..op(
            Opcode::CollectiveReduce,
            &["operands…"],
            StableHlo("collective_reduce"),
            "The operands of a group's devices, combined element by element, on one of them.",
        )
    },
    OpInfo {
        arity: Arity::Any,
        optional: &[Dimensions, ReplicaGroups, ChannelId],
        shape: ShapeRule::Of(collectives::ragged_all_to_all),
        always_printed: &[ReplicaGroups],
        usual: &[ReplicaGroups],
        has_side_effect: true,
        is_collective: true,
        without_map: "what other replicas hold is read",
        detail: "Offsets and sizes count rows of dimension 0, one entry per piece; `output` is written into.",
        ..op(
            Opcode::RaggedAllToAll,
            &["input", "output", "input offsets", "send sizes", "output offsets", "receive sizes"],
            Xla("raggedalltoall"),
            "An all-to-all of pieces of different sizes.",
        )
    },
    OpInfo {
        arity: Arity::Any,
        required: &[ToApply, Dimensions],
        optional: &[ReplicaGroups, ChannelId, ConstrainLayout, UseGlobalDeviceIds, Mode],
        flops: Flops::Reduction,
        shape: ShapeRule::ByOpcode(collectives::reduce_scatter),
        parameters: Parameters::Combination,
        always_printed: &[ReplicaGroups],
        usual: &[ReplicaGroups],
        has_side_effect: true,
        is_collective: true,
        without_map: "what other replicas hold is read",
        counterpart: Counterpart::Table,
        detail: "The dimension shrinks by the size of the group.",
        ..op(
            Opcode::ReduceScatter,
            &["operands…"],
            Xla("reducescatter"),
            "An all-reduce of which each device keeps its part.",
        )
    },
    OpInfo {
        optional: &[InfeedConfig],
        shape: ShapeRule::ByOpcode(calls::transfer),
        mixes_precision: true,
        has_side_effect: true,
        without_map: "its data come from the host, not from an operand",
        counterpart: Counterpart::Table,
        detail: "Has a side effect: the token orders it.",
        ..op(Opcode::Infeed, &["token"], Xla("infeed"), "Data from the host's infeed queue, and a token.")
    },
    OpInfo {
        optional: &[OutfeedConfig, OutfeedShape],
        shape: ShapeRule::ByOpcode(calls::transfer),
        mixes_precision: true,
        always_printed: &[OutfeedShape],
        has_side_effect: true,
        without_map: "its data go to the host; the result is a token",
        counterpart: Counterpart::Table,
        ..op(
            Opcode::Outfeed,
            &["operand", "token"],
            Xla("outfeed"),
            "Writes the operand to the host's outfeed queue; gives a token.",
        )
    },
    OpInfo {
        optional: &[ChannelId, IsHostTransfer],
        shape: ShapeRule::ByOpcode(calls::transfer),
        mixes_precision: true,
        has_side_effect: true,
        counterpart: Counterpart::Table,
        detail: "The result is a context for `send-done`.",
        ..op(
            Opcode::Send,
            &["operand", "token"],
            Xla("send"),
            "Begins to send data to the `recv` of the same channel.",
        )
    },
    OpInfo {
        optional: &[ChannelId, IsHostTransfer],
        traffic: Traffic::Nothing,
        shape: ShapeRule::ByOpcode(calls::transfer),
        mixes_precision: true,
        has_side_effect: true,
        without_map: "a token has no elements",
        ..op(Opcode::SendDone, &["send"], Xla("send"), "Waits for a send; gives a token.")
    },
    OpInfo {
        optional: &[ChannelId, IsHostTransfer],
        shape: ShapeRule::ByOpcode(calls::transfer),
        mixes_precision: true,
        has_side_effect: true,
        without_map: "its data come from another device, not from an operand",
        counterpart: Counterpart::Table,
        detail: "The result is a context for `recv-done`.",
        ..op(
            Opcode::Recv,
            &["token"],
            Xla("recv"),
            "Begins to receive data from the `send` of the same channel.",
        )
    },
    OpInfo {
        optional: &[ChannelId, IsHostTransfer],
        traffic: Traffic::Nothing,
        shape: ShapeRule::ByOpcode(calls::transfer),
        mixes_precision: true,
        has_side_effect: true,
        ..op(Opcode::RecvDone, &["recv"], Xla("recv"), "Waits for data; gives it with a token.")
    },
    OpInfo {
        optional: &[CrossProgramPrefetchIndex],
        shape: ShapeRule::Of(calls::copy_start),
        mixes_precision: true,
        has_side_effect: true,
        detail: "A tuple of destination, source and context; `copy-done` waits.",
        ..op(
            Opcode::CopyStart,
            &["operand"],
            StableHlo("async_start"),
            "Begins a copy, often to another memory space.",
        )
    },
    OpInfo {
        traffic: Traffic::Nothing,
        shape: ShapeRule::Of(|given| calls::done(given, 0)),
        mixes_precision: true,
        has_side_effect: true,
        ..op(Opcode::CopyDone, &["start"], StableHlo("async_done"), "Waits for a copy and is its result.")
    },
];
