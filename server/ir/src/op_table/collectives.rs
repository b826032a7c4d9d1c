//! Communication between devices.

use syntax::hlo::AttributeKey::{self, *};
use syntax::hlo::Opcode;

use super::Page::{StableHlo, Xla};
use super::rows::{NO_MAP, done, op};
use super::{Arity, Counterpart, OpInfo, Page, Parameters, Phase};
use crate::cost::Flops;
use crate::infer::{ShapeRule, calls, collectives};

/// Why the result of a collective has no map.
const REMOTE: &str = "what other replicas hold is read";
const GROUPS: &[AttributeKey] = &[ReplicaGroups, ChannelId, ConstrainLayout, UseGlobalDeviceIds];
const REDUCED_GROUPS: &[AttributeKey] =
    &[ReplicaGroups, ChannelId, ConstrainLayout, UseGlobalDeviceIds, Mode];

/// A collective of any number of operands, among groups of devices.
const fn collective(opcode: Opcode, page: Page, summary: &'static str) -> OpInfo {
    OpInfo {
        arity: Arity::Any,
        always_printed: &[ReplicaGroups],
        usual: &[ReplicaGroups],
        has_side_effect: true,
        is_collective: true,
        without_map: REMOTE,
        ..op(opcode, &["operands…"], page, summary)
    }
}

/// The half that starts a collective.
const fn started(opcode: Opcode, whole: OpInfo, done: Opcode, summary: &'static str) -> OpInfo {
    OpInfo {
        opcode,
        phase: Phase::Start { of: Some(whole.opcode), done },
        without_map: REMOTE,
        counterpart: Counterpart::None,
        summary,
        ..whole
    }
}

const ALL_GATHER: OpInfo = OpInfo {
    arity: Arity::AtLeast(1),
    required: &[Dimensions],
    optional: GROUPS,
    shape: ShapeRule::ByOpcode(collectives::all_gather),
    mixes_precision: true,
    after_dimensions: &[UseGlobalDeviceIds],
    without_map: NO_MAP,
    detail: "Every device gets all of it: the gathered dimension grows by the size of the group.",
    ..collective(
        Opcode::AllGather,
        Xla("allgather"),
        "The operands of a group's devices, one after the other.",
    )
};

const ALL_REDUCE: OpInfo = OpInfo {
    required: &[ToApply],
    optional: REDUCED_GROUPS,
    flops: Flops::Reduction,
    shape: ShapeRule::Of(collectives::all_reduce),
    parameters: Parameters::Combination,
    mixes_precision: true,
    without_map: NO_MAP,
    detail: "Every device gets the whole result. `to_apply` combines two scalars.",
    ..collective(
        Opcode::AllReduce,
        Xla("allreduce"),
        "The operands of a group's devices, combined element by element.",
    )
};

const COLLECTIVE_PERMUTE: OpInfo = OpInfo {
    required: &[SourceTargetPairs],
    optional: &[ChannelId, SliceSizes],
    shape: ShapeRule::ByOpcode(collectives::permute),
    mixes_precision: true,
    always_printed: &[],
    usual: &[],
    detail: "A device that is no target gets zeros.",
    ..collective(
        Opcode::CollectivePermute,
        Xla("collectivepermute"),
        "Each source device's operand, on its target device.",
    )
};

pub(super) const ROWS: &[OpInfo] = &[
    ALL_GATHER,
    OpInfo {
        detail: "The result is a tuple of operands and results; `all-gather-done` waits.",
        ..started(Opcode::AllGatherStart, ALL_GATHER, Opcode::AllGatherDone, "Begins an all-gather.")
    },
    OpInfo {
        shape: ShapeRule::Of(|given| calls::done(given, 1)),
        without_map: REMOTE,
        ..done(
            Opcode::AllGatherDone,
            Opcode::AllGatherStart,
            &["start"],
            Xla("allgather"),
            "Waits for an all-gather and is its result.",
        )
    },
    ALL_REDUCE,
    OpInfo {
        detail: "`all-reduce-done` waits for it.",
        ..started(Opcode::AllReduceStart, ALL_REDUCE, Opcode::AllReduceDone, "Begins an all-reduce.")
    },
    OpInfo {
        shape: ShapeRule::Of(calls::first),
        without_map: REMOTE,
        ..done(
            Opcode::AllReduceDone,
            Opcode::AllReduceStart,
            &["start"],
            Xla("allreduce"),
            "Waits for an all-reduce and is its result.",
        )
    },
    OpInfo {
        optional: &[Dimensions, ReplicaGroups, ChannelId, ConstrainLayout],
        shape: ShapeRule::Of(collectives::all_to_all),
        detail: "With `dimensions` one operand is cut and joined along it; without, there is an operand per device.",
        ..collective(
            Opcode::AllToAll,
            Xla("alltoall"),
            "Part i of each device goes to device i of the group.",
        )
    },
    OpInfo {
        optional: &[ReplicaGroups, ChannelId, HasDynamicRoot],
        shape: ShapeRule::Of(collectives::broadcast),
        always_printed: &[ReplicaGroups, HasDynamicRoot],
        detail: "It is the group's first device, or with `has_dynamic_root` what the last operand says, a number per operand in front.",
        ..collective(
            Opcode::CollectiveBroadcast,
            Xla("collectivebroadcast"),
            "The operands of one of a group's devices, on all of them.",
        )
    },
    COLLECTIVE_PERMUTE,
    OpInfo {
        detail: "`collective-permute-done` waits for it.",
        ..started(
            Opcode::CollectivePermuteStart,
            COLLECTIVE_PERMUTE,
            Opcode::CollectivePermuteDone,
            "Begins a collective-permute.",
        )
    },
    OpInfo {
        shape: ShapeRule::Of(|given| calls::done(given, 1)),
        without_map: REMOTE,
        ..done(
            Opcode::CollectivePermuteDone,
            Opcode::CollectivePermuteStart,
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
        detail: "The root is the group's first device, or with `has_dynamic_root` what the last operand says, a number per operand in \
         front. What the other devices get is not specified.",
        ..collective(
            Opcode::CollectiveReduce,
            StableHlo("collective_reduce"),
            "The operands of a group's devices, combined element by element, on one of them.",
        )
    },
    OpInfo {
        arity: Arity::Any,
        optional: &[Dimensions, ReplicaGroups, ChannelId],
        shape: ShapeRule::Of(collectives::ragged_all_to_all),
        counterpart: Counterpart::None,
        operands: &["input", "output", "input offsets", "send sizes", "output offsets", "receive sizes"],
        detail: "Offsets and sizes count rows of dimension 0, one entry per piece; `output` is written into.",
        ..collective(
            Opcode::RaggedAllToAll,
            Xla("raggedalltoall"),
            "An all-to-all of pieces of different sizes.",
        )
    },
    OpInfo {
        required: &[ToApply, Dimensions],
        optional: REDUCED_GROUPS,
        flops: Flops::Reduction,
        shape: ShapeRule::ByOpcode(collectives::reduce_scatter),
        parameters: Parameters::Combination,
        detail: "The dimension shrinks by the size of the group.",
        ..collective(
            Opcode::ReduceScatter,
            Xla("reducescatter"),
            "An all-reduce of which each device keeps its part.",
        )
    },
];
