#indexing_map = #xla.indexing_map<"(pid) -> (min(pid * -3 + 20, 3)), domain: pid in [0, 6]">
#indexing_map1 = #xla.indexing_map<"(pid, tid) -> (pid * 6 + tid * 2), domain: pid in [0, 6], tid in [0, 2]">
module {
  xtile.entry_func @two_tiles_a_block(%arg0: memref<40x70xf32>, %arg1: memref<40x70xf32>, %arg2: index {xla.range = [0 : index, 6 : index]}) attributes {num_opaque_args = 0 : i32} {
    %cst = arith.constant dense<0.000000e+00> : tensor<2xf32>
    %cst_0 = arith.constant 0.000000e+00 : f32
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %0 = xla.apply_indexing #indexing_map(%arg2)
    scf.for %arg3 = %c0 to %0 step %c1 {
      %1 = xla.apply_indexing #indexing_map1(%arg2, %arg3) {xla.range = [0 : index, 38 : index]}
      %2 = xtile.extract %arg0[%1, %c0] [2, 128] [1, 1] : memref<40x70xf32> -> tensor<2x128xf32>
      %3 = xtile.mask %2 bounds [2, 70], %cst_0 : tensor<2x128xf32>
      %4 = "tt.reduce"(%3) <{axis = 1 : i32}> ({
      ^bb0(%arg4: f32, %arg5: f32):
        %9 = arith.addf %arg4, %arg5 : f32
        tt.reduce.return %9 : f32
      }) : (tensor<2x128xf32>) -> tensor<2xf32>
      %5 = arith.addf %4, %cst : tensor<2xf32>
      %6 = tt.expand_dims %5 {axis = 1 : i32} : tensor<2xf32> -> tensor<2x1xf32>
      %7 = tt.broadcast %6 : tensor<2x1xf32> -> tensor<2x128xf32>
      %8 = arith.divf %2, %7 : tensor<2x128xf32>
      xtile.insert %8 into %arg1[%1, %c0] [2, 128] [1, 1] : tensor<2x128xf32> -> memref<40x70xf32>
    }
    xtile.return
  }
}
