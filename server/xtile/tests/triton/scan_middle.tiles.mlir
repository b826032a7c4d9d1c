#indexing_map = #xla.indexing_map<"(pid, tid)[k_-1] -> ((pid / 3) * 2), domain: pid in [0, 8], tid in [0, 0], k_-1 in [0, 3]">
#indexing_map1 = #xla.indexing_map<"(pid, tid)[k_-1] -> (k_-1 * 16), domain: pid in [0, 8], tid in [0, 0], k_-1 in [0, 3]">
#indexing_map2 = #xla.indexing_map<"(pid, tid)[k_-1] -> ((pid mod 3) * 8), domain: pid in [0, 8], tid in [0, 0], k_-1 in [0, 3]">
module {
  xtile.entry_func @scan_middle(%arg0: memref<6x64x20xf32>, %arg1: memref<6x64x20xf32>, %arg2: index {xla.range = [0 : index, 8 : index]}) attributes {num_opaque_args = 0 : i32} {
    %cst = arith.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x8xf32>
    %1 = stablehlo.reshape %0 : (tensor<2x8xf32>) -> tensor<2x1x8xf32>
    %c0 = arith.constant 0 : index
    %c4 = arith.constant 4 : index
    %c1 = arith.constant 1 : index
    %2 = scf.for %arg3 = %c0 to %c4 step %c1 iter_args(%arg4 = %1) -> (tensor<2x1x8xf32>) {
      %3 = xla.apply_indexing #indexing_map(%arg2, %arg2)[%arg3]
      %4 = xla.apply_indexing #indexing_map1(%arg2, %arg2)[%arg3]
      %5 = xla.apply_indexing #indexing_map2(%arg2, %arg2)[%arg3]
      %6 = xtile.extract %arg0[%3, %4, %5] [2, 16, 8] [1, 1, 1] : memref<6x64x20xf32> -> tensor<2x16x8xf32>
      %7 = arith.index_cast %arg3 : index to i32
      %cst_0 = arith.constant 0.000000e+00 : f32
      %outputs, %carries = xtile.scan(%6) inits(%arg4) dimension = 1 <scan_dim_size = 16> : (tensor<2x16x8xf32>), (tensor<2x1x8xf32>) -> (tensor<2x16x8xf32>), (tensor<2x1x8xf32>) {
      ^bb0(%arg5: tensor<f32>, %arg6: tensor<f32>):
        %11 = stablehlo.add %arg5, %arg6 : tensor<f32>
        stablehlo.return %11, %11 : tensor<f32>, tensor<f32>
      }
      %8 = xla.apply_indexing #indexing_map(%arg2, %arg2)[%arg3]
      %9 = xla.apply_indexing #indexing_map1(%arg2, %arg2)[%arg3]
      %10 = xla.apply_indexing #indexing_map2(%arg2, %arg2)[%arg3]
      xtile.insert %outputs into %arg1[%8, %9, %10] [2, 16, 8] [1, 1, 1] : tensor<2x16x8xf32> -> memref<6x64x20xf32>
      scf.yield %carries : tensor<2x1x8xf32>
    }
    xtile.return
  }
}
