#indexing_map = #xla.indexing_map<"(pid) -> ((pid / 3) * 8), domain: pid in [0, 23]">
#indexing_map1 = #xla.indexing_map<"(pid) -> ((pid mod 3) * 32), domain: pid in [0, 23]">
module {
  xtile.entry_func @clamp_u32(%arg0: memref<64x96xi32>, %arg1: memref<64x96xi32>, %arg2: index {xla.range = [0 : index, 23 : index]}) attributes {num_opaque_args = 0 : i32} {
    %cst = arith.constant dense<400> : tensor<8x32xi32>
    %cst_0 = arith.constant dense<3> : tensor<8x32xi32>
    %0 = xla.apply_indexing #indexing_map(%arg2)
    %1 = xla.apply_indexing #indexing_map1(%arg2)
    %2 = xtile.extract %arg0[%0, %1] [8, 32] [1, 1] : memref<64x96xi32> -> tensor<8x32xi32>
    %3 = arith.maxui %2, %cst_0 : tensor<8x32xi32>
    %4 = arith.minui %3, %cst : tensor<8x32xi32>
    xtile.insert %4 into %arg1[%0, %1] [8, 32] [1, 1] : tensor<8x32xi32> -> memref<64x96xi32>
    xtile.return
  }
}
