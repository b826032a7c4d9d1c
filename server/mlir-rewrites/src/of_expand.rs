//! Rewrites slices of a `tensor.expand_shape`, and insertions into one, to slices of its source, if the
//! elements are evenly spaced there.

use indexing_map::{Expr, Interval, Variable};
use mlir::OpId;

use crate::along::product;
use crate::names::Names;
use crate::numbers::{LARGEST, Number, Symbol, SymbolName, Symbols};
use crate::proof::same_places;
use crate::rewrite::{Rewrite, indent_of, location_of, without_use};
use crate::slice_ops::{ReshapeOp, SliceOp, defining_op};
use crate::slice_text::groups_text;
use crate::values::Values;
use crate::write::{Variable as Name, Writer, joined};
use mlir_ops::{Mixed, OpText, Operand, Source};

/// The part of one source dimension that a slice takes.
struct Row {
    offset: Expr,
    size: Expr,
    stride: Expr,
    /// The number of window dimensions that it corresponds to.
    kept: usize,
}

/// The parameters of a slice of an expanded tensor.
struct SliceOfExpand {
    reshape: ReshapeOp,
    extents: Vec<Expr>,
    offsets: Vec<Number>,
    sizes: Vec<Number>,
    strides: Vec<Number>,
    is_dropped: Vec<bool>,
    symbols: Symbols,
    /// The list after `output_shape`, if there is one.
    output_shape: Option<Vec<String>>,
}

/// The replacement of the slice `op`.
pub fn extract_from_expand<'a>(source: &'a Source<'a>, op: OpId) -> Option<Rewrite> {
    let extract = SliceOp::extract(source, op)?;
    let expand = defining_op(source, &extract.source)?;
    let slice = SliceOfExpand::read(source, &extract, &extract.source, expand)?;
    let rows = slice.rows().filter(|rows| slice.is_proven(rows))?;
    let from = &slice.reshape.source_type;
    let mut names = Names::around(source, op);
    let mut writer = slice.writer(&mut names);
    let [offsets, sizes, strides] = lists(&rows, &mut writer);
    let is_expanded = rows.iter().any(|row| row.kept > 1);
    let rows_type = from.with_extents(&row_shape(&rows));
    let (name, attributes, ty) = match is_expanded {
        true => (writer.names.fresh("slice"), "", &rows_type),
        false => (extract.result.clone(), &*extract.attributes, &extract.result_type),
    };
    writer.head.push(format!(
        "{name} = tensor.extract_slice {}[{offsets}] [{sizes}] [{strides}]{attributes} : {} to {}",
        slice.reshape.source.name, from, ty
    ));
    if is_expanded {
        let output_shape = slice.output_shape.as_ref().map(|_| slice.kept_sizes());
        writer.head.push(format!(
            "{} = tensor.expand_shape {name} {}{}{} : {} into {}",
            extract.result,
            groups_text(rows.iter().map(|row| row.kept)),
            output_shape_text(output_shape.as_deref()),
            extract.attributes,
            rows_type,
            extract.result_type
        ));
    }
    let title = "Slice what was expanded".to_owned();
    Some(finish(source, op, &extract.source, expand, writer, ("slice-before-expand", title)))
}

/// The replacement of the insertion `op`.
pub fn insert_into_expand<'a>(source: &'a Source<'a>, op: OpId) -> Option<Rewrite> {
    let insert = SliceOp::insert(source, op)?;
    let into = insert.into.clone()?;
    let expand = defining_op(source, &into)?;
    let slice = SliceOfExpand::read(source, &insert, &into, expand)?;
    let rows = slice.rows().filter(|rows| slice.is_proven(rows))?;
    let to = &slice.reshape.source_type;
    let mut names = Names::around(source, op);
    let mut writer = slice.writer(&mut names);
    let (mut window, mut window_type) = (insert.source.name.clone(), insert.source_type.clone());
    if rows.iter().any(|row| row.kept > 1) {
        let name = writer.names.fresh("collapsed");
        let collapsed = window_type.with_extents(&row_shape(&rows));
        writer.head.push(format!(
            "{name} = tensor.collapse_shape {window} {} : {} into {}",
            groups_text(rows.iter().map(|row| row.kept)),
            window_type,
            collapsed
        ));
        (window, window_type) = (name, collapsed);
    }
    let [offsets, sizes, strides] = lists(&rows, &mut writer);
    let inserted = writer.names.fresh("inserted");
    writer.head.push(format!(
        "{inserted} = tensor.insert_slice {window} into {}[{offsets}] [{sizes}] [{strides}] : {} into {}",
        slice.reshape.source.name, window_type, to
    ));
    writer.head.push(format!(
        "{} = tensor.expand_shape {inserted} {}{}{} : {} into {}",
        insert.result,
        groups_text(slice.reshape.groups.iter().map(Vec::len)),
        output_shape_text(slice.output_shape.as_deref()),
        insert.attributes,
        to,
        insert.result_type
    ));
    let title = "Insert into what was expanded".to_owned();
    Some(finish(source, op, &into, expand, writer, ("insert-before-expand", title)))
}

fn finish<'a>(
    source: &'a Source<'a>,
    op: OpId,
    expanded: &Operand,
    expand: OpId,
    writer: Writer<'_>,
    (id, title): (&'static str, String),
) -> Rewrite {
    let text = joined(&writer.head, indent_of(source, op)) + &location_of(source, op);
    let mut edits = vec![(source.parse.op(op).span, text)];
    edits.extend(without_use(source, expanded, expand));
    edits.sort_by_key(|(span, _)| span.start);
    Rewrite { id, title, form: None, edits }
}

fn output_shape_text(sizes: Option<&[String]>) -> String {
    sizes.map(|sizes| format!(" output_shape [{}]", sizes.join(", "))).unwrap_or_default()
}

/// The shape of the window in the source.
fn row_shape(rows: &[Row]) -> Vec<Option<i64>> {
    rows.iter().filter(|row| row.kept > 0).map(|row| row.size.as_const()).collect()
}

fn lists(rows: &[Row], writer: &mut Writer<'_>) -> [String; 3] {
    let mut lists = [Vec::new(), Vec::new(), Vec::new()];
    for row in rows {
        for (list, expr) in lists.iter_mut().zip([&row.offset, &row.size, &row.stride]) {
            list.push(writer.entry(expr));
        }
    }
    lists.map(|list| list.join(", "))
}

impl SliceOfExpand {
    fn read<'a>(
        source: &'a Source<'a>,
        op: &SliceOp,
        expanded: &Operand,
        expand: OpId,
    ) -> Option<SliceOfExpand> {
        let reshape = ReshapeOp::expand(source, expand)?;
        let (whole, window) = match op.into {
            Some(_) => (&op.result_type, &op.source_type),
            None => (&op.source_type, &op.result_type),
        };
        let encoding = &reshape.source_type.rest;
        if !whole.is_like(&reshape.result_type) || whole.rest != *encoding || window.rest != *encoding {
            return None;
        }
        let text = OpText::new(source, expand)?;
        let entry = |entry: &Mixed| match entry {
            Mixed::Static(n) => n.to_string(),
            Mixed::Dynamic(operand) => operand.name.clone(),
        };
        let output_shape: Option<Vec<String>> =
            text.output_shape().map(|list| list.iter().map(entry).collect());
        let mut symbols = Symbols::default();
        let extents: Vec<Expr> = (0..whole.rank())
            .map(|axis| match whole.extents[axis] {
                Some(extent) => Expr::Const(extent),
                None => symbols.variable(Symbol {
                    name: SymbolName::Extent(axis),
                    divisor: 1,
                    bounds: Interval::new(1, LARGEST),
                }),
            })
            .collect();
        let known = |tensor: &Operand, axis: i64| {
            (tensor == expanded).then(|| extents.get(usize::try_from(axis).ok()?).cloned()).flatten()
        };
        let values = Values { source, extents: &known };
        let mut numbers = |list: &[Mixed], is_size: bool| -> Vec<Number> {
            let read = |n: &Mixed| match is_size {
                true => values.size(n, &mut symbols),
                false => values.number(n, &mut symbols),
            };
            list.iter().map(read).collect()
        };
        let sizes = numbers(&op.lists.sizes, true);
        let offsets = numbers(&op.lists.offsets, false);
        let strides = numbers(&op.lists.strides, false);
        let is_dropped = op.dropped().filter(|dropped| !dropped.is_empty())?;
        let slice =
            SliceOfExpand { reshape, extents, offsets, sizes, strides, is_dropped, symbols, output_shape };
        slice.is_in_bounds().then_some(slice)
    }

    fn is_in_bounds(&self) -> bool {
        (0..self.extents.len()).all(|axis| {
            let all =
                [&self.offsets[axis], &self.sizes[axis], &self.strides[axis]].map(|n| n.expr.as_const());
            let [offset, size, stride] = all;
            let last = || offset?.checked_add(size?.checked_sub(1)?.checked_mul(stride?)?);
            offset.is_none_or(|o| o >= 0)
                && size.is_none_or(|s| s > 0)
                && stride.is_none_or(|s| s > 0)
                && last().is_none_or(|last| self.extents[axis].as_const().is_none_or(|extent| last < extent))
        })
    }

    fn writer<'n>(&self, names: &'n mut Names) -> Writer<'n> {
        // No number in the new code uses extents of the expanded tensor.
        let name = |symbol: &Symbol| match &symbol.name {
            SymbolName::Value(name) => Name::Named(name.clone()),
            SymbolName::Extent(_) => Name::Named(String::new()),
        };
        let mut writer = Writer::new(names, self.symbols.0.iter().map(name).collect());
        for number in self.offsets.iter().chain(&self.sizes).chain(&self.strides) {
            writer.is_called(&number.expr, &number.text);
        }
        writer
    }

    /// The sizes of the window, without dropped dimensions.
    fn kept_sizes(&self) -> Vec<String> {
        let kept = (0..self.extents.len()).filter(|&axis| !self.is_dropped[axis]);
        kept.map(|axis| self.sizes[axis].text.clone()).collect()
    }

    /// The elements along each source dimension; `None` if they are not evenly spaced.
    fn rows(&self) -> Option<Vec<Row>> {
        let rows: Option<Vec<Row>> = self.reshape.groups.iter().map(|group| self.row(group)).collect();
        let uses_extents = |e: &Expr| {
            let mut found = false;
            e.for_each_var(&mut |v| {
                found |= matches!(self.symbols.0[v as usize].name, SymbolName::Extent(_));
            });
            found
        };
        rows.filter(|rows| {
            rows.iter().all(|r| ![&r.offset, &r.size, &r.stride].into_iter().any(uses_extents))
        })
    }

    fn row(&self, group: &[usize]) -> Option<Row> {
        let one = Expr::Const(1);
        let kept = group.iter().filter(|&&axis| !self.is_dropped[axis]).count();
        let inner = |nth: usize| {
            product(&group[nth + 1..].iter().map(|&a| self.extents[a].clone()).collect::<Vec<_>>())
        };
        let mut offset = Expr::ZERO;
        for (nth, &axis) in group.iter().enumerate() {
            offset = offset + self.offsets[axis].expr.clone() * inner(nth);
        }
        let size = |nth: usize| &self.sizes[group[nth]].expr;
        let large: Vec<usize> = (0..group.len()).filter(|&nth| *size(nth) != one).collect();
        let Some(&first) = large.first() else {
            return Some(Row { offset, size: one.clone(), stride: one, kept });
        };
        if large.len() == 1 {
            let stride = self.strides[group[first]].expr.clone() * inner(first);
            return Some(Row { offset, size: size(first).clone(), stride, kept });
        }
        let is_full = |nth: usize| {
            let axis = group[nth];
            self.offsets[axis].expr == Expr::ZERO
                && self.strides[axis].expr == one
                && self.sizes[axis].expr == self.extents[axis]
        };
        let fits = self.strides[group[first]].expr == one && (first + 1..group.len()).all(is_full);
        fits.then(|| Row { offset, size: size(first).clone() * inner(first), stride: one, kept })
    }

    /// Whether the window and the rows are the same positions in the source.
    fn is_proven(&self, rows: &[Row]) -> bool {
        let rank = self.extents.len();
        let translated = |e: &Expr| {
            e.substitute(&mut |v| {
                Some(Expr::var(rank + v as usize) * self.symbols.0[v as usize].divisor.max(1))
            })
        };
        let mut constraints = Vec::new();
        let mut dims = Vec::new();
        for axis in 0..rank {
            let size = translated(&self.sizes[axis].expr);
            match size.as_const() {
                Some(size) => dims.push(Variable::from_size(size)),
                None => {
                    dims.push(Variable::from(Interval::new(0, LARGEST)));
                    constraints.push((Expr::var(axis) - size, Interval::new(i64::MIN, -1)));
                }
            }
        }
        let (mut old, mut new) = (Vec::new(), Vec::new());
        for (group, row) in self.reshape.groups.iter().zip(rows) {
            let (mut from, mut within) = (Expr::ZERO, Expr::ZERO);
            for &axis in group {
                let at = translated(&self.offsets[axis].expr)
                    + Expr::var(axis) * translated(&self.strides[axis].expr);
                from = from * translated(&self.extents[axis]) + at;
                within = within * translated(&self.sizes[axis].expr) + Expr::var(axis);
            }
            old.push(from);
            new.push(translated(&row.offset) + within * translated(&row.stride));
        }
        same_places(&self.symbols, &dims, &constraints, old, new)
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use crate::extract_from_collapse::tests::check;

    #[test]
    fn rows_of_an_expanded_tensor_are_rows_of_its_source() {
        check(
            "func.func @f(%x: tensor<?x20xf32>, %n: index, %i: index) -> tensor<2x5xf32> {
  %y = tensor.expand_shape %x [[0, 1], [2, 3]] output_shape [%n, 8, 4, 5] : tensor<?x20xf32> into tensor<?x8x4x5xf32>
  %z = tensor.extract_slice %y[%i, 3, 1, 0] [1, 1, 2, 5] [1, 1, 1, 1] : tensor<?x8x4x5xf32> to tensor<2x5xf32>
  return %z : tensor<2x5xf32>
}
",
            "Slice what was expanded",
            expect![[r#"
                func.func @f(%x: tensor<?x20xf32>, %n: index, %i: index) -> tensor<2x5xf32> {
                  %apply = affine.apply affine_map<(d0) -> (d0 * 8 + 3)>(%i)
                  %slice = tensor.extract_slice %x[%apply, 5] [1, 10] [1, 1] : tensor<?x20xf32> to tensor<10xf32>
                  %z = tensor.expand_shape %slice [[0, 1]] output_shape [2, 5] : tensor<10xf32> into tensor<2x5xf32>
                  return %z : tensor<2x5xf32>
                }
            "#]],
        );
    }

    #[test]
    fn insertions_go_where_the_rows_are() {
        check(
            "func.func @f(%x: tensor<60xf32>, %s: tensor<2x5xf32>) -> tensor<3x4x5xf32> {
  %y = tensor.expand_shape %x [[0, 1, 2]] output_shape [3, 4, 5] : tensor<60xf32> into tensor<3x4x5xf32>
  %z = tensor.insert_slice %s into %y[1, 2, 0] [1, 2, 5] [1, 1, 1] : tensor<2x5xf32> into tensor<3x4x5xf32>
  return %z : tensor<3x4x5xf32>
}
",
            "Insert into what was expanded",
            expect![[r#"
                func.func @f(%x: tensor<60xf32>, %s: tensor<2x5xf32>) -> tensor<3x4x5xf32> {
                  %collapsed = tensor.collapse_shape %s [[0, 1]] : tensor<2x5xf32> into tensor<10xf32>
                  %inserted = tensor.insert_slice %collapsed into %x[30] [10] [1] : tensor<10xf32> into tensor<60xf32>
                  %z = tensor.expand_shape %inserted [[0, 1, 2]] output_shape [3, 4, 5] : tensor<60xf32> into tensor<3x4x5xf32>
                  return %z : tensor<3x4x5xf32>
                }
            "#]],
        );
    }

    #[test]
    fn what_lies_in_no_row_stays() {
        check(
            "%y = tensor.expand_shape %x [[0, 1]] output_shape [3, 4] : tensor<12xf32> into tensor<3x4xf32>
%z = tensor.extract_slice %y[0, 0] [3, 2] [1, 1] : tensor<3x4xf32> to tensor<3x2xf32>
",
            "",
            expect![[r#"
                %y = tensor.expand_shape %x [[0, 1]] output_shape [3, 4] : tensor<12xf32> into tensor<3x4xf32>
                %z = tensor.extract_slice %y[0, 0] [3, 2] [1, 1] : tensor<3x4xf32> to tensor<3x2xf32>
            "#]],
        );
    }
}
