//! The edits of a group of changes. Lines that do not change keep their form and comments.

use ir::{AttributeKey, AttributeValue, Attributes, Opcode};
use passes::{ComputationId, InstructionId, Module};
use rustc_hash::FxHashSet;
use syntax::Span;
use syntax::hlo::OperandKind;

use super::difference::{Difference, Fate, NewOperand};
use crate::file_context::FileContext;
use crate::optimize::source::{SourceInstruction, SourceModule};
use crate::{TextEdit, TextRange};

/// The edits; `None` if the group cannot be applied alone: an instruction of it is not written on its own, or would be used above its
/// definition.
pub(super) fn edits(
    context: &FileContext<'_>,
    source: &SourceModule,
    after: &Module,
    difference: &Difference,
    group: &FxHashSet<InstructionId>,
) -> Option<Vec<TextEdit>> {
    if group.is_empty() {
        return None;
    }
    let text = context.view.text.to_string();
    let editor = Editor { context, source, after, difference, group, text: &text };
    editor.edits()
}

struct Editor<'a> {
    context: &'a FileContext<'a>,
    source: &'a SourceModule,
    after: &'a Module,
    difference: &'a Difference,
    group: &'a FxHashSet<InstructionId>,
    text: &'a str,
}

impl Editor<'_> {
    fn edits(&self) -> Option<Vec<TextEdit>> {
        let mut edits = Vec::new();
        let mut computations: Vec<ComputationId> = Vec::new();
        let mut group: Vec<InstructionId> = self.group.iter().copied().collect();
        group.sort_unstable();
        for &id in &group {
            // `%x#1` follows its tuple.
            if self.is_unwritten_element(id) {
                continue;
            }
            let computation = match self.fate(id)? {
                Fate::Added => self.after[id].parent(),
                Fate::Removed => {
                    edits.push(TextEdit { range: self.line(self.written(id)?), insert: String::new() });
                    self.source.module[id].parent()
                }
                Fate::Changed => {
                    let insert = self.instruction(id)?;
                    edits.push(TextEdit { range: self.written(id)?.range.clone(), insert });
                    self.source.module[id].parent()
                }
                Fate::Replaced => self.source.module[id].parent(),
            };
            if !computations.contains(&computation) {
                computations.push(computation);
            }
        }
        for operand in self.operands() {
            edits.push(self.operand(operand)?);
        }
        for &computation in &computations {
            edits.extend(self.root(computation)?);
            edits.extend(self.added(computation)?);
        }
        edits.extend(self.made_computations(&computations)?);
        edits.extend(self.removed_computations());
        Some(edits)
    }

    /// The computations that the pass made for the group, above the first one that it changes.
    fn made_computations(&self, changed: &[ComputationId]) -> Option<Option<TextEdit>> {
        let known = self.source.module.computations();
        let is_printed = |id: &InstructionId| matches!(self.fate(*id), Some(Fate::Added | Fate::Changed));
        let mut open: Vec<ComputationId> =
            self.group.iter().filter(|id| is_printed(id)).flat_map(|&id| self.after[id].called()).collect();
        let mut made: Vec<ComputationId> = Vec::new();
        while let Some(computation) = open.pop() {
            if !known.contains(&computation) && !made.contains(&computation) {
                made.push(computation);
                let inner = self.after.instructions(computation).into_iter();
                open.extend(inner.flat_map(|id| self.after[id].called()));
            }
        }
        if made.is_empty() {
            return Some(None);
        }
        let ranges = changed.iter().map(|&computation| self.computation(computation));
        let start = ranges.collect::<Option<Vec<TextRange>>>()?.into_iter().map(|range| range.start).min()?;
        let order = self.after.computation_post_order().into_iter().filter(|made_| made.contains(made_));
        let insert = order.map(|computation| computation_in(self.after, computation, self.form()) + "\n");
        Some(Some(TextEdit { range: start..start, insert: insert.collect() }))
    }

    /// The computations that nothing of the text calls any more.
    fn removed_computations(&self) -> Vec<TextEdit> {
        let kept = self.after.computations();
        let callers = self.source.module.callers();
        let is_left = |caller: &InstructionId| {
            self.group.contains(caller) && matches!(self.fate(*caller), Some(Fate::Removed | Fate::Changed))
        };
        let removed = self.source.module.computations().into_iter().filter(|computation| {
            let own = callers.get(computation);
            !kept.contains(computation) && own.is_some_and(|own| own.iter().all(is_left))
        });
        let ranges = removed.filter_map(|computation| self.computation(computation));
        ranges.map(|range| TextEdit { range, insert: String::new() }).collect()
    }

    /// The lines of a computation, with the empty one behind it.
    fn computation(&self, computation: ComputationId) -> Option<TextRange> {
        let ids = self.source.module.instructions(computation);
        let first =
            ids.iter().filter_map(|&id| self.written(id)).map(|written| written.name_range.start).min()?;
        let at = self.context.instruction_at(first)?;
        let index = self.context.computation_index(at)?;
        let segments = &self.context.module().computations[index].segments;
        let (head, last) = (*segments.first()?, *segments.last()?);
        let start = self.context.range(head.piece, self.context.computation(head).span).start;
        let start = start.min(self.context.range(head.piece, self.context.computation(head).name).start);
        let line = self.text[..start].rfind('\n').map_or(0, |newline| newline + 1);
        let end = self.context.range(last.piece, self.context.computation(last).span).end;
        let behind = &self.text[end..];
        let rest = behind.len() - behind.trim_start_matches([' ', '\t', '\r']).len();
        let newlines = behind[rest..].len() - behind[rest..].trim_start_matches('\n').len();
        Some(line..end + rest + newlines.min(2))
    }

    fn fate(&self, id: InstructionId) -> Option<Fate> {
        self.difference.fates.get(&id).copied()
    }

    fn is_fated(&self, id: InstructionId, fate: Fate) -> bool {
        self.group.contains(&id) && self.fate(id) == Some(fate)
    }

    fn written(&self, id: InstructionId) -> Option<&SourceInstruction> {
        self.source.instructions.get(Module::index(id))?.as_ref()
    }

    /// Whether an instruction is written as `%x#1` where it is used.
    fn is_unwritten_element(&self, id: InstructionId) -> bool {
        self.after[id].opcode() == Opcode::GetTupleElement
            && self.fate(id) != Some(Fate::Added)
            && self.written(id).is_none()
    }

    /// Where an instruction is defined, or the tuple that it is an element of.
    fn defined(&self, id: InstructionId) -> Option<&SourceInstruction> {
        let mut id = id;
        while self.is_unwritten_element(id) {
            id = *self.source.module[id].operands().first()?;
        }
        self.written(id)
    }

    /// The operands of instructions outside of the group that change with it.
    fn operands(&self) -> impl Iterator<Item = &NewOperand> {
        self.difference.operands.iter().filter(|operand| self.group.contains(&operand.old))
    }

    fn operand(&self, operand: &NewOperand) -> Option<TextEdit> {
        let user = self.written(operand.user)?;
        // A new instruction is inserted above.
        if !self.is_fated(operand.new, Fate::Added)
            && self.defined(operand.new)?.range.start > user.range.start
        {
            return None;
        }
        let at = self.context.instruction_at(user.name_range.start)?;
        let block = self.context.block(at.piece);
        let named = |operand: &syntax::hlo::Operand| match operand.kind {
            OperandKind::Element { .. } => Span::new(operand.name.start as usize, operand.span.end as usize),
            _ => operand.name,
        };
        let all: Vec<_> = block.operands_of(at.id).map(|(operand, _)| named(operand)).collect();
        let is_plain = all.len() == self.source.module[operand.user].operands().len();
        let range = self.context.range(at.piece, *all.get(operand.index).filter(|_| is_plain)?);
        Some(TextEdit { range, insert: self.bare_name(operand.new)? })
    }

    /// The name of an instruction in the new text, without its sign.
    fn bare_name(&self, id: InstructionId) -> Option<String> {
        let (mut id, mut path) = (id, String::new());
        while self.is_unwritten_element(id) {
            let index = self.source.module[id].attributes().int(AttributeKey::Index)?;
            path = format!("#{index}{path}");
            id = *self.source.module[id].operands().first()?;
        }
        let name = match self.fate(id) {
            Some(Fate::Added) => self.group.contains(&id).then(|| self.after[id].name())?,
            _ => self.written(id)?.name.trim_start_matches('%'),
        };
        Some(name.to_owned() + &path)
    }

    /// The mark of the root, where another instruction is the root now.
    fn root(&self, computation: ComputationId) -> Option<Vec<TextEdit>> {
        let Some(&(old, new)) = self.difference.roots.get(&computation) else { return Some(Vec::new()) };
        let mut edits = Vec::new();
        if !self.group.contains(&old) {
            return Some(edits);
        }
        let mark = |id| {
            let range = &self.written(id)?.range;
            Some(self.text.get(range.clone())?.starts_with("ROOT").then_some(range.start))
        };
        if matches!(self.fate(old), Some(Fate::Replaced))
            && let Some(start) = mark(old)?
        {
            let name = self.name_start(self.written(old)?);
            edits.push(TextEdit { range: start..name, insert: String::new() });
        }
        // Added and changed ones are printed with their mark.
        if !matches!(self.fate(new), Some(Fate::Added | Fate::Changed)) {
            let start = self.written(new)?.range.start;
            edits.push(TextEdit { range: start..start, insert: "ROOT ".to_owned() });
        }
        Some(edits)
    }

    /// Where the name of an instruction starts, with its sign.
    fn name_start(&self, written: &SourceInstruction) -> usize {
        let start = written.name_range.start;
        if self.text[..start].ends_with('%') { start - 1 } else { start }
    }

    /// What is inserted into a computation.
    fn added(&self, computation: ComputationId) -> Option<Option<TextEdit>> {
        let order = self.after.post_order(computation);
        let added: Vec<InstructionId> =
            order.into_iter().filter(|&id| self.is_fated(id, Fate::Added)).collect();
        if added.is_empty() {
            return Some(None);
        }
        let (mut lower, mut upper) = (0, usize::MAX);
        for &id in &added {
            for &operand in self.after[id].operands() {
                if !self.is_fated(operand, Fate::Added) {
                    lower = lower.max(self.defined(operand)?.range.end);
                }
            }
        }
        for &id in &added {
            let outside = self.after[id].users().iter().filter(|user| !self.is_fated(**user, Fate::Added));
            for &user in outside.filter(|user| !self.is_unwritten_element(**user)) {
                // Users outside of the group keep the operand that they have.
                let takes = |operand: &NewOperand| operand.user == user && operand.new == id;
                if self.is_fated(user, Fate::Changed) || self.operands().any(takes) {
                    upper = upper.min(self.written(user)?.range.start);
                }
            }
        }
        let lines = added.iter().map(|&id| self.instruction(id)).collect::<Option<Vec<String>>>()?;
        match self.anchor(computation, lower, upper) {
            Some(anchor) => Some(Some(self.inserted(&anchor, &lines))),
            None => Some(Some(self.appended(computation, lower, &lines)?)),
        }
    }

    /// Instructions behind the last one of a computation.
    fn appended(
        &self,
        computation: ComputationId,
        lower: usize,
        instructions: &[String],
    ) -> Option<TextEdit> {
        let all = self.source.module.instructions(computation).into_iter();
        let last = all.filter_map(|id| self.written(id)).max_by_key(|written| written.range.end)?;
        if last.range.end < lower {
            return None;
        }
        let line = self.line(last);
        let is_alone = self.text[line.clone()].ends_with('\n');
        let indent = &self.text[line.start.min(last.range.start)..last.range.start];
        let in_line = |instruction: &String| match is_alone {
            true => format!("{indent}{instruction}\n"),
            false => format!(" {instruction}"),
        };
        let at = if is_alone { line.end } else { last.range.end };
        Some(TextEdit { range: at..at, insert: instructions.iter().map(in_line).collect() })
    }

    /// Before which instruction something is inserted: the first of the removed ones, or the first at all, between two offsets.
    fn anchor(&self, computation: ComputationId, lower: usize, upper: usize) -> Option<TextRange> {
        let all = self.source.module.instructions(computation).into_iter();
        let mut fitting: Vec<(bool, TextRange)> = all
            .filter_map(|id| Some((!self.is_fated(id, Fate::Removed), self.written(id)?.range.clone())))
            .filter(|(_, range)| range.start >= lower && range.start <= upper)
            .collect();
        fitting.sort_by_key(|(is_kept, range)| (*is_kept, range.start));
        Some(fitting.into_iter().next()?.1)
    }

    fn inserted(&self, anchor: &TextRange, instructions: &[String]) -> TextEdit {
        let line = self.text[..anchor.start].rfind('\n').map_or(0, |newline| newline + 1);
        let indent = &self.text[line..anchor.start];
        let is_first = indent.chars().all(char::is_whitespace);
        let (at, indent, end) = if is_first { (line, indent, "\n") } else { (anchor.start, "", " ") };
        let insert = instructions.iter().map(|instruction| format!("{indent}{instruction}{end}")).collect();
        TextEdit { range: at..at, insert }
    }

    /// The range of an instruction with the rest of its line, if it has the line for itself.
    fn line(&self, written: &SourceInstruction) -> TextRange {
        let TextRange { start, end } = written.range;
        let line = self.text[..start].rfind('\n').map_or(0, |newline| newline + 1);
        let behind = &self.text[end..];
        let rest = behind.find('\n').unwrap_or(behind.len());
        let remark = behind[..rest].trim_start();
        let is_alone = self.text[line..start].chars().all(char::is_whitespace)
            && (remark.is_empty() || remark.starts_with("//"));
        if is_alone {
            return line..(end + rest + 1).min(self.text.len());
        }
        let spaces = behind.len() - behind.trim_start_matches(' ').len();
        start..end + spaces
    }

    /// An instruction as it is after the pass, in the form of the text.
    fn instruction(&self, id: InstructionId) -> Option<String> {
        let operands = self.after[id].operands().iter().map(|&operand| self.bare_name(operand));
        let operands = operands.collect::<Option<Vec<String>>>()?;
        let operands: Vec<&str> = operands.iter().map(String::as_str).collect();
        Some(written(self.after, id, &self.bare_name(id)?, &operands, self.form(), self.after.is_root(id)))
    }

    fn form(&self) -> Form {
        let first = self.source.instructions.iter().flatten().next();
        let has_signs = first.is_some_and(|first| self.text[..first.name_range.start].ends_with('%'));
        Form { sign: if has_signs { "%" } else { "" }, states_layouts: self.text.contains("]{") }
    }
}

/// How a text writes instructions.
#[derive(Debug, Clone, Copy)]
struct Form {
    /// What names start with.
    sign: &'static str,
    /// Whether shapes have their layouts, also the default ones.
    states_layouts: bool,
}

impl Form {
    fn of_sign(sign: &'static str) -> Form {
        Form { sign, states_layouts: false }
    }
}

/// An instruction of a module by its own names.
pub(crate) fn instruction_text(
    module: &Module,
    id: InstructionId,
    sign: &'static str,
    is_root: bool,
) -> String {
    instruction_in(module, id, Form::of_sign(sign), is_root)
}

/// A computation of a module by its own names.
pub(crate) fn computation_text(module: &Module, computation: ComputationId, sign: &'static str) -> String {
    computation_in(module, computation, Form::of_sign(sign))
}

fn instruction_in(module: &Module, id: InstructionId, form: Form, is_root: bool) -> String {
    let operands: Vec<&str> = module[id].operands().iter().map(|&operand| module[operand].name()).collect();
    written(module, id, module[id].name(), &operands, form, is_root)
}

fn computation_in(module: &Module, computation: ComputationId, form: Form) -> String {
    let mut text = format!("{}{} {{\n", form.sign, module[computation].name());
    for id in module.post_order(computation) {
        cancel::tick();
        text += &format!("  {}\n", instruction_in(module, id, form, module.is_root(id)));
    }
    text + "}\n"
}

fn written(
    module: &Module,
    id: InstructionId,
    name: &str,
    operands: &[&str],
    Form { sign, states_layouts }: Form,
    is_root: bool,
) -> String {
    let mut line = if is_root { "ROOT ".to_owned() } else { String::new() };
    line += &format!("{sign}{name} = ");
    let operands: Vec<String> = operands.iter().map(|operand| format!("{sign}{operand}")).collect();
    let verbatim = module[id].verbatim().cloned().unwrap_or_default();
    let mut op = module.op(id);
    if !sign.is_empty() {
        name_with_sign(&mut op.attributes, sign);
    }
    if states_layouts {
        op.shape = op.shape.with_default_layouts();
    }
    op.write_verbatim(&mut line, operands.iter().map(String::as_str), &verbatim);
    line
}

/// Writes the names of called computations and of control predecessors with their sign.
fn name_with_sign(attributes: &mut Attributes, sign: &str) {
    let with_sign = |name: &String| format!("{sign}{name}");
    let all: Vec<(AttributeKey, AttributeValue)> = attributes
        .iter()
        .filter_map(|(key, value)| {
            let value = match value {
                AttributeValue::Computation(name) => AttributeValue::Computation(with_sign(name)),
                AttributeValue::Names(names) => AttributeValue::Names(names.iter().map(with_sign).collect()),
                _ => return None,
            };
            Some((key, value))
        })
        .collect();
    all.into_iter().for_each(|(key, value)| attributes.set(key, value));
}
