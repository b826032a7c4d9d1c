#indexing_map = #xla.indexing_map<"(pid) -> ((pid / 4) * 16), domain: pid in [0, 15]">
#indexing_map1 = #xla.indexing_map<"(d0) -> (d0 * 16), domain: d0 in [0, 3]">
#indexing_map2 = #xla.indexing_map<"(pid) -> ((pid mod 4) * 16), domain: pid in [0, 15]">
module {
  xtile.entry_func @dot_of_three_products(%arg0: memref<64x64xf32>, %arg1: memref<64x64xf32>, %arg2: memref<64x64xf32>, %arg3: index {xla.range = [0 : index, 15 : index]}) attributes {num_opaque_args = 0 : i32} {
    %cst = arith.constant dense<0x7F800000> : tensor<16x16xf32>
    %cst_0 = arith.constant dense<0.000000e+00> : tensor<16x16xf32>
    %c0 = arith.constant 0 : index
    %c4 = arith.constant 4 : index
    %c1 = arith.constant 1 : index
    %0 = scf.for %arg4 = %c0 to %c4 step %c1 iter_args(%arg5 = %cst_0) -> (tensor<16x16xf32>) {
      %3 = xla.apply_indexing #indexing_map(%arg3)
      %4 = xla.apply_indexing #indexing_map1(%arg4)
      %5 = xtile.extract %arg0[%3, %4] [16, 16] [1, 1] : memref<64x64xf32> -> tensor<16x16xf32>
      %6 = xla.apply_indexing #indexing_map2(%arg3)
      %7 = xtile.extract %arg1[%4, %6] [16, 16] [1, 1] : memref<64x64xf32> -> tensor<16x16xf32>
      %8 = arith.truncf %5 : tensor<16x16xf32> to tensor<16x16xbf16>
      %9 = arith.extf %8 : tensor<16x16xbf16> to tensor<16x16xf32>
      %10 = arith.subf %5, %9 : tensor<16x16xf32>
      %11 = arith.truncf %10 : tensor<16x16xf32> to tensor<16x16xbf16>
      %12 = arith.truncf %7 : tensor<16x16xf32> to tensor<16x16xbf16>
      %13 = arith.extf %12 : tensor<16x16xbf16> to tensor<16x16xf32>
      %14 = arith.subf %7, %13 : tensor<16x16xf32>
      %15 = arith.truncf %14 : tensor<16x16xf32> to tensor<16x16xbf16>
      %16 = tt.dot %11, %12, %cst_0 : tensor<16x16xbf16> * tensor<16x16xbf16> -> tensor<16x16xf32>
      %17 = tt.dot %8, %15, %16 : tensor<16x16xbf16> * tensor<16x16xbf16> -> tensor<16x16xf32>
      %18 = math.absf %17 : tensor<16x16xf32>
      %19 = arith.cmpf ogt, %cst, %18 : tensor<16x16xf32>
      %20 = arith.select %19, %17, %cst_0 : tensor<16x16xi1>, tensor<16x16xf32>
      %21 = tt.dot %8, %12, %20 : tensor<16x16xbf16> * tensor<16x16xbf16> -> tensor<16x16xf32>
      %22 = arith.addf %arg5, %21 : tensor<16x16xf32>
      scf.yield %22 : tensor<16x16xf32>
    }
    %1 = xla.apply_indexing #indexing_map(%arg3)
    %2 = xla.apply_indexing #indexing_map2(%arg3)
    xtile.insert %0 into %arg2[%1, %2] [16, 16] [1, 1] : tensor<16x16xf32> -> memref<64x64xf32>
    xtile.return
  }
}
