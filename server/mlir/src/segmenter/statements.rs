//! The starts and ends of ops and block labels.

use text::Span;

use super::{Event, OpTokens, Segmenter, Statement};
use crate::lexer::TokenKind;
use crate::tree::*;
use crate::words::{is_function_like, without_result};

/// The error at the brace of an open function when another function starts no further to the right.
pub const LEFT_OPEN: &str = "this { is not closed where the next function starts";

impl Segmenter<'_> {
    /// The column of an offset in bytes, capped at 256: beyond that its exact value does not matter.
    pub(super) fn column(&self, offset: u32) -> usize {
        let before = &self.tokens.text.as_bytes()[..offset as usize];
        let near = &before[before.len().saturating_sub(256)..];
        near.iter().rev().take_while(|&&b| b != b'\n').count()
    }

    pub(super) fn start_statement(&mut self, at: usize) -> usize {
        let token = self.tokens.all[at];
        let next = self.tokens.kind(at + 1);
        match token.kind {
            TokenKind::CloseBrace => self.close_brace(at),
            TokenKind::Block if matches!(next, Some(TokenKind::Colon | TokenKind::OpenParen)) => {
                self.start_label(at)
            }
            TokenKind::Value if self.tokens.name_behind_results(at).is_some() => self.start_results(at),
            TokenKind::String if next == Some(TokenKind::OpenParen) => {
                self.begin_op(at, at, Form::Generic);
                at + 1
            }
            TokenKind::Word => {
                if token.is_first && is_function_like(self.tokens.word(at)) {
                    self.leave_functions(at);
                }
                self.begin_op(at, at, Form::Custom);
                at + 1
            }
            TokenKind::AttributeName | TokenKind::TypeName if next == Some(TokenKind::Equal) => {
                let op = self.begin_op(at, at, Form::Alias);
                self.out.aliases.push(AliasMention { span: token.span, op, is_definition: true });
                at + 2
            }
            TokenKind::Resources => {
                self.begin_op(at, at, Form::Resources);
                at + 1
            }
            _ => {
                if token.kind != TokenKind::Bad {
                    self.error(token.span, "an operation is expected here");
                }
                let op = self.begin_op(at, at, Form::Custom);
                self.out.ops[op as usize].name = Span { end: token.span.start, ..token.span };
                // The token is read as a part of the op, not as its name.
                self.op_tokens[op as usize].first = at as u32;
                self.body_token(at)
            }
        }
    }

    pub(super) fn start_results(&mut self, at: usize) -> usize {
        let name = self.tokens.name_behind_results(at).unwrap_or(at + 1);
        let form = match self.tokens.kind(name) {
            Some(TokenKind::String) => Form::Generic,
            _ => Form::Custom,
        };
        let has_name = match self.tokens.kind(name) {
            Some(TokenKind::String) => self.tokens.kind(name + 1) == Some(TokenKind::OpenParen),
            Some(TokenKind::Word) => {
                !self.tokens.is_first(name) || !self.tokens.starts_statement(name, false)
            }
            _ => false,
        };
        let op = self.begin_op(at, if has_name { name } else { name - 1 }, form);
        let first = self.out.values.len() as ValueId;
        let mut i = at;
        while i + 1 < name {
            let span = self.tokens.all[i].span;
            let mut count = 1;
            i += 1;
            if self.tokens.kind(i) == Some(TokenKind::Colon) {
                count = self.tokens.word(i + 1).parse().unwrap_or(1);
                i += 2;
            }
            i += 1;
            let letters = span.of(self.tokens.text);
            let len = without_result(letters).len() as u32;
            let name = Span { start: span.start, end: span.start + len };
            self.out.values.push(Value { name, definition: Definition::Result(op), count, types: 0..0 });
        }
        self.out.ops[op as usize].results = first..self.out.values.len() as ValueId;
        if !has_name {
            let equal = self.tokens.all[name - 1].span;
            self.out.ops[op as usize].name = Span { start: equal.end, end: equal.end };
            self.error(equal, "an operation is expected after =");
            return name;
        }
        name + 1
    }

    pub(super) fn begin_op(&mut self, first: usize, name: usize, form: Form) -> OpId {
        cancel::tick();
        let id = self.out.ops.len() as OpId;
        let scope = self.scopes.last_mut().expect("the top is never closed");
        scope.statement = Statement::Op(id);
        let start = self.tokens.all[first].span;
        self.out.ops.push(Op {
            span: start,
            name: self.tokens.all[name].span,
            form,
            block: scope.block,
            behind: id + 1,
            results: 0..0,
            uses: 0..0,
            first_region: None,
            attributes: 0..0,
            operand_types: 0..0,
            result_types: 0..0,
            head: start,
            location: Span::default(),
            is_isolated: false,
        });
        self.op_tokens.push(OpTokens { first: name as u32 + 1, end: name as u32 + 1 });
        self.type_columns.push(u32::MAX);
        self.events.push(Event::OpStart(id));
        id
    }

    pub(super) fn start_label(&mut self, at: usize) -> usize {
        let label = self.tokens.all[at].span;
        let next_op = self.out.ops.len() as OpId;
        let Some(region) = self.scope().region else {
            self.error(label, "a block is part of a region: there is none here");
            self.begin_op(at, at, Form::Custom);
            return at + 1;
        };
        // The label names the region's initial block if that is still empty.
        let current = self.scope().block.expect("a region has a block");
        let is_fresh = {
            let block = &self.out.blocks[current as usize];
            block.label.is_empty() && block.first_op == next_op && block.next.is_none()
        };
        let id = match is_fresh {
            true => current,
            false => {
                let id = self.out.blocks.len() as BlockId;
                self.out.blocks[current as usize].next = Some(id);
                self.out.blocks.push(Block { region, label, arguments: 0..0, first_op: next_op, next: None });
                id
            }
        };
        self.out.blocks[id as usize].label = label;
        let scope = self.scope();
        scope.block = Some(id);
        scope.statement = Statement::Label(id, at);
        at + 1
    }

    /// Ends the statement, if one is open, before the token `end`.
    pub(super) fn finish_statement(&mut self, end: usize) {
        let base = self.scope().base;
        self.pop_groups(base, end);
        let statement = std::mem::replace(&mut self.scope().statement, Statement::None);
        match statement {
            _ if self.is_cutting => {}
            Statement::Op(id) => {
                self.op_tokens[id as usize].end = end as u32;
                self.finish_op(id, end);
                self.out.ops[id as usize].behind = self.out.ops.len() as OpId;
                self.events.push(Event::OpEnd);
            }
            Statement::Label(block, at) => {
                self.finish_label(block, at, end);
                if self.tokens.kind(end.saturating_sub(1)) != Some(TokenKind::Colon) {
                    let span = self.out.blocks[block as usize].label;
                    self.error(span, "the label of a block ends with a colon");
                }
            }
            Statement::None => {}
        }
    }

    /// Closes the enclosing function if another one starts at `at` no further to the right: its brace is
    /// missing.
    pub(super) fn leave_functions(&mut self, at: usize) {
        let Some(function) = self.scope().function else { return };
        if self.column(self.tokens.all[at].span.start) > self.scopes[function].column {
            return;
        }
        while self.scopes.len() > function {
            self.finish_statement(at);
            let brace = self.scope().token;
            if self.scopes.len() == function + 1 {
                let unclosed = self.tokens.all[brace].span;
                if self.scope().region.is_some_and(|region| region < self.out.continued) {
                    let start = self.tokens.all[at].span.start;
                    let span = Span { start, end: start };
                    self.out.closed_above.push(Closing { span, is_closed: false });
                } else {
                    self.error(unclosed, LEFT_OPEN);
                }
            }
            self.close_region(at, false);
        }
        self.finish_statement(at);
    }
}
