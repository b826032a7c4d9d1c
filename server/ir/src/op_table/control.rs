//! Calls, control flow, ordering.

use syntax::hlo::AttributeKey::*;
use syntax::hlo::Opcode;

use super::Counterpart::{Mhlo, Stablehlo};
use super::Page::{StableHlo, Xla};
use super::rows::{NO_MAP, op};
use super::{Arity, KernelFlops, OpInfo, Parameters, Phase};
use crate::checks::{ParserRule, parser_rules};
use crate::cost::{Callees, Traffic};
use crate::infer::{ShapeRule, calls};
use crate::shape::Shape;

/// An op of a computation that runs beside other ops.
const fn asynchronous(opcode: Opcode, operands: &'static [&'static str], summary: &'static str) -> OpInfo {
    OpInfo {
        arity: Arity::Any,
        optional: &[Calls, AsyncExecutionThread, OutputToOperandAliasing],
        traffic: Traffic::Nothing,
        mixes_precision: true,
        has_side_effect: true,
        without_map: "the wrapped computation is not at hand",
        ..op(opcode, operands, Xla("async"), summary)
    }
}

pub(super) const ROWS: &[OpInfo] = &[
    OpInfo {
        traffic: Traffic::Nothing,
        shape: ShapeRule::Of(calls::add_dependency),
        counterpart: Mhlo("add_dependency"),
        detail: "Orders without a data dependency; moves nothing.",
        ..op(
            Opcode::AddDependency,
            &["operand", "token"],
            Xla("adddependency"),
            "The operand, not before the token.",
        )
    },
    OpInfo {
        arity: Arity::Any,
        traffic: Traffic::Nothing,
        shape: ShapeRule::Of(|_| Ok(Shape::Token)),
        without_map: "a token has no elements",
        counterpart: Stablehlo("after_all"),
        detail: "Without operands it makes a new token.",
        ..op(Opcode::AfterAll, &["tokens…"], Xla("afterall"), "A token that comes after all of its operands.")
    },
    OpInfo {
        callees: Callees::Everything,
        parameters: Parameters::Operands,
        steps: &[Calls, CalledComputations],
        usual: &[Calls],
        detail: "The result is a tuple of operands, results and context. `X-start` is short for one that wraps X.",
        phase: Phase::Start { of: None, done: Opcode::AsyncDone },
        parser_rule: ParserRule::OfOperands(parser_rules::calls),
        ..asynchronous(
            Opcode::AsyncStart,
            &["operands…"],
            "Begins the computation it calls, perhaps on another thread.",
        )
    },
    OpInfo {
        phase: Phase::Update,
        ..asynchronous(Opcode::AsyncUpdate, &["start"], "A step of an asynchronous computation.")
    },
    OpInfo {
        phase: Phase::Done { start: Opcode::AsyncStart },
        without_map: NO_MAP,
        ..asynchronous(
            Opcode::AsyncDone,
            &["start"],
            "Waits for an asynchronous computation and is its result.",
        )
    },
    OpInfo {
        arity: Arity::Any,
        required: &[ToApply],
        optional: &[IsComposite],
        traffic: Traffic::Nothing,
        callees: Callees::Everything,
        shape: ShapeRule::ByOpcode(calls::call),
        parameters: Parameters::Operands,
        steps: &[ToApply],
        mixes_precision: true,
        without_map: "the called computation is not looked into",
        ..op(Opcode::Call, &["arguments…"], Xla("call"), "The result of `to_apply` for these arguments.")
    },
    OpInfo {
        arity: Arity::AtLeast(1),
        optional: &[BranchComputations, TrueComputation, FalseComputation],
        traffic: Traffic::Nothing,
        callees: Callees::OneOf,
        shape: ShapeRule::Of(calls::conditional),
        parameters: Parameters::Branch,
        steps: &[BranchComputations, TrueComputation, FalseComputation],
        mixes_precision: true,
        usual: &[BranchComputations],
        without_map: "what is read depends on the branch taken",
        detail: "A `pred` chooses true or false, an `s32` the branch of that number (out of range: the last). Each branch \
         takes one operand.",
        parser_rule: ParserRule::OfOperands(parser_rules::branches),
        ..op(
            Opcode::Conditional,
            &["index", "branch operands…"],
            Xla("conditional"),
            "The result of one branch.",
        )
    },
    OpInfo {
        arity: Arity::Any,
        required: &[CustomCallTarget],
        optional: &[
            Window,
            DimLabels,
            FeatureGroupCount,
            BatchGroupCount,
            OperandLayoutConstraints,
            CustomCallHasSideEffect,
            ToApply,
            CalledComputations,
            OutputToOperandAliasing,
            PaddingType,
            Literal,
            OperandPrecision,
            Schedule,
            ApiVersion,
        ],
        parameters: Parameters::Operands,
        mixes_precision: true,
        without_map: "what a custom call reads is not known",
        detail: "XLA knows nothing of it but shapes. Without `custom_call_has_side_effect=true` it may be removed or done once.",
        ..op(
            Opcode::CustomCall,
            &["operands…"],
            Xla("customcall"),
            "The result of code outside of XLA, by name.",
        )
    },
    OpInfo {
        arity: Arity::Any,
        required: &[Kind, Calls],
        optional: &[OutputToOperandAliasing],
        callees: Callees::Once,
        shape: ShapeRule::ByOpcode(calls::call),
        parameters: Parameters::Operands,
        mixes_precision: true,
        without_map: "the called computation is not at hand",
        detail: "Values inside it stay in registers; only operands and results are in memory. `kind` says how it is built.",
        kernel_flops: KernelFlops::Fusion,
        ..op(Opcode::Fusion, &["operands…"], Xla("fusion"), "A computation that becomes one kernel.")
    },
    OpInfo {
        traffic: Traffic::Nothing,
        shape: ShapeRule::Of(calls::first),
        mixes_precision: true,
        ..op(
            Opcode::OptBarrier,
            &["operand"],
            Xla("optimizationbarrier"),
            "The operand; no optimisation moves code across.",
        )
    },
    OpInfo {
        required: &[Condition, Body],
        traffic: Traffic::Nothing,
        callees: Callees::Everything,
        shape: ShapeRule::Of(calls::while_loop),
        parameters: Parameters::Operands,
        steps: &[Condition, Body],
        mixes_precision: true,
        without_map: "a loop reads what its body reads in each turn",
        detail: "State, result and the parameter of both computations have one shape. `known_trip_count` of the backend \
         config tells the number of turns where the compiler knows it.",
        ..op(
            Opcode::While,
            &["initial state"],
            Xla("while"),
            "`body` applied to the state as long as `condition` holds.",
        )
    },
    OpInfo {
        required: &[Domain],
        traffic: Traffic::Nothing,
        shape: ShapeRule::Of(calls::first),
        mixes_precision: true,
        detail: "Moves nothing; passes remove it.",
        ..op(
            Opcode::Domain,
            &["operand"],
            StableHlo("ops"),
            "The operand, at the border between two shardings.",
        )
    },
];
