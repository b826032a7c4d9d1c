#indexing_map = #xla.indexing_map<"(d0) -> (d0 * 32), domain: d0 in [0, 7]">
module {
  xtile.entry_func @scan_one_dim(%arg0: memref<256xf32>, %arg1: memref<256xf32>, %arg2: index {xla.range = [0 : index, 0 : index]}) attributes {num_opaque_args = 0 : i32} {
    %cst = arith.constant dense<0> : tensor<32xi32>
    %cst_0 = arith.constant dense<31> : tensor<32xi32>
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %c0 = arith.constant 0 : index
    %cst_1 = arith.constant dense<0.000000e+00> : tensor<1xf32>
    %0 = scf.for %arg3 = %c0 to %c8 step %c1 iter_args(%arg4 = %cst_1) -> (tensor<1xf32>) {
      %1 = xla.apply_indexing #indexing_map(%arg3)
      %2 = xtile.extract %arg0[%1] [32] [1] : memref<256xf32> -> tensor<32xf32>
      %3 = "tt.scan"(%2) <{axis = 0 : i32, reverse = false}> ({
      ^bb0(%arg5: f32, %arg6: f32):
        %13 = arith.addf %arg5, %arg6 : f32
        tt.scan.return %13 : f32
      }) : (tensor<32xf32>) -> tensor<32xf32>
      %4 = tt.broadcast %arg4 : tensor<1xf32> -> tensor<32xf32>
      %5 = arith.addf %4, %3 : tensor<32xf32>
      %6 = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
      %7 = arith.cmpi eq, %6, %cst_0 : tensor<32xi32>
      %8 = tt.bitcast %5 : tensor<32xf32> -> tensor<32xi32>
      %9 = arith.select %7, %8, %cst : tensor<32xi1>, tensor<32xi32>
      %10 = "tt.reduce"(%9) <{axis = 0 : i32}> ({
      ^bb0(%arg5: i32, %arg6: i32):
        %13 = arith.ori %arg5, %arg6 : i32
        tt.reduce.return %13 : i32
      }) : (tensor<32xi32>) -> i32
      %11 = tt.splat %10 : i32 -> tensor<1xi32>
      %12 = tt.bitcast %11 : tensor<1xi32> -> tensor<1xf32>
      xtile.insert %5 into %arg1[%1] [32] [1] : tensor<32xf32> -> memref<256xf32>
      scf.yield %12 : tensor<1xf32>
    }
    xtile.return
  }
}
