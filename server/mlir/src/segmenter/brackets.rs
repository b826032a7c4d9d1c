//! The contents of statements: names, and brackets other than those of regions.

use super::{Binder, Event, Group, Mention, NO_OP, Segmenter, Statement};
use crate::lexer::TokenKind;
use crate::tree::*;

/// The index of a bracket kind in `counts`: `(`, `[`, `<`, and `{` of dictionaries.
fn slot(kind: TokenKind) -> usize {
    match kind {
        TokenKind::OpenParen | TokenKind::CloseParen => 0,
        TokenKind::OpenSquare | TokenKind::CloseSquare => 1,
        TokenKind::OpenAngle | TokenKind::CloseAngle => 2,
        _ => 3,
    }
}

impl Segmenter<'_> {
    pub(super) fn body_token(&mut self, at: usize) -> usize {
        let token = self.tokens.all[at];
        match token.kind {
            TokenKind::OpenParen | TokenKind::OpenSquare | TokenKind::OpenAngle => {
                self.push_group(slot(token.kind), at);
            }
            TokenKind::OpenBrace => self.open_brace(at),
            TokenKind::CloseParen | TokenKind::CloseSquare | TokenKind::CloseAngle => {
                self.close_group(slot(token.kind), at);
            }
            TokenKind::CloseBrace => return self.close_brace(at),
            TokenKind::Colon => {
                let is_outside = self.groups.len() == self.scope().base;
                if is_outside && matches!(self.scope().statement, Statement::Label(..)) {
                    self.finish_statement(at + 1);
                }
            }
            _ if self.is_cutting => {}
            TokenKind::Value => self.mention(at),
            TokenKind::Symbol => {
                let op = self.current_op();
                let is_nested = at > 0 && self.tokens.kind(at - 1) == Some(TokenKind::Path);
                self.out.symbols.push(SymbolMention {
                    span: token.span,
                    op,
                    is_definition: false,
                    is_nested,
                });
            }
            // `#stablehlo<…>` is a dialect attribute although it has no dot.
            TokenKind::AttributeName | TokenKind::TypeName
                if !token.span.of(self.tokens.text).contains('.')
                    && self.tokens.kind(at + 1) != Some(TokenKind::OpenAngle) =>
            {
                let op = self.current_op();
                self.out.aliases.push(AliasMention { span: token.span, op, is_definition: false });
            }
            TokenKind::Block => {
                let op = self.current_op();
                let block = None;
                self.out.successors.push(Successor { span: token.span, op, block, is_external: false });
            }
            _ => {}
        }
        at + 1
    }

    pub(super) fn current_op(&mut self) -> OpId {
        match self.scope().statement {
            Statement::Op(id) => id,
            _ => NO_OP,
        }
    }

    pub(super) fn mention(&mut self, at: usize) {
        let Statement::Op(op) = self.scope().statement else { return };
        let depth = self.groups.len() - self.scope().base;
        let innermost = self.groups.last().map(|g| g.slot).filter(|_| depth > 0);
        let binder = match self.tokens.kind(at + 1) {
            Some(TokenKind::Colon) if innermost == Some(0) => Binder::Typed,
            Some(TokenKind::Equal) if matches!(innermost, None | Some(0)) => Binder::Initialised,
            _ => Binder::No,
        };
        self.events.push(Event::Mention(self.mentions.len() as u32));
        self.mentions.push(Mention { token: at as u32, op, depth: depth.min(255) as u8, binder });
    }

    pub(super) fn push_group(&mut self, slot: usize, at: usize) {
        self.counts[slot] += 1;
        self.groups.push(Group { slot, token: at, first_mention: self.mentions.len() });
    }

    /// Closes the innermost bracket, whose last token is `last`.
    pub(super) fn pop_group(&mut self, last: usize) -> Option<Group> {
        let group = self.groups.pop()?;
        self.counts[group.slot] -= 1;
        self.matching[group.token] = last.max(group.token) as u32;
        Some(group)
    }

    /// Closes all brackets from index `base` on, which have no closing token before `at`, and reports the
    /// innermost.
    pub(super) fn pop_groups(&mut self, base: usize, at: usize) {
        let mut is_told = false;
        while self.groups.len() > base {
            let Some(group) = self.pop_group(at.saturating_sub(1)) else { return };
            if !is_told {
                self.unclosed(group.token);
            }
            is_told = true;
        }
    }

    pub(super) fn unclosed(&mut self, token: usize) {
        let span = self.tokens.all[token].span;
        let sign = span.of(self.tokens.text).to_owned();
        self.error(span, format!("this {sign} is not closed"));
    }

    pub(super) fn close_group(&mut self, slot: usize, at: usize) {
        let span = self.tokens.all[at].span;
        if self.counts[slot] == 0 {
            let sign = span.of(self.tokens.text).to_owned();
            return self.error(span, format!("this {sign} closes nothing"));
        }
        // A bracket of this kind is open; those inside it are unclosed.
        let mut is_told = false;
        while let Some(group) = self.pop_group(at) {
            if group.slot == slot {
                if self.is_list_of_binders(slot, at) {
                    let depth = self.groups.len() - self.scopes.last().map_or(0, |s| s.base) + 1;
                    for mention in &mut self.mentions[group.first_mention..] {
                        if mention.binder == Binder::No && usize::from(mention.depth) == depth {
                            mention.binder = Binder::Listed;
                        }
                    }
                }
                return;
            }
            self.matching[group.token] = at.saturating_sub(1).max(group.token) as u32;
            if !is_told {
                self.unclosed(group.token);
            }
            is_told = true;
        }
    }

    /// Whether a group binds its names, by the token after it: `(%i, %j) in`, `(%i) = (`, and `[%i] -> (`.
    pub(super) fn is_list_of_binders(&self, slot: usize, close: usize) -> bool {
        match self.tokens.kind(close + 1) {
            Some(TokenKind::Equal) => slot == 0,
            Some(TokenKind::Arrow) => slot == 1 && self.tokens.kind(close + 2) == Some(TokenKind::OpenParen),
            Some(TokenKind::Word) => self.tokens.word(close + 1) == "in",
            _ => false,
        }
    }
}
