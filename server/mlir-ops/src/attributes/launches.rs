//! Blocks and threads: axes, sizes and ranges that launches, kernels and the ops of ids state.

use indexing_map::Interval;
use mlir::{Definition, OpId, TokenKind, ValueId, integer, integers};
use text::Span;

use crate::op_text::OpText;
use crate::source::{Operand, Source};

/// The sizes of a `gpu.launch`, and what tells their number: one for each of x, y, z.
const AXES: [&str; 3] = ["x", "y", "z"];

impl OpText<'_> {
    /// The axis of an id or a size: 0 of `gpu.thread_id x`.
    pub fn axis(&self) -> Option<usize> {
        let letter = match self.attribute("dimension") {
            Some(dimension) => dimension.trim_end_matches('>').split(' ').next_back()?,
            None => self.word(0),
        };
        AXES.iter().position(|&axis| axis == letter)
    }

    /// The range in `xla.range = [0 : index, 31 : index]`.
    pub fn stated_range(&self) -> Option<Interval> {
        interval(self.attribute("xla.range")?.strip_prefix('[')?.strip_suffix(']')?)
    }

    /// The number in `upper_bound 32`, in any form.
    pub fn upper_bound(&self) -> Option<i64> {
        if let Some(stated) = self.attribute("upper_bound") {
            return integer(stated);
        }
        let at = (0..self.tokens.len()).find(|&at| self.word(at) == "upper_bound")?;
        self.word(at + 1).parse().ok()
    }

    /// The number of blocks on each axis of a launch, then the number of threads.
    pub fn launch_sizes(&self) -> Option<Vec<Operand>> {
        if self.is_generic() {
            let operands = self.operands();
            let first = match self.operand_segments() {
                Some(counts) => match counts.as_slice() {
                    [first, 1, 1, 1, 1, 1, 1, ..] => usize::try_from(*first).ok()?,
                    _ => return None,
                },
                None => 0,
            };
            return operands.get(first..first.checked_add(6)?).map(<[Operand]>::to_vec);
        }
        let list = |word: &str| {
            let is_word = |&at: &usize| self.kind(at) == Some(TokenKind::Word) && self.word(at) == word;
            let behind = self.behind(self.top().find(is_word)? + 1);
            (self.word(behind) == "in").then_some(behind + 1)
        };
        let lists = [list("blocks")?, list("threads")?];
        lists.into_iter().flat_map(|list| (0..3).map(move |nth| self.launch_size(list, nth))).collect()
    }

    /// `%n` of the `nth` of `(%x = %n, …)`, a list that opens at a token.
    pub fn launch_size(&self, open: usize, nth: usize) -> Option<Operand> {
        if self.kind(open) != Some(TokenKind::OpenParen) {
            return None;
        }
        let item = self.items(self.inside(open)).into_iter().nth(nth)?;
        let is_bound = self.kind(item.start + 1) == Some(TokenKind::Equal);
        is_bound.then(|| self.operand_at(item.start + 2)).flatten()
    }
}

/// `128` of `known_block_size = array<i32: 128, 1, 1>` of a kernel; of its grid if not `is_block`.
pub fn known_size(source: &Source<'_>, kernel: OpId, is_block: bool, axis: usize) -> Option<i64> {
    let names = match is_block {
        true => ["known_block_size", "gpu.known_block_size"],
        false => ["known_grid_size", "gpu.known_grid_size"],
    };
    let list = names.iter().find_map(|name| source.parse.attribute(kernel, name, source.text))?;
    integers(list)?.get(axis).copied().filter(|&n| n > 0)
}

/// The range of a function argument from `xla.range = [0 : index, 31 : index]` after it.
pub fn argument_range(source: &Source<'_>, value: ValueId) -> Interval {
    let range = || {
        let found = source.parse.values.get(value as usize)?;
        if matches!(found.definition, Definition::Result(_)) {
            return None;
        }
        let from = found.name.end as usize;
        // The attributes of an argument are short.
        let to = (from..=(from + 512).min(source.text.len()))
            .rev()
            .find(|&at| source.text.is_char_boundary(at))?;
        let (tokens, _) = mlir::tokens(source.text, from, to, false);
        let word = |at: usize| tokens.get(at).map_or("", |t| t.span.of(source.text));
        let mut depth = 0usize;
        for (at, token) in tokens.iter().enumerate() {
            match token.kind {
                TokenKind::OpenParen
                | TokenKind::OpenSquare
                | TokenKind::OpenAngle
                | TokenKind::OpenBrace => {
                    depth += 1;
                }
                TokenKind::CloseParen
                | TokenKind::CloseSquare
                | TokenKind::CloseAngle
                | TokenKind::CloseBrace => {
                    depth = depth.checked_sub(1)?;
                }
                TokenKind::Comma if depth == 0 => return None,
                TokenKind::Word if depth == 1 && word(at) == "xla.range" => {
                    let open = at + 2;
                    let close = (open..tokens.len()).find(|&t| tokens[t].kind == TokenKind::CloseSquare)?;
                    let span = Span { start: tokens[open].span.end, end: tokens[close].span.start };
                    return interval(span.of(source.text));
                }
                _ => {}
            }
        }
        None
    };
    range().unwrap_or(Interval::ALL)
}

/// `0 : index, 31 : index`, both ends included.
fn interval(list: &str) -> Option<Interval> {
    let mut numbers = list.split(',').map(|n| n.split(':').next().unwrap_or_default().trim().parse::<i64>());
    match (numbers.next()?, numbers.next()?) {
        (Ok(lower), Ok(upper)) if lower <= upper => Some(Interval::new(lower, upper)),
        _ => None,
    }
}
