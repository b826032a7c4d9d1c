#indexing_map = #xla.indexing_map<"(pid) -> (pid / 16), domain: pid in [0, 63]">
#indexing_map1 = #xla.indexing_map<"(pid) -> (((pid / 4) mod 4) * 16), domain: pid in [0, 63]">
#indexing_map2 = #xla.indexing_map<"(d0) -> (d0 * 64), domain: d0 in [0, 1]">
#indexing_map3 = #xla.indexing_map<"(pid) -> ((pid mod 4) * 16), domain: pid in [0, 63]">
#indexing_map4 = #xla.indexing_map<"(d0) -> (d0 * 2), domain: d0 in [0, 1]">
module {
  xtile.entry_func @scaled_dot_of_a_batch(%arg0: memref<4x64x128xf8E4M3FN>, %arg1: memref<4x64x128xf8E4M3FN>, %arg2: memref<4x64x4xi8>, %arg3: memref<4x64x4xi8>, %arg4: memref<4x64x64xf32>, %arg5: index {xla.range = [0 : index, 63 : index]}) attributes {num_opaque_args = 0 : i32} {
    %c0 = arith.constant 0 : index
    %c2 = arith.constant 2 : index
    %c1 = arith.constant 1 : index
    %cst = arith.constant dense<0.000000e+00> : tensor<16x16xf32>
    %0 = scf.for %arg6 = %c0 to %c2 step %c1 iter_args(%arg7 = %cst) -> (tensor<16x16xf32>) {
      %5 = xla.apply_indexing #indexing_map(%arg5)
      %6 = xla.apply_indexing #indexing_map1(%arg5)
      %7 = xla.apply_indexing #indexing_map2(%arg6)
      %8 = xtile.extract %arg0[%5, %6, %7] [1, 16, 64] [1, 1, 1] : memref<4x64x128xf8E4M3FN> -> tensor<1x16x64xf8E4M3FN>
      %9 = xla.apply_indexing #indexing_map3(%arg5)
      %10 = xtile.extract %arg1[%5, %9, %7] [1, 16, 64] [1, 1, 1] : memref<4x64x128xf8E4M3FN> -> tensor<1x16x64xf8E4M3FN>
      %11 = xla.apply_indexing #indexing_map4(%arg6)
      %12 = xtile.extract %arg2[%5, %6, %11] [1, 16, 2] [1, 1, 1] : memref<4x64x4xi8> -> tensor<1x16x2xi8>
      %13 = xtile.extract %arg3[%5, %9, %11] [1, 16, 2] [1, 1, 1] : memref<4x64x4xi8> -> tensor<1x16x2xi8>
      %14 = tt.trans %13 {order = array<i32: 0, 2, 1>} : tensor<1x16x2xi8> -> tensor<1x2x16xi8>
      %15 = tt.reshape %8 : tensor<1x16x64xf8E4M3FN> -> tensor<16x64xf8E4M3FN>
      %16 = tt.reshape %10 : tensor<1x16x64xf8E4M3FN> -> tensor<16x64xf8E4M3FN>
      %17 = tt.trans %16 {order = array<i32: 1, 0>} : tensor<16x64xf8E4M3FN> -> tensor<64x16xf8E4M3FN>
      %18 = tt.reshape %12 : tensor<1x16x2xi8> -> tensor<16x2xi8>
      %19 = tt.reshape %14 : tensor<1x2x16xi8> -> tensor<2x16xi8>
      %20 = tt.trans %19 {order = array<i32: 1, 0>} : tensor<2x16xi8> -> tensor<16x2xi8>
      %21 = tt.dot_scaled %15 scale %18, %17 scale %20, %arg7 lhs = e4m3 rhs = e4m3 {fastMath = true} : tensor<16x64xf8E4M3FN>, tensor<16x2xi8> * tensor<64x16xf8E4M3FN>, tensor<16x2xi8> -> tensor<16x16xf32>
      scf.yield %21 : tensor<16x16xf32>
    }
    %1 = tt.reshape %0 : tensor<16x16xf32> -> tensor<1x16x16xf32>
    %2 = xla.apply_indexing #indexing_map(%arg5)
    %3 = xla.apply_indexing #indexing_map1(%arg5)
    %4 = xla.apply_indexing #indexing_map3(%arg5)
    xtile.insert %1 into %arg4[%2, %3, %4] [1, 16, 16] [1, 1, 1] : tensor<1x16x16xf32> -> memref<4x64x64xf32>
    xtile.return
  }
}
