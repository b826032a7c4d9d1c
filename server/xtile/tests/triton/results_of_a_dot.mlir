#indexing_map = #xla.indexing_map<"(pid) -> ((pid / 3) * 16), domain: pid in [0, 8]">
#indexing_map1 = #xla.indexing_map<"(d0) -> (d0 * 32), domain: d0 in [0, 1]">
#indexing_map2 = #xla.indexing_map<"(pid) -> ((pid mod 3) * 32), domain: pid in [0, 8]">
module {
  xtile.entry_func @results_of_a_dot(%arg0: memref<40x64xbf16>, %arg1: memref<64x72xbf16>, %arg2: memref<40x72xf32>, %arg3: memref<40x72xf32>, %arg4: index {xla.range = [0 : index, 8 : index]}) attributes {num_opaque_args = 0 : i32} {
    %cst = arith.constant dense<0.000000e+00> : tensor<16x32xf32>
    %c0 = arith.constant 0 : index
    %c2 = arith.constant 2 : index
    %c1 = arith.constant 1 : index
    %0 = scf.for %arg5 = %c0 to %c2 step %c1 iter_args(%arg6 = %cst) -> (tensor<16x32xf32>) {
      %4 = xla.apply_indexing #indexing_map(%arg4)
      %5 = xla.apply_indexing #indexing_map1(%arg5)
      %6 = xtile.extract %arg0[%4, %5] [16, 32] [1, 1] : memref<40x64xbf16> -> tensor<16x32xbf16>
      %7 = xla.apply_indexing #indexing_map2(%arg4)
      %8 = xtile.extract %arg1[%5, %7] [32, 32] [1, 1] : memref<64x72xbf16> -> tensor<32x32xbf16>
      %9 = tt.dot %6, %8, %arg6, inputPrecision = tf32 : tensor<16x32xbf16> * tensor<32x32xbf16> -> tensor<16x32xf32>
      scf.yield %9 : tensor<16x32xf32>
    }
    %1 = tt.extern_elementwise %0 {libname = "libdevice", libpath = "libdevice.10.bc", pure = true, symbol = "__nv_expf"} : (tensor<16x32xf32>) -> tensor<16x32xf32>
    %2 = xla.apply_indexing #indexing_map(%arg4)
    %3 = xla.apply_indexing #indexing_map2(%arg4)
    xtile.insert %0 into %arg2[%2, %3] [16, 32] [1, 1] : tensor<16x32xf32> -> memref<40x72xf32>
    xtile.insert %1 into %arg3[%2, %3] [16, 32] [1, 1] : tensor<16x32xf32> -> memref<40x72xf32>
    xtile.return
  }
}
