module {
  xtile.entry_func @softmax_bf16_512x129_t1x256(%arg0: memref<512x129xbf16>, %arg1: memref<512x129xbf16>, %arg2: index {xla.range = [0 : index, 511 : index]}) attributes {num_opaque_args = 0 : i32} {
    %cst = arith.constant dense<0.000000e+00> : tensor<1xf32>
    %cst_0 = arith.constant 0.000000e+00 : f32
    %cst_1 = arith.constant 0xFF800000 : f32
    %c0 = arith.constant 0 : index
    %0 = xtile.extract %arg0[%arg2, %c0] [1, 256] [1, 1] : memref<512x129xbf16> -> tensor<1x256xbf16>
    %1 = arith.extf %0 : tensor<1x256xbf16> to tensor<1x256xf32>
    %2 = xtile.mask %1 bounds [1, 129], %cst_1 : tensor<1x256xf32>
    %3 = "tt.reduce"(%2) <{axis = 1 : i32}> ({
    ^bb0(%arg3: f32, %arg4: f32):
      %15 = arith.maximumf %arg3, %arg4 : f32
      tt.reduce.return %15 : f32
    }) : (tensor<1x256xf32>) -> tensor<1xf32>
    %4 = tt.expand_dims %3 {axis = 1 : i32} : tensor<1xf32> -> tensor<1x1xf32>
    %5 = tt.broadcast %4 : tensor<1x1xf32> -> tensor<1x256xf32>
    %6 = arith.subf %1, %5 : tensor<1x256xf32>
    %7 = tt.extern_elementwise %6 {libname = "libdevice", libpath = "libdevice.10.bc", pure = true, symbol = "__nv_expf"} : (tensor<1x256xf32>) -> tensor<1x256xf32>
    %8 = xtile.mask %7 bounds [1, 129], %cst_0 : tensor<1x256xf32>
    %9 = "tt.reduce"(%8) <{axis = 1 : i32}> ({
    ^bb0(%arg3: f32, %arg4: f32):
      %15 = arith.addf %arg3, %arg4 : f32
      tt.reduce.return %15 : f32
    }) : (tensor<1x256xf32>) -> tensor<1xf32>
    %10 = arith.addf %9, %cst : tensor<1xf32>
    %11 = tt.expand_dims %10 {axis = 1 : i32} : tensor<1xf32> -> tensor<1x1xf32>
    %12 = tt.broadcast %11 : tensor<1x1xf32> -> tensor<1x256xf32>
    %13 = arith.divf %7, %12 : tensor<1x256xf32>
    %14 = arith.truncf %13 : tensor<1x256xf32> to tensor<1x256xbf16>
    xtile.insert %14 into %arg1[%arg2, %c0] [1, 256] [1, 1] : tensor<1x256xbf16> -> memref<512x129xbf16>
    xtile.return
  }
}
