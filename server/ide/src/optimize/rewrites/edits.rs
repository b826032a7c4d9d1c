//! The edits of a group of changes. Lines that do not change keep their form and comments.

use passes::{ComputationId, InstructionId, Module};
use rustc_hash::FxHashSet;

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
    let text = context.view.rope.to_string();
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
        for computation in computations {
            edits.extend(self.root(computation)?);
            edits.extend(self.added(computation)?);
        }
        Some(edits)
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

    /// The operands of instructions outside of the group that change with it.
    fn operands(&self) -> impl Iterator<Item = &NewOperand> {
        self.difference.operands.iter().filter(|operand| self.group.contains(&operand.old))
    }

    fn operand(&self, operand: &NewOperand) -> Option<TextEdit> {
        let user = self.written(operand.user)?;
        // A new instruction is inserted above.
        if !self.is_fated(operand.new, Fate::Added)
            && self.written(operand.new)?.range.start > user.range.start
        {
            return None;
        }
        let at = self.context.instruction_at(user.name_range.start)?;
        let block = self.context.block(at.piece);
        let all: Vec<_> = block.operands_of(at.id).map(|(operand, _)| operand.name).collect();
        let is_plain = all.len() == self.source.module[operand.user].operands().len();
        let range = self.context.range(at.piece, *all.get(operand.index).filter(|_| is_plain)?);
        Some(TextEdit { range, insert: self.bare_name(operand.new)?.to_owned() })
    }

    /// The name of an instruction in the new text, without its sign.
    fn bare_name(&self, id: InstructionId) -> Option<&str> {
        match self.fate(id) {
            Some(Fate::Added) => self.group.contains(&id).then(|| self.after[id].name()),
            _ => Some(self.written(id)?.name.trim_start_matches('%')),
        }
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
            Some(self.text.get(range.clone())?.starts_with("ROOT").then(|| range.start))
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
                    lower = lower.max(self.written(operand)?.range.end);
                }
            }
        }
        for &id in &added {
            for &user in self.after[id].users().iter().filter(|user| !self.is_fated(**user, Fate::Added)) {
                // Users outside of the group keep the operand that they have.
                let takes = |operand: &NewOperand| operand.user == user && operand.new == id;
                if self.is_fated(user, Fate::Changed) || self.operands().any(takes) {
                    upper = upper.min(self.written(user)?.range.start);
                }
            }
        }
        let anchor = self.anchor(computation, lower, upper)?;
        let lines = added.iter().map(|&id| self.instruction(id)).collect::<Option<Vec<String>>>()?;
        Some(Some(self.inserted(&anchor, &lines)))
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
        let instruction = &self.after[id];
        // What calls computations that the pass made needs those, too.
        let is_written = |computation| self.source.module.computations().contains(&computation);
        if !instruction.called().all(is_written) {
            return None;
        }
        let sign = if self.has_signs() { "%" } else { "" };
        let is_root = self.after.is_root(id);
        let mut line = if is_root { "ROOT ".to_owned() } else { String::new() };
        line += &format!("{sign}{} = ", self.bare_name(id)?);
        let operands = instruction.operands().iter().map(|&operand| {
            let name = self.bare_name(operand)?;
            Some(format!("{sign}{name}"))
        });
        let operands = operands.collect::<Option<Vec<String>>>()?;
        let verbatim = instruction.verbatim().cloned().unwrap_or_default();
        self.after.op(id).write_verbatim(&mut line, operands.iter().map(String::as_str), &verbatim);
        Some(line)
    }

    /// Whether names have a sign in this text.
    fn has_signs(&self) -> bool {
        let first = self.source.instructions.iter().flatten().next();
        first.is_some_and(|first| self.text[..first.name_range.start].ends_with('%'))
    }
}
