//! Rewrites `tensor.extract_slice` of `tensor.collapse_shape` to slices of the source.
//!
//! The cases are those of the RFC "extracting slices from tensor.collapse_shape". If the elements form a few
//! boxes there is no loop; if they form blocks the loop is over blocks.

use indexing_map::{Expr, Interval};
use mlir::OpId;

use crate::along::product;
use crate::code::SliceOfCollapse;
use crate::names::Names;
use crate::numbers::{LARGEST, Symbol, SymbolName, Symbols};
use crate::plan::plans;
use crate::rewrite::{Rewrite, indent_of, location_of, without_use};
use crate::slice_ops::{ReshapeOp, SliceOp, defining_op};
use crate::slice_text::{ResultText, text};
use crate::values::Values;
use mlir_ops::{Operand, Source};

/// The replacements of the slice `op`; empty if it is not a slice of a collapsed tensor.
pub fn extract_from_collapse<'a>(source: &'a Source<'a>, op: OpId) -> Vec<Rewrite> {
    let Some((slice, extract, collapse)) = read(source, op) else { return Vec::new() };
    let removed = without_use(source, &extract.source, collapse);
    let rewrites = plans(&slice).into_iter().map(|code| {
        let mut names = Names::around(source, op);
        let result = ResultText {
            name: &extract.result,
            attributes: &extract.attributes,
            location: &location_of(source, op),
        };
        let new = text(&slice, &code, &result, indent_of(source, op), &mut names);
        let mut edits = vec![(source.parse.op(op).span, new)];
        edits.extend(removed.clone());
        edits.sort_by_key(|(span, _)| span.start);
        Rewrite { id: ids(code.loops.len()), title: code.title(), form: Some(code.form), edits }
    });
    rewrites.collect()
}

fn ids(loops: usize) -> &'static str {
    if loops > 0 { "slices-in-a-loop" } else { "slices" }
}

/// The parameters of the slice, its op, and the collapsing op.
fn read<'a>(source: &'a Source<'a>, op: OpId) -> Option<(SliceOfCollapse, SliceOp, OpId)> {
    let extract = SliceOp::extract(source, op)?;
    let collapse = defining_op(source, &extract.source)?;
    let reshape = ReshapeOp::collapse(source, collapse)?;
    if !extract.source_type.is_like(&reshape.result_type) {
        return None;
    }
    let slice = in_numbers(source, &extract, &reshape)?;
    Some((slice, extract, collapse))
}

/// The parameters of the slice that `op` extracts from a collapsed tensor or inserts into it.
pub(crate) fn in_numbers<'a>(
    source: &'a Source<'a>,
    op: &SliceOp,
    reshape: &ReshapeOp,
) -> Option<SliceOfCollapse> {
    let (collapsed, window) = match &op.into {
        Some(into) => (into, &op.source_type),
        None => (&op.source, &op.result_type),
    };
    let is_dropped = op.dropped().filter(|dropped| !dropped.is_empty())?;
    // Other extents need other encodings, and only those in the text are known.
    if reshape.source_type.rest != window.rest && is_dropped.contains(&true) {
        return None;
    }
    let mut symbols = Symbols::default();
    let extents: Vec<Expr> = (0..reshape.source_type.rank())
        .map(|axis| match reshape.source_type.extents[axis] {
            Some(extent) => Expr::Const(extent),
            None => {
                let name = SymbolName::Extent(axis);
                symbols.variable(Symbol { name, divisor: 1, bounds: Interval::new(1, LARGEST) })
            }
        })
        .collect();
    let of_group = |group: &[usize]| product(&group.iter().map(|&a| extents[a].clone()).collect::<Vec<_>>());
    let known = |tensor: &Operand, axis: i64| {
        let axis = usize::try_from(axis).ok()?;
        match () {
            () if tensor == collapsed => reshape.groups.get(axis).map(|group| of_group(group)),
            () if *tensor == reshape.source => extents.get(axis).cloned(),
            () => None,
        }
    };
    let values = Values { source, extents: &known };
    let sizes = op.lists.sizes.iter().map(|n| values.size(n, &mut symbols)).collect();
    let offsets = op.lists.offsets.iter().map(|n| values.number(n, &mut symbols)).collect();
    let strides = op.lists.strides.iter().map(|n| values.number(n, &mut symbols)).collect();
    let slice = SliceOfCollapse {
        source: reshape.source.name.clone(),
        source_type: reshape.source_type.clone(),
        groups: reshape.groups.clone(),
        extents,
        offsets,
        sizes,
        strides,
        is_dropped,
        result_type: window.clone(),
        symbols,
    };
    is_in_bounds(&slice).then_some(slice)
}

/// Whether the slice is not empty and in bounds, as far as known. Otherwise no rewrite is offered.
fn is_in_bounds(slice: &SliceOfCollapse) -> bool {
    let is_some = |e: &Expr| e.as_const().is_none_or(|n| n > 0);
    slice.extents.iter().all(is_some)
        && (0..slice.rank()).all(|dim| {
            let (offset, size, stride) =
                (&slice.offsets[dim].expr, &slice.sizes[dim].expr, &slice.strides[dim].expr);
            let all = product(&slice.group_extents(dim));
            let last = || {
                let steps = size.as_const()?.checked_sub(1)?.checked_mul(stride.as_const()?)?;
                offset.as_const()?.checked_add(steps)
            };
            is_some(size)
                && stride.as_const().is_none_or(|s| s > 0)
                && offset.as_const().is_none_or(|o| o >= 0)
                && last().is_none_or(|last| all.as_const().is_none_or(|all| last < all))
        })
}

#[cfg(test)]
pub(crate) mod tests {
    use expect_test::{Expect, expect};
    use mlir::{PieceState, parse};

    use super::*;
    use crate::rewrite::rewrites;

    /// A slice of `tensor<3x5x7xf32>` as a line of 105 elements. `%n` is any number, `%m` a multiple of 7.
    pub(crate) fn read_one(lists: &str) -> SliceOfCollapse {
        let count = lists.split('[').nth(2).and_then(|l| l.split(']').next()).unwrap_or_default();
        let text = format!(
            "\
func.func @f(%x: tensor<3x5x7xf32>, %n: index) {{
  %m = affine.apply affine_map<(d0) -> (d0 * 7)>(%n)
  %y = tensor.collapse_shape %x [[0, 1, 2]] : tensor<3x5x7xf32> into tensor<105xf32>
  %z = tensor.extract_slice %y{lists} : tensor<105xf32> to tensor<{count}xf32>
}}
"
        );
        let parsed = parse(&text, PieceState::default());
        let source = Source::alone(&parsed, &text);
        let found = (0..parsed.ops.len() as OpId).find_map(|op| read(&source, op));
        found.expect("there is a slice").0
    }

    /// Compares the text after the first offered rewrite of the first op that has one.
    #[track_caller]
    pub(crate) fn check(body: &str, title: &str, expect: Expect) {
        let parsed = parse(body, PieceState::default());
        let source = Source::alone(&parsed, body);
        let offered = (0..parsed.ops.len() as OpId).map(|op| rewrites(&source, op));
        let offered = offered.into_iter().find(|o| !o.is_empty()).unwrap_or_default();
        let titles: Vec<&str> = offered.iter().map(|r| &*r.title).collect();
        assert_eq!(titles.join(", "), title);
        let mut text = body.to_owned();
        for (span, insert) in offered.first().iter().flat_map(|r| r.edits.iter().rev()) {
            text.replace_range(span.range(), insert);
        }
        expect.assert_eq(&text);
    }

    /// From the RFC: tiles of rows are rows of the source.
    #[test]
    fn tiles_of_a_loop_are_one_slice() {
        check(
            "func.func @f(%1: tensor<10x10x100xf32>) {
  %c0 = arith.constant 0 : index
  %c100 = arith.constant 100 : index
  %c10 = arith.constant 10 : index
  %2 = tensor.collapse_shape %1 [[0, 1], [2]] : tensor<10x10x100xf32> into tensor<100x100xf32>
  scf.for %iv = %c0 to %c100 step %c10 {
    %slice = tensor.extract_slice %2[%iv, 0] [10, 100] [1, 1] : tensor<100x100xf32> to tensor<10x100xf32>
    test.use %slice : tensor<10x100xf32>
  }
}
",
            "Replace by 1 slice",
            expect![[r#"
                func.func @f(%1: tensor<10x10x100xf32>) {
                  %c0 = arith.constant 0 : index
                  %c100 = arith.constant 100 : index
                  %c10 = arith.constant 10 : index
                  scf.for %iv = %c0 to %c100 step %c10 {
                    %apply = affine.apply affine_map<(d0) -> (d0 floordiv 10)>(%iv)
                    %slice = tensor.extract_slice %1[%apply, 0, 0] [1, 10, 100] [1, 1, 1] : tensor<10x10x100xf32> to tensor<10x100xf32>
                    test.use %slice : tensor<10x100xf32>
                  }
                }
            "#]],
        );
    }

    /// From upstream's tests.
    #[test]
    fn strided_elements_are_a_loop() {
        check(
            "func.func @extract_slice_static_strided(%input: tensor<3x5x7x11xf32>) -> tensor<10x5xf32> {
  %collapsed = tensor.collapse_shape %input [[0, 1, 2], [3]] : tensor<3x5x7x11xf32> into tensor<105x11xf32>
  %slice = tensor.extract_slice %collapsed [13, 0] [10, 5] [2, 2] : tensor<105x11xf32> to tensor<10x5xf32>
  return %slice : tensor<10x5xf32>
}
",
            "Replace by a loop over 10 elements",
            expect![[r#"
                func.func @extract_slice_static_strided(%input: tensor<3x5x7x11xf32>) -> tensor<10x5xf32> {
                  %init = tensor.empty() : tensor<10x5xf32>
                  %c0 = arith.constant 0 : index
                  %c1 = arith.constant 1 : index
                  %c10 = arith.constant 10 : index
                  %c3 = arith.constant 3 : index
                  %c5 = arith.constant 5 : index
                  %c7 = arith.constant 7 : index
                  %slice = scf.for %iv = %c0 to %c10 step %c1 iter_args(%acc = %init) -> (tensor<10x5xf32>) {
                    %linear = affine.apply affine_map<(d0) -> (d0 * 2 + 13)>(%iv)
                    %index:3 = affine.delinearize_index %linear into (%c3, %c5, %c7) : index, index, index
                    %slice_0 = tensor.extract_slice %input[%index#0, %index#1, %index#2, 0] [1, 1, 1, 5] [1, 1, 1, 2] : tensor<3x5x7x11xf32> to tensor<1x5xf32>
                    %inserted = tensor.insert_slice %slice_0 into %acc[%iv, 0] [1, 5] [1, 1] : tensor<1x5xf32> into tensor<10x5xf32>
                    scf.yield %inserted : tensor<10x5xf32>
                  }
                  return %slice : tensor<10x5xf32>
                }
            "#]],
        );
    }

    #[test]
    fn a_few_boxes_are_inserted_one_after_the_other() {
        check(
            "func.func @f(%x: tensor<3x5x7xf32>) -> tensor<25xf32> {
  %y = tensor.collapse_shape %x [[0, 1, 2]] : tensor<3x5x7xf32> into tensor<105xf32>
  \"test.use\"(%y) : (tensor<105xf32>) -> ()
  %z = tensor.extract_slice %y[13] [25] [1] : tensor<105xf32> to tensor<25xf32> loc(\"here\")
  return %z : tensor<25xf32>
}
",
            "Replace by 3 slices, Replace by a loop over 25 elements",
            expect![[r#"
                func.func @f(%x: tensor<3x5x7xf32>) -> tensor<25xf32> {
                  %y = tensor.collapse_shape %x [[0, 1, 2]] : tensor<3x5x7xf32> into tensor<105xf32>
                  "test.use"(%y) : (tensor<105xf32>) -> ()
                  %init = tensor.empty() : tensor<25xf32>
                  %slice = tensor.extract_slice %x[0, 1, 6] [1, 1, 1] [1, 1, 1] : tensor<3x5x7xf32> to tensor<1xf32>
                  %inserted = tensor.insert_slice %slice into %init[0] [1] [1] : tensor<1xf32> into tensor<25xf32>
                  %slice_0 = tensor.extract_slice %x[0, 2, 0] [1, 3, 7] [1, 1, 1] : tensor<3x5x7xf32> to tensor<3x7xf32>
                  %collapsed = tensor.collapse_shape %slice_0 [[0, 1]] : tensor<3x7xf32> into tensor<21xf32>
                  %inserted_0 = tensor.insert_slice %collapsed into %inserted[1] [21] [1] : tensor<21xf32> into tensor<25xf32>
                  %slice_1 = tensor.extract_slice %x[1, 0, 0] [1, 1, 3] [1, 1, 1] : tensor<3x5x7xf32> to tensor<3xf32>
                  %z = tensor.insert_slice %slice_1 into %inserted_0[22] [3] [1] : tensor<3xf32> into tensor<25xf32> loc("here")
                  return %z : tensor<25xf32>
                }
            "#]],
        );
    }

    #[test]
    fn blocks_are_a_loop_and_extents_are_asked_for() {
        check(
            "!x = tensor<?x?x4x6xf32>
func.func @f(%x: !x, %o: index, %n: index) {
  %y = tensor.collapse_shape %x [[0, 1], [2, 3]] : !x into tensor<?x24xf32>
  %s = affine.apply affine_map<(d0) -> (d0 * 3)>(%n)
  %z = \"tensor.extract_slice\"(%y, %o, %s) <{operandSegmentSizes = array<i32: 1, 1, 1, 0>, static_offsets = array<i64: -9223372036854775808, 3>, static_sizes = array<i64: 2, -9223372036854775808>, static_strides = array<i64: 1, 1>}> : (tensor<?x24xf32>, index, index) -> tensor<2x?xf32>
  test.use %z : tensor<2x?xf32>
}
",
            "Replace by 2 nested loops over blocks",
            expect![[r#"
                !x = tensor<?x?x4x6xf32>
                func.func @f(%x: !x, %o: index, %n: index) {
                  %s = affine.apply affine_map<(d0) -> (d0 * 3)>(%n)
                  %init = tensor.empty(%s) : tensor<2x?xf32>
                  %c0 = arith.constant 0 : index
                  %c1 = arith.constant 1 : index
                  %c2 = arith.constant 2 : index
                  %dim = tensor.dim %x, %c0 : !x
                  %dim_0 = tensor.dim %x, %c1 : !x
                  %c4 = arith.constant 4 : index
                  %c6 = arith.constant 6 : index
                  %z = scf.for %iv = %c0 to %c2 step %c1 iter_args(%acc = %init) -> (tensor<2x?xf32>) {
                    %nested = scf.for %iv_0 = %c0 to %n step %c1 iter_args(%acc_0 = %acc) -> (tensor<2x?xf32>) {
                      %linear = affine.apply affine_map<(d0, d1) -> (d0 + d1)>(%o, %iv)
                      %index:2 = affine.delinearize_index %linear into (%dim, %dim_0) : index, index
                      %linear_0 = affine.apply affine_map<(d0) -> (d0 * 3 + 3)>(%iv_0)
                      %index_0:2 = affine.delinearize_index %linear_0 into (%c4, %c6) : index, index
                      %slice = tensor.extract_slice %x[%index#0, %index#1, %index_0#0, %index_0#1] [1, 1, 1, 3] [1, 1, 1, 1] : !x to tensor<1x3xf32>
                      %linear_1 = affine.apply affine_map<(d0) -> (d0 * 3)>(%iv_0)
                      %inserted = tensor.insert_slice %slice into %acc_0[%iv, %linear_1] [1, 3] [1, 1] : tensor<1x3xf32> into tensor<2x?xf32>
                      scf.yield %inserted : tensor<2x?xf32>
                    }
                    scf.yield %nested : tensor<2x?xf32>
                  }
                  test.use %z : tensor<2x?xf32>
                }
            "#]],
        );
    }

    /// Discardable attributes stay with the result.
    #[test]
    fn attributes_stay_with_the_result() {
        let text = |lists: &str| {
            format!(
                "func.func @f(%x: tensor<3x5x7xf32>) {{
  %y = tensor.collapse_shape %x [[0, 1, 2]] {{seen}} : tensor<3x5x7xf32> into tensor<105xf32>
  %z = tensor.extract_slice %y{lists} {{tag = \"here\", \"a.b\"}} : tensor<105xf32> to tensor<{}xf32> loc(#l)
}}
",
                lists.split('[').nth(2).and_then(|l| l.split(']').next()).unwrap_or_default()
            )
        };
        check(
            &text("[70] [35] [1]"),
            "Replace by 1 slice",
            expect![[r#"
            func.func @f(%x: tensor<3x5x7xf32>) {
              %slice = tensor.extract_slice %x[2, 0, 0] [1, 5, 7] [1, 1, 1] : tensor<3x5x7xf32> to tensor<5x7xf32>
              %z = tensor.collapse_shape %slice [[0, 1]] {tag = "here", "a.b"} : tensor<5x7xf32> into tensor<35xf32> loc(#l)
            }
        "#]],
        );
        check(
            &text("[13] [25] [1]"),
            "Replace by 3 slices, Replace by a loop over 25 elements",
            expect![[r#"
                func.func @f(%x: tensor<3x5x7xf32>) {
                  %init = tensor.empty() : tensor<25xf32>
                  %slice = tensor.extract_slice %x[0, 1, 6] [1, 1, 1] [1, 1, 1] : tensor<3x5x7xf32> to tensor<1xf32>
                  %inserted = tensor.insert_slice %slice into %init[0] [1] [1] : tensor<1xf32> into tensor<25xf32>
                  %slice_0 = tensor.extract_slice %x[0, 2, 0] [1, 3, 7] [1, 1, 1] : tensor<3x5x7xf32> to tensor<3x7xf32>
                  %collapsed = tensor.collapse_shape %slice_0 [[0, 1]] : tensor<3x7xf32> into tensor<21xf32>
                  %inserted_0 = tensor.insert_slice %collapsed into %inserted[1] [21] [1] : tensor<21xf32> into tensor<25xf32>
                  %slice_1 = tensor.extract_slice %x[1, 0, 0] [1, 1, 3] [1, 1, 1] : tensor<3x5x7xf32> to tensor<3xf32>
                  %z = tensor.insert_slice %slice_1 into %inserted_0[22] [3] [1] {tag = "here", "a.b"} : tensor<3xf32> into tensor<25xf32> loc(#l)
                }
            "#]],
        );
        check(
            &text("[13] [10] [2]"),
            "Replace by a loop over 10 elements",
            expect![[r#"
            func.func @f(%x: tensor<3x5x7xf32>) {
              %init = tensor.empty() : tensor<10xf32>
              %c0 = arith.constant 0 : index
              %c1 = arith.constant 1 : index
              %c10 = arith.constant 10 : index
              %c3 = arith.constant 3 : index
              %c5 = arith.constant 5 : index
              %c7 = arith.constant 7 : index
              %z = scf.for %iv = %c0 to %c10 step %c1 iter_args(%acc = %init) -> (tensor<10xf32>) {
                %linear = affine.apply affine_map<(d0) -> (d0 * 2 + 13)>(%iv)
                %index:3 = affine.delinearize_index %linear into (%c3, %c5, %c7) : index, index, index
                %slice = tensor.extract_slice %x[%index#0, %index#1, %index#2] [1, 1, 1] [1, 1, 1] : tensor<3x5x7xf32> to tensor<1xf32>
                %inserted = tensor.insert_slice %slice into %acc[%iv] [1] [1] : tensor<1xf32> into tensor<10xf32>
                scf.yield %inserted : tensor<10xf32>
              } {tag = "here", "a.b"} loc(#l)
            }
        "#]],
        );
    }

    #[test]
    fn other_slices_are_left_alone() {
        let text = "func.func @f(%x: tensor<3x5xf32>) {
  %y = tensor.collapse_shape %x [[0, 1]] : tensor<3x5xf32> into tensor<15xf32>
  %z = LINE
}
";
        for line in [
            // Out of bounds.
            "tensor.extract_slice %y[13] [3] [1] : tensor<15xf32> to tensor<3xf32>",
            // The type does not match.
            "tensor.extract_slice %y[3] [4] [1] : tensor<15xf32> to tensor<3xf32>",
            "tensor.extract_slice %y[3] [3] [1] : tensor<16xf32> to tensor<3xf32>",
            // An unknown attribute.
            "tensor.extract_slice %y[3] [3] [1] a = 1 : tensor<15xf32> to tensor<3xf32>",
            "tensor.extract_slice %y[3] [0] [1] : tensor<15xf32> to tensor<0xf32>",
            "tensor.extract_slice %x[0, 3] [1, 1] [1, 1] : tensor<3x5xf32> to tensor<1xf32>",
            "tensor.extract_slice %y[3] [%unknown] [1 : tensor<15xf32> to tensor<?xf32>",
        ] {
            let text = text.replace("LINE", line);
            let parsed = parse(&text, PieceState::default());
            let source = Source::alone(&parsed, &text);
            let offered =
                (0..parsed.ops.len() as OpId).find(|&op| !extract_from_collapse(&source, op).is_empty());
            assert_eq!(offered, None, "{line}");
        }
    }
}
