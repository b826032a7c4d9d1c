module {
  xtile.entry_func @f4_both(%arg0: memref<128x64xi8>, %arg1: memref<256x64xi8>, %arg2: memref<128x4xi8>, %arg3: memref<256x4xi8>, %arg4: memref<128x256xbf16>, %arg5: index {xla.range = [0 : index, 0 : index]}) attributes {num_opaque_args = 0 : i32} {
    %cst = arith.constant dense<0.000000e+00> : tensor<128x256xf32>
    %c0 = arith.constant 0 : index
    %0 = xtile.extract %arg0[%c0, %c0] [128, 64] [1, 1] : memref<128x64xi8> -> tensor<128x64xi8>
    %1 = xtile.extract %arg1[%c0, %c0] [256, 64] [1, 1] : memref<256x64xi8> -> tensor<256x64xi8>
    %2 = xtile.extract %arg2[%c0, %c0] [128, 4] [1, 1] : memref<128x4xi8> -> tensor<128x4xi8>
    %3 = xtile.extract %arg3[%c0, %c0] [256, 4] [1, 1] : memref<256x4xi8> -> tensor<256x4xi8>
    %4 = tt.trans %1 {order = array<i32: 1, 0>} : tensor<256x64xi8> -> tensor<64x256xi8>
    %5 = tt.dot_scaled %0 scale %2, %4 scale %3, %cst lhs = e2m1 rhs = e2m1 {fastMath = true} : tensor<128x64xi8>, tensor<128x4xi8> * tensor<64x256xi8>, tensor<256x4xi8> -> tensor<128x256xf32>
    %6 = arith.truncf %5 : tensor<128x256xf32> to tensor<128x256xbf16>
    xtile.insert %6 into %arg4[%c0, %c0] [128, 256] [1, 1] : tensor<128x256xbf16> -> memref<128x256xbf16>
    xtile.return
  }
}
