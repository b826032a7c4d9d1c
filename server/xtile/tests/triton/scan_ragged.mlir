#indexing_map = #xla.indexing_map<"(pid) -> (pid * 4), domain: pid in [0, 15]">
module {
  xtile.entry_func @scan_ragged(%arg0: memref<64x100xf32>, %arg1: memref<64x100xf32>, %arg2: index {xla.range = [0 : index, 15 : index]}) attributes {num_opaque_args = 0 : i32} {
    %cst = arith.constant dense<0.000000e+00> : tensor<4x128xf32>
    %cst_0 = arith.constant 0.000000e+00 : f32
    %c0 = arith.constant 0 : index
    %0 = xla.apply_indexing #indexing_map(%arg2)
    %1 = xtile.extract %arg0[%0, %c0] [4, 128] [1, 1] : memref<64x100xf32> -> tensor<4x128xf32>
    %2 = xtile.mask %1 bounds [4, 100], %cst_0 : tensor<4x128xf32>
    %3 = "tt.scan"(%2) <{axis = 1 : i32, reverse = false}> ({
    ^bb0(%arg3: f32, %arg4: f32):
      %5 = arith.addf %arg3, %arg4 : f32
      tt.scan.return %5 : f32
    }) : (tensor<4x128xf32>) -> tensor<4x128xf32>
    %4 = arith.addf %3, %cst : tensor<4x128xf32>
    xtile.insert %4 into %arg1[%0, %c0] [4, 128] [1, 1] : tensor<4x128xf32> -> memref<64x100xf32>
    xtile.return
  }
}
