//! The tile programs of small fusions.

mod fusions;

use expect_test::{Expect, expect};
use fusions::{program_of, text_of};

const COMBINERS: &str = "
%add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b)
}

%largest_of_doubled {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  two = f32[] constant(2)
  d = f32[] multiply(b, two)
  ROOT m = f32[] maximum(a, d)
}
";

/// The program of the only fusion of a module: `body` is its computation, `sizes` the tile of a block.
fn program(result: &str, operands: &str, body: &str, sizes: &str) -> Result<String, String> {
    let (names, parameters): (Vec<&str>, Vec<String>) = (operands.split(';').filter(|o| !o.is_empty()))
        .filter_map(|operand| operand.trim().split_once('='))
        .enumerate()
        .map(|(n, (name, shape))| (name.trim(), format!("  {name} = {shape} parameter({n})\n")))
        .unzip();
    let module = format!(
        "HloModule m\n{COMBINERS}\n%fused {{\n{0}{body}\n}}\n\nENTRY %e {{\n{0}  ROOT tiles = {result} fusion({1}), \
         kind=kCustom, calls=%fused, backend_config={{\"fusion_backend_config\":{{\"kind\":\"__triton\",\
         \"block_level_fusion_config\":{{\"num_warps\":\"4\",\"output_tiles\":[{{\"sizes\":[{sizes}]}}]}}}}}}\n}}\n",
        parameters.concat(),
        names.join(", "),
    );
    Ok(text_of(&program_of(&module)?))
}

#[track_caller]
fn refused(result: &str, operands: &str, body: &str, sizes: &str, expect: &str) {
    assert_eq!(program(result, operands, body, sizes), Err(expect.to_owned()));
}

/// The body of the only function.
#[track_caller]
fn check(result: &str, operands: &str, body: &str, sizes: &str, expect: &Expect) {
    let text = program(result, operands, body, sizes).expect("a program");
    let lines = text.lines().filter(|line| line.starts_with("    ") && !line.contains("xtile.return"));
    expect.assert_eq(&lines.map(|line| format!("{}\n", &line[4..])).collect::<String>());
}

#[test]
fn a_reduction_masks_what_is_beyond_the_row() {
    check(
        "f32[8]",
        "p = bf16[8,100]",
        "  c = f32[8,100] convert(p)
  z = f32[] constant(0)
  ROOT r = f32[8] reduce(c, z), dimensions={1}, to_apply=%add",
        "\"2\"",
        &expect![[r#"
            %c0 = arith.constant 0 : index
            %0 = xla.apply_indexing #indexing_map(%arg2, %arg2)
            %c0_0 = arith.constant 0 : index
            %1 = xtile.extract %arg0[%0, %c0_0] [2, 128] [1, 1] : memref<8x100xbf16> -> tensor<2x128xbf16>
            %2 = stablehlo.convert %1 : (tensor<2x128xbf16>) -> tensor<2x128xf32>
            %cst = arith.constant dense<0.000000e+00> : tensor<f32>
            %extracted = tensor.extract %cst[] : tensor<f32>
            %3 = xtile.mask %2 bounds [2, 100], %extracted : tensor<2x128xf32>
            %4 = stablehlo.reduce(%3 init: %cst) applies stablehlo.add across dimensions = [1] : (tensor<2x128xf32>, tensor<f32>) -> tensor<2xf32>
            %5 = xla.apply_indexing #indexing_map(%arg2, %arg2)
            xtile.insert %4 into %arg1[%5] [2] [1] : tensor<2xf32> -> memref<8xf32>
        "#]],
    );
}

#[test]
fn a_combiner_of_several_ops_is_written_out() {
    check(
        "f32[8]",
        "p = f32[8,4]",
        "  z = f32[] constant(-inf)
  ROOT r = f32[8] reduce(p, z), dimensions={1}, to_apply=%largest_of_doubled",
        "\"8\"",
        &expect![[r#"
            %c0 = arith.constant 0 : index
            %c0_0 = arith.constant 0 : index
            %c0_1 = arith.constant 0 : index
            %0 = xtile.extract %arg0[%c0_0, %c0_1] [8, 4] [1, 1] : memref<8x4xf32> -> tensor<8x4xf32>
            %cst = arith.constant dense<0xFF800000> : tensor<f32>
            %extracted = tensor.extract %cst[] : tensor<f32>
            %1 = stablehlo.reduce(%0 init: %cst) across dimensions = [1] : (tensor<8x4xf32>, tensor<f32>) -> tensor<8xf32>
             reducer(%arg3: tensor<f32>, %arg4: tensor<f32>)  {
              %cst_3 = arith.constant dense<2.000000e+00> : tensor<f32>
              %2 = stablehlo.multiply %arg4, %cst_3 : tensor<f32>
              %3 = stablehlo.maximum %arg3, %2 : tensor<f32>
              stablehlo.return %3 : tensor<f32>
            }
            %c0_2 = arith.constant 0 : index
            xtile.insert %1 into %arg1[%c0_2] [8] [1] : tensor<8xf32> -> memref<8xf32>
        "#]],
    );
}

#[test]
fn a_dot_is_a_loop_whose_last_step_is_masked() {
    check(
        "f32[32,16]",
        "p = bf16[32,40]; q = bf16[40,16]; s = bf16[32]",
        "  b = bf16[32,40] broadcast(s), dimensions={0}
  m = bf16[32,40] multiply(p, b)
  ROOT d = f32[32,16] dot(m, q), lhs_contracting_dims={1}, rhs_contracting_dims={0}, backend_config={\"sizes\":[\"32\"]}",
        "\"16\",\"16\"",
        &expect![[r#"
            %0 = xla.apply_indexing #indexing_map(%arg4, %arg4)
            %1 = xtile.extract %arg2[%0] [16] [1] : memref<32xbf16> -> tensor<16xbf16>
            %cst = arith.constant dense<0.000000e+00> : tensor<16x16xf32>
            %c0 = arith.constant 0 : index
            %c2 = arith.constant 2 : index
            %c1 = arith.constant 1 : index
            %2 = scf.for %arg5 = %c0 to %c2 step %c1 iter_args(%arg6 = %cst) -> (tensor<16x16xf32>) {
              %4 = arith.index_cast %arg5 : index to i32
              %5 = xla.apply_indexing #indexing_map1(%arg4, %arg4)[%arg5]
              %6 = xla.apply_indexing #indexing_map2(%arg4, %arg4)[%arg5]
              %7 = xtile.extract %arg0[%5, %6] [16, 32] [1, 1] : memref<32x40xbf16> -> tensor<16x32xbf16>
              %8 = stablehlo.broadcast_in_dim %1, dims = [0] : (tensor<16xbf16>) -> tensor<16x32xbf16>
              %9 = stablehlo.multiply %7, %8 : tensor<16x32xbf16>
              %10 = xla.apply_indexing #indexing_map2(%arg4, %arg4)[%arg5]
              %c0_1 = arith.constant 0 : index
              %11 = xtile.extract %arg1[%10, %c0_1] [32, 16] [1, 1] : memref<40x16xbf16> -> tensor<32x16xbf16>
              %cst_2 = arith.constant 0.000000e+00 : bf16
              %c32_i32 = arith.constant 32 : i32
              %c40_i32 = arith.constant 40 : i32
              %12 = arith.divsi %c40_i32, %c32_i32 : i32
              %13 = arith.cmpi sge, %4, %12 : i32
              %14 = scf.if %13 -> (tensor<16x32xbf16>) {
                %20 = arith.muli %4, %c32_i32 : i32
                %21 = stablehlo.iota dim = 0 : tensor<32xi32>
                %from_elements = tensor.from_elements %20 : tensor<i32>
                %22 = stablehlo.broadcast_in_dim %from_elements, dims = [] : (tensor<i32>) -> tensor<32xi32>
                %23 = arith.addi %21, %22 : tensor<32xi32>
                %cst_6 = arith.constant dense<40> : tensor<32xi32>
                %24 = arith.cmpi slt, %23, %cst_6 : tensor<32xi32>
                %25 = stablehlo.broadcast_in_dim %24, dims = [1] : (tensor<32xi1>) -> tensor<16x32xi1>
                %from_elements_7 = tensor.from_elements %cst_2 : tensor<bf16>
                %26 = stablehlo.broadcast_in_dim %from_elements_7, dims = [] : (tensor<bf16>) -> tensor<16x32xbf16>
                %27 = arith.select %25, %9, %26 : tensor<16x32xi1>, tensor<16x32xbf16>
                scf.yield %27 : tensor<16x32xbf16>
              } else {
                scf.yield %9 : tensor<16x32xbf16>
              }
              %cst_3 = arith.constant 0.000000e+00 : bf16
              %c32_i32_4 = arith.constant 32 : i32
              %c40_i32_5 = arith.constant 40 : i32
              %15 = arith.divsi %c40_i32_5, %c32_i32_4 : i32
              %16 = arith.cmpi sge, %4, %15 : i32
              %17 = scf.if %16 -> (tensor<32x16xbf16>) {
                %20 = arith.muli %4, %c32_i32_4 : i32
                %21 = stablehlo.iota dim = 0 : tensor<32xi32>
                %from_elements = tensor.from_elements %20 : tensor<i32>
                %22 = stablehlo.broadcast_in_dim %from_elements, dims = [] : (tensor<i32>) -> tensor<32xi32>
                %23 = arith.addi %21, %22 : tensor<32xi32>
                %cst_6 = arith.constant dense<40> : tensor<32xi32>
                %24 = arith.cmpi slt, %23, %cst_6 : tensor<32xi32>
                %25 = stablehlo.broadcast_in_dim %24, dims = [0] : (tensor<32xi1>) -> tensor<32x16xi1>
                %from_elements_7 = tensor.from_elements %cst_3 : tensor<bf16>
                %26 = stablehlo.broadcast_in_dim %from_elements_7, dims = [] : (tensor<bf16>) -> tensor<32x16xbf16>
                %27 = arith.select %25, %11, %26 : tensor<32x16xi1>, tensor<32x16xbf16>
                scf.yield %27 : tensor<32x16xbf16>
              } else {
                scf.yield %11 : tensor<32x16xbf16>
              }
              %18 = stablehlo.dot_general %14, %17, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<16x32xbf16>, tensor<32x16xbf16>) -> tensor<16x16xf32>
              %19 = arith.addf %arg6, %18 : tensor<16x16xf32>
              scf.yield %19 : tensor<16x16xf32>
            }
            %3 = xla.apply_indexing #indexing_map(%arg4, %arg4)
            %c0_0 = arith.constant 0 : index
            xtile.insert %2 into %arg3[%3, %c0_0] [16, 16] [1, 1] : tensor<16x16xf32> -> memref<32x16xf32>
        "#]],
    );
}

#[test]
fn a_concatenation_branches_on_the_offset() {
    check(
        "f32[24]",
        "p = f32[8]; q = f32[16]",
        "  ROOT c = f32[24] concatenate(p, q), dimensions={0}",
        "\"8\"",
        &expect![[r#"
            %0 = xla.apply_indexing #indexing_map(%arg3, %arg3)
            %c8 = arith.constant 8 : index
            %1 = arith.cmpi slt, %0, %c8 : index
            %2 = scf.if %1 -> (tensor<8xf32>) {
              %4 = xla.apply_indexing #indexing_map(%arg3, %arg3)
              %5 = xtile.extract %arg0[%4] [8] [1] : memref<8xf32> -> tensor<8xf32>
              scf.yield %5 : tensor<8xf32>
            } else {
              %4 = xla.apply_indexing #indexing_map1(%arg3, %arg3)
              %5 = xtile.extract %arg1[%4] [8] [1] : memref<16xf32> -> tensor<8xf32>
              scf.yield %5 : tensor<8xf32>
            }
            %3 = xla.apply_indexing #indexing_map(%arg3, %arg3)
            xtile.insert %2 into %arg2[%3] [8] [1] : tensor<8xf32> -> memref<24xf32>
        "#]],
    );
}

#[test]
fn a_dynamic_slice_reads_at_a_clamped_offset() {
    check(
        "f32[4,8]",
        "p = f32[16,8]; at = s32[]; z = s32[]",
        "  d = f32[4,8] dynamic-slice(p, at, z), dynamic_slice_sizes={4,8}
  ROOT n = f32[4,8] negate(d)",
        "\"2\",\"8\"",
        &expect![[r#"
            %0 = xtile.extract %arg1[] [] [] : memref<i32> -> tensor<i32>
            %extracted = tensor.extract %0[] : tensor<i32>
            %c0_i32 = arith.constant 0 : i32
            %1 = arith.maxsi %extracted, %c0_i32 : i32
            %c12_i32 = arith.constant 12 : i32
            %2 = arith.minsi %1, %c12_i32 : i32
            %3 = arith.index_cast %2 : i32 to index
            %4 = xtile.extract %arg2[] [] [] : memref<i32> -> tensor<i32>
            %extracted_0 = tensor.extract %4[] : tensor<i32>
            %c0_i32_1 = arith.constant 0 : i32
            %5 = arith.maxsi %extracted_0, %c0_i32_1 : i32
            %c0_i32_2 = arith.constant 0 : i32
            %6 = arith.minsi %5, %c0_i32_2 : i32
            %7 = arith.index_cast %6 : i32 to index
            %8 = xla.apply_indexing #indexing_map(%arg4, %arg4)[%3, %7]
            %9 = xtile.extract %arg0[%8, %7] [2, 8] [1, 1] : memref<16x8xf32> -> tensor<2x8xf32>
            %10 = stablehlo.negate %9 : tensor<2x8xf32>
            %11 = xla.apply_indexing #indexing_map1(%arg4, %arg4)
            %c0 = arith.constant 0 : index
            xtile.insert %10 into %arg3[%11, %c0] [2, 8] [1, 1] : tensor<2x8xf32> -> memref<4x8xf32>
        "#]],
    );
}

#[test]
fn a_bitcast_that_reorders_is_transposed_and_reshaped() {
    check(
        "f32[4,8]",
        "p = f32[4,2,4]{0,1,2}",
        "  b = f32[4,8]{1,0} bitcast(p)
  ROOT n = f32[4,8] negate(b)",
        "\"2\",\"8\"",
        &expect![[r#"
            %c0 = arith.constant 0 : index
            %c0_0 = arith.constant 0 : index
            %0 = xla.apply_indexing #indexing_map(%arg2, %arg2)
            %1 = xtile.extract %arg0[%c0, %c0_0, %0] [4, 2, 2] [1, 1, 1] : memref<4x2x4xf32, #xtile.layout<[0, 1, 2]>> -> tensor<4x2x2xf32>
            %2 = stablehlo.transpose %1, dims = [2, 1, 0] : (tensor<4x2x2xf32>) -> tensor<2x2x4xf32>
            %3 = stablehlo.reshape %2 : (tensor<2x2x4xf32>) -> tensor<2x8xf32>
            %4 = stablehlo.negate %3 : tensor<2x8xf32>
            %5 = xla.apply_indexing #indexing_map(%arg2, %arg2)
            %c0_1 = arith.constant 0 : index
            xtile.insert %4 into %arg1[%5, %c0_1] [2, 8] [1, 1] : tensor<2x8xf32> -> memref<4x8xf32>
        "#]],
    );
}

#[test]
fn predicates_are_bytes_in_memory() {
    check(
        "pred[8]",
        "p = pred[8]; q = s8[8]",
        "  z = s8[] constant(0)
  b = s8[8] broadcast(z), dimensions={}
  c = pred[8] compare(q, b), direction=LT
  ROOT o = pred[8] add(p, c)",
        "\"8\"",
        &expect![[r#"
            %c0 = arith.constant 0 : index
            %0 = xtile.extract %arg0[%c0] [8] [1] : memref<8xi8> -> tensor<8xi8>
            %1 = stablehlo.convert %0 : (tensor<8xi8>) -> tensor<8xi1>
            %c0_0 = arith.constant 0 : index
            %2 = xtile.extract %arg1[%c0_0] [8] [1] : memref<8xi8> -> tensor<8xi8>
            %cst = arith.constant dense<0> : tensor<i8>
            %3 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<i8>) -> tensor<8xi8>
            %4 = stablehlo.compare LT, %2, %3 : (tensor<8xi8>, tensor<8xi8>) -> tensor<8xi1>
            %5 = arith.ori %1, %4 : tensor<8xi1>
            %6 = stablehlo.convert %5 : (tensor<8xi1>) -> tensor<8xi8>
            %c0_1 = arith.constant 0 : index
            xtile.insert %6 into %arg2[%c0_1] [8] [1] : tensor<8xi8> -> memref<8xi8>
        "#]],
    );
}

#[test]
fn what_xla_refuses() {
    let shape = "f32[384,500]";
    refused(
        shape,
        "p = f32[384,500]",
        "  ROOT r = f32[384,500] logistic(p)",
        "\"16\",\"64\"",
        "Unsupported elementwise operation %r = f32[384,500] logistic(%p)",
    );
    refused(
        "f32[64,32]",
        "p = f32[64,16]; q = f32[4,16,32]; g = s32[4]",
        "  ROOT r = f32[64,32] ragged-dot(p, q, g), lhs_contracting_dims={1}, rhs_contracting_dims={1}, \
         lhs_ragged_dims={0}, rhs_group_dims={0}",
        "\"16\",\"16\"",
        "tiles of ragged-dot are not supported yet",
    );
    refused(
        "f32[33,65]",
        "p = f32[33,65]",
        "  ROOT r = f32[33,65] reverse(p), dimensions={1}",
        "\"4\",\"16\"",
        "Output to input tile propagation not implemented for reverse",
    );
    refused(
        "f32[512,8,128]",
        "p = f32[1024,512]",
        "  b = f32[512,8,128] bitcast(p)\n  ROOT r = f32[512,8,128] exponential(b)",
        "\"2\",\"4\",\"64\"",
        "Unsupported reshape (kGeneric).",
    );
    refused(
        "f32[60,14]",
        "p = f32[6,10,14]",
        "  b = f32[60,14] bitcast(p)\n  ROOT r = f32[60,14] exponential(b)",
        "\"4\",\"14\"",
        "Reshape is non-contiguous [60] -> [6, 10]: Multiple dimensions are partially tiled",
    );
    refused(
        "f32[24]",
        "p = f32[6]; q = f32[18]",
        "  ROOT c = f32[24] concatenate(p, q), dimensions={0}",
        "\"4\"",
        "Tiling propagation rejected for %c: The remaining dimension size 6 in the concatenate operand 0 must be a \
         clean multiple of its tile size 4",
    );
    refused(
        "f32[8]",
        "p = f32[8]",
        "  ROOT n = f32[8] negate(p)",
        "\"4\",\"4\"",
        "Number of parallel dimensions in the tiling space (1) does not match the number of output tile sizes in the \
         block level fusion config (2).",
    );
}

/// XLA writes nothing for a precision that the elements have.
#[test]
fn a_precision_that_is_kept_is_nothing() {
    let body = |bits: &str| {
        format!("  n = bf16[64,96] negate(p)\n  ROOT r = bf16[64,96] reduce-precision(n), {bits}")
    };
    let kept =
        program("bf16[64,96]", "p = bf16[64,96]", &body("exponent_bits=8, mantissa_bits=7"), "\"8\",\"32\"");
    let negated =
        program("bf16[64,96]", "p = bf16[64,96]", "  ROOT n = bf16[64,96] negate(p)", "\"8\",\"32\"");
    assert!(negated.is_ok() && kept == negated, "{kept:?}");
}
