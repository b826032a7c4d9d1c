#indexing_map = #xla.indexing_map<"(d0) -> (d0 * 32), domain: d0 in [0, 3]">
#indexing_map1 = #xla.indexing_map<"(pid) -> (pid * 16), domain: pid in [0, 3]">
module {
  xtile.entry_func @scan_rows(%arg0: memref<100x64xf32>, %arg1: memref<100x64xf32>, %arg2: index {xla.range = [0 : index, 3 : index]}) attributes {num_opaque_args = 0 : i32} {
    %cst = arith.constant dense<0> : tensor<32x16xi32>
    %cst_0 = arith.constant dense<31> : tensor<32x16xi32>
    %cst_1 = arith.constant dense<0.000000e+00> : tensor<32x16xf32>
    %c3_i32 = arith.constant 3 : i32
    %cst_2 = arith.constant dense<100> : tensor<32xi32>
    %c32_i32 = arith.constant 32 : i32
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %c0 = arith.constant 0 : index
    %cst_3 = arith.constant dense<0.000000e+00> : tensor<1x16xf32>
    %0 = scf.for %arg3 = %c0 to %c4 step %c1 iter_args(%arg4 = %cst_3) -> (tensor<1x16xf32>) {
      %1 = xla.apply_indexing #indexing_map(%arg3)
      %2 = xla.apply_indexing #indexing_map1(%arg2)
      %3 = xtile.extract %arg0[%1, %2] [32, 16] [1, 1] : memref<100x64xf32> -> tensor<32x16xf32>
      %4 = arith.index_cast %arg3 : index to i32
      %5 = arith.cmpi sge, %4, %c3_i32 : i32
      %6 = scf.if %5 -> (tensor<32x16xf32>) {
        %19 = arith.muli %4, %c32_i32 : i32
        %20 = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
        %21 = tt.splat %19 : i32 -> tensor<32xi32>
        %22 = arith.addi %20, %21 : tensor<32xi32>
        %23 = arith.cmpi slt, %22, %cst_2 : tensor<32xi32>
        %24 = tt.expand_dims %23 {axis = 1 : i32} : tensor<32xi1> -> tensor<32x1xi1>
        %25 = tt.broadcast %24 : tensor<32x1xi1> -> tensor<32x16xi1>
        %26 = arith.select %25, %3, %cst_1 : tensor<32x16xi1>, tensor<32x16xf32>
        scf.yield %26 : tensor<32x16xf32>
      } else {
        scf.yield %3 : tensor<32x16xf32>
      }
      %7 = "tt.scan"(%6) <{axis = 0 : i32, reverse = false}> ({
      ^bb0(%arg5: f32, %arg6: f32):
        %19 = arith.addf %arg5, %arg6 : f32
        tt.scan.return %19 : f32
      }) : (tensor<32x16xf32>) -> tensor<32x16xf32>
      %8 = tt.broadcast %arg4 : tensor<1x16xf32> -> tensor<32x16xf32>
      %9 = arith.addf %8, %7 : tensor<32x16xf32>
      %10 = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
      %11 = tt.expand_dims %10 {axis = 1 : i32} : tensor<32xi32> -> tensor<32x1xi32>
      %12 = tt.broadcast %11 : tensor<32x1xi32> -> tensor<32x16xi32>
      %13 = arith.cmpi eq, %12, %cst_0 : tensor<32x16xi32>
      %14 = tt.bitcast %9 : tensor<32x16xf32> -> tensor<32x16xi32>
      %15 = arith.select %13, %14, %cst : tensor<32x16xi1>, tensor<32x16xi32>
      %16 = "tt.reduce"(%15) <{axis = 0 : i32}> ({
      ^bb0(%arg5: i32, %arg6: i32):
        %19 = arith.ori %arg5, %arg6 : i32
        tt.reduce.return %19 : i32
      }) : (tensor<32x16xi32>) -> tensor<16xi32>
      %17 = tt.expand_dims %16 {axis = 0 : i32} : tensor<16xi32> -> tensor<1x16xi32>
      %18 = tt.bitcast %17 : tensor<1x16xi32> -> tensor<1x16xf32>
      xtile.insert %9 into %arg1[%1, %2] [32, 16] [1, 1] : tensor<32x16xf32> -> memref<100x64xf32>
      scf.yield %18 : tensor<1x16xf32>
    }
    xtile.return
  }
}
