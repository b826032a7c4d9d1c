//! The origin of a value. HLO has no type definitions, so this leads to where the shape and the value of an
//! instruction are determined:
//!
//! - of a call, a fusion, a loop or a conditional: the root of each computation whose result it may return;
//! - of `get-tuple-element`: the element of the tuple;
//! - of `parameter(n)`: the operands passed for it at calls of its computation;
//! - of the second half of an asynchronous pair: the first half;
//! - of everything else: the instruction itself, which states its own shape.

use ir::{Opcode, Phase, op_info};
use syntax::hlo::{AttributeKey, ValueNode};

use crate::file_context::FileContext;
use crate::hlo::Hlo;
use crate::hlo::definitions::{argument_targets, instruction_target};
use crate::hlo::locate::InstructionRef;
use crate::hlo::tuple_element::element_taken;
use crate::semantics::Names;
use crate::symbol::Symbol;
use crate::{NavigationTarget, TextRange};

/// Works at an instruction's name, at an operand, or anywhere else in an instruction; at the name of a
/// computation it leads to its root.
pub(crate) fn type_definitions(context: &FileContext<'_>, offset: usize) -> Vec<NavigationTarget> {
    match Hlo.name_at(context, offset) {
        Some(found) => {
            let origin = context.range(found.at.piece, found.at.span);
            match found.symbol {
                Symbol::Instruction(at) => targets(context, &origin, at),
                Symbol::Computation(index) => roots(context, &origin, &[index]),
                _ => Vec::new(),
            }
        }
        None => match context.instruction_at(offset) {
            Some(at) => {
                let instruction = context.block(at.piece).instruction(at.id);
                // A broken instruction has no opcode.
                let asked =
                    if instruction.opcode.is_some() { instruction.opcode_span } else { instruction.name };
                targets(context, &context.range(at.piece, asked), at)
            }
            None => Vec::new(),
        },
    }
}

fn targets(context: &FileContext<'_>, origin: &TextRange, at: InstructionRef) -> Vec<NavigationTarget> {
    let found = match context.block(at.piece).instruction(at.id).opcode {
        Some(Opcode::Parameter) => argument_targets(context, origin, at),
        Some(Opcode::GetTupleElement) => element_taken(context, at)
            .into_iter()
            .map(|e| instruction_target(context, origin.clone(), e))
            .collect(),
        Some(opcode) if matches!(op_info(opcode).phase, Phase::Update | Phase::Done { .. }) => {
            let start = context.definition(at, 0).into_iter();
            start.map(|s| instruction_target(context, origin.clone(), s)).collect()
        }
        _ => roots(context, origin, &returning(context, at)),
    };
    match found.is_empty() {
        true => vec![instruction_target(context, origin.clone(), at)],
        false => found,
    }
}

fn roots(context: &FileContext<'_>, origin: &TextRange, computations: &[usize]) -> Vec<NavigationTarget> {
    let roots = computations.iter().filter_map(|&index| context.result_of(index));
    roots.map(|root| instruction_target(context, origin.clone(), root)).collect()
}

/// The computations whose result is the result of `at`; excludes those that reduce or compare elements.
fn returning(context: &FileContext<'_>, at: InstructionRef) -> Vec<usize> {
    let block = context.block(at.piece);
    let instruction = block.instruction(at.id);
    let keys: &[AttributeKey] = match instruction.opcode {
        Some(Opcode::Fusion | Opcode::AsyncStart) => &[AttributeKey::Calls],
        Some(Opcode::Call) => &[AttributeKey::ToApply],
        Some(Opcode::While) => &[AttributeKey::Body],
        Some(Opcode::Conditional) => {
            &[AttributeKey::TrueComputation, AttributeKey::FalseComputation, AttributeKey::BranchComputations]
        }
        _ => &[],
    };
    let attributes = block.parse.attributes_of(instruction).iter();
    let attributes = attributes.filter(|a| a.key.is_some_and(|key| keys.contains(&key)));
    let names = attributes.flat_map(|attribute| match attribute.value {
        ValueNode::Computation(span) => vec![span],
        ValueNode::Computations { start, len } => block.parse.spans(start, len).to_vec(),
        _ => Vec::new(),
    });
    let mut found: Vec<usize> = names.filter_map(|span| context.callee(at, span.of(&block.text))).collect();
    // Branches may share a computation.
    found.sort_unstable();
    found.dedup();
    found
}

#[cfg(test)]
mod tests {
    use crate::fixture::open;

    const TEXT: &str = "HloModule m

f {
  a = f32[8] parameter(0)
  ROOT n = f32[8] negate(a)
}

g {
  b = f32[8] parameter(0)
  ROOT e = f32[8] exponential(b)
}

ENTRY main {
  x = f32[8] parameter(0)
  p = pred[] parameter(1)
  u = f32[8] fusion(x), kind=kLoop, calls=f
  c = f32[8] conditional(p, u, x), true_computation=f, false_computation=g
  t = (f32[8], f32[8]) tuple(u, c)
  i = f32[8] get-tuple-element(t), index=0
  s = (f32[8], f32[8], u32[]) copy-start(i)
  ROOT d = f32[8] copy-done(s)
}
";

    fn check(from: &str, to: &str, expect: &[&str]) {
        assert_eq!(TEXT.matches(from).count(), 1, "{from}");
        let (analysis, file, offset) = open(&TEXT.replace(from, to));
        let text = analysis.text(file).to_string();
        let targets = analysis.goto_type_definition(file, offset).expect("nobody cancels");
        let names: Vec<_> = targets.iter().map(|t| &text[t.selection_range.clone()]).collect();
        assert_eq!(names, expect, "{to}");
    }

    #[test]
    fn values_are_traced_to_what_decides_them() {
        check("  u = f32", "  $0u = f32", &["n"]);
        check("c = f32", "$0c = f32", &["n", "e"]);
        check("calls=f", "calls=$0f", &["n"]);
        check("tuple(u, c)", "tuple($0u, c)", &["n"]);
        check("i = f32[8] get", "$0i = f32[8] get", &["u"]);
        check("d = f32", "$0d = f32", &["s"]);
        check("a = f32", "$0a = f32", &["x", "u"]);
        check("exponential(b)", "exponential($0b)", &["x"]);
        check("negate(a)", "neg$0ate(a)", &["n"]);
    }
}
