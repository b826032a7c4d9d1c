//! Unknown extents that follow from the ops that make the arrays.

use op_reads::*;

use crate::function;

/// The symbols of the maps of the last op, and whether each element reads itself in `%x`.
fn symbols_of(text: &str, name: &str, shape: &[i64], values: &Values<'_>) -> Vec<String> {
    let read = crate::of(text);
    let maps = read.maps(name);
    let [access] = maps.accesses.as_slice() else { panic!("{maps:?}") };
    for p in indices(shape) {
        assert_eq!(evaluated(access, &p, values), vec![p.clone()], "{p:?}: {} of\n{text}", access.map);
    }
    // No element beyond the array is read.
    for k in 0..shape.len() {
        let mut beyond = vec![0; shape.len()];
        beyond[k] = shape[k];
        assert_eq!(evaluated(access, &beyond, values), Vec::<Vec<i64>>::new(), "{} of\n{text}", access.map);
    }
    access.symbols.iter().map(|symbol| symbol.describe(&access.map)).collect()
}

#[test]
fn extents_of_lists() {
    let ways: [(&str, &[&str]); 9] = [
        ("%s = stablehlo.constant dense<[2, 3]> : tensor<2xi32>", &[]),
        ("%s = stablehlo.constant dense<2> : tensor<2xi32>", &[]),
        ("%s = shape.const_shape [2, 3] : tensor<2xindex>", &[]),
        ("%s = shape.shape_of %a : tensor<?x?xf32> -> tensor<2xindex>", &["dim(%a, 0)", "dim(%a, 1)"]),
        ("%s = stablehlo.convert %l : (tensor<2xi64>) -> tensor<2xi32>", &["%l[0]", "%l[1]"]),
        ("%s = tensor.from_elements %i, %j : tensor<2xindex>", &["%i", "%j"]),
        (
            "\
%n = stablehlo.get_dimension_size %a, dim = 1 : (tensor<?x?xf32>) -> tensor<i32>
  %p = stablehlo.reshape %n : (tensor<i32>) -> tensor<1xi32>
  %c = stablehlo.constant dense<3> : tensor<1xi32>
  %s = stablehlo.concatenate %p, %c, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>",
            &["dim(%a, 1)"],
        ),
        (
            "\
%p = stablehlo.reshape %t : (tensor<i32>) -> tensor<1xi32>
  %c = stablehlo.constant dense<3> : tensor<1xi32>
  %s = stablehlo.concatenate %c, %p, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>",
            &["%t"],
        ),
        ("%s = stablehlo.add %l, %l : tensor<2xi64>", &["%s[0]", "%s[1]"]),
    ];
    for (list, symbols) in ways {
        let ty = list.rsplit([' ']).next().unwrap();
        let shape: Vec<i64> = match list {
            _ if list.contains("dense<2>") => vec![2, 2],
            _ if list.contains("%c, %p") => vec![3, 2],
            _ => vec![2, 3],
        };
        let values = |name: &str, index: &[i64]| match name {
            "%l" | "%s" => Some(shape[index[0] as usize]),
            "%i" | "dim(%a, 0)" => Some(2),
            "%t" => Some(2),
            "%j" | "dim(%a, 1)" if list.contains("%p, %c") => Some(2),
            "%j" | "dim(%a, 1)" => Some(3),
            _ => None,
        };
        for maker in [
            format!("%x = stablehlo.dynamic_iota %s, dim = 0 : ({ty}) -> tensor<?x?xf32>"),
            format!("%x = stablehlo.dynamic_reshape %a, %s : (tensor<?x?xf32>, {ty}) -> tensor<?x?xf32>"),
            format!(
                "%x = stablehlo.dynamic_broadcast_in_dim %f, %s, dims = [] : (tensor<f32>, {ty}) -> tensor<?x?xf32>"
            ),
        ] {
            let text = format!(
                "\
func.func @f(%a: tensor<?x?xf32>, %l: tensor<2xi64>, %i: index, %j: index, %t: tensor<i32>, %f: tensor<f32>) {{
  {list}
  {maker}
  %r = stablehlo.negate %x : tensor<?x?xf32>
  return
}}
"
            );
            assert_eq!(symbols_of(&text, "stablehlo.negate", &shape, &values), symbols, "{text}");
        }
    }
}

#[test]
fn extents_of_tensors_of_other_dialects() {
    let values = |name: &str, _: &[i64]| (name == "%n").then_some(4);
    let text = "\
func.func @f(%n: index) {
  %e = tensor.empty(%n) : tensor<?x3xf32>
  %r = stablehlo.abs %e : tensor<?x3xf32>
  return
}
";
    assert_eq!(symbols_of(text, "stablehlo.abs", &[4, 3], &values), ["%n"]);
    let text = "\
func.func @f(%n: index) {
  %c = arith.constant 4 : index
  %e = tensor.empty(%c) : tensor<?x3xf32>
  %r = stablehlo.abs %e : tensor<?x3xf32>
  return
}
";
    assert_eq!(symbols_of(text, "stablehlo.abs", &[4, 3], &values), [""; 0]);
    // The op's own result.
    let read = function(
        &["%f: tensor<2xf32>, %s: tensor<2xi32>".to_owned()],
        "%r = stablehlo.dynamic_broadcast_in_dim %f, %s, dims = [0] : (tensor<2xf32>, tensor<2xi32>) -> tensor<2x?xf32>",
    );
    let maps = read.maps("stablehlo.dynamic_broadcast_in_dim");
    let symbols: Vec<String> =
        maps.accesses[0].symbols.iter().map(|s| s.describe(&maps.accesses[0].map)).collect();
    assert_eq!(symbols, ["%s[1]"]);
}
