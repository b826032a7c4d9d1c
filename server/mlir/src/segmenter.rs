//! Cuts tokens into ops, regions and blocks, without knowing any dialect.
//!
//! One pass with a stack of its own: deep nesting costs memory and no recursion. A bracket that is not closed when an op
//! starts on a new line is closed there, so that one broken op costs that op.

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

/// The parent of what is in no op.
pub(crate) const NO_OP: OpId = OpId::MAX;

/// Reads a piece. Never fails: what cannot be read is in the errors, and everything else is there.
pub fn parse(text: &str, state: PieceState) -> Parse {
    parse_among(text, state, &FxHashSet::default())
}

/// As [`parse`], of a piece of which some names of functions that are cut belong to other pieces.
///
/// `foreign`: the number of a part in [`Parse::function_parts`], and a name of that function with its sign, of a value or of a
/// block. The end of one function and the start of the next may be in one piece; a name of one is not of the other.
pub fn parse_among(text: &str, state: PieceState, foreign: &FxHashSet<(usize, &str)>) -> Parse {
    parse_to_end(text, state, foreign).0
}

/// As [`parse_among`], with the state in which the next piece may start behind the text, if one may.
pub(crate) fn parse_to_end(
    text: &str,
    state: PieceState,
    foreign: &FxHashSet<(usize, &str)>,
) -> (Parse, Option<PieceState>) {
    // Offsets are 32 bits wide; a longer text is read as far as they reach.
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

/// The brace of a region that is opened in a piece above.
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

    /// Makes room for what lines and names become.
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

    /// Opens the regions that are open where the piece starts, each by its own token and of an op without a name.
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
    /// Where the op that opens this stands in its line.
    column: usize,
    /// A piece may start here: in a text, in bodies of modules, and in the body of a function in those.
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
    /// Of the function that the piece starts in.
    column_above: usize,
    /// Only what is open is asked: what ops consist of is not looked at.
    pub(crate) is_cutting: bool,
    pub(crate) out: Parse,
    pub(crate) mentions: Vec<Mention>,
    pub(crate) events: Vec<Event>,
    /// Tokens of symbols that are defined by them.
    pub(crate) definitions: Vec<u32>,
    pub(crate) op_tokens: Vec<OpTokens>,
    /// Per op the token of the colon in front of its types, or `u32::MAX`.
    pub(crate) type_columns: Vec<u32>,
    /// Of aliases of attributes that end with a type, `#c = dense<0> : T`: that type.
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

    /// In which state a piece would start here, were this the place for one: no bracket is open but those of regions.
    pub(crate) fn state(&self) -> Option<PieceState> {
        let scope = self.scopes.last()?;
        scope.state.filter(|_| self.groups.len() == scope.base)
    }

    /// The state behind the tokens in front of `next`, where a piece may start there. `above`: in which the text starts.
    pub(crate) fn end(&self, above: PieceState, next: usize) -> Option<PieceState> {
        let last = next.checked_sub(1);
        let is_split = last.and_then(|last| self.tokens.kind(last)) == Some(TokenKind::Split);
        let ends = last.is_none_or(|last| self.ends_well(above, last)) || is_split;
        let state = self.state().filter(|_| ends)?;
        Some(PieceState { is_below_open_resources: above.is_below_open_resources, ..state })
    }

    /// Whether what is in front of a cut behind the token `at` is read without what is behind it.
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

    /// Gets the tokens of more text to read. Answers as [`tokens_behind`] whether resources stay open.
    pub(crate) fn read_on(&mut self, from: usize, to: usize, resources_stay_open: bool) -> bool {
        let stay_open = tokens_into(self.tokens.text, from..to, resources_stay_open, &mut self.tokens.all);
        self.matching.resize(self.tokens.all.len(), 0);
        stay_open
    }

    /// Ops stand here that are not looked at. Forgets the tokens from `at` on, which were not read yet.
    pub(crate) fn pass_over(&mut self, at: usize) {
        self.tokens.all.truncate(at);
        self.matching.truncate(at);
        self.finish_statement(at);
    }

    /// No bracket is open in the current op.
    pub(crate) fn is_quiet(&self) -> bool {
        self.scopes.last().is_some_and(|scope| self.groups.len() == scope.base)
    }

    /// Reads the token at `at`, and answers which is next.
    #[inline(always)]
    pub(crate) fn step(&mut self, at: usize) -> usize {
        if self.says_nothing(at) { at + 1 } else { self.read(at) }
    }

    /// Whether the token at `at` is in a statement, starts nothing, opens nothing, closes nothing and names nothing: most do so.
    #[inline(always)]
    fn says_nothing(&self, at: usize) -> bool {
        let (Some(token), Some(scope)) = (self.tokens.all.get(at), self.scopes.last()) else { return false };
        let is_in_statement = !matches!(scope.statement, Statement::None);
        match token.kind {
            TokenKind::Number | TokenKind::Comma | TokenKind::Equal | TokenKind::Sign | TokenKind::Arrow => {
                is_in_statement
            }
            TokenKind::Word if !token.is_first && is_in_statement => {
                // What ends a block may stand behind another op on its line, but not in brackets.
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
