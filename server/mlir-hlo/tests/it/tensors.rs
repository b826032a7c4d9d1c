//! Ops of tensor and linalg that only move elements, against the places that they are to read.

use crate::named_dimensions::{evaluated, indices, linear};
use crate::to_hlo;

/// The op reads its only operand, of these extents, at the places that `from` says for those of the result.
#[track_caller]
fn check(op: &str, operand: &[usize], result: &[usize], from: impl Fn(&[usize]) -> Vec<usize>) {
    let ty = |extents: &[usize]| {
        format!("tensor<{}i32>", extents.iter().map(|e| format!("{e}x")).collect::<String>())
    };
    let (given, wanted) = (ty(operand), ty(result));
    let op = op.replace("TO", &wanted).replace("FROM", &given);
    let text = format!(
        "\
func.func @main(%a: {given}) -> {wanted} {{
  %e = tensor.empty() : {wanted}
  %r = {op}
  return %r : {wanted}
}}
"
    );
    let values: Vec<i64> = (0..operand.iter().product::<usize>() as i64).map(|n| n * 7 + 1).collect();
    let expected: Vec<i64> =
        indices(result).iter().map(|index| values[linear(&from(index), operand)]).collect();
    assert_eq!(evaluated(&text, &[values]), expected, "{text}");
}

#[test]
fn moves_are_those_of_hlo() {
    check("tensor.collapse_shape %a [[0, 1], [2]] : FROM into TO", &[2, 3, 4], &[6, 4], |i| {
        vec![i[0] / 3, i[0] % 3, i[1]]
    });
    check(
        "tensor.expand_shape %a [[0, 1], [2]] output_shape [2, 3, 4] : FROM into TO",
        &[6, 4],
        &[2, 3, 4],
        |i| vec![i[0] * 3 + i[1], i[2]],
    );
    check("tensor.extract_slice %a[1, 0] [2, 3] [2, 1] : FROM to TO", &[5, 3], &[2, 3], |i| {
        vec![1 + 2 * i[0], i[1]]
    });
    check("tensor.extract_slice %a[1, 2, 0] [2, 1, 3] [1, 1, 1] : FROM to TO", &[3, 4, 3], &[2, 3], |i| {
        vec![1 + i[0], 2, i[1]]
    });
    check("tensor.concat dim(1) %a, %a : (FROM, FROM) -> TO", &[2, 3], &[2, 6], |i| vec![i[0], i[1] % 3]);
    check("tensor.cast %a : FROM to TO", &[2, 3], &[2, 3], <[usize]>::to_vec);
    check(
        "linalg.transpose ins(%a : FROM) outs(%e : TO) permutation = [2, 0, 1]",
        &[2, 3, 4],
        &[4, 2, 3],
        |i| vec![i[1], i[2], i[0]],
    );
    check("linalg.broadcast ins(%a : FROM) outs(%e : TO) dimensions = [1]", &[2, 4], &[2, 3, 4], |i| {
        vec![i[0], i[2]]
    });
}

/// What is not converted is named at its place, and the functions around it are converted.
#[test]
fn other_ops_are_told_at_their_places() {
    let text = "func.func @other(%a: tensor<4x8xf32>, %o: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %0 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = [\"parallel\", \"parallel\"]} ins(%a : tensor<4x8xf32>) outs(%o : tensor<4x8xf32>) {
  ^bb0(%in: f32, %out: f32):
    %1 = arith.addf %in, %in : f32
    linalg.yield %1 : f32
  } -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}
func.func @main(%a: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %r = stablehlo.add %a, %a : tensor<4x8xf32>
  return %r : tensor<4x8xf32>
}
";
    let module = to_hlo(text);
    let told: Vec<_> = module
        .incomplete
        .iter()
        .map(|(_, missing)| {
            (text[..missing.span.start as usize].matches('\n').count() + 1, missing.what.as_str())
        })
        .collect();
    assert_eq!(told, [(2, "linalg.generic: HLO has no such op")]);
    assert!(module.text.contains("ROOT r = f32[4,8] add(a, a)"), "{}", module.text);
    assert!(module.text.contains("custom_call_target=\"linalg.generic\""), "{}", module.text);
    assert_eq!(crate::faults(&module.text), [] as [&str; 0]);
}
