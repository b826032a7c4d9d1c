//! The edits of warnings: they remove an instruction, or make its users use another one.

use ir::{OperandRef, Remedy, Warning};
use rustc_hash::{FxHashMap, FxHashSet};
use syntax::hlo::{AttributeKey, ComputationKind, OperandKind, ValueNode};

use crate::file_context::FileContext;
use crate::hlo::locate::InstructionRef;
use crate::hlo::warnings::of_piece_that_hold;
use crate::{TextEdit, TextRange};

/// An instruction whose warning has a repair.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Repair {
    pub(crate) at: InstructionRef,
    pub(crate) remedy: Remedy,
}

/// The warnings of a piece that can be repaired.
pub(crate) fn repairs_of<'a>(
    context: &'a FileContext<'_>,
    piece: usize,
) -> impl Iterator<Item = (&'a Warning, Repair)> {
    let wanted = of_piece_that_hold(context, piece).filter(|w| w.remedy != Remedy::None);
    wanted.map(move |w| (w, Repair { at: InstructionRef { piece, id: w.instruction }, remedy: w.remedy }))
}

/// All repairs in one change. Leaves out instructions that others depend on by control predecessors, and
/// those that an unreadable line may use.
pub(crate) fn edits(context: &FileContext<'_>, repairs: &[Repair]) -> Vec<TextEdit> {
    let mut instead: FxHashMap<(usize, u32), u32> = FxHashMap::default();
    let mut gone: FxHashSet<(usize, u32)> = FxHashSet::default();
    let ordered = ordered_names(context, repairs);
    for repair in repairs {
        let Repair { at, remedy } = *repair;
        let block = context.block(at.piece);
        let waits = block.parse.attributes_of(block.instruction(at.id)).iter();
        let has_order = waits.clone().any(|a| a.key == Some(AttributeKey::ControlPredecessors));
        if has_order || is_broken(context, at.piece) || ordered.contains(&(at.piece, block.name(at.id))) {
            continue;
        }
        match remedy {
            Remedy::None => continue,
            Remedy::Remove => {}
            Remedy::ReplaceBy(other) => {
                instead.entry((at.piece, at.id)).or_insert(other);
            }
        }
        gone.insert((at.piece, at.id));
    }
    let mut out = Vec::new();
    if !instead.is_empty() {
        renamed_uses(context, &instead, &gone, &mut out);
    }
    let mut removed: Vec<_> = gone.into_iter().collect();
    removed.sort_unstable();
    out.extend(removed.into_iter().map(|(piece, id)| TextEdit {
        range: lines_of(context, InstructionRef { piece, id }),
        insert: String::new(),
    }));
    out.sort_by_key(|edit| (edit.range.start, edit.range.end));
    out
}

/// Names in control predecessors in the pieces, and in later ones that continue the same computation.
fn ordered_names<'a>(context: &'a FileContext<'_>, repairs: &[Repair]) -> FxHashSet<(usize, &'a str)> {
    let mut found = FxHashSet::default();
    let pieces: FxHashSet<usize> = repairs.iter().map(|r| r.at.piece).collect();
    for &piece in &pieces {
        for below in std::iter::once(piece).chain(continued_below(context, piece)) {
            let block = context.block(below);
            for attribute in &block.parse.attributes {
                if let (Some(AttributeKey::ControlPredecessors), ValueNode::Names { start, len }) =
                    (attribute.key, attribute.value)
                {
                    let names = block.parse.spans(start, len).iter();
                    found.extend(names.map(|span| (piece, span.of(&block.text))));
                }
            }
        }
    }
    found
}

/// Whether part of the computation, from this piece on, has syntax errors.
fn is_broken(context: &FileContext<'_>, piece: usize) -> bool {
    let has_errors = |piece: usize| !context.block(piece).parse.errors.is_empty();
    has_errors(piece) || continued_below(context, piece).any(has_errors)
}

/// Later pieces that continue this piece's last computation.
fn continued_below<'a>(context: &'a FileContext<'_>, piece: usize) -> impl Iterator<Item = usize> + 'a {
    let goes_on = move |&piece: &usize| {
        let first = context.block(piece).parse.computations.first();
        first.is_some_and(|c| c.kind == ComputationKind::Continued)
    };
    let ends = !context.block(piece).parse.ends_in_body;
    (piece + 1..context.pieces()).take_while(move |p| !ends && goes_on(p))
}

/// Renames operands that refer to a replaced instruction.
fn renamed_uses(
    context: &FileContext<'_>,
    instead: &FxHashMap<(usize, u32), u32>,
    gone: &FxHashSet<(usize, u32)>,
    out: &mut Vec<TextEdit>,
) {
    // A replacement may itself be replaced; it is always above, so this terminates.
    let last = |piece: usize, mut id: u32| {
        while let Some(&next) = instead.get(&(piece, id)).filter(|&&next| next < id) {
            id = next;
        }
        id
    };
    let pieces: FxHashSet<usize> = instead.keys().map(|&(piece, _)| piece).collect();
    let mut visited: Vec<usize> = pieces.iter().copied().collect();
    visited.extend(pieces.iter().flat_map(|&piece| continued_below(context, piece)));
    visited.sort_unstable();
    visited.dedup();
    for piece in visited {
        let block = context.block(piece);
        for user in 0..block.parse.instructions.len() as u32 {
            if gone.contains(&(piece, user)) {
                continue;
            }
            for (n, (operand, target)) in block.operands_of(user).enumerate() {
                let defined = match target {
                    _ if matches!(operand.kind, OperandKind::Nested(_)) => None,
                    OperandRef::Local(id) => Some(InstructionRef { piece, id }),
                    OperandRef::External(_) => context.definition(InstructionRef { piece, id: user }, n),
                    OperandRef::Missing => None,
                };
                let Some(at) = defined.filter(|at| instead.contains_key(&(at.piece, at.id))) else {
                    continue;
                };
                let name = context.block(at.piece).name(last(at.piece, at.id));
                out.push(TextEdit { range: context.range(piece, operand.name), insert: name.to_owned() });
            }
        }
    }
}

/// The instruction with its lines, if nothing else is on them.
fn lines_of(context: &FileContext<'_>, at: InstructionRef) -> TextRange {
    let block = context.block(at.piece);
    let span = block.instruction(at.id).span;
    let (before, behind) = (&block.text[..span.start as usize], &block.text[span.end as usize..]);
    let indent = before.len() - before.trim_end_matches([' ', '\t']).len();
    let trail = behind.len() - behind.trim_start_matches([' ', '\t', '\r']).len();
    let alone = (before[..before.len() - indent].is_empty()
        || before[..before.len() - indent].ends_with('\n'))
        && behind[trail..].starts_with('\n');
    let whole = context.range(at.piece, span);
    if alone { whole.start - indent..whole.end + trail + 1 } else { whole }
}
