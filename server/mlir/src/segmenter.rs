//! Groups tokens into ops, regions and blocks, in any dialect.
//!
//! One pass with an explicit stack: deep nesting takes memory, not recursion. A bracket that is still open
//! when an op starts on a new line is closed there, so one broken op does not affect the next.

mod brackets;
mod regions;
mod statements;

pub use statements::LEFT_OPEN;

use rustc_hash::{FxHashMap, FxHashSet};
use text::{Span, SyntaxError};

use crate::braces::Tokens;
use crate::lexer::{Token, TokenKind, tokens_behind, tokens_into};
use crate::piece_state::PieceState;
use crate::tree::*;
use crate::words::{is_function_like, last_segment, may_end_terminator};

/// The op of anything outside of ops.
pub(crate) const NO_OP: OpId = OpId::MAX;

/// Parses a piece. Never fails: the errors describe unreadable text, and the arrays hold everything else.
pub fn parse(text: &str, state: PieceState) -> Parse {
    parse_among(text, state, &FxHashSet::default())
}

/// [`parse`] for a piece in which some names of cut functions belong to other pieces.
///
/// `foreign` holds those names: the index of a part in [`Parse::function_parts`], and a value or block name
/// of that function with its sigil. A piece may hold the end of one function and the start of the next, whose
/// names are separate.
pub fn parse_among(text: &str, state: PieceState, foreign: &FxHashSet<(usize, &str)>) -> Parse {
    parse_to_end(text, state, foreign).0
}

/// [`parse_among`], with the state at the end of the text if another piece may start there.
pub(crate) fn parse_to_end(
    text: &str,
    state: PieceState,
    foreign: &FxHashSet<(usize, &str)>,
) -> (Parse, Option<PieceState>) {
    // Offsets have 32 bits; a longer text is truncated.
    let end = text.len().min(u32::MAX as usize - 1);
    let (mut all, errors, stays_open) = tokens_behind(text, 0, end, state.is_below_open_resources);
    all.splice(0..0, std::iter::repeat_n(BRACE_ABOVE, state.open_regions()));
    let mut segmenter = Segmenter::new(text, all, errors);
    segmenter.reserve();
    segmenter.continue_regions(state);
    let mut at = state.open_regions();
    while at < segmenter.tokens.all.len() {
        at = segmenter.step(at);
    }
    let is_whole = text.ends_with('\n') && end == text.len() && at > state.open_regions();
    let opens_resources = stays_open && !state.is_below_open_resources;
    let end = segmenter.end(state, at).filter(|_| is_whole && !opens_resources);
    segmenter.end_all(at);
    let mut parse = crate::names::resolve(segmenter, foreign);
    parse.shrink();
    (parse, end)
}

/// The brace of a region that a piece above opens.
pub(crate) const BRACE_ABOVE: Token =
    Token { span: Span { start: 0, end: 0 }, kind: TokenKind::OpenBrace, is_first: false };

impl<'t> Segmenter<'t> {
    pub(crate) fn new(text: &'t str, all: Vec<Token>, errors: Vec<SyntaxError>) -> Self {
        Segmenter {
            matching: vec![0; all.len()],
            regions_at: Vec::new(),
            tokens: Tokens { text, all },
            groups: Vec::new(),
            counts: [0; 4],
            scopes: vec![Scope::top()],
            column_above: 0,
            is_cutting: false,
            out: Parse { errors, ..Parse::default() },
            mentions: Vec::new(),
            events: Vec::new(),
            definitions: Vec::new(),
            op_tokens: Vec::new(),
            type_columns: Vec::new(),
            alias_types: FxHashMap::default(),
        }
    }

    /// Reserves capacity, estimated from the number of lines and names.
    fn reserve(&mut self) {
        let (mut lines, mut names) = (self.tokens.all.len().min(1), 0);
        for token in &self.tokens.all {
            lines += usize::from(token.is_first);
            names += usize::from(token.kind == TokenKind::Value);
        }
        self.out.ops.reserve(lines);
        self.op_tokens.reserve(lines);
        self.type_columns.reserve(lines);
        self.out.values.reserve(lines);
        self.out.types.reserve(lines);
        self.mentions.reserve(names);
        self.events.reserve(2 * lines + names);
    }

    /// Opens the regions that are open at the start of the piece, each with a token and a nameless op of its
    /// own.
    pub(crate) fn continue_regions(&mut self, state: PieceState) {
        self.out.continued = state.open_regions() as u32;
        self.column_above = state.function.map_or(0, usize::from);
        for at in 0..state.open_regions() {
            let op = self.begin_op(at, at, Form::Custom);
            self.op_tokens[op as usize].first = at as u32;
            let is_module = at < usize::from(state.depth);
            self.push_region(at, is_module, !is_module, self.column_above);
            if !is_module {
                self.out.continued_function = Some(op);
            }
        }
    }
}

/// An open bracket of the current op.
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
}

/// An open region, or the whole text.
struct Scope {
    region: Option<RegionId>,
    /// The token of its brace.
    token: usize,
    block: Option<BlockId>,
    statement: Statement,
    /// The index in `groups` at which the brackets of the current statement start.
    base: usize,
    /// The numbers of open brackets of the enclosing statement, restored at the end of the region.
    counts: [u32; 4],
    /// The index in `scopes` of the body of the enclosing function.
    function: Option<usize>,
    /// The column of the function whose body this is.
    column: usize,
    /// The state of a piece that starts here. A piece may start at the top level, in module bodies, and in
    /// the bodies of functions there.
    state: Option<PieceState>,
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
            column: 0,
            state: Some(PieceState::default()),
        }
    }
}

/// A value name in the text of an op.
#[derive(Clone, Copy)]
pub(crate) struct Mention {
    pub(crate) token: u32,
    pub(crate) op: OpId,
    /// The number of brackets around it in its op.
    pub(crate) depth: u8,
    pub(crate) binder: Binder,
}

/// Whether a mention may introduce the name, by its syntax.
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

/// The events of name resolution, in text order.
#[derive(Clone, Copy)]
pub(crate) enum Event {
    Split,
    OpStart(OpId),
    OpEnd,
    Enter(RegionId),
    Exit,
    Mention(u32),
}

/// The tokens of an op after its name.
#[derive(Clone, Copy)]
pub(crate) struct OpTokens {
    pub(crate) first: u32,
    pub(crate) end: u32,
}

pub(crate) struct Segmenter<'t> {
    pub(crate) tokens: Tokens<'t>,
    /// For an opening token the last token of its group; 0 for others.
    pub(crate) matching: Vec<u32>,
    /// Tokens of braces that open regions, ascending.
    pub(crate) regions_at: Vec<u32>,
    groups: Vec<Group>,
    counts: [u32; 4],
    scopes: Vec<Scope>,
    /// The column of the function in which the piece starts.
    column_above: usize,
    /// Whether only open brackets and regions are tracked, and the parts of ops are skipped.
    pub(crate) is_cutting: bool,
    pub(crate) out: Parse,
    pub(crate) mentions: Vec<Mention>,
    pub(crate) events: Vec<Event>,
    /// Tokens of symbols that are definitions.
    pub(crate) definitions: Vec<u32>,
    pub(crate) op_tokens: Vec<OpTokens>,
    /// Per op the token of the colon before its types, or `u32::MAX`.
    pub(crate) type_columns: Vec<u32>,
    /// The type at the end of an attribute alias, as in `#c = dense<0> : T`, by the name of the alias.
    pub(crate) alias_types: FxHashMap<&'t str, Span>,
}

impl<'t> Segmenter<'t> {
    fn scope(&mut self) -> &mut Scope {
        self.scopes.last_mut().expect("the top is never closed")
    }

    pub(crate) fn error(&mut self, span: Span, message: impl Into<String>) {
        if self.is_cutting {
            return;
        }
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

    /// The state of a piece that starts here; `None` if a bracket is open in the current statement, or no
    /// piece may start in the region.
    pub(crate) fn state(&self) -> Option<PieceState> {
        let scope = self.scopes.last()?;
        scope.state.filter(|_| self.groups.len() == scope.base)
    }

    /// The state before the token `next`, if a piece may start there. `above` is the state at the start of
    /// the text.
    pub(crate) fn end(&self, above: PieceState, next: usize) -> Option<PieceState> {
        let last = next.checked_sub(1);
        let is_split = last.and_then(|last| self.tokens.kind(last)) == Some(TokenKind::Split);
        let ends = last.is_none_or(|last| self.ends_well(above, last)) || is_split;
        let state = self.state().filter(|_| ends)?;
        Some(PieceState { is_below_open_resources: above.is_below_open_resources, ..state })
    }

    /// Whether text that ends after the token `at` parses without the text below it, so that a cut may
    /// follow.
    pub(crate) fn ends_well(&self, above: PieceState, at: usize) -> bool {
        let Some(token) = self.tokens.all.get(at) else { return false };
        if at < above.open_regions() {
            return true;
        }
        let is_return = |word: &str| matches!(last_segment(word), "return" | "yield");
        match token.kind {
            TokenKind::OpenBrace | TokenKind::Bad | TokenKind::Block => false,
            TokenKind::Word if token.is_first => is_return(self.tokens.word(at)),
            TokenKind::Word if is_return(self.tokens.word(at)) || is_function_like(self.tokens.word(at)) => {
                false
            }
            _ => !self.tokens.is_hungry(at),
        }
    }

    /// Tokenises more text. Returns whether resources stay open, as [`tokens_behind`] does.
    pub(crate) fn read_on(&mut self, from: usize, to: usize, resources_stay_open: bool) -> bool {
        let stay_open = tokens_into(self.tokens.text, from..to, resources_stay_open, &mut self.tokens.all);
        self.matching.resize(self.tokens.all.len(), 0);
        stay_open
    }

    /// Skips ops: drops the tokens from `at` on, which were not read yet, and ends the statement.
    pub(crate) fn pass_over(&mut self, at: usize) {
        self.tokens.all.truncate(at);
        self.matching.truncate(at);
        self.finish_statement(at);
    }

    /// Whether no bracket is open in the current op.
    pub(crate) fn is_quiet(&self) -> bool {
        self.scopes.last().is_some_and(|scope| self.groups.len() == scope.base)
    }

    /// Reads the token at `at` and returns the next one.
    #[inline(always)]
    pub(crate) fn step(&mut self, at: usize) -> usize {
        if self.says_nothing(at) { at + 1 } else { self.read(at) }
    }

    /// Whether the token at `at` is inside a statement and has no effect: it starts, opens, closes and names
    /// nothing. Most tokens are such.
    #[inline(always)]
    fn says_nothing(&self, at: usize) -> bool {
        let (Some(token), Some(scope)) = (self.tokens.all.get(at), self.scopes.last()) else { return false };
        let is_in_statement = !matches!(scope.statement, Statement::None);
        match token.kind {
            TokenKind::Number | TokenKind::Comma | TokenKind::Equal | TokenKind::Sign | TokenKind::Arrow => {
                is_in_statement
            }
            TokenKind::Word if !token.is_first && is_in_statement => {
                // A terminator may follow another op on its line, but not in brackets.
                let last = (token.span.end as usize).checked_sub(1);
                let last = last.and_then(|last| self.tokens.text.as_bytes().get(last));
                self.groups.len() > scope.base || last.is_none_or(|&last| !may_end_terminator(last))
            }
            _ => false,
        }
    }

    #[inline(never)]
    fn read(&mut self, at: usize) -> usize {
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
