#indexing_map = #xla.indexing_map<"(pid, tid)[k_0] -> ((pid / 3) * 32), domain: pid in [0, 11], tid in [0, 0], k_0 in [0, 1]">
#indexing_map1 = #xla.indexing_map<"(pid, tid)[k_0] -> (k_0 * 128), domain: pid in [0, 11], tid in [0, 0], k_0 in [0, 1]">
#indexing_map2 = #xla.indexing_map<"(pid, tid)[k_0] -> ((pid mod 3) * 32), domain: pid in [0, 11], tid in [0, 0], k_0 in [0, 1]">
#indexing_map3 = #xla.indexing_map<"(pid, tid)[k_0] -> (k_0 * 4), domain: pid in [0, 11], tid in [0, 0], k_0 in [0, 1]">
#indexing_map4 = #xla.indexing_map<"(pid, tid) -> ((pid / 3) * 32), domain: pid in [0, 11], tid in [0, 0]">
#indexing_map5 = #xla.indexing_map<"(pid, tid) -> ((pid mod 3) * 32), domain: pid in [0, 11], tid in [0, 0]">
module {
  xtile.entry_func @f4_mixed(%arg0: memref<100x256xf8E4M3FN>, %arg1: memref<256x48xi8>, %arg2: memref<100x8xf8E8M0FNU>, %arg3: memref<8x96xf8E8M0FNU>, %arg4: memref<100x96xf32>, %arg5: index {xla.range = [0 : index, 11 : index]}) attributes {num_opaque_args = 0 : i32} {
    %cst = arith.constant dense<0.000000e+00> : tensor<32x32xf32>
    %c0 = arith.constant 0 : index
    %c2 = arith.constant 2 : index
    %c1 = arith.constant 1 : index
    %0 = scf.for %arg6 = %c0 to %c2 step %c1 iter_args(%arg7 = %cst) -> (tensor<32x32xf32>) {
      %3 = xla.apply_indexing #indexing_map(%arg5, %arg5)[%arg6]
      %4 = xla.apply_indexing #indexing_map1(%arg5, %arg5)[%arg6]
      %5 = xtile.extract %arg0[%3, %4] [32, 128] [1, 1] : memref<100x256xf8E4M3FN> -> tensor<32x128xf8E4M3FN>
      %6 = xla.apply_indexing #indexing_map1(%arg5, %arg5)[%arg6]
      %7 = xla.apply_indexing #indexing_map2(%arg5, %arg5)[%arg6]
      %c2_0 = arith.constant 2 : index
      %8 = arith.divsi %7, %c2_0 : index
      %9 = xtile.extract %arg1[%6, %8] [128, 16] [1, 1] : memref<256x48xi8> -> tensor<128x16xi8>
      %10 = xla.apply_indexing #indexing_map(%arg5, %arg5)[%arg6]
      %11 = xla.apply_indexing #indexing_map3(%arg5, %arg5)[%arg6]
      %12 = xtile.extract %arg2[%10, %11] [32, 4] [1, 1] : memref<100x8xf8E8M0FNU> -> tensor<32x4xf8E8M0FNU>
      %13 = xla.apply_indexing #indexing_map3(%arg5, %arg5)[%arg6]
      %14 = xla.apply_indexing #indexing_map2(%arg5, %arg5)[%arg6]
      %15 = xtile.extract %arg3[%13, %14] [4, 32] [1, 1] : memref<8x96xf8E8M0FNU> -> tensor<4x32xf8E8M0FNU>
      %16 = arith.bitcast %12 : tensor<32x4xf8E8M0FNU> to tensor<32x4xi8>
      %17 = arith.bitcast %15 : tensor<4x32xf8E8M0FNU> to tensor<4x32xi8>
      %18 = stablehlo.transpose %17, dims = [1, 0] : (tensor<4x32xi8>) -> tensor<32x4xi8>
      %19 = xtile.dot_scaled %5 scale %16, %9 scale %18 <fastMath = true, rhs_k_pack = false, lhs_elem_type = f8E4M3FN, rhs_elem_type = f4E2M1FN, dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>> : tensor<32x128xf8E4M3FN>, tensor<32x4xi8> * tensor<128x16xi8>, tensor<32x4xi8> -> tensor<32x32xf32>
      %20 = arith.addf %arg7, %19 : tensor<32x32xf32>
      scf.yield %20 : tensor<32x32xf32>
    }
    %1 = xla.apply_indexing #indexing_map4(%arg5, %arg5)
    %2 = xla.apply_indexing #indexing_map5(%arg5, %arg5)
    xtile.insert %0 into %arg4[%1, %2] [32, 32] [1, 1] : tensor<32x32xf32> -> memref<100x96xf32>
    xtile.return
  }
}
