//! Resolves names: values by scope, blocks by region, and the names that the text of an op binds.

use rustc_hash::{FxHashMap, FxHashSet};
use text::Span;

use crate::lexer::TokenKind;
use crate::segmenter::{Binder, Event, Mention, NO_OP, Segmenter};
use crate::stretches::Stretches;
use crate::tree::*;
use crate::words::without_result;

/// The visible definition of a name.
#[derive(Clone, Copy)]
struct Entry {
    value: ValueId,
    /// The innermost isolated op around the definition. The name is visible only where this op is innermost,
    /// too.
    isolation: OpId,
    /// As numbered by [`Stretches`]; else [`BOUND`] or [`BOUND_BY_ISOLATED`].
    scope: usize,
}

/// The scope of names that an op binds: none.
const BOUND: usize = usize::MAX;

/// As [`BOUND`], for isolated ops. Another piece may start after a function or module in the body, and does
/// not see these names.
const BOUND_BY_ISOLATED: usize = usize::MAX - 1;

struct Mark {
    undo: usize,
    isolation: OpId,
    part: Option<usize>,
    is_behind_unit: bool,
}

struct Scopes<'t> {
    entries: FxHashMap<&'t str, Entry>,
    undo: Vec<(&'t str, Option<Entry>)>,
    marks: Vec<Mark>,
    isolation: OpId,
    /// The index in [`Parse::function_parts`] of the cut function whose names are visible.
    part: Option<usize>,
    /// Whether the names of a text or module body are visible, and a function or module has started in it.
    is_behind_unit: bool,
}

impl<'t> Scopes<'t> {
    fn enter(&mut self) {
        let Scopes { isolation, part, is_behind_unit, .. } = *self;
        self.marks.push(Mark { undo: self.undo.len(), isolation, part, is_behind_unit });
    }

    fn leave(&mut self) {
        let Some(mark) = self.marks.pop() else { return };
        for (name, before) in self.undo.drain(mark.undo..).rev() {
            match before {
                Some(entry) => self.entries.insert(name, entry),
                None => self.entries.remove(name),
            };
        }
        self.isolation = mark.isolation;
        self.part = mark.part;
        self.is_behind_unit = mark.is_behind_unit;
    }

    fn find(&self, name: &str) -> Option<ValueId> {
        let entry = self.entries.get(name).filter(|e| e.isolation == self.isolation)?;
        let is_hidden = self.is_behind_unit && entry.scope == BOUND_BY_ISOLATED;
        (!is_hidden).then_some(entry.value)
    }

    fn define(&mut self, name: &'t str, value: ValueId, scope: usize) {
        let before = self.entries.insert(name, Entry { value, isolation: self.isolation, scope });
        self.undo.push((name, before));
    }

    /// The value that the scope has already defined under this name.
    fn find_in(&self, name: &str, scope: usize) -> Option<ValueId> {
        self.entries.get(name).filter(|e| e.scope == scope).map(|e| e.value)
    }
}

/// `%a` of `%a#1`.
fn base(text: &str, span: Span) -> (&str, Span) {
    let letters = span.of(text);
    let name = without_result(letters);
    (name, Span { start: span.start, end: span.start + name.len() as u32 })
}

/// Resolves all names. For `foreign` see [`parse_among`](crate::parse_among).
pub(crate) fn resolve<'t>(mut seg: Segmenter<'t>, foreign: &FxHashSet<(usize, &str)>) -> Parse {
    let text: &'t str = seg.tokens.text;
    let stretches = Stretches::of(&seg.out, text);
    let mut next_stretch = 0;
    let (defined, starts) = by_scope(&seg.out, &stretches);
    let defined_in = |scope: usize| &defined[starts[scope] as usize..starts[scope + 1] as usize];
    let regions = seg.out.regions.len();
    let mut scopes = Scopes {
        entries: FxHashMap::default(),
        undo: Vec::new(),
        marks: Vec::new(),
        isolation: NO_OP,
        part: None,
        is_behind_unit: false,
    };
    let bodies: Vec<RegionId> = seg.out.part_bodies().collect();
    let part_of = |region: RegionId| bodies.iter().position(|&body| body == region);
    // Names defined in other pieces are visible in the part.
    let is_foreign =
        |part: Option<usize>, name: &str| part.is_some_and(|part| foreign.contains(&(part, name)));
    let mut uses: Vec<Use> = Vec::with_capacity(seg.mentions.len());
    let mut split = 0;
    let mut redefinitions = Vec::new();
    let mut maybe_operands: Vec<(usize, Span)> = Vec::new();
    let mut enter = |scopes: &mut Scopes<'t>, seg: &Segmenter<'t>, scope: usize| {
        scopes.enter();
        let part = part_of(scope as RegionId);
        if seg.out.regions.get(scope).is_some_and(|r| seg.out.is_cut_function(r.op)) {
            scopes.part = part;
        }
        for &value in defined_in(scope) {
            let name = seg.out.values[value as usize].name.of(text);
            if is_foreign(part, name) {
                continue;
            }
            // A name refers to the first of its definitions.
            match scopes.find_in(name, scope) {
                Some(first) => redefinitions.push((value, first)),
                None => scopes.define(name, value, scope),
            }
        }
    };
    enter(&mut scopes, &seg, regions);
    for event in std::mem::take(&mut seg.events) {
        match event {
            Event::Split => {
                split += 1;
                scopes.leave();
                enter(&mut scopes, &seg, regions + split);
            }
            Event::OpStart(op) => {
                cancel::tick();
                if let Some(stretch) = stretches.starting_with(op, &mut next_stretch) {
                    scopes.leave();
                    enter(&mut scopes, &seg, stretch);
                    scopes.is_behind_unit = true;
                }
                scopes.enter();
                if seg.out.ops[op as usize].is_isolated {
                    scopes.isolation = op;
                    scopes.part = None;
                    scopes.is_behind_unit = false;
                }
            }
            Event::OpEnd | Event::Exit => scopes.leave(),
            Event::Enter(region) => enter(&mut scopes, &seg, region as usize),
            Event::Mention(index) => {
                let mention = seg.mentions[index as usize];
                let span = seg.tokens.all[mention.token as usize].span;
                let (name, name_span) = base(text, span);
                let found = scopes.find(name);
                let is_known = found.is_some() || is_foreign(scopes.part, name);
                if binds(&seg.out, mention, is_known) {
                    if let Some(part) = scopes.part
                        && !seg.out.ops[mention.op as usize].is_isolated
                        && binds_unknown(mention)
                    {
                        maybe_operands.push((part, name_span));
                    }
                    let value = seg.bind(mention, name_span, &scopes);
                    // If another piece defines the name of this argument in the body of the cut function,
                    // uses refer to that definition.
                    let is_of_body = |&body: &RegionId| {
                        seg.out.regions[body as usize].op == mention.op && is_foreign(part_of(body), name)
                    };
                    if !bodies.iter().any(is_of_body) {
                        let is_isolated = seg.out.ops[mention.op as usize].is_isolated;
                        scopes.define(name, value, if is_isolated { BOUND_BY_ISOLATED } else { BOUND });
                    }
                    continue;
                }
                let in_front = mention.token < seg.type_columns[mention.op as usize];
                let is_operand = mention.depth <= 1 && in_front && mention.binder != Binder::Listed;
                let is_external = scopes.part.is_some() && found.is_none();
                let may_be_above = scopes.is_behind_unit && found.is_none();
                uses.push(Use { span, op: mention.op, value: found, is_operand, is_external, may_be_above });
            }
        }
    }
    seg.out.redefinitions = redefinitions;
    seg.out.maybe_operands = maybe_operands;
    sort_uses(&mut seg.out, uses);
    let mut out = finish(seg);
    resolve_blocks(&mut out, text, foreign);
    out
}

/// Whether a mention introduces the name.
fn binds(out: &Parse, mention: Mention, is_known: bool) -> bool {
    let op = &out.ops[mention.op as usize];
    let has_region = op.first_region.is_some();
    match mention.binder {
        Binder::No => false,
        Binder::Typed => op.is_isolated || has_region && !is_known,
        Binder::Initialised => has_region,
        Binder::Listed => has_region && !is_known,
    }
}

/// Whether a mention introduces the name only if it is not yet defined.
fn binds_unknown(mention: Mention) -> bool {
    matches!(mention.binder, Binder::Typed | Binder::Listed)
}

impl Segmenter<'_> {
    fn bind(&mut self, mention: Mention, name: Span, scopes: &Scopes<'_>) -> ValueId {
        let at = mention.token as usize;
        let types = self.out.types.len() as u32;
        let end = self.tokens.all.len();
        let ty = match mention.binder {
            Binder::Typed => {
                let behind = self.type_end(at + 2, end);
                (behind > at + 2).then(|| TypeRef::Written(self.span(at + 2, behind)))
            }
            Binder::Initialised if self.tokens.kind(at + 2) == Some(TokenKind::Value) => {
                let span = self.tokens.all[at + 2].span;
                let (name, short) = base(self.tokens.text, span);
                let index = Span { start: (short.end + 1).min(span.end), ..span }.of(self.tokens.text);
                match scopes.find(name) {
                    Some(value) => Some(TypeRef::SameAs(value, index.parse().unwrap_or(0))),
                    None => scopes.part.map(|_| TypeRef::Elsewhere(span)),
                }
            }
            _ => Some(TypeRef::Index),
        };
        self.out.types.extend(ty);
        let id = self.out.values.len() as ValueId;
        self.out.values.push(Value {
            name,
            definition: Definition::Binder(mention.op),
            count: 1,
            types: types..self.out.types.len() as u32,
        });
        id
    }
}

/// The values grouped by the scope that defines them, in text order in each group, and the start of each
/// group.
fn by_scope(out: &Parse, stretches: &Stretches) -> (Vec<ValueId>, Vec<u32>) {
    let scope_of = |value: &Value| {
        let block = match value.definition {
            Definition::Result(op) => out.ops[op as usize].block,
            Definition::BlockArgument(block) => Some(block),
            Definition::Binder(_) => None,
        };
        let region = block.map(|block| out.blocks[block as usize].region);
        stretches.at(out, region, value.name.start)
    };
    let keys: Vec<usize> = out.values.iter().map(scope_of).collect();
    group(&keys, stretches.count())
}

/// The indices of `keys`, stably sorted by key, and the start of each key among them.
fn group(keys: &[usize], count: usize) -> (Vec<u32>, Vec<u32>) {
    let mut starts = vec![0u32; count + 1];
    keys.iter().for_each(|&key| starts[key + 1] += 1);
    (0..count).for_each(|key| starts[key + 1] += starts[key]);
    let mut next = starts.clone();
    let mut sorted = vec![0u32; keys.len()];
    for (index, &key) in keys.iter().enumerate() {
        sorted[next[key] as usize] = index as u32;
        next[key] += 1;
    }
    (sorted, starts)
}

fn sort_uses(out: &mut Parse, uses: Vec<Use>) {
    let keys: Vec<usize> = uses.iter().map(|u| u.op as usize).collect();
    let (sorted, starts) = group(&keys, out.ops.len());
    out.uses = sorted.into_iter().map(|index| uses[index as usize]).collect();
    for (id, op) in out.ops.iter_mut().enumerate() {
        op.uses = starts[id]..starts[id + 1];
    }
}

fn finish(mut seg: Segmenter<'_>) -> Parse {
    let mut definitions: Vec<u32> = std::mem::take(&mut seg.definitions);
    definitions.sort_unstable();
    let mut defined = definitions.iter().map(|&at| seg.tokens.all[at as usize].span.start).peekable();
    seg.out.symbols.sort_by_key(|s| s.span.start);
    for symbol in &mut seg.out.symbols {
        while defined.next_if(|&start| start < symbol.span.start).is_some() {}
        if defined.peek() == Some(&symbol.span.start) {
            symbol.is_definition = true;
        }
    }
    let mut out = seg.out;
    out.aliases.sort_by_key(|a| a.span.start);
    out.errors.sort_by_key(|e| (e.span.start, e.span.end));
    out.errors.dedup();
    out
}

fn resolve_blocks(out: &mut Parse, text: &str, foreign: &FxHashSet<(usize, &str)>) {
    if out.successors.is_empty() {
        return;
    }
    let mut labels: FxHashMap<(RegionId, &str), BlockId> = FxHashMap::default();
    let bodies: Vec<RegionId> = out.part_bodies().collect();
    let part_of = |region: RegionId| bodies.iter().position(|&body| body == region);
    for (id, block) in out.blocks.iter().enumerate().filter(|(_, b)| !b.label.is_empty()) {
        let label = block.label.of(text);
        if part_of(block.region).is_none_or(|part| !foreign.contains(&(part, label))) {
            labels.entry((block.region, label)).or_insert(id as BlockId);
        }
    }
    for successor in &mut out.successors {
        let Some(block) = out.ops.get(successor.op as usize).and_then(|op| op.block) else { continue };
        let region = out.blocks[block as usize].region;
        successor.block = labels.get(&(region, successor.span.of(text))).copied();
        successor.is_external = successor.block.is_none() && part_of(region).is_some();
    }
}
