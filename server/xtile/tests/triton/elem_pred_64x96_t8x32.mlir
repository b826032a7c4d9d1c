#indexing_map = #xla.indexing_map<"(pid) -> ((pid / 3) * 8), domain: pid in [0, 23]">
#indexing_map1 = #xla.indexing_map<"(pid) -> ((pid mod 3) * 32), domain: pid in [0, 23]">
module {
  xtile.entry_func @elem_pred_64x96_t8x32(%arg0: memref<64x96xi8>, %arg1: memref<64x96xi8>, %arg2: memref<64x96xi8>, %arg3: index {xla.range = [0 : index, 23 : index]}) attributes {num_opaque_args = 0 : i32} {
    %cst = arith.constant dense<0> : tensor<8x32xi8>
    %0 = xla.apply_indexing #indexing_map(%arg3)
    %1 = xla.apply_indexing #indexing_map1(%arg3)
    %2 = xtile.extract %arg0[%0, %1] [8, 32] [1, 1] : memref<64x96xi8> -> tensor<8x32xi8>
    %3 = arith.cmpi ne, %2, %cst : tensor<8x32xi8>
    %4 = xtile.extract %arg1[%0, %1] [8, 32] [1, 1] : memref<64x96xi8> -> tensor<8x32xi8>
    %5 = arith.cmpi ne, %4, %cst : tensor<8x32xi8>
    %6 = arith.andi %3, %5 : tensor<8x32xi1>
    %7 = arith.extui %6 : tensor<8x32xi1> to tensor<8x32xi8>
    xtile.insert %7 into %arg2[%0, %1] [8, 32] [1, 1] : tensor<8x32xi8> -> memref<64x96xi8>
    xtile.return
  }
}
