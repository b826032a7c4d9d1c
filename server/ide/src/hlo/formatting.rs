//! White space as XLA prints it: two blanks before instructions, one around `=` and after commas.
//!
//! Only the gaps between the parts of an instruction are edited, each by an edit of its own, so that only
//! white space changes and correct gaps stay untouched. Comments, blank lines and line breaks stay, as do
//! instructions with syntax errors.

use syntax::Span;
use syntax::hlo::{Computation, ComputationKind, Instruction, OperandKind};

use crate::TextEdit;
use crate::file_context::FileContext;
use crate::formatting::{Formatting, formatting};
use crate::hlo::Hlo;

impl Formatting for Hlo {
    fn formatting_in(&self, context: &FileContext<'_>, piece: usize) -> Vec<TextEdit> {
        let mut formatter = Formatter::new(context.block(piece));
        formatter.piece();
        let edits = formatter.edits.into_iter();
        edits.map(|(span, insert)| TextEdit { range: context.range(piece, span), insert }).collect()
    }

    /// A line break formats the previous line and indents the new one; a closing brace is indented to its level.
    fn on_type_formatting(&self, context: &FileContext<'_>, offset: usize, typed: char) -> Vec<TextEdit> {
        let rope = &context.view.text;
        let Ok(line) = rope.try_byte_to_line(offset) else { return Vec::new() };
        let start = rope.line_to_byte(line);
        if typed != '\n' {
            return formatting(context, &(start..offset));
        }
        let before = rope.line_to_byte(line.saturating_sub(1));
        let mut edits = formatting(context, &(before..start.saturating_sub(1).max(before)));
        // The cursor is on the new line: the editor owns the white space before it unless the line is blank.
        edits.retain(|e| e.range.end <= start);
        let rest = rope.line(line).to_string();
        let blanks = rest.len() - rest.trim_start_matches([' ', '\t']).len();
        let is_blank = rest.trim().is_empty();
        if is_blank && is_in_body(context, offset) && &rest[..blanks] != INDENT {
            edits.push(TextEdit { range: start..start + blanks, insert: INDENT.to_owned() });
        }
        edits
    }
}

const INDENT: &str = "  ";
/// The number of errors before an instruction that are examined for one that extends into it.
const ERRORS_BEFORE: usize = 8;

fn is_in_body(context: &FileContext<'_>, offset: usize) -> bool {
    let (piece, _) = context.locate(offset);
    context.block(piece).parse.computations.iter().any(|c| {
        let span = context.range(piece, c.span);
        let is_body =
            matches!(c.kind, ComputationKind::Whole | ComputationKind::Continued | ComputationKind::Headless);
        is_body && span.start < offset && (offset < span.end || !c.is_closed)
    })
}

struct Formatter<'a> {
    block: &'a ir::Block,
    text: &'a str,
    edits: Vec<(Span, String)>,
}

impl<'a> Formatter<'a> {
    fn new(block: &'a ir::Block) -> Self {
        Formatter { block, text: &block.text, edits: Vec::new() }
    }

    fn piece(&mut self) {
        let parse = &self.block.parse;
        for computation in &parse.computations {
            let depth = self.depth(computation);
            if matches!(computation.kind, ComputationKind::Whole) {
                self.indent(computation.span.start as usize, 0);
            }
            let has_brace = computation.is_closed && computation.kind != ComputationKind::Bare;
            if has_brace && computation.span.end > computation.span.start {
                self.indent(computation.span.end as usize - 1, depth.saturating_sub(1));
            }
        }
        for (id, instruction) in parse.instructions.iter().enumerate() {
            if instruction.is_nested || instruction.is_broken {
                continue;
            }
            // Errors are in text order, and few are so long that they start far before their end.
            let behind = parse.errors.partition_point(|e| e.span.start <= instruction.span.end);
            let mut before = parse.errors[..behind].iter().rev().take(ERRORS_BEFORE);
            let has_error = before.any(|e| instruction.span.start <= e.span.end);
            if !has_error {
                let computation = parse.computation_of(id as u32);
                let depth = computation.map_or(1, |c| self.depth(&parse.computations[c as usize]));
                self.instruction(instruction, depth);
            }
        }
    }

    /// The nesting depth of this computation's instructions.
    fn depth(&self, computation: &Computation) -> usize {
        match computation.kind {
            ComputationKind::Bare => 0,
            ComputationKind::Inline(_) => {
                let is_around = |c: &&Computation| {
                    c.span.start < computation.span.start && computation.span.end < c.span.end
                };
                let around = self.block.parse.computations.iter().filter(is_around);
                1 + around.filter(|c| c.kind != ComputationKind::Bare).count().max(1)
            }
            _ => 1,
        }
    }

    fn instruction(&mut self, instruction: &Instruction, depth: usize) {
        let start = instruction.span.start as usize;
        self.indent(start, depth);
        let continuation = INDENT.repeat(depth + 1);
        let name = self.with_percent(instruction.name);
        if instruction.is_root {
            self.gap(start + "ROOT".len(), name.start as usize, " ", &continuation);
        }
        let shape = instruction.shape.map(|_| instruction.shape_span);
        let opcode = instruction.opcode_span;
        let value = shape.unwrap_or(opcode);
        if !instruction.name.is_empty() {
            self.gap(instruction.name.end as usize, value.start as usize, " = ", &continuation);
        }
        if let Some(shape) = shape {
            self.gap(shape.end as usize, opcode.start as usize, " ", &continuation);
        }
        let argument = instruction.argument;
        self.gap(opcode.end as usize, argument.start as usize, "(", &continuation);
        self.operands(instruction, &continuation);
        // After `)`; a literal's argument ends before it, including white space between them.
        let mut end = argument.end as usize;
        let closing = self.text[end..].find(|c: char| !c.is_whitespace()).map_or(end, |n| end + n);
        if self.text[closing..].starts_with(')') {
            self.gap(end, closing, "", &continuation);
            end = closing + 1;
        }
        for attribute in self.block.parse.attributes_of(instruction) {
            self.gap(end, attribute.key_span.start as usize, ", ", &continuation);
            let behind_equal = attribute.key_span.end as usize + 1;
            let value = attribute.value_span.start as usize;
            // A body may start on a line of its own.
            if behind_equal <= value && !self.text[behind_equal..value].contains('\n') {
                self.gap(behind_equal, value, "", &continuation);
            }
            end = attribute.value_span.end as usize;
        }
    }

    fn operands(&mut self, instruction: &Instruction, continuation: &str) {
        let (first, count) = instruction.operands;
        let operands = &self.block.parse.operands[first as usize..(first + count) as usize];
        let mut previous: Option<u32> = None;
        for operand in operands {
            if let Some(end) = previous {
                self.gap(end as usize, operand.span.start as usize, ", ", continuation);
            }
            previous = Some(operand.span.end);
            let is_named = matches!(operand.kind, OperandKind::Name | OperandKind::Element { .. });
            let name = self.with_percent(operand.name).start as usize;
            if is_named && operand.shape.is_some() {
                let before = &self.text[operand.span.start as usize..name];
                let shape = operand.span.start as usize + before.trim_end().len();
                self.gap(shape, name, " ", continuation);
            }
        }
        if let Some(end) = previous {
            self.gap(end as usize, instruction.argument.end as usize, "", continuation);
        }
    }

    fn with_percent(&self, name: Span) -> Span {
        let percent = self.text[..name.start as usize].ends_with('%');
        Span { start: name.start - u32::from(percent), end: name.end }
    }

    /// Indents the first token on a line by `depth`.
    fn indent(&mut self, at: usize, depth: usize) {
        let line = self.text[..at].rfind('\n').map_or(0, |n| n + 1);
        let before = &self.text[line..at];
        if before.bytes().all(|b| matches!(b, b' ' | b'\t')) {
            self.replace(line, at, INDENT.repeat(depth));
        }
    }

    /// Replaces the gap between two parts with `wanted`, or keeps an existing line break at its end. Comments
    /// and unexpected text stay unchanged.
    fn gap(&mut self, start: usize, end: usize, wanted: &str, continuation: &str) {
        let Some(found) = self.text.get(start..end) else { return };
        if found == wanted {
            return;
        }
        let is_blank = |c: char| matches!(c, ' ' | '\t' | '\r' | '\n');
        if found.chars().filter(|c| !is_blank(*c)).ne(wanted.chars().filter(|c| !is_blank(*c))) {
            return self.commented_gap(start, found, wanted);
        }
        match found.contains('\n') {
            true => {
                let newline = if found.contains("\r\n") { "\r\n" } else { "\n" };
                self.replace(start, end, format!("{}{newline}{continuation}", wanted.trim_end()));
            }
            false => self.replace(start, end, wanted.to_owned()),
        }
    }

    /// `,   /*index=5*/` has one blank after the comma.
    fn commented_gap(&mut self, start: usize, found: &str, wanted: &str) {
        let comment = found.trim_start_matches([' ', '\t', ',']);
        if wanted == ", " && comment.starts_with("/*") && comment.ends_with("*/") && !found.contains('\n') {
            let before = &found[..found.len() - comment.len()];
            if before.matches(',').count() == 1 {
                self.replace(start, start + before.len(), wanted.to_owned());
            }
        }
    }

    fn replace(&mut self, start: usize, end: usize, wanted: String) {
        if self.text[start..end] != wanted {
            self.edits.push((Span::new(start, end), wanted));
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::fixture::{apply_edits, in_entry, open};

    fn formatted(text: &str) -> String {
        let (analysis, file, _) = open(text);
        let text = analysis.text(file).to_string();
        let edits = analysis.formatting(file, 0..text.len()).expect("nobody cancels");
        let out = apply_edits(&text, &edits);
        let bare = |text: &str| text.split_whitespace().collect::<String>();
        assert_eq!(bare(&out), bare(&text), "only white space changes");
        let (analysis, file, _) = open(&out);
        assert_eq!(analysis.formatting(file, 0..out.len()).expect("nobody cancels"), [], "{out}");
        out
    }

    fn check(lines: &str, expect: &str) {
        assert_eq!(formatted(&in_entry(lines)), in_entry(expect));
    }

    #[test]
    fn gaps_are_one_blank() {
        check(
            "p   =  f32[8]{0}   parameter( 0 )\n\t ROOT  %n = f32[8] add (p ,f32[8]  %p ) ,metadata={op_name=\"a  b\"},  backend_config={}",
            "  p = f32[8]{0} parameter(0)\n  ROOT %n = f32[8] add(p, f32[8] %p), metadata={op_name=\"a  b\"}, backend_config={}",
        );
    }

    #[test]
    fn comments_blank_lines_and_line_breaks_stay() {
        let text = "  // why\n  p = f32[8] parameter(0)  // here\n\n\n  t = (f32[8], f32[8]) tuple(p, /*index=1*/p)\n  ROOT n = f32[8] negate(p /* x */ ),\n    metadata={}";
        check(text, text);
        check(
            "  p = f32[8] parameter(0)\n  ROOT n = f32[8] add(p,   /*index=1*/p)  ,\n metadata={}",
            "  p = f32[8] parameter(0)\n  ROOT n = f32[8] add(p, /*index=1*/p),\n    metadata={}",
        );
    }

    #[test]
    fn a_broken_instruction_stays_and_the_rest_is_formatted() {
        check(
            "p = f32[8] parameter(0)\n      q =   f32[8] negate((p)\n ROOT n  = f32[8] negate(p)",
            "  p = f32[8] parameter(0)\n      q =   f32[8] negate((p)\n  ROOT n = f32[8] negate(p)",
        );
    }

    #[test]
    fn bodies_inside_of_attributes_are_indented() {
        check(
            "  p = f32[8] parameter(0)\n  z = f32[] constant(0)\n  ROOT r = f32[] reduce(p, z), dimensions={0}, to_apply={\n a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT s = f32[] add(a,b)\n    }",
            "  p = f32[8] parameter(0)\n  z = f32[] constant(0)\n  ROOT r = f32[] reduce(p, z), dimensions={0}, to_apply={\n    a = f32[] parameter(0)\n    b = f32[] parameter(1)\n    ROOT s = f32[] add(a, b)\n  }",
        );
    }

    #[test]
    fn edits_are_small_and_of_the_range() {
        let (analysis, file, _) = open(&in_entry("   p = f32[8] parameter(0)\n   ROOT n = f32[8] negate(p)"));
        let text = analysis.text(file).to_string();
        let at = text.find("ROOT n").unwrap();
        let edits = analysis.formatting(file, at..at).expect("nobody cancels");
        assert_eq!(edits, [crate::TextEdit { range: at - 3..at, insert: "  ".into() }]);
    }

    fn typed(text: &str, expect: &str) {
        let (analysis, file, offset) = open(text);
        let text = analysis.text(file).to_string();
        let last = text[..offset].chars().next_back().expect("something was typed");
        let edits = analysis.on_type_formatting(file, offset, last).expect("nobody cancels");
        assert_eq!(apply_edits(&text, &edits), expect);
    }

    #[test]
    fn typing_formats_the_line_that_is_done() {
        typed(
            "HloModule m\n\nENTRY e {\n p=f32[8] parameter(0)\n$0\n}\n",
            "HloModule m\n\nENTRY e {\n p=f32[8] parameter(0)\n  \n}\n",
        );
        typed(
            "HloModule m\n\nENTRY e {\n p = f32[8]  parameter(0)\n$0\n}\n",
            "HloModule m\n\nENTRY e {\n  p = f32[8] parameter(0)\n  \n}\n",
        );
        typed(
            "HloModule m\n\nENTRY e {\n  p = f32[8] parameter(0)\n  }$0\n",
            "HloModule m\n\nENTRY e {\n  p = f32[8] parameter(0)\n}\n",
        );
        typed("HloModule m\n$0\n", "HloModule m\n\n");
    }
}
