module {
  xtile.entry_func @reduce_max_f16_64x64x64_12_t1(%arg0: memref<64x64x64xf16>, %arg1: memref<64xf16>, %arg2: index {xla.range = [0 : index, 63 : index]}) attributes {num_opaque_args = 0 : i32} {
    %cst = arith.constant dense<0.000000e+00> : tensor<1xf16>
    %c0 = arith.constant 0 : index
    %0 = xtile.extract %arg0[%arg2, %c0, %c0] [1, 64, 64] [1, 1, 1] : memref<64x64x64xf16> -> tensor<1x64x64xf16>
    %1 = "tt.reduce"(%0) <{axis = 2 : i32}> ({
    ^bb0(%arg3: f16, %arg4: f16):
      %4 = arith.maximumf %arg3, %arg4 : f16
      tt.reduce.return %4 : f16
    }) : (tensor<1x64x64xf16>) -> tensor<1x64xf16>
    %2 = "tt.reduce"(%1) <{axis = 1 : i32}> ({
    ^bb0(%arg3: f16, %arg4: f16):
      %4 = arith.maximumf %arg3, %arg4 : f16
      tt.reduce.return %4 : f16
    }) : (tensor<1x64xf16>) -> tensor<1xf16>
    %3 = arith.maximumf %2, %cst : tensor<1xf16>
    xtile.insert %3 into %arg1[%arg2] [1] [1] : tensor<1xf16> -> memref<64xf16>
    xtile.return
  }
}
