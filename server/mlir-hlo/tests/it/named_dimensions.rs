//! Einsums and selections against loops over all indices.

use std::borrow::Cow;

use eval::{Column, Evaluator, Kind};
use random::Rng;

use crate::graphs::Graphs;
use crate::{faults, to_hlo};

/// What the module of one op answers, of operands of 32-bit integers.
pub fn evaluated(text: &str, inputs: &[Vec<i64>]) -> Vec<i64> {
    let module = to_hlo(text);
    assert_eq!(
        (module.incomplete.as_slice(), faults(&module.text)),
        (&[][..], Vec::new()),
        "{text}\n{}",
        module.text
    );
    let graphs = Graphs::of(&module.text);
    let kind = Kind::of(ir::ElementType::S32).expect("it is a kind");
    let given = |number: u32, _: usize, at: &[i64]| -> Result<Column, Cow<'static, str>> {
        Ok(Column::int(kind, at.iter().map(|&at| inputs[number as usize][at as usize]).collect()))
    };
    let callees = |name: &str| graphs.all.get(name).cloned();
    let mut evaluator = Evaluator::new(graphs.entry().clone(), &callees, &given);
    let column = evaluator.whole(graphs.entry().root, 0).expect("it is evaluated");
    (0..column.len()).map(|at| column.bits(at) as u32 as i32 as i64).collect()
}

fn ty(extents: &[usize]) -> String {
    let extents: String = extents.iter().map(|e| format!("{e}x")).collect();
    format!("tensor<{extents}i32>")
}

fn numbers(count: usize, rng: &mut Rng, below: i64) -> Vec<i64> {
    (0..count).map(|_| rng.range(0, below - 1)).collect()
}

/// Every index of an array, the last dimension fastest.
pub fn indices(extents: &[usize]) -> Vec<Vec<usize>> {
    extents.iter().fold(vec![Vec::new()], |all, &extent| {
        all.iter().flat_map(|front| (0..extent).map(move |i| [&front[..], &[i]].concat())).collect()
    })
}

pub fn linear(index: &[usize], extents: &[usize]) -> usize {
    index.iter().zip(extents).fold(0, |at, (i, extent)| at * extent + i)
}

#[test]
fn einsums_sum_up_over_letters() {
    let extents = [2usize, 3, 4, 2, 3];
    for seed in 0..400 {
        let mut rng = Rng::new(seed * 977 + 3);
        let count = rng.range(1, 2) as usize;
        let sides: Vec<Vec<usize>> =
            (0..count).map(|_| (0..rng.range(0, 3)).map(|_| rng.range(0, 4) as usize).collect()).collect();
        let mut output: Vec<usize> = Vec::new();
        for letter in sides.concat() {
            if !output.contains(&letter) && rng.one_in(2) {
                output.insert(rng.range(0, output.len() as i64) as usize, letter);
            }
        }
        let letters = |side: &[usize]| side.iter().map(|&l| (b'a' + l as u8) as char).collect::<String>();
        let shape = |side: &[usize]| side.iter().map(|&l| extents[l]).collect::<Vec<_>>();
        let config = format!(
            "{}->{}",
            sides.iter().map(|s| letters(s)).collect::<Vec<_>>().join(","),
            letters(&output)
        );
        let types: Vec<_> = sides.iter().map(|s| ty(&shape(s))).collect();
        let arguments: Vec<_> = types.iter().enumerate().map(|(n, ty)| format!("%{n}: {ty}")).collect();
        let result = ty(&shape(&output));
        let op = match count {
            1 => format!("\"stablehlo.unary_einsum\"(%0) <{{einsum_config = \"{config}\"}}>"),
            _ => format!("stablehlo.einsum %0, %1, config = \"{config}\""),
        };
        let text = format!(
            "\
func.func @main({}) -> {result} {{
  %r = {op} : ({}) -> {result}
  return %r : {result}
}}
",
            arguments.join(", "),
            types.join(", ")
        );
        let inputs: Vec<_> = sides.iter().map(|s| numbers(shape(s).iter().product(), &mut rng, 9)).collect();
        let mut expected = vec![0; shape(&output).iter().product()];
        for at in indices(&extents) {
            // Letters that nothing has do not count.
            if (0..5).any(|l| at[l] > 0 && !sides.iter().any(|s| s.contains(&l))) {
                continue;
            }
            let of = |side: &[usize]| linear(&side.iter().map(|&l| at[l]).collect::<Vec<_>>(), &shape(side));
            expected[of(&output)] += sides.iter().zip(&inputs).map(|(s, i)| i[of(s)]).product::<i64>();
        }
        assert_eq!(evaluated(&text, &inputs), expected, "{text}");
    }
}

#[test]
fn selections_take_whole_slices() {
    for seed in 0..200 {
        let mut rng = Rng::new(seed * 31 + 7);
        let mut size = |from: i64, to: usize| rng.range(from, to as i64) as usize;
        let operand: Vec<usize> = (0..size(1, 3)).map(|_| size(1, 3)).collect();
        let dimension = size(0, operand.len() - 1);
        let batch = size(0, dimension);
        let mut places: Vec<usize> = operand[..batch].to_vec();
        places.extend((0..size(0, 2)).map(|_| size(1, 3)));
        let result = [&operand[..dimension], &places[batch..], &operand[dimension + 1..]].concat();
        let text = format!(
            r#"func.func @main(%0: {0}, %1: {1}) -> {2} {{
  %r = "stablehlo.torch_index_select"(%0, %1) <{{dim = {dimension} : i64, batch_dims = {batch} : i64}}> : ({0}, {1}) -> {2}
  return %r : {2}
}}
"#,
            ty(&operand),
            ty(&places),
            ty(&result)
        );
        let values = numbers(operand.iter().product(), &mut rng, 1000);
        let at = numbers(places.iter().product(), &mut rng, operand[dimension] as i64);
        let expected: Vec<i64> = indices(&result)
            .iter()
            .map(|index| {
                let behind = dimension + places.len() - batch;
                let place = [&index[..batch], &index[dimension..behind]].concat();
                let chosen = at[linear(&place, &places)] as usize;
                let from = [&index[..dimension], &[chosen], &index[behind..]].concat();
                values[linear(&from, &operand)]
            })
            .collect();
        assert_eq!(evaluated(&text, &[values, at]), expected, "{text}");
    }
}

#[test]
fn what_an_einsum_cannot_mean_is_told() {
    let check = |config: &str, reason: &str| {
        let text = format!(
            r#"func.func @main(%a: tensor<2x3xf32>) -> tensor<2xf32> {{
  %r = stablehlo.einsum %a, %a, config = "{config}" : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2xf32>
  return %r : tensor<2xf32>
}}
"#
        );
        let told: Vec<_> = to_hlo(&text).incomplete.into_iter().map(|(_, missing)| missing.what).collect();
        assert_eq!(told, [format!("stablehlo.einsum: {reason}")]);
    };
    check("ij,ij", "einsum_config has no result");
    check("ij->i", "einsum_config is not of as many operands");
    check("ijk,ij->i", "\"ijk\" is not of 2 dimensions");
    check("ij,ji->i", "dimensions of one letter are of several extents");
    check("ij,ij->k", "a dimension of its result is not one of the operands'");
    check("i2,ij->i", "\"i2\" holds what is no letter");
}
