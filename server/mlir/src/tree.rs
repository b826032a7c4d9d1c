//! A text as flat arrays: what is written, and what its names stand for.

use std::borrow::Cow;
use std::ops::Range;

use text::{Span, SyntaxError};

use crate::shaped::element_type;
use crate::words::unquoted;

pub type OpId = u32;
pub type RegionId = u32;
pub type BlockId = u32;
pub type ValueId = u32;

/// How an op is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// `stablehlo.add %a, %b : tensor<4xf32>`
    Custom,
    /// `"stablehlo.add"(%a, %b) : (…) -> …`
    Generic,
    /// `#map = …`, `!array = …`: no op, but it stands where one does.
    Alias,
    /// `{-# … #-}`
    Resources,
}

#[derive(Debug, Clone)]
pub struct Op {
    /// From the first result, or the name, to the end of the location.
    pub span: Span,
    /// With its quotes in the generic form. Empty where it is missing.
    pub name: Span,
    pub form: Form,
    /// The block that holds it; nothing at the top of a text.
    pub block: Option<BlockId>,
    /// Behind the last op that is inside of this one.
    pub behind: OpId,
    /// One value per result, or per pack of them.
    pub results: Range<ValueId>,
    /// Of [`Parse::uses`], in the order of the text.
    pub uses: Range<u32>,
    pub first_region: Option<RegionId>,
    /// Of [`Parse::attributes`].
    pub attributes: Range<u32>,
    /// Of [`Parse::types`].
    pub operand_types: Range<u32>,
    /// Of [`Parse::types`].
    pub result_types: Range<u32>,
    /// Up to the first region, or to the end: what a hover shows of an op with regions.
    pub head: Span,
    /// `loc(…)`, or empty.
    pub location: Span,
    /// Values of the outside are not seen in its regions.
    pub is_isolated: bool,
}

#[derive(Debug, Clone)]
pub struct Region {
    pub op: OpId,
    /// With its braces. One that is not closed in this piece ends with the piece.
    pub span: Span,
    pub first_block: Option<BlockId>,
    /// The next region of the op.
    pub next: Option<RegionId>,
    /// It is closed where it should be.
    pub is_closed: bool,
}

#[derive(Debug, Clone)]
pub struct Block {
    pub region: RegionId,
    /// `^bb0`, or empty for the first of a region.
    pub label: Span,
    pub arguments: Range<ValueId>,
    /// The first op of it is the first from here whose block this is.
    pub first_op: OpId,
    pub next: Option<BlockId>,
}

/// What defines a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Definition {
    Result(OpId),
    BlockArgument(BlockId),
    /// A name that the text of an op introduces for its regions: arguments of a function, of a loop.
    Binder(OpId),
}

#[derive(Debug, Clone)]
pub struct Value {
    /// `%name`, without the count of a pack.
    pub name: Span,
    pub definition: Definition,
    /// How many results the name has: `%0:2`.
    pub count: u32,
    /// Its types, of [`Parse::types`]: one per result, fewer where they are not written.
    pub types: Range<u32>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Use {
    /// With the `#1` of a result of a pack.
    pub span: Span,
    pub op: OpId,
    pub value: Option<ValueId>,
    /// It stands where operands do: in front of the types, at most in one pair of brackets.
    pub is_operand: bool,
    /// Nothing here has this name, and the function around goes on in other pieces: there it may be defined.
    pub is_external: bool,
    /// The use stands outside of functions, and behind one: a value of this name may be defined in front of that.
    pub may_be_above: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Attribute {
    pub name: Span,
    /// Empty for a unit attribute.
    pub value: Span,
    pub place: AttributePlace,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AttributePlace {
    /// `<{…}>`
    Properties,
    /// `{…}`
    Dictionary,
    /// `dims = [0, 1]` in the custom form.
    Clause,
}

/// What ends a region that a piece above opens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Closing {
    /// The brace, or the empty place where it is missing.
    pub span: Span,
    pub is_closed: bool,
}

/// A type, as it is written or as it follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TypeRef {
    Written(Span),
    /// The element type of a written one.
    ElementOf(Span),
    /// As written, of `i1`.
    I1Like(Span),
    /// `[0, 1] : vector<4x8xf32>, …`: as the first one written, as long as the list.
    Listed(Span),
    Index,
    I1,
    I32,
    /// The type of a result of another value: which one of its pack.
    SameAs(ValueId, u32),
    /// The type of a value of another piece, by its name with the `#1` of a result of a pack.
    Elsewhere(Span),
}

/// A name with `@`: where it is defined, or where it is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SymbolMention {
    /// With its `@`, or the letters between quotes of a `sym_name`.
    pub span: Span,
    pub op: OpId,
    pub is_definition: bool,
    /// A part of `@a::@b` that is not the first.
    pub is_nested: bool,
}

/// `#map` or `!array`: where it is defined, or where it is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AliasMention {
    pub span: Span,
    pub op: OpId,
    pub is_definition: bool,
}

/// A block that an op goes on to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Successor {
    pub span: Span,
    pub op: OpId,
    pub block: Option<BlockId>,
    /// As of a [`Use`].
    pub is_external: bool,
}

/// All of a piece. Offsets are relative to it.
///
/// Owner: the memo of its piece; replaced when the text of the piece changes. Size: some 250 bytes per op, so 250 MB
/// for a million ops, of which a text has 100 MB or more.
#[derive(Debug, Clone, Default)]
pub struct Parse {
    /// In the order of the text; those inside of an op stand behind it.
    pub ops: Vec<Op>,
    pub regions: Vec<Region>,
    pub blocks: Vec<Block>,
    pub values: Vec<Value>,
    /// By op, and in the order of the text for each.
    pub uses: Vec<Use>,
    pub attributes: Vec<Attribute>,
    pub types: Vec<TypeRef>,
    /// In the order of the text.
    pub symbols: Vec<SymbolMention>,
    /// In the order of the text.
    pub aliases: Vec<AliasMention>,
    /// In the order of the text.
    pub successors: Vec<Successor>,
    /// Values whose name their region has given to another one already: the second and the first.
    pub redefinitions: Vec<(ValueId, ValueId)>,
    /// Where parts of the text start that know nothing of what is above: behind `// -----`.
    pub splits: Vec<u32>,
    /// In the order of the text.
    pub errors: Vec<SyntaxError>,
    /// So many ops at the start stand for modules and a function that pieces above open, the outermost first. They have no
    /// name and one region each, of the same number, which starts with the piece.
    pub continued: u32,
    /// The last of those, where it is a function.
    pub continued_function: Option<OpId>,
    /// The body of the function that is open at the end of the piece: it may go on in the next one.
    pub open_body: Option<RegionId>,
    /// So many of those are open at the end of the piece.
    pub open_above: u32,
    /// What ends regions of the pieces above, in the order of the text: the innermost first.
    pub closed_above: Vec<Closing>,
    /// Bodies of modules and of a function that start here and whose end is in a piece below, the outermost first.
    pub open_below: Vec<RegionId>,
    /// Names that are read as new ones because nothing in the piece has them, and which are operands if a piece above defines
    /// them: `ins(%a : T)` of an op with a region, in a function that is cut.
    pub maybe_operands: Vec<Span>,
}

impl Parse {
    /// Gives back what was reserved in vain: a parse is kept as long as its text.
    pub(crate) fn shrink(&mut self) {
        self.ops.shrink_to_fit();
        self.regions.shrink_to_fit();
        self.blocks.shrink_to_fit();
        self.values.shrink_to_fit();
        self.uses.shrink_to_fit();
        self.attributes.shrink_to_fit();
        self.types.shrink_to_fit();
        self.symbols.shrink_to_fit();
        self.aliases.shrink_to_fit();
        self.successors.shrink_to_fit();
    }

    pub fn op(&self, id: OpId) -> &Op {
        &self.ops[id as usize]
    }

    /// Whether the op is a part of a function that goes on in other pieces.
    pub fn is_cut_function(&self, id: OpId) -> bool {
        let open = self.open_body.map(|region| self.regions[region as usize].op);
        self.continued_function == Some(id) || open == Some(id)
    }

    /// The bodies that go on in other pieces: above, and below.
    pub fn cut_bodies(&self) -> [Option<RegionId>; 2] {
        // What is continued has one region, of its own number.
        [self.continued_function, self.open_body]
    }

    /// Whether the op stands for one of a piece above.
    pub fn is_continued(&self, id: OpId) -> bool {
        id < self.continued
    }

    /// The name of an op without quotes: `stablehlo.add`.
    pub fn name<'t>(&self, id: OpId, text: &'t str) -> &'t str {
        unquoted(self.op(id).name.of(text))
    }

    pub fn uses_of(&self, id: OpId) -> &[Use] {
        let range = &self.op(id).uses;
        &self.uses[range.start as usize..range.end as usize]
    }

    pub fn operands_of(&self, id: OpId) -> impl Iterator<Item = &Use> {
        self.uses_of(id).iter().filter(|u| u.is_operand)
    }

    pub fn attributes_of(&self, id: OpId) -> &[Attribute] {
        let range = &self.op(id).attributes;
        &self.attributes[range.start as usize..range.end as usize]
    }

    /// The value of an attribute, wherever it is written. Properties stand in front of others.
    pub fn attribute<'t>(&self, id: OpId, name: &str, text: &'t str) -> Option<&'t str> {
        let found = self.attributes_of(id).iter().find(|a| unquoted(a.name.of(text)) == name)?;
        Some(found.value.of(text))
    }

    pub fn types(&self, range: &Range<u32>) -> &[TypeRef] {
        &self.types[range.start as usize..range.end as usize]
    }

    pub fn regions_of(&self, id: OpId) -> impl Iterator<Item = RegionId> + '_ {
        let next = |r: &RegionId| self.regions[*r as usize].next;
        std::iter::successors(self.op(id).first_region, next)
    }

    pub fn blocks_of(&self, region: RegionId) -> impl Iterator<Item = BlockId> + '_ {
        let next = |b: &BlockId| self.blocks[*b as usize].next;
        std::iter::successors(self.regions[region as usize].first_block, next)
    }

    /// The ops of a block, without those inside of them.
    pub fn ops_of(&self, block: BlockId) -> impl Iterator<Item = OpId> + '_ {
        let first = self.blocks[block as usize].first_op;
        self.siblings(first, Some(block))
    }

    /// The ops at the top of the piece.
    pub fn top_ops(&self) -> impl Iterator<Item = OpId> + '_ {
        self.siblings(0, None)
    }

    fn siblings(&self, first: OpId, block: Option<BlockId>) -> impl Iterator<Item = OpId> + '_ {
        let is_here = move |id: &OpId| self.ops.get(*id as usize).is_some_and(|op| op.block == block);
        std::iter::successors(Some(first).filter(is_here), move |id| {
            Some(self.op(*id).behind).filter(is_here)
        })
    }

    /// The op that holds an op.
    pub fn parent(&self, id: OpId) -> Option<OpId> {
        let block = self.op(id).block?;
        Some(self.regions[self.blocks[block as usize].region as usize].op)
    }

    /// The innermost op at `offset`; its end counts as in it.
    pub fn op_at(&self, offset: usize) -> Option<OpId> {
        let behind = self.ops.partition_point(|op| op.span.start as usize <= offset);
        let mut id = behind.checked_sub(1)? as OpId;
        while !self.op(id).span.contains(offset) {
            id = self.parent(id)?;
        }
        Some(id)
    }

    /// The ops from the outermost to `id`.
    pub fn path_to(&self, id: OpId) -> Vec<OpId> {
        let mut path: Vec<_> = std::iter::successors(Some(id), |&id| self.parent(id)).collect();
        path.reverse();
        path
    }

    /// The type of the `index`-th result of a value, in words.
    pub fn type_of<'t>(&self, value: ValueId, index: usize, text: &'t str) -> Option<Cow<'t, str>> {
        let types = self.types(&self.values.get(value as usize)?.types);
        self.type_text(*types.get(index)?, text)
    }

    /// The type that a value has because another one has it, as that one has it.
    pub fn followed(&self, ty: TypeRef) -> Option<TypeRef> {
        let mut ty = ty;
        // A name that is bound to another one, which may be bound again; one in a circle has no type.
        for _ in 0..32 {
            let TypeRef::SameAs(value, index) = ty else { break };
            ty = *self.types(&self.values.get(value as usize)?.types).get(index as usize)?;
        }
        Some(ty)
    }

    pub fn type_text<'t>(&self, ty: TypeRef, text: &'t str) -> Option<Cow<'t, str>> {
        Some(match self.followed(ty)? {
            TypeRef::Written(span) => Cow::Borrowed(span.of(text)),
            TypeRef::ElementOf(span) => Cow::Borrowed(element_type(span.of(text))?),
            TypeRef::I1Like(span) => match element_type(span.of(text)) {
                Some(element) => {
                    let shaped = span.of(text);
                    let at = shaped.rfind(element)?;
                    Cow::Owned(format!("{}i1{}", &shaped[..at], &shaped[at + element.len()..]))
                }
                None => Cow::Borrowed("i1"),
            },
            TypeRef::Listed(span) => Cow::Owned(listed(span.of(text))?),
            TypeRef::Index => Cow::Borrowed("index"),
            TypeRef::I1 => Cow::Borrowed("i1"),
            TypeRef::I32 => Cow::Borrowed("i32"),
            TypeRef::SameAs(..) | TypeRef::Elsewhere(_) => return None,
        })
    }

    /// The value whose definition is named at `offset`.
    pub fn value_at(&self, offset: usize) -> Option<ValueId> {
        self.values.iter().position(|value| value.name.contains(offset)).map(|id| id as ValueId)
    }

    /// The opening brace of a region.
    pub fn brace(&self, region: RegionId) -> Span {
        let start = self.regions[region as usize].span.start;
        Span { start, end: start + 1 }
    }
}

/// `vector<2x8xf32>` of `[0, 1] : vector<4x8xf32>, vector<4x8xf32>`; a vector without dimensions is one of one element.
fn listed(text: &str) -> Option<String> {
    let (list, types) = text.strip_prefix('[')?.split_once(']')?;
    let count = list.split(',').filter(|element| !element.trim().is_empty()).count();
    let (_, types) = types.split_once(':')?;
    let (_, body) = types.split_once('<').filter(|(head, _)| head.trim() == "vector")?;
    let body = body.split('>').next()?.trim();
    let rest = match body.split_once('x') {
        Some((leading, rest)) if !leading.contains(|c: char| c.is_ascii_alphabetic()) => rest,
        _ => body,
    };
    Some(format!("vector<{count}x{rest}>"))
}
