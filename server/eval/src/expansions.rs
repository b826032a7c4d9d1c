//! Ops that XLA expands to others: each is evaluated as its expansion, with numbers rounded where XLA rounds
//! them.
//!
//! Sources: `TopkDecomposer`, `ScaledDotRewriter`; for batch norms see `batch_norms.rs`.

use std::rc::Rc;
use std::sync::Arc;

use ir::{AttributeKey, ElementType, ElementTypeExt, Graph, Opcode};

use super::batch_norms;
use super::column::Column;
use super::dispatch::Asked;
use super::evaluator::Evaluator;
use super::frames::Binding;
use super::positions::array;
use crate::checks::{Checked, Reason, ensure};

/// The prefix of computation names in expansions.
pub(super) const PREFIX: &str = "hlo-analyzer.expansion.";

/// The elements of an op from those of its expansion.
pub(crate) fn expanded(evaluator: &mut Evaluator<'_>, asked: &Asked<'_>) -> Checked<Rc<Column>> {
    let frame = match evaluator.expansion(asked.frame, asked.id) {
        Some(frame) => frame,
        None => {
            let graph = graph(evaluator, &text(asked)?)?;
            let operands = asked.operands().iter();
            let parameters = operands.map(|&operand| Binding::Outer(asked.frame, operand)).collect();
            let frame = evaluator.frame(graph, parameters);
            evaluator.expand(asked.frame, asked.id, frame);
            frame
        }
    };
    let root = evaluator.frames[frame].graph.root;
    evaluator.eval(frame, root, asked.leaf, asked.batch)
}

fn text(asked: &Asked<'_>) -> Checked<String> {
    match asked.op.opcode {
        Opcode::BatchNormTraining => batch_norms::training(asked),
        Opcode::BatchNormInference => batch_norms::inference(asked),
        Opcode::BatchNormGrad => batch_norms::gradient(asked),
        Opcode::Topk => top_k(asked),
        Opcode::ScaledDot => scaled_dot(asked),
        opcode => Err(format!("{opcode} is not evaluated").into()),
    }
}

/// The entry of a text. Registers the computations that it calls with the evaluator.
fn graph(evaluator: &mut Evaluator<'_>, text: &str) -> Checked<Arc<Graph>> {
    let text: Arc<str> = Arc::from(text);
    let parse = Arc::new(syntax::hlo::parse(&text, syntax::hlo::PieceState::HEADER));
    let failed = || Reason::from("the ops that it stands for could not be written");
    ensure(parse.errors.is_empty(), failed())?;
    let block = ir::lower(text.clone(), parse.clone());
    let mut last = None;
    for (i, computation) in parse.computations.iter().enumerate() {
        let graph =
            Arc::new(Graph::build(&[(&block, i as u32)]).filter(|g| g.is_complete).ok_or_else(failed)?);
        evaluator.expansions.insert(computation.name.of(&text).to_owned(), graph.clone());
        last = Some(graph);
    }
    last.ok_or_else(failed)
}

pub(super) fn shape(element: ElementType, dims: &[i64]) -> String {
    format!("{element}[{}]", list(dims))
}

pub(super) fn list(numbers: &[i64]) -> String {
    numbers.iter().map(i64::to_string).collect::<Vec<_>>().join(",")
}

/// A sort by total order of values with their indices; the first `k` are taken.
fn top_k(asked: &Asked<'_>) -> Checked<String> {
    let input = array(asked.operand_shape(0)?)?;
    let last = input.dims.len().checked_sub(1).ok_or("the operand has no dimension")?;
    let element = input.element;
    let key = |key| asked.op.attributes.bool(key).unwrap_or(true);
    let k = asked.op.attributes.int(AttributeKey::K).ok_or("k is missing")?;
    ensure((0..=input.dims[last]).contains(&k), format!("k is {k}, of {} elements", input.dims[last]))?;
    let mut out = input.dims.clone();
    out[last] = k;
    let direction = if key(AttributeKey::Largest) { "GT" } else { "LT" };
    let order = if element.is_floating() { ", type=TOTALORDER" } else { "" };
    let slices: Vec<String> = out.iter().map(|size| format!("[0:{size}]")).collect();
    let (values, indices) = (shape(element, &input.dims), shape(ElementType::S32, &input.dims));
    let (some_values, some_indices) = (shape(element, &out), shape(ElementType::S32, &out));
    Ok(format!(
        "{PREFIX}{direction}.{element} {{
 a = {element}[] parameter(0)
 b = {element}[] parameter(1)
 i = s32[] parameter(2)
 j = s32[] parameter(3)
 ROOT before = pred[] compare(a, b), direction={direction}{order}
}}
ENTRY {PREFIX}entry {{
 x = {values} parameter(0)
 index = {indices} iota(), iota_dimension={last}
 sorted = ({values}, {indices}) sort(x, index), dimensions={{{last}}}, is_stable={is_stable}, to_apply={PREFIX}{direction}.{element}
 all = {values} get-tuple-element(sorted), index=0
 at = {indices} get-tuple-element(sorted), index=1
 first = {some_values} slice(all), slice={{{slices}}}
 places = {some_indices} slice(at), slice={{{slices}}}
 ROOT both = ({some_values}, {some_indices}) tuple(first, places)
}}
",
        is_stable = key(AttributeKey::IsStable),
        slices = slices.join(", "),
    ))
}

/// A dot of the operands multiplied by their scales, each of which applies to a block of elements. A scalar
/// scale has no effect. Products with scales are not rounded to the operands' types.
fn scaled_dot(asked: &Asked<'_>) -> Checked<String> {
    let result = array(&asked.op.shape)?;
    let working = if result.element == ElementType::F64 { ElementType::F64 } else { ElementType::F32 };
    ensure(result.element.is_floating(), format!("scaled dot of {} is not evaluated", result.element))?;
    let mut text = format!("ENTRY {PREFIX}entry {{\n");
    for (side, scale) in [(0, 2), (1, 3)] {
        let (own, factor) = (array(asked.operand_shape(side)?)?, array(asked.operand_shape(scale)?)?);
        let all = shape(working, &own.dims);
        text += &format!(" p{side} = {} parameter({side})\n", shape(own.element, &own.dims));
        text += &format!(" w{side} = {all} convert(p{side})\n");
        if factor.dims.is_empty() {
            text += &format!(" d{side} = {all} copy(w{side})\n");
            continue;
        }
        ensure(factor.dims.len() == own.dims.len(), "a scale of another rank")?;
        // Splits each dimension into blocks and elements of a block.
        let mut blocks = Vec::new();
        let mut kept = Vec::new();
        for (&size, &count) in own.dims.iter().zip(&factor.dims) {
            ensure(count > 0 && size % count == 0, "a scale does not divide its operand")?;
            kept.push(blocks.len() as i64);
            blocks.extend([count, size / count]);
        }
        text += &format!(" p{scale} = {} parameter({scale})\n", shape(factor.element, &factor.dims));
        text += &format!(" w{scale} = {} convert(p{scale})\n", shape(working, &factor.dims));
        let spread = shape(working, &blocks);
        text += &format!(" b{side} = {spread} broadcast(w{scale}), dimensions={{{}}}\n", list(&kept));
        text += &format!(" r{side} = {all} reshape(b{side})\n d{side} = {all} multiply(w{side}, r{side})\n");
    }
    use AttributeKey::{LhsBatchDims, LhsContractingDims, RhsBatchDims, RhsContractingDims};
    let keys = [LhsBatchDims, RhsBatchDims, LhsContractingDims, RhsContractingDims];
    let attributes = keys.map(|key| format!(", {}={{{}}}", key.name(), list(asked.op.attributes.ints(key))));
    let wide = shape(working, &result.dims);
    text += &format!(" dot = {wide} dot(d0, d1){}\n", attributes.concat());
    text += &format!(" ROOT result = {} convert(dot)\n}}\n", shape(result.element, &result.dims));
    Ok(text)
}
