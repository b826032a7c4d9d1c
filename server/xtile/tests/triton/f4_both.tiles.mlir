module {
  xtile.entry_func @f4_both(%arg0: memref<128x64xi8>, %arg1: memref<256x64xi8>, %arg2: memref<128x4xf8E8M0FNU>, %arg3: memref<256x4xf8E8M0FNU>, %arg4: memref<128x256xbf16>, %arg5: index {xla.range = [0 : index, 0 : index]}) attributes {num_opaque_args = 0 : i32} {
    %cst = arith.constant dense<0.000000e+00> : tensor<128x256xf32>
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c1_0 = arith.constant 1 : index
    %0 = scf.for %arg6 = %c0 to %c1 step %c1_0 iter_args(%arg7 = %cst) -> (tensor<128x256xf32>) {
      %c0_3 = arith.constant 0 : index
      %c0_4 = arith.constant 0 : index
      %c2 = arith.constant 2 : index
      %2 = arith.divsi %c0_4, %c2 : index
      %3 = xtile.extract %arg0[%c0_3, %2] [128, 64] [1, 1] : memref<128x64xi8> -> tensor<128x64xi8>
      %c0_5 = arith.constant 0 : index
      %c0_6 = arith.constant 0 : index
      %c2_7 = arith.constant 2 : index
      %4 = arith.divsi %c0_6, %c2_7 : index
      %5 = xtile.extract %arg1[%c0_5, %4] [256, 64] [1, 1] : memref<256x64xi8> -> tensor<256x64xi8>
      %c0_8 = arith.constant 0 : index
      %c0_9 = arith.constant 0 : index
      %6 = xtile.extract %arg2[%c0_8, %c0_9] [128, 4] [1, 1] : memref<128x4xf8E8M0FNU> -> tensor<128x4xf8E8M0FNU>
      %c0_10 = arith.constant 0 : index
      %c0_11 = arith.constant 0 : index
      %7 = xtile.extract %arg3[%c0_10, %c0_11] [256, 4] [1, 1] : memref<256x4xf8E8M0FNU> -> tensor<256x4xf8E8M0FNU>
      %8 = arith.bitcast %6 : tensor<128x4xf8E8M0FNU> to tensor<128x4xi8>
      %9 = arith.bitcast %7 : tensor<256x4xf8E8M0FNU> to tensor<256x4xi8>
      %10 = stablehlo.transpose %9, dims = [1, 0] : (tensor<256x4xi8>) -> tensor<4x256xi8>
      %11 = xtile.dot_scaled %3 scale %8, %5 scale %10 <fastMath = true, lhs_elem_type = f4E2M1FN, rhs_elem_type = f4E2M1FN, dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1]>> : tensor<128x64xi8>, tensor<128x4xi8> * tensor<256x64xi8>, tensor<4x256xi8> -> tensor<128x256xf32>
      %12 = arith.addf %arg7, %11 : tensor<128x256xf32>
      scf.yield %12 : tensor<128x256xf32>
    }
    %1 = stablehlo.convert %0 : (tensor<128x256xf32>) -> tensor<128x256xbf16>
    %c0_1 = arith.constant 0 : index
    %c0_2 = arith.constant 0 : index
    xtile.insert %1 into %arg4[%c0_1, %c0_2] [128, 256] [1, 1] : tensor<128x256xbf16> -> memref<128x256xbf16>
    xtile.return
  }
}
