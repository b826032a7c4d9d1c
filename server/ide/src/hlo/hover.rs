//! The hover of an instruction: its line, its result with bytes, a map per operand, its source line.

mod covered;
mod loops;
mod maps;
mod module;

use ir::{ElementTypeExt, Opcode, Shape};
use syntax::Span;
use syntax::hlo::AttributeKey;

use crate::file_context::FileContext;
use crate::hlo::Hlo;
use crate::hlo::locate::InstructionRef;
use crate::hlo::reference::at_cursor::{Explained, at_cursor};
use crate::hlo::source_location::source_location;
use crate::hover::{HoverConfig, Hovers};
use crate::kernel::hover::{caused_in_kernel, kernel_hover};
use crate::kernel::why_not_fused::why_not_fused;
use crate::memory;
use crate::origins;
use crate::rich_text::{Line, RichText, code, parts};
use crate::semantics::Names;
use crate::symbol::{Name, Role, Symbol};
use crate::units::{bytes, counted, shorten};
use crate::{Hover, TextRange};

pub(crate) use maps::loop_text;

/// The largest number of characters shown of an instruction's line.
const LINE_LIMIT: usize = 600;

impl Hovers for Hlo {
    fn hover(&self, context: &FileContext<'_>, offset: usize, config: &HoverConfig) -> Option<Hover> {
        let found = context.instruction_at(offset);
        let (piece, local) = found.map_or_else(
            || context.locate(offset),
            |at| (at.piece, offset.saturating_sub(context.range(at.piece, Span::default()).start)),
        );
        let explained = match at_cursor(context, found, piece, local) {
            Some(Explained::Other(span, text)) => {
                return Some(Hover { range: context.range(piece, span), text });
            }
            Some(Explained::Opcode(span, text)) => Some((context.range(piece, span), text)),
            None => None,
        };
        let Some(at) = found else {
            let module = || module::module_header(context, piece, local);
            return module().or_else(|| computation_header(context, offset));
        };
        // The opcode's documentation, then the instruction.
        if let Some((range, mut text)) = explained {
            text.space();
            text.divider();
            text.append(instruction(context, at, config));
            return Some(Hover { range, text });
        }
        let own_name = context.block(at.piece).instruction(at.id).name;
        // On a name, the hover describes what the name refers to.
        match Hlo.name_at(context, offset).filter(|name| name.at.span != own_name) {
            Some(Name { at: used, symbol: Symbol::Instruction(target) })
                if used.role != Role::SchedulingName =>
            {
                let text = instruction(context, target, config);
                Some(Hover { range: context.range(used.piece, used.span), text })
            }
            Some(Name { at: used, symbol: Symbol::Computation(index) }) => {
                let text = computation(context, index);
                Some(Hover { range: context.range(used.piece, used.span), text })
            }
            _ => {
                let range = hover_range(context, at, offset);
                Some(Hover { range, text: instruction(context, at, config) })
            }
        }
    }
}

/// The instruction without its attributes if the cursor is there, because editors highlight the range.
fn hover_range(context: &FileContext<'_>, at: InstructionRef, offset: usize) -> TextRange {
    let instruction = context.block(at.piece).instruction(at.id);
    let whole = context.range(at.piece, instruction.span);
    let head = whole.start..context.range(at.piece, instruction.argument).end.max(whole.start) + 1;
    if head.contains(&offset) { head.start..head.end.min(whole.end) } else { whole }
}

/// The hover of an instruction.
pub(crate) fn instruction(context: &FileContext<'_>, at: InstructionRef, config: &HoverConfig) -> RichText {
    let kernel = kernel_hover(context, at);
    let source = source_location(context, at);
    let is_kernel = !kernel.summary.is_empty();
    let mut text = RichText::default();
    // The framework op comes first, as the most important information about a kernel.
    if is_kernel {
        text.append(source.header());
    }
    text.code("hlo", line(context, at));
    if let Some(shape) = context.shape(at) {
        text.paragraph(shape_summary(shape));
    }
    text.append(kernel.summary);
    if !is_kernel {
        text.append(caused_in_kernel(context, at));
    }
    text.append(maps::maps(context, at, config));
    text.append(kernel.details);
    if config.memory {
        text.append(memory::section(context, at));
    }
    text.append(why_not_fused(context, at));
    text.append(covered::covered(context, at, &source));
    text.append(if is_kernel { source.callers() } else { source.footer() });
    text.append(origins::section(context, at, config));
    text
}

/// The instruction as written, without the parts that the hover shows elsewhere and without metadata.
pub(crate) fn line(context: &FileContext<'_>, at: InstructionRef) -> String {
    let block = context.block(at.piece);
    let instruction = block.instruction(at.id);
    let attributes = block.parse.attributes_of(instruction);
    let head_end = attributes.first().map_or(instruction.span.end, |a| a.key_span.start);
    let head = Span { start: instruction.span.start, end: head_end }.of(&block.text);
    let mut line = head.trim_end_matches([',', ' ', '\n', '\r', '\t']).to_owned();
    for attribute in attributes {
        let hidden = [AttributeKey::Metadata, AttributeKey::BackendConfig, AttributeKey::FrontendAttributes];
        if !attribute.key.is_some_and(|k| hidden.contains(&k)) {
            let text =
                Span { start: attribute.key_span.start, end: attribute.value_span.end }.of(&block.text);
            line += &format!(", {}", shorten(text, 160));
        }
    }
    shorten(&line, LINE_LIMIT)
}

/// `f32[20,10]{1,0} · 800 B · 200 elements`
pub(crate) fn shape_summary(shape: &Shape) -> Line {
    let size = shape.bytes().map_or_else(|| "size not known".to_owned(), bytes);
    match shape {
        Shape::Array(array) => {
            let bits = array.element.bits().unwrap_or_default();
            let width = if bits < 8 { format!(" of {bits} bits") } else { String::new() };
            let elements = array.elements().map(|n| counted(n.unsigned_abs(), "element"));
            let facts = [parts![code(array.to_string())], size.into()].into_iter();
            parts![Line::facts(facts.chain(elements.map(Line::from))), width]
        }
        Shape::Tuple(elements) => {
            let count = counted(elements.len() as u64, "element");
            parts![code(shorten(shape, 200)), format!(" · {size} in {count}")]
        }
        _ => parts![code(shape.to_string()), " · ", size],
    }
}

/// Operands as written, with `%`.
pub(crate) fn operand_names(context: &FileContext<'_>, at: InstructionRef) -> Vec<String> {
    let block = context.block(at.piece);
    block
        .operands_of(at.id)
        .map(|(operand, _)| {
            let end = operand.span.end.max(operand.name.end);
            format!("%{}", Span { start: operand.name.start, end }.of(&block.text))
        })
        .collect()
}

fn computation_header(context: &FileContext<'_>, offset: usize) -> Option<Hover> {
    let (piece, local) = context.locate(offset);
    let computations = &context.block(piece).parse.computations;
    // Also on `ENTRY`.
    let is_head = |c: &syntax::hlo::Computation| {
        let start = if c.is_entry { c.span.start.min(c.name.start) } else { c.name.start };
        Span { start, end: c.name.end }.contains(local)
    };
    let found = computations.iter().position(|c| !c.name.is_empty() && is_head(c))?;
    let segment = ir::SegmentRef { piece, computation: found as u32 };
    let text = computation(context, context.module().computation_of(segment)?);
    Some(Hover { range: context.range(piece, computations[found].name), text })
}

/// The hover of a computation: signature and size.
fn computation(context: &FileContext<'_>, index: usize) -> RichText {
    let module = context.module();
    let computation = &module.computations[index];
    let mut parameters: Vec<(u32, String)> = Vec::new();
    let mut count = 0;
    let mut result = None;
    for &segment in &computation.segments {
        let block = context.block(segment.piece);
        let range = context.computation(segment).instructions.clone();
        count += range.len();
        for id in range {
            let instruction = block.instruction(id);
            if instruction.opcode == Some(Opcode::Parameter)
                && let (Ok(number), Some(shape)) =
                    (instruction.argument.of(&block.text).trim().parse(), block.shape(id))
            {
                parameters.push((number, format!("{}: {shape}", block.name(id))));
            }
        }
        result = block.root(segment.computation).and_then(|id| block.shape(id)).or(result);
    }
    parameters.sort();
    let parameters: Vec<_> = parameters.into_iter().map(|(_, text)| text).collect();
    let result = result.map(ToString::to_string).unwrap_or_default();
    let entry = if module.is_entry(index) { "ENTRY " } else { "" };
    let signature = format!("{entry}%{} ({}) -> {result}", computation.name, parameters.join(", "));
    let mut text = RichText::default();
    text.code("hlo", shorten(&signature, LINE_LIMIT));
    let count = counted(count as u64, "instruction");
    match module.is_entry(index) {
        true => text.append(module::entry(context, index, count)),
        false => text.line(count),
    }
    text
}

#[cfg(test)]
mod tests;
