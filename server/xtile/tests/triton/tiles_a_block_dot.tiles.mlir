#indexing_map = #xla.indexing_map<"(pid) -> (min(pid * -2 + 9, 2)), domain: pid in [0, 4]">
#indexing_map1 = #xla.indexing_map<"(pid, tid)[k_0] -> (((pid * 2 + tid) mod 3) * 16), domain: pid in [0, 4], tid in [0, 1], k_0 in [0, 1]">
#indexing_map2 = #xla.indexing_map<"(pid, tid)[k_0] -> (k_0 * 32), domain: pid in [0, 4], tid in [0, 1], k_0 in [0, 1]">
#indexing_map3 = #xla.indexing_map<"(pid, tid)[k_0] -> (((pid * 2 + tid) / 3) * 32), domain: pid in [0, 4], tid in [0, 1], k_0 in [0, 1]">
#indexing_map4 = #xla.indexing_map<"(pid, tid) -> (((pid * 2 + tid) mod 3) * 16), domain: pid in [0, 4], tid in [0, 1]">
#indexing_map5 = #xla.indexing_map<"(pid, tid) -> (((pid * 2 + tid) / 3) * 32), domain: pid in [0, 4], tid in [0, 1]">
module {
  xtile.entry_func @tiles_a_block_dot(%arg0: memref<40x64xbf16>, %arg1: memref<64x72xbf16>, %arg2: memref<40x72xf32>, %arg3: index {xla.range = [0 : index, 4 : index]}) attributes {num_opaque_args = 0 : i32} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %0 = xla.apply_indexing #indexing_map(%arg3)
    scf.for %arg4 = %c0 to %0 step %c1 {
      %cst = arith.constant dense<0.000000e+00> : tensor<16x32xf32>
      %c0_0 = arith.constant 0 : index
      %c2 = arith.constant 2 : index
      %c1_1 = arith.constant 1 : index
      %1 = scf.for %arg5 = %c0_0 to %c2 step %c1_1 iter_args(%arg6 = %cst) -> (tensor<16x32xf32>) {
        %4 = arith.index_cast %arg5 : index to i32
        %5 = xla.apply_indexing #indexing_map1(%arg3, %arg4)[%arg5] {xla.range = [0 : index, 32 : index]}
        %6 = xla.apply_indexing #indexing_map2(%arg3, %arg4)[%arg5] {xla.range = [0 : index, 32 : index]}
        %7 = xtile.extract %arg0[%5, %6] [16, 32] [1, 1] : memref<40x64xbf16> -> tensor<16x32xbf16>
        %8 = xla.apply_indexing #indexing_map2(%arg3, %arg4)[%arg5] {xla.range = [0 : index, 32 : index]}
        %9 = xla.apply_indexing #indexing_map3(%arg3, %arg4)[%arg5] {xla.range = [0 : index, 64 : index]}
        %10 = xtile.extract %arg1[%8, %9] [32, 32] [1, 1] : memref<64x72xbf16> -> tensor<32x32xbf16>
        %cst_2 = arith.constant 0.000000e+00 : bf16
        %cst_3 = arith.constant 0.000000e+00 : bf16
        %11 = stablehlo.dot_general %7, %10, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<16x32xbf16>, tensor<32x32xbf16>) -> tensor<16x32xf32>
        %12 = arith.addf %arg6, %11 : tensor<16x32xf32>
        scf.yield %12 : tensor<16x32xf32>
      }
      %2 = xla.apply_indexing #indexing_map4(%arg3, %arg4) {xla.range = [0 : index, 32 : index]}
      %3 = xla.apply_indexing #indexing_map5(%arg3, %arg4) {xla.range = [0 : index, 64 : index]}
      xtile.insert %1 into %arg2[%2, %3] [16, 32] [1, 1] : tensor<16x32xf32> -> memref<40x72xf32>
    }
    xtile.return
  }
}
