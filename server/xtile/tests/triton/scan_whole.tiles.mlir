#indexing_map = #xla.indexing_map<"(pid, tid) -> (pid * 4), domain: pid in [0, 15], tid in [0, 0]">
module {
  xtile.entry_func @scan_whole(%arg0: memref<64x128xf32>, %arg1: memref<64x128xf32>, %arg2: index {xla.range = [0 : index, 15 : index]}) attributes {num_opaque_args = 0 : i32} {
    %c0 = arith.constant 0 : index
    %0 = xla.apply_indexing #indexing_map(%arg2, %arg2)
    %c0_0 = arith.constant 0 : index
    %1 = xtile.extract %arg0[%0, %c0_0] [4, 128] [1, 1] : memref<64x128xf32> -> tensor<4x128xf32>
    %cst = arith.constant dense<0.000000e+00> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4xf32>
    %3 = stablehlo.reshape %2 : (tensor<4xf32>) -> tensor<4x1xf32>
    %cst_1 = arith.constant 0.000000e+00 : f32
    %outputs, %carries = xtile.scan(%1) inits(%3) dimension = 1 <scan_dim_size = 128> : (tensor<4x128xf32>), (tensor<4x1xf32>) -> (tensor<4x128xf32>), (tensor<4x1xf32>) {
    ^bb0(%arg3: tensor<f32>, %arg4: tensor<f32>):
      %5 = stablehlo.add %arg3, %arg4 : tensor<f32>
      stablehlo.return %5, %5 : tensor<f32>, tensor<f32>
    }
    %4 = xla.apply_indexing #indexing_map(%arg2, %arg2)
    %c0_2 = arith.constant 0 : index
    xtile.insert %outputs into %arg1[%4, %c0_2] [4, 128] [1, 1] : tensor<4x128xf32> -> memref<64x128xf32>
    xtile.return
  }
}
