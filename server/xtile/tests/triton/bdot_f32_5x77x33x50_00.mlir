#indexing_map = #xla.indexing_map<"(pid) -> (pid / 10), domain: pid in [0, 49]">
#indexing_map1 = #xla.indexing_map<"(pid) -> (((pid / 2) mod 5) * 16), domain: pid in [0, 49]">
#indexing_map2 = #xla.indexing_map<"(d0) -> (d0 * 16), domain: d0 in [0, 3]">
#indexing_map3 = #xla.indexing_map<"(pid) -> ((pid mod 2) * 32), domain: pid in [0, 49]">
module {
  xtile.entry_func @bdot_f32_5x77x33x50_00(%arg0: memref<5x77x50xf32>, %arg1: memref<5x50x33xf32>, %arg2: memref<5x77x33xf32>, %arg3: index {xla.range = [0 : index, 49 : index]}) attributes {num_opaque_args = 0 : i32} {
    %cst = arith.constant dense<0.000000e+00> : tensor<1x16x16xf32>
    %c3_i32 = arith.constant 3 : i32
    %cst_0 = arith.constant dense<50> : tensor<16xi32>
    %c16_i32 = arith.constant 16 : i32
    %cst_1 = arith.constant dense<0.000000e+00> : tensor<1x16x32xf32>
    %c0 = arith.constant 0 : index
    %c4 = arith.constant 4 : index
    %c1 = arith.constant 1 : index
    %cst_2 = arith.constant dense<0.000000e+00> : tensor<16x32xf32>
    %0 = scf.for %arg4 = %c0 to %c4 step %c1 iter_args(%arg5 = %cst_2) -> (tensor<16x32xf32>) {
      %5 = arith.index_cast %arg4 : index to i32
      %6 = xla.apply_indexing #indexing_map(%arg3)
      %7 = xla.apply_indexing #indexing_map1(%arg3)
      %8 = xla.apply_indexing #indexing_map2(%arg4)
      %9 = xtile.extract %arg0[%6, %7, %8] [1, 16, 16] [1, 1, 1] : memref<5x77x50xf32> -> tensor<1x16x16xf32>
      %10 = xla.apply_indexing #indexing_map3(%arg3)
      %11 = xtile.extract %arg1[%6, %8, %10] [1, 16, 32] [1, 1, 1] : memref<5x50x33xf32> -> tensor<1x16x32xf32>
      %12 = arith.cmpi sge, %5, %c3_i32 : i32
      %13 = scf.if %12 -> (tensor<1x16x16xf32>) {
        %18 = arith.muli %5, %c16_i32 : i32
        %19 = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
        %20 = tt.splat %18 : i32 -> tensor<16xi32>
        %21 = arith.addi %19, %20 : tensor<16xi32>
        %22 = arith.cmpi slt, %21, %cst_0 : tensor<16xi32>
        %23 = tt.expand_dims %22 {axis = 0 : i32} : tensor<16xi1> -> tensor<1x16xi1>
        %24 = tt.expand_dims %23 {axis = 0 : i32} : tensor<1x16xi1> -> tensor<1x1x16xi1>
        %25 = tt.broadcast %24 : tensor<1x1x16xi1> -> tensor<1x16x16xi1>
        %26 = arith.select %25, %9, %cst : tensor<1x16x16xi1>, tensor<1x16x16xf32>
        scf.yield %26 : tensor<1x16x16xf32>
      } else {
        scf.yield %9 : tensor<1x16x16xf32>
      }
      %14 = scf.if %12 -> (tensor<1x16x32xf32>) {
        %18 = arith.muli %5, %c16_i32 : i32
        %19 = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
        %20 = tt.splat %18 : i32 -> tensor<16xi32>
        %21 = arith.addi %19, %20 : tensor<16xi32>
        %22 = arith.cmpi slt, %21, %cst_0 : tensor<16xi32>
        %23 = tt.expand_dims %22 {axis = 0 : i32} : tensor<16xi1> -> tensor<1x16xi1>
        %24 = tt.expand_dims %23 {axis = 2 : i32} : tensor<1x16xi1> -> tensor<1x16x1xi1>
        %25 = tt.broadcast %24 : tensor<1x16x1xi1> -> tensor<1x16x32xi1>
        %26 = arith.select %25, %11, %cst_1 : tensor<1x16x32xi1>, tensor<1x16x32xf32>
        scf.yield %26 : tensor<1x16x32xf32>
      } else {
        scf.yield %11 : tensor<1x16x32xf32>
      }
      %15 = tt.reshape %13 : tensor<1x16x16xf32> -> tensor<16x16xf32>
      %16 = tt.reshape %14 : tensor<1x16x32xf32> -> tensor<16x32xf32>
      %17 = tt.dot %15, %16, %arg5, inputPrecision = tf32 : tensor<16x16xf32> * tensor<16x32xf32> -> tensor<16x32xf32>
      scf.yield %17 : tensor<16x32xf32>
    }
    %1 = tt.reshape %0 : tensor<16x32xf32> -> tensor<1x16x32xf32>
    %2 = xla.apply_indexing #indexing_map(%arg3)
    %3 = xla.apply_indexing #indexing_map1(%arg3)
    %4 = xla.apply_indexing #indexing_map3(%arg3)
    xtile.insert %1 into %arg2[%2, %3, %4] [1, 16, 32] [1, 1, 1] : tensor<1x16x32xf32> -> memref<5x77x33xf32>
    xtile.return
  }
}
