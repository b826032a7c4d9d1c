//! An op of StableHLO or MHLO as the instruction of HLO that does the same: it reads its operands by the same maps.

use std::sync::Arc;

use indexing::{OpIndexing, Rules};
use ir::{Graph, Op};
use rustc_hash::FxHashMap;
use syntax::hlo::PieceState;

use crate::locate::FileContext;
use crate::mlir::context::OpRef;

/// The instruction in its graph. Made for one answer, and not kept: it costs what parsing a few lines costs.
pub(crate) struct Twin {
    graph: Graph,
    callees: FxHashMap<String, Arc<Graph>>,
    /// The names of the operands in the text, in the order of the instruction's.
    pub(crate) operands: Vec<String>,
    /// More than one are elements of a tuple.
    pub(crate) results: usize,
}

impl Twin {
    /// Nothing for ops of other dialects, else the twin or why there is none.
    pub(crate) fn of(context: &FileContext<'_>, at: OpRef) -> Option<Result<Twin, String>> {
        let read = context.mlir_piece(at.piece);
        let written = mlir::hlo_op_text(&read.parse, &read.text, at.id)?;
        Some(written.and_then(|op| Twin::read(op).ok_or_else(|| "HLO has no such instruction".to_owned())))
    }

    fn read(op: mlir::HloOp) -> Option<Twin> {
        let text: Arc<str> = op.text.into();
        let parse = syntax::hlo::parse(&text, PieceState::HEADER);
        if !parse.errors.is_empty() {
            return None;
        }
        let block = ir::lower(text, Arc::new(parse));
        let mut entry = None;
        let mut callees = FxHashMap::default();
        for (id, computation) in block.parse.computations.iter().enumerate() {
            let graph = Graph::build(&[(&block, id as u32)])?;
            match computation.is_entry {
                true => entry = Some(graph),
                false => {
                    callees.insert(computation.name.of(&block.text).to_owned(), Arc::new(graph));
                }
            }
        }
        let graph = entry.filter(|graph| graph.is_complete)?;
        Some(Twin { graph, callees, operands: op.operands, results: op.results })
    }

    pub(crate) fn op(&self) -> &Op {
        &self.graph.ops[self.graph.root as usize]
    }

    /// Output to input maps, simplified: a list per operand.
    pub(crate) fn maps(&self, output: usize, rules: Rules) -> OpIndexing {
        let callees = |name: &str| self.callees.get(name).cloned();
        let mut maps = indexing::in_graph(&self.graph, self.graph.root, output, rules, &callees);
        maps.simplify_by(rules);
        maps
    }
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
