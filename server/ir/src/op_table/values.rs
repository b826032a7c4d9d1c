//! Ops that create values, and tuples.

use syntax::hlo::AttributeKey::*;
use syntax::hlo::{ElementType, Opcode};

use super::Counterpart::Stablehlo;
use super::Page::{StableHlo, Xla};
use super::rows::op;
use super::{Arity, Counterpart, KernelTraffic, OpInfo};
use crate::checks::{ParserRule, parser_rules};
use crate::cost::{Flops, Traffic};
use crate::infer::{ShapeRule, array, calls, elementwise};

const RANDOM: &str = "random numbers do not follow the operands' indices";

pub(super) const ROWS: &[OpInfo] = &[
    OpInfo {
        traffic: Traffic::Nothing,
        mixes_precision: true,
        detail: "`constant({...})` is a literal that was too large to print: its values are lost.",
        kernel_traffic: KernelTraffic::Nothing,
        ..op(Opcode::Constant, &[], Xla("constant"), "A literal.")
    },
    OpInfo {
        required: &[IotaDimension],
        traffic: Traffic::Result,
        shape: ShapeRule::Of(elementwise::iota),
        mixes_precision: true,
        ..op(Opcode::Iota, &[], Xla("iota"), "Each element is its own index along one dimension.")
    },
    OpInfo {
        traffic: Traffic::Nothing,
        mixes_precision: true,
        detail: "Numbers count from 0, without a gap.",
        counterpart: Counterpart::None,
        kernel_traffic: KernelTraffic::Nothing,
        ..op(Opcode::Parameter, &[], Xla("parameter"), "An argument of the computation, by number.")
    },
    OpInfo {
        arity: Arity::Any,
        required: &[Distribution],
        flops: Flops::Random,
        shape: ShapeRule::Of(elementwise::rng),
        mixes_precision: true,
        has_side_effect: true,
        without_map: RANDOM,
        detail: "`rng_uniform` takes low and high, `rng_normal` mean and deviation, as scalars.",
        ..op(Opcode::Rng, &["parameters…"], Xla("rnguniform"), "Random numbers, different on each execution.")
    },
    OpInfo {
        required: &[Algorithm],
        flops: Flops::Random,
        shape: ShapeRule::Of(calls::rng_bit_generator),
        mixes_precision: true,
        without_map: RANDOM,
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
        without_map: RANDOM,
        detail: "Has a side effect: two of them are never the same.",
        ..op(
            Opcode::RngGetAndUpdateState,
            &[],
            StableHlo("rng_bit_generator"),
            "The global random state `u64[2]`, which moves on by `delta`.",
        )
    },
    OpInfo {
        traffic: Traffic::Nothing,
        shape: ShapeRule::Of(|_| Ok(array(ElementType::U32, Vec::new()))),
        counterpart: Stablehlo("partition_id"),
        ..op(Opcode::PartitionId, &[], Xla("partitionid"), "Number of this partition, `u32[]`.")
    },
    OpInfo {
        traffic: Traffic::Nothing,
        shape: ShapeRule::Of(|_| Ok(array(ElementType::U32, Vec::new()))),
        counterpart: Stablehlo("replica_id"),
        ..op(Opcode::ReplicaId, &[], Xla("replicaid"), "Number of this replica, `u32[]`.")
    },
    OpInfo {
        arity: Arity::Any,
        traffic: Traffic::Pointers,
        shape: ShapeRule::Of(calls::tuple),
        mixes_precision: true,
        without_map: "a tuple has a map per element, not one of its own",
        detail: "Holds pointers: no element is copied.",
        kernel_traffic: KernelTraffic::Nothing,
        parser_rule: ParserRule::OfShape(parser_rules::tuple),
        ..op(Opcode::Tuple, &["elements…"], Xla("tuple"), "A tuple of its operands.")
    },
    OpInfo {
        required: &[Index],
        traffic: Traffic::Nothing,
        shape: ShapeRule::Of(calls::get_tuple_element),
        mixes_precision: true,
        detail: "Reads and moves nothing.",
        kernel_traffic: KernelTraffic::Nothing,
        ..op(Opcode::GetTupleElement, &["tuple"], Xla("gettupleelement"), "One element of a tuple.")
    },
];
