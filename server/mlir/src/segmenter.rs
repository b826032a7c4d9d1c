//! Cuts tokens into ops, regions and blocks, without knowing any dialect.
//!
//! One pass with a stack of its own: deep nesting costs memory and no recursion. A bracket that is not closed when an op
//! starts on a new line is closed there, so that one broken op costs that op.

mod brackets;
mod regions;
mod statements;

use text::{Span, SyntaxError};

use crate::braces::Tokens;
use crate::lexer::{TokenKind, tokens};
use crate::pieces::PieceState;
use crate::tree::*;

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
}
