#indexing_map = #xla.indexing_map<"(d0) -> (d0 * 64), domain: d0 in [0, 11]">
#indexing_map1 = #xla.indexing_map<"(pid) -> (pid * 64), domain: pid in [0, 7]">
module {
  xtile.entry_func @gemm_ragged_1x512x768(%arg0: memref<1x768xbf16>, %arg1: memref<768x512xbf16>, %arg2: memref<1x512xf32>, %arg3: index {xla.range = [0 : index, 7 : index]}) attributes {num_opaque_args = 0 : i32} {
    %cst = arith.constant dense<0.000000e+00> : tensor<16x64xf32>
    %c0 = arith.constant 0 : index
    %c12 = arith.constant 12 : index
    %c1 = arith.constant 1 : index
    %0 = scf.for %arg4 = %c0 to %c12 step %c1 iter_args(%arg5 = %cst) -> (tensor<16x64xf32>) {
      %2 = xla.apply_indexing #indexing_map(%arg4)
      %3 = xtile.extract %arg0[%c0, %2] [16, 64] [1, 1] : memref<1x768xbf16> -> tensor<16x64xbf16>
      %4 = xla.apply_indexing #indexing_map1(%arg3)
      %5 = xtile.extract %arg1[%2, %4] [64, 64] [1, 1] : memref<768x512xbf16> -> tensor<64x64xbf16>
      %6 = tt.dot %3, %5, %arg5, inputPrecision = tf32 : tensor<16x64xbf16> * tensor<64x64xbf16> -> tensor<16x64xf32>
      scf.yield %6 : tensor<16x64xf32>
    }
    %1 = xla.apply_indexing #indexing_map1(%arg3)
    xtile.insert %0 into %arg2[%c0, %1] [16, 64] [1, 1] : tensor<16x64xf32> -> memref<1x512xf32>
    xtile.return
  }
}
