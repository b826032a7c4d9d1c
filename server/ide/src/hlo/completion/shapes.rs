//! The result shape: the one inferred from the text after the cursor, shapes used nearby, element types.

use ir::{Attributes, ElementType, Given, Shape, result_shape};
use syntax::hlo::{PieceState, parse};

use crate::completion::{CompletionItem, CompletionKind};
use crate::hlo::reference;
use crate::hlo::scope::Scope;

/// The number of shapes taken from the instructions above.
const NEAR: usize = 12;

pub(super) fn items(scope: &Scope<'_>) -> Vec<CompletionItem> {
    let mut items = Vec::new();
    let mut push = |shape: String, detail: &str, rank: &str| {
        if items.iter().any(|i: &CompletionItem| i.label == shape) {
            return;
        }
        items.push(CompletionItem {
            detail: detail.to_owned(),
            insert: format!("{shape} "),
            sort: format!("{rank}{:03}", items.len()),
            ..scope.item(&shape, CompletionKind::Type)
        });
    };
    if let Some(shape) = inferred(scope) {
        push(shape.to_string(), "follows from the operands", "0");
    }
    let near = scope.above().take(64).filter_map(|at| scope.context.shape(at)).map(ToString::to_string);
    let mut shapes: Vec<String> = Vec::new();
    for shape in near.filter(|s| s.len() < 80) {
        if shapes.len() < NEAR && !shapes.contains(&shape) {
            shapes.push(shape);
        }
    }
    shapes.into_iter().for_each(|shape| push(shape, "used above", "1"));
    for &element in ElementType::ALL {
        let name = element.name();
        let is_array = !matches!(element, ElementType::Token | ElementType::Opaque);
        items.push(CompletionItem {
            detail: reference::element_type_summary(element).unwrap_or_default(),
            insert: format!("{name}["),
            snippet: Some(if is_array { format!("{name}[$1] $0") } else { format!("{name}[] $0") }),
            sort: format!("2{name}"),
            documentation: Some(format!("type/{name}")),
            ..scope.item(name, CompletionKind::Type)
        });
    }
    items
}

/// The shape inferred from the operands and attributes after the cursor.
fn inferred(scope: &Scope<'_>) -> Option<Shape> {
    let opcode = scope.cursor.opcode?;
    let count = scope.cursor.operands.len();
    let operands: Vec<Shape> = (0..count).map(|i| scope.operand_shape(i)).collect::<Option<_>>()?;
    let operands: Vec<&Shape> = operands.iter().collect();
    let rest = syntax::Span { start: scope.cursor.opcode_span.start, end: scope.cursor.statement.end };
    // With a shape before it, because the parser cannot read all opcodes without one.
    let text = format!("c {{\n  x = f32[] {}\n}}\n", rest.of(&scope.block.text));
    let parsed = parse(&text, PieceState::HEADER);
    let instruction = parsed.instructions.first()?;
    let attributes = Attributes::from_syntax(&text, &parsed, instruction);
    let given = Given {
        operands: &operands,
        attributes: ir::AttributeView::Typed(&attributes),
        declared: None,
        called: &|_| None,
    };
    result_shape(opcode, &given).ok()
}
