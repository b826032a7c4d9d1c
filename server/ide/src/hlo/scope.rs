//! The cursor, the statement around it, and the names in scope there.

use std::sync::Arc;

use ir::{Block, Shape};
use syntax::hlo::{ComputationId, ComputationKind, Cursor, Instruction, Parse, PieceState, cursor, parse};

use crate::completion::{CompletionItem, CompletionKind};
use crate::file_context::FileContext;
use crate::hlo::locate::InstructionRef;

/// The number of blocks of a giant that are searched upwards.
const PIECES: usize = 8;

pub(crate) struct Scope<'a> {
    pub(crate) context: &'a FileContext<'a>,
    pub(crate) block: &'a Block,
    pub(crate) piece: usize,
    pub(crate) cursor: Cursor,
    /// Offset in the piece.
    local: usize,
    pub(crate) computation: Option<ComputationId>,
}

impl<'a> Scope<'a> {
    pub(crate) fn new(context: &'a FileContext<'a>, offset: usize) -> Scope<'a> {
        let (mut piece, mut local) = context.locate(offset);
        // The end of the previous piece belongs to it if nothing follows.
        if local == 0 && piece > 0 && context.block(piece).text.is_empty() {
            piece -= 1;
            local = context.block(piece).text.len();
        }
        let block = context.block(piece);
        let (top, in_body) = top_of(&block.parse, local);
        let cursor = cursor(&block.text, local, top, in_body);
        let start = cursor.statement.start;
        // Inside an inline body, that body.
        let around = block.parse.computations.iter().enumerate();
        let computation = around
            .filter(|(_, c)| c.span.start <= start && (start <= c.span.end || !c.is_closed))
            .min_by_key(|(_, c)| start - c.span.start)
            .map(|(id, _)| id as ComputationId);
        Scope { context, block, piece, cursor, local, computation }
    }

    /// The typed part of the word, without `%`.
    pub(crate) fn prefix(&self) -> &'a str {
        let word = self.cursor.word;
        let end = (self.local as u32).clamp(word.start, word.end);
        let typed = syntax::Span { start: word.start, end }.of(&self.block.text);
        typed.strip_prefix('%').unwrap_or(typed)
    }

    pub(crate) fn item(&self, label: &str, kind: CompletionKind) -> CompletionItem {
        CompletionItem::new(label, kind, self.context.range(self.piece, self.cursor.word))
    }

    /// Instructions of the computation above the cursor, the nearest first.
    pub(crate) fn above(&self) -> impl Iterator<Item = InstructionRef> + '_ {
        let start = self.cursor.statement.start;
        self.segments().flat_map(move |(piece, computation)| {
            let parse = &self.context.block(piece).parse;
            let range = parse.computations[computation as usize].instructions.clone();
            let here = piece == self.piece;
            range.rev().map(move |id| InstructionRef { piece, id }).filter(move |at| {
                let instruction: &Instruction = &parse.instructions[at.id as usize];
                !instruction.is_nested && (!here || instruction.span.end <= start)
            })
        })
    }

    /// The parts of the computation, from here upwards.
    fn segments(&self) -> impl Iterator<Item = (usize, ComputationId)> + '_ {
        let first = self.computation.map(|c| (self.piece, c));
        let next = |&(piece, computation): &(usize, ComputationId)| {
            let kind = self.context.block(piece).parse.computations[computation as usize].kind;
            let above = piece.checked_sub(1).filter(|_| kind == ComputationKind::Continued)?;
            let computations = &self.context.block(above).parse.computations;
            // Inline bodies follow the computation that contains them.
            let open = computations.iter().rposition(|c| !matches!(c.kind, ComputationKind::Inline(_)))?;
            Some((above, open as ComputationId))
        };
        std::iter::successors(first, next).take(PIECES)
    }

    pub(crate) fn find(&self, name: &str) -> Option<InstructionRef> {
        self.segments().find_map(|(piece, computation)| {
            let id = self.context.block(piece).find(computation, name)?;
            Some(InstructionRef { piece, id })
        })
    }

    /// The shape of an operand of the statement: of its definition, or as written.
    pub(crate) fn operand_shape(&self, index: usize) -> Option<Shape> {
        let text = self.cursor.operands.get(index)?.of(&self.block.text);
        let name = text.rsplit(|c: char| c.is_whitespace()).next()?.trim_start_matches('%');
        let mut path = name.split('#');
        let found = self.find(path.next()?).and_then(|at| self.context.shape(at).cloned());
        let path: Option<Vec<i64>> = path.map(|n| n.parse().ok()).collect();
        let printed = || read_shape(text.rsplit_once(char::is_whitespace)?.0);
        found.and_then(|shape| shape.element_at(&path?).cloned()).or_else(printed)
    }

    /// The result shape, as far as it is written.
    pub(crate) fn declared(&self) -> Option<Shape> {
        read_shape(self.cursor.shape.of(&self.block.text))
    }

    /// Whether the text writes names with `%`, and operands with their shapes.
    pub(crate) fn style(&self) -> (bool, bool) {
        let mut nearest = self.above().take(16).peekable();
        let percent = nearest.peek().is_none_or(|at| {
            let block = self.context.block(at.piece);
            let start = block.instruction(at.id).name.start as usize;
            start > 0 && block.text.as_bytes()[start - 1] == b'%'
        });
        let shaped = nearest.find_map(|at| {
            let (operand, _) = self.context.block(at.piece).operands_of(at.id).next()?;
            Some(operand.shape.is_some())
        });
        (percent, shaped.unwrap_or(false))
    }
}

/// The start of the computation around a byte, or the end of the one above, and whether the byte is inside a
/// body. Lines above belong to other computations, which may be in another piece, so nothing may depend on
/// them.
fn top_of(parse: &Parse, at: usize) -> (usize, bool) {
    let mut all = parse.computations.iter().filter(|c| !matches!(c.kind, ComputationKind::Inline(_)));
    let above = all.rfind(|c| c.span.start as usize <= at);
    match above {
        Some(c) if c.is_closed && c.span.end as usize <= at => (c.span.end as usize, false),
        Some(c) => {
            (c.span.start as usize, matches!(c.kind, ComputationKind::Continued | ComputationKind::Headless))
        }
        None => (0, false),
    }
}

/// Parses a shape.
pub(crate) fn read_shape(text: &str) -> Option<Shape> {
    if text.trim().is_empty() || text.contains('\n') {
        return None;
    }
    let text: Arc<str> = format!("c {{\n  x = {text} parameter(0)\n}}\n").into();
    let parsed = parse(&text, PieceState::HEADER);
    let is_read = parsed.errors.is_empty() && parsed.instructions.len() == 1;
    is_read.then(|| ir::lower(text, Arc::new(parsed)).shape(0).cloned()).flatten()
}
