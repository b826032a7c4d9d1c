//! Computations that an attribute may call: those above the cursor, with matching parameters first.

use ir::{AttributeKey, ElementType, Opcode, Shape};
use syntax::hlo::ComputationKind;

use crate::completion::{Completion, CompletionItem, CompletionKind, matches};
use crate::hlo::scope::Scope;

/// The number of computations examined, from the cursor upwards.
const REACH: usize = 4000;

pub(super) fn items(scope: &Scope<'_>, key: AttributeKey, out: &mut Completion) {
    let mut seen = 0;
    let (percent, _) = scope.style();
    let sigil = if percent { "%" } else { "" };
    for piece in (0..=scope.piece).rev() {
        let block = scope.context.block(piece);
        for (id, computation) in block.parse.computations.iter().enumerate().rev() {
            let is_above = piece < scope.piece || computation.span.end <= scope.cursor.statement.start;
            if computation.kind != ComputationKind::Whole || computation.is_entry || !is_above {
                continue;
            }
            seen += 1;
            let name = computation.name.of(&block.text);
            if !matches(scope.prefix(), name) {
                continue;
            }
            if out.is_full() || seen > REACH {
                out.is_incomplete = true;
                return;
            }
            let parameters: Vec<&Shape> = parameters(block, id as u32);
            let result = block.root(id as u32).and_then(|root| block.shape(root));
            let list: Vec<String> = parameters.iter().map(ToString::to_string).collect();
            let detail =
                format!("({}) -> {}", list.join(", "), result.map_or("?".to_owned(), Shape::to_string));
            let rank = u8::from(!fits(scope, key, &parameters, result));
            out.items.push(CompletionItem {
                detail: crate::units::shorten(&detail, 120),
                insert: format!("{sigil}{name}"),
                filter: format!("{sigil}{name}"),
                sort: format!("{rank}{:05}", out.items.len()),
                ..scope.item(name, CompletionKind::Computation)
            });
        }
    }
}

/// Shapes of the parameters, by number.
fn parameters(block: &ir::Block, computation: u32) -> Vec<&Shape> {
    let range = block.parse.computations[computation as usize].instructions.clone();
    let mut found: Vec<(u32, &Shape)> = range
        .filter_map(|id| {
            let instruction = block.instruction(id);
            let number = instruction.argument.of(&block.text).trim().parse().ok()?;
            (instruction.opcode == Some(Opcode::Parameter)).then_some((number, block.shape(id)?))
        })
        .collect();
    found.sort_by_key(|&(number, _)| number);
    found.into_iter().map(|(_, shape)| shape).collect()
}

/// Whether the statement can call a computation with these parameters, as far as its operands are known.
fn fits(scope: &Scope<'_>, key: AttributeKey, parameters: &[&Shape], result: Option<&Shape>) -> bool {
    let operands = scope.cursor.operands.len();
    let is_scalar = |s: &&Shape| s.as_array().is_some_and(|a| a.rank() == 0);
    let answers_pred = result.is_some_and(|r| *r == Shape::array(ElementType::Pred, &[]));
    let operand = |i| scope.operand_shape(i);
    let same_type = |i: usize| {
        let (operand, parameter) = (operand(i), parameters.get(i));
        operand.and_then(|o| o.element()).is_none_or(|e| parameter.and_then(|p| p.element()) == Some(e))
    };
    match (key, scope.cursor.opcode) {
        (AttributeKey::Condition, _) => answers_pred && parameters.len() == 1,
        (AttributeKey::Select, _) => answers_pred && parameters.len() == 2,
        (AttributeKey::ToApply, Some(Opcode::Sort)) => answers_pred && parameters.len() == 2 * operands,
        (AttributeKey::ToApply, Some(Opcode::Reduce | Opcode::ReduceWindow)) => {
            parameters.len() == operands && parameters.iter().all(is_scalar) && same_type(0) && !answers_pred
        }
        (AttributeKey::ToApply | AttributeKey::Scatter, Some(opcode)) if opcode != Opcode::Call => {
            parameters.iter().all(is_scalar) && !answers_pred && same_type(0)
        }
        _ => {
            parameters.len() == operands
                && parameters.iter().enumerate().all(|(i, p)| operand(i).is_none_or(|o| o.is_compatible(p)))
        }
    }
}
