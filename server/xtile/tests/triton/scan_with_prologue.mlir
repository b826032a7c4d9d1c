#indexing_map = #xla.indexing_map<"(pid) -> (pid * 4), domain: pid in [0, 15]">
#indexing_map1 = #xla.indexing_map<"(d0) -> (d0 * 32), domain: d0 in [0, 3]">
module {
  xtile.entry_func @scan_with_prologue(%arg0: memref<64x100xf32>, %arg1: memref<64x100xf32>, %arg2: index {xla.range = [0 : index, 15 : index]}) attributes {num_opaque_args = 0 : i32} {
    %cst = arith.constant dense<0> : tensor<4x32xi32>
    %cst_0 = arith.constant dense<31> : tensor<4x32xi32>
    %cst_1 = arith.constant dense<0.000000e+00> : tensor<4x32xf32>
    %c3_i32 = arith.constant 3 : i32
    %cst_2 = arith.constant dense<100> : tensor<32xi32>
    %c32_i32 = arith.constant 32 : i32
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %c0 = arith.constant 0 : index
    %cst_3 = arith.constant dense<0.000000e+00> : tensor<4x1xf32>
    %0 = scf.for %arg3 = %c0 to %c4 step %c1 iter_args(%arg4 = %cst_3) -> (tensor<4x1xf32>) {
      %1 = xla.apply_indexing #indexing_map(%arg2)
      %2 = xla.apply_indexing #indexing_map1(%arg3)
      %3 = xtile.extract %arg0[%1, %2] [4, 32] [1, 1] : memref<64x100xf32> -> tensor<4x32xf32>
      %4 = arith.negf %3 : tensor<4x32xf32>
      %5 = tt.extern_elementwise %4 {libname = "libdevice", libpath = "libdevice.10.bc", pure = true, symbol = "__nv_expf"} : (tensor<4x32xf32>) -> tensor<4x32xf32>
      %6 = arith.index_cast %arg3 : index to i32
      %7 = arith.cmpi sge, %6, %c3_i32 : i32
      %8 = scf.if %7 -> (tensor<4x32xf32>) {
        %21 = arith.muli %6, %c32_i32 : i32
        %22 = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
        %23 = tt.splat %21 : i32 -> tensor<32xi32>
        %24 = arith.addi %22, %23 : tensor<32xi32>
        %25 = arith.cmpi slt, %24, %cst_2 : tensor<32xi32>
        %26 = tt.expand_dims %25 {axis = 0 : i32} : tensor<32xi1> -> tensor<1x32xi1>
        %27 = tt.broadcast %26 : tensor<1x32xi1> -> tensor<4x32xi1>
        %28 = arith.select %27, %5, %cst_1 : tensor<4x32xi1>, tensor<4x32xf32>
        scf.yield %28 : tensor<4x32xf32>
      } else {
        scf.yield %5 : tensor<4x32xf32>
      }
      %9 = "tt.scan"(%8) <{axis = 1 : i32, reverse = false}> ({
      ^bb0(%arg5: f32, %arg6: f32):
        %21 = arith.addf %arg5, %arg6 : f32
        tt.scan.return %21 : f32
      }) : (tensor<4x32xf32>) -> tensor<4x32xf32>
      %10 = tt.broadcast %arg4 : tensor<4x1xf32> -> tensor<4x32xf32>
      %11 = arith.addf %10, %9 : tensor<4x32xf32>
      %12 = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
      %13 = tt.expand_dims %12 {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
      %14 = tt.broadcast %13 : tensor<1x32xi32> -> tensor<4x32xi32>
      %15 = arith.cmpi eq, %14, %cst_0 : tensor<4x32xi32>
      %16 = tt.bitcast %11 : tensor<4x32xf32> -> tensor<4x32xi32>
      %17 = arith.select %15, %16, %cst : tensor<4x32xi1>, tensor<4x32xi32>
      %18 = "tt.reduce"(%17) <{axis = 1 : i32}> ({
      ^bb0(%arg5: i32, %arg6: i32):
        %21 = arith.ori %arg5, %arg6 : i32
        tt.reduce.return %21 : i32
      }) : (tensor<4x32xi32>) -> tensor<4xi32>
      %19 = tt.expand_dims %18 {axis = 1 : i32} : tensor<4xi32> -> tensor<4x1xi32>
      %20 = tt.bitcast %19 : tensor<4x1xi32> -> tensor<4x1xf32>
      xtile.insert %11 into %arg1[%1, %2] [4, 32] [1, 1] : tensor<4x32xf32> -> memref<64x100xf32>
      scf.yield %20 : tensor<4x1xf32>
    }
    xtile.return
  }
}
