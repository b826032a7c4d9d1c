//! Variables of loops.

use indexing_map::{Expr, Interval};
use mlir::{Definition, OpId, TokenKind, ValueId};
use mlir_ops::{Loop, OpKind, OpText, Operand, Source, WrittenMap, map_use};

use crate::access::SymbolSource;
use crate::map_builder::MapBuilder;

/// From the largest of `lower` up to, excluding, the smallest of `upper`, in steps of `step`.
struct LoopBounds {
    lower: Vec<Expr>,
    upper: Vec<Expr>,
    step: Expr,
}

const NOT_NEGATIVE: Interval = Interval::new(0, i64::MAX);

impl MapBuilder<'_> {
    /// A value that an op or a block introduces: a symbol with the range of the loop, or a result of
    /// `xla.loop`.
    pub(crate) fn bound(&mut self, operand: &Operand) -> Option<Expr> {
        let (value, index) = operand.key()?;
        let Some((text, number)) = loop_of(self.source, value) else { return self.launched(operand) };
        if text.op == OpKind::Loop(Loop::Xla) {
            return self.xla_loop(&text, operand, number?);
        }
        let bounds = match number {
            None => self.generic_bounds(&text)?,
            Some(at) => self.custom_bounds(&text, at)?,
        };
        let all = |this: &Self, exprs: &[Expr]| {
            exprs
                .iter()
                .map(|e| this.range_of(e))
                .reduce(|a, b| Interval { lower: a.lower.max(b.lower), upper: a.upper.min(b.upper) })
        };
        let (low, high) = (all(self, &bounds.lower)?, all(self, &bounds.upper)?);
        let upper = match high.upper {
            i64::MAX => i64::MAX,
            upper => upper.saturating_sub(1),
        };
        // A loop that never runs gives no bounds.
        if low.lower > upper {
            return None;
        }
        let range = Interval::new(low.lower, upper);
        let source = SymbolSource::Loop { value: (value, index), name: operand.name.clone() };
        let variable = self.symbol(source, range);
        let start = match bounds.lower.as_slice() {
            [one] => one.as_const(),
            _ => None,
        };
        for lower in bounds.lower.iter().filter(|e| e.as_const().is_none()) {
            self.constrain(variable.clone() - lower.clone(), NOT_NEGATIVE);
        }
        for upper in bounds.upper.iter().filter(|e| e.as_const().is_none()) {
            self.constrain(variable.clone() - upper.clone(), Interval::new(i64::MIN, -1));
        }
        if let (Some(start), Some(step)) = (start, bounds.step.as_const())
            && step > 1
        {
            self.constrain((variable.clone() - start).modulo(step), Interval::point(0));
        }
        Some(variable)
    }

    /// `%i = 0 to 10 step 2`, `(%i, %j) in (4, %n)`, `(%i) = (%a) to (%b) step (%s)`. `at` is the token of
    /// the name.
    fn custom_bounds(&mut self, text: &OpText<'_>, at: usize) -> Option<LoopBounds> {
        // The list that contains the name, and its position there.
        let list = text
            .top()
            .find(|&open| text.kind(open) == Some(TokenKind::OpenParen) && text.inside(open).contains(&at));
        let (nth, next) = match list {
            Some(open) => {
                // `iter_args(%a = %b)` is not a loop variable.
                if open > 0 && text.kind(open - 1) == Some(TokenKind::Word) {
                    return None;
                }
                let items = text.items(text.inside(open));
                (Some(items.iter().position(|item| item.contains(&at))?), text.behind(open))
            }
            None => (None, at + 1),
        };
        match (nth, text.word(next)) {
            (Some(nth), "in") => {
                let upper = self.list_entry(text, next + 1, nth)?;
                Some(LoopBounds { lower: vec![Expr::ZERO], upper: vec![upper], step: Expr::Const(1) })
            }
            (Some(nth), "=") => {
                let lower = self.list_entry(text, next + 1, nth)?;
                let to = text.behind(next + 1);
                if text.word(to) != "to" {
                    return None;
                }
                let upper = self.list_entry(text, to + 1, nth)?;
                let behind = text.behind(to + 1);
                let step = match text.word(behind) {
                    "step" => self.list_entry(text, behind + 1, nth)?,
                    _ => Expr::Const(1),
                };
                Some(LoopBounds { lower: vec![lower], upper: vec![upper], step })
            }
            (None, "=") => {
                let (lower, to) = self.bound_at(text, next + 1)?;
                if text.word(to) != "to" {
                    return None;
                }
                let (upper, behind) = self.bound_at(text, to + 1)?;
                let step = match text.word(behind) {
                    "step" => self.bound_at(text, behind + 1)?.0.into_iter().next()?,
                    _ => Expr::Const(1),
                };
                Some(LoopBounds { lower, upper, step })
            }
            _ => None,
        }
    }

    /// The `nth` entry of the list that opens at a token: a number, a value, or an affine expression.
    fn list_entry(&mut self, text: &OpText<'_>, open: usize, nth: usize) -> Option<Expr> {
        if text.kind(open) != Some(TokenKind::OpenParen) {
            return None;
        }
        let item = text.items(text.inside(open)).into_iter().nth(nth)?;
        self.subscript(text, item)
    }

    /// `0`, `%n` or `max #map(%i)[%n]`, and the next token.
    fn bound_at(&mut self, text: &OpText<'_>, at: usize) -> Option<(Vec<Expr>, usize)> {
        let at = if matches!(text.word(at), "max" | "min") { at + 1 } else { at };
        if let Some(found) = map_use(text, at) {
            let found = found.ok()?;
            return Some((self.map_results(text, &found).ok()?, found.end));
        }
        let behind = if text.word(at) == "-" { at + 2 } else { at + 1 };
        let e = self.subscript(text, at..behind)?;
        Some((vec![e], behind))
    }

    /// `"scf.for"(%lower, %upper, %step)`, `"affine.for"() <{lowerBoundMap = …}>`.
    fn generic_bounds(&mut self, text: &OpText<'_>) -> Option<LoopBounds> {
        if text.op == OpKind::Loop(Loop::ScfFor) {
            let operands = text.operands();
            let mut values = operands.iter().take(3).map(|o| self.index_value(o));
            let (lower, upper, step) = (values.next()?, values.next()?, values.next()?);
            return Some(LoopBounds { lower: vec![lower], upper: vec![upper], step });
        }
        let constants = |name: &[&str]| {
            let written = name.iter().find_map(|n| text.attribute(n))?;
            let map = WrittenMap::parse(&text.source.resolved(written, 0)).ok()?;
            map.apply(&[], &[])
        };
        let step = text.attribute("step").and_then(mlir::integer).unwrap_or(1);
        Some(LoopBounds {
            lower: constants(&["lowerBoundMap", "lower_bound"])?,
            upper: constants(&["upperBoundMap", "upper_bound"])?,
            step: Expr::Const(step),
        })
    }

    /// `(%d)[%i] -> (%r) in #map`: `%i` is a range variable of the map, `%r` one of its results.
    fn xla_loop(&mut self, text: &OpText<'_>, operand: &Operand, at: usize) -> Option<Expr> {
        let map_at = text.top().find(|&t| text.word(t) == "in")? + 1;
        let found = map_use(text, map_at)?.ok()?;
        let WrittenMap::Indexing(map) = found.map.as_ref() else { return None };
        let lists: Vec<usize> = text
            .top()
            .take_while(|&t| t < map_at)
            .filter(|&t| matches!(text.kind(t), Some(TokenKind::OpenParen | TokenKind::OpenSquare)))
            .collect();
        let of_kind = |kind| lists.iter().copied().find(|&t| text.kind(t) == Some(kind));
        let square = of_kind(TokenKind::OpenSquare)?;
        let position = |open: usize| text.items(text.inside(open)).iter().position(|item| item.contains(&at));
        if let Some(nth) = position(square) {
            let range = map.ranges().get(nth)?.bounds;
            let source = SymbolSource::Loop { value: operand.key()?, name: operand.name.clone() };
            return Some(self.symbol(source, range));
        }
        let nth = position(lists.iter().copied().rfind(|&t| t > square)?)?;
        let dims = lists.iter().copied().find(|&t| t < square && text.kind(t) == Some(TokenKind::OpenParen));
        let mut values = |open: Option<usize>| -> Vec<Expr> {
            let Some(open) = open else { return Vec::new() };
            let names: Vec<usize> =
                text.inside(open).filter(|&t| text.kind(t) == Some(TokenKind::Value)).collect();
            names
                .into_iter()
                .filter_map(|t| {
                    let operand = binder_at(text, t).or_else(|| text.operand_at(t))?;
                    Some(self.index_value(&operand))
                })
                .collect()
        };
        let (dims, ranges) = (values(dims), values(Some(square)));
        found.map.apply(&dims, &ranges)?.into_iter().nth(nth)
    }
}

/// The value that the op binds to the name at a token.
pub(crate) fn binder_at(text: &OpText<'_>, at: usize) -> Option<Operand> {
    let start = text.tokens.get(at)?.span.start;
    let values = &text.source.parse.values;
    // Names that an op binds are recorded in text order, near those of its body.
    let found = values.iter().position(|v| v.name.start == start)?;
    Some(Operand { name: text.word(at).to_owned(), value: Some(found as ValueId), index: 0 })
}

/// The loop that introduces a value, and the token of its name in the loop's head. Without a token the value
/// is the first argument of the loop's body.
fn loop_of<'a>(source: &'a Source<'a>, value: ValueId) -> Option<(OpText<'a>, Option<usize>)> {
    let parse = source.parse;
    let found = parse.values.get(value as usize)?;
    let is_loop = |op: OpId| matches!(source.op(op), OpKind::Loop(_));
    match found.definition {
        Definition::Binder(op) if is_loop(op) => {
            let text = OpText::new(source, op)?;
            let at = text.tokens.iter().position(|t| t.span.start == found.name.start)?;
            Some((text, Some(at)))
        }
        Definition::BlockArgument(block) => {
            let block = parse.blocks.get(block as usize)?;
            let op = parse.regions.get(block.region as usize)?.op;
            let is_first = is_loop(op) && block.arguments.start == value;
            is_first.then(|| OpText::new(source, op)).flatten().map(|text| (text, None))
        }
        _ => None,
    }
}
