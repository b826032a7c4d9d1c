//! A text as flat arrays: its ops, regions, blocks, values and types, and the definitions of its names.

use std::borrow::Cow;
use std::ops::Range;

use text::{Span, SyntaxError};

use crate::array_type::element_type;
use crate::words::unquoted;

pub type OpId = u32;
pub type RegionId = u32;
pub type BlockId = u32;
pub type ValueId = u32;

/// The syntactic form of an op.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// `stablehlo.add %a, %b : tensor<4xf32>`
    Custom,
    /// `"stablehlo.add"(%a, %b) : (…) -> …`
    Generic,
    /// `#map = …`, `!array = …`: not an op, but in the place of one.
    Alias,
    /// `{-# … #-}`
    Resources,
}

#[derive(Debug, Clone)]
pub struct Op {
    /// From the first result, or the name, to the end of the location.
    pub span: Span,
    /// Includes the quotes in the generic form. Empty if it is missing.
    pub name: Span,
    pub form: Form,
    /// The containing block; `None` at the top level.
    pub block: Option<BlockId>,
    /// The id after the last op inside this one.
    pub behind: OpId,
    /// One value per result, or per result pack.
    pub results: Range<ValueId>,
    /// A range of [`Parse::uses`], in text order.
    pub uses: Range<u32>,
    pub first_region: Option<RegionId>,
    /// A range of [`Parse::attributes`].
    pub attributes: Range<u32>,
    /// A range of [`Parse::types`].
    pub operand_types: Range<u32>,
    /// A range of [`Parse::types`].
    pub result_types: Range<u32>,
    /// Up to the first region, or to the end: the part that a hover shows of an op with regions.
    pub head: Span,
    /// `loc(…)`, or empty.
    pub location: Span,
    /// Whether its regions do not see outside values.
    pub is_isolated: bool,
}

#[derive(Debug, Clone)]
pub struct Region {
    pub op: OpId,
    /// Includes the braces. A region that is not closed in this piece ends with the piece.
    pub span: Span,
    pub first_block: Option<BlockId>,
    /// The next region of the op.
    pub next: Option<RegionId>,
    /// Whether a brace closes it.
    pub is_closed: bool,
}

#[derive(Debug, Clone)]
pub struct Block {
    pub region: RegionId,
    /// `^bb0`, or empty for the first block of a region.
    pub label: Span,
    pub arguments: Range<ValueId>,
    /// Its first op is the first from here whose block this is.
    pub first_op: OpId,
    pub next: Option<BlockId>,
}

/// The definition of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Definition {
    Result(OpId),
    BlockArgument(BlockId),
    /// A name that an op's text binds for its regions: arguments of a function, variables of a loop.
    Binder(OpId),
}

#[derive(Debug, Clone)]
pub struct Value {
    /// `%name`, without the count of a result pack.
    pub name: Span,
    pub definition: Definition,
    /// The number of results of the name: `%0:2`.
    pub count: u32,
    /// A range of [`Parse::types`]: one per result, fewer if some are not written.
    pub types: Range<u32>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Use {
    /// Includes the `#1` of a result pack.
    pub span: Span,
    pub op: OpId,
    pub value: Option<ValueId>,
    /// Whether it is in operand position: before the types, in at most one pair of brackets.
    pub is_operand: bool,
    /// Whether the name is not defined here and the enclosing function continues in other pieces, which may
    /// define it.
    pub is_external: bool,
    /// Whether the use is outside of functions and after one, so that a value of this name may be defined
    /// before that function.
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

/// The end of a region that a piece above opens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Closing {
    /// The brace, or the empty span where it is missing.
    pub span: Span,
    pub is_closed: bool,
}

/// A type, written or derived.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TypeRef {
    Written(Span),
    /// The element type of a written type.
    ElementOf(Span),
    /// A written type with the element type `i1`.
    I1Like(Span),
    /// `[0, 1] : vector<4x8xf32>, …`: the first written type, with the length of the list.
    Listed(Span),
    Index,
    I1,
    I32,
    /// The type of a result of another value: the value, and the index in its pack.
    SameAs(ValueId, u32),
    /// The type of a value in another piece, by its name with the `#1` of a result pack.
    Elsewhere(Span),
}

/// A definition or use of a name with `@`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SymbolMention {
    /// Includes the `@`, or is the text between the quotes of a `sym_name`.
    pub span: Span,
    pub op: OpId,
    pub is_definition: bool,
    /// Whether it is a part of `@a::@b` other than the first.
    pub is_nested: bool,
}

/// A definition or use of `#map` or `!array`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AliasMention {
    pub span: Span,
    pub op: OpId,
    pub is_definition: bool,
}

/// A successor block of an op.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Successor {
    pub span: Span,
    pub op: OpId,
    pub block: Option<BlockId>,
    /// As in [`Use`].
    pub is_external: bool,
}

/// The parse of a piece. Offsets are relative to the piece.
///
/// Owner: the memo of its piece; replaced when the text of the piece changes. Size: some 250 bytes per op, so
/// 250 MB for a million ops, whose text has 100 MB or more.
#[derive(Debug, Clone, Default)]
pub struct Parse {
    /// In text order; ops inside an op follow it.
    pub ops: Vec<Op>,
    pub regions: Vec<Region>,
    pub blocks: Vec<Block>,
    pub values: Vec<Value>,
    /// By op, and in text order for each.
    pub uses: Vec<Use>,
    pub attributes: Vec<Attribute>,
    pub types: Vec<TypeRef>,
    /// In text order.
    pub symbols: Vec<SymbolMention>,
    /// In text order.
    pub aliases: Vec<AliasMention>,
    /// In text order.
    pub successors: Vec<Successor>,
    /// Values whose name is already defined in their region: the second and the first.
    pub redefinitions: Vec<(ValueId, ValueId)>,
    /// The starts of independent parts of the text, after `// -----`.
    pub splits: Vec<u32>,
    /// In text order.
    pub errors: Vec<SyntaxError>,
    /// The number of leading placeholder ops for modules and a function that pieces above open, outermost
    /// first. They have no name and one region each, of the same number, which starts with the piece.
    pub continued: u32,
    /// The last placeholder, if it is a function.
    pub continued_function: Option<OpId>,
    /// The body of the function that is open at the end of the piece and may continue in the next one.
    pub open_body: Option<RegionId>,
    /// The number of placeholders that are open at the end of the piece.
    pub open_above: u32,
    /// The ends of regions of pieces above, in text order: innermost first.
    pub closed_above: Vec<Closing>,
    /// Bodies of modules and of a function that start here and end in a piece below, outermost first.
    pub open_below: Vec<RegionId>,
    /// The [`maybe_operands`](crate::FunctionPart::maybe_operands) of each function part, with its number.
    pub(crate) maybe_operands: Vec<(usize, Span)>,
}

impl Parse {
    /// Frees unused capacity: a parse is kept as long as its text.
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

    /// Whether the op is a part of a cut function.
    pub fn is_cut_function(&self, id: OpId) -> bool {
        let open = self.open_body.map(|region| self.regions[region as usize].op);
        self.continued_function == Some(id) || open == Some(id)
    }

    /// The bodies that continue from the piece above, and in the piece below.
    pub fn cut_bodies(&self) -> [Option<RegionId>; 2] {
        // A placeholder has one region, of its own number.
        [self.continued_function, self.open_body]
    }

    /// Whether the op is a placeholder for one of a piece above.
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

    /// The value of an attribute in any syntax. Properties take precedence.
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

    /// The ops of a block, without nested ones.
    pub fn ops_of(&self, block: BlockId) -> impl Iterator<Item = OpId> + '_ {
        let first = self.blocks[block as usize].first_op;
        self.siblings(first, Some(block))
    }

    /// The top-level ops of the piece.
    pub fn top_ops(&self) -> impl Iterator<Item = OpId> + '_ {
        self.siblings(0, None)
    }

    fn siblings(&self, first: OpId, block: Option<BlockId>) -> impl Iterator<Item = OpId> + '_ {
        let is_here = move |id: &OpId| self.ops.get(*id as usize).is_some_and(|op| op.block == block);
        std::iter::successors(Some(first).filter(is_here), move |id| {
            Some(self.op(*id).behind).filter(is_here)
        })
    }

    /// The parent op.
    pub fn parent(&self, id: OpId) -> Option<OpId> {
        let block = self.op(id).block?;
        Some(self.regions[self.blocks[block as usize].region as usize].op)
    }

    /// The innermost op at `offset`; the end of its span counts.
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

    /// The type of the `index`-th result of a value, as text.
    pub fn type_of<'t>(&self, value: ValueId, index: usize, text: &'t str) -> Option<Cow<'t, str>> {
        let types = self.types(&self.values.get(value as usize)?.types);
        self.type_text(*types.get(index)?, text)
    }

    /// The type that a chain of [`TypeRef::SameAs`] ends in.
    pub fn followed(&self, ty: TypeRef) -> Option<TypeRef> {
        let mut ty = ty;
        // Chains of bound names may be long; a name in a cycle has no type.
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

    /// The value whose defining name is at `offset`.
    pub fn value_at(&self, offset: usize) -> Option<ValueId> {
        self.values.iter().position(|value| value.name.contains(offset)).map(|id| id as ValueId)
    }

    /// The opening brace of a region.
    pub fn brace(&self, region: RegionId) -> Span {
        let start = self.regions[region as usize].span.start;
        Span { start, end: start + 1 }
    }
}

/// `vector<2x8xf32>` for `[0, 1] : vector<4x8xf32>, vector<4x8xf32>`; a vector of rank 0 has one element.
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
