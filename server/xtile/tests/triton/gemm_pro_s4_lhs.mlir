#indexing_map = #xla.indexing_map<"(pid) -> ((pid / 4) * 64), domain: pid in [0, 15]">
#indexing_map1 = #xla.indexing_map<"(d0) -> (d0 * 32), domain: d0 in [0, 7]">
#indexing_map2 = #xla.indexing_map<"(pid) -> ((pid mod 4) * 64), domain: pid in [0, 15]">
module {
  xtile.entry_func @gemm_pro_s4_lhs(%arg0: memref<256x256xi4>, %arg1: memref<256x256xbf16>, %arg2: memref<256x256xf32>, %arg3: index {xla.range = [0 : index, 15 : index]}) attributes {num_opaque_args = 0 : i32} {
    %cst = arith.constant dense<0.000000e+00> : tensor<64x64xf32>
    %c0 = arith.constant 0 : index
    %c8 = arith.constant 8 : index
    %c1 = arith.constant 1 : index
    %0 = scf.for %arg4 = %c0 to %c8 step %c1 iter_args(%arg5 = %cst) -> (tensor<64x64xf32>) {
      %3 = xla.apply_indexing #indexing_map(%arg3)
      %4 = xla.apply_indexing #indexing_map1(%arg4)
      %5 = xtile.extract %arg0[%3, %4] [64, 32] [1, 1] : memref<256x256xi4> -> tensor<64x32xi4>
      %6 = arith.sitofp %5 : tensor<64x32xi4> to tensor<64x32xbf16>
      %7 = xla.apply_indexing #indexing_map2(%arg3)
      %8 = xtile.extract %arg1[%4, %7] [32, 64] [1, 1] : memref<256x256xbf16> -> tensor<32x64xbf16>
      %9 = tt.dot %6, %8, %arg5, inputPrecision = tf32 : tensor<64x32xbf16> * tensor<32x64xbf16> -> tensor<64x64xf32>
      scf.yield %9 : tensor<64x64xf32>
    }
    %1 = xla.apply_indexing #indexing_map(%arg3)
    %2 = xla.apply_indexing #indexing_map2(%arg3)
    xtile.insert %0 into %arg2[%1, %2] [64, 64] [1, 1] : tensor<64x64xf32> -> memref<256x256xf32>
    xtile.return
  }
}
