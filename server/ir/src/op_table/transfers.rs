//! Transfers between devices and to and from the host, and copies that run beside other ops.

use syntax::hlo::AttributeKey::*;
use syntax::hlo::Opcode;

use super::Page::{StableHlo, Xla};
use super::rows::{done, op};
use super::{Counterpart, OpInfo, Phase};
use crate::checks::{ParserRule, parser_rules};
use crate::infer::{ShapeRule, calls};
use crate::shape::Shape;

pub(super) const ROWS: &[OpInfo] = &[
    OpInfo {
        optional: &[InfeedConfig],
        shape: ShapeRule::Of(calls::infeed),
        mixes_precision: true,
        has_side_effect: true,
        without_map: "its data come from the host, not from an operand",
        detail: "Has a side effect: the token orders it.",
        parser_rule: ParserRule::OfShape(parser_rules::non_empty_tuple),
        ..op(Opcode::Infeed, &["token"], Xla("infeed"), "Data from the host's infeed queue, and a token.")
    },
    OpInfo {
        optional: &[OutfeedConfig, OutfeedShape],
        shape: ShapeRule::Of(calls::outfeed),
        mixes_precision: true,
        always_printed: &[OutfeedShape],
        has_side_effect: true,
        without_map: "its data go to the host; the result is a token",
        ..op(
            Opcode::Outfeed,
            &["operand", "token"],
            Xla("outfeed"),
            "Writes the operand to the host's outfeed queue; gives a token.",
        )
    },
    OpInfo {
        optional: &[ChannelId, IsHostTransfer],
        shape: ShapeRule::Of(calls::send),
        mixes_precision: true,
        has_side_effect: true,
        detail: "The result is a context for `send-done`.",
        phase: Phase::Start { of: None, done: Opcode::SendDone },
        ..op(
            Opcode::Send,
            &["operand", "token"],
            Xla("send"),
            "Begins to send data to the `recv` of the same channel.",
        )
    },
    OpInfo {
        optional: &[ChannelId, IsHostTransfer],
        shape: ShapeRule::Of(|_| Ok(Shape::Token)),
        without_map: "a token has no elements",
        ..done(Opcode::SendDone, Opcode::Send, &["send"], Xla("send"), "Waits for a send; gives a token.")
    },
    OpInfo {
        optional: &[ChannelId, IsHostTransfer],
        shape: ShapeRule::Of(calls::recv),
        mixes_precision: true,
        has_side_effect: true,
        without_map: "its data come from another device, not from an operand",
        detail: "The result is a context for `recv-done`.",
        phase: Phase::Start { of: None, done: Opcode::RecvDone },
        parser_rule: ParserRule::OfShape(parser_rules::non_empty_tuple),
        ..op(
            Opcode::Recv,
            &["token"],
            Xla("recv"),
            "Begins to receive data from the `send` of the same channel.",
        )
    },
    OpInfo {
        optional: &[ChannelId, IsHostTransfer],
        shape: ShapeRule::Of(calls::recv_done),
        ..done(
            Opcode::RecvDone,
            Opcode::Recv,
            &["recv"],
            Xla("recv"),
            "Waits for data; gives it with a token.",
        )
    },
    OpInfo {
        optional: &[CrossProgramPrefetchIndex],
        shape: ShapeRule::Of(calls::copy_start),
        mixes_precision: true,
        has_side_effect: true,
        detail: "A tuple of destination, source and context; `copy-done` waits.",
        counterpart: Counterpart::None,
        phase: Phase::Start { of: Some(Opcode::Copy), done: Opcode::CopyDone },
        ..op(
            Opcode::CopyStart,
            &["operand"],
            StableHlo("async_start"),
            "Begins a copy, often to another memory space.",
        )
    },
    OpInfo {
        shape: ShapeRule::Of(|given| calls::done(given, 0)),
        ..done(
            Opcode::CopyDone,
            Opcode::CopyStart,
            &["start"],
            StableHlo("async_done"),
            "Waits for a copy and is its result.",
        )
    },
];
