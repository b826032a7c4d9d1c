#indexing_map = #xla.indexing_map<"(d0) -> (d0 * 128), domain: d0 in [0, 1]">
#indexing_map1 = #xla.indexing_map<"(pid) -> ((pid / 3) * 32), domain: pid in [0, 8]">
#indexing_map2 = #xla.indexing_map<"(pid) -> ((pid mod 3) * 32), domain: pid in [0, 8]">
#indexing_map3 = #xla.indexing_map<"(d0) -> (d0 * 4), domain: d0 in [0, 1]">
module {
  xtile.entry_func @f4_transposed(%arg0: memref<256x48xi8>, %arg1: memref<96x128xi8>, %arg2: memref<96x8xi8>, %arg3: memref<8x96xi8>, %arg4: memref<96x96xf32>, %arg5: index {xla.range = [0 : index, 8 : index]}) attributes {num_opaque_args = 0 : i32} {
    %cst = arith.constant dense<0.000000e+00> : tensor<32x32xf32>
    %c0 = arith.constant 0 : index
    %c2 = arith.constant 2 : index
    %c1 = arith.constant 1 : index
    %0 = scf.for %arg6 = %c0 to %c2 step %c1 iter_args(%arg7 = %cst) -> (tensor<32x32xf32>) {
      %3 = xla.apply_indexing #indexing_map(%arg6)
      %4 = xla.apply_indexing #indexing_map1(%arg5)
      %5 = arith.divsi %4, %c2 : index
      %6 = xtile.extract %arg0[%3, %5] [128, 16] [1, 1] : memref<256x48xi8> -> tensor<128x16xi8>
      %7 = tt.trans %6 {order = array<i32: 1, 0>} : tensor<128x16xi8> -> tensor<16x128xi8>
      %8 = xla.apply_indexing #indexing_map2(%arg5)
      %9 = arith.divsi %3, %c2 : index
      %10 = xtile.extract %arg1[%8, %9] [32, 64] [1, 1] : memref<96x128xi8> -> tensor<32x64xi8>
      %11 = tt.trans %10 {order = array<i32: 1, 0>} : tensor<32x64xi8> -> tensor<64x32xi8>
      %12 = xla.apply_indexing #indexing_map3(%arg6)
      %13 = xtile.extract %arg2[%4, %12] [32, 4] [1, 1] : memref<96x8xi8> -> tensor<32x4xi8>
      %14 = xtile.extract %arg3[%12, %8] [4, 32] [1, 1] : memref<8x96xi8> -> tensor<4x32xi8>
      %15 = tt.trans %14 {order = array<i32: 1, 0>} : tensor<4x32xi8> -> tensor<32x4xi8>
      %16 = tt.dot_scaled %7 scale %13, %11 scale %15, %arg7 lhs = e2m1 rhs = e2m1 {fastMath = true, lhs_k_pack = false} : tensor<16x128xi8>, tensor<32x4xi8> * tensor<64x32xi8>, tensor<32x4xi8> -> tensor<32x32xf32>
      scf.yield %16 : tensor<32x32xf32>
    }
    %1 = xla.apply_indexing #indexing_map1(%arg5)
    %2 = xla.apply_indexing #indexing_map2(%arg5)
    xtile.insert %0 into %arg4[%1, %2] [32, 32] [1, 1] : tensor<32x32xf32> -> memref<96x96xf32>
    xtile.return
  }
}
