#indexing_map = #xla.indexing_map<"(pid) -> (pid * 4), domain: pid in [0, 15]">
#indexing_map1 = #xla.indexing_map<"(d0) -> (d0 * 32), domain: d0 in [0, 3]">
module {
  xtile.entry_func @scan_reverse_in_steps(%arg0: memref<64x128xf32>, %arg1: memref<64x128xf32>, %arg2: index {xla.range = [0 : index, 15 : index]}) attributes {num_opaque_args = 0 : i32} {
    %cst = arith.constant dense<0> : tensor<4x32xi32>
    %c3 = arith.constant 3 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %c0 = arith.constant 0 : index
    %cst_0 = arith.constant dense<0.000000e+00> : tensor<4x1xf32>
    %0 = scf.for %arg3 = %c0 to %c4 step %c1 iter_args(%arg4 = %cst_0) -> (tensor<4x1xf32>) {
      %1 = arith.subi %c3, %arg3 : index
      %2 = xla.apply_indexing #indexing_map(%arg2)
      %3 = xla.apply_indexing #indexing_map1(%1)
      %4 = xtile.extract %arg0[%2, %3] [4, 32] [1, 1] : memref<64x128xf32> -> tensor<4x32xf32>
      %5 = "tt.scan"(%4) <{axis = 1 : i32, reverse = true}> ({
      ^bb0(%arg5: f32, %arg6: f32):
        %17 = arith.addf %arg5, %arg6 : f32
        tt.scan.return %17 : f32
      }) : (tensor<4x32xf32>) -> tensor<4x32xf32>
      %6 = tt.broadcast %arg4 : tensor<4x1xf32> -> tensor<4x32xf32>
      %7 = arith.addf %6, %5 : tensor<4x32xf32>
      %8 = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
      %9 = tt.expand_dims %8 {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
      %10 = tt.broadcast %9 : tensor<1x32xi32> -> tensor<4x32xi32>
      %11 = arith.cmpi eq, %10, %cst : tensor<4x32xi32>
      %12 = tt.bitcast %7 : tensor<4x32xf32> -> tensor<4x32xi32>
      %13 = arith.select %11, %12, %cst : tensor<4x32xi1>, tensor<4x32xi32>
      %14 = "tt.reduce"(%13) <{axis = 1 : i32}> ({
      ^bb0(%arg5: i32, %arg6: i32):
        %17 = arith.ori %arg5, %arg6 : i32
        tt.reduce.return %17 : i32
      }) : (tensor<4x32xi32>) -> tensor<4xi32>
      %15 = tt.expand_dims %14 {axis = 1 : i32} : tensor<4xi32> -> tensor<4x1xi32>
      %16 = tt.bitcast %15 : tensor<4x1xi32> -> tensor<4x1xf32>
      xtile.insert %7 into %arg1[%2, %3] [4, 32] [1, 1] : tensor<4x32xf32> -> memref<64x128xf32>
      scf.yield %16 : tensor<4x1xf32>
    }
    xtile.return
  }
}
