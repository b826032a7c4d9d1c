//! What goes between devices, and to the host.

use ir::{AttributeKey as K, Opcode as O};

use super::rows::*;
use crate::op_attributes::*;
use crate::op_row::Need::{Always, Sometimes};
use crate::op_row::*;
use Special as S;

pub(super) const OPS: &[OpRow] = &[
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
    generic("collective_broadcast", O::CollectiveBroadcast, &[GROUPS, CHANNEL, BY_ROOT]),
    with(
        generic("collective_reduce", O::CollectiveReduce, &[GROUPS, CHANNEL, GLOBAL_IDS, BY_ROOT]),
        &[K::ToApply],
    ),
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
    special("send", O::Send, S::Send, &[TRANSFER_CHANNEL, HOST]),
    special("recv", O::Recv, S::Recv, &[TRANSFER_CHANNEL, HOST]),
    special("create_token", O::AfterAll, S::CreateToken, &[]),
];
