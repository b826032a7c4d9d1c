#indexing_map = #xla.indexing_map<"(pid, tid)[k_0] -> (k_0 * 128), domain: pid in [0, 8], tid in [0, 0], k_0 in [0, 1]">
#indexing_map1 = #xla.indexing_map<"(pid, tid)[k_0] -> ((pid / 3) * 32), domain: pid in [0, 8], tid in [0, 0], k_0 in [0, 1]">
#indexing_map2 = #xla.indexing_map<"(pid, tid)[k_0] -> ((pid mod 3) * 32), domain: pid in [0, 8], tid in [0, 0], k_0 in [0, 1]">
#indexing_map3 = #xla.indexing_map<"(pid, tid)[k_0] -> (k_0 * 4), domain: pid in [0, 8], tid in [0, 0], k_0 in [0, 1]">
#indexing_map4 = #xla.indexing_map<"(pid, tid) -> ((pid / 3) * 32), domain: pid in [0, 8], tid in [0, 0]">
#indexing_map5 = #xla.indexing_map<"(pid, tid) -> ((pid mod 3) * 32), domain: pid in [0, 8], tid in [0, 0]">
module {
  xtile.entry_func @f4_transposed(%arg0: memref<256x48xi8>, %arg1: memref<96x128xi8>, %arg2: memref<96x8xf8E8M0FNU>, %arg3: memref<8x96xf8E8M0FNU>, %arg4: memref<96x96xf32>, %arg5: index {xla.range = [0 : index, 8 : index]}) attributes {num_opaque_args = 0 : i32} {
    %cst = arith.constant dense<0.000000e+00> : tensor<32x32xf32>
    %c0 = arith.constant 0 : index
    %c2 = arith.constant 2 : index
    %c1 = arith.constant 1 : index
    %0 = scf.for %arg6 = %c0 to %c2 step %c1 iter_args(%arg7 = %cst) -> (tensor<32x32xf32>) {
      %3 = xla.apply_indexing #indexing_map(%arg5, %arg5)[%arg6]
      %4 = xla.apply_indexing #indexing_map1(%arg5, %arg5)[%arg6]
      %c2_0 = arith.constant 2 : index
      %5 = arith.divsi %4, %c2_0 : index
      %6 = xtile.extract %arg0[%3, %5] [128, 16] [1, 1] : memref<256x48xi8> -> tensor<128x16xi8>
      %7 = stablehlo.transpose %6, dims = [1, 0] : (tensor<128x16xi8>) -> tensor<16x128xi8>
      %8 = xla.apply_indexing #indexing_map2(%arg5, %arg5)[%arg6]
      %9 = xla.apply_indexing #indexing_map(%arg5, %arg5)[%arg6]
      %c2_1 = arith.constant 2 : index
      %10 = arith.divsi %9, %c2_1 : index
      %11 = xtile.extract %arg1[%8, %10] [32, 64] [1, 1] : memref<96x128xi8> -> tensor<32x64xi8>
      %12 = stablehlo.transpose %11, dims = [1, 0] : (tensor<32x64xi8>) -> tensor<64x32xi8>
      %13 = xla.apply_indexing #indexing_map1(%arg5, %arg5)[%arg6]
      %14 = xla.apply_indexing #indexing_map3(%arg5, %arg5)[%arg6]
      %15 = xtile.extract %arg2[%13, %14] [32, 4] [1, 1] : memref<96x8xf8E8M0FNU> -> tensor<32x4xf8E8M0FNU>
      %16 = xla.apply_indexing #indexing_map3(%arg5, %arg5)[%arg6]
      %17 = xla.apply_indexing #indexing_map2(%arg5, %arg5)[%arg6]
      %18 = xtile.extract %arg3[%16, %17] [4, 32] [1, 1] : memref<8x96xf8E8M0FNU> -> tensor<4x32xf8E8M0FNU>
      %19 = arith.bitcast %15 : tensor<32x4xf8E8M0FNU> to tensor<32x4xi8>
      %20 = arith.bitcast %18 : tensor<4x32xf8E8M0FNU> to tensor<4x32xi8>
      %21 = stablehlo.transpose %20, dims = [1, 0] : (tensor<4x32xi8>) -> tensor<32x4xi8>
      %22 = xtile.dot_scaled %7 scale %19, %12 scale %21 <fastMath = true, lhs_k_pack = false, lhs_elem_type = f4E2M1FN, rhs_elem_type = f4E2M1FN, dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>> : tensor<16x128xi8>, tensor<32x4xi8> * tensor<64x32xi8>, tensor<32x4xi8> -> tensor<32x32xf32>
      %23 = arith.addf %arg7, %22 : tensor<32x32xf32>
      scf.yield %23 : tensor<32x32xf32>
    }
    %1 = xla.apply_indexing #indexing_map4(%arg5, %arg5)
    %2 = xla.apply_indexing #indexing_map5(%arg5, %arg5)
    xtile.insert %0 into %arg4[%1, %2] [32, 32] [1, 1] : tensor<32x32xf32> -> memref<96x96xf32>
    xtile.return
  }
}
