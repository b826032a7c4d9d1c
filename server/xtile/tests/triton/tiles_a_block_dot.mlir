#indexing_map = #xla.indexing_map<"(pid) -> (min(pid * -2 + 9, 2)), domain: pid in [0, 4]">
#indexing_map1 = #xla.indexing_map<"(pid, tid) -> (((pid * 2 + tid) mod 3) * 16), domain: pid in [0, 4], tid in [0, 1]">
#indexing_map2 = #xla.indexing_map<"(d0) -> (d0 * 32), domain: d0 in [0, 1]">
#indexing_map3 = #xla.indexing_map<"(pid, tid) -> (((pid * 2 + tid) / 3) * 32), domain: pid in [0, 4], tid in [0, 1]">
module {
  xtile.entry_func @tiles_a_block_dot(%arg0: memref<40x64xbf16>, %arg1: memref<64x72xbf16>, %arg2: memref<40x72xf32>, %arg3: index {xla.range = [0 : index, 4 : index]}) attributes {num_opaque_args = 0 : i32} {
    %c2 = arith.constant 2 : index
    %cst = arith.constant dense<0.000000e+00> : tensor<16x32xf32>
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %0 = xla.apply_indexing #indexing_map(%arg3)
    scf.for %arg4 = %c0 to %0 step %c1 {
      %1 = scf.for %arg5 = %c0 to %c2 step %c1 iter_args(%arg6 = %cst) -> (tensor<16x32xf32>) {
        %4 = xla.apply_indexing #indexing_map1(%arg3, %arg4) {xla.range = [0 : index, 32 : index]}
        %5 = xla.apply_indexing #indexing_map2(%arg5) {xla.range = [0 : index, 32 : index]}
        %6 = xtile.extract %arg0[%4, %5] [16, 32] [1, 1] : memref<40x64xbf16> -> tensor<16x32xbf16>
        %7 = xla.apply_indexing #indexing_map3(%arg3, %arg4) {xla.range = [0 : index, 64 : index]}
        %8 = xtile.extract %arg1[%5, %7] [32, 32] [1, 1] : memref<64x72xbf16> -> tensor<32x32xbf16>
        %9 = tt.dot %6, %8, %arg6, inputPrecision = tf32 : tensor<16x32xbf16> * tensor<32x32xbf16> -> tensor<16x32xf32>
        scf.yield %9 : tensor<16x32xf32>
      }
      %2 = xla.apply_indexing #indexing_map1(%arg3, %arg4) {xla.range = [0 : index, 32 : index]}
      %3 = xla.apply_indexing #indexing_map3(%arg3, %arg4) {xla.range = [0 : index, 64 : index]}
      xtile.insert %1 into %arg2[%2, %3] [16, 32] [1, 1] : tensor<16x32xf32> -> memref<40x72xf32>
    }
    xtile.return
  }
}
