//! Swaps a `stablehlo.slice` and a `stablehlo.reshape`, in either order, if the elements form one box on both
//! sides.

use indexing_map::{Expr, IndexingMap, Verdict, same_function};
use mlir::{ArrayType, OpId};

use crate::along::{Line, digits};
use crate::names::Names;
use crate::numbers::Symbols;
use crate::rewrite::{Rewrite, indent_of, location_of, without_use};
use crate::slice_ops::{defining_op, discardable, is_clean, tensor_type};
use mlir_ops::{OpKind, OpText, Operand, SLICE_BOUNDS, Source};

/// The largest number of points and boxes that a proof examines.
const BUDGET: usize = 8192;

/// The elements taken along one dimension.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Taken {
    start: i64,
    size: i64,
    stride: i64,
}

struct Op {
    operand: Operand,
    from: ArrayType,
    from_shape: Vec<i64>,
    result: String,
    to: ArrayType,
    to_shape: Vec<i64>,
    /// The attributes for the op that then defines the result.
    attributes: String,
}

/// `reshape(slice(x))` in place of `slice(reshape(x))`.
pub fn slice_before_reshape<'a>(source: &'a Source<'a>, op: OpId) -> Option<Rewrite> {
    let (slice, taken) = read_slice(source, op)?;
    let definition = defining_op(source, &slice.operand)?;
    let reshape = read_reshape(source, definition)?;
    (slice.from_shape == reshape.to_shape).then_some(())?;
    let mut box_of_source = Vec::new();
    for (from, to) in factors(&reshape.from_shape, &reshape.to_shape)? {
        let row = row(&slice.from_shape[to.clone()], &taken[to])?;
        box_of_source.extend(box_of(&reshape.from_shape[from], row)?);
    }
    let sizes: Vec<i64> = box_of_source.iter().map(|t| t.size).collect();
    let old = at_reshape(&at_slice(&variables(taken.len()), &taken), &slice.from_shape, &reshape.from_shape);
    let new = at_reshape(&variables(slice.to_shape.len()), &slice.to_shape, &sizes);
    is_same(&slice.to_shape, old, at_slice(&new, &box_of_source))?;

    let mut names = Names::around(source, op);
    let location = location_of(source, op);
    let is_whole = sizes == slice.to_shape;
    let between = reshape.from.with_extents(&sizes.iter().copied().map(Some).collect::<Vec<_>>());
    let (name, attributes, ty) = match is_whole {
        true => (slice.result.clone(), &*slice.attributes, &slice.to),
        false => (names.fresh("slice"), "", &between),
    };
    let mut text = slice_text(&name, attributes, &reshape.operand.name, &box_of_source, (&reshape.from, ty));
    if !is_whole {
        text += &format!(
            "\n{}{} = stablehlo.reshape {name}{} : ({}) -> {}",
            indent_of(source, op),
            slice.result,
            slice.attributes,
            between,
            slice.to
        );
    }
    let edits = edits(source, op, text + &location, &slice.operand, definition);
    let title = "Slice before the reshape".to_owned();
    Some(Rewrite { id: "slice-before-reshape", title, form: None, edits })
}

/// `slice(reshape(x))` in place of `reshape(slice(x))`.
pub fn slice_after_reshape<'a>(source: &'a Source<'a>, op: OpId) -> Option<Rewrite> {
    let reshape = read_reshape(source, op)?;
    let definition = defining_op(source, &reshape.operand)?;
    let (slice, taken) = read_slice(source, definition)?;
    (slice.to_shape == reshape.from_shape).then_some(())?;
    let (mut shape, mut later) = (Vec::new(), Vec::new());
    for (from, to) in factors(&reshape.from_shape, &reshape.to_shape)? {
        let extents = &slice.from_shape[from.clone()];
        let row = row(extents, &taken[from])?;
        let all = extents.iter().try_fold(1i64, |n, &e| n.checked_mul(e))?;
        let (extents, taken) = room(&reshape.to_shape[to], all, row)?;
        shape.extend(extents);
        later.extend(taken);
    }
    let sizes = &reshape.to_shape;
    let old = at_reshape(&variables(sizes.len()), sizes, &reshape.from_shape);
    let new = at_reshape(&at_slice(&variables(later.len()), &later), &shape, &slice.from_shape);
    is_same(sizes, at_slice(&old, &taken), new)?;

    let mut names = Names::around(source, op);
    let name = names.fresh("reshape");
    let whole = slice.from.with_extents(&shape.iter().copied().map(Some).collect::<Vec<_>>());
    let text = format!(
        "{name} = stablehlo.reshape {} : ({}) -> {}\n{}{}{}",
        slice.operand.name,
        slice.from,
        whole,
        indent_of(source, op),
        slice_text(&reshape.result, &reshape.attributes, &name, &later, (&whole, &reshape.to)),
        location_of(source, op)
    );
    let edits = edits(source, op, text, &reshape.operand, definition);
    let title = "Slice after the reshape".to_owned();
    Some(Rewrite { id: "slice-after-reshape", title, form: None, edits })
}

fn edits<'a>(
    source: &'a Source<'a>,
    op: OpId,
    text: String,
    operand: &Operand,
    definition: OpId,
) -> Vec<(text::Span, String)> {
    let mut edits = vec![(source.parse.op(op).span, text)];
    edits.extend(without_use(source, operand, definition));
    edits.sort_by_key(|(span, _)| span.start);
    edits
}

fn slice_text(
    name: &str,
    attributes: &str,
    of: &str,
    taken: &[Taken],
    (from, to): (&ArrayType, &ArrayType),
) -> String {
    let entry = |t: &Taken| {
        // The limit is one past the last taken element.
        let limit = t.start + (t.size - 1) * t.stride + 1;
        match t.stride {
            1 => format!("{}:{limit}", t.start),
            stride => format!("{}:{limit}:{stride}", t.start),
        }
    };
    let entries: Vec<String> = taken.iter().map(entry).collect();
    let (from, to) = (&from, &to);
    format!("{name} = stablehlo.slice {of} [{}]{attributes} : ({from}) -> {to}", entries.join(", "))
}

// ---------------------------------------------------------------- reading

fn read<'a>(source: &'a Source<'a>, op: OpId, kind: OpKind<'_>, attributes: &[&str]) -> Option<Op> {
    let parse = source.parse;
    if source.op(op) != kind || !is_clean(source, op) {
        return None;
    }
    let attributes = discardable(source, op, attributes)?;
    let at = parse.op(op).span.start;
    let ty = |ty: mlir::TypeRef| {
        let written = parse.type_text(ty, source.text)?;
        tensor_type(source, &written, at).filter(|t| t.rest.is_empty())
    };
    let from = ty(*parse.types(&parse.op(op).operand_types).first()?)?;
    let to = ty(*parse.types(&parse.op(op).result_types).first()?)?;
    let results = parse.op(op).results.clone();
    let result = parse.values[results.start as usize..results.end as usize].first()?;
    let (from_shape, to_shape) = (from.static_extents()?, to.static_extents()?);
    let count = |shape: &[i64]| shape.iter().try_fold(1i64, |n, &e| n.checked_mul(e));
    count(&from_shape).and(count(&to_shape)).filter(|_| from.element == to.element)?;
    (results.len() == 1 && from_shape.iter().chain(&to_shape).all(|&e| e > 0)).then_some(())?;
    Some(Op {
        operand: OpText::new(source, op)?.operands().first()?.clone(),
        result: result.name.of(source.text).to_owned(),
        from,
        from_shape,
        to,
        to_shape,
        attributes,
    })
}

fn read_reshape<'a>(source: &'a Source<'a>, op: OpId) -> Option<Op> {
    let read = read(source, op, OpKind::StatedReshape, &[])?;
    (read.from_shape.iter().product::<i64>() == read.to_shape.iter().product()).then_some(read)
}

fn read_slice<'a>(source: &'a Source<'a>, op: OpId) -> Option<(Op, Vec<Taken>)> {
    let read = read(source, op, OpKind::BoundedSlice, &SLICE_BOUNDS)?;
    let bounds = OpText::new(source, op)?.slice_bounds()?;
    let mut taken = Vec::new();
    for ([start, limit, stride], &extent) in bounds.iter().copied().zip(&read.from_shape) {
        if start < 0 || stride < 1 || limit > extent || limit <= start {
            return None;
        }
        taken.push(Taken { start, size: (limit - 1 - start) / stride + 1, stride });
    }
    let sizes: Vec<i64> = taken.iter().map(|t| t.size).collect();
    (bounds.len() == read.from_shape.len() && sizes == read.to_shape).then_some((read, taken))
}

// ---------------------------------------------------------------- boxes and rows

type Range = std::ops::Range<usize>;

/// Pairs of dimension runs with equal products, as short as possible, of two shapes with the same number of
/// elements.
fn factors(a: &[i64], b: &[i64]) -> Option<Vec<(Range, Range)>> {
    let (mut i, mut j) = (0, 0);
    let mut found = Vec::new();
    while i < a.len() || j < b.len() {
        let (first, second) = (i, j);
        let (mut x, mut y) = (1i64, 1i64);
        if i < a.len() {
            x = a[i];
            i += 1;
        }
        if j < b.len() {
            y = b[j];
            j += 1;
        }
        while x != y {
            if x < y {
                x = x.checked_mul(*a.get(i)?)?;
                i += 1;
            } else {
                y = y.checked_mul(*b.get(j)?)?;
                j += 1;
            }
        }
        found.push((first..i, second..j));
    }
    Some(found)
}

/// The evenly spaced elements that a box of these extents takes in linear order; `None` if they are not
/// evenly spaced.
fn row(extents: &[i64], taken: &[Taken]) -> Option<Taken> {
    let mut start = 0i64;
    for (extent, t) in extents.iter().zip(taken) {
        start = start.checked_mul(*extent)?.checked_add(t.start)?;
    }
    let inner = |k: usize| extents[k + 1..].iter().product::<i64>();
    let large: Vec<usize> = (0..taken.len()).filter(|&k| taken[k].size > 1).collect();
    match large.as_slice() {
        [] => Some(Taken { start, size: 1, stride: 1 }),
        [k] => Some(Taken { start, size: taken[*k].size, stride: taken[*k].stride * inner(*k) }),
        [first, ..] => {
            let is_whole = |k: usize| taken[k] == Taken { start: 0, size: extents[k], stride: 1 };
            let fits = taken[*first].stride == 1 && (first + 1..taken.len()).all(is_whole);
            fits.then(|| Taken { start, size: taken[*first].size * inner(*first), stride: 1 })
        }
    }
}

/// The box in these extents that holds evenly spaced elements; `None` if they do not form one.
fn box_of(extents: &[i64], row: Taken) -> Option<Vec<Taken>> {
    if extents.is_empty() {
        return Some(Vec::new());
    }
    let symbols = Symbols::default();
    let line = Line {
        extents: extents.iter().map(|&e| Expr::Const(e)).collect(),
        offset: Expr::Const(row.start),
        size: Expr::Const(row.size),
        stride: Expr::Const(row.stride),
        symbols: &symbols,
    };
    let (_, along) = line.straight()?;
    let taken = |k: usize| {
        Some(Taken {
            start: along.offsets[k].value().as_const()?,
            size: along.sizes[k].as_const()?,
            stride: along.strides[k].as_const()?,
        })
    };
    (0..extents.len()).map(taken).collect()
}

/// A shape of `all` elements, and a slice of it with these sizes that takes this row.
fn room(sizes: &[i64], all: i64, row: Taken) -> Option<(Vec<i64>, Vec<Taken>)> {
    let mut taken: Vec<Taken> = sizes.iter().map(|&size| Taken { start: 0, size, stride: 1 }).collect();
    let mut extents = sizes.to_vec();
    if row == (Taken { start: 0, size: all, stride: 1 }) {
        return Some((extents, taken));
    }
    let k = sizes.iter().position(|&size| size > 1).or(sizes.len().checked_sub(1))?;
    let inner: i64 = sizes[k + 1..].iter().product();
    if inner > 1 && row.stride != 1 || row.start % inner != 0 || all % inner != 0 {
        return None;
    }
    extents[k] = all / inner;
    taken[k] = Taken { start: row.start / inner, size: sizes[k], stride: row.stride };
    Some((extents, taken))
}

// ---------------------------------------------------------------- proof

fn variables(rank: usize) -> Vec<Expr> {
    (0..rank).map(Expr::var).collect()
}

/// The index that a slice reads for an index of its result.
fn at_slice(index: &[Expr], taken: &[Taken]) -> Vec<Expr> {
    index.iter().zip(taken).map(|(i, t)| i.clone() * t.stride + t.start).collect()
}

/// The index that a reshape reads for an index of its result.
fn at_reshape(index: &[Expr], result: &[i64], operand: &[i64]) -> Vec<Expr> {
    let linear = index.iter().zip(result).fold(Expr::ZERO, |n, (i, &extent)| n * extent + i.clone());
    digits(&linear, &operand.iter().map(|&e| Expr::Const(e)).collect::<Vec<_>>())
}

fn is_same(shape: &[i64], old: Vec<Expr>, new: Vec<Expr>) -> Option<()> {
    let (old, new) = (IndexingMap::from_sizes(shape, &[], old), IndexingMap::from_sizes(shape, &[], new));
    (same_function(&old, &new, BUDGET) == Verdict::Yes).then_some(())
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use crate::extract_from_collapse::tests::check;

    #[test]
    fn slices_go_in_front_of_reshapes() {
        check(
            "%1 = stablehlo.reshape %0 : (tensor<10x10x100xf32>) -> tensor<100x100xf32>
%2 = stablehlo.slice %1 [20:30, 0:100:2] : (tensor<100x100xf32>) -> tensor<10x50xf32>
",
            "Slice before the reshape",
            expect![[r#"
                %slice = stablehlo.slice %0 [2:3, 0:10, 0:99:2] : (tensor<10x10x100xf32>) -> tensor<1x10x50xf32>
                %2 = stablehlo.reshape %slice : (tensor<1x10x50xf32>) -> tensor<10x50xf32>
            "#]],
        );
    }

    #[test]
    fn slices_go_behind_reshapes() {
        check(
            "%1 = \"stablehlo.slice\"(%0) <{start_indices = array<i64: 2, 0>, limit_indices = array<i64: 4, 12>, strides = array<i64: 1, 1>}> : (tensor<8x12xf32>) -> tensor<2x12xf32>
%2 = stablehlo.reshape %1 : (tensor<2x12xf32>) -> tensor<6x4xf32>
",
            "Slice after the reshape",
            expect![[r#"
                %reshape = stablehlo.reshape %0 : (tensor<8x12xf32>) -> tensor<24x4xf32>
                %2 = stablehlo.slice %reshape [6:12, 0:4] : (tensor<24x4xf32>) -> tensor<6x4xf32>
            "#]],
        );
    }

    #[test]
    fn what_is_no_box_on_the_other_side_stays() {
        check(
            "%1 = stablehlo.reshape %0 : (tensor<6x4xf32>) -> tensor<24xf32>
%2 = stablehlo.slice %1 [3:9] : (tensor<24xf32>) -> tensor<6xf32>
",
            "",
            expect![[r#"
                %1 = stablehlo.reshape %0 : (tensor<6x4xf32>) -> tensor<24xf32>
                %2 = stablehlo.slice %1 [3:9] : (tensor<24xf32>) -> tensor<6xf32>
            "#]],
        );
    }
}
