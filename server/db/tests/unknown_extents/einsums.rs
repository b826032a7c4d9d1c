//! `stablehlo.einsum` and `stablehlo.unary_einsum` of arrays with dynamic and with known extents.

use op_reads::*;

use crate::function;

/// Evaluated by enumerating all values of all letters.
#[test]
fn dimensions_that_a_string_names() {
    let mut random = Rng::new(63);
    for round in 0..300 {
        // A third has no unknown extents: HLO has the op as several instructions.
        let flags =
            |random: &mut Rng, n: usize| if round % 3 == 0 { vec![false; n] } else { flags(random, n) };
        let letters: Vec<char> = "abcde".chars().collect();
        let extents: Vec<i64> = letters.iter().map(|_| random.below(1..4)).collect();
        let sides: Vec<Vec<usize>> = (0..random.below(1..3))
            .map(|_| (0..random.below(0..4)).map(|_| random.below(0..5) as usize).collect())
            .collect();
        let mut output: Vec<usize> = random.permutation(5);
        output.retain(|l| sides.iter().flatten().any(|own| own == l));
        output.truncate(random.below(0..4) as usize);
        let word = |list: &[usize]| list.iter().map(|&l| letters[l]).collect::<String>();
        let shape = |list: &[usize]| list.iter().map(|&l| extents[l]).collect::<Vec<i64>>();
        let types: Vec<String> =
            sides.iter().map(|s| ty("tensor", &shape(s), "f32", &flags(&mut random, s.len()))).collect();
        let result = shape(&output);
        let to = ty("tensor", &result, "f32", &flags(&mut random, output.len()));
        let names = ["%a", "%b"];
        let arguments: Vec<String> =
            types.iter().zip(names).map(|(ty, name)| format!("{name}: {ty}")).collect();
        let inputs: Vec<String> = sides.iter().map(|s| word(s)).collect();
        let name = if sides.len() == 1 { "stablehlo.unary_einsum" } else { "stablehlo.einsum" };
        let read = function(
            &arguments,
            &format!(
                "%r = {name} {}, config = \"{}->{}\" : ({}) -> {to}",
                names[..sides.len()].join(", "),
                inputs.join(","),
                word(&output),
                types.join(", ")
            ),
        );
        let shapes: Vec<Vec<i64>> = sides.iter().map(|s| shape(s)).collect();
        let values = |name: &str, _: &[i64]| {
            let mut known = vec![("%r", &result[..])];
            known.extend(names.into_iter().zip(&shapes).map(|(name, shape)| (name, &shape[..])));
            extent(name, &known)
        };
        check_places(&read, name, &result, &values, &|p| {
            let mut found = Reads::new();
            for at in indices(&extents) {
                if output.iter().zip(p).all(|(&l, &i)| at[l] == i) {
                    for (side, name) in sides.iter().zip(names) {
                        op_reads::read(&mut found, name, side.iter().map(|&l| at[l]).collect());
                    }
                }
            }
            found
        });
    }
    // An ellipsis for several dimensions.
    let read = function(
        &["%a: tensor<2x?x3xf32>, %b: tensor<?x3x4xf32>".to_owned()],
        "%r = \"stablehlo.einsum\"(%a, %b) <{einsum_config = \"...k,...kn->...n\"}> : (tensor<2x?x3xf32>, tensor<?x3x4xf32>) -> tensor<2x?x4xf32>",
    );
    let values = |name: &str, _: &[i64]| extent(name, &[("%a", &[2, 5, 3]), ("%b", &[5, 3, 4])]);
    check_reads(&read, "stablehlo.einsum", &[2, 5, 4], &values, &|p| {
        let mut found = Reads::new();
        for k in 0..3 {
            op_reads::read(&mut found, "%a", vec![p[0], p[1], k]);
            op_reads::read(&mut found, "%b", vec![p[1], k, p[2]]);
        }
        found
    });
}
