//! Single ops of MLIR as ops of HLO.

use mlir::PieceState;
use mlir_hlo::{HloOp, hlo_op};
use mlir_ops::Source;

/// The op of HLO of the only op by this name.
fn op_of(text: &str, name: &str) -> Result<HloOp, String> {
    let parse = mlir::parse(text, PieceState::default());
    let id = (0..parse.ops.len() as u32).find(|&id| parse.name(id, text) == name).expect("it is in the text");
    let found = hlo_op(&Source::alone(&parse, text), id);
    found.expect("HLO has it").map_err(|why| why.to_string())
}

#[test]
fn a_parameter_is_the_operand_of_its_number() {
    let text = "func.func @f(%x: tensor<8x8xf32>, %i: tensor<i32>) -> tensor<2x2xf32> {
  %c0 = stablehlo.constant dense<3> : tensor<i32>
  %0 = stablehlo.dynamic_slice %x, %c0, %i, sizes = [2, 2] : (tensor<8x8xf32>, tensor<i32>, tensor<i32>) -> tensor<2x2xf32>
  return %0 : tensor<2x2xf32>
}
";
    let found = op_of(text, "stablehlo.dynamic_slice").expect("all is known");
    assert_eq!(found.operands, ["%x", "%c0", "%i"]);
    let ids = &found.graph.operands[found.graph.root as usize];
    let known: Vec<_> =
        ids.iter().map(|&id| (found.graph.names[id as usize].as_str(), found.operand(id))).collect();
    // A constant is not a parameter.
    assert_eq!(known, [("x", Some(0)), ("c0", None), ("i", Some(2))]);
    assert_eq!(found.graph.ops[ids[1] as usize].literal.as_deref(), Some("3"));
}

#[test]
fn an_op_that_is_several_is_a_fusion_of_them() {
    let text = "%0 = stablehlo.broadcast_in_dim %a, dims = [0, 1] : (tensor<1x3xf32>) -> tensor<2x3xf32>";
    let found = op_of(
        &format!("func.func @f(%a: tensor<1x3xf32>) {{\n  {text}\n  return\n}}\n"),
        "stablehlo.broadcast_in_dim",
    )
    .expect("all is known");
    assert_eq!(
        found.text(),
        "HloModule m

fused {
  operand = f32[1,3] parameter(0)
  reshape = f32[3] reshape(operand)
  ROOT broadcast.0 = f32[2,3] broadcast(reshape), dimensions={1}
}

ENTRY e {
  p0 = f32[1,3] parameter(0)
  ROOT r = f32[2,3] fusion(p0), kind=kLoop, calls=fused
}

"
    );
}

#[test]
fn an_operand_that_stands_twice_is_one_parameter() {
    let text = "\
func.func @f(%a: tensor<3xf32>) {
  %0 = stablehlo.add %a, %a : tensor<3xf32>
  return
}
";
    let found = op_of(text, "stablehlo.add").expect("all is known");
    assert_eq!(found.operands, ["%a", "%a"]);
    assert_eq!(found.graph.operands[found.graph.root as usize], [0, 0]);
}

#[test]
fn what_is_not_known_is_said() {
    let text = "\
func.func @f(%a: tensor<?xf32>) {
  %0 = stablehlo.add %a, %a : tensor<?xf32>
  return
}
";
    assert!(op_of(text, "stablehlo.add").is_ok_and(|op| op.only_maps));
    let text = r#"func.func @f(%a: tensor<2xf32>) {
  %0 = "stablehlo.collective_permute"(%a) {source_target_pairs = dense<[[0, 1, 2]]> : tensor<1x3xi64>} : (tensor<2xf32>) -> tensor<2xf32>
  return
}
"#;
    let refused = "source_target_pairs has rows that are no pairs of devices";
    assert_eq!(op_of(text, "stablehlo.collective_permute"), Err(refused.to_owned()));
}
