//! Constructors of rows, with the values that most rows have in common.

use syntax::hlo::{AttributeKey, Opcode};

use super::{
    Arity, Counterpart, KernelFlops, KernelTraffic, OneElementPerThread, OpInfo, Page, Parameters, Phase,
};
use crate::checks::ParserRule;
use crate::cost::{Callees, Flops, Traffic};
use crate::infer::{ElementTypes, ResultType, ShapeRule, elementwise};

/// A short line about a result.
type Sentence = &'static str;

/// The reason that an op has no map where its row gives none.
pub(super) const NO_MAP: &str = "this op has no indexing map";

/// An op with one operand for each name.
pub(super) const fn op(
    opcode: Opcode,
    operands: &'static [&'static str],
    page: Page,
    summary: &'static str,
) -> OpInfo {
    let is_elementwise = matches!(opcode, crate::elementwise!());
    OpInfo {
        opcode,
        arity: Arity::Exactly(operands.len()),
        operands,
        required: &[],
        optional: &[],
        usual: &[],
        always_printed: &[],
        after_dimensions: &[],
        is_elementwise,
        has_side_effect: false,
        is_collective: false,
        phase: Phase::Whole,
        parameters: Parameters::None,
        steps: &[],
        without_map: NO_MAP,
        takes: ElementTypes::Any,
        gives: ResultType::OfOperands,
        shape: ShapeRule::WRITTEN,
        mixes_precision: false,
        flops: Flops::Nothing,
        traffic: Traffic::OperandsAndResult,
        callees: Callees::Nothing,
        kernel_flops: if is_elementwise { KernelFlops::PerElement } else { KernelFlops::AsOutside },
        kernel_traffic: KernelTraffic::Whole,
        one_element_per_thread: OneElementPerThread::Never,
        parser_rule: ParserRule::None,
        counterpart: Counterpart::Table,
        summary,
        detail: "",
        page,
    }
}

/// An elementwise op of one operand.
pub(super) const fn unary(opcode: Opcode, counterpart: Counterpart, page: Page, summary: Sentence) -> OpInfo {
    OpInfo {
        shape: ShapeRule::ByOpcode(elementwise::unary),
        flops: Flops::PerElement,
        counterpart,
        ..op(opcode, &["operand"], page, summary)
    }
}

/// A transcendental function of each element, computed with a stated accuracy.
pub(super) const fn function(
    opcode: Opcode,
    counterpart: Counterpart,
    page: Page,
    summary: Sentence,
) -> OpInfo {
    OpInfo {
        optional: &[AttributeKey::ResultAccuracy],
        takes: ElementTypes::FloatingOrComplex,
        shape: ShapeRule::ByOpcode(elementwise::unary),
        flops: Flops::Transcendental,
        counterpart,
        ..op(opcode, &["operand"], page, summary)
    }
}

/// An elementwise op of two operands.
pub(super) const fn binary(
    opcode: Opcode,
    counterpart: Counterpart,
    page: Page,
    summary: Sentence,
) -> OpInfo {
    OpInfo {
        shape: ShapeRule::ByOpcode(elementwise::binary),
        flops: Flops::PerElement,
        counterpart,
        ..op(opcode, &["lhs", "rhs"], page, summary)
    }
}

/// An op that waits for what `start` began.
pub(super) const fn done(
    opcode: Opcode,
    start: Opcode,
    operands: &'static [&'static str],
    page: Page,
    summary: &'static str,
) -> OpInfo {
    OpInfo {
        phase: Phase::Done { start },
        traffic: Traffic::Nothing,
        mixes_precision: true,
        has_side_effect: true,
        counterpart: Counterpart::None,
        ..op(opcode, operands, page, summary)
    }
}
