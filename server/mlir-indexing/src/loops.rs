//! Variables of loops.

use indexing_map::{Expr, Interval};
use mlir::{TokenKind, ValueId};
use mlir_ops::{Loop, LoopBound, LoopVariable, OpKind, OpText, Operand, WrittenMap};

use crate::access::SymbolSource;
use crate::map_builder::MapBuilder;

const NOT_NEGATIVE: Interval = Interval::new(0, i64::MAX);

impl MapBuilder<'_> {
    /// A value that an op or a block introduces: a symbol with the range of the loop, or a result of
    /// `xla.loop`.
    pub(crate) fn bound(&mut self, operand: &Operand) -> Option<Expr> {
        let (value, index) = operand.key()?;
        let Some(variable) = LoopVariable::of(self.source, value) else { return self.launched(operand) };
        let text = &variable.text;
        if text.op == OpKind::Loop(Loop::Xla) {
            return self.xla_loop(text, operand, variable.at?);
        }
        let bounds = variable.bounds()?;
        let (lower, upper) =
            (self.bound_values(text, &bounds.lower)?, self.bound_values(text, &bounds.upper)?);
        let step = self.bound_values(text, &bounds.step)?.into_iter().next()?;
        let all = |this: &Self, exprs: &[Expr]| {
            exprs
                .iter()
                .map(|e| this.range_of(e))
                .reduce(|a, b| Interval { lower: a.lower.max(b.lower), upper: a.upper.min(b.upper) })
        };
        let (low, high) = (all(self, &lower)?, all(self, &upper)?);
        let last = match high.upper {
            i64::MAX => i64::MAX,
            upper => upper.saturating_sub(1),
        };
        // A loop that never runs gives no bounds.
        if low.lower > last {
            return None;
        }
        let range = Interval::new(low.lower, last);
        let source = SymbolSource::Loop { value: (value, index), name: operand.name.clone() };
        let variable = self.symbol(source, range);
        let start = match lower.as_slice() {
            [one] => one.as_const(),
            _ => None,
        };
        for lower in lower.iter().filter(|e| e.as_const().is_none()) {
            self.constrain(variable.clone() - lower.clone(), NOT_NEGATIVE);
        }
        for upper in upper.iter().filter(|e| e.as_const().is_none()) {
            self.constrain(variable.clone() - upper.clone(), Interval::new(i64::MIN, -1));
        }
        if let (Some(start), Some(step)) = (start, step.as_const())
            && step > 1
        {
            self.constrain((variable.clone() - start).modulo(step), Interval::point(0));
        }
        Some(variable)
    }

    /// The values of a bound of a loop.
    fn bound_values(&mut self, text: &OpText<'_>, bound: &LoopBound) -> Option<Vec<Expr>> {
        Some(match bound {
            LoopBound::Operand(operand) => vec![self.index_value(operand)],
            LoopBound::Written(range) => vec![self.subscript(text, range.clone())?],
            LoopBound::Map(found) => self.map_results(text, found).ok()?,
            LoopBound::Known(values) => values.clone(),
        })
    }

    /// `(%d)[%i] -> (%r) in #map`: `%i` is a range variable of the map, `%r` one of its results.
    fn xla_loop(&mut self, text: &OpText<'_>, operand: &Operand, at: usize) -> Option<Expr> {
        let found = text.map_behind("in").ok()?;
        let WrittenMap::Indexing(map) = found.map.as_ref() else { return None };
        let lists: Vec<usize> = text
            .top()
            .take_while(|&t| t < found.start)
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
