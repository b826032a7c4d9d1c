//! Variables of loops and their bounds, in the form of any loop: `scf.for %i = %a to %b step %c`,
//! `affine.for %i = 0 to min #map(%n)`, `scf.forall (%i, %j) in (4, %n)`.

use std::ops::Range;

use indexing_map::Expr;
use mlir::{Definition, TokenKind, ValueId};

use crate::map_use::{MapUse, WrittenMap, map_use};
use crate::op_kind::{Loop, OpKind};
use crate::op_text::OpText;
use crate::source::{Operand, Source};

/// A variable that a loop introduces.
pub struct LoopVariable<'a> {
    /// The loop.
    pub text: OpText<'a>,
    /// The token of the name in the loop's head. Without one it is the first argument of the loop's body.
    pub at: Option<usize>,
}

/// From `lower` up to, excluding, `upper`.
pub struct LoopBounds {
    pub lower: LoopBound,
    pub upper: LoopBound,
    /// 1 if it is not written.
    pub step: LoopBound,
}

pub enum LoopBound {
    Operand(Operand),
    /// The tokens of a number, a value or an affine expression.
    Written(Range<usize>),
    /// The largest result of a map is the lower bound, the smallest one the upper bound.
    Map(MapUse),
    /// As [`LoopBound::Map`], where the map has no arguments.
    Known(Vec<Expr>),
}

impl<'a> LoopVariable<'a> {
    /// `None` if no loop introduces the value.
    pub fn of(source: &'a Source<'a>, value: ValueId) -> Option<LoopVariable<'a>> {
        let parse = source.parse;
        let found = parse.values.get(value as usize)?;
        let (op, is_named) = match found.definition {
            Definition::Binder(op) => (op, true),
            Definition::BlockArgument(block) => {
                let block = parse.blocks.get(block as usize)?;
                let region = parse.regions.get(block.region as usize)?;
                (region.op, if block.arguments.start == value { false } else { return None })
            }
            Definition::Result(_) => return None,
        };
        let OpKind::Loop(_) = source.op(op) else { return None };
        let text = OpText::new(source, op)?;
        let at = text.tokens.iter().position(|t| t.span.start == found.name.start).filter(|_| is_named);
        (at.is_some() == is_named).then_some(LoopVariable { text, at })
    }

    /// The bounds as written; `None` for a value that the loop carries, and for `xla.loop`.
    pub fn bounds(&self) -> Option<LoopBounds> {
        match self.at {
            None => self.generic_bounds(),
            Some(at) => self.custom_bounds(at),
        }
    }

    /// `%i = 0 to 10 step 2`, `(%i, %j) in (4, %n)`, `(%i) = (%a) to (%b) step (%s)`.
    fn custom_bounds(&self, at: usize) -> Option<LoopBounds> {
        let text = &self.text;
        // The list that contains the name, and its position there.
        let list = text
            .top()
            .find(|&open| text.kind(open) == Some(TokenKind::OpenParen) && text.inside(open).contains(&at));
        let nth = match list {
            // `iter_args(%a = %b)` is not a loop variable.
            Some(open) if open > 0 && text.kind(open - 1) == Some(TokenKind::Word) => return None,
            Some(open) => Some(text.items(text.inside(open)).iter().position(|item| item.contains(&at))?),
            None => None,
        };
        let next = list.map_or(at + 1, |open| text.behind(open));
        match (text.word(next), nth) {
            ("in", Some(_)) => Some(LoopBounds {
                lower: LoopBound::Known(vec![Expr::ZERO]),
                upper: self.bound(next + 1, nth)?.0,
                step: LoopBound::Known(vec![Expr::Const(1)]),
            }),
            ("=", _) => {
                let (lower, to) = self.bound(next + 1, nth)?;
                if text.word(to) != "to" {
                    return None;
                }
                let (upper, behind) = self.bound(to + 1, nth)?;
                let step = match text.word(behind) {
                    "step" => self.bound(behind + 1, nth)?.0,
                    _ => LoopBound::Known(vec![Expr::Const(1)]),
                };
                Some(LoopBounds { lower, upper, step })
            }
            _ => None,
        }
    }

    /// The bound at a token, and the token after it: the `nth` entry of a list, or `0`, `%n`,
    /// `max #map(%i)[%n]`.
    fn bound(&self, at: usize, nth: Option<usize>) -> Option<(LoopBound, usize)> {
        let text = &self.text;
        if let Some(nth) = nth {
            let is_list = text.kind(at) == Some(TokenKind::OpenParen);
            let item = text.items(text.inside(at)).into_iter().nth(nth).filter(|_| is_list)?;
            return Some((LoopBound::Written(item), text.behind(at)));
        }
        let at = if matches!(text.word(at), "max" | "min") { at + 1 } else { at };
        if let Some(found) = map_use(text, at) {
            let found = found.ok()?;
            let end = found.end;
            return Some((LoopBound::Map(found), end));
        }
        let behind = if text.word(at) == "-" { at + 2 } else { at + 1 };
        Some((LoopBound::Written(at..behind), behind))
    }

    /// `"scf.for"(%lower, %upper, %step)`, `"affine.for"() <{lowerBoundMap = …}>`.
    fn generic_bounds(&self) -> Option<LoopBounds> {
        let text = &self.text;
        if text.op == OpKind::Loop(Loop::ScfFor) {
            let mut operands = text.operands().into_iter().map(LoopBound::Operand);
            return Some(LoopBounds {
                lower: operands.next()?,
                upper: operands.next()?,
                step: operands.next()?,
            });
        }
        let constants = |names: [&str; 2]| {
            let map = WrittenMap::parse(names.iter().find_map(|name| text.resolved(name))?).ok()?;
            map.apply(&[], &[]).map(LoopBound::Known)
        };
        let step = text.attribute("step").and_then(mlir::integer).unwrap_or(1);
        Some(LoopBounds {
            lower: constants(["lowerBoundMap", "lower_bound"])?,
            upper: constants(["upperBoundMap", "upper_bound"])?,
            step: LoopBound::Known(vec![Expr::Const(step)]),
        })
    }
}
