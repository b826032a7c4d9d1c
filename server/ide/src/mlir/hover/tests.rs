use expect_test::{Expect, expect};

use crate::fixture::open_mlir;

fn check(text: &str, expect: Expect) {
    let (analysis, file, offset) = open_mlir(text);
    let hover = analysis.hover(file, offset).expect("nobody cancels");
    expect.assert_eq(&hover.map_or("nothing\n".to_owned(), |h| h.markdown()));
}

#[test]
fn values_have_types_and_sizes() {
    check(
        "\
func.func @f(%a: tensor<4x8xf32>) {
  %0:2 = x.y %a : (tensor<4x8xf32>) -> (f32, tensor<2xi8>)
  x.z %0$0#1 : tensor<2xi8>
}
",
        expect![[r#"
            ```mlir
            %0#1 : tensor<2xi8>
            ```

            2 B · 2 elements

            one of 2 results · used once

            ---

            ```mlir
            %0:2 = x.y %a : (tensor<4x8xf32>) -> (f32, tensor<2xi8>)
            ```
        "#]],
    );
}

#[test]
fn ops_are_shown_without_their_payload() {
    let payload = "00".repeat(5000);
    check(
        &format!("%c = $0stablehlo.constant dense<\"0x{payload}\"> : tensor<5000xi8>\n"),
        expect![[r#"
            ```mlir
            %c = stablehlo.constant dense<"0x00000000000000000000000000000…" /* 10 kB */> : tensor<5000xi8>
            ```

            `%c` : `tensor<5000xi8>` · 5 kB · 5000 elements
        "#]],
    );
}

#[test]
fn symbols_lead_to_their_signature() {
    check(
        "\
func.func private @g(%a: f32) -> f32 {
  return %a : f32
}
func.func @f(%a: f32) {
  %0 = call $0@g(%a) : (f32) -> f32
}
",
        expect![[r#"
            ```mlir
            func.func private @g(%a: f32) -> f32
            ```

            used once
        "#]],
    );
}

#[test]
fn functions_tell_their_kernel() {
    check(
        "func.func @f(%a: tensor<64x66xf32>, %b: tensor<66x64xf32>) -> tensor<64x66xf32> {
  %0 = stablehlo.transpose %b, dims = [1, 0] : (tensor<66x64xf32>) -> tensor<64x66xf32>
  %1 = stablehlo.add %a, %0 : tensor<64x66xf32>
  return %1 : tensor<64x66xf32>
}
func.func @main(%a: tensor<64x66xf32>, %b: tensor<66x64xf32>) -> tensor<64x66xf32> {
  %0 = call $0@f(%a, %b) : (tensor<64x66xf32>, tensor<66x64xf32>) -> tensor<64x66xf32>
  return %0 : tensor<64x66xf32>
}
",
        expect![[r#"
            ```mlir
            func.func @f(%a: tensor<64x66xf32>, %b: tensor<66x64xf32>) -> tensor<64x66xf32>
            ```

            used once

            **transpose** on h100-sxm · hero `%transpose.0` · grid 6 × 128 threads, 4.22 kB shared · 50.7 kB needed, 59.9 kB moved · ≈ 0.095 µs

            epilogue: from `%transpose.0` to `%add.1`

            - reads `%a`: contiguous, 3.5 sectors per request (ideal 3), 21.5 kB moved for 16.9 kB
            - reads `%b`: contiguous, 4 sectors per request (ideal 4), 16.9 kB moved for 16.9 kB
            - writes `%add.1`: contiguous, 3.5 sectors per request (ideal 3), 21.5 kB moved for 16.9 kB

            **thread → output, `%a`**
            ```
            (th_x, bl_x)[s0] -> ((bl_x mod 2) * 32 + s0 * 4 + th_x floordiv 32,
              (bl_x floordiv 2) * 32 + th_x mod 32)
            domain: th_x in [0, 127], bl_x in [0, 5], s0 in [0, 7],
              (bl_x floordiv 2) * 32 + th_x mod 32 in [0, 65]
            ```
            **thread → `%b`**
            ```
            (th_x, bl_x)[s0] -> ((bl_x floordiv 2) * 32 + s0 * 4 + th_x floordiv 32,
              (bl_x mod 2) * 32 + th_x mod 32)
            domain: th_x in [0, 127], bl_x in [0, 5], s0 in [0, 7],
              (bl_x floordiv 2) * 32 + s0 * 4 + th_x floordiv 32 in [0, 65]
            ```
            **3 functions**
            1. `f_add_1` of 2 instructions
            2. `f_transpose_0` of 1 instruction: the hero, before its epilogue
            3. `f_b` of 1 instruction: read by the hero

        "#]],
    );
}

#[test]
fn types_that_are_not_written_are_told() {
    check(
        "func.func @f(%a: i32) {\n  %0 = arith.c$0mpi slt, %a, %a : i32\n}\n",
        expect![[r#"
            ```mlir
            %0 = arith.cmpi slt, %a, %a : i32
            ```

            `%0` : `i1`
        "#]],
    );
}
