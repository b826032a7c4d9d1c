#indexing_map = #xla.indexing_map<"(pid) -> (pid * 4), domain: pid in [0, 15]">
#indexing_map1 = #xla.indexing_map<"(d0) -> (d0 * 32), domain: d0 in [0, 3]">
module {
  xtile.entry_func @scan_of_bf16(%arg0: memref<64x128xbf16>, %arg1: memref<64x128xbf16>, %arg2: index {xla.range = [0 : index, 15 : index]}) attributes {num_opaque_args = 0 : i32} {
    %cst = arith.constant dense<0> : tensor<4x32xi16>
    %cst_0 = arith.constant dense<31> : tensor<4x32xi32>
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %c0 = arith.constant 0 : index
    %cst_1 = arith.constant dense<0.000000e+00> : tensor<4x1xbf16>
    %0 = scf.for %arg3 = %c0 to %c4 step %c1 iter_args(%arg4 = %cst_1) -> (tensor<4x1xbf16>) {
      %1 = xla.apply_indexing #indexing_map(%arg2)
      %2 = xla.apply_indexing #indexing_map1(%arg3)
      %3 = xtile.extract %arg0[%1, %2] [4, 32] [1, 1] : memref<64x128xbf16> -> tensor<4x32xbf16>
      %4 = "tt.scan"(%3) <{axis = 1 : i32, reverse = false}> ({
      ^bb0(%arg5: bf16, %arg6: bf16):
        %16 = arith.addf %arg5, %arg6 : bf16
        tt.scan.return %16 : bf16
      }) : (tensor<4x32xbf16>) -> tensor<4x32xbf16>
      %5 = tt.broadcast %arg4 : tensor<4x1xbf16> -> tensor<4x32xbf16>
      %6 = arith.addf %5, %4 : tensor<4x32xbf16>
      %7 = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
      %8 = tt.expand_dims %7 {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
      %9 = tt.broadcast %8 : tensor<1x32xi32> -> tensor<4x32xi32>
      %10 = arith.cmpi eq, %9, %cst_0 : tensor<4x32xi32>
      %11 = tt.bitcast %6 : tensor<4x32xbf16> -> tensor<4x32xi16>
      %12 = arith.select %10, %11, %cst : tensor<4x32xi1>, tensor<4x32xi16>
      %13 = "tt.reduce"(%12) <{axis = 1 : i32}> ({
      ^bb0(%arg5: i16, %arg6: i16):
        %16 = arith.ori %arg5, %arg6 : i16
        tt.reduce.return %16 : i16
      }) : (tensor<4x32xi16>) -> tensor<4xi16>
      %14 = tt.expand_dims %13 {axis = 1 : i32} : tensor<4xi16> -> tensor<4x1xi16>
      %15 = tt.bitcast %14 : tensor<4x1xi16> -> tensor<4x1xbf16>
      xtile.insert %6 into %arg1[%1, %2] [4, 32] [1, 1] : tensor<4x32xbf16> -> memref<64x128xbf16>
      scf.yield %15 : tensor<4x1xbf16>
    }
    xtile.return
  }
}
