#indexing_map = #xla.indexing_map<"(pid) -> (pid * 4), domain: pid in [0, 9]">
module {
  xtile.entry_func @results_of_a_softmax(%arg0: memref<40x70xf32>, %arg1: memref<40xf32>, %arg2: memref<40xf32>, %arg3: index {xla.range = [0 : index, 9 : index]}) attributes {num_opaque_args = 0 : i32} {
    %cst = arith.constant dense<0.000000e+00> : tensor<4xf32>
    %cst_0 = arith.constant 0.000000e+00 : f32
    %cst_1 = arith.constant 0xFF800000 : f32
    %c0 = arith.constant 0 : index
    %0 = xla.apply_indexing #indexing_map(%arg3)
    %1 = xtile.extract %arg0[%0, %c0] [4, 128] [1, 1] : memref<40x70xf32> -> tensor<4x128xf32>
    %2 = xtile.mask %1 bounds [4, 70], %cst_1 : tensor<4x128xf32>
    %3 = "tt.reduce"(%2) <{axis = 1 : i32}> ({
    ^bb0(%arg4: f32, %arg5: f32):
      %11 = arith.maximumf %arg4, %arg5 : f32
      tt.reduce.return %11 : f32
    }) : (tensor<4x128xf32>) -> tensor<4xf32>
    %4 = tt.expand_dims %3 {axis = 1 : i32} : tensor<4xf32> -> tensor<4x1xf32>
    %5 = tt.broadcast %4 : tensor<4x1xf32> -> tensor<4x128xf32>
    %6 = arith.subf %1, %5 : tensor<4x128xf32>
    %7 = tt.extern_elementwise %6 {libname = "libdevice", libpath = "libdevice.10.bc", pure = true, symbol = "__nv_expf"} : (tensor<4x128xf32>) -> tensor<4x128xf32>
    %8 = xtile.mask %7 bounds [4, 70], %cst_0 : tensor<4x128xf32>
    %9 = "tt.reduce"(%8) <{axis = 1 : i32}> ({
    ^bb0(%arg4: f32, %arg5: f32):
      %11 = arith.addf %arg4, %arg5 : f32
      tt.reduce.return %11 : f32
    }) : (tensor<4x128xf32>) -> tensor<4xf32>
    %10 = arith.addf %9, %cst : tensor<4xf32>
    xtile.insert %3 into %arg1[%0] [4] [1] : tensor<4xf32> -> memref<40xf32>
    xtile.insert %10 into %arg2[%0] [4] [1] : tensor<4xf32> -> memref<40xf32>
    xtile.return
  }
}
