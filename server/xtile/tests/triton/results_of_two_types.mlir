#indexing_map = #xla.indexing_map<"(pid) -> ((pid / 3) * 8), domain: pid in [0, 14]">
#indexing_map1 = #xla.indexing_map<"(pid) -> ((pid mod 3) * 32), domain: pid in [0, 14]">
module {
  xtile.entry_func @results_of_two_types(%arg0: memref<40x70xf32>, %arg1: memref<40x70xbf16>, %arg2: memref<40x70xf32>, %arg3: memref<40x70xi8>, %arg4: index {xla.range = [0 : index, 14 : index]}) attributes {num_opaque_args = 0 : i32} {
    %cst = arith.constant dense<0.000000e+00> : tensor<8x32xf32>
    %0 = xla.apply_indexing #indexing_map(%arg4)
    %1 = xla.apply_indexing #indexing_map1(%arg4)
    %2 = xtile.extract %arg0[%0, %1] [8, 32] [1, 1] : memref<40x70xf32> -> tensor<8x32xf32>
    %3 = arith.negf %2 : tensor<8x32xf32>
    %4 = arith.truncf %3 : tensor<8x32xf32> to tensor<8x32xbf16>
    %5 = arith.cmpf ogt, %2, %cst : tensor<8x32xf32>
    xtile.insert %4 into %arg1[%0, %1] [8, 32] [1, 1] : tensor<8x32xbf16> -> memref<40x70xbf16>
    xtile.insert %3 into %arg2[%0, %1] [8, 32] [1, 1] : tensor<8x32xf32> -> memref<40x70xf32>
    %6 = arith.extui %5 : tensor<8x32xi1> to tensor<8x32xi8>
    xtile.insert %6 into %arg3[%0, %1] [8, 32] [1, 1] : tensor<8x32xi8> -> memref<40x70xi8>
    xtile.return
  }
}
