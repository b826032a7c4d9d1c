//! Conditions: the set of `affine.if`, the predicate of a comparison.

use mlir::{TokenKind, integer};

use crate::affine_map::AffineSet;
use crate::op_text::OpText;

/// What a comparison asks of two integers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Comparison {
    pub relation: Relation,
    pub is_unsigned: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Relation {
    Equal,
    NotEqual,
    Less,
    AtMost,
    Greater,
    AtLeast,
}

/// The words of the predicates, in the order of their numbers in the generic form.
const PREDICATES: [&str; 10] = ["eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge"];

impl OpText<'_> {
    /// The set of `affine.if #set(%i)[%n]`.
    pub fn condition_set(&self) -> Option<AffineSet> {
        let written = match self.is_generic() {
            true => self.attribute("condition")?,
            false => {
                let is_set = |&at: &usize| {
                    self.word(at) == "affine_set" || self.kind(at) == Some(TokenKind::AttributeName)
                };
                let at = self.top().find(is_set)?;
                let has_body = self.kind(at + 1) == Some(TokenKind::OpenAngle);
                let behind = if has_body { self.behind(at + 1) } else { at + 1 };
                self.text_of(at..behind.min(self.tokens.len()))
            }
        };
        AffineSet::parse(self.source.resolved(written, self.start())).ok()
    }

    /// `slt` of `arith.cmpi slt, %a, %b` and of `index.cmp slt(%a, %b)`.
    pub fn comparison(&self) -> Option<Comparison> {
        let written = match self.is_generic() {
            true => self.attribute("predicate").or_else(|| self.attribute("pred"))?,
            false => Some(self.word(0)).filter(|_| self.kind(0) == Some(TokenKind::Word))?,
        };
        let word = match integer(written) {
            Some(number) => PREDICATES.get(usize::try_from(number).ok()?)?,
            None => written,
        };
        let relation = match word.trim_start_matches(['s', 'u']) {
            "eq" => Relation::Equal,
            "ne" => Relation::NotEqual,
            "lt" => Relation::Less,
            "le" => Relation::AtMost,
            "gt" => Relation::Greater,
            "ge" => Relation::AtLeast,
            _ => return None,
        };
        Some(Comparison { relation, is_unsigned: word.starts_with('u') })
    }
}
