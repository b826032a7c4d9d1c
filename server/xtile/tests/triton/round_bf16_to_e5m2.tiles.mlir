#indexing_map = #xla.indexing_map<"(pid, tid) -> ((pid / 3) * 8), domain: pid in [0, 14], tid in [0, 0]">
#indexing_map1 = #xla.indexing_map<"(pid, tid) -> ((pid mod 3) * 32), domain: pid in [0, 14], tid in [0, 0]">
module {
  xtile.entry_func @round_bf16_to_e5m2(%arg0: memref<40x70xbf16>, %arg1: memref<40x70xbf16>, %arg2: index {xla.range = [0 : index, 14 : index]}) attributes {num_opaque_args = 0 : i32} {
    %0 = xla.apply_indexing #indexing_map(%arg2, %arg2)
    %1 = xla.apply_indexing #indexing_map1(%arg2, %arg2)
    %2 = xtile.extract %arg0[%0, %1] [8, 32] [1, 1] : memref<40x70xbf16> -> tensor<8x32xbf16>
    %3 = stablehlo.negate %2 : tensor<8x32xbf16>
    %4 = tensor.bitcast %3 : tensor<8x32xbf16> to tensor<8x32xi16>
    %cst = arith.constant dense<32767> : tensor<8x32xi16>
    %5 = arith.andi %4, %cst : tensor<8x32xi16>
    %cst_0 = arith.constant dense<32640> : tensor<8x32xi16>
    %6 = arith.cmpi ugt, %5, %cst_0 : tensor<8x32xi16>
    %cst_1 = arith.constant dense<5> : tensor<8x32xi16>
    %cst_2 = arith.constant dense<32> : tensor<8x32xi16>
    %cst_3 = arith.constant dense<15> : tensor<8x32xi16>
    %7 = arith.andi %4, %cst_2 : tensor<8x32xi16>
    %8 = arith.shrui %7, %cst_1 : tensor<8x32xi16>
    %9 = arith.addi %8, %cst_3 : tensor<8x32xi16>
    %10 = arith.addi %4, %9 : tensor<8x32xi16>
    %cst_4 = arith.constant dense<-32> : tensor<8x32xi16>
    %11 = arith.andi %10, %cst_4 : tensor<8x32xi16>
    %cst_5 = arith.constant dense<32640> : tensor<8x32xi16>
    %12 = arith.andi %11, %cst_5 : tensor<8x32xi16>
    %cst_6 = arith.constant dense<18176> : tensor<8x32xi16>
    %13 = arith.cmpi ugt, %12, %cst_6 : tensor<8x32xi16>
    %cst_7 = arith.constant dense<14336> : tensor<8x32xi16>
    %14 = arith.cmpi ule, %12, %cst_7 : tensor<8x32xi16>
    %cst_8 = arith.constant dense<-32768> : tensor<8x32xi16>
    %15 = arith.andi %11, %cst_8 : tensor<8x32xi16>
    %cst_9 = arith.constant dense<32640> : tensor<8x32xi16>
    %16 = arith.ori %15, %cst_9 : tensor<8x32xi16>
    %17 = arith.select %13, %16, %11 : tensor<8x32xi1>, tensor<8x32xi16>
    %18 = arith.select %14, %15, %17 : tensor<8x32xi1>, tensor<8x32xi16>
    %19 = tensor.bitcast %18 : tensor<8x32xi16> to tensor<8x32xbf16>
    %20 = arith.select %6, %3, %19 : tensor<8x32xi1>, tensor<8x32xbf16>
    %21 = xla.apply_indexing #indexing_map(%arg2, %arg2)
    %22 = xla.apply_indexing #indexing_map1(%arg2, %arg2)
    xtile.insert %20 into %arg1[%21, %22] [8, 32] [1, 1] : tensor<8x32xbf16> -> memref<40x70xbf16>
    xtile.return
  }
}
