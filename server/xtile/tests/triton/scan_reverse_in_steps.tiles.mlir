#indexing_map = #xla.indexing_map<"(pid, tid)[k_0] -> (pid * 4), domain: pid in [0, 15], tid in [0, 0], k_0 in [0, 3]">
#indexing_map1 = #xla.indexing_map<"(pid, tid)[k_0] -> (k_0 * 32), domain: pid in [0, 15], tid in [0, 0], k_0 in [0, 3]">
module {
  xtile.entry_func @scan_reverse_in_steps(%arg0: memref<64x128xf32>, %arg1: memref<64x128xf32>, %arg2: index {xla.range = [0 : index, 15 : index]}) attributes {num_opaque_args = 0 : i32} {
    %cst = arith.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4xf32>
    %1 = stablehlo.reshape %0 : (tensor<4xf32>) -> tensor<4x1xf32>
    %c0 = arith.constant 0 : index
    %c4 = arith.constant 4 : index
    %c1 = arith.constant 1 : index
    %2 = scf.for %arg3 = %c0 to %c4 step %c1 iter_args(%arg4 = %1) -> (tensor<4x1xf32>) {
      %c3 = arith.constant 3 : index
      %3 = arith.subi %c3, %arg3 : index
      %4 = xla.apply_indexing #indexing_map(%arg2, %arg2)[%3]
      %5 = xla.apply_indexing #indexing_map1(%arg2, %arg2)[%3]
      %6 = xtile.extract %arg0[%4, %5] [4, 32] [1, 1] : memref<64x128xf32> -> tensor<4x32xf32>
      %7 = arith.index_cast %3 : index to i32
      %cst_0 = arith.constant 0.000000e+00 : f32
      %outputs, %carries = xtile.scan(%6) inits(%arg4) dimension = 1 <scan_dim_size = 32, is_reverse = true> : (tensor<4x32xf32>), (tensor<4x1xf32>) -> (tensor<4x32xf32>), (tensor<4x1xf32>) {
      ^bb0(%arg5: tensor<f32>, %arg6: tensor<f32>):
        %10 = stablehlo.add %arg5, %arg6 : tensor<f32>
        stablehlo.return %10, %10 : tensor<f32>, tensor<f32>
      }
      %8 = xla.apply_indexing #indexing_map(%arg2, %arg2)[%3]
      %9 = xla.apply_indexing #indexing_map1(%arg2, %arg2)[%3]
      xtile.insert %outputs into %arg1[%8, %9] [4, 32] [1, 1] : tensor<4x32xf32> -> memref<64x128xf32>
      scf.yield %carries : tensor<4x1xf32>
    }
    xtile.return
  }
}
