#indexing_map = #xla.indexing_map<"(pid, tid) -> (pid * 4), domain: pid in [0, 9], tid in [0, 0]">
module {
  xtile.entry_func @results_of_a_softmax(%arg0: memref<40x70xf32>, %arg1: memref<40xf32>, %arg2: memref<40xf32>, %arg3: index {xla.range = [0 : index, 9 : index]}) attributes {num_opaque_args = 0 : i32} {
    %c0 = arith.constant 0 : index
    %c0_0 = arith.constant 0 : index
    %0 = xla.apply_indexing #indexing_map(%arg3, %arg3)
    %c0_1 = arith.constant 0 : index
    %1 = xtile.extract %arg0[%0, %c0_1] [4, 128] [1, 1] : memref<40x70xf32> -> tensor<4x128xf32>
    %cst = arith.constant dense<0xFF800000> : tensor<f32>
    %extracted = tensor.extract %cst[] : tensor<f32>
    %2 = xtile.mask %1 bounds [4, 70], %extracted : tensor<4x128xf32>
    %3 = stablehlo.reduce(%2 init: %cst) applies stablehlo.maximum across dimensions = [1] : (tensor<4x128xf32>, tensor<f32>) -> tensor<4xf32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [0] : (tensor<4xf32>) -> tensor<4x128xf32>
    %5 = stablehlo.subtract %1, %4 : tensor<4x128xf32>
    %6 = math.exp %5 : tensor<4x128xf32>
    %cst_2 = arith.constant dense<0.000000e+00> : tensor<f32>
    %extracted_3 = tensor.extract %cst_2[] : tensor<f32>
    %7 = xtile.mask %6 bounds [4, 70], %extracted_3 : tensor<4x128xf32>
    %8 = stablehlo.reduce(%7 init: %cst_2) applies stablehlo.add across dimensions = [1] : (tensor<4x128xf32>, tensor<f32>) -> tensor<4xf32>
    %9 = xla.apply_indexing #indexing_map(%arg3, %arg3)
    xtile.insert %3 into %arg1[%9] [4] [1] : tensor<4xf32> -> memref<40xf32>
    %10 = xla.apply_indexing #indexing_map(%arg3, %arg3)
    xtile.insert %8 into %arg2[%10] [4] [1] : tensor<4xf32> -> memref<40xf32>
    xtile.return
  }
}
