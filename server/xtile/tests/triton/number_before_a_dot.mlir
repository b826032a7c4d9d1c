#indexing_map = #xla.indexing_map<"(pid) -> ((pid / 4) * 16), domain: pid in [0, 15]">
#indexing_map1 = #xla.indexing_map<"(d0) -> (d0 * 32), domain: d0 in [0, 1]">
#indexing_map2 = #xla.indexing_map<"(pid) -> ((pid mod 4) * 16), domain: pid in [0, 15]">
module {
  xtile.entry_func @number_before_a_dot(%arg0: memref<64x64xf32>, %arg1: memref<64x64xbf16>, %arg2: memref<f32>, %arg3: memref<64x64xf32>, %arg4: index {xla.range = [0 : index, 15 : index]}) attributes {num_opaque_args = 0 : i32} {
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c0 = arith.constant 0 : index
    %cst = arith.constant dense<0.000000e+00> : tensor<16x16xf32>
    %0 = xtile.extract %arg2[] [] [] : memref<f32> -> tensor<f32>
    %extracted = tensor.extract %0[] : tensor<f32>
    %1 = tt.extern_elementwise %extracted {libname = "libdevice", libpath = "libdevice.10.bc", pure = true, symbol = "__nv_sqrtf"} : (f32) -> f32
    %2 = scf.for %arg5 = %c0 to %c2 step %c1 iter_args(%arg6 = %cst) -> (tensor<16x16xf32>) {
      %5 = xla.apply_indexing #indexing_map(%arg4)
      %6 = xla.apply_indexing #indexing_map1(%arg5)
      %7 = xtile.extract %arg0[%5, %6] [16, 32] [1, 1] : memref<64x64xf32> -> tensor<16x32xf32>
      %8 = tt.splat %1 : f32 -> tensor<16x32xf32>
      %9 = arith.mulf %7, %8 : tensor<16x32xf32>
      %10 = arith.truncf %9 : tensor<16x32xf32> to tensor<16x32xbf16>
      %11 = xla.apply_indexing #indexing_map2(%arg4)
      %12 = xtile.extract %arg1[%6, %11] [32, 16] [1, 1] : memref<64x64xbf16> -> tensor<32x16xbf16>
      %13 = tt.dot %10, %12, %arg6, inputPrecision = tf32 : tensor<16x32xbf16> * tensor<32x16xbf16> -> tensor<16x16xf32>
      scf.yield %13 : tensor<16x16xf32>
    }
    %3 = xla.apply_indexing #indexing_map(%arg4)
    %4 = xla.apply_indexing #indexing_map2(%arg4)
    xtile.insert %2 into %arg3[%3, %4] [16, 16] [1, 1] : tensor<16x16xf32> -> memref<64x64xf32>
    xtile.return
  }
}
