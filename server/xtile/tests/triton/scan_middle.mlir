#indexing_map = #xla.indexing_map<"(pid) -> ((pid / 3) * 2), domain: pid in [0, 8]">
#indexing_map1 = #xla.indexing_map<"(d0) -> (d0 * 16), domain: d0 in [0, 3]">
#indexing_map2 = #xla.indexing_map<"(pid) -> ((pid mod 3) * 8), domain: pid in [0, 8]">
module {
  xtile.entry_func @scan_middle(%arg0: memref<6x64x20xf32>, %arg1: memref<6x64x20xf32>, %arg2: index {xla.range = [0 : index, 8 : index]}) attributes {num_opaque_args = 0 : i32} {
    %cst = arith.constant dense<0> : tensor<2x16x8xi32>
    %cst_0 = arith.constant dense<15> : tensor<2x16x8xi32>
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %c0 = arith.constant 0 : index
    %cst_1 = arith.constant dense<0.000000e+00> : tensor<2x1x8xf32>
    %0 = scf.for %arg3 = %c0 to %c4 step %c1 iter_args(%arg4 = %cst_1) -> (tensor<2x1x8xf32>) {
      %1 = xla.apply_indexing #indexing_map(%arg2)
      %2 = xla.apply_indexing #indexing_map1(%arg3)
      %3 = xla.apply_indexing #indexing_map2(%arg2)
      %4 = xtile.extract %arg0[%1, %2, %3] [2, 16, 8] [1, 1, 1] : memref<6x64x20xf32> -> tensor<2x16x8xf32>
      %5 = "tt.scan"(%4) <{axis = 1 : i32, reverse = false}> ({
      ^bb0(%arg5: f32, %arg6: f32):
        %18 = arith.addf %arg5, %arg6 : f32
        tt.scan.return %18 : f32
      }) : (tensor<2x16x8xf32>) -> tensor<2x16x8xf32>
      %6 = tt.broadcast %arg4 : tensor<2x1x8xf32> -> tensor<2x16x8xf32>
      %7 = arith.addf %6, %5 : tensor<2x16x8xf32>
      %8 = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
      %9 = tt.expand_dims %8 {axis = 0 : i32} : tensor<16xi32> -> tensor<1x16xi32>
      %10 = tt.expand_dims %9 {axis = 2 : i32} : tensor<1x16xi32> -> tensor<1x16x1xi32>
      %11 = tt.broadcast %10 : tensor<1x16x1xi32> -> tensor<2x16x8xi32>
      %12 = arith.cmpi eq, %11, %cst_0 : tensor<2x16x8xi32>
      %13 = tt.bitcast %7 : tensor<2x16x8xf32> -> tensor<2x16x8xi32>
      %14 = arith.select %12, %13, %cst : tensor<2x16x8xi1>, tensor<2x16x8xi32>
      %15 = "tt.reduce"(%14) <{axis = 1 : i32}> ({
      ^bb0(%arg5: i32, %arg6: i32):
        %18 = arith.ori %arg5, %arg6 : i32
        tt.reduce.return %18 : i32
      }) : (tensor<2x16x8xi32>) -> tensor<2x8xi32>
      %16 = tt.expand_dims %15 {axis = 1 : i32} : tensor<2x8xi32> -> tensor<2x1x8xi32>
      %17 = tt.bitcast %16 : tensor<2x1x8xi32> -> tensor<2x1x8xf32>
      xtile.insert %7 into %arg1[%1, %2, %3] [2, 16, 8] [1, 1, 1] : tensor<2x16x8xf32> -> memref<6x64x20xf32>
      scf.yield %17 : tensor<2x1x8xf32>
    }
    xtile.return
  }
}
