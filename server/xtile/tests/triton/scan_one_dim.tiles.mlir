#indexing_map = #xla.indexing_map<"(pid, tid)[k_0] -> (k_0 * 32), domain: pid in [0, 0], tid in [0, 0], k_0 in [0, 7]">
module {
  xtile.entry_func @scan_one_dim(%arg0: memref<256xf32>, %arg1: memref<256xf32>, %arg2: index {xla.range = [0 : index, 0 : index]}) attributes {num_opaque_args = 0 : i32} {
    %cst = arith.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.reshape %cst : (tensor<f32>) -> tensor<1xf32>
    %c0 = arith.constant 0 : index
    %c8 = arith.constant 8 : index
    %c1 = arith.constant 1 : index
    %1 = scf.for %arg3 = %c0 to %c8 step %c1 iter_args(%arg4 = %0) -> (tensor<1xf32>) {
      %2 = xla.apply_indexing #indexing_map(%arg2, %arg2)[%arg3]
      %3 = xtile.extract %arg0[%2] [32] [1] : memref<256xf32> -> tensor<32xf32>
      %4 = arith.index_cast %arg3 : index to i32
      %cst_0 = arith.constant 0.000000e+00 : f32
      %outputs, %carries = xtile.scan(%3) inits(%arg4) dimension = 0 <scan_dim_size = 32> : (tensor<32xf32>), (tensor<1xf32>) -> (tensor<32xf32>), (tensor<1xf32>) {
      ^bb0(%arg5: tensor<f32>, %arg6: tensor<f32>):
        %6 = stablehlo.add %arg5, %arg6 : tensor<f32>
        stablehlo.return %6, %6 : tensor<f32>, tensor<f32>
      }
      %5 = xla.apply_indexing #indexing_map(%arg2, %arg2)[%arg3]
      xtile.insert %outputs into %arg1[%5] [32] [1] : tensor<32xf32> -> memref<256xf32>
      scf.yield %carries : tensor<1xf32>
    }
    xtile.return
  }
}
