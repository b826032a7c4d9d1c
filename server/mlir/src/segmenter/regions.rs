//! Braces: which ones open a region, and how regions end.

use text::Span;

use super::{Event, Scope, Segmenter, Statement};
use crate::braces::Brace;
use crate::lexer::TokenKind;
use crate::tree::*;
use crate::words::{is_function_like, is_module_like, unquoted};

impl Segmenter<'_> {
    pub(super) fn open_brace(&mut self, at: usize) {
        let base = self.scope().base;
        if !matches!(self.scope().statement, Statement::Op(_)) {
            return self.push_group(3, at);
        }
        let innermost = self.groups.last().map(|g| g.slot).filter(|_| self.groups.len() > base);
        let starts_line = self.tokens.is_first(at + 1);
        let is_region = match self.tokens.brace(at) {
            // The body of a function whose first line is not an op yet.
            Brace::Dictionary => {
                innermost.is_none() && self.is_body_of_function(at) && !self.tokens.starts_entry(at + 1)
            }
            Brace::Empty => match innermost {
                // An empty dictionary has no line break.
                None => starts_line || self.is_body_of_function(at),
                Some(slot) => slot == 0 && self.is_in_generic_regions(at),
            },
            Brace::Region => match innermost {
                None | Some(3) => true,
                Some(0) if self.is_in_generic_regions(at) || !starts_line => true,
                // A body with its first op on a new line: the brackets around it should have been closed.
                Some(_) if starts_line && !self.is_in_angle_of_dictionary(at) => {
                    self.pop_groups(base, at);
                    true
                }
                Some(_) => false,
            },
        };
        if is_region { self.open_region(at) } else { self.push_group(3, at) }
    }

    /// Whether the brace belongs to `<{ … }>`, which always holds attributes.
    pub(super) fn is_in_angle_of_dictionary(&self, at: usize) -> bool {
        at > 0 && self.tokens.kind(at - 1) == Some(TokenKind::OpenAngle)
    }

    /// Whether the brace belongs to `({ … }, { … })`.
    pub(super) fn is_in_generic_regions(&self, at: usize) -> bool {
        matches!(
            at.checked_sub(1).and_then(|before| self.tokens.kind(before)),
            Some(TokenKind::OpenParen | TokenKind::Comma)
        )
    }

    /// Whether the text before a brace makes it the body of a function or module, although its contents do
    /// not look like a region.
    pub(super) fn is_body_of_function(&mut self, at: usize) -> bool {
        let op = self.current_op();
        let Some(op) = self.out.ops.get(op as usize) else { return false };
        let name = op.name.of(self.tokens.text);
        let is_container = is_function_like(name) || is_module_like(name);
        is_container && op.first_region.is_none() && self.tokens.word(at - 1) != "attributes"
    }

    pub(super) fn open_region(&mut self, at: usize) {
        let id = self.current_op();
        let op = &self.out.ops[id as usize];
        let name = unquoted(op.name.of(self.tokens.text));
        if self.out.is_continued(id) {
            let is_function = self.out.continued_function == Some(id);
            return self.push_region(at, !is_function, is_function, self.column_above);
        }
        let (is_module, is_function) = (is_module_like(name), is_function_like(name));
        let column = if is_function { self.column(op.span.start) } else { 0 };
        self.push_region(at, is_module, is_function, column);
    }

    /// Opens a region of the current op with the brace at `at`. `column` is that of the function.
    pub(super) fn push_region(&mut self, at: usize, is_module: bool, is_function: bool, column: usize) {
        let op = self.current_op();
        let id = self.out.regions.len() as RegionId;
        let block = self.out.blocks.len() as BlockId;
        self.out.regions.push(Region {
            op,
            span: self.tokens.all[at].span,
            first_block: Some(block),
            next: None,
            is_closed: false,
        });
        self.out.blocks.push(Block {
            region: id,
            label: Span::default(),
            arguments: 0..0,
            first_op: self.out.ops.len() as OpId,
            next: None,
        });
        // An op of broken text may have any number of regions. To append one in constant time, the unused
        // `end` of the op's tokens holds the last one.
        let previous = std::mem::replace(&mut self.op_tokens[op as usize].end, id);
        match self.out.ops[op as usize].first_region {
            None => self.out.ops[op as usize].first_region = Some(id),
            Some(_) => self.out.regions[previous as usize].next = Some(id),
        }
        let index = self.scopes.len();
        let outer = self.scopes.last().expect("the top is never closed");
        let function = match outer.function {
            _ if is_module => None,
            None if is_function => Some(index),
            around => around,
        };
        // The text after the regions of a generic op is checked with its name, so both are in one piece.
        let is_custom = self.out.ops[op as usize].form == Form::Custom;
        let around = outer.state.filter(|_| is_custom && self.groups.len() == outer.base);
        let state = match around {
            Some(state) if is_module => state.in_module(),
            Some(state) if is_function => state.in_function(column),
            _ => None,
        };
        self.scopes.push(Scope {
            region: Some(id),
            token: at,
            block: Some(block),
            statement: Statement::None,
            base: self.groups.len(),
            counts: std::mem::take(&mut self.counts),
            function,
            column,
            state,
        });
        self.regions_at.push(at as u32);
        self.events.push(Event::Enter(id));
    }

    pub(super) fn close_brace(&mut self, at: usize) -> usize {
        if self.counts[3] > 0 {
            self.close_group(3, at);
            return at + 1;
        }
        let span = self.tokens.all[at].span;
        let Some(region) = self.scope().region else {
            self.error(span, "this } closes nothing");
            return at + 1;
        };
        self.finish_statement(at);
        if region < self.out.continued {
            self.out.closed_above.push(Closing { span, is_closed: true });
        }
        self.close_region(at, true);
        at + 1
    }

    /// Closes the innermost region, with its brace at `at`, or without a brace before `at`.
    pub(super) fn close_region(&mut self, at: usize, is_closed: bool) {
        let Some(scope) = self.scopes.pop() else { return };
        let Some(id) = scope.region else {
            self.scopes.push(scope);
            return;
        };
        let last = if is_closed { at } else { at.saturating_sub(1).max(scope.token) };
        self.matching[scope.token] = last as u32;
        let span = self.span(scope.token, last + 1);
        let region = &mut self.out.regions[id as usize];
        region.span = span;
        region.is_closed = is_closed;
        self.counts = scope.counts;
        self.events.push(Event::Exit);
    }

    /// Closes everything before `at`, where the text or one of its parts ends.
    pub(super) fn end_all(&mut self, at: usize) {
        let is_end = at >= self.tokens.all.len();
        if is_end {
            let continued = self.scopes.iter().filter(|s| s.region.is_some_and(|r| r < self.out.continued));
            self.out.open_above = continued.count() as u32;
        }
        while self.scopes.len() > 1 {
            self.finish_statement(at);
            let token = self.scope().token;
            let brace = self.tokens.all[token].span;
            let (region, state) = (self.scope().region, self.scope().state);
            if is_end && state.is_some_and(|state| state.function.is_some()) {
                self.out.open_body = region;
            }
            match region {
                // The piece that opens the region reports it.
                Some(region) if region < self.out.continued => {}
                Some(region) if is_end && state.is_some() => self.out.open_below.push(region),
                _ => self.error(brace, "this { is not closed"),
            }
            self.close_region(at, false);
        }
        self.finish_statement(at);
        if is_end {
            self.out.open_below.reverse();
        }
    }
}
