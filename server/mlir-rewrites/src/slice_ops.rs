//! Slice and reshape ops, read from the text.

use mlir::{ArrayKind, ArrayType, AttributePlace, OpId};

use mlir_ops::{Mixed, OPERAND_SEGMENTS, OpKind, OpText, Operand, SliceLists, Source};

/// A `tensor.extract_slice`, or a `tensor.insert_slice` with its destination.
#[derive(Debug, Clone)]
pub(crate) struct SliceOp {
    /// The tensor that is sliced or, for an insertion, the inserted one.
    pub(crate) source: Operand,
    pub(crate) source_type: ArrayType,
    /// The destination of an insertion.
    pub(crate) into: Option<Operand>,
    pub(crate) lists: SliceLists,
    pub(crate) result: String,
    pub(crate) result_type: ArrayType,
    /// The discardable attributes, for the op that then defines the result ([`discardable`]).
    pub(crate) attributes: String,
}

/// A `tensor.collapse_shape` or `tensor.expand_shape`.
#[derive(Debug, Clone)]
pub(crate) struct ReshapeOp {
    pub(crate) source: Operand,
    pub(crate) source_type: ArrayType,
    pub(crate) groups: Vec<Vec<usize>>,
    pub(crate) result_type: ArrayType,
}

/// The name and type of an op's only result.
fn result<'a>(source: &'a Source<'a>, op: OpId) -> Option<(String, ArrayType)> {
    let parse = source.parse;
    let results = parse.op(op).results.clone();
    let value = &parse.values[results.start as usize..results.end as usize];
    let [value] = value else { return None };
    let written = parse.type_of(results.start, 0, source.text)?;
    (value.count == 1).then_some(())?;
    let ty = tensor_type(source, &written, value.name.start)?;
    Some((value.name.of(source.text).to_owned(), ty))
}

/// The type that an op states for one of its operands.
fn operand_type<'a>(source: &'a Source<'a>, op: OpId, nth: usize) -> Option<ArrayType> {
    let parse = source.parse;
    let ty = *parse.types(&parse.op(op).operand_types).get(nth)?;
    let written = parse.type_text(ty, source.text)?;
    tensor_type(source, &written, parse.op(op).span.start)
}

/// The tensor type written at an offset; `None` if its rank exceeds [`MAX_RANK`].
pub(crate) fn tensor_type<'a>(source: &'a Source<'a>, written: &str, at: u32) -> Option<ArrayType> {
    let is_usual = |ty: &ArrayType| ty.kind == ArrayKind::Tensor && ty.rank() <= MAX_RANK;
    source.array(written, at).ok().filter(is_usual)
}

const MAX_RANK: usize = 64;

/// Whether an op was parsed without a syntax error.
pub(crate) fn is_clean<'a>(source: &'a Source<'a>, op: OpId) -> bool {
    let errors = &source.parse.errors;
    let span = source.parse.op(op).span;
    // An earlier error may be about a bracket that extends to here, so errors up to `ERRORS_IN_FRONT` bytes
    // before the op count too.
    let first = errors.partition_point(|e| e.span.start < span.start.saturating_sub(ERRORS_IN_FRONT));
    errors.get(first).is_none_or(|e| e.span.start > span.end)
}

const ERRORS_IN_FRONT: u32 = 400;

/// The attributes of an op other than `known`, in the custom form: empty, or ` {a = 1, b}` with a leading
/// space. `None` if one of them is not discardable, because its meaning is unknown.
pub(crate) fn discardable<'a>(source: &'a Source<'a>, op: OpId, known: &[&str]) -> Option<String> {
    let mut found = Vec::new();
    for attribute in source.parse.attributes_of(op) {
        let name = attribute.name.of(source.text);
        if known.contains(&name.trim_matches('"')) {
            continue;
        }
        if attribute.place != AttributePlace::Dictionary {
            return None;
        }
        found.push(match attribute.value.of(source.text) {
            "" => name.to_owned(),
            value => format!("{name} = {value}"),
        });
    }
    Some(if found.is_empty() { String::new() } else { format!(" {{{}}}", found.join(", ")) })
}

impl SliceOp {
    /// `None` if `op` is not a `tensor.extract_slice` that can be replaced.
    pub(crate) fn extract<'a>(source: &'a Source<'a>, op: OpId) -> Option<SliceOp> {
        SliceOp::read(source, op, OpKind::ExtractSlice)
    }

    pub(crate) fn insert<'a>(source: &'a Source<'a>, op: OpId) -> Option<SliceOp> {
        SliceOp::read(source, op, OpKind::InsertSlice)
    }

    fn read<'a>(source: &'a Source<'a>, op: OpId, kind: OpKind<'_>) -> Option<SliceOp> {
        if source.op(op) != kind || !is_clean(source, op) {
            return None;
        }
        let attributes =
            discardable(source, op, &[&OPERAND_SEGMENTS[..], &SliceLists::ATTRIBUTES[..]].concat())?;
        let text = OpText::new(source, op)?;
        let is_insert = kind == OpKind::InsertSlice;
        let operands = text.operands();
        let into = if is_insert { Some(operands.get(1)?.clone()) } else { None };
        let (result, result_type) = result(source, op)?;
        let lists = SliceLists::read(&text, 1 + usize::from(is_insert))?;
        let source_type = operand_type(source, op, 0)?;
        let whole = if is_insert { &result_type } else { &source_type };
        let is_whole = |list: &Vec<Mixed>| list.len() == whole.rank();
        let fits = [&lists.offsets, &lists.sizes, &lists.strides].into_iter().all(is_whole)
            && source_type.element == result_type.element;
        fits.then_some(())?;
        let source = operands.first()?.clone();
        Some(SliceOp { source, source_type, into, lists, result, result_type, attributes })
    }

    /// Which dimensions of the larger tensor the window drops; `None` if the types do not match the sizes.
    pub(crate) fn dropped(&self) -> Option<Vec<bool>> {
        let window = if self.into.is_some() { &self.source_type } else { &self.result_type };
        let kept = self.lists.kept(window).ok()?;
        Some(kept.into_iter().map(|is_kept| !is_kept).collect())
    }
}

impl ReshapeOp {
    pub(crate) fn collapse<'a>(source: &'a Source<'a>, op: OpId) -> Option<ReshapeOp> {
        let found = ReshapeOp::read(source, op, OpKind::Collapse)?;
        found.fits(&found.source_type, &found.result_type).then_some(found)
    }

    pub(crate) fn expand<'a>(source: &'a Source<'a>, op: OpId) -> Option<ReshapeOp> {
        let found = ReshapeOp::read(source, op, OpKind::Expand)?;
        found.fits(&found.result_type, &found.source_type).then_some(found)
    }

    fn read<'a>(source: &'a Source<'a>, op: OpId, kind: OpKind<'_>) -> Option<ReshapeOp> {
        if source.op(op) != kind || !is_clean(source, op) {
            return None;
        }
        let text = OpText::new(source, op)?;
        let groups = text.reassociation().ok()?;
        let (_, result_type) = result(source, op)?;
        Some(ReshapeOp {
            source: text.operands().first()?.clone(),
            source_type: operand_type(source, op, 0)?,
            groups,
            result_type,
        })
    }

    /// Whether the groups contain all dimensions of the expanded tensor in order, and the products of extents
    /// match.
    fn fits(&self, expanded: &ArrayType, collapsed: &ArrayType) -> bool {
        let axes: Vec<usize> = self.groups.concat();
        axes.into_iter().eq(0..expanded.rank())
            && expanded.element == collapsed.element
            && self.groups.len() == collapsed.rank()
            && self.groups.iter().zip(&collapsed.extents).all(|(group, extent)| {
                let product =
                    group.iter().try_fold(Some(1i64), |n, &axis| match (n, expanded.extents[axis]) {
                        (Some(n), Some(extent)) => n.checked_mul(extent).map(Some),
                        _ => Some(None),
                    });
                !group.is_empty() && product == Some(*extent)
            })
    }
}

/// The op that defines an operand as its only result.
pub(crate) fn defining_op<'a>(source: &'a Source<'a>, operand: &Operand) -> Option<OpId> {
    let value = source.parse.values.get(operand.value? as usize)?;
    match value.definition {
        mlir::Definition::Result(op) if value.count == 1 => Some(op),
        _ => None,
    }
}
