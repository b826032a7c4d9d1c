#indexing_map = #xla.indexing_map<"(pid) -> ((pid / 3) * 32), domain: pid in [0, 11]">
#indexing_map1 = #xla.indexing_map<"(d0) -> (d0 * 128), domain: d0 in [0, 1]">
#indexing_map2 = #xla.indexing_map<"(pid) -> ((pid mod 3) * 32), domain: pid in [0, 11]">
#indexing_map3 = #xla.indexing_map<"(d0) -> (d0 * 4), domain: d0 in [0, 1]">
module {
  xtile.entry_func @f4_mixed(%arg0: memref<100x256xf8E4M3FN>, %arg1: memref<256x48xi8>, %arg2: memref<100x8xi8>, %arg3: memref<8x96xi8>, %arg4: memref<100x96xf32>, %arg5: index {xla.range = [0 : index, 11 : index]}) attributes {num_opaque_args = 0 : i32} {
    %cst = arith.constant dense<0.000000e+00> : tensor<32x32xf32>
    %c0 = arith.constant 0 : index
    %c2 = arith.constant 2 : index
    %c1 = arith.constant 1 : index
    %0 = scf.for %arg6 = %c0 to %c2 step %c1 iter_args(%arg7 = %cst) -> (tensor<32x32xf32>) {
      %3 = xla.apply_indexing #indexing_map(%arg5)
      %4 = xla.apply_indexing #indexing_map1(%arg6)
      %5 = xtile.extract %arg0[%3, %4] [32, 128] [1, 1] : memref<100x256xf8E4M3FN> -> tensor<32x128xf8E4M3FN>
      %6 = xla.apply_indexing #indexing_map2(%arg5)
      %7 = arith.divsi %6, %c2 : index
      %8 = xtile.extract %arg1[%4, %7] [128, 16] [1, 1] : memref<256x48xi8> -> tensor<128x16xi8>
      %9 = xla.apply_indexing #indexing_map3(%arg6)
      %10 = xtile.extract %arg2[%3, %9] [32, 4] [1, 1] : memref<100x8xi8> -> tensor<32x4xi8>
      %11 = xtile.extract %arg3[%9, %6] [4, 32] [1, 1] : memref<8x96xi8> -> tensor<4x32xi8>
      %12 = tt.trans %11 {order = array<i32: 1, 0>} : tensor<4x32xi8> -> tensor<32x4xi8>
      %13 = tt.dot_scaled %5 scale %10, %8 scale %12, %arg7 lhs = e4m3 rhs = e2m1 {fastMath = true, rhs_k_pack = false} : tensor<32x128xf8E4M3FN>, tensor<32x4xi8> * tensor<128x16xi8>, tensor<32x4xi8> -> tensor<32x32xf32>
      scf.yield %13 : tensor<32x32xf32>
    }
    %1 = xla.apply_indexing #indexing_map(%arg5)
    %2 = xla.apply_indexing #indexing_map2(%arg5)
    xtile.insert %0 into %arg4[%1, %2] [32, 32] [1, 1] : tensor<32x32xf32> -> memref<100x96xf32>
    xtile.return
  }
}
