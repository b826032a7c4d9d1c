#indexing_map = #xla.indexing_map<"(pid) -> (min(pid * -3 + 20, 3)), domain: pid in [0, 6]">
#indexing_map1 = #xla.indexing_map<"(pid, tid) -> ((pid * 3 + tid) * 2), domain: pid in [0, 6], tid in [0, 2]">
module {
  xtile.entry_func @two_tiles_a_block(%arg0: memref<40x70xf32>, %arg1: memref<40x70xf32>, %arg2: index {xla.range = [0 : index, 6 : index]}) attributes {num_opaque_args = 0 : i32} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %0 = xla.apply_indexing #indexing_map(%arg2)
    scf.for %arg3 = %c0 to %0 step %c1 {
      %c0_0 = arith.constant 0 : index
      %1 = xla.apply_indexing #indexing_map1(%arg2, %arg3) {xla.range = [0 : index, 38 : index]}
      %c0_1 = arith.constant 0 : index
      %2 = xtile.extract %arg0[%1, %c0_1] [2, 128] [1, 1] : memref<40x70xf32> -> tensor<2x128xf32>
      %cst = arith.constant dense<0.000000e+00> : tensor<f32>
      %extracted = tensor.extract %cst[] : tensor<f32>
      %3 = xtile.mask %2 bounds [2, 70], %extracted : tensor<2x128xf32>
      %4 = stablehlo.reduce(%3 init: %cst) applies stablehlo.add across dimensions = [1] : (tensor<2x128xf32>, tensor<f32>) -> tensor<2xf32>
      %5 = stablehlo.broadcast_in_dim %4, dims = [0] : (tensor<2xf32>) -> tensor<2x128xf32>
      %6 = stablehlo.divide %2, %5 : tensor<2x128xf32>
      %7 = xla.apply_indexing #indexing_map1(%arg2, %arg3) {xla.range = [0 : index, 38 : index]}
      %c0_2 = arith.constant 0 : index
      xtile.insert %6 into %arg1[%7, %c0_2] [2, 128] [1, 1] : tensor<2x128xf32> -> memref<40x70xf32>
    }
    xtile.return
  }
}
