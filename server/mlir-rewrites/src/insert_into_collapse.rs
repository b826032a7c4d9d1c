//! Rewrites `tensor.insert_slice` into a `tensor.collapse_shape` to an insertion into the source, if the
//! elements form one box.

use mlir::OpId;

use crate::extract_from_collapse::in_numbers;
use crate::names::Names;
use crate::plan::straight;
use crate::proof::is_proven;
use crate::rewrite::{Rewrite, indent_of, location_of, without_use};
use crate::slice_ops::{ReshapeOp, SliceOp, defining_op};
use crate::slice_text::{groups_text, kept_axes, lists_of, note_names, shape_of, variables};
use crate::write::{Writer, joined};
use mlir_ops::Source;

/// The replacement of the insertion `op`.
pub fn insert_into_collapse<'a>(source: &'a Source<'a>, op: OpId) -> Option<Rewrite> {
    let insert = SliceOp::insert(source, op)?;
    let into = insert.into.clone()?;
    let collapse = defining_op(source, &into)?;
    let reshape = ReshapeOp::collapse(source, collapse)?;
    if !insert.result_type.is_like(&reshape.result_type) {
        return None;
    }
    let slice = in_numbers(source, &insert, &reshape)?;
    let code = straight(&slice).filter(|code| is_proven(&slice, code))?;
    let part = code.parts.first()?;
    let mut names = Names::around(source, op);
    let mut writer = Writer::new(&mut names, variables(&slice, &[]));
    note_names(&slice, &mut writer);
    let lists = lists_of(&slice, part, &mut writer);
    let kept = kept_axes(&slice, part);
    let (mut window, mut window_type) = (insert.source.name.clone(), insert.source_type.clone());
    if kept.iter().any(|axes| axes.len() > 1) {
        let shape = shape_of(&slice, part);
        let axes = kept.iter().flatten();
        let sizes: Vec<String> = axes.clone().map(|&axis| lists[1][axis].clone()).collect();
        let expanded = window_type.with_extents(&axes.map(|&axis| shape[axis]).collect::<Vec<_>>());
        let name = writer.names.fresh("expanded");
        writer.head.push(format!(
            "{name} = tensor.expand_shape {window} {} output_shape [{}] : {} into {}",
            groups_text(kept.iter().map(Vec::len)),
            sizes.join(", "),
            window_type,
            expanded
        ));
        (window, window_type) = (name, expanded);
    }
    let inserted = writer.names.fresh("inserted");
    let [offsets, sizes, strides] = lists.map(|list| list.join(", "));
    let source_type = &slice.source_type;
    writer.head.push(format!(
        "{inserted} = tensor.insert_slice {window} into {}[{offsets}] [{sizes}] [{strides}] : {} into {source_type}",
        slice.source, window_type
    ));
    writer.head.push(format!(
        "{} = tensor.collapse_shape {inserted} {}{} : {source_type} into {}{}",
        insert.result,
        groups_text(slice.groups.iter().map(Vec::len)),
        insert.attributes,
        insert.result_type,
        location_of(source, op)
    ));
    let mut edits = vec![(source.parse.op(op).span, joined(&writer.head, indent_of(source, op)))];
    edits.extend(without_use(source, &into, collapse));
    edits.sort_by_key(|(span, _)| span.start);
    let title = "Insert into what was collapsed".to_owned();
    Some(Rewrite { id: "insert-before-collapse", title, form: Some(code.form), edits })
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use crate::extract_from_collapse::tests::check;

    #[test]
    fn a_box_is_inserted_before_it_is_collapsed() {
        check(
            "func.func @f(%x: tensor<3x4x5xf32>, %s: tensor<10xf32>) -> tensor<60xf32> {
  %y = tensor.collapse_shape %x [[0, 1, 2]] : tensor<3x4x5xf32> into tensor<60xf32>
  %z = tensor.insert_slice %s into %y[30] [10] [1] : tensor<10xf32> into tensor<60xf32>
  return %z : tensor<60xf32>
}
",
            "Insert into what was collapsed",
            expect![[r#"
                func.func @f(%x: tensor<3x4x5xf32>, %s: tensor<10xf32>) -> tensor<60xf32> {
                  %expanded = tensor.expand_shape %s [[0, 1]] output_shape [2, 5] : tensor<10xf32> into tensor<2x5xf32>
                  %inserted = tensor.insert_slice %expanded into %x[1, 2, 0] [1, 2, 5] [1, 1, 1] : tensor<2x5xf32> into tensor<3x4x5xf32>
                  %z = tensor.collapse_shape %inserted [[0, 1, 2]] : tensor<3x4x5xf32> into tensor<60xf32>
                  return %z : tensor<60xf32>
                }
            "#]],
        );
    }
}
