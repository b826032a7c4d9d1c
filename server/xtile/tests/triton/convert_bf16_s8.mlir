#indexing_map = #xla.indexing_map<"(pid) -> ((pid / 6) * 16), domain: pid in [0, 95]">
#indexing_map1 = #xla.indexing_map<"(pid) -> ((pid mod 6) * 64), domain: pid in [0, 95]">
module {
  xtile.entry_func @convert_bf16_s8(%arg0: memref<256x384xbf16>, %arg1: memref<256x384xi8>, %arg2: index {xla.range = [0 : index, 95 : index]}) attributes {num_opaque_args = 0 : i32} {
    %cst = arith.constant dense<0> : tensor<16x64xi8>
    %cst_0 = arith.constant dense<127> : tensor<16x64xi8>
    %cst_1 = arith.constant dense<1.270000e+02> : tensor<16x64xf32>
    %cst_2 = arith.constant dense<-128> : tensor<16x64xi8>
    %cst_3 = arith.constant dense<-1.280000e+02> : tensor<16x64xf32>
    %0 = xla.apply_indexing #indexing_map(%arg2)
    %1 = xla.apply_indexing #indexing_map1(%arg2)
    %2 = xtile.extract %arg0[%0, %1] [16, 64] [1, 1] : memref<256x384xbf16> -> tensor<16x64xbf16>
    %3 = arith.extf %2 : tensor<16x64xbf16> to tensor<16x64xf32>
    %4 = arith.fptosi %3 : tensor<16x64xf32> to tensor<16x64xi8>
    %5 = arith.cmpf ole, %3, %cst_3 : tensor<16x64xf32>
    %6 = arith.select %5, %cst_2, %4 : tensor<16x64xi1>, tensor<16x64xi8>
    %7 = arith.cmpf oge, %3, %cst_1 : tensor<16x64xf32>
    %8 = arith.select %7, %cst_0, %6 : tensor<16x64xi1>, tensor<16x64xi8>
    %9 = arith.cmpf uno, %3, %3 : tensor<16x64xf32>
    %10 = arith.select %9, %cst, %8 : tensor<16x64xi1>, tensor<16x64xi8>
    xtile.insert %10 into %arg1[%0, %1] [16, 64] [1, 1] : tensor<16x64xi8> -> memref<256x384xi8>
    xtile.return
  }
}
