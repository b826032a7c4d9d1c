#indexing_map = #xla.indexing_map<"(pid) -> (pid * 4), domain: pid in [0, 15]">
#indexing_map1 = #xla.indexing_map<"(d0) -> (d0 * 32), domain: d0 in [0, 3]">
module {
  xtile.entry_func @scan_from_operand(%arg0: memref<64x100xf32>, %arg1: memref<64xf32>, %arg2: memref<64x100xf32>, %arg3: index {xla.range = [0 : index, 15 : index]}) attributes {num_opaque_args = 0 : i32} {
    %cst = arith.constant dense<0> : tensor<4x32xi32>
    %cst_0 = arith.constant dense<31> : tensor<4x32xi32>
    %cst_1 = arith.constant dense<0.000000e+00> : tensor<4x32xf32>
    %c3_i32 = arith.constant 3 : i32
    %cst_2 = arith.constant dense<100> : tensor<32xi32>
    %c32_i32 = arith.constant 32 : i32
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %c0 = arith.constant 0 : index
    %0 = xla.apply_indexing #indexing_map(%arg3)
    %1 = xtile.extract %arg1[%0] [4] [1] : memref<64xf32> -> tensor<4xf32>
    %2 = arith.negf %1 : tensor<4xf32>
    %3 = tt.reshape %2 : tensor<4xf32> -> tensor<4x1xf32>
    %4 = scf.for %arg4 = %c0 to %c4 step %c1 iter_args(%arg5 = %3) -> (tensor<4x1xf32>) {
      %5 = xla.apply_indexing #indexing_map1(%arg4)
      %6 = xtile.extract %arg0[%0, %5] [4, 32] [1, 1] : memref<64x100xf32> -> tensor<4x32xf32>
      %7 = arith.index_cast %arg4 : index to i32
      %8 = arith.cmpi sge, %7, %c3_i32 : i32
      %9 = scf.if %8 -> (tensor<4x32xf32>) {
        %22 = arith.muli %7, %c32_i32 : i32
        %23 = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
        %24 = tt.splat %22 : i32 -> tensor<32xi32>
        %25 = arith.addi %23, %24 : tensor<32xi32>
        %26 = arith.cmpi slt, %25, %cst_2 : tensor<32xi32>
        %27 = tt.expand_dims %26 {axis = 0 : i32} : tensor<32xi1> -> tensor<1x32xi1>
        %28 = tt.broadcast %27 : tensor<1x32xi1> -> tensor<4x32xi1>
        %29 = arith.select %28, %6, %cst_1 : tensor<4x32xi1>, tensor<4x32xf32>
        scf.yield %29 : tensor<4x32xf32>
      } else {
        scf.yield %6 : tensor<4x32xf32>
      }
      %10 = "tt.scan"(%9) <{axis = 1 : i32, reverse = false}> ({
      ^bb0(%arg6: f32, %arg7: f32):
        %22 = arith.addf %arg6, %arg7 : f32
        tt.scan.return %22 : f32
      }) : (tensor<4x32xf32>) -> tensor<4x32xf32>
      %11 = tt.broadcast %arg5 : tensor<4x1xf32> -> tensor<4x32xf32>
      %12 = arith.addf %11, %10 : tensor<4x32xf32>
      %13 = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
      %14 = tt.expand_dims %13 {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
      %15 = tt.broadcast %14 : tensor<1x32xi32> -> tensor<4x32xi32>
      %16 = arith.cmpi eq, %15, %cst_0 : tensor<4x32xi32>
      %17 = tt.bitcast %12 : tensor<4x32xf32> -> tensor<4x32xi32>
      %18 = arith.select %16, %17, %cst : tensor<4x32xi1>, tensor<4x32xi32>
      %19 = "tt.reduce"(%18) <{axis = 1 : i32}> ({
      ^bb0(%arg6: i32, %arg7: i32):
        %22 = arith.ori %arg6, %arg7 : i32
        tt.reduce.return %22 : i32
      }) : (tensor<4x32xi32>) -> tensor<4xi32>
      %20 = tt.expand_dims %19 {axis = 1 : i32} : tensor<4xi32> -> tensor<4x1xi32>
      %21 = tt.bitcast %20 : tensor<4x1xi32> -> tensor<4x1xf32>
      xtile.insert %12 into %arg2[%0, %5] [4, 32] [1, 1] : tensor<4x32xf32> -> memref<64x100xf32>
      scf.yield %21 : tensor<4x1xf32>
    }
    xtile.return
  }
}
