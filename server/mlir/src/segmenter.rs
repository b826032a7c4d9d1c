//! Cuts tokens into ops, regions and blocks, without knowing any dialect.
//!
//! One pass with a stack of its own: deep nesting costs memory and no recursion. A bracket that is not closed when an op
//! starts on a new line is closed there, so that one broken op costs that op.

use text::{Span, SyntaxError};

use crate::braces::{Brace, Tokens};
use crate::lexer::{TokenKind, tokens};
use crate::pieces::PieceState;
use crate::tree::*;
use crate::words::{is_function_like, is_module_like};

/// Stands for what is in no op: the rest of a line behind the end of a module.
pub(crate) const NO_OP: OpId = OpId::MAX;

/// Reads a piece. Never fails: what cannot be read is in the errors, and everything else is there.
pub fn parse(text: &str, state: PieceState) -> Parse {
    // Offsets are 32 bits wide; a longer text is read as far as they reach.
    let end = text.len().min(u32::MAX as usize - 1);
    let (all, errors) = tokens(text, 0, end, false);
    let mut segmenter = Segmenter {
        matching: vec![0; all.len()],
        regions_at: Vec::new(),
        tokens: Tokens { text, all },
        groups: Vec::new(),
        counts: [0; 4],
        scopes: vec![Scope::top()],
        above: state.depth,
        out: Parse { errors, ..Parse::default() },
        mentions: Vec::new(),
        events: Vec::new(),
        definitions: Vec::new(),
        op_tokens: Vec::new(),
        type_columns: Vec::new(),
    };
    segmenter.run();
    crate::names::resolve(segmenter)
}

/// How brackets are counted: `(`, `[`, `<`, and `{` of dictionaries.
fn slot(kind: TokenKind) -> usize {
    match kind {
        TokenKind::OpenParen | TokenKind::CloseParen => 0,
        TokenKind::OpenSquare | TokenKind::CloseSquare => 1,
        TokenKind::OpenAngle | TokenKind::CloseAngle => 2,
        _ => 3,
    }
}

/// A bracket that is open in the current op.
struct Group {
    slot: usize,
    token: usize,
    first_mention: usize,
}

#[derive(Clone, Copy)]
enum Statement {
    None,
    Op(OpId),
    Label(BlockId, usize),
    /// Behind the end of a module that started in a piece above.
    Tail,
}

/// A region that is open, or the text as a whole.
struct Scope {
    region: Option<RegionId>,
    /// The token of its brace.
    token: usize,
    block: Option<BlockId>,
    statement: Statement,
    /// Of `groups`, where those of the current statement start.
    base: usize,
    /// Open brackets of the statements around.
    counts: [u32; 4],
    /// Of `scopes`: the body of the function that this is in.
    function: Option<usize>,
    /// All regions around are those of modules: a piece may end here.
    is_of_modules: bool,
}

impl Scope {
    fn top() -> Scope {
        Scope {
            region: None,
            token: 0,
            block: None,
            statement: Statement::None,
            base: 0,
            counts: [0; 4],
            function: None,
            is_of_modules: true,
        }
    }
}

/// A value's name in the text of an op.
#[derive(Clone, Copy)]
pub(crate) struct Mention {
    pub(crate) token: u32,
    pub(crate) op: OpId,
    /// Brackets around it in its op.
    pub(crate) depth: u8,
    pub(crate) binder: Binder,
}

/// Whether a mention may introduce the name, by how it is written.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Binder {
    No,
    /// `(%a: type`
    Typed,
    /// `%i = %start`
    Initialised,
    /// `(%i, %j) in`
    Listed,
}

/// The order in which names come into sight and go.
#[derive(Clone, Copy)]
pub(crate) enum Event {
    Split,
    OpStart(OpId),
    OpEnd,
    Enter(RegionId),
    Exit,
    Mention(u32),
}

/// Which tokens of an op stand behind its name.
#[derive(Clone, Copy)]
pub(crate) struct OpTokens {
    pub(crate) first: u32,
    pub(crate) end: u32,
}

pub(crate) struct Segmenter<'t> {
    pub(crate) tokens: Tokens<'t>,
    /// For a token that opens: the last token of what it opens. 0 for others.
    pub(crate) matching: Vec<u32>,
    /// Tokens of braces that open regions, ascending.
    pub(crate) regions_at: Vec<u32>,
    groups: Vec<Group>,
    counts: [u32; 4],
    scopes: Vec<Scope>,
    above: u8,
    pub(crate) out: Parse,
    pub(crate) mentions: Vec<Mention>,
    pub(crate) events: Vec<Event>,
    /// Tokens of symbols that are defined by them.
    pub(crate) definitions: Vec<u32>,
    pub(crate) op_tokens: Vec<OpTokens>,
    /// Per op the token of the colon in front of its types, or `u32::MAX`.
    pub(crate) type_columns: Vec<u32>,
}

impl<'t> Segmenter<'t> {
    fn run(&mut self) {
        let mut at = 0;
        while at < self.tokens.all.len() {
            at = self.step(at);
        }
        self.end_all(at);
    }

    fn scope(&mut self) -> &mut Scope {
        self.scopes.last_mut().expect("the top is never closed")
    }

    pub(crate) fn error(&mut self, span: Span, message: impl Into<String>) {
        self.out.errors.push(SyntaxError { span, message: message.into() });
    }

    pub(crate) fn span(&self, first: usize, end: usize) -> Span {
        let tokens = &self.tokens.all;
        match (tokens.get(first), end.checked_sub(1).and_then(|last| tokens.get(last))) {
            (Some(first), Some(last)) if first.span.start <= last.span.start => {
                Span { start: first.span.start, end: last.span.end }
            }
            (Some(first), _) => Span { start: first.span.start, end: first.span.start },
            _ => Span::default(),
        }
    }

    /// Reads the token at `at`, and answers which is next.
    fn step(&mut self, at: usize) -> usize {
        if self.tokens.all[at].kind == TokenKind::Split {
            self.end_all(at);
            self.out.splits.push(self.tokens.all[at].span.end);
            self.events.push(Event::Split);
            return at + 1;
        }
        let scope = self.scope();
        let (base, is_top) = (scope.base, scope.region.is_none());
        if matches!(scope.statement, Statement::None) {
            return self.start_statement(at);
        }
        if self.groups.len() > base {
            if self.tokens.starts_op_in_brackets(at) {
                self.pop_groups(base, at);
                self.finish_statement(at);
                return self.start_statement(at);
            }
        } else if self.tokens.starts_statement(at, is_top) {
            self.finish_statement(at);
            return self.start_statement(at);
        }
        self.body_token(at)
    }

    // ---------------------------------------------------------------- statements

    fn start_statement(&mut self, at: usize) -> usize {
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
                // Not looked at as the name of an op, but as what stands in one.
                self.op_tokens[op as usize].first = at as u32;
                self.body_token(at)
            }
        }
    }

    fn start_results(&mut self, at: usize) -> usize {
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
            let len = letters.find('#').unwrap_or(letters.len()) as u32;
            let name = Span { start: span.start, end: span.start + len };
            self.out.values.push(Value { name, definition: Definition::Result(op), count, types: 0..0 });
        }
        self.out.ops[op as usize].results = first..self.out.values.len() as ValueId;
        if !has_name {
            let equal = self.tokens.all[name - 1].span;
            self.out.ops[op as usize].name = Span { start: equal.end, end: equal.end };
            self.error(equal, "an operation is expected behind =");
            return name;
        }
        name + 1
    }

    fn begin_op(&mut self, first: usize, name: usize, form: Form) -> OpId {
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

    fn start_label(&mut self, at: usize) -> usize {
        let label = self.tokens.all[at].span;
        let next_op = self.out.ops.len() as OpId;
        let Some(region) = self.scope().region else {
            self.error(label, "a block is part of a region: there is none here");
            self.begin_op(at, at, Form::Custom);
            return at + 1;
        };
        // The block that every region starts with is this one, where nothing stands in it yet.
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

    /// Ends the statement, were one open, in front of the token `end`.
    fn finish_statement(&mut self, end: usize) {
        let base = self.scope().base;
        self.pop_groups(base, end);
        let statement = std::mem::replace(&mut self.scope().statement, Statement::None);
        match statement {
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
            Statement::None | Statement::Tail => {}
        }
    }

    /// A function that starts where a function is open, no further to the right: that one was not closed.
    fn leave_functions(&mut self, at: usize) {
        let Some(function) = self.scope().function else { return };
        let Some(region) = self.scopes[function].region else { return };
        let op = self.out.regions[region as usize].op;
        // Of a line that is longer than this the end of the line is as good as its start.
        let column = |offset: u32| {
            let before = &self.tokens.text.as_bytes()[..offset as usize];
            let near = &before[before.len().saturating_sub(256)..];
            near.iter().rev().take_while(|&&b| b != b'\n').count()
        };
        if column(self.tokens.all[at].span.start) > column(self.out.ops[op as usize].span.start) {
            return;
        }
        while self.scopes.len() > function {
            self.finish_statement(at);
            let brace = self.scope().token;
            if self.scopes.len() == function + 1 {
                let unclosed = self.tokens.all[brace].span;
                self.error(unclosed, "this { is not closed where the next function starts");
            }
            self.close_region(at, false);
        }
        self.finish_statement(at);
    }

    // ---------------------------------------------------------------- what stands in statements

    fn body_token(&mut self, at: usize) -> usize {
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
            // `#stablehlo<…>` is of a dialect although it has no dot.
            TokenKind::AttributeName | TokenKind::TypeName
                if !token.span.of(self.tokens.text).contains('.')
                    && self.tokens.kind(at + 1) != Some(TokenKind::OpenAngle) =>
            {
                let op = self.current_op();
                self.out.aliases.push(AliasMention { span: token.span, op, is_definition: false });
            }
            TokenKind::Block => {
                let op = self.current_op();
                self.out.successors.push(Successor { span: token.span, op, block: None });
            }
            _ => {}
        }
        at + 1
    }

    fn current_op(&mut self) -> OpId {
        match self.scope().statement {
            Statement::Op(id) => id,
            _ => NO_OP,
        }
    }

    fn mention(&mut self, at: usize) {
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

    fn push_group(&mut self, slot: usize, at: usize) {
        self.counts[slot] += 1;
        self.groups.push(Group { slot, token: at, first_mention: self.mentions.len() });
    }

    /// Closes the innermost bracket, whose last token is `last`.
    fn pop_group(&mut self, last: usize) -> Option<Group> {
        let group = self.groups.pop()?;
        self.counts[group.slot] -= 1;
        self.matching[group.token] = last.max(group.token) as u32;
        Some(group)
    }

    /// Closes all brackets above `base`, none of which is closed in the text in front of `at`. The innermost is told.
    fn pop_groups(&mut self, base: usize, at: usize) {
        let mut is_told = false;
        while self.groups.len() > base {
            let Some(group) = self.pop_group(at.saturating_sub(1)) else { return };
            if !is_told {
                self.unclosed(group.token);
            }
            is_told = true;
        }
    }

    fn unclosed(&mut self, token: usize) {
        let span = self.tokens.all[token].span;
        let sign = span.of(self.tokens.text).to_owned();
        self.error(span, format!("this {sign} is not closed"));
    }

    fn close_group(&mut self, slot: usize, at: usize) {
        let span = self.tokens.all[at].span;
        if self.counts[slot] == 0 {
            let sign = span.of(self.tokens.text).to_owned();
            return self.error(span, format!("this {sign} closes nothing"));
        }
        // There is one of this kind: what is above it was not closed.
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

    /// `(%i, %j) in`, `(%i) = (`, and `[%i] -> (`: names that nothing else tells to be new.
    fn is_list_of_binders(&self, slot: usize, close: usize) -> bool {
        match self.tokens.kind(close + 1) {
            Some(TokenKind::Equal) => slot == 0,
            Some(TokenKind::Arrow) => slot == 1 && self.tokens.kind(close + 2) == Some(TokenKind::OpenParen),
            Some(TokenKind::Word) => self.tokens.word(close + 1) == "in",
            _ => false,
        }
    }

    // ---------------------------------------------------------------- braces and regions

    fn open_brace(&mut self, at: usize) {
        let base = self.scope().base;
        if !matches!(self.scope().statement, Statement::Op(_)) {
            return self.push_group(3, at);
        }
        let innermost = self.groups.last().map(|g| g.slot).filter(|_| self.groups.len() > base);
        let starts_line = self.tokens.is_first(at + 1);
        let is_region = match self.tokens.brace(at) {
            // What a function starts with, were its first line no op yet.
            Brace::Dictionary => {
                innermost.is_none() && self.is_body_of_function(at) && !self.tokens.starts_entry(at + 1)
            }
            Brace::Empty => match innermost {
                // Nobody breaks the line in a dictionary of nothing.
                None => starts_line || self.is_body_of_function(at),
                Some(slot) => slot == 0 && self.is_in_generic_regions(at),
            },
            Brace::Region => match innermost {
                None | Some(3) => true,
                Some(0) if self.is_in_generic_regions(at) || !starts_line => true,
                // A body starts on a line of its own: these brackets should have been closed.
                Some(_) if starts_line && !self.is_in_angle_of_dictionary(at) => {
                    self.pop_groups(base, at);
                    true
                }
                Some(_) => false,
            },
        };
        if is_region { self.open_region(at) } else { self.push_group(3, at) }
    }

    /// `<{ … }>` holds attributes whatever they look like.
    fn is_in_angle_of_dictionary(&self, at: usize) -> bool {
        at > 0 && self.tokens.kind(at - 1) == Some(TokenKind::OpenAngle)
    }

    /// `({ … }, { … })`
    fn is_in_generic_regions(&self, at: usize) -> bool {
        matches!(
            at.checked_sub(1).and_then(|before| self.tokens.kind(before)),
            Some(TokenKind::OpenParen | TokenKind::Comma)
        )
    }

    /// Whether what is no region by what is in it is a body by what is in front of it.
    fn is_body_of_function(&mut self, at: usize) -> bool {
        let op = self.current_op();
        let Some(op) = self.out.ops.get(op as usize) else { return false };
        let name = op.name.of(self.tokens.text);
        let is_container = is_function_like(name) || is_module_like(name);
        is_container && op.first_region.is_none() && self.tokens.word(at - 1) != "attributes"
    }

    fn open_region(&mut self, at: usize) {
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
        // Regions of one op are few, but text can have any number: the last one is remembered by its op's tokens.
        let previous = std::mem::replace(&mut self.op_tokens[op as usize].end, id);
        match self.out.ops[op as usize].first_region {
            None => self.out.ops[op as usize].first_region = Some(id),
            Some(_) => self.out.regions[previous as usize].next = Some(id),
        }
        let name = self.out.ops[op as usize].name.of(self.tokens.text).trim_matches('"');
        let is_module = is_module_like(name);
        let index = self.scopes.len();
        let outer = self.scopes.last().expect("the top is never closed");
        let function = match outer.function {
            _ if is_module => None,
            None if is_function_like(name) => Some(index),
            around => around,
        };
        let is_of_modules = outer.is_of_modules && is_module && self.groups.len() == outer.base;
        self.scopes.push(Scope {
            region: Some(id),
            token: at,
            block: Some(block),
            statement: Statement::None,
            base: self.groups.len(),
            counts: std::mem::take(&mut self.counts),
            function,
            is_of_modules,
        });
        self.regions_at.push(at as u32);
        self.events.push(Event::Enter(id));
    }

    fn close_brace(&mut self, at: usize) -> usize {
        if self.counts[3] > 0 {
            self.close_group(3, at);
            return at + 1;
        }
        let span = self.tokens.all[at].span;
        if self.scope().region.is_none() {
            if self.above > 0 && self.groups.is_empty() {
                self.finish_statement(at);
                self.above -= 1;
                self.out.closed_above.push(span);
                self.scope().statement = Statement::Tail;
            } else {
                self.error(span, "this } closes nothing");
            }
            return at + 1;
        }
        self.finish_statement(at);
        self.close_region(at, true);
        at + 1
    }

    /// Closes the innermost region, with its brace at `at` or without one in front of it.
    fn close_region(&mut self, at: usize, is_closed: bool) {
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

    /// Closes everything in front of `at`: the text ends there, or its part.
    fn end_all(&mut self, at: usize) {
        let is_end = at >= self.tokens.all.len();
        while self.scopes.len() > 1 {
            self.finish_statement(at);
            let token = self.scope().token;
            let brace = self.tokens.all[token].span;
            let region = self.scope().region;
            match region.filter(|_| is_end && self.scope().is_of_modules) {
                Some(region) => self.out.open_below.push(region),
                None => self.error(brace, "this { is not closed"),
            }
            self.close_region(at, false);
        }
        self.finish_statement(at);
        if is_end {
            self.out.open_below.reverse();
        } else {
            self.above = 0;
        }
    }
}
