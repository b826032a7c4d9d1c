//! Ops of CHLO that broadcast their operands, and barriers, compared with what they read by definition.

use op_reads::*;

use crate::function;

#[test]
fn operands_are_broadcast() {
    let mut random = Rng::new(71);
    for _ in 0..300 {
        let result = random.shape(0..4, 1..4);
        let rank = result.len();
        // The second operand may have fewer dimensions; these are listed, or the last ones.
        let mut into = random.permutation(rank);
        into.truncate(random.below(0..rank as i64 + 1) as usize);
        into.sort_unstable();
        let is_listed = random.flag();
        if !is_listed {
            into = (rank - into.len()..rank).collect();
        }
        let mut stretched = |n: i64| if random.below(0..3) == 0 { 1 } else { n };
        let first: Vec<i64> = result.iter().map(|&n| stretched(n)).collect();
        let second: Vec<i64> = into.iter().map(|&d| stretched(result[d])).collect();
        let unknown = [rank, into.len(), rank].map(|n| flags(&mut random, n));
        let (a, b) = (ty("tensor", &first, "f32", &unknown[0]), ty("tensor", &second, "f32", &unknown[1]));
        let (name, element) = *random.pick(&[
            ("chlo.broadcast_add", "f32"),
            ("chlo.broadcast_complex", "complex<f32>"),
            ("chlo.broadcast_zeta", "f32"),
        ]);
        let to = ty("tensor", &result, element, &unknown[2]);
        let list: Vec<String> = into.iter().map(usize::to_string).collect();
        let dimensions = match is_listed {
            true => format!(
                " {{broadcast_dimensions = array<i64{}{}>}}",
                if list.is_empty() { "" } else { ": " },
                list.join(", ")
            ),
            false => String::new(),
        };
        let read = function(
            &[format!("%a: {a}, %b: {b}")],
            &format!("%r = {name} %a, %b{dimensions} : ({a}, {b}) -> {to}"),
        );
        let values =
            |name: &str, _: &[i64]| extent(name, &[("%a", &first), ("%b", &second), ("%r", &result)]);
        check_reads(&read, name, &result, &values, &|p| {
            let place = |sizes: &[i64], dims: &[usize]| -> Vec<i64> {
                sizes.iter().zip(dims).map(|(&n, &d)| if n == 1 { 0 } else { p[d] }).collect()
            };
            let mut reads = one("%a", place(&first, &(0..rank).collect::<Vec<_>>()));
            op_reads::read(&mut reads, "%b", place(&second, &into));
            reads
        });
    }
}

#[test]
fn barriers_return_each_operand() {
    let mut random = Rng::new(72);
    for _ in 0..50 {
        let shapes: Vec<Vec<i64>> = (0..random.below(1..4)).map(|_| random.shape(0..3, 1..4)).collect();
        let types: Vec<String> =
            shapes.iter().map(|s| ty("tensor", s, "f32", &flags(&mut random, s.len()))).collect();
        let names: Vec<String> = (0..shapes.len()).map(|n| format!("%a{n}")).collect();
        let arguments: Vec<String> =
            names.iter().zip(&types).map(|(name, ty)| format!("{name}: {ty}")).collect();
        let read = function(
            &arguments,
            &format!(
                "%r:{} = stablehlo.optimization_barrier {} : {}",
                shapes.len(),
                names.join(", "),
                types.join(", ")
            ),
        );
        for (result, (name, shape)) in names.iter().zip(&shapes).enumerate() {
            let accesses = read.result_maps("stablehlo.optimization_barrier", result).accesses;
            let [access] = accesses.as_slice() else { panic!("{accesses:?} of {}", read.text) };
            let values = |name: &str, _: &[i64]| extent(name, &[(&*format!("%a{result}"), shape)]);
            for p in indices(shape) {
                assert_eq!(
                    (&access.operand, evaluated(access, &p, &values)),
                    (name, vec![p]),
                    "{}",
                    read.text
                );
            }
        }
    }
}
