//! The maps of an op, of the instruction of HLO that reads its operands in the same way; see [`db::hlo_twin`].

use db::HloTwin;

use crate::locate::FileContext;
use crate::mlir::context::OpRef;

/// Nothing for ops that HLO has no twin of, else the twin or why there is none.
pub(crate) fn twin(context: &FileContext<'_>, at: OpRef) -> Option<Result<HloTwin, String>> {
    db::hlo_twin(context.db, context.view.file.pieces(context.db)[at.piece], at.id)
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use crate::fixture::open_mlir;

    /// The maps in the hover of an op.
    fn check(line: &str, expect: Expect) {
        let text = format!(
            "func.func @f(%a: tensor<4x8xf32>, %k: tensor<1x8xf32>, %i: tensor<i32>, %s: tensor<f32>) {{\n  %z = stablehlo.constant dense<0> : tensor<i32>\n  {line}\n}}\n"
        );
        let (analysis, file, offset) = open_mlir(&text);
        let hover = analysis.hover(file, offset).expect("nobody cancels").expect("there is an op");
        let maps =
            hover.markdown.split("**output").skip(1).map(|block| format!("output{}\n", block.trim_end()));
        expect.assert_eq(&maps.collect::<String>());
    }

    #[test]
    fn ops_read_their_operands_as_their_twins_do() {
        check(
            "%0 = stablehlo.trans$0pose %a, dims = [1, 0] : (tensor<4x8xf32>) -> tensor<8x4xf32>",
            expect![[r#"
                output → `%a`**
                ```
                (d0, d1) -> (d1, d0)
                domain: d0 in [0, 7], d1 in [0, 3]
                ```
            "#]],
        );
        check(
            "%0 = stablehlo.broadcast_in$0_dim %k, dims = [0, 1] : (tensor<1x8xf32>) -> tensor<4x8xf32>",
            expect![[r#"
                output → `%k`**
                ```
                (d0, d1) -> (0, d1)
                domain: d0 in [0, 3], d1 in [0, 7]
                ```
                reads 100 % (32 B), each element 4 times
            "#]],
        );
        check(
            "%0 = stablehlo.reduce$0(%a init: %s) applies stablehlo.add across dimensions = [1] : (tensor<4x8xf32>, tensor<f32>) -> tensor<4xf32>",
            expect![[r#"
                output → `%a`**
                ```
                (d0)[reduced] -> (d0, reduced)
                domain: d0 in [0, 3], reduced in [0, 7]
                ```
                output → `%s`** the scalar
            "#]],
        );
    }
}
