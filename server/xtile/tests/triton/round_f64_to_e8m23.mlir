#indexing_map = #xla.indexing_map<"(pid) -> ((pid / 3) * 8), domain: pid in [0, 14]">
#indexing_map1 = #xla.indexing_map<"(pid) -> ((pid mod 3) * 32), domain: pid in [0, 14]">
module {
  xtile.entry_func @round_f64_to_e8m23(%arg0: memref<40x70xf64>, %arg1: memref<40x70xf64>, %arg2: index {xla.range = [0 : index, 14 : index]}) attributes {num_opaque_args = 0 : i32} {
    %cst = arith.constant dense<-9223372036854775808> : tensor<8x32xi64>
    %cst_0 = arith.constant dense<4035225266123964416> : tensor<8x32xi64>
    %cst_1 = arith.constant dense<5179139571476070400> : tensor<8x32xi64>
    %cst_2 = arith.constant dense<-536870912> : tensor<8x32xi64>
    %cst_3 = arith.constant dense<268435455> : tensor<8x32xi64>
    %cst_4 = arith.constant dense<536870912> : tensor<8x32xi64>
    %cst_5 = arith.constant dense<29> : tensor<8x32xi64>
    %cst_6 = arith.constant dense<9218868437227405312> : tensor<8x32xi64>
    %cst_7 = arith.constant dense<9223372036854775807> : tensor<8x32xi64>
    %0 = xla.apply_indexing #indexing_map(%arg2)
    %1 = xla.apply_indexing #indexing_map1(%arg2)
    %2 = xtile.extract %arg0[%0, %1] [8, 32] [1, 1] : memref<40x70xf64> -> tensor<8x32xf64>
    %3 = arith.negf %2 : tensor<8x32xf64>
    %4 = tt.bitcast %3 : tensor<8x32xf64> -> tensor<8x32xi64>
    %5 = arith.andi %4, %cst_7 : tensor<8x32xi64>
    %6 = arith.cmpi ugt, %5, %cst_6 : tensor<8x32xi64>
    %7 = arith.andi %4, %cst_4 : tensor<8x32xi64>
    %8 = arith.shrui %7, %cst_5 : tensor<8x32xi64>
    %9 = arith.addi %8, %cst_3 : tensor<8x32xi64>
    %10 = arith.addi %4, %9 : tensor<8x32xi64>
    %11 = arith.andi %10, %cst_2 : tensor<8x32xi64>
    %12 = arith.andi %11, %cst_6 : tensor<8x32xi64>
    %13 = arith.cmpi ugt, %12, %cst_1 : tensor<8x32xi64>
    %14 = arith.cmpi ule, %12, %cst_0 : tensor<8x32xi64>
    %15 = arith.andi %11, %cst : tensor<8x32xi64>
    %16 = arith.ori %15, %cst_6 : tensor<8x32xi64>
    %17 = arith.select %13, %16, %11 : tensor<8x32xi1>, tensor<8x32xi64>
    %18 = arith.select %14, %15, %17 : tensor<8x32xi1>, tensor<8x32xi64>
    %19 = tt.bitcast %18 : tensor<8x32xi64> -> tensor<8x32xf64>
    %20 = arith.select %6, %3, %19 : tensor<8x32xi1>, tensor<8x32xf64>
    xtile.insert %20 into %arg1[%0, %1] [8, 32] [1, 1] : tensor<8x32xf64> -> memref<40x70xf64>
    xtile.return
  }
}
