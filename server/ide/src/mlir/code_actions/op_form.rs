//! Converts an op to its generic form, `"stablehlo.add"(%a, %b) : (T, T) -> T`, and back, if its custom form
//! is certain.

mod body;
mod by_format;
mod custom_form;
mod layouts;
mod products;

use mlir::{Form, OpId, Parse, tokens};
use mlir_hlo::custom_form;
use syntax::Span;

use crate::code_actions::{Actions, Change, CodeActionKind};
use crate::file_context::FileContext;
use crate::{TextEdit, TextRange};
use body::Body;
use by_format::Said;
use layouts::{Layout, layout};

pub(super) fn offer(context: &FileContext<'_>, range: &TextRange, actions: &mut Actions<'_>) {
    let Some(at) = context.op_at(range.start) else { return };
    let read = context.mlir_piece(at.piece);
    let Some((span, insert)) = other_form(&read.parse, at.id, &read.text) else { return };
    let (id, title) = match read.parse.op(at.id).form {
        Form::Custom => ("to-generic-form", "generic form"),
        _ => ("to-custom-form", "custom form"),
    };
    actions.offer(id, format!("Write in the {title}"), CodeActionKind::RefactorRewrite, || {
        Some(Change::Edits(vec![TextEdit { range: context.range(at.piece, span), insert }]))
    });
}

/// The op in the other form, from its name to its types; `None` where that is not certain.
fn other_form(parse: &Parse, id: OpId, text: &str) -> Option<(Span, String)> {
    let op = parse.op(id);
    let name = parse.name(id, text);
    let by_layout = layout(name);
    let by_form = custom_form(name);
    let is_call = matches!(by_layout, Some((Layout::Call, _)));
    if by_layout.is_none() && by_form.is_none()
        || op.first_region.is_some()
        || op.results.len() > 1 && !is_call
    {
        return None;
    }
    let end = if op.location.is_empty() { op.span.end } else { op.location.start };
    let (all, _) = tokens(text, op.name.end as usize, end as usize, false);
    let body = Body { text, all: &all, at: 0 };
    let insert = match (op.form, by_layout, by_form) {
        (Form::Custom, Some((layout, operands)), _) => body.generic(name, layout, operands),
        (Form::Generic, Some((layout, operands)), _) => body.custom(name, layout, operands),
        (Form::Custom, None, Some(form)) => Said::of_custom(body, &form).map(|said| said.generic(name)),
        (Form::Generic, None, Some(form)) => {
            Said::of_generic(body, (parse, id), &form).and_then(|said| said.custom(name, &form))
        }
        _ => None,
    };
    Some((Span { start: op.name.start, end: all.last()?.span.end }, insert?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mlir::code_actions::tests::{apply, titles};

    /// Checks that each form converts to the other.
    #[track_caller]
    fn check(custom: &str, generic: &str) {
        let with_cursor =
            |line: &str| format!("func.func @f(%a: T, %b: T) {{\n  %0 = $0{line} loc(\"x\")\n}}\n");
        let without = |line: &str| with_cursor(line).replace("$0", "");
        assert_eq!(apply(&with_cursor(custom), "to-generic-form"), Some(without(generic)));
        assert_eq!(apply(&with_cursor(generic), "to-custom-form"), Some(without(custom)));
    }

    #[test]
    fn ops_have_two_forms() {
        check(
            "stablehlo.add %a, %b : tensor<4xf32>",
            "\"stablehlo.add\"(%a, %b) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>",
        );
        check(
            "stablehlo.abs %a {k = 1} : (tensor<4xcomplex<f32>>) -> tensor<4xf32>",
            "\"stablehlo.abs\"(%a) {k = 1} : (tensor<4xcomplex<f32>>) -> tensor<4xf32>",
        );
        check(
            "stablehlo.convert %a : (tensor<4xf32>) -> tensor<4xbf16>",
            "\"stablehlo.convert\"(%a) : (tensor<4xf32>) -> tensor<4xbf16>",
        );
        check("arith.addi %a, %b : index", "\"arith.addi\"(%a, %b) : (index, index) -> index");
        check("func.call @f(%a) : (T) -> T", "\"func.call\"(%a) <{callee = @f}> : (T) -> T");
        check("func.call @f() : () -> T", "\"func.call\"() <{callee = @f}> : () -> T");
    }

    /// As upstream's printer writes both.
    #[test]
    fn attributes_have_a_place_in_both_forms() {
        for (custom, generic) in [
            (
                "compare EQ, %a, %b, FLOAT : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>",
                "compare\"(%a, %b) <{comparison_direction = #stablehlo<comparison_direction EQ>, compare_type = #stablehlo<comparison_type FLOAT>}> : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>",
            ),
            (
                "compare LT, %a, %b {k} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>",
                "compare\"(%a, %b) <{comparison_direction = #stablehlo<comparison_direction LT>}> {k} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>",
            ),
            (
                "select %p, %a, %b : tensor<4xi1>, tensor<4xf32>",
                "select\"(%p, %a, %b) : (tensor<4xi1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>",
            ),
            (
                "select %p, %a, %b : (tensor<4xi1>, tensor<4xf32>, tensor<?xf32>) -> tensor<4xf32>",
                "select\"(%p, %a, %b) : (tensor<4xi1>, tensor<4xf32>, tensor<?xf32>) -> tensor<4xf32>",
            ),
            (
                "clamp %a, %b, %a : tensor<4xf32>",
                "clamp\"(%a, %b, %a) : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>",
            ),
            (
                "broadcast_in_dim %a, dims = [] : (tensor<f32>) -> tensor<4x3xf32>",
                "broadcast_in_dim\"(%a) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4x3xf32>",
            ),
            (
                "transpose %a, dims = [1, 0] : (tensor<4x3xf32>) -> tensor<3x4xf32>",
                "transpose\"(%a) <{permutation = array<i64: 1, 0>}> : (tensor<4x3xf32>) -> tensor<3x4xf32>",
            ),
            (
                "concatenate %a, %b, %a, dim = 0 : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<12xf32>",
                "concatenate\"(%a, %b, %a) <{dimension = 0 : i64}> : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<12xf32>",
            ),
            (
                "iota dim = 0 {k = 1 : i64} : tensor<4xi32>",
                "iota\"() <{iota_dimension = 0 : i64}> {k = 1 : i64} : () -> tensor<4xi32>",
            ),
            (
                "constant {k = [1]} dense<[[1, 2], [3, 4]]> : tensor<2x2xi32>",
                "constant\"() <{value = dense<[[1, 2], [3, 4]]> : tensor<2x2xi32>}> {k = [1]} : () -> tensor<2x2xi32>",
            ),
            (
                "constant dense<\"0x0102\"> : tensor<2x!quant.uniform<i8:f32, 1.0>>",
                "constant\"() <{value = dense<\"0x0102\"> : tensor<2x!quant.uniform<i8:f32, 1.0>>}> : () -> tensor<2x!quant.uniform<i8:f32, 1.0>>",
            ),
            (
                "slice %a [0:4:2, 1:3] : (tensor<4x3xf32>) -> tensor<2x2xf32>",
                "slice\"(%a) <{start_indices = array<i64: 0, 1>, limit_indices = array<i64: 4, 3>, strides = array<i64: 2, 1>}> : (tensor<4x3xf32>) -> tensor<2x2xf32>",
            ),
            (
                "slice %a [] : (tensor<f32>) -> tensor<f32>",
                "slice\"(%a) <{start_indices = array<i64>, limit_indices = array<i64>, strides = array<i64>}> : (tensor<f32>) -> tensor<f32>",
            ),
            (
                "dynamic_slice %a, %i, %i, sizes = [1, 2] : (tensor<4x3xf32>, tensor<i32>, tensor<i32>) -> tensor<1x2xf32>",
                "dynamic_slice\"(%a, %i, %i) <{slice_sizes = array<i64: 1, 2>}> : (tensor<4x3xf32>, tensor<i32>, tensor<i32>) -> tensor<1x2xf32>",
            ),
            (
                "pad %a, %s, low = [0, -1], high = [2, 0], interior = [0, 0] : (tensor<4x3xf32>, tensor<f32>) -> tensor<6x2xf32>",
                "pad\"(%a, %s) <{edge_padding_low = array<i64: 0, -1>, edge_padding_high = array<i64: 2, 0>, interior_padding = array<i64: 0, 0>}> : (tensor<4x3xf32>, tensor<f32>) -> tensor<6x2xf32>",
            ),
            (
                "dot_general %a, %b, batching_dims = [0] x [0], contracting_dims = [1] x [1], precision = [DEFAULT, HIGHEST], algorithm = <lhs_precision_type = tf32> : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<4xf32>",
                "dot_general\"(%a, %b) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision HIGHEST>], algorithm = #stablehlo.dot_algorithm<lhs_precision_type = tf32>}> : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<4xf32>",
            ),
            (
                "dot_general %a, %b, contracting_dims = [] x [] : (tensor<4xf32>, tensor<3xf32>) -> tensor<4x3xf32>",
                "dot_general\"(%a, %b) <{dot_dimension_numbers = #stablehlo.dot<>}> : (tensor<4xf32>, tensor<3xf32>) -> tensor<4x3xf32>",
            ),
            (
                "reverse %a, dims = [0] : tensor<4x3xf32>",
                "reverse\"(%a) <{dimensions = array<i64: 0>}> : (tensor<4x3xf32>) -> tensor<4x3xf32>",
            ),
            (
                "set_dimension_size %a, %i, dim = 0 {k} : (tensor<4x3xf32>, tensor<i32>) -> tensor<?x3xf32>",
                "set_dimension_size\"(%a, %i) <{dimension = 0 : i64}> {k} : (tensor<4x3xf32>, tensor<i32>) -> tensor<?x3xf32>",
            ),
            (
                "dynamic_update_slice %a, %b, %i, %i : (tensor<4x3xf32>, tensor<4x3xf32>, tensor<i32>, tensor<i32>) -> tensor<4x3xf32>",
                "dynamic_update_slice\"(%a, %b, %i, %i) : (tensor<4x3xf32>, tensor<4x3xf32>, tensor<i32>, tensor<i32>) -> tensor<4x3xf32>",
            ),
        ] {
            check(&format!("stablehlo.{custom}"), &format!("\"stablehlo.{generic}"));
        }
        // Line breaks between attributes stay.
        check(
            "stablehlo.add %a, %b {\n    k = 1 : i64,\n    l\n  } : tensor<4xf32>",
            r#""stablehlo.add"(%a, %b) {
    k = 1 : i64,
    l
  } : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>"#,
        );
        // Texts from before MLIR had properties put all attributes in one dictionary.
        let old = "%0 = $0\"stablehlo.transpose\"(%a) {k, permutation = dense<[1, 0]> : tensor<2xi64>} : (tensor<4x3xf32>) -> tensor<3x4xf32>\n";
        let new = "%0 = stablehlo.transpose %a, dims = [1, 0] {k} : (tensor<4x3xf32>) -> tensor<3x4xf32>\n";
        assert_eq!(apply(old, "to-custom-form").as_deref(), Some(new));
    }

    #[test]
    fn what_would_be_lost_is_kept_in_its_form() {
        for line in [
            "arith.addf %a, %b fastmath<fast> : f32",
            "\"arith.addf\"(%a, %b) <{fastmath = #arith.fastmath<fast>}> : (f32, f32) -> f32",
            "\"arith.addi\"(%a, %b) : (i32, i32) -> i64",
            "\"func.call\"(%a) <{callee = @f, no_inline}> : (T) -> T",
            "stablehlo.add %a : tensor<4xf32>",
            "some.add %a, %b : T",
            "\"stablehlo.iota\"() <{iota_dimension = 0 : i64, other = 1}> : () -> tensor<4xi32>",
            "\"stablehlo.transpose\"(%a) : (tensor<4x3xf32>) -> tensor<3x4xf32>",
            "\"stablehlo.constant\"() <{value = #alias}> : () -> tensor<4xi32>",
            "stablehlo.slice %a [0:4:2:1] : (tensor<4xf32>) -> tensor<2xf32>",
            "stablehlo.select %p, %a, %b : tensor<4xi1>",
        ] {
            assert_eq!(titles(&format!("%0 = $0{line}\n")), [""; 0], "{line}");
        }
        let default =
            "%0 = $0\"arith.addf\"(%a, %b) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32\n";
        assert_eq!(apply(default, "to-custom-form").as_deref(), Some("%0 = arith.addf %a, %b : f32\n"));
    }

    mod needs_mlir_corpus {
        use super::*;

        /// For one op in every file: converting the form there, back and there again
        /// gives the same text.
        #[test]
        #[ignore = "needs MLIR files in the folder MLIR_CORPUS: cargo xtask test"]
        fn forms_of_a_tree_change_there_and_back() {
            let (mut changed, mut known) = (0, 0);
            for path in test_files::needs::mlir_corpus() {
                let Ok(text) = std::fs::read_to_string(&path) else { continue };
                if mlir::holds_hlo(&text) {
                    continue;
                }
                let read = mlir::parse(&text, mlir::PieceState::default());
                for id in 0..read.ops.len() as OpId {
                    let name = read.name(id, &text);
                    known += usize::from(layout(name).is_some() || custom_form(name).is_some());
                    let Some((_, first)) = other_form(&read, id, &text) else { continue };
                    changed += 1;
                    let turned = |text: &str| {
                        let read = mlir::parse(text, mlir::PieceState::default());
                        assert_eq!(read.errors, [], "{text}");
                        other_form(&read, 0, text).map(|(_, insert)| insert)
                    };
                    let second = turned(&format!("%r = {first}\n"));
                    let third = second.as_ref().and_then(|second| turned(&format!("%r = {second}\n")));
                    assert_eq!(third.as_ref(), Some(&first), "{second:?} in {}", path.display());
                }
            }
            eprintln!("{changed} of {known} ops have another form");
        }
    }
}
