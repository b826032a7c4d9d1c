#indexing_map = #xla.indexing_map<"(pid) -> ((pid / 4) * 64), domain: pid in [0, 15]">
#indexing_map1 = #xla.indexing_map<"(d0) -> (d0 * 32), domain: d0 in [0, 7]">
#indexing_map2 = #xla.indexing_map<"(pid) -> ((pid mod 4) * 64), domain: pid in [0, 15]">
module {
  xtile.entry_func @gemm_epi_scalar_scale_f8(%arg0: memref<256x256xf8E4M3FN>, %arg1: memref<256x256xf8E4M3FN>, %arg2: memref<f32>, %arg3: memref<256x256xbf16>, %arg4: index {xla.range = [0 : index, 15 : index]}) attributes {num_opaque_args = 0 : i32} {
    %cst = arith.constant dense<0.000000e+00> : tensor<64x64xf32>
    %c0 = arith.constant 0 : index
    %c8 = arith.constant 8 : index
    %c1 = arith.constant 1 : index
    %0 = scf.for %arg5 = %c0 to %c8 step %c1 iter_args(%arg6 = %cst) -> (tensor<64x64xf32>) {
      %7 = xla.apply_indexing #indexing_map(%arg4)
      %8 = xla.apply_indexing #indexing_map1(%arg5)
      %9 = xtile.extract %arg0[%7, %8] [64, 32] [1, 1] : memref<256x256xf8E4M3FN> -> tensor<64x32xf8E4M3FN>
      %10 = xla.apply_indexing #indexing_map2(%arg4)
      %11 = xtile.extract %arg1[%8, %10] [32, 64] [1, 1] : memref<256x256xf8E4M3FN> -> tensor<32x64xf8E4M3FN>
      %12 = tt.dot %9, %11, %arg6, inputPrecision = tf32 {maxNumImpreciseAcc = 2147483647 : i32} : tensor<64x32xf8E4M3FN> * tensor<32x64xf8E4M3FN> -> tensor<64x64xf32>
      scf.yield %12 : tensor<64x64xf32>
    }
    %1 = xtile.extract %arg2[] [] [] : memref<f32> -> tensor<f32>
    %extracted = tensor.extract %1[] : tensor<f32>
    %2 = tt.splat %extracted : f32 -> tensor<64x64xf32>
    %3 = arith.mulf %0, %2 : tensor<64x64xf32>
    %4 = arith.truncf %3 : tensor<64x64xf32> to tensor<64x64xbf16>
    %5 = xla.apply_indexing #indexing_map(%arg4)
    %6 = xla.apply_indexing #indexing_map2(%arg4)
    xtile.insert %4 into %arg3[%5, %6] [64, 64] [1, 1] : tensor<64x64xbf16> -> memref<256x256xbf16>
    xtile.return
  }
}
