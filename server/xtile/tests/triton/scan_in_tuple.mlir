#indexing_map = #xla.indexing_map<"(pid) -> (pid * 4), domain: pid in [0, 15]">
module {
  xtile.entry_func @scan_in_tuple(%arg0: memref<64x128xf32>, %arg1: memref<64x128xf32>, %arg2: index {xla.range = [0 : index, 15 : index]}) attributes {num_opaque_args = 0 : i32} {
    %cst = arith.constant dense<0.000000e+00> : tensor<4x128xf32>
    %c0 = arith.constant 0 : index
    %0 = xla.apply_indexing #indexing_map(%arg2)
    %1 = xtile.extract %arg0[%0, %c0] [4, 128] [1, 1] : memref<64x128xf32> -> tensor<4x128xf32>
    %2 = "tt.scan"(%1) <{axis = 1 : i32, reverse = false}> ({
    ^bb0(%arg3: f32, %arg4: f32):
      %4 = arith.addf %arg3, %arg4 : f32
      tt.scan.return %4 : f32
    }) : (tensor<4x128xf32>) -> tensor<4x128xf32>
    %3 = arith.addf %2, %cst : tensor<4x128xf32>
    xtile.insert %3 into %arg1[%0, %c0] [4, 128] [1, 1] : tensor<4x128xf32> -> memref<64x128xf32>
    xtile.return
  }
}
