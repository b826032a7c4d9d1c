#indexing_map = #xla.indexing_map<"(pid) -> ((pid / 3) * 8), domain: pid in [0, 14]">
#indexing_map1 = #xla.indexing_map<"(pid) -> ((pid mod 3) * 32), domain: pid in [0, 14]">
module {
  xtile.entry_func @round_f16_wider(%arg0: memref<40x70xf16>, %arg1: memref<40x70xf16>, %arg2: index {xla.range = [0 : index, 14 : index]}) attributes {num_opaque_args = 0 : i32} {
    %cst = arith.constant dense<31744> : tensor<8x32xi16>
    %cst_0 = arith.constant dense<32767> : tensor<8x32xi16>
    %0 = xla.apply_indexing #indexing_map(%arg2)
    %1 = xla.apply_indexing #indexing_map1(%arg2)
    %2 = xtile.extract %arg0[%0, %1] [8, 32] [1, 1] : memref<40x70xf16> -> tensor<8x32xf16>
    %3 = arith.negf %2 : tensor<8x32xf16>
    %4 = tt.bitcast %3 : tensor<8x32xf16> -> tensor<8x32xi16>
    %5 = arith.andi %4, %cst_0 : tensor<8x32xi16>
    %6 = arith.cmpi ugt, %5, %cst : tensor<8x32xi16>
    %7 = tt.bitcast %4 : tensor<8x32xi16> -> tensor<8x32xf16>
    %8 = arith.select %6, %3, %7 : tensor<8x32xi1>, tensor<8x32xf16>
    xtile.insert %8 into %arg1[%0, %1] [8, 32] [1, 1] : tensor<8x32xf16> -> memref<40x70xf16>
    xtile.return
  }
}
