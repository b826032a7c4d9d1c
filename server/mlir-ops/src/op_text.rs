//! Access to the text of an op: operands, bracketed lists, clauses.

use std::cell::OnceCell;
use std::ops::{Deref, Range};

use mlir::{ArrayType, Form, OpId, Token, TokenKind, Use, integers};
use text::Span;

use crate::no_map::NoMap;
use crate::op_kind::OpKind;
use crate::source::{Operand, Source};

/// The most bytes of an op that are read. A longer op holds a payload, not indices.
const MAX_BYTES: usize = 64 << 10;

/// An op, and the tokens between its name and its first region.
pub struct OpText<'a> {
    pub source: &'a Source<'a>,
    pub id: OpId,
    pub op: OpKind<'a>,
    pub tokens: Tokens<'a>,
}

/// The tokens of an op, read when they are first needed. None of an op that is too long to hold indices.
pub struct Tokens<'a> {
    text: &'a str,
    place: Range<usize>,
    /// For each token, the token that closes it; itself if it opens nothing.
    read: OnceCell<(Vec<Token>, Vec<usize>)>,
}

impl Tokens<'_> {
    fn read(&self) -> &(Vec<Token>, Vec<usize>) {
        self.read.get_or_init(|| {
            let end = if self.place.len() > MAX_BYTES { self.place.start } else { self.place.end };
            let (tokens, _) = mlir::tokens(self.text, self.place.start, end, false);
            let closing = closing(&tokens);
            (tokens, closing)
        })
    }
}

impl Deref for Tokens<'_> {
    type Target = [Token];

    fn deref(&self) -> &[Token] {
        &self.read().0
    }
}

/// An entry of a list such as `[%i, 4]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Mixed {
    Static(i64),
    Dynamic(Operand),
}

impl Mixed {
    /// The number of a static entry.
    pub fn as_static(&self) -> Option<i64> {
        match self {
            Mixed::Static(n) => Some(*n),
            Mixed::Dynamic(_) => None,
        }
    }
}

/// Placeholders for dynamic entries in static lists of the generic form, current and older.
const DYNAMIC: [i64; 2] = [i64::MIN, -1];

impl<'a> OpText<'a> {
    /// `None` if the op is too long to hold indices.
    pub fn new(source: &'a Source<'a>, id: OpId) -> Option<OpText<'a>> {
        Some(OpText::of_any_length(source, id)).filter(|text| text.tokens.place.len() <= MAX_BYTES)
    }

    /// An op of which the attributes count, which may be long.
    pub fn of_any_length(source: &'a Source<'a>, id: OpId) -> OpText<'a> {
        let op = source.parse.op(id);
        let place = op.name.end as usize..op.head.end.max(op.name.end) as usize;
        let tokens = Tokens { text: source.text, place, read: OnceCell::new() };
        OpText { source, id, op: source.op(id), tokens }
    }

    /// The full name of the op: `tensor.pad`.
    pub fn name(&self) -> &'a str {
        self.source.parse.name(self.id, self.source.text)
    }

    pub fn is_generic(&self) -> bool {
        self.source.parse.op(self.id).form == Form::Generic
    }

    pub fn word(&self, at: usize) -> &'a str {
        self.tokens.get(at).map_or("", |t| t.span.of(self.source.text))
    }

    pub fn kind(&self, at: usize) -> Option<TokenKind> {
        self.tokens.get(at).map(|t| t.kind)
    }

    /// The token after the one at `at`, or after the bracket that it opens.
    pub fn behind(&self, at: usize) -> usize {
        self.tokens.read().1.get(at).map_or(at, |&close| close.max(at)) + 1
    }

    /// The top-level tokens.
    pub fn top(&self) -> impl Iterator<Item = usize> + '_ {
        std::iter::successors(Some(0), |&at| Some(self.behind(at))).take_while(|&at| at < self.tokens.len())
    }

    /// The tokens between the brackets that the token at `at` opens.
    pub fn inside(&self, at: usize) -> Range<usize> {
        at + 1..self.behind(at) - 1
    }

    /// The top-level lists `[…]` before the types, in order, without those that follow an `=`.
    pub fn squares(&self) -> Vec<Range<usize>> {
        let mut found = Vec::new();
        for at in self.top() {
            match self.kind(at) {
                Some(TokenKind::Colon) => break,
                Some(TokenKind::OpenSquare) if at == 0 || self.kind(at - 1) != Some(TokenKind::Equal) => {
                    found.push(self.inside(at));
                }
                _ => {}
            }
        }
        found
    }

    /// The contents of the brackets after a word: `low[1, %n]`, `ins(%a : T)`, `dimensions = [1]`.
    pub fn behind_word(&self, word: &str) -> Option<Range<usize>> {
        let at = self.top().find(|&at| self.kind(at) == Some(TokenKind::Word) && self.word(at) == word)?;
        let open = if self.kind(at + 1) == Some(TokenKind::Equal) { at + 2 } else { at + 1 };
        matches!(self.kind(open), Some(TokenKind::OpenSquare | TokenKind::OpenParen))
            .then(|| self.inside(open))
    }

    /// The comma-separated parts of a range.
    pub fn items(&self, range: Range<usize>) -> Vec<Range<usize>> {
        let mut found = Vec::new();
        let (mut start, mut at) = (range.start, range.start);
        while at < range.end {
            if self.kind(at) == Some(TokenKind::Comma) {
                found.push(start..at);
                start = at + 1;
            }
            at = self.behind(at);
        }
        if start < range.end {
            found.push(start..range.end);
        }
        found
    }

    pub fn text_of(&self, range: Range<usize>) -> &'a str {
        if range.is_empty() {
            return "";
        }
        match (self.tokens.get(range.start), self.tokens.get(range.end - 1)) {
            (Some(first), Some(last)) => {
                Span { start: first.span.start, end: last.span.end }.of(self.source.text)
            }
            _ => "",
        }
    }

    /// The operand whose name is the token at `at`.
    pub fn operand_at(&self, at: usize) -> Option<Operand> {
        let token = self.tokens.get(at).filter(|t| t.kind == TokenKind::Value)?;
        let uses = self.source.parse.uses_of(self.id);
        let found = uses.iter().find(|u| u.span.start == token.span.start);
        Some(match found {
            Some(found) => self.source.operand(found),
            // A name that the op binds.
            None => Operand { name: self.word(at).to_owned(), value: None, index: 0 },
        })
    }

    /// All operands, in text order.
    pub fn operands(&self) -> Vec<Operand> {
        self.source.parse.operands_of(self.id).map(|u: &Use| self.source.operand(u)).collect()
    }

    /// The operands in a range, up to a colon.
    pub fn operands_in(&self, range: Range<usize>) -> Vec<Operand> {
        let mut found = Vec::new();
        for at in range {
            match self.kind(at) {
                Some(TokenKind::Colon) => break,
                _ => found.extend(self.operand_at(at)),
            }
        }
        found
    }

    /// The comma-separated integers of a range.
    pub fn integers_in(&self, range: Range<usize>) -> Option<Vec<i64>> {
        integers(&format!("[{}]", self.text_of(range)))
    }

    /// The entries of a list: numbers and names of values.
    pub fn mixed(&self, range: Range<usize>) -> Option<Vec<Mixed>> {
        self.items(range).into_iter().map(|item| self.mixed_entry(item)).collect()
    }

    fn mixed_entry(&self, item: Range<usize>) -> Option<Mixed> {
        // `[4]` of a scalable vector, and `%i : index`.
        if self.kind(item.start) == Some(TokenKind::Value) {
            return self.operand_at(item.start).map(Mixed::Dynamic);
        }
        let number = self.text_of(item);
        let number = number.trim_start_matches('[').trim_end_matches(']');
        number.split(':').next()?.trim().parse().ok().map(Mixed::Static)
    }

    /// The lists of the generic form: static entries from attributes, dynamic ones from the operands after
    /// the first `fixed`.
    pub fn generic_mixed(&self, fixed: usize, names: &[&str]) -> Option<Vec<Vec<Mixed>>> {
        let mut operands = self.operands().into_iter().skip(fixed);
        let mut lists = Vec::new();
        for name in names {
            let list = self.list(&[name])?;
            // A padding may be negative, so -1 is not a placeholder there.
            let is_padding = name.ends_with("low") || name.ends_with("high");
            let is_dynamic = |n: i64| n == DYNAMIC[0] || n == DYNAMIC[1] && !is_padding;
            let entries = list.into_iter().map(|n| match is_dynamic(n) {
                true => operands.next().map(Mixed::Dynamic),
                false => Some(Mixed::Static(n)),
            });
            lists.push(entries.collect::<Option<Vec<_>>>()?);
        }
        Some(lists)
    }

    /// Nested lists of integers, as in reassociations: `[[0, 1], [2]]`.
    pub fn nested(&self, name: &str) -> Option<Vec<Vec<i64>>> {
        let value = match self.attribute(name) {
            Some(value) => value,
            None => {
                let open = self.top().find(|&at| {
                    self.kind(at) == Some(TokenKind::OpenSquare)
                        && matches!(self.kind(at + 1), Some(TokenKind::OpenSquare | TokenKind::CloseSquare))
                })?;
                self.text_of(open..self.behind(open))
            }
        };
        let body = value.trim().strip_prefix('[')?.strip_suffix(']')?;
        let mut groups = Vec::new();
        for part in body.split('[').skip(1) {
            let (list, _) = part.split_once(']')?;
            groups.push(integers(&format!("[{list}]"))?);
        }
        Some(groups)
    }
}

fn closing(tokens: &[Token]) -> Vec<usize> {
    let mut closing: Vec<usize> = (0..tokens.len()).collect();
    let mut open = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        match token.kind {
            TokenKind::OpenParen | TokenKind::OpenSquare | TokenKind::OpenAngle | TokenKind::OpenBrace => {
                open.push(at);
            }
            TokenKind::CloseParen
            | TokenKind::CloseSquare
            | TokenKind::CloseAngle
            | TokenKind::CloseBrace => {
                if let Some(start) = open.pop() {
                    closing[start] = at;
                }
            }
            _ => {}
        }
    }
    // Unclosed brackets extend to the end.
    for start in open {
        closing[start] = tokens.len();
    }
    closing
}

impl OpText<'_> {
    /// The array type of an operand, with known rank.
    pub fn array_of(&self, operand: &Operand) -> Result<ArrayType, NoMap> {
        let unknown = || NoMap::UnknownType(operand.name.as_str().into());
        let (value, index) = operand.key().ok_or_else(unknown)?;
        let ty = self.source.type_of(value, index).ok_or_else(unknown)?;
        Ok(self.source.array(&ty, self.start())?)
    }

    /// Whether an operand is a scalar.
    pub fn is_scalar(&self, operand: &Operand) -> bool {
        let ty = operand.key().and_then(|(value, index)| self.source.type_of(value, index));
        ty.is_some_and(|ty| !ty.contains('<') || ty.starts_with("complex"))
    }

    pub fn result_array(&self, nth: usize) -> Result<ArrayType, NoMap> {
        let ty = self.source.result_type(self.id, nth);
        let ty = ty.ok_or(NoMap::UnknownType("the result".into()))?;
        Ok(self.source.array(&ty, self.start())?)
    }

    pub fn operand(&self, nth: usize) -> Result<Operand, NoMap> {
        let found = self.source.parse.operands_of(self.id).nth(nth);
        found.map(|u| self.source.operand(u)).ok_or(NoMap::NoOperand(nth))
    }
}
