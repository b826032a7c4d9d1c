#indexing_map = #xla.indexing_map<"(pid) -> (pid * 16), domain: pid in [0, 3]">
module {
  xtile.entry_func @dot_with_a_vector(%arg0: memref<64x64xf32>, %arg1: memref<64x1xf32>, %arg2: memref<64x1xf32>, %arg3: index {xla.range = [0 : index, 3 : index]}) attributes {num_opaque_args = 0 : i32} {
    %cst = arith.constant dense<0.000000e+00> : tensor<16x1xf32>
    %c0 = arith.constant 0 : index
    %c4 = arith.constant 4 : index
    %c1 = arith.constant 1 : index
    %0 = scf.for %arg4 = %c0 to %c4 step %c1 iter_args(%arg5 = %cst) -> (tensor<16x1xf32>) {
      %2 = xla.apply_indexing #indexing_map(%arg3)
      %3 = xla.apply_indexing #indexing_map(%arg4)
      %4 = xtile.extract %arg0[%2, %3] [16, 16] [1, 1] : memref<64x64xf32> -> tensor<16x16xf32>
      %5 = xtile.extract %arg1[%3, %c0] [16, 1] [1, 1] : memref<64x1xf32> -> tensor<16x1xf32>
      %6 = tt.dot %4, %5, %arg5, inputPrecision = tf32 : tensor<16x16xf32> * tensor<16x1xf32> -> tensor<16x1xf32>
      scf.yield %6 : tensor<16x1xf32>
    }
    %1 = xla.apply_indexing #indexing_map(%arg3)
    xtile.insert %0 into %arg2[%1, %c0] [16, 1] [1, 1] : tensor<16x1xf32> -> memref<64x1xf32>
    xtile.return
  }
}
