#indexing_map = #xla.indexing_map<"(pid, tid)[k_0] -> ((pid / 3) * 16), domain: pid in [0, 8], tid in [0, 0], k_0 in [0, 1]">
#indexing_map1 = #xla.indexing_map<"(pid, tid)[k_0] -> (k_0 * 32), domain: pid in [0, 8], tid in [0, 0], k_0 in [0, 1]">
#indexing_map2 = #xla.indexing_map<"(pid, tid)[k_0] -> ((pid mod 3) * 32), domain: pid in [0, 8], tid in [0, 0], k_0 in [0, 1]">
#indexing_map3 = #xla.indexing_map<"(pid, tid) -> ((pid / 3) * 16), domain: pid in [0, 8], tid in [0, 0]">
#indexing_map4 = #xla.indexing_map<"(pid, tid) -> ((pid mod 3) * 32), domain: pid in [0, 8], tid in [0, 0]">
module {
  xtile.entry_func @results_of_a_dot(%arg0: memref<40x64xbf16>, %arg1: memref<64x72xbf16>, %arg2: memref<40x72xf32>, %arg3: memref<40x72xf32>, %arg4: index {xla.range = [0 : index, 8 : index]}) attributes {num_opaque_args = 0 : i32} {
    %cst = arith.constant dense<0.000000e+00> : tensor<16x32xf32>
    %c0 = arith.constant 0 : index
    %c2 = arith.constant 2 : index
    %c1 = arith.constant 1 : index
    %0 = scf.for %arg5 = %c0 to %c2 step %c1 iter_args(%arg6 = %cst) -> (tensor<16x32xf32>) {
      %6 = arith.index_cast %arg5 : index to i32
      %7 = xla.apply_indexing #indexing_map(%arg4, %arg4)[%arg5]
      %8 = xla.apply_indexing #indexing_map1(%arg4, %arg4)[%arg5]
      %9 = xtile.extract %arg0[%7, %8] [16, 32] [1, 1] : memref<40x64xbf16> -> tensor<16x32xbf16>
      %10 = xla.apply_indexing #indexing_map1(%arg4, %arg4)[%arg5]
      %11 = xla.apply_indexing #indexing_map2(%arg4, %arg4)[%arg5]
      %12 = xtile.extract %arg1[%10, %11] [32, 32] [1, 1] : memref<64x72xbf16> -> tensor<32x32xbf16>
      %cst_0 = arith.constant 0.000000e+00 : bf16
      %cst_1 = arith.constant 0.000000e+00 : bf16
      %13 = stablehlo.dot_general %9, %12, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<16x32xbf16>, tensor<32x32xbf16>) -> tensor<16x32xf32>
      %14 = arith.addf %arg6, %13 : tensor<16x32xf32>
      scf.yield %14 : tensor<16x32xf32>
    }
    %1 = math.exp %0 : tensor<16x32xf32>
    %2 = xla.apply_indexing #indexing_map3(%arg4, %arg4)
    %3 = xla.apply_indexing #indexing_map4(%arg4, %arg4)
    xtile.insert %0 into %arg2[%2, %3] [16, 32] [1, 1] : tensor<16x32xf32> -> memref<40x72xf32>
    %4 = xla.apply_indexing #indexing_map3(%arg4, %arg4)
    %5 = xla.apply_indexing #indexing_map4(%arg4, %arg4)
    xtile.insert %1 into %arg3[%4, %5] [16, 32] [1, 1] : tensor<16x32xf32> -> memref<40x72xf32>
    xtile.return
  }
}
