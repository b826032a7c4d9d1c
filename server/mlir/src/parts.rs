//! The parts of an op: attributes, types, location, symbol. They are found by punctuation alone, in any
//! dialect.

use text::Span;

use crate::lexer::TokenKind;
use crate::segmenter::Segmenter;
use crate::tree::*;
use crate::words::{is_function_like, is_module_like, is_symbol_user, unquoted};

impl Segmenter<'_> {
    /// The token after the group or token at `at`.
    pub(crate) fn behind(&self, at: usize) -> usize {
        (self.matching.get(at).copied().unwrap_or(0) as usize).max(at) + 1
    }

    pub(crate) fn is_region(&self, at: usize) -> bool {
        self.regions_at.binary_search(&(at as u32)).is_ok()
    }

    pub(crate) fn finish_op(&mut self, id: OpId, end: usize) {
        let op = &self.out.ops[id as usize];
        let form = op.form;
        let (start, name) = (op.span.start, op.name);
        let first_token = self.op_tokens[id as usize].first as usize;
        let end = end.max(first_token.min(self.tokens.all.len()));
        let last = match end.checked_sub(1) {
            Some(last) if end > first_token => self.tokens.all[last].span.end,
            _ => name.end,
        };
        self.out.ops[id as usize].span = Span { start, end: last.max(name.end) };
        if form == Form::Alias || form == Form::Resources {
            let op = &mut self.out.ops[id as usize];
            op.head = op.span;
            self.note_alias_type(first_token, end);
            return;
        }
        let attributes = self.out.attributes.len() as u32;
        let parts = self.walk(id, first_token, end);
        let op = &mut self.out.ops[id as usize];
        op.attributes = attributes..self.out.attributes.len() as u32;
        op.location = parts.location;
        op.head = Span { start, end: parts.head_end.map_or(op.span.end, |end| end.max(start)) };
        self.type_columns[id as usize] = parts.colon.map_or(u32::MAX, |at| at as u32);
        self.define_symbol(id, parts.symbol);
        let op = &self.out.ops[id as usize];
        let text = self.tokens.text;
        let name = unquoted(op.name.of(text));
        let has_region = op.first_region.is_some();
        let is_symbol = parts.symbol.is_some_and(|at| self.definitions.last() == Some(&(at as u32)));
        let is_isolated = is_function_like(name)
            || self.out.is_continued(id)
            || has_region && (is_module_like(name) || is_symbol);
        self.out.ops[id as usize].is_isolated = is_isolated;
        self.types_of(id, first_token, end, &parts);
        let is_generic = form == Form::Generic;
        if is_generic && parts.colon.is_none() {
            let name = self.out.ops[id as usize].name;
            self.error(
                name,
                "an operation in quotes ends with its type: `: (operand types) -> result types`",
            );
        }
    }

    /// Records the type after the value of an alias, `#c = dense<0> : tensor<4xi32>`, for constants that use
    /// it.
    pub(crate) fn note_alias_type(&mut self, first: usize, end: usize) {
        let name = first.wrapping_sub(1);
        if self.is_cutting || self.tokens.kind(name) != Some(TokenKind::AttributeName) {
            return;
        }
        let mut at = first;
        let mut colon = None;
        while at < end {
            if self.tokens.kind(at) == Some(TokenKind::Colon) {
                colon = Some(at);
            }
            at = self.behind(at);
        }
        if let Some(colon) = colon {
            let behind = self.type_end(colon + 1, end);
            if behind > colon + 1 {
                self.alias_types.insert(self.tokens.word(name), self.span(colon + 1, behind));
            }
        }
    }

    /// The end of the token before `at`.
    fn end_in_front(&self, at: usize) -> u32 {
        at.checked_sub(1).and_then(|before| self.tokens.all.get(before)).map_or(0, |token| token.span.end)
    }

    /// One pass over the op's top-level tokens.
    fn walk(&mut self, id: OpId, first: usize, end: usize) -> Parts {
        let mut parts = Parts::default();
        let is_custom = self.out.ops[id as usize].form == Form::Custom;
        let mut at = first;
        while at < end {
            let next = self.tokens.kind(at + 1);
            match self.tokens.all[at].kind {
                TokenKind::OpenBrace if self.is_region(at) => {
                    parts.head_end.get_or_insert(self.end_in_front(at.max(first)));
                }
                TokenKind::OpenBrace => {
                    self.dictionary(at + 1, self.behind(at) - 1, AttributePlace::Dictionary);
                }
                TokenKind::OpenAngle if next == Some(TokenKind::OpenBrace) => {
                    self.dictionary(at + 2, self.behind(at + 1) - 1, AttributePlace::Properties);
                }
                TokenKind::OpenParen if next == Some(TokenKind::OpenBrace) && self.is_region(at + 1) => {
                    parts.head_end.get_or_insert(self.end_in_front(at));
                }
                TokenKind::Colon => parts.colon = Some(at),
                TokenKind::Arrow => parts.arrow = Some(at),
                TokenKind::Symbol => {
                    parts.symbol.get_or_insert(at);
                }
                TokenKind::Word if next == Some(TokenKind::OpenParen) && self.tokens.word(at) == "loc" => {
                    parts.location = self.span(at, self.behind(at + 1));
                    parts.location_at = Some(at);
                    at += 1;
                }
                TokenKind::Word if is_custom && next == Some(TokenKind::Equal) => {
                    self.clause(at, end);
                    at += 1;
                }
                _ => {}
            }
            at = self.behind(at);
        }
        parts
    }

    /// A `name = value` of the custom form: up to a comma, the types, or the next clause.
    fn clause(&mut self, at: usize, end: usize) {
        let mut behind = at + 2;
        while behind < end {
            match self.tokens.all[behind].kind {
                TokenKind::Comma | TokenKind::Colon => break,
                // `[b, f]x[i, o]->[b, f]` continues after its arrow.
                TokenKind::Arrow if self.tokens.kind(behind + 1) != Some(TokenKind::OpenSquare) => break,
                TokenKind::OpenBrace if behind > at + 2 => break,
                TokenKind::Word
                    if behind > at + 2
                        && matches!(
                            self.tokens.kind(behind + 1),
                            Some(TokenKind::Equal | TokenKind::OpenParen)
                        ) =>
                {
                    break;
                }
                _ => behind = self.behind(behind),
            }
            // Values are short; something else that looks like a clause may be as long as the text.
            if behind > at + 64 && self.matching.get(at + 2).is_none_or(|&m| m == 0) {
                break;
            }
        }
        let (name, value) = (self.tokens.all[at].span, self.span(at + 2, behind.min(end)));
        self.out.attributes.push(Attribute { name, value, place: AttributePlace::Clause });
    }

    /// The attributes between two braces.
    fn dictionary(&mut self, first: usize, close: usize, place: AttributePlace) {
        let mut at = first;
        while at < close {
            let name = self.tokens.all[at];
            if !matches!(name.kind, TokenKind::Word | TokenKind::String) {
                at = self.behind(at);
                continue;
            }
            let has_value = matches!(self.tokens.kind(at + 1), Some(TokenKind::Equal | TokenKind::Colon));
            let value = if has_value { at + 2 } else { at + 1 };
            let mut behind = value;
            while behind < close && self.tokens.all[behind].kind != TokenKind::Comma {
                behind = self.behind(behind);
            }
            let span = match has_value && behind > value {
                true => self.span(value, behind.min(close)),
                false => Span { start: name.span.end, end: name.span.end },
            };
            self.out.attributes.push(Attribute { name: name.span, value: span, place });
            at = behind + 1;
        }
    }

    /// Records the symbol that the op names first if the op defines it: `func.func @f`,
    /// `"func.func"() <{sym_name = "f"}>`.
    fn define_symbol(&mut self, id: OpId, symbol: Option<usize>) {
        let op = &self.out.ops[id as usize];
        if !op.results.is_empty() || self.out.is_continued(id) {
            return;
        }
        let text = self.tokens.text;
        let name = unquoted(op.name.of(text));
        if op.form == Form::Generic {
            let attributes = &self.out.attributes[op.attributes.start as usize..];
            let found = attributes.iter().find(|a| a.name.of(text) == "sym_name");
            let Some(value) = found.map(|a| a.value).filter(|v| v.of(text).starts_with('"')) else { return };
            let letters = value.of(text).bytes().skip(1).position(|b| b == b'"').unwrap_or(0) as u32;
            let span = Span { start: value.start + 1, end: value.start + 1 + letters };
            self.out.symbols.push(SymbolMention { span, op: id, is_definition: true, is_nested: false });
            return;
        }
        let Some(at) = symbol else { return };
        let behind_name = self.op_tokens[id as usize].first as usize;
        let is_in_front =
            |at: &usize| matches!(self.tokens.kind(*at), Some(TokenKind::Word | TokenKind::String));
        let stands_first = at.saturating_sub(behind_name) <= 4 && (behind_name..at).all(|i| is_in_front(&i));
        let parent = op.block.map(|b| self.out.regions[self.out.blocks[b as usize].region as usize].op);
        let is_at_top = match parent {
            None => true,
            Some(parent) if self.out.is_continued(parent) => self.out.continued_function != Some(parent),
            Some(parent) => is_module_like(unquoted(self.out.ops[parent as usize].name.of(text))),
        };
        let holds_code = op.first_region.is_some();
        if stands_first && !is_symbol_user(name) && (is_at_top || holds_code) {
            self.definitions.push(at as u32);
        }
    }

    /// Reads the arguments in the label of a block.
    pub(crate) fn finish_label(&mut self, block: BlockId, at: usize, end: usize) {
        let first = self.out.values.len() as ValueId;
        if self.tokens.kind(at + 1) == Some(TokenKind::OpenParen) {
            let close = (self.behind(at + 1) - 1).min(end);
            let mut i = at + 2;
            while i < close {
                let token = self.tokens.all[i];
                if token.kind == TokenKind::Value {
                    let types = self.out.types.len() as u32;
                    let colon = i + 1;
                    if self.tokens.kind(colon) == Some(TokenKind::Colon) {
                        let behind = self.type_end(colon + 1, close);
                        if behind > colon + 1 {
                            let span = self.span(colon + 1, behind);
                            self.out.types.push(TypeRef::Written(span));
                        }
                        i = behind.max(colon);
                    }
                    self.out.values.push(Value {
                        name: token.span,
                        definition: Definition::BlockArgument(block),
                        count: 1,
                        types: types..self.out.types.len() as u32,
                    });
                }
                i = self.behind(i).max(i + 1);
            }
        }
        self.out.blocks[block as usize].arguments = first..self.out.values.len() as ValueId;
    }
}

/// The relevant top-level tokens of an op.
#[derive(Default)]
pub(crate) struct Parts {
    /// The last colon.
    pub(crate) colon: Option<usize>,
    pub(crate) arrow: Option<usize>,
    symbol: Option<usize>,
    location: Span,
    pub(crate) location_at: Option<usize>,
    /// The end of the text before the first region.
    head_end: Option<u32>,
}
