use expect_test::{Expect, expect};

use crate::fixture::open_mlir;

/// The hover of an op after its line.
fn check(text: &str, expect: Expect) {
    let (analysis, file, offset) = open_mlir(text);
    let hover = analysis.hover(file, offset).expect("nobody cancels").expect("there is an op");
    let markdown = hover.markdown();
    let at = markdown.find("\n**").unwrap_or(markdown.len());
    expect.assert_eq(markdown[at..].trim_start());
}

#[test]
fn slices_with_sizes_that_are_not_known() {
    check(
        "\
func.func @f(%a: tensor<?x64xf32>, %n: index) {
  scf.for %i = %c0 to %n step %c4 {
    %0 = tensor.extract_slice$0 %a[%i, 8] [%n, 4] [1, 2] : tensor<?x64xf32> to tensor<?x4xf32>
  }
}
",
        expect![[r#"
            **output → `%a`**
            ```
            (d0, d1){c0, n, i} -> (d0 + i, d1 * 2 + 8)
            domain: 0 ≤ d0 < n, 0 ≤ d1 ≤ 3, 0 ≤ i < n, c0 ≤ i
            ```
        "#]],
    );
}

#[test]
fn loops_have_the_names_of_the_op() {
    check(
        "\
func.func @f(%a: tensor<4x8xf32>, %b: tensor<8x16xf32>, %c: tensor<4x16xf32>) {
  %0 = linalg.matmul$0 ins(%a, %b : tensor<4x8xf32>, tensor<8x16xf32>) outs(%c : tensor<4x16xf32>) -> tensor<4x16xf32>
}
",
        expect![[r#"
            **output → `%a`**
            ```
            (m, n)[k] -> (m, k)
            domain: m in [0, 3], n in [0, 15], k in [0, 7]
            ```
            reads 100 % (128 B), each element 16 times

            **output → `%b`**
            ```
            (m, n)[k] -> (k, n)
            domain: m in [0, 3], n in [0, 15], k in [0, 7]
            ```
            reads 100 % (512 B), each element 4 times

            **output → `%c`** identity · m ≤ 3, n ≤ 15

        "#]],
    );
}

#[test]
fn loads_say_where_in_memory_they_are() {
    check(
        "\
#map = affine_map<(d0)[s0] -> (d0 * 4 + s0)>
func.func @f(%m: memref<64x?xf32, strided<[100, 2], offset: ?>>, %k: index) {
  affine.for %i = 0 to 16 {
    affine.for %j = 2 to 10 step 3 {
      %x = affine.apply #map(%i)[%k]
      %0 = affine.load$0 %m[%x, %j + 1] : memref<64x?xf32, strided<[100, 2], offset: ?>>
    }
  }
}
",
        expect![[r#"
            **reads `%m`**
            ```
            (i, j){k} -> (i * 4 + k, j + 1)
            domain: 0 ≤ i ≤ 15, 2 ≤ j ≤ 9, (j + 1) mod 3 = 0
            ```
            address `i * 400 + j * 2 + k * 100 + m_offset + 2` · next `j`: +6

        "#]],
    );
}

#[test]
fn values_of_indices_are_told_in_terms_of_loops() {
    check(
        "\
func.func @f(%t: index {xla.range = [0 : index, 127 : index]}) {
  affine.for %i = 0 to 4 {
    %l = affine.linearize_index [%i, %t] by (4, 128) : index
    %0:2 = affine.delinearize_index$0 %l into (64, 8) : index, index
  }
}
",
        expect![[r#"
            **`%0#0` is**
            ```
            (i){t} -> (i * 16 + t floordiv 8)
            domain: i in [0, 3], t in [0, 127]
            ```
            **`%0#1` is**
            ```
            (i){t} -> (t mod 8)
            domain: i in [0, 3], t in [0, 127]
            ```
        "#]],
    );
}

#[test]
fn arguments_far_away() {
    check(
        "\
func.func @f(%a: tensor<4x8xf32>, %b: tensor<?xf32>) {
  %0 = stablehlo.transpose %a, dims = [1, 0] : (tensor<4x8xf32>) -> tensor<8x4xf32>
  %1 = tensor.collapse_shape %0 [[0, 1]] : tensor<8x4xf32> into tensor<32xf32>
  %2 = arith.addf %1, %1 : tensor<32xf32>
  %3 = tensor.extract_slice$0 %2[4] [8] [2] : tensor<32xf32> to tensor<8xf32>
}
",
        expect![[r#"
            **output → `%2`**
            ```
            (d0) -> (d0 * 2 + 4)
            domain: d0 in [0, 7]
            ```
            reads 25 % (32 B), each element once

            **→ `%a`** (through 4 ops)
            ```
            (d0) -> ((d0 mod 2) * 2, d0 floordiv 2 + 1)
            domain: d0 in [0, 7]
            ```
        "#]],
    );
}

#[test]
fn runtime_offsets_go_along() {
    check(
        "\
func.func @f(%a: tensor<64x8xf32>, %i: tensor<i32>) {
  %z = stablehlo.constant dense<0> : tensor<i32>
  %0 = stablehlo.dynamic_slice %a, %i, %z, sizes = [16, 8] : (tensor<64x8xf32>, tensor<i32>, tensor<i32>) -> tensor<16x8xf32>
  %1 = tensor.extract_slice$0 %0[2, 0] [4, 8] [1, 1] : tensor<16x8xf32> to tensor<4x8xf32>
}
",
        expect![[r#"
            **output → `%0`**
            ```
            (d0, d1) -> (d0 + 2, d1)
            domain: d0 in [0, 3], d1 in [0, 7]
            ```
            reads 25 % (128 B), each element once

            **→ `%a`** (through 2 ops)
            ```
            (d0, d1){i} -> (d0 + i + 2, d1)
            domain: d0 in [0, 3], d1 in [0, 7], i in [0, 48]
            ```
            **→ `%i`** (through 2 ops) the scalar

        "#]],
    );
}

#[test]
fn values_at_run_time_have_their_names() {
    check(
        r#"func.func @f(%a: tensor<64x8xf32>, %0: tensor<4x1xi32>) {
  %1 = "stablehlo.gather"$0(%a, %0) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 8>}> : (tensor<64x8xf32>, tensor<4x1xi32>) -> tensor<4x8xf32>
}
"#,
        expect![[r#"
            **output → `%a`**
            ```
            (batch, offset){v0} -> (v0, offset)
            domain: batch in [0, 3], offset in [0, 7], v0 in [0, 63]
            ```
            `v0` is `%0` at `(batch, offset) -> (batch, 0)`

            reads 1.562 to 6.25 % (128 B), each element 1 to 4 times, at most

            **output → `%0`**
            ```
            (batch, offset) -> (batch, 0)
            domain: batch in [0, 3], offset in [0, 7]
            ```
            reads 100 % (16 B), each element 8 times

        "#]],
    );
}

#[test]
fn stablehlo_of_dynamic_shapes() {
    check(
        "\
func.func @f(%a: tensor<?x8xf32>, %s: tensor<2xi32>) {
  %0 = stablehlo.dynamic_broadcast_in_dim$0 %a, %s, dims = [0, 1] : (tensor<?x8xf32>, tensor<2xi32>) -> tensor<?x8xf32>
}
",
        expect![[r#"
            **output → `%a`**
            ```
            (d0, d1){s_at0, a_dim0} -> (d0 mod a_dim0, d1)
            domain: 0 ≤ d0 < s_at0, 0 ≤ d1 ≤ 7, 0 ≤ s_at0, 0 ≤ a_dim0
            ```
            `s_at0` is `%s[0]` · `a_dim0` is `dim(%a, 0)`

        "#]],
    );
}

#[test]
fn vectors_are_read_from_tiles() {
    check(
        "\
func.func @f(%m: memref<32x30xf32>, %i: index, %p: f32) {
  %0 = vector.transfer_read$0 %m[%i, %i], %p {in_bounds = [true, false], permutation_map = affine_map<(d0, d1) -> (d1, d0)>} : memref<32x30xf32>, vector<4x8xf32>
}
",
        expect![[r#"
            **output → `%m`**
            ```
            (d0, d1){i} -> (d1 + i, d0 + i)
            domain: 0 ≤ d0 ≤ 3, 0 ≤ d1 ≤ 7, 0 ≤ d1 + i ≤ 31
            ```
            address `d1 * 30 + i * 31 + d0` · next `d1`: +30

            **output → `%p`** the scalar, outside of the array

        "#]],
    );
}

/// The maps in the hover of an op.
fn check_line(line: &str, expect: Expect) {
    let text = format!(
        "\
func.func @f(%a: tensor<4x8xf32>, %k: tensor<1x8xf32>, %i: tensor<i32>, %s: tensor<f32>) {{
  %z = stablehlo.constant dense<0> : tensor<i32>
  {line}
}}
"
    );
    let (analysis, file, offset) = open_mlir(&text);
    let hover = analysis.hover(file, offset).expect("nobody cancels").expect("there is an op");
    let markdown = hover.markdown();
    let maps = markdown.split("**output").skip(1).map(|block| format!("output{}\n", block.trim_end()));
    expect.assert_eq(&maps.collect::<String>());
}

#[test]
fn ops_read_their_operands_as_those_of_hlo_do() {
    check_line(
        "%0 = stablehlo.trans$0pose %a, dims = [1, 0] : (tensor<4x8xf32>) -> tensor<8x4xf32>",
        expect![[r#"
            output → `%a`**
            ```
            (d0, d1) -> (d1, d0)
            domain: d0 in [0, 7], d1 in [0, 3]
            ```
        "#]],
    );
    check_line(
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
    check_line(
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

#[test]
fn loops_of_xla_compute_indices() {
    check(
        r#"#map = #xla.indexing_map<"(w)[s0] -> (w, s0 * 2), domain: w in [0, 15], s0 in [0, 3]">
func.func @f(%in: tensor<16x8xf32>, %z: f32, %w: index {xla.range = [0 : index, 15 : index]}) -> f32 {
  %sum = xla.loop (%w)[%i] -> (%r0, %r1) in #map iter_args(%s = %z) -> (f32) {
    %x = tensor.extract$0 %in[%r0, %r1] : tensor<16x8xf32>
    xla.yield %x : f32
  }
}
"#,
        expect![[r#"
            **reads `%in`**
            ```
            (i){w} -> (w, i * 2)
            domain: i in [0, 3], w in [0, 15]
            ```
        "#]],
    );
    check(
        r#"#map = #xla.indexing_map<"(w)[s0] -> (w, s0 * 2), domain: w in [0, 15], s0 in [0, 3]">
func.func @f(%z: f32, %w: index) -> f32 {
  %sum = xla.loop$0 (%w)[%i] -> (%r0, %r1) in #map iter_args(%s = %z) -> (f32) {
    xla.yield %s : f32
  }
}
"#,
        expect![[r#"
            **points of the loop**
            ```
            (w)[i] -> (w, i * 2)
            domain: w in [0, 15], i in [0, 3]
            ```
        "#]],
    );
}

#[test]
fn variables_of_loops_have_ranges() {
    let (analysis, file, offset) = open_mlir(
        "\
func.func @f(%n: index) {
  affine.for %i = 2 to 10 step 3 {
    x.y $0%i : index
  }
}
",
    );
    let hover = analysis.hover(file, offset).expect("nobody cancels").expect("there is a value");
    let markdown = hover.markdown();
    let ranges: Vec<_> = markdown.lines().filter(|l| l.contains('≤')).collect();
    assert_eq!(ranges, ["2 ≤ i ≤ 9, (i + 1) mod 3 = 0"]);
}

/// Aliases are at the top, and their uses in other pieces.
#[test]
fn aliases_of_other_pieces_are_known() {
    let filler: String = (0..1500)
        .map(|n| format!("func.func @f{n}(%a: f32) {{\n  %b = x.y %a : f32\n  return\n}}\n"))
        .collect();
    let text = format!(
        "\
#map = affine_map<(d0)[s0] -> (d0 * 4 + s0)>
!array = tensor<4x8xf32>
{filler}func.func @g(%i: index, %x: !array) {{
  %0 = affine.apply$0 #map(%i)[%i]
}}
"
    );
    check(
        &text,
        expect![[r#"
        **`%0` is**
        ```
        (){i} -> (i * 5)
        ```
    "#]],
    );
    let text = text.replace("$0", "").replace(
        "%0 = ",
        "%1 = tensor.extract_slice$0 %x[0, 1] [4, 2] [1, 3] : !array to tensor<4x2xf32>\n  %0 = ",
    );
    check(
        &text,
        expect![[r#"
        **output → `%x`**
        ```
        (d0, d1) -> (d0, d1 * 3 + 1)
        domain: d0 in [0, 3], d1 in [0, 1]
        ```
        reads 25 % (32 B), each element once

    "#]],
    );
}

#[test]
fn masks_of_stores_are_read() {
    let (analysis, file, offset) = open_mlir(
        "\
func.func @f(%m: memref<16xf32>, %i: index, %k: vector<4xi1>, %v: vector<4xf32>) {
  vector.maskedstore$0 %m[%i], %k, %v : memref<16xf32>, vector<4xi1>, vector<4xf32>
  return
}
",
    );
    let hover = analysis.hover(file, offset).expect("nobody cancels").expect("there is an op");
    let text = hover.markdown();
    assert!(text.contains("**`%v` → `%m`** written") && text.contains("**`%v` → `%k`**"), "{text}");
    assert!(!text.contains("`%k`** written"), "{text}");
}

#[test]
fn bounds_say_why_they_are_no_maps() {
    check(
        "\
func.func @f(%a: tensor<11x5xf32>, %b: tensor<3x5x7xf32>, %g: tensor<3xi32>) {
  %0 = \"mhlo.ragged_dot$0\"(%a, %b, %g) <{ragged_dot_dimension_numbers = #mhlo.ragged_dot<dot_dimension_numbers = #mhlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1]>, lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>}> : (tensor<11x5xf32>, tensor<3x5x7xf32>, tensor<3xi32>) -> tensor<11x7xf32>
}
",
        expect![[r#"
            **output → `%a`**
            ```
            (d0, d1)[s0] -> (d0, s0)
            domain: d0 in [0, 10], d1 in [0, 6], s0 in [0, 4]
            ```
            reads at most its row: a row after the last group is not; the groups' sizes are runtime values

            XLA has no map here.

            reads 0 to 100 % (220 B), each element 1 to 385 times, at most

            **output → `%b`**
            ```
            (d0, d1)[s0, s1] -> (s1, s0, d1)
            domain: d0 in [0, 10], d1 in [0, 6], s0 in [0, 4], s1 in [0, 2]
            ```
            reads at most every group: a row belongs to one group; the groups' sizes are runtime values

            XLA has no map here.

            reads 0 to 100 % (420 B), each element 1 to 1155 times, at most

            **output → `%g`**
            ```
            (d0, d1)[s0] -> (s0)
            domain: d0 in [0, 10], d1 in [0, 6], s0 in [0, 2]
            ```
            reads at most all group sizes: the ones before its group say where that starts

            XLA has no map here.

            reads 0 to 100 % (12 B), each element 1 to 231 times, at most

        "#]],
    );
}
