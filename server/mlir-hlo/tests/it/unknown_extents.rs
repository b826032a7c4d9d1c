//! Extents of which only a bound is known, or nothing: what needs them is refused by name, and what does not is as wide as it is.

use crate::{faults, to_hlo, to_stablehlo};

const BOUNDED: &str = "tensor<?x8xf32, #stablehlo.bounds<4, ?>>";

/// The lines of a function of these arguments that hold `word`, and what is not said.
fn lines(arguments: &str, op: &str, result: &str, word: &str) -> (Vec<String>, Vec<String>) {
    let text = format!(
        "\
func.func @main({arguments}) -> {result} {{
  %r = {op}
  return %r : {result}
}}
"
    );
    let module = to_hlo(&text);
    assert_eq!(faults(&module.text), [] as [&str; 0], "{}", module.text);
    let told = module.incomplete.into_iter().map(|(_, missing)| missing.what).collect();
    let lines = module.text.lines().skip(1).filter(|line| line.contains(word));
    (lines.map(|line| line.split_once(" = ").map_or(line, |(_, rest)| rest).to_owned()).collect(), told)
}

#[test]
fn what_needs_an_extent_is_refused() {
    let arguments = format!("%a: {BOUNDED}, %b: tensor<8xf32>, %c: tensor<8x8xf32>");
    let told = |op: &str| lines(&arguments, op, BOUNDED, "").1;
    let unknown = "an extent of f32[<=4,8] is not known";
    assert_eq!(
        told(&format!(
            "stablehlo.einsum %a, %c, config = \"...j,jk->...k\" : ({BOUNDED}, tensor<8x8xf32>) -> {BOUNDED}"
        )),
        [format!("stablehlo.einsum: {unknown}")]
    );
    assert_eq!(
        told(&format!("chlo.broadcast_add %a, %b : ({BOUNDED}, tensor<8xf32>) -> {BOUNDED}")),
        [format!("chlo.broadcast_add: {unknown}")]
    );
    assert_eq!(
        told(&format!(
            "\"stablehlo.all_to_all\"(%a) <{{split_dimension = 1 : i64, concat_dimension = 0 : i64, split_count = 2 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}}> : ({BOUNDED}) -> {BOUNDED}"
        )),
        [format!("stablehlo.all_to_all: {unknown}")]
    );
    assert_eq!(
        told(&format!(
            "\"stablehlo.torch_index_select\"(%a, %i) <{{dim = 1 : i64, batch_dims = 0 : i64}}> : ({BOUNDED}, tensor<8xi32>) -> {BOUNDED}"
        )).len(),
        1
    );
}

#[test]
fn what_needs_the_rank_counts_all_dimensions() {
    let rows = "tensor<?xi32, #stablehlo.bounds<4>>";
    let result = "tensor<?x6xf32, #stablehlo.bounds<4, ?>>";
    let (found, told) = lines(
        &format!("%a: tensor<5x6xf32>, %i: {rows}"),
        &format!(
            "\"stablehlo.torch_index_select\"(%a, %i) <{{dim = 0 : i64, batch_dims = 0 : i64}}> : (tensor<5x6xf32>, {rows}) -> {result}"
        ),
        result,
        "gather(",
    );
    assert_eq!(told, [] as [&str; 0]);
    assert_eq!(
        found,
        [
            "f32[<=4,6] gather(a, i), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1,6}"
        ]
    );
    let (found, told) = lines(
        &format!("%a: {BOUNDED}, %c: tensor<8x3xf32>"),
        &format!(
            "\"stablehlo.dot\"(%a, %c) : ({BOUNDED}, tensor<8x3xf32>) -> tensor<?x3xf32, #stablehlo.bounds<4, ?>>"
        ),
        "tensor<?x3xf32, #stablehlo.bounds<4, ?>>",
        " dot(",
    );
    assert_eq!(told, [] as [&str; 0]);
    assert_eq!(found, ["f32[<=4,3] dot(a, c), lhs_contracting_dims={1}, rhs_contracting_dims={0}"]);
}

#[test]
fn of_nothing_nothing_is_taken() {
    let (found, _) = lines(
        "%a: tensor<0x3xf32>, %i: tensor<0xi32>",
        "\"stablehlo.torch_index_select\"(%a, %i) <{dim = 0 : i64, batch_dims = 0 : i64}> : (tensor<0x3xf32>, tensor<0xi32>) -> tensor<0x3xf32>",
        "tensor<0x3xf32>",
        "gather(",
    );
    assert!(found.len() == 1 && found[0].ends_with("slice_sizes={0,3}"), "{found:?}");
}

#[test]
fn numbers_are_of_their_types() {
    let (matrix, row) = ("tensor<4x4xcomplex<f32>>", "tensor<4xcomplex<f32>>");
    let (found, told) = lines(
        &format!("%a: {matrix}"),
        &format!("\"stablehlo.unary_einsum\"(%a) <{{einsum_config = \"ij->i\"}}> : ({matrix}) -> {row}"),
        row,
        "constant(",
    );
    assert_eq!((found, told), (vec!["c64[] constant((0, 0))".to_owned()], Vec::new()));
    let atan = format!("chlo.atan %a : {row} -> {row}");
    assert_eq!(lines(&format!("%a: {row}"), &atan, row, "constant(").0, ["c64[] constant((1, 0))"]);
    let (empty, pred) = ("tensor.empty() : tensor<4xcomplex<f64>>", "tensor<4xcomplex<f64>>");
    assert_eq!(lines("", empty, pred, "constant(").0, ["c128[] constant((0, 0))"]);
    // A sum is one of the type that is asked for.
    let (found, told) = lines(
        "%a: tensor<2x3xbf16>",
        "\"stablehlo.unary_einsum\"(%a) <{einsum_config = \"ij->i\"}> : (tensor<2x3xbf16>) -> tensor<2xf32>",
        "tensor<2xf32>",
        "f32[2",
    );
    assert_eq!(told, [] as [&str; 0]);
    assert!(found.iter().any(|line| line == "f32[2,3] convert(a)"), "{found:?}");
    assert!(found.iter().any(|line| line.starts_with("f32[2] reduce(")), "{found:?}");
}

/// Padding that is an operand is the whole padding, also where it is none.
#[test]
fn padding_that_is_given_wins() {
    let conv = |given: &str| {
        format!(
            r#"func.func @main(%x: tensor<1x8x8x3xf32>, %k: tensor<3x3x3x5xf32>) -> tensor<1x6x6x5xf32> {{
  %p = stablehlo.constant dense<{given}> : tensor<2x2xi64>
  %r = "stablehlo.dynamic_conv"(%x, %k, %p) <{{dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, batch_group_count = 1 : i64, feature_group_count = 1 : i64, padding = dense<1> : tensor<2x2xi64>}}> : (tensor<1x8x8x3xf32>, tensor<3x3x3x5xf32>, tensor<2x2xi64>) -> tensor<1x6x6x5xf32>
  return %r : tensor<1x6x6x5xf32>
}}
"#
        )
    };
    for (given, window) in [
        ("0", "window={size=3x3}"),
        ("1", "window={size=3x3 pad=1_1x1_1}"),
        ("[[0, 1], [2, 3]]", "window={size=3x3 pad=0_1x2_3}"),
    ] {
        let hlo = to_hlo(&conv(given)).text;
        assert!(hlo.contains(window), "{window} is not in\n{hlo}");
    }
}

/// Numbers that no array is that large for end early.
#[test]
fn counts_are_those_of_what_is_written() {
    let text = r#"func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {
  %r:2147483647 = "stablehlo.none"(%a) : (tensor<4xf32>) -> tensor<4xf32>
  return %r#0 : tensor<4xf32>
}
"#;
    assert!(!to_hlo(text).incomplete.is_empty());
    let hlo = "\
HloModule m

ENTRY e {
  a = f32[8,8] parameter(0)
  p = s32[4000000] parameter(1)
  ROOT d = f32[2,2] dynamic-slice(a, p), dynamic_slice_sizes={2,2}
}
";
    let stablehlo = to_stablehlo(hlo);
    assert!(stablehlo.text.len() < 10_000, "{} bytes", stablehlo.text.len());
    let told: Vec<_> = stablehlo.incomplete.into_iter().map(|missing| missing.what).collect();
    assert_eq!(told, ["dynamic-slice: its places are not as many as the dimensions of its operand"]);
}

#[test]
fn functions_of_one_name_have_names_of_their_own() {
    let function = |name: &str| {
        format!(
            "\
func.func private @{name}(%a: tensor<f32>) -> tensor<f32> {{
  return %a : tensor<f32>
}}
"
        )
    };
    let names = ["\"f+\"", "\"f-\"", "\"f*\"", "f__1", "f_"];
    let text: String = names.iter().map(|name| function(name)).collect();
    let hlo = to_hlo(&text).text;
    assert_eq!(faults(&hlo), [] as [&str; 0], "{hlo}");
}
