#indexing_map = #xla.indexing_map<"(pid) -> ((pid / 3) * 8), domain: pid in [0, 23]">
#indexing_map1 = #xla.indexing_map<"(pid) -> ((pid mod 3) * 32), domain: pid in [0, 23]">
module {
  xtile.entry_func @convert_f64_s32(%arg0: memref<64x96xf64>, %arg1: memref<64x96xi32>, %arg2: index {xla.range = [0 : index, 23 : index]}) attributes {num_opaque_args = 0 : i32} {
    %cst = arith.constant dense<0> : tensor<8x32xi32>
    %cst_0 = arith.constant dense<2147483647> : tensor<8x32xi32>
    %cst_1 = arith.constant dense<0x41DFFFFFFFC00000> : tensor<8x32xf64>
    %cst_2 = arith.constant dense<-2147483648> : tensor<8x32xi32>
    %cst_3 = arith.constant dense<0xC1E0000000000000> : tensor<8x32xf64>
    %0 = xla.apply_indexing #indexing_map(%arg2)
    %1 = xla.apply_indexing #indexing_map1(%arg2)
    %2 = xtile.extract %arg0[%0, %1] [8, 32] [1, 1] : memref<64x96xf64> -> tensor<8x32xf64>
    %3 = arith.fptosi %2 : tensor<8x32xf64> to tensor<8x32xi32>
    %4 = arith.cmpf ole, %2, %cst_3 : tensor<8x32xf64>
    %5 = arith.select %4, %cst_2, %3 : tensor<8x32xi1>, tensor<8x32xi32>
    %6 = arith.cmpf oge, %2, %cst_1 : tensor<8x32xf64>
    %7 = arith.select %6, %cst_0, %5 : tensor<8x32xi1>, tensor<8x32xi32>
    %8 = arith.cmpf uno, %2, %2 : tensor<8x32xf64>
    %9 = arith.select %8, %cst, %7 : tensor<8x32xi1>, tensor<8x32xi32>
    xtile.insert %9 into %arg1[%0, %1] [8, 32] [1, 1] : tensor<8x32xi32> -> memref<64x96xi32>
    xtile.return
  }
}
